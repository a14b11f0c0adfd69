// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/static_forces.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/proof/admissible.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The multipliers of `implies_more_closed` are rounded to multiples of this number. Those of symmetric arrangements
/// then are exact.
constexpr double multiplier_grid = 0x1p-20;

IntervalVector row(const IntervalMatrix& A, int r, double sign = 1.0) {
    IntervalVector v;
    for (int j = 0; j < A.cols(); ++j) v.push_back(sign > 0.0 ? A(r, j) : -A(r, j));
    return v;
}

Box at_rest(int n) { return Box(static_cast<std::size_t>(n), Interval(0.0)); }

/// load(q) = −∇U(q) = −∇U(c) − ∇²U (q − c).
std::optional<LoadSlope> slope_of_gradient(const Enclosure& e, const Box& q) {
    LoadSlope slope;
    const std::vector<double> c = centre(q);
    slope.at_centre = e.gradient(point_box(c));
    for (Interval& x : slope.at_centre) x = -x;
    slope.slope = e.hessian(q);
    for (int i = 0; i < e.size(); ++i) {
        slope.step.push_back(q[static_cast<std::size_t>(i)] - Interval(c[static_cast<std::size_t>(i)]));
        for (int j = 0; j < e.size(); ++j) slope.slope(i, j) = -slope.slope(i, j);
    }
    if (!slope.slope.finite()) return std::nullopt;
    return slope;
}

/// The sign of the slip velocity at rest if the surface of an element moves (γ_T = χ for u = 0, for example a belt):
/// 1 or −1 if it is proved over the box, for Coulomb friction along one direction; otherwise 0.
int sliding_sign(const model::Friction& f, const IntervalVector& chi) {
    if (f.law != model::FrictionLaw::coulomb || f.dimension != 1) return 0;
    const Interval& x = chi[static_cast<std::size_t>(f.first_row)];
    if (!x.defined) return 0;
    return x.lo > 0.0 ? 1 : x.hi < 0.0 ? -1 : 0;
}

/// v − sign · factor · (row r): the friction force of an element that slides opposes its slip velocity.
void add_sliding(IntervalVector& v, const IntervalMatrix& rows, const model::Friction& f, int sign,
                 const Interval& factor) {
    for (int j = 0; j < rows.cols(); ++j) {
        const Interval& x = rows(f.first_row, j);
        if (x.lo != 0.0 || x.hi != 0.0) v[static_cast<std::size_t>(j)] -= Interval(sign) * factor * x;
    }
}

/// Forces y that do no work along the constraints `free` are removed: with G T = 0 the balance Σ f + Gᵀν = 0 is
/// equivalent to Tᵀ Σ f = 0.
std::optional<ForceSet> along_constraints(const Enclosure& e, const IntervalMatrix& rows, const std::vector<int>& free,
                                          ForceSet forces) {
    if (free.empty()) return forces;
    const std::optional<IntervalMatrix> T = tangents(rows_of(rows, free), e.size());
    if (!T) return std::nullopt;
    return reduce(forces, *T);
}

}  // namespace

std::vector<int> frictional_constraints(const Enclosure& e) {
    std::vector<int> list;
    const IntervalVector coefficients = e.coefficients(whole_space(static_cast<std::size_t>(e.size())),
                                                       whole_space(static_cast<std::size_t>(e.size())));
    for (const model::Constraint& c : e.model().constraints)
        if (!proof::without_friction(c.friction, coefficients)) list.push_back(c.row);
    return list;
}

std::vector<int> smooth_constraints(const Enclosure& e) {
    const std::vector<int> rough = frictional_constraints(e);
    std::vector<int> list;
    for (int j = 0; j < e.constraints(); ++j)
        if (std::find(rough.begin(), rough.end(), j) == rough.end()) list.push_back(j);
    return list;
}

std::optional<ForceSet> frictionless_forces(const Enclosure& e, const Box& q, const std::vector<int>& closed) {
    const IntervalMatrix rows = e.row_matrix(q);
    ForceSet forces;
    std::vector<int> free;
    for (const model::Constraint& c : e.model().constraints) free.push_back(c.row);
    for (const int r : closed) forces.cones.push_back({row(rows, r), proof::Friction{}});
    IntervalVector load = e.gradient(q);
    for (Interval& x : load) x = -x;
    forces.loads.push_back(std::move(load));
    if (free.empty() && e.smooth) forces.slope = slope_of_gradient(e, q);
    return along_constraints(e, rows, free, std::move(forces));
}

std::optional<ForceSet> frictional_forces(const Enclosure& e, const Box& q, const std::vector<int>& closed,
                                          const std::vector<int>& signs) {
    const IntervalVector coefficients = e.coefficients(q, at_rest(e.size()));
    std::vector<int> free;
    for (const model::Constraint& c : e.model().constraints)
        if (signs.empty() || proof::without_friction(c.friction, coefficients)) free.push_back(c.row);
    return along_constraints(e, e.row_matrix(q), free, forces_with_constraints(e, q, closed, signs));
}

ForceSet forces_with_constraints(const Enclosure& e, const Box& q, const std::vector<int>& closed,
                                 const std::vector<int>& signs) {
    const model::Mechanics& m = e.model();
    const IntervalMatrix rows = e.row_matrix(q);
    const IntervalVector coefficients = e.coefficients(q, at_rest(e.size())), chi = e.chi(q);
    ForceSet forces;
    std::size_t frictional = 0;
    // The forces N (normal + friction) of a contact or constraint. If its surface moves, the friction force under N = 1
    // is known, and belongs to the vector `normal`.
    const auto add_cone = [&](IntervalVector normal, const model::Friction& f) {
        const int sign = sliding_sign(f, chi);
        if (sign != 0) add_sliding(normal, rows, f, sign, coefficient(coefficients, f.mu[0]));
        forces.cones.push_back(
            {std::move(normal), sign != 0 ? proof::Friction{} : friction_of(f, rows, coefficients, Interval(1.0))});
    };
    for (const model::Constraint& c : m.constraints) {
        if (signs.empty() || proof::without_friction(c.friction, coefficients)) continue;
        add_cone(row(rows, c.row, signs[frictional++]), c.friction);
    }
    for (const int r : closed)
        add_cone(row(rows, r), m.contacts[static_cast<std::size_t>(r - e.constraints())].friction);
    for (const model::Clutch& c : m.clutches) forces.cones.push_back({row(rows, c.row), {}});
    forces.loads.push_back(e.force(q, at_rest(e.size())));
    if (m.constraints.empty() && e.smooth && e.forces_vanish_at_rest) forces.slope = slope_of_gradient(e, q);
    for (const model::Slider& s : m.sliders) {
        const Interval load = coefficient(coefficients, s.normal_force);
        const int sign = sliding_sign(s.friction, chi);
        if (sign == 0) {
            forces.sliders.push_back(friction_of(s.friction, rows, coefficients, load));
            continue;
        }
        const Interval bound = coefficient(coefficients, s.friction.mu[0]) * load;
        add_sliding(forces.loads[0], rows, s.friction, sign, bound);
        // Bounds of the friction over the whole box may be added to the load at the centre: the sum then contains
        // the load at every point of the box.
        if (forces.slope) add_sliding(forces.slope->at_centre, rows, s.friction, sign, bound);
    }
    return forces;
}

std::vector<int> signs_of(unsigned combination, std::size_t count) {
    std::vector<int> signs;
    for (std::size_t k = 0; k < count; ++k) signs.push_back((combination >> k & 1U) != 0 ? -1 : 1);
    return signs;
}

std::vector<int> subset(const std::vector<int>& rows, unsigned mask) {
    std::vector<int> list;
    for (std::size_t k = 0; k < rows.size(); ++k)
        if ((mask >> k & 1U) != 0) list.push_back(rows[k]);
    return list;
}

/// A linear program finds y and z with Σ y w_k + Σ z w_c = 0 and Σ y = 1 at the middle of the box. The combination of
/// the gradients is then checked over the whole box, and the combination of the values at one point. Both must be
/// exactly 0: a combination that is 0 up to rounding would leave positions between the sets of closed gaps untested.
bool implies_more_closed(const Enclosure& e, const Box& q, const std::vector<int>& rows,
                         const std::vector<int>& closed) {
    std::vector<int> which;  // constraints and closed gaps (any sign), then the other gaps (y >= 0)
    for (int r = 0; r < e.constraints(); ++r) which.push_back(r);
    which.insert(which.end(), closed.begin(), closed.end());
    const std::size_t free = which.size();
    for (const int r : rows)
        if (std::find(closed.begin(), closed.end(), r) == closed.end()) which.push_back(r);
    if (which.size() == free) return false;
    const IntervalMatrix W = rows_of(e.row_matrix(q), which);
    if (!W.finite()) return false;
    const auto n = static_cast<Eigen::Index>(e.size()), m = static_cast<Eigen::Index>(which.size()),
               f = static_cast<Eigen::Index>(free);
    solvers::LinearProgram program;
    program.A = Matrix::Zero(n + 1, m);
    program.A.topRows(n) = W.middle().transpose();
    program.A.bottomRightCorner(1, m - f).setOnes();
    program.b = Vector::Zero(n + 1);
    program.b(n) = 1.0;
    program.c = Vector::Zero(m);
    program.lower = Vector::Zero(m);
    program.lower.head(f).setConstant(-Interval::infinity);
    program.upper = Vector::Constant(m, Interval::infinity);
    const solvers::ProgramSolution s = solvers::solve(program);
    if (s.status != solvers::ProgramStatus::optimal) return false;
    std::vector<Interval> x;
    for (Eigen::Index k = 0; k < m; ++k) x.emplace_back(std::nearbyint(s.x(k) / multiplier_grid) * multiplier_grid);
    if (std::all_of(x.begin() + f, x.end(), [](const Interval& y) { return y.hi <= 0.0; })) return false;
    if (std::any_of(x.begin() + f, x.end(), [](const Interval& y) { return y.lo < 0.0; })) return false;
    // The combination of the gaps is constant if its gradient is exactly 0. Its value is taken at the centre of the box
    // or at 0, where sums are often exact.
    const auto vanishes_at = [&](const Box& over, const std::vector<double>& point) {
        const IntervalMatrix slopes = rows_of(e.row_matrix(over), which);
        const IntervalVector values = e.position_values(point_box(point));
        for (Eigen::Index j = 0; j <= n; ++j) {
            Interval sum;
            for (std::size_t k = 0; k < which.size(); ++k)
                sum += x[k] * (j < n ? slopes(static_cast<int>(k), static_cast<int>(j))
                                     : values[static_cast<std::size_t>(which[k])]);
            if (sum.lo != 0.0 || sum.hi != 0.0) return false;
        }
        return true;
    };
    const std::vector<double> origin(q.size(), 0.0);
    return vanishes_at(q, centre(q)) || vanishes_at(hull(q, point_box(origin)), origin);
}

}  // namespace saltus::stability
