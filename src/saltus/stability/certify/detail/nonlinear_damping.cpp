// SPDX-License-Identifier: Apache-2.0
//
// Every velocity u ≠ 0 of the box |u_k| <= b_k is u = s (b ∘ d) with 0 < s <= 1 and d on the surface of the cube
// [−1, 1]ⁿ (b_k = 1 and any s > 0 if the box is unbounded). The surface is covered by small boxes of d. On each:
//     some row of S has S (b ∘ d) ≠ 0: these velocities are not wanted; or
//     D^nc = Σ_p s^p D_p(q, b ∘ d) with all D_p >= 0, and one of them > 0 (Enclosure::power_terms); or
//     D^nc / s^p₀ = Σ_p s^(p − p₀) D_p > 0 over 0 <= s <= 1, p₀ the lowest degree, for terms of both signs; or
//     D^nc = uᵀCu with C in the enclosure of −∂f^nc/∂u over all velocities, and dᵀCd > 0 (mean value theorem).
// Near u = 0 the power of −c x'³ is as small as one likes; after the division by s^p it has a positive lower bound.
#include "saltus/stability/certify/detail/nonlinear_damping.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/expr/graph.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The surface of the cube is covered with at most this number of boxes, in at most this number of coordinates.
constexpr long max_direction_boxes = 4000;
constexpr std::size_t max_coordinates = 5;
/// A box of directions is not split further below this width.
constexpr double smallest_direction_box = 1e-4;

class Directions {
public:
    Directions(const Enclosure& e, const Box& q, const Box& velocities, const IntervalMatrix& rows, Loss loss)
        : e_(e), q_(q), rows_(rows), loss_(loss), bounded_(bounded(velocities)) {
        for (const Interval& u : velocities) bounds_.push_back(bounded_ ? std::max(std::fabs(u.lo), u.hi) : 1.0);
        if (e.smooth_damping) slopes_ = e.damping_slopes(q, velocities);
    }

    bool prove() {
        const std::size_t n = bounds_.size();
        for (std::size_t k = 0; k < n; ++k)
            for (const double side : {1.0, -1.0}) {
                Box d(n, Interval(-1.0, 1.0));
                d[k] = Interval(side);
                if (!prove_face(d)) return false;
            }
        return true;
    }

private:
    bool prove_face(const Box& face) {
        std::vector<Box> stack{face};
        while (!stack.empty()) {
            const Box d = std::move(stack.back());
            stack.pop_back();
            if (++boxes_ > max_direction_boxes) return false;
            if (prove_box(d)) continue;
            std::size_t widest = 0;
            for (std::size_t k = 1; k < d.size(); ++k)
                if (width(d[k]) > width(d[widest])) widest = k;
            if (width(d[widest]) < smallest_direction_box) return false;
            const auto parts = split(d, widest, 0.0, 1.0);
            stack.push_back(parts.first);
            stack.push_back(parts.second);
        }
        return true;
    }

    bool prove_box(const Box& d) const {
        Box u;
        for (std::size_t k = 0; k < d.size(); ++k) u.push_back(d[k] * Interval(bounds_[k]));
        for (int i = 0; i < rows_.rows(); ++i) {
            Interval sum;
            for (int j = 0; j < rows_.cols(); ++j) sum += rows_(i, j) * u[static_cast<std::size_t>(j)];
            if (sum.lo > 0.0 || sum.hi < 0.0) return true;
        }
        return by_terms(u) || by_slopes(u);
    }

    bool enough(double lower) const { return loss_ == Loss::positive ? lower > 0.0 : lower >= 0.0; }

    bool by_terms(const Box& u) const {
        if (e_.power_degrees.empty()) return false;
        const IntervalVector terms = e_.power_terms(q_, u);
        bool none_negative = true;
        double largest = 0.0;
        for (const Interval& x : terms) {
            if (!x.defined) return false;
            none_negative = none_negative && x.lo >= 0.0;
            largest = std::max(largest, x.lo);
        }
        if (none_negative && enough(largest)) return true;
        if (!bounded_) return false;
        const Interval s(0.0, 1.0);
        Interval sum;
        for (std::size_t k = 0; k < terms.size(); ++k) {
            // s^(p − p₀) lies in [0, 1].
            sum += k == 0 ? terms[k] : terms[k] * s;
        }
        return sum.defined && enough(sum.lo);
    }

    bool by_slopes(const Box& u) const {
        if (!e_.smooth_damping || !slopes_.finite()) return false;
        Interval sum;
        for (int i = 0; i < slopes_.rows(); ++i)
            for (int j = 0; j < slopes_.cols(); ++j) {
                const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
                sum += slopes_(i, j) * (i == j ? expr::apply(expr::Op::powi, u[a], u[a], u[a], 2) : u[a] * u[b]);
            }
        return sum.defined && enough(sum.lo);
    }

    const Enclosure& e_;
    const Box& q_;
    const IntervalMatrix& rows_;
    Loss loss_;
    bool bounded_;
    std::vector<double> bounds_;
    IntervalMatrix slopes_;
    long boxes_ = 0;
};

}  // namespace

bool damping_takes_energy(const Enclosure& e, const Box& q, const Box& velocities, const IntervalMatrix& rows,
                          Loss loss) {
    if (velocities.size() > max_coordinates) return false;
    // Without any velocity the statement is empty.
    if (std::all_of(velocities.begin(), velocities.end(), [](const Interval& u) { return u.lo == 0.0 && u.hi == 0.0; }))
        return true;
    return Directions(e, q, velocities, rows, loss).prove();
}

}  // namespace saltus::stability
