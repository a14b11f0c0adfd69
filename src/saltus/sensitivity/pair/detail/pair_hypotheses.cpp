// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/detail/pair_hypotheses.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::State;
using trajectory::Trajectory;

/// A gap (in m) above −this counts as open after a lift-off, where it opens like (t − c)³ and is rounding at first.
constexpr double gap_tolerance = 1e-9;

/// A collision approaches if γ_N⁻ < −this · (largest velocity); a slower one cannot be distinguished from grazing.
constexpr double grazing_speed_ratio = 1e-8;

bool contains(const std::vector<int>& list, int k) { return std::find(list.begin(), list.end(), k) != list.end(); }

/// The smaller of two values; NaN if `value` is NaN.
double smaller_or_nan(double value, double least) { return value > least ? least : value; }
/// The larger of two values; NaN if `value` is NaN.
double larger_or_nan(double value, double largest) { return value < largest ? largest : value; }

/// Limit of the relative error of a rate in the proof of Lemma 3.4.
constexpr double largest_rate_error = 0.25;

class Hypotheses {
public:
    Hypotheses(const PairView& view, const PairPiece& piece, const std::vector<double>& times)
        : v_(view), p_(piece), times_(times) {
        for (int k = 0; k < static_cast<int>(v_.nominal_model.contacts.size()); ++k) all_.push_back(k);
    }

    std::vector<Hypothesis> run() {
        const bool frictionless = laws();
        start();
        smoothness();
        if (p_.event) one_contact();
        if (frictionless) sample();
        if (frictionless && p_.event) {
            p_.event->kind == PairEventKind::collision ? collision() : lift_off();
            smallness();
        }
        if (frictionless) others();
        rank();
        return std::move(out_);
    }

private:
    void add(std::string name, std::string text, bool holds, double value) {
        out_.push_back({std::move(name), std::move(text), holds, value});
    }

    /// (5)–(8), (18): the laws of the contacts. Returns whether the model is frictionless.
    bool laws() {
        const model::Mechanics& m = v_.nominal_model;
        const int frictional = model::frictional_elements(m) + static_cast<int>(m.clutches.size());
        add("(5)-(8) frictionless", "contacts and constraints without friction, no sliders, no clutches",
            frictional == 0, frictional);
        if (p_.event && p_.event->kind == PairEventKind::collision) {
            std::vector<double> values(ix(m.layout().coefficients));
            model::Workspace workspace(m);
            const State s = v_.nominal.left(p_.event->c_bar);
            if (!values.empty()) m.system->coefficients(model::at(m, s.t, s.q, s.u), workspace.scratch(), values);
            double e = 0.0;
            bool inelastic = true;
            for (const int k : p_.event->contacts) {
                const model::Contact& c = m.contacts[ix(k)];
                e = std::max(e, integrate::coefficient(values, c.e_n));
                inelastic = inelastic && c.c == model::no_coefficient;
            }
            add("(18) inelastic", "the restitution of what collides is 0", inelastic && e == 0.0, inelastic ? e : 1.0);
        }
        return frictional == 0;
    }

    /// (35): the perturbed start must lie on the perturbed constraints and closed contacts. Building the model ensures
    /// this if both motions have the same closed contacts.
    void start() {
        const int n = static_cast<int>(all_.size());
        const std::vector<int> hat = closed_after(v_.perturbed, n, p_.begin);
        double different = 0.0;
        for (const int k : all_) different += contains(hat, k) != contains(p_.closed_before, k) ? 1.0 : 0.0;
        add("(35) same closed contacts", "both motions begin the piece with the same contacts closed", different == 0.0,
            different);
    }

    void smoothness() {
        const double jump = v_.functions.largest_jump(p_.begin, p_.end);
        add("(46) smooth perturbation",
            "theta and eta twice continuously differentiable, delta continuous: largest jump", jump == 0.0, jump);
        if (p_.event && p_.event->kind == PairEventKind::lift_off)
            add("(61) third derivatives",
                "third derivatives of theta and eta, first of delta are bounded: K, the largest of all derivatives",
                std::isfinite(p_.size), p_.size);
    }

    /// The proof of Lemma 3.4: the event of the perturbed motion is unique if the rate of what decides the event (gap
    /// or force of p) differs from the nominal rate by at most a quarter of it. This is how small K must be. (61)
    /// bounds δ but not δ̇, which enters the rate of the force; without a bound of δ̇ the statement of Theorem 3.4 is
    /// false.
    void smallness() {
        const EventPair& e = *p_.event;
        const State bar = v_.nominal.left(e.c_min()), hat = v_.perturbed.left(e.c_min());
        const bool is_collision = e.kind == PairEventKind::collision;
        double worst = 0.0;
        if (is_collision) {
            const std::vector<double> a = v_.nominal_contacts.velocities(bar),
                                      b = v_.perturbed_contacts.velocities(hat);
            for (const int k : e.contacts) worst = larger_or_nan(std::abs(b[ix(k)] / a[ix(k)] - 1.0), worst);
        } else {
            for (const int k : e.contacts) {
                const double a = v_.nominal_contacts.force_rate(bar, p_.closed_before, k),
                             b = v_.perturbed_contacts.force_rate(hat, p_.closed_before, k);
                worst = larger_or_nan(std::abs(b / a - 1.0), worst);
            }
        }
        add(is_collision ? "(46) small enough" : "(61) small enough",
            is_collision ? "relative error of p's approach velocity at c_min, at most 1/4 (Lemma 3.4)"
                         : "relative error of the rate of p's force at c_min, at most 1/4 (Lemma 3.4)",
            worst <= largest_rate_error, worst);
    }

    void one_contact() {
        add("(a1) single contact",
            p_.event->kind == PairEventKind::collision ? "one contact closes, no other with it"
                                                       : "one contact opens, no other with it",
            p_.event->contacts.size() == 1, static_cast<double>(p_.event->contacts.size()));
    }

    /// Collects the smallest gaps and forces of the nominal motion before and after its event.
    void sample() {
        const double c = p_.event ? p_.event->c_bar : p_.end;
        const auto look = [&](const State& s, const std::vector<int>& closed, std::vector<double>& gap,
                              std::vector<double>& force) {
            const std::vector<double> g = v_.nominal_contacts.gaps(s), f = v_.nominal_contacts.forces(s, closed);
            for (std::size_t k = 0; k < all_.size(); ++k) {
                gap[k] = std::min(gap[k], g[k]);
                force[k] = smaller_or_nan(f[k], force[k]);
            }
        };
        for (auto* list : {&gap_before_, &gap_after_, &force_before_, &force_after_})
            list->assign(all_.size(), infinity);
        for (const double t : times_) {
            if (t < c) look(v_.nominal.right(t), p_.closed_before, gap_before_, force_before_);
            if (t > c) look(v_.nominal.right(t), p_.closed_after, gap_after_, force_after_);
        }
        if (p_.event) {
            at_left_ = v_.nominal_contacts.forces(v_.nominal.left(c), p_.closed_before);
            at_right_ = v_.nominal_contacts.forces(v_.nominal.right(c), p_.closed_after);
        }
    }

    double smallest(const std::vector<double>& values) const {
        double least = infinity;
        for (const int k : p_.event->contacts) least = smaller_or_nan(values[ix(k)], least);
        return least;
    }

    /// (a1) of Theorem 3.2.
    void collision() {
        const double gap = smallest(gap_before_);
        add("(a1) open before", "smallest gap of p before the collision", gap > 0.0, gap);
        const State before = v_.nominal.left(p_.event->c_bar);
        const std::vector<double> gamma = v_.nominal_contacts.velocities(before);
        double approach = -infinity, speed = 0.0;
        for (const int k : p_.event->contacts) approach = std::max(approach, gamma[ix(k)]);
        for (const double u : v_.nominal.start.u) speed = std::max(speed, std::abs(u));
        for (const double u : before.u) speed = std::max(speed, std::abs(u));
        add("(a1) approach", "normal velocity of p before the collision is negative",
            approach < -grazing_speed_ratio * speed, approach);
        const bool closed = std::all_of(p_.event->contacts.begin(), p_.event->contacts.end(),
                                        [&](int k) { return contains(p_.closed_after, k); });
        const double at = closed ? smallest(at_right_) : 0.0;
        add("(a1) force at the collision", "contact force of p right after the collision is positive", at > 0.0, at);
        const double later = closed ? smallest(force_after_) : 0.0;
        add("(a1) force after", "smallest contact force of p after the collision", later > 0.0, later);
    }

    /// (a1) of Theorem 3.4.
    void lift_off() {
        const double force = smallest(force_before_);
        add("(a1) force before", "smallest contact force of p before the lift-off", force > 0.0, force);
        const State s = v_.nominal.left(p_.event->c_bar);
        double rate = -infinity;
        for (const int k : p_.event->contacts) {
            const double own = v_.nominal_contacts.force_rate(s, p_.closed_before, k);
            rate = own < rate ? rate : own;
        }
        add("(a1) force falls", "rate of p's contact force at the lift-off is negative", rate < 0.0, rate);
        // The gap opens like (t − c̄)³: at first it is rounding, but at the end it must be positive.
        const double least = smallest(gap_after_), last = smallest(v_.nominal_contacts.gaps(v_.nominal.left(p_.end)));
        add("(a1) open after", "gap of p at the end, and nowhere closed after the lift-off",
            least > -gap_tolerance && last > 0.0, last);
    }

    /// (a2), (a3): contacts that do not take part in the event.
    void others() {
        double force = infinity, gap = infinity;
        for (const int k : all_) {
            const bool before = contains(p_.closed_before, k), after = contains(p_.closed_after, k);
            if (p_.event && contains(p_.event->contacts, k)) continue;
            if (before) force = smaller_or_nan(force_before_[ix(k)], force);
            if (before && p_.event) {
                force = smaller_or_nan(at_left_[ix(k)], force);
                // A contact that is open after the event has no force there.
                const double later = after ? std::min(at_right_[ix(k)], force_after_[ix(k)]) : 0.0;
                force = smaller_or_nan(later, force);
            }
            if (!before) gap = std::min({gap, gap_before_[ix(k)], gap_after_[ix(k)]});
        }
        add("(a2) forces of the closed", "smallest force of the contacts closed throughout", force > 0.0, force);
        add("(a3) gaps of the open", "smallest gap of the contacts open throughout", gap > 0.0, gap);
    }

    /// (22): constraints and contacts are linearly independent.
    void rank() {
        std::vector<int> closing = p_.closed_before;
        for (const int k : p_.closed_after)
            if (!contains(closing, k)) closing.push_back(k);
        std::vector<State> states{v_.nominal.right(p_.begin), v_.nominal.left(p_.end)};
        if (p_.event) {
            states.push_back(v_.nominal.left(p_.event->c_bar));
            states.push_back(v_.perturbed.left(p_.event->c_hat));
        }
        double all = infinity, active = infinity;
        for (const State& s : states) {
            all = std::min(all, v_.nominal_contacts.smallest_singular_value(s, all_));
            if (all == 0.0) active = std::min(active, v_.nominal_contacts.smallest_singular_value(s, closing));
        }
        std::string text = "constraints and all contacts are independent: smallest singular value";
        if (all == 0.0 && active > 0.0) text += " (those that close in this piece are, and the proofs use no others)";
        add("(22) rank", std::move(text), all > 0.0, all);
    }

    const PairView& v_;
    const PairPiece& p_;
    const std::vector<double>& times_;
    std::vector<int> all_;
    std::vector<double> gap_before_, gap_after_, force_before_, force_after_, at_left_, at_right_;
    std::vector<Hypothesis> out_;
};

}  // namespace

std::vector<Hypothesis> pair_hypotheses(const PairView& view, const PairPiece& piece,
                                        const std::vector<double>& times) {
    return Hypotheses(view, piece, times).run();
}

}  // namespace saltus::sensitivity
