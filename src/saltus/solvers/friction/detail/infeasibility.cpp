// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/infeasibility.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/linalg.hpp"
#include "saltus/sets/disk.hpp"
#include "saltus/sets/friction_cone.hpp"
#include "saltus/sets/rolling_cone.hpp"
#include "saltus/sets/segment.hpp"
#include "saltus/solvers/friction/detail/shape.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr int max_rows = 1500;            // the search uses dense products with W
constexpr double smallest_norm = 1e-300;  // replaces the norm of a zero vector in a denominator
constexpr int power_iterations = 50;      // for the largest eigenvalue of WᵀW
constexpr int max_gradient_steps = 4000;
constexpr double no_shortfall = 1e-24;  // ‖shortfall‖² <= this ‖q‖²: nothing falls short, no proof exists
constexpr double smallest_shortfall = 1e-10;  // ‖y‖ <= this ‖q‖: the minimum is zero to rounding
constexpr double support_share = 1e-6;        // |y_i| above this share of max|y| belongs to the support
constexpr double vanishing_share = 1e-4;      // |(Wᵀy)_i| below this share of max|W| max|y| should vanish
constexpr double needed_length = 1e8;         // required excluded_length, in units of ‖q‖/mean(diag W)

/// P_K of one block, by the projections of sets/.
void project_block(const Law& law, std::span<double> x) {
    double out[6];
    const auto onto = [&](const auto& set) {
        set.project(std::span<const double>(x), out);
        std::copy_n(out, x.size(), x.begin());
    };
    switch (law.kind) {
        case LawKind::bilateral: break;
        case LawKind::unilateral: x[0] = std::max(0.0, x[0]); break;
        case LawKind::friction2: onto(sets::FrictionCone<2>(law.mu)); break;
        case LawKind::friction3: onto(sets::FrictionCone<3>(law.mu)); break;
        case LawKind::drilling4: onto(sets::RollingCone<4>(law.mu, law.mu_drilling)); break;
        case LawKind::rolling5: onto(sets::RollingCone<5>(law.mu, law.mu_rolling)); break;
        case LawKind::rolling6: onto(sets::RollingCone<6>(law.mu, law.mu_drilling, law.mu_rolling)); break;
        case LawKind::slider:
            if (x.size() == 1)
                x[0] = std::clamp(x[0], -law.bound, law.bound);
            else
                onto(sets::Disk(law.bound));
            break;
        case LawKind::contensou4:
        case LawKind::scaled_slider: break;
    }
}

/// The violation of v_N >= 0 and of v = 0 on bilateral rows: y = max(0, −v_N), y = −v, and 0 on all other rows. A
/// solution has shortfall 0.
Vector shortfall(const FrictionProblem& p, const Vector& v) {
    Vector y = Vector::Zero(v.size());
    for (int a = 0; a < p.contacts(); ++a) {
        const Index first = p.W.start[static_cast<std::size_t>(a)], n = p.W.block_size(a);
        const Shape shape = shape_of(p.laws[static_cast<std::size_t>(a)], static_cast<int>(n));
        if (shape.bilateral) y.segment(first, n) = -v.segment(first, n);
        if (shape.normal) y(first) = std::max(0.0, -v(first));
    }
    return y;
}

/// Minimises f(r) = ½‖y‖², y = shortfall(W r + q), over the set of r that the laws allow, by projected gradient steps
/// with momentum (Nesterov); the momentum is reset if f rises. ∇f = −Wᵀy. At a minimum r* the gradient condition is
/// (Wᵀy)ᵀ(r − r*) <= 0 for all allowed r. Hence yᵀ(W r + q) <= yᵀ(W r* + q) = −‖y‖²: if the shortfall y is not zero, it
/// is a proof of infeasibility. Returns the last y.
Vector least_shortfall(const FrictionProblem& p, const Matrix& W, const Vector& q) {
    const Index n = q.size();
    // Power iteration for the Lipschitz constant ‖W‖² of the gradient. The start vector has no special direction,
    // because the vector of ones is often in the null space of W.
    Vector x(n);
    for (Index i = 0; i < n; ++i) x(i) = std::cos(1.7 * static_cast<double>(i * i) + 0.3);
    double lipschitz = 0.0;
    for (int k = 0; k < power_iterations; ++k) {
        const Vector next = W.transpose() * (W * x);
        lipschitz = next.norm() / std::max(smallest_norm, x.norm());
        if (!(lipschitz > 0.0)) return shortfall(p, q);
        x = next / next.norm();
    }
    const double step = 1.0 / (1.05 * lipschitz);  // 5 % margin for the unfinished power iteration
    Vector r = Vector::Zero(n), previous = r, ahead = r;
    double momentum = 1.0, before = std::numeric_limits<double>::infinity();
    for (int k = 0; k < max_gradient_steps; ++k) {
        const Vector y = shortfall(p, W * ahead + q);
        Vector next = ahead + step * (W.transpose() * y);
        for (int a = 0; a < p.contacts(); ++a)
            project_block(p.laws[static_cast<std::size_t>(a)], {next.data() + p.W.start[static_cast<std::size_t>(a)],
                                                                static_cast<std::size_t>(p.W.block_size(a))});
        previous = r;
        r = next;
        const double value = y.squaredNorm();
        const double grown = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum));
        ahead = value > before ? r : Vector(r + (momentum - 1.0) / grown * (r - previous));
        momentum = value > before ? 1.0 : grown;
        before = value;
        if (value <= no_shortfall * q.squaredNorm()) break;
    }
    return shortfall(p, W * r + q);
}

/// Replaces y by the nearest vector with the same support for which the nearly vanishing components of Wᵀy vanish.
Vector polish(const Matrix& W, Vector y) {
    const double size = y.cwiseAbs().maxCoeff();
    std::vector<Index> support, vanishing;
    const Vector g = W.transpose() * y;
    const double scale = W.cwiseAbs().maxCoeff() * size;
    for (Index i = 0; i < y.size(); ++i) {
        if (std::abs(y(i)) > support_share * size)
            support.push_back(i);
        else
            y(i) = 0.0;
        if (std::abs(g(i)) <= vanishing_share * scale) vanishing.push_back(i);
    }
    if (support.empty() || vanishing.empty()) return y;
    Matrix A(static_cast<Index>(vanishing.size()), static_cast<Index>(support.size()));
    for (std::size_t i = 0; i < vanishing.size(); ++i)
        for (std::size_t j = 0; j < support.size(); ++j)
            A(static_cast<Index>(i), static_cast<Index>(j)) = W(support[j], vanishing[i]);
    Vector part(A.cols());
    for (std::size_t j = 0; j < support.size(); ++j) part(static_cast<Index>(j)) = y(support[j]);
    part -= least_squares(A, A * part);
    for (std::size_t j = 0; j < support.size(); ++j) y(support[j]) = part(static_cast<Index>(j));
    return y;
}

}  // namespace

// yᵀv = yᵀq + gᵀr with g = Wᵀy. Per block the largest gᵀr over the allowed r is: 0 for a bilateral block if g = 0;
// r_N (g_N + Σ μ_k‖g_k‖) for a contact (support function of its cone); bound ‖g‖ for a slider. The slider terms are
// added to `value`. Let `excess` be the largest factor of r_N (or ‖g‖ of a bilateral block). Then yᵀv <= value + excess
// Σ_a ‖r_a‖ <= value + excess √(contacts) ‖r‖ (Cauchy–Schwarz), which is negative for ‖r‖ < −value/(excess √contacts).
double excluded_length(const FrictionProblem& p, std::span<const double> y) {
    const Matrix W = to_dense(p.W);
    const Eigen::Map<const Vector> certificate(y.data(), static_cast<Index>(y.size()));
    const Eigen::Map<const Vector> q(p.q.data(), static_cast<Index>(p.q.size()));
    const Vector g = W.transpose() * certificate;
    double value = certificate.dot(q), excess = 0.0;
    for (int a = 0; a < p.contacts(); ++a) {
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        const Index first = p.W.start[static_cast<std::size_t>(a)], n = p.W.block_size(a);
        const Shape shape = shape_of(law, static_cast<int>(n));
        const Vector own = certificate.segment(first, n), row = g.segment(first, n);
        if (law.kind == LawKind::scaled_slider || shape.patch || orthotropic(law)) return 0.0;
        if (shape.bilateral) {
            excess = std::max(excess, row.norm());
            continue;
        }
        if (shape.normal && own(0) < 0.0) return 0.0;
        if (own.tail(n - (shape.normal ? 1 : 0)).squaredNorm() > 0.0) return 0.0;
        double largest = shape.normal ? row(0) : 0.0;  // of gᵀr over the cone with r_N = 1
        for (int k = 0; k < shape.parts; ++k) {
            const Shape::Part& part = shape.part[static_cast<std::size_t>(k)];
            const double length = row.segment(part.first, part.size).norm();
            if (shape.normal)
                largest += part.mu * length;
            else
                value += law.bound * length;
        }
        excess = std::max(excess, largest);
    }
    if (!(value < 0.0)) return 0.0;
    return excess > 0.0 ? -value / (excess * std::sqrt(static_cast<double>(p.contacts())))
                        : std::numeric_limits<double>::infinity();
}

std::vector<double> certificate_of_infeasibility(const FrictionProblem& p) {
    if (p.W.rows() > max_rows || p.W.rows() == 0) return {};
    for (const Law& law : p.laws)
        if (law.kind == LawKind::scaled_slider || law.kind == LawKind::contensou4 || orthotropic(law)) return {};
    const Matrix W = to_dense(p.W);
    const Eigen::Map<const Vector> q(p.q.data(), static_cast<Index>(p.q.size()));
    const double mean = p.W.diagonal_mean();
    if (!(mean > 0.0)) return {};
    const double needed = needed_length * q.norm() / mean;
    const Vector y = least_shortfall(p, W, q);
    if (y.norm() <= smallest_shortfall * q.norm()) return {};
    for (const Vector& candidate : {y, polish(W, y)}) {
        const Vector unit = candidate / std::max(smallest_norm, candidate.norm());
        std::vector<double> found(unit.data(), unit.data() + unit.size());
        for (int a = 0; a < p.contacts(); ++a) {
            const Index first = p.W.start[static_cast<std::size_t>(a)], n = p.W.block_size(a);
            if (!shape_of(p.laws[static_cast<std::size_t>(a)], static_cast<int>(n)).bilateral)
                found[static_cast<std::size_t>(first)] = std::max(0.0, found[static_cast<std::size_t>(first)]);
        }
        if (excluded_length(p, found) > needed) return found;
    }
    return {};
}

}  // namespace saltus::solvers
