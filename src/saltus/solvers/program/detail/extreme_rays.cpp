// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/solvers/program/cone_program.hpp"
#include "saltus/solvers/program/detail/second_order_cone.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers {

namespace {

using namespace second_order;

constexpr double separation = 1e-6;       // distance between two directions of a cone; nearer ones make bases singular
constexpr double same_direction = 1e-12;  // directions at this distance are the same
constexpr double certain_margin = 1e-9;   // `excludes` must exceed this: b is not merely on the boundary of A K
constexpr double exact_cone = 1e-12;      // `rounding` of `excludes`; added rays have made the certificate exact
constexpr double primal_weight = 100.0;   // factor on the residual of A x = b when two points are compared

/// The cone program restricted to finitely many extreme rays of each cone. It is a linear program in the weights of the
/// rays.
class Rays {
public:
    explicit Rays(const ConeProgram& p) : p_(p), K_(p.cones), directions_(p.cones.size()) {
        program_.A.resize(p.A.rows(), 0);
        program_.b = p.b;
        K_.each([&](std::size_t k, Index, Index n) {
            if (n == 1) add(k, Vector(0));
            for (Index i = 0; i + 1 < n; ++i)
                for (const double sign : {1.0, -1.0}) add(k, sign * Vector::Unit(n - 1, i));
        });
    }

    /// Adds a direction to cone k; false if it is there already. A direction that is nearer than separation/2 to a
    /// known one is moved away to the distance `separation` on the same side. The wanted ray is then a combination of
    /// the two up to the square of that angle, which is below rounding.
    bool add(std::size_t k, const Vector& direction) {
        const double length = direction.norm();
        if (direction.size() > 0 && !(length > 0.0)) return false;
        Vector d = direction.size() == 0 ? direction : Vector(direction / length);
        for (int pass = 0; pass < 2; ++pass)
            for (const Vector& known : directions_[k]) {
                const double distance = (known - d).norm();
                if (distance >= 0.5 * separation) continue;
                if (pass > 0 || distance <= same_direction) return false;
                d = (known + separation / distance * (d - known)).normalized();
            }
        directions_[k].push_back(d);
        const Index at = start_of(k), n = program_.A.cols();
        Vector ray(d.size() + 1);
        ray << 1.0, d;
        program_.A.conservativeResize(p_.A.rows(), n + 1);
        program_.A.col(n) = p_.A.middleCols(at, ray.size()) * ray;
        program_.c.conservativeResize(n + 1);
        program_.c(n) = p_.c.segment(at, ray.size()).dot(ray);
        cone_.push_back(k);
        ray_.push_back(ray);
        if (!basis_.basic.empty()) {  // the known basis stays valid: the new column is nonbasic, slacks move by one
            basis_.unknown.insert(basis_.unknown.begin() + n, SimplexBasis::At::lower);
            for (int& j : basis_.basic)
                if (j >= n) ++j;
        }
        return true;
    }

    /// g should be in −K, that is g_n + ‖g_t‖ <= 0. Adds, for each cone that violates this by more than `tolerance`
    /// times `size`, the ray along g_t, which has the largest product with g. True if a ray was added.
    bool add_violated(const Vector& g, const Vector& size, double tolerance) {
        bool added = false;
        K_.each([&](std::size_t k, Index at, Index n) {
            const Vector tangential = g.segment(at + 1, n - 1);
            if (n > 1 && g(at) + tangential.norm() > tolerance * size.segment(at, n).norm())
                added |= add(k, tangential);
        });
        return added;
    }

    ProgramSolution solve() { return solvers::solve(program_, Simplex{}, basis_); }
    void set_right_side(const Vector& b) { program_.b = b; }

    /// The point Σ weight_j ray_j of K.
    Vector point(const Vector& weights) const {
        Vector x = Vector::Zero(K_.total());
        for (Index j = 0; j < weights.size(); ++j) {
            const auto i = static_cast<std::size_t>(j);
            x.segment(start_of(cone_[i]), ray_[i].size()) += weights(j) * ray_[i];
        }
        return x;
    }

    /// |c| + |Aᵀ||y|: the sizes of the terms of c − Aᵀy.
    Vector terms(const Vector& y) const { return p_.c.cwiseAbs() + p_.A.cwiseAbs().transpose() * y.cwiseAbs(); }

private:
    Index start_of(std::size_t k) const { return K_.start(k); }

    const ConeProgram& p_;
    Cones K_;
    std::vector<std::vector<Vector>> directions_;
    LinearProgram program_;
    SimplexBasis basis_;
    std::vector<std::size_t> cone_;  // cone of each ray
    std::vector<Vector> ray_;        // (1, d)
};

/// Adds the rays through the start point x and those opposite to c − Aᵀy, which are active at a solution.
void seed(Rays& rays, const ConeProgram& p, const ProgramSolution& start) {
    const Cones K(p.cones);
    const bool has_x = start.x.size() == p.A.cols() && start.x.allFinite();
    const bool has_y = start.y.size() == p.A.rows() && start.y.allFinite();
    const Vector z = has_y ? Vector(p.c - p.A.transpose() * start.y) : Vector::Zero(p.A.cols());
    K.each([&](std::size_t k, Index at, Index n) {
        if (n > 2 && has_x) rays.add(k, start.x.segment(at + 1, n - 1));
        if (n > 2 && has_y) rays.add(k, -z.segment(at + 1, n - 1));
    });
}

/// Replaces `best` by the pair x, y if that has smaller residuals.
void keep_better(const ConeProgram& p, const Vector& x, const Vector& y, ProgramSolution& best) {
    ProgramSolution s;
    s.x = x;
    s.y = y;
    examine(p, s);
    s.iterations = best.iterations;
    const auto rank = [](const ProgramSolution& q) { return std::max(worst(q), primal_weight * q.primal_residual); };
    if (rank(s) < rank(best)) best = s;
}

}  // namespace

ProgramSolution solve(const ConeProgram& p, const ExtremeRays& method, const ProgramSolution& start) {
    ProgramSolution best;
    best.x = start.x.size() == p.A.cols() ? start.x : Vector::Zero(p.A.cols());
    best.y = start.y.size() == p.A.rows() ? start.y : Vector::Zero(p.A.rows());
    if (!p.A.allFinite() || !p.b.allFinite() || !p.c.allFinite()) {
        best.status = ProgramStatus::non_finite;
        best.gap = best.primal_residual = best.dual_residual = infinity;
        return best;
    }
    examine(p, best);
    const ProgramSolution first = best;
    const auto without_progress = [&] {
        best.status = worst(best) <= method.accept ? ProgramStatus::optimal : ProgramStatus::stalled;
        return best;
    };
    bool moved = false;  // b has been replaced by a point of A K
    Rays rays(p);
    seed(rays, p, start);
    for (int round = 0; round < method.max_rounds; ++round) {
        const ProgramSolution linear = rays.solve();
        best.iterations += linear.iterations;
        const Vector x = rays.point(linear.x);
        // If the primal or the dual program has no interior, then the x or the y of `start` may be the better one.
        keep_better(p, x, linear.y, best);
        keep_better(p, x, first.y, best);
        keep_better(p, first.x, linear.y, best);
        if (worst(best) <= method.tolerance) break;
        switch (linear.status) {
            case ProgramStatus::optimal:
                if (rays.add_violated(p.A.transpose() * linear.y - p.c, rays.terms(linear.y), method.tolerance))
                    continue;
                return without_progress();
            case ProgramStatus::infeasible: {
                const Vector g = p.A.transpose() * linear.certificate;
                if (rays.add_violated(g, Vector::Zero(g.size()), 0.0)) continue;
                if (excludes(p, linear.certificate, exact_cone) > certain_margin) {
                    best.certificate = linear.certificate;
                    best.status = ProgramStatus::infeasible;
                    return best;
                }
                // b is on the boundary of A K, outside by rounding only: replace it, once, by the nearest known point.
                if (moved) return without_progress();
                rays.set_right_side(p.A * x);
                moved = true;
                continue;
            }
            case ProgramStatus::unbounded:
                best.x = x;
                best.y = linear.y;
                examine(p, best);
                best.certificate = rays.point(linear.certificate);
                best.status = ProgramStatus::unbounded;
                return best;
            default: return without_progress();
        }
    }
    return without_progress();
}

}  // namespace saltus::solvers
