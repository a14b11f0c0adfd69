// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "saltus/base/linalg.hpp"

/// Arithmetic of the second-order cones { (n, t) : n >= ‖t‖ } of a cone program.
namespace saltus::solvers::second_order {

using Eigen::Index;
using ConstSegment = Eigen::Ref<const Vector>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// n² − ‖t‖² without cancellation of squares.
inline double determinant(const ConstSegment& x) {
    const double length = x.tail(x.size() - 1).norm();
    return (x(0) - length) * (x(0) + length);
}

inline double outside(const ConstSegment& x) { return std::max(0.0, x.tail(x.size() - 1).norm() - x(0)); }

/// The Jordan product (x·y, x₀y₁ + y₀x₁) and its inverse λ ∘ z = r.
inline Vector product(const ConstSegment& x, const ConstSegment& y) {
    Vector z(x.size());
    z(0) = x.dot(y);
    z.tail(x.size() - 1) = x(0) * y.tail(x.size() - 1) + y(0) * x.tail(x.size() - 1);
    return z;
}
inline Vector quotient(const ConstSegment& lambda, const ConstSegment& r) {
    const Index k = r.size() - 1;
    Vector z(r.size());
    z(0) = (lambda(0) * r(0) - lambda.tail(k).dot(r.tail(k))) / determinant(lambda);
    z.tail(k) = (r.tail(k) - z(0) * lambda.tail(k)) / lambda(0);
    return z;
}

/// The largest step along d that stays in the cone.
inline double step_to_boundary(const ConstSegment& x, const ConstSegment& d) {
    const Index k = x.size() - 1;
    if (k == 0) return d(0) < 0.0 ? -x(0) / d(0) : infinity;
    // det(x + a d) = A a² + 2B a + C, the first positive root.
    const double A = determinant(d), B = x(0) * d(0) - x.tail(k).dot(d.tail(k)), C = determinant(x);
    const double discriminant = B * B - A * C;
    double step = infinity;
    if (A < 0.0 || (B < 0.0 && discriminant >= 0.0)) {
        const double root = std::sqrt(std::max(0.0, discriminant));
        const double first = B < 0.0 ? C / (-B + root) : (A != 0.0 ? (-B - root) / A : infinity);
        if (first > 0.0) step = first;
    }
    if (d(0) < 0.0) step = std::min(step, -x(0) / d(0));
    return step;
}

/// Nesterov and Todd's scaling of a pair x, s: the symmetric W with W s = W⁻¹x = λ. W = β (2 v vᵀ − J), J = diag(1,
/// −1…).
struct Scaling {
    double beta = 1.0;
    Vector v;

    void set(const ConstSegment& x, const ConstSegment& s) {
        const double dx = std::sqrt(std::max(determinant(x), 1e-300)), ds = std::sqrt(std::max(determinant(s), 1e-300));
        beta = std::sqrt(dx / ds);
        if (x.size() == 1) return;
        Vector w = s / ds;
        const double gamma = std::sqrt(0.5 * (1.0 + x.dot(w) / dx));
        w.tail(w.size() - 1) *= -1.0;
        w = (x / dx + w) / (2.0 * gamma);
        // On the hyperboloid to rounding: w₀ from the rest.
        w(0) = std::sqrt(1.0 + w.tail(w.size() - 1).squaredNorm());
        v = w;
        v(0) += 1.0;
        v /= std::sqrt(2.0 * v(0));
    }
    Vector apply(const ConstSegment& z) const {
        if (z.size() == 1) return beta * z;
        Vector r = 2.0 * v.dot(z) * v;
        r(0) -= z(0);
        r.tail(z.size() - 1) += z.tail(z.size() - 1);
        return beta * r;
    }
    Vector apply_inverse(const ConstSegment& z) const {
        if (z.size() == 1) return z / beta;
        Vector jv = v;
        jv.tail(v.size() - 1) *= -1.0;
        Vector r = 2.0 * jv.dot(z) * jv;
        r(0) -= z(0);
        r.tail(z.size() - 1) += z.tail(z.size() - 1);
        return r / beta;
    }
};

/// All cones of a program, with the scaling of each.
class Cones {
public:
    explicit Cones(const std::vector<int>& sizes) : sizes_(sizes), scaling_(sizes.size()) {
        Index at = 0;
        for (const int size : sizes) {
            start_.push_back(at);
            at += size;
        }
        total_ = at;
    }
    Index total() const { return total_; }
    Index start(std::size_t k) const { return start_[k]; }
    double degree() const { return static_cast<double>(sizes_.size()); }

    template <class Function>
    void each(Function function) const {
        for (std::size_t k = 0; k < sizes_.size(); ++k) function(k, start_[k], Index{sizes_[k]});
    }

    Vector unit() const {
        Vector e = Vector::Zero(total_);
        for (const Index at : start_) e(at) = 1.0;
        return e;
    }
    void scale(const Vector& x, const Vector& s) {
        each([&](std::size_t k, Index at, Index n) { scaling_[k].set(x.segment(at, n), s.segment(at, n)); });
    }
    Vector apply(const Vector& z) const {
        Vector r(total_);
        each([&](std::size_t k, Index at, Index n) { r.segment(at, n) = scaling_[k].apply(z.segment(at, n)); });
        return r;
    }
    Vector apply_inverse(const Vector& z) const {
        Vector r(total_);
        each([&](std::size_t k, Index at, Index n) { r.segment(at, n) = scaling_[k].apply_inverse(z.segment(at, n)); });
        return r;
    }
    Vector product_of(const Vector& x, const Vector& y) const {
        Vector r(total_);
        each([&](std::size_t, Index at, Index n) { r.segment(at, n) = product(x.segment(at, n), y.segment(at, n)); });
        return r;
    }
    Vector quotient_of(const Vector& lambda, const Vector& z) const {
        Vector r(total_);
        each([&](std::size_t, Index at, Index n) {
            r.segment(at, n) = quotient(lambda.segment(at, n), z.segment(at, n));
        });
        return r;
    }
    double step(const Vector& x, const Vector& d) const {
        double step = infinity;
        each([&](std::size_t, Index at, Index n) {
            step = std::min(step, step_to_boundary(x.segment(at, n), d.segment(at, n)));
        });
        return step;
    }
    double outside_by(const Vector& x) const {
        double most = 0.0;
        each([&](std::size_t, Index at, Index n) { most = std::max(most, outside(x.segment(at, n))); });
        return most;
    }

private:
    const std::vector<int>& sizes_;
    std::vector<Index> start_;
    std::vector<Scaling> scaling_;
    Index total_ = 0;
};

}  // namespace saltus::solvers::second_order
