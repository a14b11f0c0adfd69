// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>
#include <cmath>

#include "saltus/stability/certify/detail/attractivity_rest.hpp"

namespace saltus::stability {

using proof::Box;
using proof::Enclosure;
using proof::Interval;
using proof::IntervalMatrix;
using proof::IntervalVector;

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

/// Of any forces, by Krawczyk's operator.
RestBox enclose(const Enclosure& e, const Rest& rest, const std::vector<int>& support) {
    if (!rest.found || !e.smooth) return {};
    const int n = e.size(), m = static_cast<int>(support.size());
    // Their forces at the position found, the others without any.
    const Vector& q = rest.q;
    const Box here = proof::point_box({q.data(), q.data() + q.size()});
    const IntervalVector slope = e.gradient(here);
    Vector load(n), lambda = Vector::Zero(rest.lambda.size());
    for (int i = 0; i < n; ++i) load(i) = expr::midpoint(slope[static_cast<std::size_t>(i)]);
    const Matrix W = rows_of(e.row_matrix(here), support).middle();
    const Vector carried = m == 0 ? Vector() : least_squares(W.transpose(), load);
    for (int k = 0; k < m; ++k) lambda(support[static_cast<std::size_t>(k)]) = carried(k);
    const double left = m == 0 ? load.norm() : (W.transpose() * carried - load).norm();
    if (left > 1e-6 * (1.0 + load.norm())) return {};

    // F at the point, in intervals.
    const Box at = proof::point_box({q.data(), q.data() + q.size()});
    const IntervalVector gradient = e.gradient(at), positions = e.position_values(at);
    const IntervalMatrix rows = e.row_matrix(at);
    IntervalMatrix F(n + m, 1);
    for (int i = 0; i < n; ++i) F(i, 0) = gradient[static_cast<std::size_t>(i)];
    for (int k = 0; k < m; ++k) {
        const int r = support[static_cast<std::size_t>(k)];
        for (int i = 0; i < n; ++i) F(i, 0) -= rows(r, i) * Interval(lambda(r));
        F(n + k, 0) = positions[static_cast<std::size_t>(r)];
    }
    IntervalVector point_lambda;
    for (const int r : support) point_lambda.emplace_back(lambda(r));
    const Eigen::FullPivLU<Matrix> lu(stationarity_matrix(e, at, support, point_lambda).middle());
    if (!lu.isInvertible()) return {};
    const IntervalMatrix R(Matrix(lu.inverse()));
    const IntervalMatrix newton = R * F;
    for (double radius = 1e-13; radius < 1e-3; radius *= 10.0) {
        Box box;
        IntervalVector forces;
        IntervalMatrix step(n + m, 1);
        for (int i = 0; i < n + m; ++i) {
            const double x = i < n ? q(i) : lambda(support[static_cast<std::size_t>(i - n)]);
            const double r = radius * (1.0 + std::fabs(x));
            step(i, 0) = Interval(-r, r);
            (i < n ? box : forces).push_back(Interval(x) + step(i, 0));
        }
        const IntervalMatrix rest_of =
            IntervalMatrix::identity(n + m) - R * stationarity_matrix(e, box, support, forces);
        const IntervalMatrix image = rest_of * step - newton;
        bool within = true;
        for (int i = 0; i < n + m; ++i)
            within = within && step(i, 0).lo < image(i, 0).lo && image(i, 0).hi < step(i, 0).hi;
        if (!within) continue;
        RestBox result;
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

/// The coordinates that the rows act on.
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

/// Contacts press. Where more are loaded than the support has, and that spans all they act on, a choice that loads all
/// of them is corrected along the support: ∇U − Σ λ w = W_Sᵀ δ with λ + δ > 0.
bool presses(const Enclosure& e, const Rest& rest, const RestBox& box) {
    bool alone = true;
    for (std::size_t k = 0; k < box.support.size(); ++k)
        alone = alone && (box.support[k] < e.constraints() || box.lambda[k].lo > 0.0);
    if (alone) return true;
    std::vector<int> loaded;
    const double most = rest.lambda.cwiseAbs().maxCoeff();
    for (int r = 0; r < e.positions(); ++r)
        if (r < e.constraints() || rest.lambda(r) > 1e-9 * most) loaded.push_back(r);
    const IntervalMatrix rows = e.row_matrix(box.q), W = rows_of(rows, box.support);
    if (touched(rows_of(rows, loaded)) != static_cast<int>(box.support.size())) return false;
    const IntervalVector gradient = e.gradient(box.q);
    IntervalMatrix left(e.size(), 1);
    for (int i = 0; i < e.size(); ++i) {
        left(i, 0) = gradient[static_cast<std::size_t>(i)];
        for (const int r : loaded) left(i, 0) -= rows(r, i) * Interval(rest.lambda(r));
    }
    const std::optional<IntervalMatrix> delta = solve(W * transpose(W), W * left);
    if (!delta) return false;
    for (std::size_t k = 0; k < box.support.size(); ++k) {
        const int r = box.support[k];
        if (r >= e.constraints() && !((Interval(rest.lambda(r)) + (*delta)(static_cast<int>(k), 0)).lo > 0.0))
            return false;
    }
    return true;
}

}  // namespace

RestBox enclose_rest(const Enclosure& e, const Rest& rest) {
    const RestBox box = enclose(e, rest, rest.support);
    if (!box.proved() || !presses(e, rest, box)) return {};
    // The other gaps are not negative beyond what the box itself is wide.
    const IntervalVector gaps = e.position_values(box.q);
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (gaps[static_cast<std::size_t>(r)].hi < 0.0) return {};
    return box;
}

RestBox enclose_stationary(const Enclosure& e, const Rest& rest, const std::vector<int>& support) {
    return enclose(e, rest, support);
}

}  // namespace saltus::stability
