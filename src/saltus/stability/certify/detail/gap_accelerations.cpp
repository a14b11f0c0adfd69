// SPDX-License-Identifier: Apache-2.0
//
// Let w be the row of a gap: γ̇ = w u̇ + ζ with M u̇ = h + Gᵀν + Wλ, and G u̇ + ζ_G = 0 for the constraints. Choose μ such
// that ŵ = w − μᵀG satisfies ŵ M⁻¹Gᵀ = 0, that is μ = (G M⁻¹Gᵀ)⁻¹ G M⁻¹ wᵀ. Subtracting μᵀ(G u̇ + ζ_G) = 0 removes ν:
//     γ̇ = ŵ u̇ + ζ − μᵀζ_G = ŵ M⁻¹(h + Wλ) + ζ − μᵀζ_G.
// ζ = uᵀZu contains the term Ẇᵀu that [Leine] (87), (89) omits (docs/papers.md).
#include "saltus/stability/certify/detail/gap_accelerations.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// A direction is proposed at most this often; each failure adds the velocities that refute it.
constexpr int max_proposals = 8;

bool is_zero(const Interval& x) { return x.lo == 0.0 && x.hi == 0.0; }

/// a b, with 0 times an unbounded interval = 0.
Interval product(const Interval& a, const Interval& b) { return is_zero(a) || is_zero(b) ? Interval(0.0) : a * b; }

/// Σ_a d_a v_a.
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

/// γ̇ at one velocity, without the forces.
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

/// Velocities of the given kinetic energy at which l·u + uᵀBu is large: the eigenvector of the largest uᵀBu, with the
/// sign that makes l·u positive, and the direction M⁻¹l of the largest l·u. Computed at the middle of the intervals;
/// they only guide the choice of d.
std::vector<Vector> extreme_velocities(const IntervalMatrix& B, const IntervalVector& l, const IntervalMatrix& M,
                                       double kinetic) {
    std::vector<Vector> list;
    if (!(kinetic > 0.0) || !std::isfinite(kinetic) || !B.finite() || !M.finite()) return list;
    bool depends = false;
    for (int i = 0; i < B.rows(); ++i)
        for (int j = 0; j < B.cols(); ++j)
            depends = depends || !is_zero(B(i, j)) || !is_zero(l[static_cast<std::size_t>(i)]);
    if (!depends) return list;
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

/// Collects the terms of γ̇ step by step; see the top of this file for the symbols.
class Assembly {
public:
    Assembly(const Enclosure& e, const Box& q, const AccelerationRequest& request)
        : e_(e), q_(q), request_(request), n_(e.size()), rows_(e.row_matrix(q)) {
        a_.M = e.mass(q);
        u_ = velocities_below(request.kinetic, a_.M);
        coefficients_ = e.coefficients(q, u_);
        gaps_ = request.gaps;
        for (const model::Constraint& c : e.model().constraints) {
            if (request.signs.empty() || proof::without_friction(c.friction, coefficients_)) {
                free_.push_back(c.row);
            } else {
                frictional_.push_back(&c);
                gaps_.push_back(c.row);
            }
        }
    }

    std::optional<Accelerations> run() {
        if (!project()) return std::nullopt;
        add_smooth_terms();
        add_forces();
        return std::move(a_);
    }

private:
    /// μ, and left_ = ŵ M⁻¹.
    bool project() {
        const IntervalMatrix W = rows_of(rows_, gaps_), G = rows_of(rows_, free_);
        IntervalMatrix projected = W;
        mu_ = IntervalMatrix(W.rows(), G.rows());
        if (!free_.empty()) {
            const std::optional<IntervalMatrix> MG = solve(a_.M, transpose(G));
            if (!MG) return false;
            const std::optional<IntervalMatrix> x = solve(G * *MG, transpose(W * *MG));
            if (!x) return false;
            mu_ = transpose(*x);
            projected = W - mu_ * G;
        }
        const std::optional<IntervalMatrix> columns = solve(a_.M, transpose(projected));  // M⁻¹ŵᵀ
        if (!columns) return false;
        left_ = transpose(*columns);
        return true;
    }

    /// ŵ M⁻¹h + ζ − μᵀζ_G, by powers of u if h is at most quadratic in u; otherwise its bounds over all velocities.
    void add_smooth_terms() {
        const auto count = static_cast<std::size_t>(left_.rows());
        a_.linear.assign(count, IntervalVector(static_cast<std::size_t>(n_)));
        a_.quadratic.assign(count, IntervalMatrix(n_, n_));
        if (e_.quadratic_forces) {
            const ForceTerms h = e_.forces(q_);
            const std::vector<IntervalMatrix> Z = e_.curvatures(q_);
            a_.constant = effect(h.constant);
            const IntervalMatrix linear = left_ * h.linear;
            for (std::size_t k = 0; k < count; ++k) {
                const auto at = static_cast<int>(k);
                IntervalMatrix& B = a_.quadratic[k];
                for (int i = 0; i < n_; ++i) {
                    a_.linear[k][static_cast<std::size_t>(i)] = linear(at, i);
                    for (int j = 0; j < n_; ++j) {
                        B(i, j) = Z[static_cast<std::size_t>(gaps_[k])](i, j);
                        for (std::size_t g = 0; g < free_.size(); ++g)
                            B(i, j) -=
                                product(mu_(at, static_cast<int>(g)), Z[static_cast<std::size_t>(free_[g])](i, j));
                        for (int c = 0; c < n_; ++c)
                            B(i, j) += product(left_(at, c), h.quadratic[static_cast<std::size_t>(c)](i, j));
                    }
                }
            }
        } else {
            a_.constant = effect(e_.force(q_, u_));
            const IntervalVector zeta = e_.curvature(q_, u_);
            for (std::size_t k = 0; k < count; ++k) {
                a_.constant[k] += zeta[static_cast<std::size_t>(gaps_[k])];
                for (std::size_t g = 0; g < free_.size(); ++g)
                    a_.constant[k] -= product(mu_(static_cast<int>(k), static_cast<int>(g)),
                                              zeta[static_cast<std::size_t>(free_[g])]);
            }
        }
        a_.forces.loads = {a_.constant};
    }

    /// ŵ M⁻¹Wλ: contacts that press, constraints with friction, clutches, sliders.
    void add_forces() {
        const model::Mechanics& m = e_.model();
        for (const int r : request_.pressing) {
            const model::Contact& c = m.contacts[static_cast<std::size_t>(r - e_.constraints())];
            a_.forces.cones.push_back(
                {effect(row(r, 1.0)), effect_of(friction_of(c.friction, rows_, coefficients_, Interval(1.0)))});
        }
        for (std::size_t k = 0; k < frictional_.size(); ++k) {
            const auto& off = request_.unloaded;
            if (std::find(off.begin(), off.end(), frictional_[k]->row) != off.end()) continue;
            a_.forces.cones.push_back(
                {effect(row(frictional_[k]->row, request_.signs[k])),
                 effect_of(friction_of(frictional_[k]->friction, rows_, coefficients_, Interval(1.0)))});
        }
        for (const model::Clutch& c : m.clutches) a_.forces.cones.push_back({effect(row(c.row, 1.0)), {}});
        for (const model::Slider& s : m.sliders)
            a_.forces.sliders.push_back(
                effect_of(friction_of(s.friction, rows_, coefficients_, coefficient(coefficients_, s.normal_force))));
    }

    /// ŵ M⁻¹ force, for each row ŵ.
    IntervalVector effect(const IntervalVector& force) const {
        IntervalVector v;
        for (int k = 0; k < left_.rows(); ++k) {
            Interval sum;
            for (int i = 0; i < n_; ++i) sum += product(left_(k, i), force[static_cast<std::size_t>(i)]);
            v.push_back(sum);
        }
        return v;
    }

    proof::Friction effect_of(proof::Friction body) const {
        for (auto& group : body.groups)
            for (IntervalVector& v : group) v = effect(v);
        return body;
    }

    IntervalVector row(int r, double sign) const {
        IntervalVector v;
        for (int j = 0; j < n_; ++j) v.push_back(sign > 0.0 ? rows_(r, j) : -rows_(r, j));
        return v;
    }

    const Enclosure& e_;
    const Box& q_;
    const AccelerationRequest& request_;
    int n_;
    IntervalMatrix rows_;
    Box u_;  // velocities below the request's kinetic energy
    IntervalVector coefficients_;
    std::vector<int> gaps_;                             // rows w: requested gaps, then constraints with friction
    std::vector<int> free_;                             // rows of G: constraints without friction
    std::vector<const model::Constraint*> frictional_;  // constraints with friction
    IntervalMatrix mu_, left_;
    Accelerations a_;
};

}  // namespace

std::optional<Accelerations> accelerations(const Enclosure& e, const Box& q, const AccelerationRequest& request) {
    return Assembly(e, q, request).run();
}

/// sup { l·u + uᵀBu : ½uᵀMu <= τ } <= √(2τ) √(lᵀM⁻¹l) + 2τ λ_max(B, M), with λ_max < 0 replaced by 0.
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

/// If d·γ̇ < 0 for all forces and velocities then the accelerations do not all vanish. If the others vanish then
/// d_0 γ̇_0 < 0: with d_0 >= 0 this proves γ̇_0 < 0.
/// The linear program knows finitely many velocities only: it begins with those at which single accelerations are
/// largest. If a proposed d fails for some other velocity, this velocity is added (a cutting plane method).
std::optional<Vector> Accelerations::exclude(double kinetic, Claim claim) const {
    ForceSet set = forces;
    std::vector<bool> nonnegative(constant.size(), false);
    nonnegative[0] = claim == Claim::first_negative;
    for (std::size_t k = 0; k < constant.size(); ++k)
        for (const Vector& u : extreme_velocities(quadratic[k], linear[k], M, kinetic))
            set.loads.push_back(load_at(*this, u));
    for (int attempt = 0; attempt < max_proposals; ++attempt) {
        std::optional<Vector> d = propose_separation(set, nonnegative);
        if (!d) return std::nullopt;
        if (largest(*d, kinetic) < 0.0) return d;
        const std::vector<Vector> against =
            extreme_velocities(combination(quadratic, *d), combination(linear, *d), M, kinetic);
        if (against.empty()) return std::nullopt;
        for (const Vector& u : against) set.loads.push_back(load_at(*this, u));
    }
    return std::nullopt;
}

/// γ̇_0 <= c + √(2τ) √(lᵀM⁻¹l) + 2τ λ_max(B, M), as in `largest`; c includes the sliders' forces.
double Accelerations::kinetic_to_open() const {
    const Vector d = Vector::Unit(static_cast<Index>(constant.size()), 0);
    Interval c(constant[0].hi);
    for (const proof::Friction& f : forces.sliders) c += Interval(support(f, d));
    return kinetic_to_vanish(c.hi, dual_norm(linear[0], M), largest_eigenvalue(quadratic[0], M));
}

}  // namespace saltus::stability
