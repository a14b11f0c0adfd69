// SPDX-License-Identifier: Apache-2.0
//
// Claims about an unstable equilibrium set: docs/certificate-format.md, "Instability". D is a box around the saddle
// whose faces have no equilibria. ρ is a little above the level of the saddle: motions that start next to the point of
// the set with the least U stay below it.
#include "saltus/stability/certify/detail/claims/instability_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/proof/cover.hpp"
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Half widths of D that are tried, relative to the scales of the coordinates.
constexpr double tried_neighbourhoods[] = {0.25, 0.125, 0.5, 0.0625, 1.0, 2.0, 0.03125, 4.0, 8.0, 16.0, 64.0, 256.0};
/// Largest number of leaves of the trees that find the size of D.
constexpr long few_face_leaves = 200;
/// ρ is this fraction of the largest |Q| on D above the level of the saddle.
constexpr double level_above_saddle = 1e-3;
/// Half widths of the box X of the stationary point, relative to the scales and to 1 + |ν|.
constexpr double tried_saddle_boxes[] = {1e-6, 1e-7, 1e-5, 1e-8, 1e-4, 1e-9, 1e-10};
/// The image of Krawczyk's operator must lie in the box with this fraction of its width to spare.
constexpr double inner_part = 0.1;
/// The box N around the saddle: the first half width relative to D, and the smallest that is tried.
constexpr double largest_curved_part = 0.5, smallest_curved_part = 1e-4;

class SaddleClaims {
public:
    SaddleClaims(const ClaimScope& scope, std::vector<int> pivots)
        : s_(scope), e_(scope.e), pivots_(std::move(pivots)) {}

    ClaimList isolated(long budget) const {
        ClaimScope all_levels = s_;
        all_levels.level = Interval::infinity;  // an equilibrium on a face counts at every level
        all_levels.budget = budget;
        ClaimValue::List faces;
        for (int k = 0; k < s_.n(); ++k)
            for (const bool upper : {false, true}) {
                Box face = s_.domain;
                Interval& side = face[static_cast<std::size_t>(k)];
                side = Interval(upper ? side.hi : side.lo);
                std::optional<ClaimValue> tree = tree_over(
                    all_levels, face, [&](const Box& q) { return unbalanced_leaf(all_levels, q); },
                    [&](const Box& q) { return unbalanced_spread(all_levels, q); }, k);
                if (!tree) return {{}, "equilibria on the faces of the neighbourhood are not excluded"};
                faces.emplace_back(ClaimValue::Record{
                    {"coordinate", k}, {"side", upper ? "high" : "low"}, {"tree", std::move(*tree)}});
            }
        return {{ClaimValue::Record{{"kind", "isolated"}, {"faces", std::move(faces)}}}, ""};
    }

    /// A box in which Krawczyk's operator proves a stationary point.
    ClaimList stationary_point() const {
        const int n = s_.n(), m = e_.constraints();
        std::vector<int> support;
        for (int j = 0; j < m; ++j) support.push_back(j);
        for (const double radius : tried_saddle_boxes) {
            Box X;
            IntervalVector Y;
            for (int k = 0; k < n; ++k) X.push_back(around(s_.equilibrium.q(k), radius * scale(k)));
            for (int j = 0; j < m; ++j) {
                const double nu = s_.equilibrium.lambda(j);
                Y.push_back(around(nu, radius * (1.0 + std::fabs(nu))));
            }
            const IntervalMatrix slopes = stationarity_matrix(e_, X, support, Y);
            if (!slopes.finite()) continue;
            const Matrix Z = solve_columns(slopes.middle(), Matrix::Identity(n + m, n + m));
            if (!Z.allFinite() || !inside(X, s_.domain) || !surely_negative(s_.Q(X) - Interval(s_.level)) ||
                !contracts(X, Y, slopes, Z))
                continue;
            return {{ClaimValue::Record{{"kind", "stationary point"},
                                        {"box", claim_box(X)},
                                        {"multipliers", claim_box(Y)},
                                        {"preconditioner", claim_matrix(Z)}}},
                    ""};
        }
        return {{}, "no box is shown to contain a stationary point of the potential"};
    }

    ClaimList descent() const {
        const std::optional<std::pair<Box, std::vector<double>>> curved = curved_box();
        if (!curved) return {{}, "no box around the stationary point is shown to have negative curvature"};
        const auto& [N, direction] = *curved;
        std::optional<ClaimValue> tree = tree_over(
            s_, s_.domain,
            [&, inner = N](const Box& q) -> std::optional<ClaimValue> {
                if (inside(q, inner)) return ClaimValue::List{"saddle", 0};
                if (const std::optional<std::vector<double>> d = descent_direction(s_, q, pivots_))
                    return ClaimValue::List{"separated", claim_numbers(*d)};
                return unbalanced_leaf(s_, q);
            },
            [&](const Box& q) { return unbalanced_spread(s_, q) + spread_of(e_.gradient(q)); }, -1, {N});
        if (!tree) return {{}, "lower energies next to the equilibria are not shown by plain enclosures"};
        return {{ClaimValue::Record{{"kind", "descent"},
                                    {"pivots", claim_wholes(pivots_)},
                                    {"saddles", ClaimValue::List{ClaimValue::Record{
                                                    {"N", claim_box(N)}, {"direction", claim_numbers(direction)}}}},
                                    {"tree", std::move(*tree)}}},
                ""};
    }

private:
    static Interval around(double x, double radius) { return {x - radius, x + radius}; }
    double scale(int k) const { return s_.equilibrium.scale[static_cast<std::size_t>(k)]; }

    /// x̂ − Z F(x̂) + (I − Z F')(X − x̂) lies inside X, with F = (∇U − Σ ν G, c).
    bool contracts(const Box& X, const IntervalVector& Y, const IntervalMatrix& slopes, const Matrix& Z) const {
        const int n = s_.n(), m = e_.constraints();
        std::vector<Interval> box(X.begin(), X.end());
        box.insert(box.end(), Y.begin(), Y.end());
        const std::vector<double> x = centre(box), q(x.begin(), x.begin() + n);
        const Box at = point_box(q);
        IntervalVector F = e_.gradient(at);
        const IntervalVector c = e_.position_values(at);
        const IntervalMatrix W = e_.row_matrix(at);
        for (int j = 0; j < m; ++j) {
            for (int i = 0; i < n; ++i)
                F[static_cast<std::size_t>(i)] -=
                    Interval(x[static_cast<std::size_t>(n) + static_cast<std::size_t>(j)]) * W(j, i);
            F.push_back(c[static_cast<std::size_t>(j)]);
        }
        for (int i = 0; i < n + m; ++i) {
            const auto row = static_cast<std::size_t>(i);
            Interval image(x[row]);
            for (int j = 0; j < n + m; ++j) {
                const auto column = static_cast<std::size_t>(j);
                image -= Interval(Z(i, j)) * F[column];
                Interval entry(i == j ? 1.0 : 0.0);
                for (int k = 0; k < n + m; ++k) entry -= Interval(Z(i, k)) * slopes(k, j);
                image += entry * (box[column] - Interval(x[column]));
            }
            const double spare = inner_part * width(box[row]);
            if (!(image.lo > box[row].lo + spare && image.hi < box[row].hi - spare)) return false;
        }
        return true;
    }

    /// The largest box N around the saddle on which dᵀ(∇²U − Σ ν ∇²c)d < 0 along the direction of least curvature.
    std::optional<std::pair<Box, std::vector<double>>> curved_box() const {
        std::vector<double> free;
        for (int k = 0; k < s_.n(); ++k)
            if (std::find(pivots_.begin(), pivots_.end(), k) == pivots_.end())
                free.push_back(s_.equilibrium.direction(k));
        for (double part = largest_curved_part; part > smallest_curved_part; part /= 2.0) {
            Box N;
            for (int k = 0; k < s_.n(); ++k)
                N.push_back(around(s_.equilibrium.q(k), part * width(s_.domain[static_cast<std::size_t>(k)])));
            if (const std::optional<Box> common = intersection(N, s_.domain)) N = *common;
            const std::optional<IntervalVector> d = tangent_vector(s_, N, pivots_, free);
            const std::optional<IntervalMatrix> H = lagrangian_hessian(s_, N, pivots_);
            if (!d || !H || !H->finite()) continue;
            Interval form;
            for (int i = 0; i < s_.n(); ++i)
                form += (*d)[static_cast<std::size_t>(i)] * dot_product(matrix_row(*H, i), *d);
            if (surely_negative(form)) return std::pair{N, free};
        }
        return std::nullopt;
    }

    const ClaimScope& s_;
    const Enclosure& e_;
    std::vector<int> pivots_;
};

long complete_conditions(const InstabilityClaims& claims) {
    return std::count_if(claims.conditions.begin(), claims.conditions.end(),
                         [](const auto& c) { return c.second.complete(); });
}

}  // namespace

InstabilityClaims instability_claims_around(const Enclosure& e, const StationaryPoint& saddle, long budget,
                                            const std::function<bool()>& stop) {
    InstabilityClaims result;
    result.reference = expr::midpoint(e.potential(point_box(list_of(saddle.q))));
    std::string why = "no neighbourhood of the equilibrium is shown to have no equilibria on its faces";
    for (const double radius : tried_neighbourhoods) {
        Box D;
        for (Index k = 0; k < saddle.q.size(); ++k) {
            const double r = radius * saddle.scale[static_cast<std::size_t>(k)];
            D.emplace_back(saddle.q(k) - r, saddle.q(k) + r);
        }
        // No contact may be closed in D. Then contacts take no part in motions that stay there.
        const IntervalVector positions = e.position_values(D);
        if (!std::all_of(positions.begin() + e.constraints(), positions.end(), surely_positive)) {
            why = "a contact may be closed next to the equilibrium";
            continue;
        }
        const Interval Q = e.potential(D) - Interval(result.reference);
        if (!Q.defined || !std::isfinite(width(Q))) continue;
        const ClaimScope scope{
            e,  saddle, D,   result.reference, level_above_saddle * std::max(std::fabs(Q.lo), std::fabs(Q.hi)),
            {}, budget, stop};
        const std::optional<std::vector<int>> pivots = choose_pivots(scope);
        if (!pivots) {
            why = "the constraints are not independent at the equilibrium";
            break;
        }
        const SaddleClaims claims(scope, *pivots);
        ClaimList isolated = claims.isolated(std::min(budget, few_face_leaves));
        if (!isolated.complete()) continue;
        InstabilityClaims attempt{D, result.reference, scope.level, {}};
        attempt.conditions = {{"1", kinetic_claims(scope)},     {"2", claims.stationary_point()},
                              {"3", dissipation_claims(scope)}, {"4", loss_claims(scope)},
                              {"5", claims.descent()},          {"6", std::move(isolated)}};
        // If no neighbourhood serves, the one that shows most is reported.
        if (result.conditions.empty() || complete_conditions(attempt) > complete_conditions(result))
            result = std::move(attempt);
        if (complete_conditions(result) == static_cast<long>(result.conditions.size())) return result;
        if (stop && stop()) break;
    }
    if (result.conditions.empty())
        for (const char* id : {"1", "2", "3", "4", "5", "6"}) result.conditions.push_back({id, {{}, why}});
    return result;
}

}  // namespace saltus::stability
