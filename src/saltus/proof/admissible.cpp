// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/admissible.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/factors.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::proof {

namespace {

/// Contraction is repeated at most this often, and only while some side keeps less than this fraction of its width.
/// Both numbers trade time against the number of boxes; no result is wrong for any choice.
constexpr int max_rounds = 6;
constexpr double worthwhile_width_ratio = 0.9;
/// Pivots below this fraction of the largest pivot count as zero when the rank of a Jacobian is estimated. A wrong
/// rank makes a contraction weaker or a proof fail; it never proves something false.
constexpr double rank_threshold = 1e-10;

bool is_zero(const Interval& x) { return x.lo == 0.0 && x.hi == 0.0; }
bool has_zero(const Interval& x) { return x.lo <= 0.0 && x.hi >= 0.0; }

/// slope · step, with 0 times an unbounded interval = 0.
Interval term(const Interval& slope, const Interval& step) {
    return is_zero(slope) || is_zero(step) ? Interval(0.0) : slope * step;
}

IntervalVector row(const IntervalMatrix& A, int i) {
    IntervalVector v;
    for (int j = 0; j < A.cols(); ++j) v.push_back(A(i, j));
    return v;
}

struct Pivots {
    std::vector<int> rows, columns;
};

/// Independent rows of A and the column of the pivot of each, by elimination with full pivoting.
Pivots pivots(const Matrix& A) {
    const FullPivotLu lu(A, rank_threshold);
    return {lu.pivot_rows(), lu.pivot_columns()};
}

}  // namespace

/// Mean value theorem: f(x) = f(c) + Σ s_k (x_k − c_k) for some slopes s_k in `slope`. Solved for coordinate j:
///     x_j ∈ c_j + (range − f(c) − Σ_k≠j s_k (x_k − c_k)) / s_j,   if 0 ∉ s_j.
bool contract(Box& box, const std::vector<double>& c, const Interval& value, const IntervalVector& slope,
              const Interval& range) {
    const std::size_t n = box.size();
    std::vector<Interval> terms;
    for (std::size_t k = 0; k < n; ++k) terms.push_back(term(slope[k], box[k] - Interval(c[k])));
    for (std::size_t j = 0; j < n; ++j) {
        Interval rest = value;
        for (std::size_t k = 0; k < n; ++k)
            if (k != j) rest += terms[k];
        const std::optional<Interval> whole = intersection(rest + terms[j], range);
        if (!whole) return false;
        if (has_zero(slope[j])) continue;
        const Interval step = (range - rest) / slope[j];
        const std::optional<Interval> side = intersection(box[j], Interval(c[j]) + step);
        if (!side) return false;
        box[j] = *side;
        terms[j] = term(slope[j], box[j] - Interval(c[j]));
    }
    return true;
}

/// The intersection of the bounds of U with the mean value form U(c) + ∇U(box)·(q − c), which is narrower over small
/// boxes. The mean value form needs a Lipschitz continuous U.
Interval AdmissibleSet::level(const Box& q) const {
    Interval U = enclosure_.potential(q) - U_e_;
    if (!enclosure_.lipschitz) return U;
    const std::vector<double> c = centre(q);
    const IntervalVector slope = enclosure_.gradient(q);
    Interval mean = enclosure_.potential(point_box(c)) - U_e_;
    for (std::size_t k = 0; k < q.size(); ++k) mean += term(slope[k], q[k] - Interval(c[k]));
    const std::optional<Interval> both = intersection(U, mean);
    return both ? *both : U;
}

std::vector<int> AdmissibleSet::may_close(const Box& q) const {
    const IntervalVector values = enclosure_.position_values(q);
    std::vector<int> rows;
    for (int r = enclosure_.constraints(); r < enclosure_.positions(); ++r)
        if (has_zero(values[static_cast<std::size_t>(r)])) rows.push_back(r);
    return rows;
}

/// The bounds over the whole box prove that it has no point of the set.
bool AdmissibleSet::excluded(const Box& q, const std::vector<int>& closed, double cap) const {
    const IntervalVector values = enclosure_.position_values(q);
    for (int r = 0; r < enclosure_.positions(); ++r) {
        const Interval& x = values[static_cast<std::size_t>(r)];
        if (r < enclosure_.constraints() ? !has_zero(x) : x.hi < 0.0) return true;
    }
    for (const int r : closed)
        if (!has_zero(values[static_cast<std::size_t>(r)])) return true;
    return (enclosure_.potential(q) - U_e_).lo > cap;
}

/// The equations f = 0 of independent rows are multiplied by R ≈ (their Jacobian in the pivot coordinates)⁻¹. Each row
/// of R f = 0 then depends mainly on one coordinate and shrinks it.
bool AdmissibleSet::contract_equalities(Box& q, const std::vector<double>& c, const IntervalVector& values,
                                        const IntervalMatrix& rows, const std::vector<int>& equal) const {
    if (equal.empty()) return true;
    const IntervalMatrix J = rows_of(rows, equal);
    if (!J.finite()) return true;
    const Pivots p = pivots(J.middle());
    const auto m = static_cast<int>(p.rows.size());
    if (m == 0) return true;
    Matrix square(m, m);
    const IntervalMatrix chosen = rows_of(J, p.rows);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) square(i, j) = expr::midpoint(chosen(i, p.columns[static_cast<std::size_t>(j)]));
    const Matrix inverse = saltus::inverse(square);
    if (!inverse.allFinite()) return true;
    const IntervalMatrix R(inverse), S = R * chosen;
    IntervalMatrix v(m, 1);
    for (int i = 0; i < m; ++i)
        v(i, 0) =
            values[static_cast<std::size_t>(equal[static_cast<std::size_t>(p.rows[static_cast<std::size_t>(i)])])];
    const IntervalMatrix w = R * v;
    for (int i = 0; i < m; ++i)
        if (!proof::contract(q, c, w(i, 0), row(S, i), Interval(0.0))) return false;
    return true;
}

bool AdmissibleSet::contract_once(Box& q, const std::vector<int>& closed, double cap) const {
    if (excluded(q, closed, cap)) return false;
    if (!enclosure_.lipschitz) return true;
    const std::vector<double> c = centre(q);
    const IntervalVector values = enclosure_.position_values(point_box(c));
    const IntervalMatrix rows = enclosure_.row_matrix(q);
    std::vector<int> equal;
    for (int r = 0; r < enclosure_.constraints(); ++r) equal.push_back(r);
    equal.insert(equal.end(), closed.begin(), closed.end());
    if (!contract_equalities(q, c, values, rows, equal)) return false;
    for (int r = enclosure_.constraints(); r < enclosure_.positions(); ++r)
        if (!proof::contract(q, c, values[static_cast<std::size_t>(r)], row(rows, r), Interval(0.0, infinity)))
            return false;
    if (cap == infinity) return true;
    // The slopes over the box, as it is now, bound differences between its own points only: the centre is taken anew.
    const std::vector<double> now = centre(q);
    return proof::contract(q, now, enclosure_.potential(point_box(now)) - U_e_, enclosure_.gradient(q),
                           Interval(-infinity, cap));
}

bool AdmissibleSet::contract(Box& q, const std::vector<int>& closed, double cap) const {
    // No position has Q <= −∞. A cap of −∞ is no interval end, since intervals contain real numbers only.
    if (!(cap > -infinity)) return false;
    for (int round = 0; round < max_rounds; ++round) {
        const Box before = q;
        if (!contract_once(q, closed, cap)) return false;
        bool again = false;
        for (std::size_t k = 0; k < q.size(); ++k) {
            const double old = width(before[k]), now = width(q[k]);
            again = again || (old == infinity ? now < infinity : now < worthwhile_width_ratio * old);
        }
        if (!again) break;
    }
    return true;
}

/// Pivot coordinates p and the other coordinates o: G = [G_p G_o]. Then T = (−G_p⁻¹ G_o, I) has G T = 0.
std::optional<IntervalMatrix> tangents(const IntervalMatrix& G, int n) {
    if (G.rows() == 0) return IntervalMatrix::identity(n);
    if (!G.finite()) return std::nullopt;
    const Pivots p = pivots(G.middle());
    const auto m = static_cast<int>(p.rows.size());
    if (m < G.rows()) return std::nullopt;
    std::vector<int> others;
    for (int j = 0; j < n; ++j)
        if (std::find(p.columns.begin(), p.columns.end(), j) == p.columns.end()) others.push_back(j);
    IntervalMatrix pivot(m, m), rest(m, n - m);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) pivot(i, j) = G(i, p.columns[static_cast<std::size_t>(j)]);
        for (int j = 0; j < n - m; ++j) rest(i, j) = -G(i, others[static_cast<std::size_t>(j)]);
    }
    const std::optional<IntervalMatrix> X = solve(pivot, rest);
    if (!X) return std::nullopt;
    IntervalMatrix T(n, n - m);
    for (int j = 0; j < n - m; ++j) {
        for (int i = 0; i < m; ++i) T(p.columns[static_cast<std::size_t>(i)], j) = (*X)(i, j);
        T(others[static_cast<std::size_t>(j)], j) = Interval(1.0);
    }
    return T;
}

}  // namespace saltus::proof
