// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/program/cone_program.hpp"

#include <algorithm>

#include "saltus/base/error.hpp"
#include "saltus/solvers/program/detail/second_order_cone.hpp"

namespace saltus::solvers {

namespace {

using second_order::Cones;

/// error/scale; 0 if the error is 0, also for scale 0.
double over(double error, double scale) { return error == 0.0 ? 0.0 : error / scale; }

/// For independent columns A x = b has at most one solution, and any y with Aᵀy = c is a dual point of it.
ProgramSolution only_point(const ConeProgram& p) {
    ProgramSolution s;
    s.x = least_squares(p.A, p.b);
    s.x += least_squares(p.A, p.b - p.A * s.x);
    s.y = least_squares(p.A.transpose(), p.c);
    examine(p, s);
    return s;
}

}  // namespace

void examine(const ConeProgram& p, ProgramSolution& s) {
    const Cones K(p.cones);
    const double size = p.A.norm();
    s.value = p.c.dot(s.x);
    s.dual_value = p.b.dot(s.y);
    s.primal_residual =
        std::max(over((p.A * s.x - p.b).norm(), p.b.norm() + size * s.x.norm()), over(K.outside_by(s.x), s.x.norm()));
    s.dual_residual = over(K.outside_by(p.c - p.A.transpose() * s.y), p.c.norm() + size * s.y.norm());
    s.gap =
        over(std::abs(s.value - s.dual_value), p.c.cwiseAbs().dot(s.x.cwiseAbs()) + p.b.cwiseAbs().dot(s.y.cwiseAbs()));
}

double excludes(const ConeProgram& p, const Vector& y, double rounding) {
    if (y.size() != p.A.rows() || !y.allFinite()) return 0.0;
    const Vector d = -(p.A.transpose() * y);
    if (Cones(p.cones).outside_by(d) > rounding * p.A.norm() * y.norm()) return 0.0;
    return over(p.b.dot(y), p.b.cwiseAbs().dot(y.cwiseAbs()));
}

double falls(const ConeProgram& p, const Vector& r, double rounding) {
    if (r.size() != p.A.cols() || !r.allFinite()) return 0.0;
    if (Cones(p.cones).outside_by(r) > rounding * r.norm()) return 0.0;
    if ((p.A * r).norm() > rounding * p.A.norm() * r.norm()) return 0.0;
    return over(-p.c.dot(r), p.c.cwiseAbs().dot(r.cwiseAbs()));
}

ProgramSolution solve(const ConeProgram& p, const InteriorThenRays& method) {
    if (p.A.rows() >= p.A.cols() && p.A.allFinite() && p.b.allFinite() && p.c.allFinite()) {
        ProgramSolution only = only_point(p);
        if (worst(only) <= method.rays.tolerance) {
            only.status = ProgramStatus::optimal;
            return only;
        }
    }
    // Cones of size 1 and 2 have at most two extreme rays: the program is linear.
    if (std::all_of(p.cones.begin(), p.cones.end(), [](int n) { return n <= 2; })) return solve(p, method.rays);
    ProgramSolution near = solve(p, method.interior);
    if (near.status == ProgramStatus::non_finite) return near;
    // Accept the interior point if it is accurate. The second condition compares with ‖b‖ alone: large components of x
    // that balance each other could hide a violation of A x = b in the residual.
    const double accepted = 10.0 * method.rays.tolerance;
    if (worst(near) <= accepted && (p.A * near.x - p.b).norm() <= 10.0 * accepted * p.b.norm()) return near;
    ProgramSolution exact = solve(p, method.rays, near);
    exact.iterations += near.iterations;
    return exact;
}

}  // namespace saltus::solvers
