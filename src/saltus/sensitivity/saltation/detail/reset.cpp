// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/reset.hpp"

#include "saltus/base/index.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::FrictionMode;
using integrate::RecordedChange;
using model::Function;
using RowVector = Eigen::RowVectorXd;

bool newly_sticks_in_a_plane(const Tangent& x, const RecordedChange& change) {
    for (std::size_t k = 0; k < change.mode_before.parts.size(); ++k) {
        const FrictionMode &was = change.mode_before.parts[k], &is = change.mode_after.parts[k];
        if (x.dynamics.parts()[k].size > 1 && was.slips && !is.slips) return true;
    }
    return false;
}

}  // namespace

RowVector without_rounding(const RowVector& sum, const RowVector& terms) {
    return (sum.array().abs() > 1e-12 * terms.array()).select(sum, RowVector::Zero(sum.size()));
}

Reset reset(Tangent& x, const RecordedChange& change, bool arrests) {
    Reset r;
    const int n = x.n();
    r.map = x.state_identity();
    for (const integrate::RecordedImpact& impact : change.impacts) {
        x.set_mode(change.mode_before, change.t, change.before.data());
        ImpactDerivative d = differentiate(x, change.t, change.before.data(), impact);
        if (!d.exists) {
            r.exists = false;
            r.why_not = std::move(d.why_not);
            return r;
        }
        // Its columns are δ before it: velocities are those after the impact before.
        Matrix inner = Matrix::Zero(x.columns(), x.columns());
        inner.setIdentity();
        inner.middleRows(1 + n, n) = r.map.bottomRows(n);
        for (Condition& c : d.conditions) r.conditions.push_back({c.change * inner, std::move(c.otherwise)});
        r.map.bottomRows(n) = d.velocity * inner;
    }
    x.set_mode(change.mode_after, change.t, change.after.data());
    if (arrests || !change.impacts.empty() || newly_sticks_in_a_plane(x, change)) {
        // What is left of velocities in closed contacts is gone after a time of its own order, if a force holds them.
        const Matrix free = r.map.bottomRows(n);
        const double* const u = change.impacts.empty() ? change.before.data() + n : change.impacts.back().u_plus.data();
        r.map.bottomRows(n) =
            differentiate_arrest(x, change.t, change.before.data(), Eigen::Map<const Vector>(u, n), free);
        for (const int k : idle_contacts(x, change.t, change.after.data())) {
            Matrix velocity;
            x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
            RowVector gamma = velocity.row(x.dynamics.elements()[ix(k)].rows.normal);
            const RowVector W = gamma.segment(1 + n, n);
            gamma.segment(1 + n, n).setZero();
            const RowVector terms = gamma.cwiseAbs() + W.cwiseAbs() * free.cwiseAbs();
            gamma = without_rounding(gamma + W * free, terms);
            if (gamma.cwiseAbs().maxCoeff() > 1e-12) r.conditions.push_back({gamma, idle_text(x, k)});
        }
    }
    return r;
}

}  // namespace saltus::sensitivity
