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

constexpr int most_rows = 1500;

/// P_K of one block, with the sets' own projections.
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

/// yᵀ v must not be negative at a solution: what of v counts, with the sign in which it is wrong.
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

/// Minimises ‖shortfall(W r + q)‖² over the r that the laws allow, by projected gradient steps with momentum. At the
/// minimum the shortfall is zero or a certificate.
Vector least_shortfall(const FrictionProblem& p, const Matrix& W, const Vector& q) {
    const Index n = q.size();
    Vector x(n);  // in no special direction: W often takes the vector of ones to zero
    for (Index i = 0; i < n; ++i) x(i) = std::cos(1.7 * static_cast<double>(i * i) + 0.3);
    double lipschitz = 0.0;
    for (int k = 0; k < 50; ++k) {
        const Vector next = W.transpose() * (W * x);
        lipschitz = next.norm() / std::max(1e-300, x.norm());
        if (!(lipschitz > 0.0)) return shortfall(p, q);
        x = next / next.norm();
    }
    const double step = 1.0 / (1.05 * lipschitz);
    Vector r = Vector::Zero(n), previous = r, ahead = r;
    double momentum = 1.0, before = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 4000; ++k) {
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
        if (value <= 1e-24 * q.squaredNorm()) break;  // nothing falls short
    }
    return shortfall(p, W * r + q);
}

/// Rounds y to the nearest vector of the same support whose Wᵀy vanishes where it nearly does.
Vector polish(const Matrix& W, Vector y) {
    const double size = y.cwiseAbs().maxCoeff();
    std::vector<Index> support, vanishing;
    const Vector g = W.transpose() * y;
    const double scale = W.cwiseAbs().maxCoeff() * size;
    for (Index i = 0; i < y.size(); ++i) {
        if (std::abs(y(i)) > 1e-6 * size)
            support.push_back(i);
        else
            y(i) = 0.0;
        if (std::abs(g(i)) <= 1e-4 * scale) vanishing.push_back(i);
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
        double most = shape.normal ? row(0) : 0.0;  // of gᵀr over the cone with r_N = 1
        for (int k = 0; k < shape.parts; ++k) {
            const Shape::Part& part = shape.part[static_cast<std::size_t>(k)];
            const double length = row.segment(part.first, part.size).norm();
            if (shape.normal)
                most += part.mu * length;
            else
                value += law.bound * length;
        }
        excess = std::max(excess, most);
    }
    if (!(value < 0.0)) return 0.0;
    // Cauchy over the contacts: Σ excess r_N <= excess √n ‖r‖.
    return excess > 0.0 ? -value / (excess * std::sqrt(static_cast<double>(p.contacts())))
                        : std::numeric_limits<double>::infinity();
}

std::vector<double> certificate_of_infeasibility(const FrictionProblem& p) {
    if (p.W.rows() > most_rows || p.W.rows() == 0) return {};
    for (const Law& law : p.laws)
        if (law.kind == LawKind::scaled_slider || law.kind == LawKind::contensou4 || orthotropic(law)) return {};
    const Matrix W = to_dense(p.W);
    const Eigen::Map<const Vector> q(p.q.data(), static_cast<Index>(p.q.size()));
    const double mean = p.W.diagonal_mean();
    if (!(mean > 0.0)) return {};
    const double needed = 1e8 * q.norm() / mean;
    const Vector y = least_shortfall(p, W, q);
    if (y.norm() <= 1e-10 * q.norm()) return {};
    for (const Vector& candidate : {y, polish(W, y)}) {
        const Vector unit = candidate / std::max(1e-300, candidate.norm());
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
