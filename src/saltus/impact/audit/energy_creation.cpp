// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

#include "saltus/base/error.hpp"
#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/impact/kinetic_frame.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// Rows of contacts, and the directions L⁻¹w less what bilateral rows hold.
struct ContactRows {
    std::vector<Index> rows;
    std::vector<std::size_t> block;
    Matrix cholesky, directions;
};

ContactRows contact_rows(const FrictionalCollision& c) {
    ContactRows r;
    std::vector<Index> held;
    each_block(c, [&](std::size_t k, Index row) {
        for (int i = 0; i < c.sizes[k]; ++i) {
            if (c.laws[k].kind == solvers::LawKind::bilateral) held.push_back(row + i);
            if (!has_normal(c.laws[k])) continue;
            r.rows.push_back(row + i);
            r.block.push_back(k);
        }
    });
    r.cholesky = c.M.selfadjointView<Eigen::Lower>().llt().matrixL();
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

/// Multiples of Λ_N that the rows of a block may have, and points in its cone.
class ConePoint {
public:
    ConePoint(const FrictionalCollision& c, const ContactRows& rows) : c_(c), rows_(rows) {}

    /// Back into the cone: Λ_N >= 0, the friction shortened.
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
        return (confined - Lambda).norm() <= 1e-12 * Lambda.norm();
    }

private:
    /// A ball inside the set of a law with several parts.
    static double bound(const solvers::Law& law, int row) {
        if (row == 2 && law.mu_second >= 0.0) return law.mu_second;
        if (row <= 2) return law.mu;
        if (law.kind == solvers::LawKind::contensou4) return 0.0;
        if (row == 3 && law.kind != solvers::LawKind::rolling5) return law.mu_drilling;
        return law.mu_rolling;
    }

    const FrictionalCollision& c_;
    const ContactRows& rows_;
};

}  // namespace

Restitution restitution_of(const FrictionalCollision& c, const Vector& e) {
    SALTUS_EXPECT(e.size() == c.directions.cols());
    const ContactRows r = contact_rows(c);
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
    constexpr Index most_rows = 24;
    if (n > most_rows || !std::isfinite(test.condition) || !(r.e.minCoeff() > -1.0)) {
        best.why = n > most_rows ? "too many rows to search" : "the rows depend on each other";
        return best;
    }
    const ContactRows rows = contact_rows(c);
    const ConePoint cone(c, rows);
    const Eigen::LLT<Matrix> D(r.delassus);
    // γ⁻ = G Λ, 2T⁻ = ΛᵀH₀Λ, 2T⁺ = ΛᵀH₁Λ; W/T⁻, or −1 where a contact would leave.
    const Vector factor = -(Vector::Ones(n) + r.e).cwiseInverse();
    const Matrix G = factor.asDiagonal() * r.delassus;
    const Matrix EG = r.e.asDiagonal() * G;
    const Matrix H0 = G.transpose() * D.solve(G), H1 = EG.transpose() * D.solve(EG);
    std::vector<Index> normals;
    for (Index j = 0; j < n; j += c.sizes[rows.block[static_cast<std::size_t>(j)]]) normals.push_back(j);
    const auto quotient = [&](const Vector& Lambda) {
        for (const Index j : normals)
            if (G.row(j).dot(Lambda) > 0.0) return -1.0;
        const double before = Lambda.dot(H0.lazyProduct(Lambda));
        return before > 0.0 ? Lambda.dot(H1.lazyProduct(Lambda)) / before - 1.0 : -1.0;
    };
    std::mt19937 engine(1);
    const auto random = [&] {
        Vector x(n);
        for (double& value : x) value = 2.0 * (static_cast<double>(engine()) + 0.5) * 0x1p-32 - 1.0;
        return x;
    };
    Vector champion;
    double largest = 0.0;
    for (int start = 0; start < 24; ++start) {
        Vector Lambda = random();
        for (const Index j : normals) Lambda(j) = std::abs(Lambda(j));
        cone.confine(Lambda);
        double value = quotient(Lambda);
        double reach = 0.5;
        for (int step = 0; step < 400 && reach > 1e-6; ++step) {
            Vector next = Lambda + reach * Lambda.norm() * random();
            cone.confine(next);
            if (const double there = quotient(next); there > value) {
                value = there;
                Lambda = next;
                reach *= 1.5;
            } else {
                reach *= 0.9;
            }
        }
        if (value > largest) {
            largest = value;
            champion = Lambda;
        }
    }
    if (!(largest > 1e-9) || !cone.inside(champion)) return best;
    const Vector gamma = G * champion;
    const double scale = 1.0 / std::sqrt(0.5 * gamma.dot(D.solve(gamma)));
    const auto upper = rows.cholesky.transpose().triangularView<Eigen::Upper>();
    best.found = true;
    best.u_minus = scale * upper.solve(rows.directions * D.solve(gamma));
    best.u_plus = best.u_minus + scale * upper.solve(rows.directions * champion);
    best.Lambda = Vector::Zero(c.directions.cols());
    for (Index j = 0; j < n; ++j) best.Lambda(rows.rows[static_cast<std::size_t>(j)]) = scale * champion(j);
    best.energy_before = 1.0;
    best.work = largest;
    return best;
}

}  // namespace saltus::impact
