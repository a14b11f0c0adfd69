// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/functions/state_samples.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/stability/basin/basin_start.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

namespace {

constexpr int max_states = 200, max_motions = 40;
/// V is compared at this number of times along each motion.
constexpr int times = 200;
/// A change of V below this fraction of its size on the motion is an error of the integration (rtol 1e-9, and 1e-11
/// when a witness is confirmed).
constexpr double negligible_change = 1e-7;
/// V <= V_e + flat · (largest sampled difference): not positive.
constexpr double flat = 1e-12;
/// A motion that keeps V has at least this share of the largest V on it left.
constexpr double smallest_kept_share = 1e-3;
/// A state rests if its velocities are below this fraction of their scales.
constexpr double resting_speed = 1e-7;
constexpr double default_horizon = 10.0;  // s

struct Sample {
    std::vector<double> q, u;
};

/// The largest change of V in the wrong direction between two times of a motion.
struct WrongChange {
    double change = 0.0;  ///< > 0
    double size = 0.0;    ///< largest |V − V_e| on the motion
    Sample from;          ///< the state where it begins
    double duration = 0.0;
};

class Sampler {
public:
    Sampler(const model::Model& model, const StateFunction& V, const StateSampleRequest& r)
        : model_(model), V_(V), r_(r), resting_(model), V_e_(V.value(r.q, std::vector<double>(r.q.size(), 0.0))) {}

    StateSamples run() {
        out_.radius = r_.radius;
        out_.horizon = model_.settings->simulate.t_end.value_or(default_horizon);
        const std::vector<Sample> samples = states();
        examine_values(samples);
        int motions = 0;
        for (const Sample& s : samples) {
            if (motions >= max_motions || (r_.stop && r_.stop()) || !out_.failed.empty()) break;
            ++motions;
            follow(s);
        }
        return out_;
    }

private:
    bool falls() const { return r_.course == Course::falls; }

    /// Random states of the box; a third of them at rest, a third with a small velocity.
    std::vector<Sample> states() const {
        std::vector<Sample> list;
        SampleNumbers random(7);
        Admitter admitter(model_, {});
        const std::size_t n = r_.q.size();
        for (int k = 0; k < max_states; ++k) {
            Sample s{r_.q, std::vector<double>(n, 0.0)};
            const double size = k % 2 == 0 ? r_.radius : r_.radius * random.next();
            for (std::size_t i = 0; i < n; ++i) s.q[i] += size * r_.scale[i] * (2.0 * random.next() - 1.0);
            const double speed = k % 3 == 0 ? 0.0 : k % 3 == 1 ? 1e-2 : 1.0;
            for (std::size_t i = 0; i < n; ++i) s.u[i] = speed * size * r_.scale[n + i] * (2.0 * random.next() - 1.0);
            if (admitter.admit(s.q, s.u) == Admission::inadmissible) continue;
            list.push_back(std::move(s));
        }
        return list;
    }

    bool resting(const Sample& s) const {
        const std::size_t n = s.u.size();
        for (std::size_t i = 0; i < n; ++i)
            if (std::fabs(s.u[i]) > resting_speed * r_.scale[n + i]) return false;
        return true;
    }
    bool equilibrium(const Sample& s) {
        return resting(s) && equilibrium_at(resting_, vector_of(s.q), {false, 1e-7}).is_equilibrium;
    }

    void examine_values(const std::vector<Sample>& samples) {
        double largest = 0.0;
        for (const Sample& s : samples) largest = std::max(largest, std::fabs(V_.value(s.q, s.u) - V_e_));
        for (const Sample& s : samples) {
            const double V = V_.value(s.q, s.u) - V_e_;
            if (V > flat * largest) out_.rises = true;
            if (equilibrium(s)) {
                out_.highest = std::max(out_.highest, V);
                continue;
            }
            ++out_.states;
            if (!(V > flat * largest) && !out_.not_positive.given()) out_.not_positive = {s.q, s.u, {{"V - V_e", V}}};
        }
    }

    trajectory::Trajectory motion_from(const Sample& s, double horizon, double rtol) const {
        integrate::EventDriven method;
        method.rtol = rtol;
        integrate::Options options;
        options.t_end = horizon;
        options.start = trajectory::State{0.0, s.q, s.u};
        options.interrupted = r_.stop;
        return integrate::simulate(model_, method, options);
    }

    /// The largest change in the wrong direction from one time to a later one, without an impact between them.
    WrongChange wrong_change(const trajectory::Trajectory& motion) const {
        WrongChange w;
        double extreme = 0.0;
        Sample at_extreme;
        double t_extreme = 0.0;
        bool first = true;
        std::size_t impact = 0;  // events before this one happened before t
        for (int k = 0; k <= times; ++k) {
            const double t = motion.sample_time(k, times);
            const trajectory::State s = motion.right(t);
            const double V = V_.value(s.q, s.u) - V_e_, signed_V = falls() ? V : -V;
            w.size = std::max(w.size, std::fabs(V));
            for (; impact < motion.events.size() && motion.events[impact].t <= t; ++impact) {
                const trajectory::EventKind kind = motion.events[impact].kind;
                first = first || kind == trajectory::EventKind::impact || kind == trajectory::EventKind::accumulation;
            }
            if (first || signed_V < extreme) {
                extreme = signed_V, at_extreme = {s.q, s.u}, t_extreme = t;
                first = false;
            }
            if (signed_V - extreme > w.change)
                w.change = signed_V - extreme, w.from = at_extreme, w.duration = t - t_extreme;
        }
        return w;
    }

    void follow(const Sample& s) {
        const trajectory::Trajectory motion = motion_from(s, out_.horizon, 1e-9);
        if (motion.status == trajectory::Status::failed) {
            out_.failed = motion.reason;
            return;
        }
        ++out_.motions;
        const WrongChange w = wrong_change(motion);
        for (const trajectory::Event& e : motion.events) {
            if (e.kind != trajectory::EventKind::impact) continue;
            ++out_.impacts;
            const double jump = (V_.value(e.q, e.u_plus) - V_.value(e.q, e.u_minus)) * (falls() ? 1.0 : -1.0);
            if (jump > negligible_change * std::max(w.size, std::fabs(V_.value(e.q, e.u_minus) - V_e_)) &&
                !out_.wrong_impact.given())
                out_.wrong_impact = {e.q, e.u_minus, {{"jump of V", falls() ? jump : -jump}}};
        }
        if (w.change > negligible_change * w.size && !out_.wrong_rate.given() && !out_.wrong_impact.given()) confirm(w);
        const State end = motion.end;
        if (!equilibrium(s) && w.size > 0.0) keeps_V(motion, {end.q, end.u}, w.size);
    }

    /// A motion that keeps V in the second half of the horizon, and does not come to rest. In the first half other
    /// coordinates may lose their energy.
    void keeps_V(const trajectory::Trajectory& motion, const Sample& end, double size) {
        const State half = motion.right(0.5 * motion.end.t);
        const double change = std::fabs(V_.value(end.q, end.u) - V_.value(half.q, half.u));
        if (change > negligible_change * size || out_.constant.given() || equilibrium({half.q, half.u}) ||
            equilibrium(end))
            return;
        // A motion that comes to rest loses V more and more slowly: what is left must not be small.
        if (std::fabs(V_.value(end.q, end.u) - V_e_) <= smallest_kept_share * size) return;
        out_.constant = {half.q, half.u, {{"V - V_e", V_.value(half.q, half.u) - V_e_}, {"time", 0.5 * motion.end.t}}};
    }

    /// The motion from the state where V begins to change is simulated again, with a smaller tolerance.
    void confirm(const WrongChange& w) {
        const trajectory::Trajectory again = motion_from(w.from, w.duration, 1e-11);
        if (again.status == trajectory::Status::failed) return;
        const double change = (V_.value(again.end.q, again.end.u) - V_.value(w.from.q, w.from.u)) * (falls() ? 1 : -1);
        if (!(change > 0.5 * w.change)) return;
        out_.wrong_rate = {w.from.q, w.from.u, {{"change of V", falls() ? change : -change}, {"within", w.duration}}};
    }

    using State = trajectory::State;
    const model::Model& model_;
    const StateFunction& V_;
    const StateSampleRequest& r_;
    RestingModel resting_;
    double V_e_;
    StateSamples out_;
};

}  // namespace

StateSamples sample_states(const model::Model& model, const StateFunction& V, const StateSampleRequest& request) {
    return Sampler(model, V, request).run();
}

}  // namespace saltus::stability
