// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/claims/impulse_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/cover.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Matrices of more edges than this are not decomposed.
constexpr std::size_t max_edges = 12;
/// Steps of the ascent for N, and the largest of them relative to the matrix.
constexpr int ascent_steps = 400;
constexpr double first_step = 0.5;

/// N >= 0 with a zero diagonal that makes the least eigenvalue of A − N large, by projected ascent: along N_ij the
/// least eigenvalue, with the eigenvector v, has the slope −2 v_i v_j.
Matrix nonnegative_part(const Matrix& A) {
    const double size = A.cwiseAbs().maxCoeff();
    Matrix N = A.cwiseMax(0.0);
    N.diagonal().setZero();
    Matrix best = N;
    double highest = symmetric_spectrum(A - N).smallest;
    for (int k = 0; k < ascent_steps; ++k) {
        const Spectrum s = symmetric_spectrum(A - N);
        if (s.smallest > highest) highest = s.smallest, best = N;
        Matrix slope = -s.smallest_direction * s.smallest_direction.transpose();
        slope.diagonal().setZero();
        N = (N + first_step / std::sqrt(1.0 + k) * size * slope).cwiseMax(0.0);
    }
    return best;
}

}  // namespace

std::optional<ImpulseForm::Form> ImpulseForm::form(const Box& q) const {
    const Enclosure& e = s_.e;
    const model::Mechanics& m = e.model();
    const IntervalVector c = e.coefficients(q, whole_space(q.size()));
    Form result;
    std::vector<int> rows;
    IntervalVector b;
    std::vector<std::pair<std::size_t, IntervalVector>> cones;  // the number of the normal row, and μ of its slips
    const auto add = [&](int row, const Interval& restitution) {
        rows.push_back(row);
        b.push_back((Interval(1.0) - restitution) / (Interval(1.0) + restitution));
    };
    for (const int r : s_.may_close(q)) {
        const model::Contact& k = m.contacts[static_cast<std::size_t>(r - e.constraints())];
        IntervalVector mu;
        const std::size_t first = rows.size();
        add(r, coefficient(c, k.e_n));
        if (!proof::without_friction(k.friction, c)) {
            const bool ellipse = k.friction.law == model::FrictionLaw::orthotropic;
            for (int j = 0; j < k.friction.dimension; ++j) {
                add(k.friction.first_row + j, coefficient(c, k.e_t));
                mu.push_back(coefficient(c, k.friction.mu[ellipse ? static_cast<std::size_t>(j) : 0]));
            }
        }
        result.friction = result.friction || !mu.empty();
        cones.emplace_back(first, std::move(mu));
    }
    result.factors.assign(rows.size(), Interval(1.0));
    if (factors_) {
        const std::optional<IntervalVector> k = factors_(rows, q);
        if (!k) return std::nullopt;
        result.factors = *k;
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = b[i] * (*k)[i];
    }
    for (const auto& [first, mu] : cones)
        for (unsigned corner = 0; corner < (1U << mu.size()); ++corner) {
            IntervalVector edge(rows.size());
            edge[first] = Interval(1.0);
            for (std::size_t j = 0; j < mu.size(); ++j)
                edge[first + 1 + j] = (corner >> (mu.size() - 1 - j) & 1U) != 0 ? -mu[j] : mu[j];
            result.edges.push_back(std::move(edge));
        }
    const std::vector<int> smooth = smooth_constraints(e);
    const IntervalMatrix all = e.row_matrix(q), W = rows_of(all, rows);
    const std::optional<IntervalMatrix> X = response_of(e.mass(q), rows_of(all, smooth), transpose(W));
    if (!X) return std::nullopt;
    result.A = IntervalMatrix(W.rows(), W.rows());
    for (int i = 0; i < W.rows(); ++i)
        for (int j = 0; j < W.rows(); ++j) {
            Interval sum;
            for (int k = 0; k < e.size(); ++k)
                if (!exactly_zero(W(i, k)) && !exactly_zero((*X)(k, j))) sum += W(i, k) * (*X)(k, j);
            result.A(i, j) = sum * (b[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)]);
        }
    return result;
}

bool ImpulseForm::shown(const IntervalMatrix& A) const {
    return shown_definite(A) || (loss_ == ImpactLoss::not_required && positive_semidefinite(A));
}

std::optional<ClaimValue> ImpulseForm::leaf(const Box& q) const {
    const std::optional<Form> f = form(q);
    if (!f) return std::nullopt;
    // Without friction each normal impulse takes energy, because normal velocities before an impact are not positive.
    const auto not_negative = [](const Interval& k) { return k.lo >= 0.0; };
    if (!f->friction)
        return std::all_of(f->factors.begin(), f->factors.end(), not_negative)
                   ? std::optional<ClaimValue>(ClaimValue::List{"definite"})
                   : std::nullopt;
    if (shown(f->A)) return ClaimValue::List{"definite"};
    const auto count = static_cast<int>(f->edges.size());
    if (f->edges.size() > max_edges || !f->A.finite()) return std::nullopt;
    IntervalMatrix G(count, count);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
            for (int k = 0; k < f->A.rows(); ++k)
                for (int l = 0; l < f->A.cols(); ++l) {
                    const Interval &x = f->edges[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)],
                                   &y = f->edges[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)];
                    if (!exactly_zero(x) && !exactly_zero(y)) G(i, j) += x * f->A(k, l) * y;
                }
    const Matrix middle = G.middle();
    const Matrix N = nonnegative_part(0.5 * (middle + middle.transpose()));
    if (!shown(G - IntervalMatrix(N))) return std::nullopt;
    return ClaimValue::List{"copositive", claim_matrix(N)};
}

double ImpulseForm::spread(const Box& q) const {
    const std::optional<Form> f = form(q);
    return (f ? spread_of(f->A) : unknown_spread) + spread_of(s_.e.position_values(q));
}

}  // namespace saltus::stability
