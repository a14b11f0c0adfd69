// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "saltus/base/factors.hpp"
#include "saltus/stability/certify/detail/stationary_point.hpp"

namespace saltus::stability {

using proof::Box;
using proof::Enclosure;
using proof::Interval;
using proof::IntervalMatrix;
using proof::IntervalVector;

namespace {

/// A support is tried only if its forces balance ∇U to this fraction of 1 + |∇U|.
constexpr double support_residual_ratio = 1e-6;
/// Radii of the boxes that are tried, relative to 1 + |x|: from rounding to the largest useful box.
constexpr double first_box_radius = 1e-13, largest_radius = 1e-3, box_radius_growth = 10.0;
/// The start of a search is larger than the equilibrium's box by this fraction of 1 + |q|: a few rounding errors.
constexpr double start_margin = 1e-12;

}  // namespace

/// F(q, λ) = (∇U − Σ λ_k w_k, g_k), so that F' = [ ∇²U − Σ λ_k ∇²g_k   −W ]
///                                            [ Wᵀ                     0 ].
IntervalMatrix stationarity_matrix(const Enclosure& e, const Box& q, const std::vector<int>& support,
                                   const IntervalVector& lambda) {
    const int n = e.size(), m = static_cast<int>(support.size());
    IntervalMatrix J(n + m, n + m);
    IntervalMatrix H = e.hessian(q);
    const std::vector<IntervalMatrix> curved = e.position_hessians(q);
    const IntervalMatrix rows = e.row_matrix(q);
    for (int k = 0; k < m; ++k) {
        const int r = support[static_cast<std::size_t>(k)];
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                const Interval& c = curved[static_cast<std::size_t>(r)](i, j);
                if (c.lo != 0.0 || c.hi != 0.0) H(i, j) -= lambda[static_cast<std::size_t>(k)] * c;
            }
            J(i, n + k) = -rows(r, i);
            J(n + k, i) = rows(r, i);
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) J(i, j) = H(i, j);
    return J;
}

namespace {

/// The multipliers of all position rows with forces of the support alone, by least squares. std::nullopt if these
/// forces do not balance ∇U.
std::optional<Vector> multipliers_of(const Enclosure& e, const StationaryPoint& point,
                                     const std::vector<int>& support) {
    const int n = e.size(), m = static_cast<int>(support.size());
    const Box at = proof::point_box(list_of(point.q));
    const IntervalVector gradient = e.gradient(at);
    Vector load(n), lambda = Vector::Zero(point.lambda.size());
    for (int i = 0; i < n; ++i) load(i) = expr::midpoint(gradient[static_cast<std::size_t>(i)]);
    const Matrix W = rows_of(e.row_matrix(at), support).middle();
    const Vector carried = m == 0 ? Vector() : least_squares(W.transpose(), load);
    for (int k = 0; k < m; ++k) lambda(support[static_cast<std::size_t>(k)]) = carried(k);
    const double left = m == 0 ? load.norm() : (W.transpose() * carried - load).norm();
    if (left > support_residual_ratio * (1.0 + load.norm())) return std::nullopt;
    return lambda;
}

/// F(x̂) with its rounding errors, as a column.
IntervalMatrix residual(const Enclosure& e, const Box& at, const std::vector<int>& support, const Vector& lambda) {
    const int n = e.size(), m = static_cast<int>(support.size());
    const IntervalVector gradient = e.gradient(at), positions = e.position_values(at);
    const IntervalMatrix rows = e.row_matrix(at);
    IntervalMatrix F(n + m, 1);
    for (int i = 0; i < n; ++i) F(i, 0) = gradient[static_cast<std::size_t>(i)];
    for (int k = 0; k < m; ++k) {
        const int r = support[static_cast<std::size_t>(k)];
        for (int i = 0; i < n; ++i) F(i, 0) -= rows(r, i) * Interval(lambda(r));
        F(n + k, 0) = positions[static_cast<std::size_t>(r)];
    }
    return F;
}

/// Krawczyk's operator. With x̂ the computed point, R ≈ F'(x̂)⁻¹ and the box x̂ + [s]: if
///     K = −R F(x̂) + (I − R F'(x̂ + [s])) [s]   lies in the interior of [s],
/// then x̂ + [s] contains exactly one zero of F, and x̂ + K contains it. The multipliers may have any sign.
/// (Neumaier, Interval Methods for Systems of Equations, 5.1)
StationaryBox enclose(const Enclosure& e, const StationaryPoint& point, const std::vector<int>& support) {
    if (!point.found || !e.smooth) return {};
    const int n = e.size(), m = static_cast<int>(support.size());
    const std::optional<Vector> multipliers = multipliers_of(e, point, support);
    if (!multipliers) return {};
    const Vector &q = point.q, &lambda = *multipliers;
    const Box at = proof::point_box(list_of(q));
    IntervalVector point_lambda;
    for (const int r : support) point_lambda.emplace_back(lambda(r));
    const FullPivotLu lu(stationarity_matrix(e, at, support, point_lambda).middle());
    if (!lu.invertible()) return {};
    const IntervalMatrix R(lu.inverse());
    const IntervalMatrix newton = R * residual(e, at, support, lambda);
    for (double radius = first_box_radius; radius < largest_radius; radius *= box_radius_growth) {
        Box box;
        IntervalVector forces;
        IntervalMatrix step(n + m, 1);
        for (int i = 0; i < n + m; ++i) {
            const double x = i < n ? q(i) : lambda(support[static_cast<std::size_t>(i - n)]);
            const double r = radius * (1.0 + std::fabs(x));
            step(i, 0) = Interval(-r, r);
            (i < n ? box : forces).push_back(Interval(x) + step(i, 0));
        }
        const IntervalMatrix contraction =
            IntervalMatrix::identity(n + m) - R * stationarity_matrix(e, box, support, forces);
        const IntervalMatrix image = contraction * step - newton;
        bool within = true;
        for (int i = 0; i < n + m; ++i)
            within = within && step(i, 0).lo < image(i, 0).lo && image(i, 0).hi < step(i, 0).hi;
        if (!within) continue;
        StationaryBox result;
        result.support = support;
        for (int i = 0; i < n + m; ++i) {
            const double x = i < n ? q(i) : lambda(support[static_cast<std::size_t>(i - n)]);
            if (i < n)
                result.q.push_back(Interval(x) + image(i, 0));
            else
                result.lambda.push_back(Interval(x) + image(i, 0));
        }
        return result;
    }
    return {};
}

/// The number of coordinates on which some of the rows act.
int touched(const IntervalMatrix& W) {
    int count = 0;
    for (int j = 0; j < W.cols(); ++j)
        for (int i = 0; i < W.rows(); ++i)
            if (W(i, j).lo != 0.0 || W(i, j).hi != 0.0) {
                ++count;
                break;
            }
    return count;
}

/// Proves that all loaded contacts can press: λ > 0. This is clear if the multipliers of the support are positive.
/// Otherwise more contacts are loaded than the support S has. If S spans all coordinates on which they act, the
/// computed multipliers λ of all loaded rows are corrected along S: ∇U − Σ λ w = W_Sᵀ δ, and λ + δ > 0 is checked.
bool presses(const Enclosure& e, const StationaryPoint& point, const StationaryBox& box) {
    bool support_presses = true;
    for (std::size_t k = 0; k < box.support.size(); ++k)
        support_presses = support_presses && (box.support[k] < e.constraints() || box.lambda[k].lo > 0.0);
    if (support_presses) return true;
    std::vector<int> loaded;
    const double largest = point.lambda.cwiseAbs().maxCoeff();
    for (int r = 0; r < e.positions(); ++r)
        if (r < e.constraints() || point.lambda(r) > loaded_force_ratio * largest) loaded.push_back(r);
    const IntervalMatrix rows = e.row_matrix(box.q), W = rows_of(rows, box.support);
    if (touched(rows_of(rows, loaded)) != static_cast<int>(box.support.size())) return false;
    const IntervalVector gradient = e.gradient(box.q);
    IntervalMatrix left(e.size(), 1);
    for (int i = 0; i < e.size(); ++i) {
        left(i, 0) = gradient[static_cast<std::size_t>(i)];
        for (const int r : loaded) left(i, 0) -= rows(r, i) * Interval(point.lambda(r));
    }
    const std::optional<IntervalMatrix> delta = solve(W * transpose(W), W * left);
    if (!delta) return false;
    for (std::size_t k = 0; k < box.support.size(); ++k) {
        const int r = box.support[k];
        if (r >= e.constraints() && !((Interval(point.lambda(r)) + (*delta)(static_cast<int>(k), 0)).lo > 0.0))
            return false;
    }
    return true;
}

}  // namespace

Box neighbourhood_of(const StationaryPoint& point, const StationaryBox& box) {
    Box start = box.q;
    if (start.empty()) start = proof::point_box(list_of(point.q));
    for (Interval& x : start) {
        const double margin = start_margin * (1.0 + std::fabs(expr::midpoint(x)));
        x = Interval(x.lo - margin, x.hi + margin);
    }
    return start;
}

StationaryBox enclose_equilibrium(const Enclosure& e, const StationaryPoint& point) {
    StationaryBox box = enclose(e, point, point.support);
    if (!box.proved() || !presses(e, point, box)) return {};
    // No other gap is proved to be negative. A gap that is zero at q_e has both signs over the box.
    const IntervalVector gaps = e.position_values(box.q);
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (gaps[static_cast<std::size_t>(r)].hi < 0.0) return {};
    return box;
}

StationaryBox enclose_stationary(const Enclosure& e, const StationaryPoint& point, const std::vector<int>& support) {
    return enclose(e, point, support);
}

}  // namespace saltus::stability
