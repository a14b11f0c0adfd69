// SPDX-License-Identifier: Apache-2.0
//
// Claims about positions: docs/certificate-format.md, condition 2 and condition 8. Directions are proposed by the same
// linear programs as in the proof (static_forces.cpp), and then verified here in the way of that page.
#include "saltus/stability/certify/detail/claims/position_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/proof/cover.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// The box N around q_e: the half widths are these multiples of the scales, from the largest on.
constexpr double largest_local_box = 0.25, smallest_local_box = 1e-6;
/// Weights κ that are tried, relative to the largest second derivative.
constexpr double tried_weights[] = {1.0, 1e1, 1e2, 1e3, 1e4, 1e-1};
/// Growth: the distances from q_e, relative to the scale, from which U is tried to rise.
constexpr double nearest_rise = 0.25, farthest_rise = 1e6, rise_growth = 4.0;
/// A point of P is searched at these distances from q_e, relative to the smallest scale.
constexpr double point_distances[] = {1e-2, 1e-3, 1e-1, 1e-4, 1e-5, 1e-6};
/// Half width of the box around a point on the constraints, relative to the scales.
constexpr double point_radius = 1e-6;

std::vector<int> without(std::vector<int> rows, int row) {
    rows.erase(std::remove(rows.begin(), rows.end(), row), rows.end());
    return rows;
}

class MinimumClaims {
public:
    explicit MinimumClaims(const ClaimScope& scope, std::vector<int> pivots = {})
        : s_(scope), e_(scope.e), pivots_(std::move(pivots)) {}

    ClaimList run() {
        const std::optional<std::vector<int>> pivots = choose_pivots(s_);
        if (!pivots) return {{}, "the constraints are not independent at the equilibrium"};
        pivots_ = *pivots;
        if (!e_.smooth) return {{}, "T, U or a gap has a kink"};
        ClaimList list;
        if (convex(list) && point(list)) return list;
        list = {};
        for (const auto& step : {&MinimumClaims::faces, &MinimumClaims::bounds, &MinimumClaims::unique,
                                 &MinimumClaims::stationary, &MinimumClaims::point}) {
            if (!(this->*step)(list)) {
                list.claims.clear();
                return list;
            }
        }
        return list;
    }

    /// The free components of a direction along which U decreases and the gaps open, over a box.
    std::optional<std::vector<double>> descent(const Box& q, const std::vector<int>& gaps) const {
        std::optional<std::vector<double>> d = proposed(q, gaps);
        if (!d) return std::nullopt;
        const std::optional<IntervalVector> along = tangent_vector(s_, q, pivots_, *d);
        if (!along || !surely_negative(dot_product(e_.gradient(q), *along)) || !opens(q, gaps, *along))
            return std::nullopt;
        return d;
    }

    /// ∇²U − Σ [0, Λ] ∇²g − Σ ν ∇²c over the box.
    std::optional<IntervalMatrix> lagrangian(const Box& N, const std::vector<int>& gaps,
                                             const IntervalVector& multipliers) const {
        const int n = s_.n(), m = e_.constraints();
        IntervalMatrix H = e_.hessian(N);
        const std::vector<IntervalMatrix> curved = e_.position_hessians(N);
        const IntervalMatrix W = e_.row_matrix(N);
        const auto subtract = [&](const Interval& factor, const IntervalMatrix& A) {
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    if (!exactly_zero(A(i, j))) H(i, j) -= factor * A(i, j);
        };
        IntervalVector load = e_.gradient(N);
        for (std::size_t k = 0; k < gaps.size(); ++k) {
            subtract(multipliers[k], curved[static_cast<std::size_t>(gaps[k])]);
            for (int i = 0; i < n; ++i) load[static_cast<std::size_t>(i)] -= multipliers[k] * W(gaps[k], i);
        }
        if (m > 0) {
            IntervalMatrix G(m, m), right(m, 1);
            for (int k = 0; k < m; ++k) {
                const int p = pivots_[static_cast<std::size_t>(k)];
                right(k, 0) = load[static_cast<std::size_t>(p)];
                for (int j = 0; j < m; ++j) G(k, j) = W(j, p);
            }
            const std::optional<IntervalMatrix> nu = eliminated(G, right);
            if (!nu) return std::nullopt;
            for (int j = 0; j < m; ++j) subtract((*nu)(j, 0), curved[static_cast<std::size_t>(j)]);
        }
        return H;
    }

private:
    /// "Convex potentials": U is quadratic, gaps and constraints are affine, D = ℝⁿ.
    bool convex(ClaimList& list) const {
        for (const Interval& side : s_.domain)
            if (std::isfinite(side.lo) || std::isfinite(side.hi)) return false;
        const IntervalMatrix K = e_.hessian(s_.domain), all = e_.row_matrix(s_.domain);
        std::vector<int> positions, fixed;
        for (int r = 0; r < e_.positions(); ++r) positions.push_back(r);
        for (int j = 0; j < e_.constraints(); ++j) fixed.push_back(j);
        if (!constant_entries(K) || !constant_entries(rows_of(all, positions))) return false;
        const std::optional<double> kappa = stiffening_weight(K, all, fixed);
        if (!kappa) return false;
        list.claims.emplace_back(ClaimValue::Record{{"kind", "convex"}, {"kappa", *kappa}});
        return true;
    }

    bool faces(ClaimList& list) {
        ClaimValue::List faces;
        for (int k = 0; k < s_.n(); ++k)
            for (const bool upper : {false, true}) {
                Box face = s_.domain;
                Interval& side = face[static_cast<std::size_t>(k)];
                const double end = upper ? side.hi : side.lo;
                if (std::isinf(end)) continue;
                side = Interval(end);
                std::optional<ClaimValue> tree = empty_tree(face, k);
                if (!tree) return failed(list, "positions below the level on a face of the domain are not excluded");
                faces.emplace_back(ClaimValue::Record{
                    {"coordinate", k}, {"side", upper ? "high" : "low"}, {"tree", std::move(*tree)}});
            }
        list.claims.emplace_back(ClaimValue::Record{{"kind", "faces"}, {"faces", std::move(faces)}});
        return true;
    }

    /// A tree of empty leaves only.
    std::optional<ClaimValue> empty_tree(const Box& box, int fixed) const {
        return tree_over(
            s_, box, [](const Box&) { return std::nullopt; }, [&](const Box& q) { return levels_spread(q); }, fixed);
    }

    double levels_spread(const Box& q) const {
        IntervalVector values = e_.position_values(q);
        values.push_back(e_.potential(q));
        return spread_of(values);
    }

    bool bounds(ClaimList& list) { return std::isfinite(s_.level) ? bounded_tree(list) : growth(list); }

    bool bounded_tree(ClaimList& list) {
        std::optional<ClaimValue> tree = tree_over(
            s_, s_.domain,
            [](const Box& q) {
                return bounded(q) ? std::optional<ClaimValue>(ClaimValue::List{"bounded"}) : std::nullopt;
            },
            [&](const Box& q) {
                IntervalVector sides(q.begin(), q.end());
                return spread_of(sides);
            });
        if (!tree) return failed(list, "the level set is not shown to be bounded by plain enclosures");
        list.claims.emplace_back(ClaimValue::Record{{"kind", "bounded"}, {"tree", std::move(*tree)}});
        return true;
    }

    /// First the sides behind which nothing is admissible, then those along which U rises.
    bool growth(ClaimList& list) {
        ClaimValue::List sides;
        Box rest = s_.domain;
        std::vector<std::pair<int, bool>> rising;
        for (int k = 0; k < s_.n(); ++k)
            for (const bool upper : {false, true}) {
                const auto at = static_cast<std::size_t>(k);
                if (std::isfinite(upper ? s_.domain[at].hi : s_.domain[at].lo)) continue;
                if (!blocked(k, upper, rest, sides)) rising.emplace_back(k, upper);
            }
        for (const auto& [k, upper] : rising)
            if (!rises(k, upper, rest, sides))
                return failed(list, "it is not shown by plain enclosures that the potential grows along '" +
                                        e_.model().coordinates[static_cast<std::size_t>(k)] + "'");
        list.claims.emplace_back(ClaimValue::Record{{"kind", "growth"}, {"sides", std::move(sides)}});
        return true;
    }

    static Box beyond(Box box, std::size_t k, bool upper, double at) {
        box[k] = upper ? Interval(at, box[k].hi) : Interval(box[k].lo, at);
        return box;
    }

    static ClaimValue side_claim(int k, bool upper, double at, ClaimValue tree) {
        return ClaimValue::Record{
            {"coordinate", k}, {"side", upper ? "high" : "low"}, {"at", at}, {"tree", std::move(tree)}};
    }

    /// Tries to show that nothing is admissible beyond some distance from q_e; D' is cut there.
    bool blocked(int k, bool upper, Box& rest, ClaimValue::List& sides) {
        const auto i = static_cast<std::size_t>(k);
        ClaimScope few = s_;
        few.budget = std::min(s_.budget, 64L);
        for (double away = nearest_rise; away < farthest_rise; away *= rise_growth * rise_growth) {
            const double at = s_.equilibrium.q(k) + (upper ? away : -away) * s_.equilibrium.scale[i];
            std::optional<ClaimValue> tree = tree_over(
                few, beyond(s_.domain, i, upper, at), [](const Box&) { return std::nullopt; },
                [&](const Box& q) { return spread_of(e_.position_values(q)); });
            if (!tree) continue;
            sides.push_back(side_claim(k, upper, at, std::move(*tree)));
            rest[i] = upper ? Interval(rest[i].lo, at) : Interval(at, rest[i].hi);
            return true;
        }
        return false;
    }

    bool rises(int k, bool upper, const Box& rest, ClaimValue::List& sides) {
        const auto i = static_cast<std::size_t>(k);
        for (double away = nearest_rise; away < farthest_rise; away *= rise_growth) {
            const double at = s_.equilibrium.q(k) + (upper ? away : -away) * s_.equilibrium.scale[i];
            const Interval slope = e_.gradient(beyond(rest, i, upper, at))[i];
            if (!(upper ? surely_positive(slope) : surely_negative(slope))) continue;
            sides.push_back(side_claim(k, upper, at, ClaimValue::List{"rises"}));
            return true;
        }
        return false;
    }

    // --- stationary points -------------------------------------------------------------------------------------------

    bool opens(const Box& q, const std::vector<int>& gaps, const IntervalVector& along) const {
        const IntervalMatrix W = e_.row_matrix(q);
        return std::all_of(gaps.begin(), gaps.end(),
                           [&](int r) { return surely_positive(dot_product(matrix_row(W, r), along)); });
    }

    /// A linear program proposes the direction: loads and cones along the tangent vectors of the free coordinates.
    std::optional<std::vector<double>> proposed(const Box& q, const std::vector<int>& gaps,
                                                bool only_opening = false) const {
        std::optional<ForceSet> forces = tangential(q, gaps);
        if (!forces) return std::nullopt;
        if (only_opening) {
            if (forces->cones.empty()) return std::nullopt;
            forces->loads = {forces->cones.front().normal};
        }
        const std::optional<Vector> d = separate(*forces);
        if (!d) return std::nullopt;
        std::vector<double> list;
        // separate() finds d with −∇U·d < 0 and w·d < 0. The admissible descent is −d.
        for (Index k = 0; k < d->size(); ++k) list.push_back(-(*d)(k));
        return list;
    }

    std::optional<ForceSet> tangential(const Box& q, const std::vector<int>& gaps) const {
        const int m = e_.constraints(), free = s_.n() - m;
        ForceSet forces;
        IntervalVector load = e_.gradient(q);
        for (Interval& x : load) x = -x;
        forces.loads.push_back(load);
        const IntervalMatrix W = e_.row_matrix(q);
        for (const int r : gaps) forces.cones.push_back({matrix_row(W, r), proof::Friction{}});
        if (m == 0) return forces;
        IntervalMatrix T(s_.n(), free);
        for (int j = 0; j < free; ++j) {
            std::vector<double> unit(static_cast<std::size_t>(free), 0.0);
            unit[static_cast<std::size_t>(j)] = 1.0;
            const std::optional<IntervalVector> column = tangent_vector(s_, q, pivots_, unit);
            if (!column) return std::nullopt;
            for (int i = 0; i < s_.n(); ++i) T(i, j) = (*column)[static_cast<std::size_t>(i)];
        }
        return reduce(forces, T);
    }

    bool stationary(ClaimList& list) {
        std::optional<ClaimValue> tree = tree_over(
            s_, s_.domain,
            [&](const Box& q) -> std::optional<ClaimValue> {
                if (inside(q, N_)) return ClaimValue::List{"local"};
                const std::optional<std::vector<double>> d = descent(q, s_.may_close(q));
                if (!d) return std::nullopt;
                return ClaimValue::List{"separated", claim_numbers(*d)};
            },
            [&](const Box& q) {
                IntervalVector values = e_.gradient(q), gaps = e_.position_values(q);
                values.insert(values.end(), gaps.begin(), gaps.end());
                return spread_of(values) + spread_of(e_.row_matrix(q));
            },
            -1, {N_});
        if (!tree) return failed(list, "the stationary points in the level set are not excluded by plain enclosures");
        list.claims.emplace_back(ClaimValue::Record{{"kind", "stationary"},
                                                    {"N", claim_box(N_)},
                                                    {"pivots", claim_wholes(pivots_)},
                                                    {"tree", std::move(*tree)}});
        return true;
    }

    /// The largest box around q_e on which the claim "unique" holds.
    bool unique(ClaimList& list) {
        for (double r = largest_local_box; r > smallest_local_box; r /= 2.0) {
            Box N;
            for (int k = 0; k < s_.n(); ++k) {
                const double c = s_.equilibrium.q(k), h = r * s_.equilibrium.scale[static_cast<std::size_t>(k)];
                N.emplace_back(c - h, c + h);
            }
            if (std::optional<ClaimValue> claim = unique_on(N)) {
                list.claims.push_back(std::move(*claim));
                N_ = std::move(N);
                return true;
            }
        }
        return failed(list, "no box around the equilibrium is shown to contain one stationary point only");
    }

    std::optional<ClaimValue> unique_on(const Box& N) const {
        const std::vector<int> gaps = s_.may_close(N);
        ClaimValue::List closed;
        std::vector<int> surely_closed;
        for (const int r : gaps)
            if (const std::optional<std::vector<double>> d = descent(N, without(gaps, r))) {
                closed.emplace_back(ClaimValue::Record{{"gap", s_.name(r)}, {"direction", claim_numbers(*d)}});
                surely_closed.push_back(r);
            }
        std::vector<double> opening;
        IntervalVector multipliers;
        if (!gaps.empty()) {
            const std::optional<std::vector<double>> d = proposed(N, gaps, true);
            if (!d) return std::nullopt;
            opening = *d;
            const std::optional<IntervalVector> along = tangent_vector(s_, N, pivots_, opening);
            if (!along || !opens(N, gaps, *along)) return std::nullopt;
            const IntervalMatrix W = e_.row_matrix(N);
            const Interval slope = dot_product(e_.gradient(N), *along);
            for (const int r : gaps) {
                const Interval rate = dot_product(matrix_row(W, r), *along);
                const double most = std::max(0.0, (Interval(slope.hi) / Interval(rate.lo)).hi);
                if (!std::isfinite(most)) return std::nullopt;
                multipliers.emplace_back(0.0, most);
            }
        }
        const std::optional<IntervalMatrix> H = lagrangian(N, gaps, multipliers);
        if (!H) return std::nullopt;
        std::vector<int> fixed = surely_closed;
        for (int j = 0; j < e_.constraints(); ++j) fixed.push_back(j);
        const std::optional<double> kappa = stiffening_weight(*H, e_.row_matrix(N), fixed);
        if (!kappa) return std::nullopt;
        return ClaimValue::Record{{"kind", "unique"},
                                  {"N", claim_box(N)},
                                  {"pivots", claim_wholes(pivots_)},
                                  {"closed", std::move(closed)},
                                  {"qualification", claim_numbers(opening)},
                                  {"kappa", *kappa}};
    }

    /// κ >= 0 with which H + κ Σ w_r w_rᵀ over the rows `fixed` is shown to be positive definite.
    std::optional<double> stiffening_weight(const IntervalMatrix& H, const IntervalMatrix& W,
                                            const std::vector<int>& fixed) const {
        if (fixed.empty()) return shown_definite(H) ? std::optional<double>(0.0) : std::nullopt;
        double size = 0.0;
        for (int i = 0; i < s_.n(); ++i)
            for (int j = 0; j < s_.n(); ++j) size = std::max({size, std::fabs(H(i, j).lo), std::fabs(H(i, j).hi)});
        for (const double weight : tried_weights) {
            const double kappa = std::exp2(std::round(std::log2(weight * (size > 0.0 ? size : 1.0))));
            IntervalMatrix A = H;
            for (int i = 0; i < s_.n(); ++i)
                for (int j = 0; j < s_.n(); ++j) {
                    Interval sum;
                    for (const int r : fixed) sum += i == j ? expr::sqr(W(r, i)) : W(r, i) * W(r, j);
                    A(i, j) += Interval(kappa) * sum;
                }
            if (shown_definite(A)) return kappa;
        }
        return std::nullopt;
    }

    // --- a position of P ---------------------------------------------------------------------------------------------

    bool point(ClaimList& list) {
        for (const double distance : point_distances) {
            Vector q = s_.equilibrium.q;
            const std::vector<int> gaps = s_.may_close(point_box(list_of(q)));
            if (!gaps.empty()) {
                const std::optional<std::vector<double>> d = proposed(point_box(list_of(q)), gaps, true);
                if (!d) break;
                const std::optional<IntervalVector> along = tangent_vector(s_, point_box(list_of(q)), pivots_, *d);
                if (!along) break;
                const std::vector<double>& scale = s_.equilibrium.scale;
                const double step = distance * *std::min_element(scale.begin(), scale.end());
                for (Index k = 0; k < q.size(); ++k)
                    q(k) += step * expr::midpoint((*along)[static_cast<std::size_t>(k)]);
            }
            if (e_.constraints() == 0 ? free_point(q, list) : constrained_point(q, list)) return true;
        }
        return failed(list, "no position of the level set is shown to be admissible");
    }

    bool in_P(const Box& q) const {
        if (!inside(q, s_.domain)) return false;
        const IntervalVector values = e_.position_values(q);
        for (int r = e_.constraints(); r < e_.positions(); ++r)
            if (!surely_positive(values[static_cast<std::size_t>(r)])) return false;
        return std::isinf(s_.level) ? s_.Q(q).defined : surely_negative(s_.Q(q) - Interval(s_.level));
    }

    bool free_point(const Vector& q, ClaimList& list) const {
        const Box box = point_box(list_of(q));
        if (!in_P(box)) return false;
        list.claims.emplace_back(ClaimValue::Record{{"kind", "point"}, {"box", claim_box(box)}});
        return true;
    }

    bool constrained_point(const Vector& near, ClaimList& list) const {
        const int m = e_.constraints();
        std::vector<int> rows;
        for (int j = 0; j < m; ++j) rows.push_back(j);
        const Vector q = onto_rows(e_, near, rows);
        Box box = point_box(list_of(q));
        for (const int p : pivots_) {
            const auto k = static_cast<std::size_t>(p);
            const double r = point_radius * s_.equilibrium.scale[k];
            box[k] = Interval(q(p) - r, q(p) + r);
        }
        Matrix G(m, m);
        const Matrix all = e_.row_matrix(point_box(list_of(q))).middle();
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < m; ++k) G(j, k) = all(j, pivots_[static_cast<std::size_t>(k)]);
        const Matrix Y = solve_columns(G, Matrix::Identity(m, m));
        if (!Y.allFinite() || !in_P(box) || !newton_contracts(box, Y)) return false;
        list.claims.emplace_back(ClaimValue::Record{{"kind", "point"},
                                                    {"box", claim_box(box)},
                                                    {"pivots", claim_wholes(pivots_)},
                                                    {"preconditioner", claim_matrix(Y)}});
        return true;
    }

    /// x̂ − Y c(x̂) + (I − Y G_P)(X − x̂) lies inside X.
    bool newton_contracts(const Box& box, const Matrix& Y) const {
        const int m = e_.constraints();
        const std::vector<double> c = centre(box);
        const IntervalVector values = e_.position_values(point_box(c));
        const IntervalMatrix W = e_.row_matrix(box);
        for (int i = 0; i < m; ++i) {
            const auto p = static_cast<std::size_t>(pivots_[static_cast<std::size_t>(i)]);
            Interval x(c[p]);
            for (int j = 0; j < m; ++j) x -= Interval(Y(i, j)) * values[static_cast<std::size_t>(j)];
            for (int k = 0; k < m; ++k) {
                const auto r = static_cast<std::size_t>(pivots_[static_cast<std::size_t>(k)]);
                Interval entry(i == k ? 1.0 : 0.0);
                for (int j = 0; j < m; ++j) entry -= Interval(Y(i, j)) * W(j, static_cast<int>(r));
                x += entry * (box[r] - Interval(c[r]));
            }
            if (!(x.lo > box[p].lo && x.hi < box[p].hi)) return false;
        }
        return true;
    }

    static bool failed(ClaimList& list, const std::string& why) {
        list.why = why;
        return false;
    }

    const ClaimScope& s_;
    const Enclosure& e_;
    std::vector<int> pivots_;
    Box N_;
};

}  // namespace

ClaimList minimum_claims(const ClaimScope& scope) { return MinimumClaims(scope).run(); }

std::optional<std::vector<double>> descent_direction(const ClaimScope& scope, const Box& q,
                                                     const std::vector<int>& pivots) {
    return MinimumClaims(scope, pivots).descent(q, scope.may_close(q));
}

std::optional<IntervalMatrix> lagrangian_hessian(const ClaimScope& scope, const Box& q,
                                                 const std::vector<int>& pivots) {
    return MinimumClaims(scope, pivots).lagrangian(q, {}, {});
}

// --- forces that do not balance --------------------------------------------------------------------------------------

namespace {

/// The directions along the constraints `rows`, one column for each free coordinate: column j is the unit vector of its
/// coordinate, completed in the pivot coordinates.
struct TangentBasis {
    IntervalMatrix T;
    std::vector<int> pivots;
};
std::optional<TangentBasis> tangent_basis(const ClaimScope& s, const Box& q, const std::vector<int>& rows) {
    const int n = s.n(), m = static_cast<int>(rows.size());
    const IntervalMatrix G = rows_of(s.e.row_matrix(q), rows);
    if (!G.finite()) return std::nullopt;
    TangentBasis basis;
    Matrix left = G.middle();
    for (int j = 0; j < m; ++j) {
        Index column = 0;
        if (!(left.row(j).cwiseAbs().maxCoeff(&column) > 0.0)) return std::nullopt;
        basis.pivots.push_back(static_cast<int>(column));
        for (int i = 0; i < m; ++i)
            if (i != j) left.row(i) -= left(i, column) / left(j, column) * left.row(j);
    }
    std::vector<int> free;
    for (int k = 0; k < n; ++k)
        if (std::find(basis.pivots.begin(), basis.pivots.end(), k) == basis.pivots.end()) free.push_back(k);
    IntervalMatrix P(m, m), right(m, static_cast<int>(free.size()));
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) P(i, j) = G(i, basis.pivots[static_cast<std::size_t>(j)]);
        for (int j = 0; j < right.cols(); ++j) right(i, j) = -G(i, free[static_cast<std::size_t>(j)]);
    }
    const std::optional<IntervalMatrix> solved = eliminated(P, right);
    if (!solved) return std::nullopt;
    basis.T = IntervalMatrix(n, right.cols());
    for (int j = 0; j < right.cols(); ++j) {
        basis.T(free[static_cast<std::size_t>(j)], j) = Interval(1.0);
        for (int i = 0; i < m; ++i) basis.T(basis.pivots[static_cast<std::size_t>(i)], j) = (*solved)(i, j);
    }
    return basis;
}

/// Upper bound of (h(q, 0) + sliders)·d, negative with a margin, and of all cones, over a box. A constant d.
bool verified_unbalanced(const ForceSet& forces, const Vector& d) {
    const auto along = [&](const IntervalVector& v) {
        Interval sum;
        for (std::size_t k = 0; k < v.size(); ++k)
            if (!exactly_zero(v[k])) sum += v[k] * Interval(d(static_cast<Index>(k)));
        return sum;
    };
    Interval sliding(0.0);
    for (const proof::Friction& f : forces.sliders) sliding += Interval(support(f, d));
    bool negative = surely_negative(along(forces.loads.front()) + sliding);
    if (forces.slope && !negative) {
        // The load along d from its slope: another program sees the sum of the terms of each coordinate, too.
        Interval load = along(forces.slope->at_centre) + sliding;
        for (std::size_t j = 0; j < forces.slope->step.size(); ++j) {
            Interval by(0.0);
            for (int i = 0; i < forces.slope->slope.rows(); ++i)
                by += forces.slope->slope(i, static_cast<int>(j)) * Interval(d(i));
            if (!exactly_zero(by)) load += by * forces.slope->step[j];
        }
        negative = surely_negative(load);
    }
    if (!negative) return false;
    return std::all_of(forces.cones.begin(), forces.cones.end(), [&](const ForceCone& c) {
        const Interval sum = along(c.normal) + Interval(support(c.friction, d));
        return surely_negative(sum);
    });
}

}  // namespace

std::optional<ClaimValue> unbalanced_leaf(const ClaimScope& scope, const Box& q) {
    const std::size_t frictional = frictional_constraints(scope.e).size();
    const std::vector<int> smooth = smooth_constraints(scope.e);
    std::optional<TangentBasis> along;
    if (!smooth.empty() && !(along = tangent_basis(scope, q, smooth))) return std::nullopt;
    const std::vector<int> closed = scope.may_close(q);
    ClaimValue::List entries;
    for (unsigned combination = 0; combination < (1U << frictional); ++combination) {
        const std::vector<int> signs = signs_of(combination, frictional);
        ForceSet forces = forces_with_constraints(scope.e, q, closed, signs);
        if (along) forces = reduce(forces, along->T);
        const std::optional<Vector> d = separate(forces);
        if (!d || !verified_unbalanced(forces, *d)) return std::nullopt;
        ClaimValue::Record entry{{"signs", claim_wholes(signs)}, {"d", claim_numbers(list_of(*d))}};
        if (along) entry.emplace_back("pivots", claim_wholes(along->pivots));
        entries.emplace_back(std::move(entry));
    }
    return ClaimValue::List{"unbalanced", std::move(entries)};
}

double unbalanced_spread(const ClaimScope& scope, const Box& q) {
    const std::size_t frictional = frictional_constraints(scope.e).size();
    const std::optional<ForceSet> forces = frictional_forces(scope.e, q, scope.may_close(q), signs_of(0, frictional));
    IntervalVector values = scope.e.position_values(q);
    return (forces ? spread_of(*forces) : unknown_spread) + spread_of(values);
}

}  // namespace saltus::stability
