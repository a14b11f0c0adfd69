// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/solvers/program/cone_program.hpp"
#include "saltus/solvers/program/detail/second_order_cone.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers {

namespace {

using namespace second_order;

/// The program with finitely many directions for each cone, as a linear one.
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

    /// A direction that is new to its cone; false when it is there already. One that is very near to another would make
    /// bases singular: it goes further away on the same side, and is between the two up to the square of that angle.
    bool add(std::size_t k, const Vector& direction) {
        constexpr double apart = 1e-6;
        const double length = direction.norm();
        if (direction.size() > 0 && !(length > 0.0)) return false;
        Vector d = direction.size() == 0 ? direction : Vector(direction / length);
        for (int pass = 0; pass < 2; ++pass)
            for (const Vector& known : directions_[k]) {
                const double distance = (known - d).norm();
                if (distance >= 0.5 * apart) continue;
                if (pass > 0 || distance <= 1e-12) return false;
                d = (known + apart / distance * (d - known)).normalized();
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
        if (!basis_.basic.empty()) {
            basis_.unknown.insert(basis_.unknown.begin() + n, SimplexBasis::At::lower);
            for (int& j : basis_.basic)
                if (j >= n) ++j;
        }
        return true;
    }

    /// Where g is to lie in −K: for each cone the direction along which it is worst.
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
    void move_to(const Vector& b) { program_.b = b; }

    Vector point(const Vector& weights) const {
        Vector x = Vector::Zero(K_.total());
        for (Index j = 0; j < weights.size(); ++j) {
            const auto i = static_cast<std::size_t>(j);
            x.segment(start_of(cone_[i]), ray_[i].size()) += weights(j) * ray_[i];
        }
        return x;
    }

    /// Sizes of the terms of c − Aᵀy.
    Vector terms(const Vector& y) const { return p_.c.cwiseAbs() + p_.A.cwiseAbs().transpose() * y.cwiseAbs(); }

private:
    Index start_of(std::size_t k) const { return K_.start(k); }

    const ConeProgram& p_;
    Cones K_;
    std::vector<std::vector<Vector>> directions_;
    LinearProgram program_;
    SimplexBasis basis_;
    std::vector<std::size_t> cone_;
    std::vector<Vector> ray_;
};

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
    const auto consider = [&](const Vector& x, const Vector& y) {
        ProgramSolution s;
        s.x = x;
        s.y = y;
        examine(p, s);
        s.iterations = best.iterations;
        // A point that misses its equations is worth less than one that misses the optimum.
        const auto rank = [](const ProgramSolution& q) { return std::max(worst(q), 100.0 * q.primal_residual); };
        if (rank(s) < rank(best)) best = s;
    };
    const auto ended = [&](ProgramStatus otherwise) {
        best.status = worst(best) <= method.accept ? ProgramStatus::optimal : otherwise;
        return best;
    };
    constexpr double on_the_edge = 1e-9;
    bool moved = false;
    Rays rays(p);
    seed(rays, p, start);
    for (int round = 0; round < method.max_rounds; ++round) {
        const ProgramSolution linear = rays.solve();
        best.iterations += linear.iterations;
        const Vector x = rays.point(linear.x);
        // Where one of the two programs has no interior, the points of the other may be the better half of a pair.
        consider(x, linear.y);
        consider(x, first.y);
        consider(first.x, linear.y);
        if (worst(best) <= method.tolerance) break;
        switch (linear.status) {
            case ProgramStatus::optimal:
                if (rays.add_violated(p.A.transpose() * linear.y - p.c, rays.terms(linear.y), method.tolerance))
                    continue;
                return ended(ProgramStatus::stalled);
            case ProgramStatus::infeasible: {
                const Vector g = p.A.transpose() * linear.certificate;
                if (rays.add_violated(g, Vector::Zero(g.size()), 0.0)) continue;
                if (excludes(p, linear.certificate, 1e-12) > on_the_edge) {
                    best.certificate = linear.certificate;
                    best.status = ProgramStatus::infeasible;
                    return best;
                }
                // b is on the edge of A K, outside by rounding: the next point inside takes its place.
                if (moved) return ended(ProgramStatus::stalled);
                rays.move_to(p.A * x);
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
            default: return ended(ProgramStatus::stalled);
        }
    }
    return ended(ProgramStatus::stalled);
}

}  // namespace saltus::solvers
