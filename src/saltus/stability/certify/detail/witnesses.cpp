// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/witnesses.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr int random_positions = 64;
constexpr unsigned position_seed = 1;

/// `opening_witness`: a gap may be closed at the position if |g_N| is below this length. An acceleration is called
/// nonnegative if it exceeds −acceleration_tolerance.
constexpr double closable_gap = 1e-5, acceleration_tolerance = 1e-9;
/// It goes through 2^n subsets of the n closable gaps.
constexpr std::size_t max_closed_gaps = 8;
/// The disk of friction directions is replaced by this number of directions in it.
constexpr int friction_directions = 16;

/// `collision_witness`: Newton's method ends if all gaps are closed to this length.
constexpr double closed_gap = 1e-14;
constexpr int max_newton_steps = 40;

/// Witnesses for models that depend on time look at these times. The distance is not a period that users choose.
constexpr int examined_times = 200;
constexpr double time_step = 0.0731;  // s
/// A velocity, a force or a coefficient changes if it differs by more than this (velocity: absolute in the units of the
/// model; the others relative to 1 + |value|).
constexpr double moving_speed = 1e-9, change_ratio = 1e-9;
/// Forces are examined beside the equilibrium at this fraction of the coordinate's scale.
constexpr double displacement_ratio = 0.125;

/// The largest first acceleration at rest over all forces of the laws with which the other accelerations vanish.
struct LargestAcceleration {
    bool found = false;            // such forces exist
    double value = 0.0;            // +∞: unbounded
    std::vector<double> pressing;  // the normal force of each cone
};

/// The linear program: maximise γ̇_0 = c_0 + Σ N n_0 + Σ f_0 subject to γ̇_k = 0 for k > 0, N >= 0, friction f in
/// polygons of size N (contacts) or 1 (sliders, whose vectors contain the bound).
class ForceProgram {
public:
    explicit ForceProgram(const ForceSet& forces) {
        for (const ForceCone& c : forces.cones) {
            normals.push_back(static_cast<Index>(columns_.size()));
            columns_.push_back(proof::midpoints(c.normal));
            add_friction(c.friction, normals.back());
        }
        for (const proof::Friction& f : forces.sliders) add_friction(f, -1);
    }

    /// There are no forces at all.
    bool empty() const { return columns_.empty() && bounds_.empty(); }

    /// The unknowns are the columns, then one slack for each bound.
    solvers::LinearProgram program(const Vector& constant) const {
        const Index m = constant.size(), n = static_cast<Index>(columns_.size()),
                    k = static_cast<Index>(bounds_.size());
        solvers::LinearProgram lp;
        lp.A = Matrix::Zero(m - 1 + k, n + k);
        lp.b = Vector::Zero(m - 1 + k);
        lp.c = Vector::Zero(n + k);
        lp.b.head(m - 1) = -constant.tail(m - 1);
        for (Index j = 0; j < n; ++j) {
            lp.A.block(0, j, m - 1, 1) = columns_[static_cast<std::size_t>(j)].tail(m - 1);
            lp.c(j) = -columns_[static_cast<std::size_t>(j)](0);
        }
        for (Index i = 0; i < k; ++i) {
            const Bound& bound = bounds_[static_cast<std::size_t>(i)];
            for (const Index j : bound.of) lp.A(m - 1 + i, j) = 1.0;
            lp.A(m - 1 + i, n + i) = 1.0;
            if (bound.by >= 0)
                lp.A(m - 1 + i, bound.by) = -1.0;
            else
                lp.b(m - 1 + i) = 1.0;
        }
        return lp;
    }

    std::vector<Index> normals;  // the columns of the normal forces

private:
    struct Bound {
        Index by;               // the sum of `of` is at most the unknown in this column; −1: at most 1
        std::vector<Index> of;  // columns of the directions of one group
    };

    void add_friction(const proof::Friction& f, Index by) {
        for (const auto& group : f.groups) {
            Bound bound{by, {}};
            const int directions = group.size() == 1 ? 2 : friction_directions;
            for (int k = 0; k < directions; ++k) {
                const double angle = 2.0 * std::numbers::pi * k / directions;
                Vector v = std::cos(angle) * proof::midpoints(group[0]);
                if (group.size() > 1) v += std::sin(angle) * proof::midpoints(group[1]);
                bound.of.push_back(static_cast<Index>(columns_.size()));
                columns_.push_back(std::move(v));
            }
            bounds_.push_back(std::move(bound));
        }
    }

    std::vector<Vector> columns_;  // the effect of each unknown on γ̇
    std::vector<Bound> bounds_;
};

LargestAcceleration largest_acceleration(const Accelerations& a) {
    const Vector constant = proof::midpoints(a.constant);
    const ForceProgram forces(a.forces);
    LargestAcceleration result;
    if (forces.empty()) {
        result.found = constant.size() == 1;
        result.value = constant(0);
        return result;
    }
    const solvers::ProgramSolution s = solvers::solve(forces.program(constant));
    if (s.status == solvers::ProgramStatus::unbounded) {
        result.found = true;
        result.value = Interval::infinity;
        return result;
    }
    if (s.status != solvers::ProgramStatus::optimal) return result;
    result.found = true;
    result.value = constant(0) - s.value;
    for (const Index j : forces.normals) result.pressing.push_back(s.x(j));
    return result;
}

}  // namespace

std::vector<std::vector<double>> sample_positions(const ConditionScope& scope) {
    std::vector<std::vector<double>> points{list_of(scope.equilibrium.q)};
    const Enclosure& e = scope.enclosure();
    const auto in_scope = [&](const std::vector<double>& q) {
        const Box at = point_box(q);
        const IntervalVector gaps = e.position_values(at);
        for (int r = e.constraints(); r < e.positions(); ++r)
            if (!(gaps[static_cast<std::size_t>(r)].lo >= 0.0)) return false;
        return scope.set.level(at).hi <= scope.cap;
    };
    Box box = scope.domain;
    if (!scope.set.contract(box, {}, scope.cap)) return points;
    SampleNumbers numbers(position_seed);
    for (int k = 0; k < random_positions; ++k) {
        std::vector<double> q;
        for (std::size_t j = 0; j < box.size(); ++j) {
            const double c = scope.equilibrium.q(static_cast<Index>(j)), scale = scope.equilibrium.scale[j];
            const double lo = std::max(box[j].lo, c - scale), hi = std::min(box[j].hi, c + scale);
            q.push_back(lo + (hi - lo) * numbers.next());
        }
        if (in_scope(q)) points.push_back(std::move(q));
    }
    return points;
}

Witness opening_witness(const ConditionScope& scope, const std::vector<int>& I_C, const Vector& near) {
    const Enclosure& e = scope.enclosure();
    Witness best;
    double largest_found = -acceleration_tolerance;
    const std::vector<double> q = list_of(near);
    const Box point = point_box(q);
    const IntervalVector gaps = e.position_values(point);
    std::vector<int> closable;
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (std::fabs(expr::midpoint(gaps[static_cast<std::size_t>(r)])) < closable_gap) closable.push_back(r);
    if (closable.size() > max_closed_gaps) return best;
    const std::size_t frictional = frictional_constraints(e).size();
    for (unsigned mask = 0; mask < (1U << closable.size()); ++mask) {
        const std::vector<int> closed = subset(closable, mask);
        if (implies_more_closed(e, point, closable, closed)) continue;
        for (unsigned sign = 0; sign < (1U << frictional); ++sign)
            for (const int i : I_C) {
                if (std::find(closed.begin(), closed.end(), i) != closed.end()) continue;
                AccelerationRequest request{{i}, closed, signs_of(sign, frictional), 0.0};
                request.gaps.insert(request.gaps.end(), closed.begin(), closed.end());
                const std::optional<Accelerations> a = accelerations(e, point, request);
                if (!a) continue;
                const LargestAcceleration largest = largest_acceleration(*a);
                if (!largest.found || !(largest.value > largest_found)) continue;
                largest_found = largest.value;
                best = {};
                best.q = q;
                best.u.assign(q.size(), 0.0);
                const auto name = [&](int r) {
                    return scope.model().contacts[static_cast<std::size_t>(r - e.constraints())].name;
                };
                best.values.emplace_back("acceleration of gap " + name(i), largest.value);
                for (std::size_t k = 0; k < closed.size() && k < largest.pressing.size(); ++k)
                    best.values.emplace_back("force N of " + name(closed[k]), largest.pressing[k]);
            }
    }
    return best;
}

namespace {

/// The forces h and the velocities χ of contacts at one state and time, from the model itself.
struct TimedTerms {
    Vector h, chi;
};
TimedTerms terms_at(const ConditionScope& scope, model::Workspace& workspace, model::Terms& terms, double t,
                    const std::vector<double>& q, const std::vector<double>& u) {
    model::evaluate(scope.model(), workspace, t, q, u, terms);
    return {vector_of(terms.h), vector_of(terms.chi)};
}

}  // namespace

Witness collision_witness(const ConditionScope& scope, std::size_t contact) {
    const Enclosure& e = scope.enclosure();
    std::vector<int> rows;
    for (const model::Constraint& c : scope.model().constraints) rows.push_back(c.row);
    rows.push_back(scope.model().contacts[contact].row);
    const auto m = static_cast<Index>(rows.size());
    // d = M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ r: the solution of A d = r with the least dᵀMd.
    const auto least = [&](const Vector& q, const Vector& r) -> Vector {
        const Box point = point_box(list_of(q));
        const Matrix M = e.mass(point).middle(), all_rows = e.row_matrix(point).middle();
        Matrix A(m, q.size());
        for (Index i = 0; i < m; ++i) A.row(i) = all_rows.row(rows[static_cast<std::size_t>(i)]);
        const Matrix MA = M.ldlt().solve(A.transpose());
        return MA * least_squares(A * MA, r);
    };
    Vector q = scope.equilibrium.q;
    for (int k = 0; k < max_newton_steps; ++k) {
        const IntervalVector values = e.position_values(point_box({q.data(), q.data() + q.size()}));
        Vector r(m);
        for (Index i = 0; i < m; ++i)
            r(i) = -expr::midpoint(values[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
        if (r.cwiseAbs().maxCoeff() < closed_gap) break;
        q += least(q, r);
        if (!q.allFinite()) return {};
    }
    Vector closing = Vector::Zero(m);
    closing(m - 1) = -1.0;
    const Vector u = least(q, closing);
    Witness w;
    if (!u.allFinite()) return w;
    w.q.assign(q.data(), q.data() + q.size());
    w.u.assign(u.data(), u.data() + u.size());
    return w;
}

Witness moving_witness(const ConditionScope& scope) {
    model::Workspace workspace(scope.model());
    model::Terms terms(scope.model().layout());
    const std::vector<double> q(scope.equilibrium.q.data(), scope.equilibrium.q.data() + scope.equilibrium.q.size()),
        u(q.size(), 0.0);
    double largest = moving_speed;
    Witness w;
    for (int k = 0; k < examined_times; ++k) {
        const double t = time_step * k;
        const TimedTerms s = terms_at(scope, workspace, terms, t, q, u);
        Index row = 0;
        if (s.chi.size() == 0 || !(s.chi.cwiseAbs().maxCoeff(&row) > largest)) continue;
        largest = std::fabs(s.chi(row));
        w.q.assign(scope.equilibrium.q.data(), scope.equilibrium.q.data() + scope.equilibrium.q.size());
        w.u.assign(w.q.size(), 0.0);
        w.values = {{"t", t}, {"chi", s.chi(row)}};
    }
    return w;
}

Witness changing_witness(const ConditionScope& scope) {
    model::Workspace workspace(scope.model());
    model::Terms terms(scope.model().layout());
    const std::vector<double> rest(scope.equilibrium.q.data(), scope.equilibrium.q.data() + scope.equilibrium.q.size()),
        still(rest.size(), 0.0);
    // At the equilibrium, beside it (where a pulsating stiffness shows), and with a velocity (where damping shows).
    std::vector<std::pair<std::vector<double>, std::vector<double>>> states{{rest, still}};
    for (std::size_t j = 0; j < rest.size(); ++j) {
        std::vector<double> q = rest, u = still;
        q[j] += displacement_ratio * scope.equilibrium.scale[j];
        u[j] = 1.0;
        states.emplace_back(q, still);
        states.emplace_back(rest, u);
    }
    for (const auto& [q, u] : states) {
        const Vector first = terms_at(scope, workspace, terms, 0.0, q, u).h;
        double largest = change_ratio * (1.0 + first.cwiseAbs().maxCoeff());
        Witness w;
        for (int k = 1; k < examined_times; ++k) {
            const double t = time_step * k;
            const Vector change = terms_at(scope, workspace, terms, t, q, u).h - first;
            Index row = 0;
            if (!(change.cwiseAbs().maxCoeff(&row) > largest)) continue;
            largest = std::fabs(change(row));
            w.q = q;
            w.u = u;
            w.values = {{"t", t},
                        {"change of h " + scope.model().coordinates[static_cast<std::size_t>(row)], change(row)}};
        }
        if (w.given()) return w;
    }
    const std::size_t count = static_cast<std::size_t>(scope.model().layout().coefficients);
    std::vector<double> first(count), later(count);
    const auto coefficients = [&](double t, std::vector<double>& values) {
        scope.model().system->coefficients(model::at(scope.model(), t, rest, still), workspace.scratch(), values);
    };
    coefficients(0.0, first);
    for (int k = 1; k < examined_times; ++k) {
        coefficients(time_step * k, later);
        for (std::size_t i = 0; i < count; ++i)
            if (std::fabs(later[i] - first[i]) > change_ratio * (1.0 + std::fabs(first[i])))
                return {rest, still, {{"t", time_step * k}, {"change of a coefficient", later[i] - first[i]}}};
    }
    return {};
}

}  // namespace saltus::stability
