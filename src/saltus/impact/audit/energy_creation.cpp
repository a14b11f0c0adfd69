// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

#include "saltus/base/error.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/impact/kinetic_frame.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// The rows of the contacts in the motion that the bilateral constraints leave free.
struct FreeRows {
    std::vector<Index> rows;         ///< of the collision
    std::vector<std::size_t> block;  ///< of each row
    Matrix cholesky;                 ///< L of M = L Lᵀ
    Matrix directions;               ///< L⁻¹w of each row, orthogonal to the bilateral directions
};

/// An impulse counts as inside its cone if confining it to the cone changes it by at most this, relative.
constexpr double confinement_tolerance = 1e-12;

/// The search for a collision that creates energy. It is a random walk with a step that grows after a success and
/// shrinks after a failure, from several starts; the seed is fixed, so the result is reproducible.
constexpr Index max_search_rows = 24;
constexpr int search_starts = 24;
constexpr int search_steps = 400;
constexpr double first_step = 0.5;  // relative to ‖Λ‖
constexpr double last_step = 1e-6;  // a walk ends below it
constexpr double step_growth = 1.5, step_shrinkage = 0.9;
constexpr double negligible_gain = 1e-9;  // W/T⁻ below it counts as no creation

FreeRows contact_rows(const FrictionalCollision& c) {
    FreeRows r;
    std::vector<Index> held;
    each_block(c, [&](std::size_t k, Index row) {
        for (int i = 0; i < c.sizes[k]; ++i) {
            if (c.laws[k].kind == solvers::LawKind::bilateral) held.push_back(row + i);
            if (!has_normal(c.laws[k])) continue;
            r.rows.push_back(row + i);
            r.block.push_back(k);
        }
    });
    r.cholesky = Cholesky(c.M).lower();
    const auto lower = r.cholesky.triangularView<Eigen::Lower>();
    Matrix B(c.M.rows(), static_cast<Index>(held.size()));
    for (Index j = 0; j < B.cols(); ++j) B.col(j) = lower.solve(c.directions.col(held[static_cast<std::size_t>(j)]));
    const Matrix span = orthonormal_span(B);
    r.directions.resize(c.M.rows(), static_cast<Index>(r.rows.size()));
    for (Index j = 0; j < r.directions.cols(); ++j) {
        Vector x = lower.solve(c.directions.col(r.rows[static_cast<std::size_t>(j)]));
        x -= span * (span.transpose() * x).eval();
        r.directions.col(j) = x;
    }
    return r;
}

/// Impulses in the friction cones of the rows.
class ConePoint {
public:
    ConePoint(const FrictionalCollision& c, const FreeRows& rows) : c_(c), rows_(rows) {}

    /// Moves Λ into the cones: Λ_N >= 0, and friction that is too large is shortened.
    void confine(Vector& Lambda) const {
        for (Index j = 0; j < Lambda.size();) {
            const auto k = rows_.block[static_cast<std::size_t>(j)];
            const solvers::Law& law = c_.laws[k];
            const int size = c_.sizes[k];
            Lambda(j) = std::max(0.0, Lambda(j));
            if (size > 1) {
                double out = 0.0;
                for (int i = 1; i < size; ++i) {
                    const double mu = bound(law, i);
                    if (mu > 0.0)
                        out = std::hypot(out, Lambda(j + i) / mu);
                    else
                        Lambda(j + i) = 0.0;
                }
                if (out > Lambda(j)) Lambda.segment(j + 1, size - 1) *= Lambda(j) / out;
            }
            j += size;
        }
    }
    bool inside(const Vector& Lambda) const {
        Vector confined = Lambda;
        confine(confined);
        return (confined - Lambda).norm() <= confinement_tolerance * Lambda.norm();
    }

private:
    /// Friction coefficient of a row of a block. For a law with several parts the ellipsoid of these semi-axes lies
    /// inside its set.
    static double bound(const solvers::Law& law, int row) {
        if (row == 2 && law.mu_second >= 0.0) return law.mu_second;
        if (row <= 2) return law.mu;
        if (law.kind == solvers::LawKind::contensou4) return 0.0;
        if (row == 3 && law.kind != solvers::LawKind::rolling5) return law.mu_drilling;
        return law.mu_rolling;
    }

    const FrictionalCollision& c_;
    const FreeRows& rows_;
};

/// The quotient W/T⁻ of a collision with ξ = 0, as a function of Λ. ξ = 0 gives Λ = −D⁻¹(I + E)γ⁻, so γ⁻ = GΛ with
/// G = −(I + E)⁻¹D and γ⁺ = −EGΛ. Then 2T⁻ = ΛᵀH₀Λ, 2T⁺ = ΛᵀH₁Λ, and W/T⁻ = T⁺/T⁻ − 1.
struct Quotient {
    Matrix G, H0, H1;
    std::vector<Index> normals;  ///< normal rows

    Quotient(const Restitution& r, const Cholesky& D, std::vector<Index> normal_rows)
        : normals(std::move(normal_rows)) {
        const Vector factor = -(Vector::Ones(r.e.size()) + r.e).cwiseInverse();
        G = factor.asDiagonal() * r.delassus;
        const Matrix EG = r.e.asDiagonal() * G;
        H0 = G.transpose() * D.solve_columns(G);
        H1 = EG.transpose() * D.solve_columns(EG);
    }

    /// −1 if a contact would separate before the collision.
    double operator()(const Vector& Lambda) const {
        for (const Index j : normals)
            if (G.row(j).dot(Lambda) > 0.0) return -1.0;
        const double before = Lambda.dot(H0.lazyProduct(Lambda));
        return before > 0.0 ? Lambda.dot(H1.lazyProduct(Lambda)) / before - 1.0 : -1.0;
    }
};

struct Found {
    Vector Lambda;
    double quotient = 0.0;
};

/// The largest quotient that the random walks find.
Found search(const Quotient& quotient, const ConePoint& cone, Index n) {
    std::mt19937 engine(1);
    const auto random = [&] {
        Vector x(n);
        for (double& value : x) value = 2.0 * (static_cast<double>(engine()) + 0.5) * 0x1p-32 - 1.0;
        return x;
    };
    Found best;
    for (int start = 0; start < search_starts; ++start) {
        Vector Lambda = random();
        for (const Index j : quotient.normals) Lambda(j) = std::abs(Lambda(j));
        cone.confine(Lambda);
        double value = quotient(Lambda);
        double step_size = first_step;
        for (int step = 0; step < search_steps && step_size > last_step; ++step) {
            Vector next = Lambda + step_size * Lambda.norm() * random();
            cone.confine(next);
            if (const double there = quotient(next); there > value) {
                value = there;
                Lambda = next;
                step_size *= step_growth;
            } else {
                step_size *= step_shrinkage;
            }
        }
        if (value > best.quotient) best = {Lambda, value};
    }
    return best;
}

}  // namespace

Restitution restitution_of(const FrictionalCollision& c, const Vector& e) {
    SALTUS_EXPECT(e.size() == c.directions.cols());
    const FreeRows r = contact_rows(c);
    Restitution result;
    result.delassus = r.directions.transpose() * r.directions;
    result.e.resize(result.delassus.rows());
    for (Index j = 0; j < result.e.size(); ++j) result.e(j) = e(r.rows[static_cast<std::size_t>(j)]);
    result.friction = has_friction(c);
    return result;
}

EnergyCreation find_energy_creation(const FrictionalCollision& c, const Vector& e) {
    EnergyCreation best;
    const Restitution r = restitution_of(c, e);
    const DissipationTest test = dissipation_test(r);
    const Index n = r.e.size();
    if (test.safe) {
        best.why = test.sentence;
        return best;
    }
    if (n > max_search_rows || !std::isfinite(test.condition) || !(r.e.minCoeff() > -1.0)) {
        best.why = n > max_search_rows ? "too many rows to search" : "the rows depend on each other";
        return best;
    }
    const FreeRows rows = contact_rows(c);
    const ConePoint cone(c, rows);
    const Cholesky D(r.delassus);
    std::vector<Index> normals;
    for (Index j = 0; j < n; j += c.sizes[rows.block[static_cast<std::size_t>(j)]]) normals.push_back(j);
    const Quotient quotient(r, D, std::move(normals));
    const Found found = search(quotient, cone, n);
    if (!(found.quotient > negligible_gain) || !cone.inside(found.Lambda)) return best;
    const Vector gamma = quotient.G * found.Lambda;
    const double scale = 1.0 / std::sqrt(0.5 * gamma.dot(D.solve(gamma)));
    const auto upper = rows.cholesky.transpose().triangularView<Eigen::Upper>();
    best.found = true;
    best.u_minus = scale * upper.solve(rows.directions * D.solve(gamma));
    best.u_plus = best.u_minus + scale * upper.solve(rows.directions * found.Lambda);
    best.Lambda = Vector::Zero(c.directions.cols());
    for (Index j = 0; j < n; ++j) best.Lambda(rows.rows[static_cast<std::size_t>(j)]) = scale * found.Lambda(j);
    best.energy_before = 1.0;
    best.work = found.quotient;
    return best;
}

}  // namespace saltus::impact
