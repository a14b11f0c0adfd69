// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/basin/detail/basin_engine.hpp"
#include "saltus/stability/basin/detail/basin_refine.hpp"
#include "saltus/stability/basin/detail/basin_sets.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

using Clock = std::chrono::steady_clock;

/// The typical energy of the starts is determined from at most about this many of them.
constexpr std::size_t max_measured_starts = 1000;
/// Without kinetic energy and differences of potential, the typical energy is that of a free motion over this part of
/// t_max.
constexpr double free_motion_share = 0.01;
/// Step of the test whether a position rests, if the event-driven method has none; in units of time.
constexpr double rest_test_step = 1e-3;
/// One motion in `starts_for_examined_motion` is examined for its accuracy, but at most so many: they cost more than
/// motions in lanes.
constexpr std::size_t max_examined_motions = 8, starts_for_examined_motion = 128;

/// Saving a long record takes a while. Motions run for so many times as long before it is saved again.
constexpr double pause_for_saving = 20.0;

/// The first record is saved after this share of BasinOptions::save_seconds, so that a run that is killed soon after
/// its start can be continued, too.
constexpr double first_pause_share = 0.1;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One run: rounds of motions. The starts of a round depend only on the labels of the rounds before, so that the result
/// does not depend on threads or interruptions.
class Run {
public:
    Run(const model::Mechanics& model, const BasinOptions& options, BasinRecord record)
        : model_(model), options_(options), record_(std::move(record)) {
        if (options.equilibria) {
            out_.periods = options.equilibria->periods;
        } else {
            RestingModel resting(model);
            out_.periods = periods_of(resting);
        }
        decision_.t_max = options.t_max;
        decision_.level = options.level ? &*options.level : nullptr;
        decision_.periods = out_.periods;
        friction_sets_in_level_ = count_friction_sets_in_level();
        // If the level set contains several sets, then the certificate does not say in which one a motion ends.
        decision_.to_rest = options.to_rest || friction_sets_in_level_ > 0;
        decision_.interrupted = options.interrupted;
        out_.base = options.samples > 0 ? options.samples : ensemble::Grid{options.axes}.size();
        pause_ = first_pause_share * options.save_seconds;
    }

    Basin run() {
        const Values base = [this](std::size_t k, std::span<double> x) {
            if (options_.samples > 0)
                ensemble::sample(options_.axes, options_.seed, k, x);
            else
                ensemble::Grid{options_.axes}.values(k, 0, x);
        };
        set_slow_energy(base);
        engine_.emplace(model_, options_, decision_);
        if (options_.ranks != nullptr && options_.ranks->rank() > 0) {
            engine_->serve();
            return std::move(out_);
        }
        bool complete = simulate_round(0, out_.base, base);
        // Otherwise the other ranks wait for further rounds.
        const bool rounds =
            options_.shard.whole() && options_.samples == 0 && (options_.refine > 0 || options_.boundary > 0.0);
        if (!rounds) engine_->dismiss();
        if (!options_.shard.whole()) {
            out_.complete = complete;
            out_.record = std::move(record_);
            return std::move(out_);
        }
        if (complete && options_.samples == 0 && options_.refine > 0) complete = refine();
        if (complete && options_.samples == 0 && options_.boundary > 0.0) complete = locate_boundary();
        if (rounds) engine_->dismiss();
        out_.complete = complete;
        if (!complete) drop_pending();
        relabel();
        if (!out_.refined.empty()) label_refined();
        test_level_set(base);
        if (complete) examine_steps(base);
        finish();
        return std::move(out_);
    }

private:
    /// Writes the values of the axes at start k.
    using Values = std::function<void(std::size_t, std::span<double>)>;

    /// The bound of the kinetic energy below which a motion is slow: BasinOptions::rest² times the typical energy of
    /// the starts, which is their largest kinetic energy plus the range of their potential energies.
    void set_slow_energy(const Values& values) {
        Starts starts(model_, options_.components);
        std::vector<double> x(options_.axes.size());
        double kinetic = 0.0, low = INFINITY, high = -INFINITY;
        const std::size_t stride = 1 + (out_.base - 1) / max_measured_starts;
        for (std::size_t k = 0; k < out_.base; k += stride) {
            values(k, x);
            const Start start = starts.make(x);
            if (start.admission == Admission::inadmissible || !std::isfinite(start.kinetic + start.potential)) continue;
            kinetic = std::max(kinetic, start.kinetic);
            low = std::min(low, start.potential);
            high = std::max(high, start.potential);
        }
        double typical = kinetic + std::max(0.0, high - low);
        if (!(typical > 0.0)) {  // one start, at rest: kinetic energy ½ hᵀM⁻¹h τ² of a free motion of duration τ
            model::Workspace workspace(model_);
            model::Terms terms(model_.layout());
            model::evaluate(model_, workspace, 0.0, model_.q0, model_.u0, terms);
            model::MassFactor mass(model_.layout().mass);
            std::vector<double> a(terms.h.begin(), terms.h.end());
            if (mass.factorise(terms.M)) mass.solve(a);
            for (std::size_t i = 0; i < a.size(); ++i)
                typical += 0.5 * a[i] * terms.h[i] * std::pow(free_motion_share * options_.t_max, 2);
        }
        decision_.slow = options_.rest * options_.rest * (typical > 0.0 ? typical : 1.0);
    }

    /// Writes the ending of a motion to the record. Any thread may call it.
    void store(const Finished& f) {
        const std::size_t k = f.number, n = model_.coordinates.size();
        const std::lock_guard lock(mutex_);
        record_.admission[k] = f.admission;
        record_.inside[k] = f.inside;
        record_.V[k] = f.V;
        record_.t[k] = f.t;
        record_.steps[k] = f.steps;
        std::copy(f.q.begin(), f.q.end(), record_.q.begin() + static_cast<std::ptrdiff_t>(k * n));
        record_.fate[k] = f.fate;
        out_.steps_now += f.steps;
        ++done_;
        if (options_.progress) options_.progress(done_, total_);
        if (options_.save && seconds_since(saved_) > pause_) save();
    }

    /// Simulates the pending motions of [first, first + count), whose starts `values` gives. Returns false if it was
    /// interrupted.
    bool simulate_round(std::size_t first, std::size_t count, const Values& values) {
        const std::size_t n = model_.coordinates.size();
        if (record_.size() < first + count) record_.append(first + count - record_.size(), n);
        std::vector<std::size_t> todo;
        for (std::size_t k = first; k < first + count; ++k)
            if (record_.fate[k] == Fate::pending && options_.shard.contains(k)) todo.push_back(k);
        total_ = first + count;
        done_ = total_ - todo.size();
        const Clock::time_point begin = Clock::now();
        engine_->run(
            todo, [&](std::size_t k, std::span<double> x) { values(todo[k] - first, x); },
            [this](const Finished& f) { store(f); });
        out_.seconds += seconds_since(begin);
        known_ = first + count;
        const bool complete =
            std::all_of(todo.begin(), todo.end(), [this](std::size_t k) { return record_.fate[k] != Fate::pending; });
        // The motions of a shard are its result.
        const bool asked = !complete || !options_.shard.whole() || seconds_since(saved_) > pause_;
        if (options_.save && asked) save();
        return complete;
    }

    void save() {
        const Clock::time_point begin = Clock::now();
        options_.save(record_);
        saved_ = Clock::now();
        pause_ =
            std::max(options_.save_seconds, pause_for_saving * std::chrono::duration<double>(saved_ - begin).count());
    }

    /// Labels all motions of the rounds so far.
    void relabel() {
        const auto* moreau = std::get_if<integrate::Moreau>(&options_.method);
        RestSets sets(model_, moreau != nullptr ? moreau->h : rest_test_step, out_.periods,
                      options_.equilibria ? &*options_.equilibria : nullptr, decision_.level);
        sets.label(record_, known_, out_.base, out_);
    }

    /// Refines the grid where labels differ. Returns false if it was interrupted.
    bool refine() {
        const ensemble::Grid grid{options_.axes};
        Refinement refinement(grid);
        for (int level = 1; level <= options_.refine; ++level) {
            relabel();
            std::vector<std::size_t> points = refinement.next_level(out_.label);
            while (!points.empty()) {
                const std::size_t first = known_;
                if (!simulate_round(first, points.size(),
                                    [&](std::size_t k, std::span<double> x) { grid.values(points[k], level, x); }))
                    return false;
                refinement.set_computed(points, first);
                relabel();
                points = refinement.at_differences(out_.label);
            }
        }
        out_.level = options_.refine;
        source_ = refinement.source();
        out_.refined.resize(source_.size());
        out_.refined_computed = refinement.computed();
        return true;
    }

    void label_refined() {
        for (std::size_t p = 0; p < source_.size(); ++p) out_.refined[p] = out_.label[source_[p]];
    }

    /// Bisects the edges of the grid with different labels at their ends. Both halves are kept if the label in the
    /// middle differs from both ends. Returns false if it was interrupted.
    bool locate_boundary() {
        relabel();
        const ensemble::Grid grid{options_.axes};
        std::vector<Edge> open = edges_between(grid, out_.label), closed;
        while (!open.empty()) {
            const std::size_t first = known_;
            std::vector<Edge> longer;
            for (Edge& e : open) {
                const double middle = 0.5 * (e.low + e.high);
                const bool split = e.high - e.low > 2.0 * options_.boundary && middle > e.low && middle < e.high;
                (split ? longer : closed).push_back(e);
            }
            open = std::move(longer);
            if (open.empty()) break;
            const Values middles = [&](std::size_t k, std::span<double> x) {
                std::copy(open[k].at.begin(), open[k].at.end(), x.begin());
                x[ix(open[k].axis)] = 0.5 * (open[k].low + open[k].high);
            };
            if (!simulate_round(first, open.size(), middles)) return false;
            relabel();
            std::vector<Edge> halves;
            for (std::size_t k = 0; k < open.size(); ++k) {
                const int here = out_.label[first + k];
                Edge left = open[k], right = open[k];
                left.high = right.low = 0.5 * (left.low + left.high);
                left.above = right.below = first + k;
                if (out_.label[left.below] != here) halves.push_back(left);
                if (out_.label[right.above] != here) halves.push_back(right);
            }
            open = std::move(halves);
        }
        std::stable_sort(closed.begin(), closed.end(),
                         [](const Edge& a, const Edge& b) { return a.number < b.number; });
        edges_ = std::move(closed);
        return true;
    }

    void drop_pending() {
        for (Fate& f : record_.fate)
            if (f == Fate::pending) f = Fate::undecided;
    }

    /// Whether a known set lies in the level set and only friction holds it. The equilibrium set of the certificate
    /// consists of all equilibria in the level set, and friction may divide it into several listed sets. A second set
    /// with a frictionless equilibrium contradicts the certificate (condition 2), so that it does not belong to it.
    bool is_held_by_friction_in_level(const EquilibriumSet& set) const {
        return !set.contains_frictionless &&
               rests_in_level({set.representative.data(), static_cast<std::size_t>(set.representative.size())});
    }
    int count_friction_sets_in_level() const {
        if (decision_.level == nullptr || !options_.equilibria) return 0;
        const auto& sets = options_.equilibria->sets;
        return static_cast<int>(std::count_if(
            sets.begin(), sets.end(), [&](const EquilibriumSet& set) { return is_held_by_friction_in_level(set); }));
    }

    /// Whether a position without velocity lies in the level set.
    bool rests_in_level(std::span<const double> q) const {
        const std::vector<double> still(q.size(), 0.0);
        model::Workspace workspace(model_);
        const model::Energy energy = model_.system->energy(model::at(model_, 0.0, q, still), workspace.scratch());
        return decision_.inside(0.0, energy.potential, q);
    }

    /// Tests the claim of the certificate. A motion that starts in the level set must end in its equilibrium set (which
    /// may consist of several listed sets, all in the level set), in the same copy; if it is not at rest at t_max then
    /// its position must still be in the level set. These motions were simulated to their ends, since
    /// stop_when_captured is false for them.
    void test_level_set(const Values& values) {
        if (decision_.level == nullptr) return;
        Starts starts(model_, options_.components);
        std::vector<double> x(options_.axes.size());
        const std::size_t n = model_.coordinates.size();
        const BasinLabel& captor = out_.labels[ix(out_.captor)];
        const auto turn_of = [&](double q, std::size_t i) {
            return std::lround((q - decision_.level->q[i]) / out_.periods[i]);
        };
        for (std::size_t k = 0; k < out_.base; ++k) {
            if (record_.inside[k] == 0) continue;
            ++out_.inside;
            const BasinLabel& end = out_.labels[ix(out_.label[k])];
            const std::span<const double> q(record_.q.data() + k * n, n);
            const bool rests = end.set >= 0;
            values(k, x);
            const Start start = starts.make(x);
            const bool in_captor = rests && end.set == captor.set;
            // The known sets come first and in the order of the equilibria.
            const bool in_friction_set = rests && out_.sets[ix(end.set)].known &&
                                         is_held_by_friction_in_level(options_.equilibria->sets[ix(end.set)]);
            bool same = in_captor || ((in_friction_set || !rests) && rests_in_level(q));
            for (std::size_t i = 0; same && i < out_.periods.size(); ++i) {
                if (out_.periods[i] == 0.0) continue;
                const long turn = in_captor ? end.turn[i] - captor.turn[i] : turn_of(q[i], i);
                same = turn == turn_of(start.q[i], i);
            }
            if (!same)
                ++out_.violations;
            else if (!rests)
                ++out_.inside_undecided;
        }
    }

    void finish() {
        for (const Edge& e : edges_) {
            BoundaryPoint b;
            b.at = e.at;
            b.at[ix(e.axis)] = 0.5 * (e.low + e.high);
            b.half_length = 0.5 * (e.high - e.low);
            b.axis = e.axis;
            b.below = out_.label[e.below];
            b.above = out_.label[e.above];
            out_.boundary.push_back(std::move(b));
        }
        for (const std::int64_t s : record_.steps) out_.steps += s;
        out_.record = std::move(record_);
        out_.method = std::holds_alternative<integrate::Moreau>(options_.method) ? "moreau" : "event";
        out_.lanes =
            engine_->in_lanes() && !options_.device ? static_cast<int>(integrate::moreau::LaneStepper::width) : 1;
        if (options_.device) {
            out_.device = ensemble::to_string(options_.device->kind) + ": " + options_.device->name;
            out_.device_use = engine_->device()->use();
        }
        const auto count = [&](Fate fate) {
            return static_cast<std::size_t>(std::count(out_.record.fate.begin(), out_.record.fate.end(), fate));
        };
        if (friction_sets_in_level_ > 0)
            out_.warnings.push_back("the level set contains " +
                                    counted(static_cast<std::size_t>(friction_sets_in_level_), "further set") +
                                    " that friction holds: its certificate says that motions end in one of all these "
                                    "sets, and the motions are followed to rest");
        if (const std::size_t n = count(Fate::failed); n > 0)
            out_.warnings.push_back(std::to_string(n) +
                                    " motions ended because the integrator could not make a step, or are inaccurate");
        const auto moved = static_cast<std::size_t>(
            std::count(out_.record.admission.begin(), out_.record.admission.end(), Admission::moved));
        if (moved > 0)
            out_.warnings.push_back(std::to_string(moved) +
                                    " starts could be made admissible only by changing components that the axes give");
        for (std::string& text : model::approximations(model_, model::Analysis::basin))
            out_.warnings.push_back(std::move(text));
    }

    /// The steps of an ensemble are not judged by themselves. Some of its motions by time-stepping are made again as
    /// single ones, whose violations and energy balance are measured, up to the time at which their fate was decided.
    void examine_steps(const Values& base) {
        const auto* moreau = std::get_if<integrate::Moreau>(&options_.method);
        if (moreau == nullptr || out_.base == 0) return;
        integrate::Moreau method = *moreau;
        method.keep_arcs = false;
        const std::size_t count = std::min(max_examined_motions, 1 + out_.base / starts_for_examined_motion);
        Starts starts(model_, options_.components);
        std::vector<double> x(options_.axes.size());
        std::size_t inaccurate = 0;
        std::string reason;
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t number = (2 * k + 1) * out_.base / (2 * count);
            base(number, x);
            const Start start = starts.make(x);
            if (start.admission == Admission::inadmissible || !(record_.t[number] > 0.0)) continue;
            integrate::Options options;
            options.start = trajectory::State{0.0, start.q, start.u};
            options.t_end = record_.t[number];
            options.interrupted = options_.interrupted;
            const trajectory::Trajectory motion = integrate::simulate(model_, method, options);
            if (motion.status != trajectory::Status::inaccurate) continue;
            if (inaccurate++ == 0) reason = motion.reason;
        }
        if (inaccurate > 0)
            out_.warnings.push_back(
                std::to_string(inaccurate) + " of " + std::to_string(count) +
                " motions that were examined are inaccurate, so that labels may be wrong; the first: " + reason);
    }

    const model::Mechanics& model_;
    const BasinOptions& options_;
    BasinRecord record_;
    Decision decision_;
    int friction_sets_in_level_ = 0;  // beside the one of the certificate
    std::optional<BasinEngine> engine_;
    Basin out_;
    std::vector<std::size_t> source_;  ///< motion that gives the label of each point of the refined grid
    std::vector<Edge> edges_;          ///< brackets of the boundary
    std::size_t known_ = 0;            ///< motions of the completed rounds; only these are labelled
    std::mutex mutex_;                 ///< protects the members that `store` changes
    std::size_t total_ = 0, done_ = 0;
    Clock::time_point saved_ = Clock::now();
    double pause_ = 0.0;  ///< least time until the record is saved again, s
};

}  // namespace

void BasinRecord::append(std::size_t count, std::size_t coordinates) {
    const std::size_t all = size() + count;
    fate.resize(all, Fate::pending);
    admission.resize(all, Admission::admissible);
    inside.resize(all, 0);
    V.resize(all, 0.0);
    t.resize(all, 0.0);
    steps.resize(all, 0);
    q.resize(all * coordinates, 0.0);
}

Basin basin(const model::Mechanics& model, const BasinOptions& options, BasinRecord record) {
    model::refuse_elements(model, model::Analysis::basin);
    SALTUS_EXPECT(options.axes.size() == options.components.size() && options.t_max > 0.0);
    return Run(model, options, std::move(record)).run();
}

}  // namespace saltus::stability
