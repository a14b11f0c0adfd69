// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/reset.hpp"

#include <algorithm>
#include <iterator>

#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::FrictionMode;
using integrate::RecordedChange;
using model::Function;
using RowVector = Eigen::RowVectorXd;

/// Entries below this part of the sum of their terms' magnitudes are rounding residue: |sum| ≤ this · Σ|terms|.
constexpr double rounding_ratio = 1e-12;
/// A condition whose derivative is nowhere larger than this is always met, and is left out.
constexpr double negligible_reset_condition = 1e-12;

bool newly_sticks_in_a_plane(const Tangent& x, const RecordedChange& change) {
    for (std::size_t k = 0; k < change.mode_before->parts.size(); ++k) {
        const FrictionMode &was = change.mode_before->parts[k], &is = change.mode_after->parts[k];
        if (x.dynamics.parts()[k].size > 1 && was.slips && !is.slips) return true;
    }
    return false;
}

/// A closed contact without force opens if its velocity varies: ∂γ_N = γ_x + W ∂u must vanish for the variation. `du`
/// is ∂u after the impacts, n × columns.
void forbid_motion_of_idle_contacts(Tangent& x, const RecordedChange& change, const Matrix& du, Reset& r) {
    const int n = x.n();
    for (const int k : idle_contacts(x, change.t, change.after.data())) {
        Matrix velocity;
        x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
        RowVector gamma = velocity.row(x.dynamics.elements()[ix(k)].rows.normal);
        const RowVector W = gamma.segment(1 + n, n);
        gamma.segment(1 + n, n).setZero();
        const RowVector terms = gamma.cwiseAbs() + W.cwiseAbs() * du.cwiseAbs();
        gamma = without_rounding(gamma + W * du, terms);
        if (gamma.cwiseAbs().maxCoeff() > negligible_reset_condition) r.conditions.push_back({gamma, idle_text(x, k)});
    }
}

}  // namespace

RowVector without_rounding(const RowVector& sum, const RowVector& terms) {
    return (sum.array().abs() > rounding_ratio * terms.array()).select(sum, RowVector::Zero(sum.size()));
}

// Derivation. The reset of a change with impacts 1, …, m is the composition u⁺ = R_m(t, q, R_{m−1}(t, q, … u⁻)), q⁺ =
// q⁻
// ([Alscher] (21) for one inelastic contact). Each R_i has the derivative D_i in the columns (t, q, u, p), where u is
// the velocity before impact i. The chain rule replaces the rows of u in the identity by the derivative so far:
//     ∂u_i = D_i · [e_t; ∂q; ∂u_{i−1}; e_p]       (`inner` is the bracket, square in the columns of Tangent)
// A condition c·δ of impact i refers to the same columns and is composed with the same bracket.
//
// A jump of the model resets q⁺ and u⁺ by formulas, whose derivatives replace rows of the identity. An impact at the
// same time is another change.
//
// Arrest. Let a variation leave a velocity ε in an equation of the mode after the change (a closed contact, sticking
// friction) in which a force of order 1 acts. This force stops it within a time of order ε, so the position changes by
// order ε² only. To first order the velocity variation is projected onto the equations of the mode at once. Without a
// force nothing stops it: an idle contact opens, or not, and gives a condition instead.
Reset reset(Tangent& x, const RecordedChange& change, Arrest arrest, Matrix memory) {
    Reset r;
    const int n = x.n();
    r.map = std::move(memory);
    x.set_state_identity(r.map);
    if (change.jump >= 0) {
        const model::Jump& jump = x.model().jumps[ix(change.jump)];
        Matrix values;
        x.linearised.gather(Function::coefficient, change.t, change.before.data(), {}, {}, values);
        for (const model::JumpValue& v : jump.q) r.map.row(v.coordinate) = values.row(v.value);
        for (const model::JumpValue& v : jump.u) r.map.row(n + v.coordinate) = values.row(v.value);
        r.before_arrest = r.map;
    }
    for (const integrate::RecordedImpact& impact : change.impacts) {
        if (x.dynamics.mode() != change.mode_before) x.set_mode(change.mode_before, change.t, change.before.data());
        ImpactDerivative d = differentiate(x, change.t, change.before.data(), impact);
        if (!d.exists) {
            r.exists = false;
            r.why_not = std::move(d.why_not);
            return r;
        }
        if (&impact == &change.impacts.front()) {  // the bracket is the identity
            std::move(d.conditions.begin(), d.conditions.end(), std::back_inserter(r.conditions));
            r.map.bottomRows(n) = d.velocity;
            continue;
        }
        Matrix inner = Matrix::Identity(x.columns(), x.columns());
        inner.middleRows(1 + n, n) = r.map.bottomRows(n);
        for (Condition& c : d.conditions) r.conditions.push_back({c.change * inner, std::move(c.otherwise)});
        r.map.bottomRows(n) = d.velocity * inner;
    }
    x.set_mode(change.mode_after, change.t, change.after.data());
    if (arrest == Arrest::never) return r;
    // Without closed contacts and other equations nothing is arrested.
    const bool holds = !x.dynamics.equation_rows().empty() ||
                       std::any_of(change.mode_after->elements.begin(), change.mode_after->elements.end(),
                                   [](const integrate::ElementMode& e) { return e.active; });
    if (change.jump >= 0) {
        if (!holds) return r;
        const Matrix free = r.map.bottomRows(n);
        r.map.bottomRows(n) = differentiate_arrest(x, change.t, change.after.data(),
                                                   Eigen::Map<const Vector>(change.after.data() + n, n), free);
        forbid_motion_of_idle_contacts(x, change, free, r);
        return r;
    }
    if (holds && (arrest == Arrest::always || !change.impacts.empty() || newly_sticks_in_a_plane(x, change))) {
        const Matrix free = r.map.bottomRows(n);
        const double* const u = change.impacts.empty() ? change.before.data() + n : change.impacts.back().u_plus.data();
        r.map.bottomRows(n) =
            differentiate_arrest(x, change.t, change.before.data(), Eigen::Map<const Vector>(u, n), free);
        forbid_motion_of_idle_contacts(x, change, free, r);
    }
    return r;
}

}  // namespace saltus::sensitivity
