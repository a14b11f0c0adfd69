// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/base/numbers.hpp"

/// Arithmetic of the second-order cones { (n, t) : n >= ‖t‖ } of a cone program.
namespace saltus::solvers::second_order {

using Eigen::Index;
using ConstSegment = Eigen::Ref<const Vector>;

/// Keeps a determinant positive if rounding makes it vanish on the boundary of the cone.
inline constexpr double smallest_determinant = 1e-300;

/// det x = n² − ‖t‖² as (n − ‖t‖)(n + ‖t‖), without cancellation of squares.
inline double determinant(const ConstSegment& x) {
    const double length = x.tail(x.size() - 1).norm();
    return (x(0) - length) * (x(0) + length);
}

/// Violation of the cone: max(0, ‖t‖ − n).
inline double outside(const ConstSegment& x) { return std::max(0.0, x.tail(x.size() - 1).norm() - x(0)); }

/// The Jordan product x ∘ y = (x·y, x₀y₁ + y₀x₁).
inline Vector product(const ConstSegment& x, const ConstSegment& y) {
    Vector z(x.size());
    z(0) = x.dot(y);
    z.tail(x.size() - 1) = x(0) * y.tail(x.size() - 1) + y(0) * x.tail(x.size() - 1);
    return z;
}
/// z with λ ∘ z = r. From r₁ = λ₀z₁ + z₀λ₁ follows z₁; inserted into r₀ = λ·z it gives z₀ = (λ₀r₀ − λ₁·r₁)/det λ.
inline Vector quotient(const ConstSegment& lambda, const ConstSegment& r) {
    const Index k = r.size() - 1;
    Vector z(r.size());
    z(0) = (lambda(0) * r(0) - lambda.tail(k).dot(r.tail(k))) / determinant(lambda);
    z.tail(k) = (r.tail(k) - z(0) * lambda.tail(k)) / lambda(0);
    return z;
}

/// The largest a with x + a d in the cone, for x inside; may be infinite. The boundary is the first positive root of
/// det(x + a d) = A a² + 2B a + C, written such that nothing cancels.
inline double step_to_boundary(const ConstSegment& x, const ConstSegment& d) {
    const Index k = x.size() - 1;
    if (k == 0) return d(0) < 0.0 ? -x(0) / d(0) : infinity;
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

/// The Nesterov–Todd scaling of a pair x, s in the interior of the cone: the symmetric matrix W with W s = W⁻¹x = λ. It
/// has the form W = β (2 v vᵀ − J), J = diag(1, −1, …), with vᵀJ v = 1 and W⁻¹ = (2 Jv (Jv)ᵀ − J)/β. For a cone of size
/// 1, W = β.
struct Scaling {
    double beta = 1.0;
    Vector v;

    /// With x̂ = x/√det x and ŝ = s/√det s: β = (det x/det s)^{1/4}, the scaling point is w = (x̂ + Jŝ)/(2γ) with
    /// γ² = (1 + x̂·ŝ)/2, and v is the square root of w in the Jordan algebra: v = (w + e)/√(2(w₀ + 1)).
    void set(const ConstSegment& x, const ConstSegment& s) {
        const double dx = std::sqrt(std::max(determinant(x), smallest_determinant)),
                     ds = std::sqrt(std::max(determinant(s), smallest_determinant));
        beta = std::sqrt(dx / ds);
        if (x.size() == 1) return;
        Vector w = s / ds;
        const double gamma = std::sqrt(0.5 * (1.0 + x.dot(w) / dx));
        w.tail(w.size() - 1) *= -1.0;
        w = (x / dx + w) / (2.0 * gamma);
        // det w = 1 exactly: w₀ from the other components.
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

/// The product cone of a program, with the scaling of each factor. Vectors have one segment per cone. The sizes must
/// outlive this object.
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
    double degree() const { return static_cast<double>(sizes_.size()); }  ///< degree of the barrier: xᵀs/degree is μ

    /// Calls function(number, first component, size) for each cone.
    template <class Function>
    void each(Function function) const {
        for (std::size_t k = 0; k < sizes_.size(); ++k) function(k, start_[k], Index{sizes_[k]});
    }

    /// The unit element e of the Jordan product: (1, 0) in each cone.
    Vector unit() const {
        Vector e = Vector::Zero(total_);
        for (const Index at : start_) e(at) = 1.0;
        return e;
    }
    /// Sets the scaling W of the pair x, s.
    void scale(const Vector& x, const Vector& s) {
        each([&](std::size_t k, Index at, Index n) { scaling_[k].set(x.segment(at, n), s.segment(at, n)); });
    }
    /// W z and W⁻¹z.
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
    /// The Jordan product and its inverse, cone by cone.
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
    /// The largest a with x + a d in all cones.
    double step(const Vector& x, const Vector& d) const {
        double step = infinity;
        each([&](std::size_t, Index at, Index n) {
            step = std::min(step, step_to_boundary(x.segment(at, n), d.segment(at, n)));
        });
        return step;
    }
    /// The largest violation of a cone by x.
    double outside_by(const Vector& x) const {
        double largest = 0.0;
        each([&](std::size_t, Index at, Index n) { largest = std::max(largest, outside(x.segment(at, n))); });
        return largest;
    }

private:
    const std::vector<int>& sizes_;
    std::vector<Index> start_;
    std::vector<Scaling> scaling_;
    Index total_ = 0;
};

}  // namespace saltus::solvers::second_order
