// SPDX-License-Identifier: Apache-2.0
//
// γ̇ = w u̇ + ζ with M u̇ = h + Gᵀν + Wλ and G u̇ + ζ_G = 0. With μ = (G M⁻¹Gᵀ)⁻¹ G M⁻¹ wᵀ and ŵ = w − μᵀG the reactions ν
// drop out: γ̇ = ŵ M⁻¹(h + Wλ) + ζ − μᵀζ_G.
#include <algorithm>
#include <cmath>

#include "saltus/stability/certify/detail/attractivity_tests.hpp"

#include "saltus/model/model.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr int most_cuts = 8;

bool is_zero(const Interval& x) { return x.lo == 0.0 && x.hi == 0.0; }

Interval product(const Interval& a, const Interval& b) { return is_zero(a) || is_zero(b) ? Interval(0.0) : a * b; }

IntervalVector combination(const std::vector<IntervalVector>& v, const Vector& d) {
    IntervalVector sum(v.front().size());
    for (std::size_t a = 0; a < v.size(); ++a)
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += product(v[a][k], Interval(d(static_cast<Index>(a))));
    return sum;
}

IntervalMatrix combination(const std::vector<IntervalMatrix>& B, const Vector& d) {
    const int n = B.front().rows();
    IntervalMatrix sum(n, n);
    for (std::size_t a = 0; a < B.size(); ++a)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) sum(i, j) += product(B[a](i, j), Interval(d(static_cast<Index>(a))));
    return sum;
}

/// γ̇ at one velocity, forces apart.
IntervalVector load_at(const Accelerations& a, const Vector& u) {
    IntervalVector load = a.constant;
    for (std::size_t k = 0; k < load.size(); ++k)
        for (Index i = 0; i < u.size(); ++i) {
            load[k] += product(a.linear[k][static_cast<std::size_t>(i)], Interval(u(i)));
            for (Index j = 0; j < u.size(); ++j)
                load[k] += product(product(a.quadratic[k](static_cast<int>(i), static_cast<int>(j)), Interval(u(i))),
                                   Interval(u(j)));
        }
    return load;
}

/// The velocities of the given kinetic energy at which uᵀBu is largest, with the sign that l·u wants.
std::vector<Vector> extreme(const IntervalMatrix& B, const IntervalVector& l, const IntervalMatrix& M, double kinetic) {
    std::vector<Vector> list;
    if (!(kinetic > 0.0) || !std::isfinite(kinetic) || !B.finite() || !M.finite()) return list;
    bool any = false;
    for (int i = 0; i < B.rows(); ++i)
        for (int j = 0; j < B.cols(); ++j) any = any || !is_zero(B(i, j)) || !is_zero(l[static_cast<std::size_t>(i)]);
    if (!any) return list;
    const Matrix middle = M.middle();
    const Modes all = modes(B.middle(), middle);
    if (!all.found) return list;
    Vector slope(static_cast<Index>(l.size()));
    for (std::size_t k = 0; k < l.size(); ++k) slope(static_cast<Index>(k)) = expr::midpoint(l[k]);
    Vector u = all.vectors.col(middle.rows() - 1) * std::sqrt(2.0 * kinetic);
    if (slope.dot(u) < 0.0) u = -u;
    list.push_back(u);
    const Vector downhill = solve_columns(middle, slope);
    const double size = std::sqrt(slope.dot(downhill));
    if (size > 0.0) list.push_back(downhill * (std::sqrt(2.0 * kinetic) / size));
    return list;
}

}  // namespace

std::optional<Accelerations> accelerations(const Enclosure& e, const Box& q, const AccelerationRequest& request) {
    const model::Model& m = e.model();
    const int n = e.size();
    Accelerations a;
    a.M = e.mass(q);
    const IntervalMatrix rows = e.row_matrix(q);
    const Box u = velocities_below(request.kinetic, a.M);
    const IntervalVector coefficients = e.coefficients(q, u);

    std::vector<int> gaps = request.gaps, free;
    const std::vector<int>& signs = request.signs;
    std::vector<const model::Constraint*> frictional;
    for (const model::Constraint& c : m.constraints) {
        if (signs.empty() || without_friction(c.friction, coefficients)) {
            free.push_back(c.row);
        } else {
            frictional.push_back(&c);
            gaps.push_back(c.row);
        }
    }
    // ŵ and μ.
    const IntervalMatrix W = rows_of(rows, gaps), G = rows_of(rows, free);
    IntervalMatrix projected = W, mu(W.rows(), G.rows());
    if (!free.empty()) {
        const std::optional<IntervalMatrix> MG = solve(a.M, transpose(G));
        if (!MG) return std::nullopt;
        const std::optional<IntervalMatrix> x = solve(G * *MG, transpose(W * *MG));
        if (!x) return std::nullopt;
        mu = transpose(*x);
        projected = W - mu * G;
    }
    const std::optional<IntervalMatrix> columns = solve(a.M, transpose(projected));  // M⁻¹ŵᵀ
    if (!columns) return std::nullopt;
    const IntervalMatrix left = transpose(*columns);

    const auto seen = [&](const IntervalVector& force) {
        IntervalVector v;
        for (int k = 0; k < left.rows(); ++k) {
            Interval sum;
            for (int i = 0; i < n; ++i) sum += product(left(k, i), force[static_cast<std::size_t>(i)]);
            v.push_back(sum);
        }
        return v;
    };
    const auto seen_friction = [&](proof::Friction body) {
        for (auto& group : body.groups)
            for (IntervalVector& v : group) v = seen(v);
        return body;
    };
    const auto row = [&](int r, double sign) {
        IntervalVector v;
        for (int j = 0; j < n; ++j) v.push_back(sign > 0.0 ? rows(r, j) : -rows(r, j));
        return v;
    };

    const auto count = static_cast<std::size_t>(left.rows());
    a.linear.assign(count, IntervalVector(static_cast<std::size_t>(n)));
    a.quadratic.assign(count, IntervalMatrix(n, n));
    if (e.quadratic_forces) {
        const ForceTerms h = e.forces(q);
        const std::vector<IntervalMatrix> Z = e.curvatures(q);
        a.constant = seen(h.constant);
        const IntervalMatrix linear = left * h.linear;
        for (std::size_t k = 0; k < count; ++k) {
            const auto at = static_cast<int>(k);
            IntervalMatrix& B = a.quadratic[k];
            for (int i = 0; i < n; ++i) {
                a.linear[k][static_cast<std::size_t>(i)] = linear(at, i);
                for (int j = 0; j < n; ++j) {
                    B(i, j) = Z[static_cast<std::size_t>(gaps[k])](i, j);
                    for (std::size_t g = 0; g < free.size(); ++g)
                        B(i, j) -= product(mu(at, static_cast<int>(g)), Z[static_cast<std::size_t>(free[g])](i, j));
                    for (int c = 0; c < n; ++c)
                        B(i, j) += product(left(at, c), h.quadratic[static_cast<std::size_t>(c)](i, j));
                }
            }
        }
    } else {
        a.constant = seen(e.force(q, u));
        const IntervalVector zeta = e.curvature(q, u);
        for (std::size_t k = 0; k < count; ++k) {
            a.constant[k] += zeta[static_cast<std::size_t>(gaps[k])];
            for (std::size_t g = 0; g < free.size(); ++g)
                a.constant[k] -=
                    product(mu(static_cast<int>(k), static_cast<int>(g)), zeta[static_cast<std::size_t>(free[g])]);
        }
    }
    a.forces.loads = {a.constant};
    for (const int r : request.pressing) {
        const model::Contact& c = m.contacts[static_cast<std::size_t>(r - e.constraints())];
        a.forces.cones.push_back(
            {seen(row(r, 1.0)), seen_friction(friction_of(c.friction, rows, coefficients, Interval(1.0)))});
    }
    for (std::size_t k = 0; k < frictional.size(); ++k) {
        const auto& off = request.unloaded;
        if (std::find(off.begin(), off.end(), frictional[k]->row) != off.end()) continue;
        a.forces.cones.push_back(
            {seen(row(frictional[k]->row, signs[k])),
             seen_friction(friction_of(frictional[k]->friction, rows, coefficients, Interval(1.0)))});
    }
    for (const model::Clutch& c : m.clutches) a.forces.cones.push_back({seen(row(c.row, 1.0)), {}});
    for (const model::Slider& s : m.sliders)
        a.forces.sliders.push_back(
            seen_friction(friction_of(s.friction, rows, coefficients, coefficient(coefficients, s.normal_force))));
    return a;
}

double Accelerations::largest(const Vector& d, double kinetic) const {
    Interval sum(proof::largest(constant, d));
    for (const proof::Friction& f : forces.sliders) sum += Interval(support(f, d));
    if (kinetic > 0.0) {
        const double slope = dual_norm(combination(linear, d), M);
        const double curve = largest_eigenvalue(combination(quadratic, d), M);
        const Interval twice = Interval(2.0) * Interval(kinetic);
        if (slope > 0.0) sum += expr::sqrt(twice) * Interval(slope);
        if (curve > 0.0) sum += twice * Interval(curve);
    }
    return sum.hi;
}

std::optional<Vector> Accelerations::exclude(double kinetic, bool opening) const {
    ForceSet set = forces;
    std::vector<bool> nonnegative(constant.size(), false);
    nonnegative[0] = opening;
    // The velocities at which each acceleration is largest stand for all of them; then those that speak against d.
    for (std::size_t k = 0; k < constant.size(); ++k)
        for (const Vector& u : extreme(quadratic[k], linear[k], M, kinetic)) set.loads.push_back(load_at(*this, u));
    for (int cut = 0; cut < most_cuts; ++cut) {
        const std::optional<Vector> d = propose_separation(set, nonnegative);
        if (!d) return std::nullopt;
        if (largest(*d, kinetic) < 0.0) return d;
        const std::vector<Vector> against = extreme(combination(quadratic, *d), combination(linear, *d), M, kinetic);
        if (against.empty()) return std::nullopt;
        for (const Vector& u : against) set.loads.push_back(load_at(*this, u));
    }
    return std::nullopt;
}

double Accelerations::kinetic_to_open() const {
    const Vector d = Vector::Unit(static_cast<Index>(constant.size()), 0);
    Interval c(constant[0].hi);
    for (const proof::Friction& f : forces.sliders) c += Interval(support(f, d));
    return kinetic_to_vanish(c.hi, dual_norm(linear[0], M), largest_eigenvalue(quadratic[0], M));
}

}  // namespace saltus::stability
