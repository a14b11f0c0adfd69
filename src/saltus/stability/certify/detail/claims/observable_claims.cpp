// SPDX-License-Identifier: Apache-2.0
//
// The claim "observable". With A the closed contacts and N a basis of the velocities that keep A closed and the sliders
// sticking, a motion without dissipation has u = N y, (NᵀMN) ÿ + (NᵀKN) y = 0 and C N y = 0 at all times. So the rows
// C N, C N P, C N P², ... with P = (NᵀMN)⁻¹(NᵀKN) vanish on y. If they have full rank, then y = 0.
#include "saltus/stability/certify/detail/claims/observable_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/proof/laws.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// 2^n sets of closed contacts are examined.
constexpr std::size_t max_closing_contacts = 6;
/// A pivot of B must exceed this fraction of the largest entry of its row before the elimination.
constexpr double smallest_pivot_ratio = 1e-9;

/// The matrices of a model if they are constant.
struct ConstantMatrices {
    IntervalMatrix M, K, C, rows;
    std::vector<int> contacts, sliding;  ///< rows of Wᵀ: of the contacts, and of the sliders with friction
};

/// The entries (i, j) and (j, i) are one and the same number.
bool symmetric_entries(const IntervalMatrix& A) {
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < i; ++j)
            if (A(i, j).lo != A(j, i).lo || A(i, j).hi != A(j, i).hi) return false;
    return true;
}

std::optional<ConstantMatrices> constant_matrices(const ClaimScope& s) {
    const Enclosure& e = s.e;
    const model::Mechanics& m = e.model();
    if (e.constraints() > 0 || !e.linear_damping || !vanishing_at_rest(e) || !e.smooth ||
        m.contacts.size() > max_closing_contacts)
        return std::nullopt;
    const Box all = whole_space(static_cast<std::size_t>(e.size()));
    ConstantMatrices c;
    c.M = e.mass(all);
    c.K = e.hessian(all);
    c.C = e.damping(all);
    c.rows = e.row_matrix(all);
    if (!constant_entries(c.M) || !constant_entries(c.K) || !constant_entries(c.C) || !constant_entries(c.rows) ||
        !symmetric_entries(c.C))
        return std::nullopt;
    const IntervalVector coefficients = e.coefficients(all, all);
    for (const model::Contact& k : m.contacts) {
        const Interval e_n = coefficient(coefficients, k.e_n);
        if (!proof::without_friction(k.friction, coefficients) || !(e_n.lo >= 0.0 && e_n.hi < 1.0)) return std::nullopt;
        c.contacts.push_back(k.row);
    }
    for (const model::Slider& k : m.sliders) {
        const Interval load = coefficient(coefficients, k.normal_force);
        if (proof::without_friction(k.friction, coefficients) || exactly_zero(load)) continue;
        if (!with_friction(k.friction, coefficients) || !surely_positive(load)) return std::nullopt;
        for (int j = 0; j < k.friction.dimension; ++j) c.sliding.push_back(k.friction.first_row + j);
    }
    return c;
}

/// One pivot column for each row of B, by elimination with the largest entry of each row. std::nullopt: the rows are
/// dependent.
std::optional<std::vector<int>> pivots_of(Matrix B) {
    std::vector<int> pivots;
    for (Eigen::Index j = 0; j < B.rows(); ++j) {
        Eigen::Index column = 0;
        const double largest = B.row(j).cwiseAbs().maxCoeff(&column);
        if (!(largest > smallest_pivot_ratio * (1.0 + B.cwiseAbs().maxCoeff()))) return std::nullopt;
        pivots.push_back(static_cast<int>(column));
        for (Eigen::Index i = 0; i < B.rows(); ++i)
            if (i != j) B.row(i) -= B(i, column) / B(j, column) * B.row(j);
    }
    return pivots;
}

/// N with B N = 0: N_F = I in the free coordinates, N_P = −B_P⁻¹ B_F.
std::optional<IntervalMatrix> held_basis(const IntervalMatrix& B, const std::vector<int>& pivots, int n) {
    const int m = B.rows();
    std::vector<int> free;
    for (int k = 0; k < n; ++k)
        if (std::find(pivots.begin(), pivots.end(), k) == pivots.end()) free.push_back(k);
    const int columns = static_cast<int>(free.size());
    IntervalMatrix N(n, columns), pivot(m, m), right(m, columns);
    for (int c = 0; c < columns; ++c) {
        N(free[static_cast<std::size_t>(c)], c) = Interval(1.0);
        for (int j = 0; j < m; ++j) right(j, c) = -B(j, free[static_cast<std::size_t>(c)]);
    }
    if (m == 0) return N;
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < m; ++k) pivot(j, k) = B(j, pivots[static_cast<std::size_t>(k)]);
    const std::optional<IntervalMatrix> solved = eliminated(pivot, right);
    if (!solved) return std::nullopt;
    for (int k = 0; k < m; ++k)
        for (int c = 0; c < columns; ++c) N(pivots[static_cast<std::size_t>(k)], c) = (*solved)(k, c);
    return N;
}

/// The pivots and weights of one set of closed contacts.
std::optional<ClaimValue> observable_case(const ClaimScope& s, const ConstantMatrices& c, unsigned mask) {
    const int n = s.n();
    std::vector<int> which;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < c.contacts.size(); ++k)
        if ((mask >> k & 1U) != 0) {
            which.push_back(c.contacts[k]);
            names.push_back(s.e.model().contacts[k].name);
        }
    which.insert(which.end(), c.sliding.begin(), c.sliding.end());
    if (static_cast<int>(which.size()) > n) return std::nullopt;
    const IntervalMatrix B = rows_of(c.rows, which);
    const std::optional<std::vector<int>> pivots = pivots_of(B.middle());
    if (!pivots) return std::nullopt;
    const std::optional<IntervalMatrix> N = held_basis(B, *pivots, n);
    if (!N) return std::nullopt;
    const int k = N->cols();
    std::vector<double> weights;
    if (k > 0) {
        const IntervalMatrix Nt = transpose(*N);
        const std::optional<IntervalMatrix> P = eliminated(Nt * c.M * *N, Nt * c.K * *N);
        if (!P) return std::nullopt;
        IntervalMatrix all(n * k, k), block = c.C * *N;
        for (int power = 0; power < k; ++power) {
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < k; ++j) all(power * n + i, j) = block(i, j);
            block = block * *P;
        }
        const std::optional<std::vector<double>> found = rank_weights(all);
        if (!found) return std::nullopt;
        weights = *found;
    }
    return ClaimValue::Record{
        {"closed", claim_texts(names)}, {"pivots", claim_wholes(*pivots)}, {"weights", claim_numbers(weights)}};
}

}  // namespace

std::optional<ClaimValue> observable_claim(const ClaimScope& scope) {
    const std::optional<ConstantMatrices> matrices = constant_matrices(scope);
    if (!matrices) return std::nullopt;
    ClaimValue::List cases;
    for (unsigned mask = 0; mask < (1U << matrices->contacts.size()); ++mask) {
        std::optional<ClaimValue> one = observable_case(scope, *matrices, mask);
        if (!one) return std::nullopt;
        cases.push_back(std::move(*one));
    }
    return ClaimValue::Record{{"kind", "observable"}, {"cases", std::move(cases)}};
}

}  // namespace saltus::stability
