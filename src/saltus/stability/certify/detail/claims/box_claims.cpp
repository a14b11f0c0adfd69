// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/claims/box_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/cover.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// An inequality must hold with this fraction of the width of the enclosure to spare, and with `rounding_margin` of its
/// size: enclosures of other programs may be a little wider.
constexpr double claim_margin = 1.0 / 16.0, rounding_margin = 1e-12;
/// The positions of P are located before a box is bisected. A side is cut if this removes at least this fraction of it.
constexpr double worthwhile_cut = 0.3;
/// Parts narrower than this fraction of the coordinate's scale are not cut off.
constexpr double smallest_cut = 1e-6;
/// The cut is placed this fraction of the removed part inside it, so that the removed part is shown to be empty with a
/// margin.
constexpr double cut_margin = 0.05;
/// Of an unbounded removed part: the distance of the cut from the positions, relative to the coordinate's scale.
constexpr double unbounded_cut = 0.25;
/// Boxes are not split below this fraction of the scale of a coordinate.
constexpr double smallest_side = 1e-9;
/// An entry is constant if its interval over ℝⁿ is narrower than this fraction of 1 + |entry|: rounding errors only.
constexpr double constant_entry_width = 1e-12;

double margin_of(const Interval& x) {
    const double w = width(x);
    return std::isfinite(w) ? claim_margin * w + rounding_margin * std::max(std::fabs(x.lo), std::fabs(x.hi)) : 0.0;
}

/// Builds one tree.
class TreeBuilder {
public:
    TreeBuilder(const ClaimScope& scope, const LeafTest& test, const Spread& spread, int fixed,
                const std::vector<Box>& special)
        : scope_(scope),
          test_(test),
          spread_(spread),
          fixed_(fixed),
          special_(special),
          set_(scope.e, Interval(scope.reference)),
          left_(scope.budget) {}

    std::optional<ClaimValue> grow(const Box& q) {
        if (left_ <= 0 || depth_ >= deepest || (scope_.stop && scope_.stop())) return std::nullopt;
        if (std::optional<ClaimValue> leaf = empty_leaf(scope_, q)) return counted(std::move(leaf));
        if (std::optional<ClaimValue> leaf = test_(q)) return counted(std::move(leaf));
        if (const std::optional<std::pair<std::size_t, double>> cut = isolating_cut(q))
            return cut_at(q, cut->first, cut->second);
        if (const std::optional<std::pair<std::size_t, double>> cut = cut_of(q))
            return cut_at(q, cut->first, cut->second);
        std::vector<double> scale = scope_.equilibrium.scale;
        const std::size_t side = side_of(q);
        if (!splittable(q, side)) return std::nullopt;
        const auto [low, high] = split(q, side, scope_.equilibrium.q(static_cast<Eigen::Index>(side)), scale[side]);
        return cut_at(q, side, low[side].hi);
    }

private:
    /// A tree has at most this many cuts from its root to a leaf. Each takes a part of the stack, here and where the
    /// tree is written and read, and a box that is cut again and again off one side would go on for tens of thousands.
    static constexpr int deepest = 400;

    std::optional<ClaimValue> counted(std::optional<ClaimValue> leaf) {
        --left_;
        return leaf;
    }

    std::optional<ClaimValue> cut_at(const Box& q, std::size_t side, double at) {
        Box low = q, high = q;
        low[side] = Interval(q[side].lo, at);
        high[side] = Interval(at, q[side].hi);
        ++depth_;
        std::optional<ClaimValue> below = grow(low);
        std::optional<ClaimValue> above = below ? grow(high) : std::nullopt;
        --depth_;
        if (!above) return std::nullopt;
        return split_node(side, at, std::move(*below), std::move(*above));
    }

    bool splittable(const Box& q, std::size_t side) const {
        return static_cast<int>(side) != fixed_ && can_split(q, side) &&
               !(width(q[side]) < smallest_side * scope_.equilibrium.scale[side]);
    }

    /// The box has a leaf.
    bool settled(const Box& q) const { return empty_leaf(scope_, q) || test_(q); }

    /// The side whose halves have leaves at once, both or at least one. Otherwise the side that `spread` proposes.
    std::size_t side_of(const Box& q) const {
        std::size_t promising = q.size();
        for (std::size_t k = 0; k < q.size(); ++k) {
            if (!splittable(q, k)) continue;
            const auto [low, high] =
                split(q, k, scope_.equilibrium.q(static_cast<Eigen::Index>(k)), scope_.equilibrium.scale[k]);
            const int count = (settled(low) ? 1 : 0) + (settled(high) ? 1 : 0);
            if (count == 2) return k;
            if (count == 1 && promising == q.size()) promising = k;
        }
        if (promising < q.size()) return promising;
        const std::size_t best = decisive_side(q, scope_.equilibrium.scale, spread_);
        if (splittable(q, best)) return best;
        std::size_t widest = best;
        double most = -1.0;
        for (std::size_t k = 0; k < q.size(); ++k)
            if (splittable(q, k) && width(q[k]) / scope_.equilibrium.scale[k] > most) {
                most = width(q[k]) / scope_.equilibrium.scale[k];
                widest = k;
            }
        return widest;
    }

    /// A face of a special box that passes through the inside of q.
    std::optional<std::pair<std::size_t, double>> isolating_cut(const Box& q) const {
        for (const Box& special : special_) {
            if (!intersection(q, special)) continue;
            for (std::size_t k = 0; k < q.size(); ++k)
                for (const double at : {special[k].lo, special[k].hi})
                    if (at > q[k].lo && at < q[k].hi) return std::pair{k, at};
        }
        return std::nullopt;
    }

    /// A side of the box of which a large part has no position of P, and the place where it is cut off.
    std::optional<std::pair<std::size_t, double>> cut_of(const Box& q) const {
        Box kept = q;
        if (!set_.contract(kept, {}, scope_.level)) return std::nullopt;  // empty, but not by one leaf: bisect
        std::optional<std::pair<std::size_t, double>> best;
        double most = worthwhile_cut;
        for (std::size_t k = 0; k < q.size(); ++k) {
            if (static_cast<int>(k) == fixed_) continue;
            const double size = width(q[k]);
            for (const bool upper : {true, false}) {
                const double end = upper ? kept[k].hi : kept[k].lo, outer = upper ? q[k].hi : q[k].lo;
                const double removed = upper ? outer - end : end - outer;
                const double share = std::isinf(outer) && std::isfinite(end) ? 1.0 : removed / size;
                if (!(share > most) || !(removed > smallest_cut * scope_.equilibrium.scale[k])) continue;
                const double step = std::isinf(outer)
                                        ? unbounded_cut * scope_.equilibrium.scale[k] + 1e-3 * std::fabs(end)
                                        : cut_margin * removed;
                const double at = upper ? end + step : end - step;
                if (!(at > q[k].lo && at < q[k].hi)) continue;
                most = share;
                best = {k, at};
            }
        }
        return best;
    }

    const ClaimScope& scope_;
    const LeafTest& test_;
    const Spread& spread_;
    int fixed_;
    const std::vector<Box>& special_;
    AdmissibleSet set_;
    long left_;
    int depth_ = 0;
};

}  // namespace

bool surely_negative(const Interval& x) { return x.defined && x.hi + margin_of(x) < 0.0; }
bool surely_positive(const Interval& x) { return x.defined && x.lo - margin_of(x) > 0.0; }
bool exactly_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

bool shown_definite(const IntervalMatrix& A) {
    if (!A.finite()) return false;
    IntervalMatrix S = A;
    for (int k = 0; k < S.rows(); ++k) {
        if (!surely_positive(S(k, k))) return false;
        for (int i = k + 1; i < S.rows(); ++i) {
            const Interval factor = S(i, k) / S(k, k);
            for (int j = k + 1; j < S.cols(); ++j) S(i, j) -= factor * S(k, j);
        }
    }
    return true;
}

std::optional<IntervalMatrix> eliminated(IntervalMatrix A, IntervalMatrix B) {
    const int n = A.rows();
    if (!A.finite()) return std::nullopt;
    const auto times = [](const Interval& a, const Interval& b) {
        return exactly_zero(a) || exactly_zero(b) ? Interval(0.0) : a * b;
    };
    for (int k = 0; k < n; ++k) {
        if (!surely_positive(A(k, k)) && !surely_negative(A(k, k))) return std::nullopt;
        for (int i = k + 1; i < n; ++i) {
            const Interval factor = A(i, k) / A(k, k);
            for (int j = k + 1; j < n; ++j) A(i, j) -= times(factor, A(k, j));
            for (int j = 0; j < B.cols(); ++j) B(i, j) -= times(factor, B(k, j));
        }
    }
    for (int i = n - 1; i >= 0; --i)
        for (int j = 0; j < B.cols(); ++j) {
            for (int k = i + 1; k < n; ++k) B(i, j) -= times(A(i, k), B(k, j));
            B(i, j) = B(i, j) / A(i, i);
        }
    return B;
}

/// M is eliminated first. Then the pivots of the constraints are those of G M⁻¹Gᵀ, which is positive definite.
std::optional<IntervalMatrix> response_of(const IntervalMatrix& M, const IntervalMatrix& G, const IntervalMatrix& P) {
    const int n = M.rows(), m = G.rows();
    if (m == 0) return eliminated(M, P);
    IntervalMatrix A(n + m, n + m), right(n + m, P.cols());
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < P.cols(); ++j) right(i, j) = P(i, j);
        for (int j = 0; j < n; ++j) A(i, j) = M(i, j);
        for (int k = 0; k < m; ++k) {
            A(n + k, i) = G(k, i);
            A(i, n + k) = -G(k, i);
        }
    }
    return eliminated(std::move(A), std::move(right));
}

const std::string& ClaimScope::name(int r) const {
    const model::Mechanics& m = e.model();
    const int c = e.constraints();
    return r < c ? m.constraints[static_cast<std::size_t>(r)].name : m.contacts[static_cast<std::size_t>(r - c)].name;
}

Interval ClaimScope::Q(const Box& q) const { return e.potential(q) - Interval(reference); }

std::vector<int> ClaimScope::may_close(const Box& q) const {
    const IntervalVector values = e.position_values(q);
    std::vector<int> rows;
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (!surely_positive(values[static_cast<std::size_t>(r)])) rows.push_back(r);
    return rows;
}

double ClaimScope::kinetic(const Box& q) const {
    return std::isinf(level) ? infinity : (Interval(level) - Interval(Q(q).lo)).hi;
}

std::optional<ClaimValue> empty_leaf(const ClaimScope& scope, const Box& q) {
    const IntervalVector values = scope.e.position_values(q);
    for (int r = 0; r < scope.e.positions(); ++r) {
        const Interval& g = values[static_cast<std::size_t>(r)];
        if (surely_negative(g) || (r < scope.e.constraints() && surely_positive(g)))
            return ClaimValue::List{r < scope.e.constraints() ? "constraint" : "gap", scope.name(r)};
    }
    if (std::isfinite(scope.level) && surely_positive(scope.Q(q) - Interval(scope.level)))
        return ClaimValue::List{"level"};
    return std::nullopt;
}

std::optional<ClaimValue> tree_over(const ClaimScope& scope, const Box& box, const LeafTest& test, const Spread& spread,
                                    int fixed, const std::vector<Box>& special) {
    return TreeBuilder(scope, test, spread, fixed, special).grow(box);
}

std::optional<IntervalVector> tangent_vector(const ClaimScope& scope, const Box& q, const std::vector<int>& pivots,
                                             const std::vector<double>& free) {
    const int n = scope.n(), m = scope.e.constraints();
    IntervalVector d(static_cast<std::size_t>(n));
    if (m == 0) return constants(free);
    const IntervalMatrix W = scope.e.row_matrix(q);
    IntervalMatrix G(m, m), right(m, 1);
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < m; ++k) G(j, k) = W(j, pivots[static_cast<std::size_t>(k)]);
    std::size_t next = 0;
    for (int i = 0; i < n; ++i) {
        if (std::find(pivots.begin(), pivots.end(), i) != pivots.end()) continue;
        const Interval x(free[next++]);
        d[static_cast<std::size_t>(i)] = x;
        for (int j = 0; j < m; ++j) right(j, 0) -= W(j, i) * x;
    }
    const std::optional<IntervalMatrix> solved = eliminated(G, right);
    if (!solved) return std::nullopt;
    for (int k = 0; k < m; ++k) d[static_cast<std::size_t>(pivots[static_cast<std::size_t>(k)])] = (*solved)(k, 0);
    return d;
}

/// The pivots of Gauss elimination with column pivoting at the equilibrium.
std::optional<std::vector<int>> choose_pivots(const ClaimScope& scope) {
    const int m = scope.e.constraints();
    Matrix G = scope.e.row_matrix(point_box(list_of(scope.equilibrium.q))).middle().topRows(m);
    std::vector<int> pivots;
    for (int j = 0; j < m; ++j) {
        Eigen::Index column = 0;
        if (!(G.row(j).cwiseAbs().maxCoeff(&column) > 0.0)) return std::nullopt;
        pivots.push_back(static_cast<int>(column));
        for (int i = 0; i < m; ++i)
            if (i != j) G.row(i) -= G(i, column) / G(j, column) * G.row(j);
    }
    return pivots;
}

std::optional<std::vector<double>> rank_weights(const IntervalMatrix& S) {
    if (!S.finite() || S.rows() < S.cols()) return std::nullopt;
    std::vector<double> weights;
    const Matrix middle = S.middle();
    for (Eigen::Index r = 0; r < middle.rows(); ++r) {
        const double size = middle.row(r).squaredNorm();
        weights.push_back(size > 0.0 ? std::exp2(-std::round(std::log2(size))) : 1.0);
    }
    IntervalMatrix A(S.cols(), S.cols());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j)
            for (int r = 0; r < S.rows(); ++r)
                A(i, j) +=
                    Interval(weights[static_cast<std::size_t>(r)]) * (i == j ? expr::sqr(S(r, i)) : S(r, i) * S(r, j));
    if (!shown_definite(A)) return std::nullopt;
    return weights;
}

bool constant_entries(const IntervalMatrix& A) {
    if (!A.finite()) return false;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j)
            if (width(A(i, j)) > constant_entry_width * (1.0 + std::fabs(A(i, j).lo))) return false;
    return true;
}

bool vanishing_at_rest(const Enclosure& e) {
    if (e.forces_vanish_at_rest) return true;
    const IntervalVector forces = e.forces_at_rest(whole_space(static_cast<std::size_t>(e.size())));
    return std::all_of(forces.begin(), forces.end(), exactly_zero);
}

ClaimValue bare_claim(const char* kind) { return ClaimValue::Record{{"kind", kind}}; }

ClaimValue tree_claim(const char* kind, ClaimValue tree) {
    return ClaimValue::Record{{"kind", kind}, {"tree", std::move(tree)}};
}

ClaimValue claim_matrix(const Matrix& A) {
    ClaimValue::List rows;
    for (Eigen::Index i = 0; i < A.rows(); ++i) rows.push_back(claim_numbers(list_of(Vector(A.row(i).transpose()))));
    return rows;
}

Interval dot_product(const IntervalVector& a, const IntervalVector& b) { return dot(a, b); }

IntervalVector matrix_row(const IntervalMatrix& A, int row) {
    IntervalVector v;
    for (int j = 0; j < A.cols(); ++j) v.push_back(A(row, j));
    return v;
}

IntervalVector constants(const std::vector<double>& x) { return {x.begin(), x.end()}; }

}  // namespace saltus::stability
