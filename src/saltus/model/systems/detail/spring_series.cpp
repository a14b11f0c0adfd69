// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/spring_series.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/expr/series/disk_rules.hpp"

namespace saltus::model {

namespace disk = expr::disk;

SpringSeries::SpringSeries(std::span<const Spring> springs) {
    // Springs without dampers need fewer series. They get blocks of their own.
    std::vector<Spring> sorted(springs.begin(), springs.end());
    std::erase_if(sorted, [](const Spring& s) { return s.stiffness == 0.0 && s.damping == 0.0; });
    const auto undamped =
        std::stable_partition(sorted.begin(), sorted.end(), [](const Spring& s) { return s.damping != 0.0; });
    const auto add = [&](std::span<const Spring> part) {
        for (; !part.empty(); part = part.subspan(std::min(part.size(), ix(Quad::width))))
            add_block(part.first(std::min(part.size(), ix(Quad::width))));
    };
    blocks_.reserve(sorted.size() / Quad::width + 2);
    add({sorted.begin(), undamped});
    add({undamped, sorted.end()});
}

void SpringSeries::add_block(std::span<const Spring> springs) {
    Block& b = blocks_.emplace_back();
    b.count = static_cast<int>(springs.size());
    b.damped = springs.front().damping != 0.0;
    for (int lane = 0; lane < Quad::width; ++lane) {
        const bool exists = lane < b.count;
        const Spring& spring = exists ? springs[ix(lane)] : springs.front();
        b.i[ix(lane)] = spring.i;
        b.j[ix(lane)] = spring.j;
        b.stiffness.set(lane, exists ? spring.stiffness : 0.0);
        b.damping.set(lane, exists ? spring.damping : 0.0);
        b.rest.set(lane, spring.rest);
    }
}

namespace {

/// Order n of x_j − x_i along an axis.
template <class Ends>
Quad difference(const Ends& b, std::span<double* const> x, std::size_t axis, int n) {
    Quad d;
    for (int lane = 0; lane < Quad::width; ++lane)
        d.set(lane, x[ix(b.j[ix(lane)]) + axis][n] - x[ix(b.i[ix(lane)]) + axis][n]);
    return d;
}

}  // namespace

/// Brings d and s to the order that order n of the force needs: n, or n + 1 with dampers.
void SpringSeries::extend(Block& b, int n, std::span<double* const> q, std::span<double* const> u) {
    const int last = b.damped ? n + 1 : n;
    for (int m = n == 0 ? 0 : last; m <= last; ++m) {
        Quad square, length;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            Quad& d = b.d[axis][ix(m)];
            d = m <= n ? difference(b, q, axis, m) : difference(b, u, axis, n) / Quad(static_cast<double>(m));
            length += d * d;
            square += square_order(b.d[axis].data(), m);
        }
        b.norm[ix(m)] = sqrt(length);
        b.s[ix(m)] = square;
    }
}

double SpringSeries::add_order(int n, std::span<double* const> q, std::span<double* const> u,
                               std::span<double* const> h) {
    order_ = n;
    double power = 0.0;
    for (Block& b : blocks_) {
        extend(b, n, q, u);
        const Quad &s0 = b.s[0], one(1.0), half(0.5);
        Quad phi;
        if (n == 0) {
            const Quad length = sqrt(s0);
            b.r[0] = one / length;
            phi = b.stiffness * (length - b.rest) / length;  // more accurate than k − k l₀ r near l = l₀
        } else {
            Quad sum, weight(-static_cast<double>(n));  // j/2 − n
            for (int j = 1; j <= n; ++j) sum += (weight += half) * b.s[ix(j)] * b.r[ix(n - j)];
            b.r[ix(n)] = sum / (Quad(static_cast<double>(n)) * s0);
            phi = Quad() - b.stiffness * b.rest * b.r[ix(n)];
        }
        if (b.damped) {
            const Quad y = Quad(0.5 * (n + 1)) * b.s[ix(n + 1)];
            b.e[ix(n)] = (y - convolution(b.s.data(), b.e.data(), n, 1)) / s0;
            phi += b.damping * b.e[ix(n)];
            Quad sum, weight;  // order n of c y e
            for (int j = 0; j <= n; ++j) sum += (weight += half) * b.s[ix(j + 1)] * b.e[ix(n - j)];
            sum *= b.damping;
            for (int lane = 0; lane < b.count; ++lane) power += sum[lane];
        }
        b.phi[ix(n)] = phi;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Quad force = convolution(b.phi.data(), b.d[axis].data(), n);
            for (int lane = 0; lane < b.count; ++lane) {
                h[ix(b.i[ix(lane)]) + axis][n] += force[lane];
                h[ix(b.j[ix(lane)]) + axis][n] -= force[lane];
            }
        }
    }
    return power;
}

/// Bounds the scalar products s = d·d and y = d·w on the disk by their coefficients. Up to order N these are known, and
/// they are small if d turns without changing its length. The others are bounded by |d_i·d_j| <= |d_i| |d_j|:
///     |s(τ) − s_0| <= Σ_{n=1..N} |s_n| R^n + Σ_{i+j>N} |d_i| |d_j| R^(i+j).
/// The rounding error of s_n is relative to Σ |d_i| |d_j|, i + j = n, not to s_n itself.
SpringSeries::Radii SpringSeries::radii(const Block& b, double R) const {
    const int N = order_;
    Radii out;
    std::array<Quad, SeriesEquations::max_order + 1> d_size, w_size;  // |d_n| R^n, |w_n| R^n
    Quad d_sum, w_sum;
    double scale = 1.0;
    for (int n = 0; n <= N; ++n, scale *= R) {
        const Quad power(scale), next(scale * (n + 1));
        d_sum += d_size[ix(n)] = b.norm[ix(n)] * power;
        if (b.damped) w_sum += w_size[ix(n)] = b.norm[ix(n + 1)] * next;  // w_n = (n + 1) d_(n+1)
        if (n == 0) continue;
        for (std::size_t axis = 0; axis < 3; ++axis) out.d[axis] += abs(b.d[axis][ix(n)]) * power;
        out.s += abs(b.s[ix(n)]) * power;
        if (b.damped) out.y += abs(b.s[ix(n + 1)]) * Quad(0.5) * next;
    }
    Quad d_from, w_from;  // Σ_{k > N − n} |d_k| R^k and |w_k| R^k
    for (int n = 1; n <= N; ++n) {
        d_from += d_size[ix(N + 1 - n)];
        out.s += d_size[ix(n)] * d_from;
        if (!b.damped) continue;
        w_from += w_size[ix(N + 1 - n)];
        out.y += d_size[ix(n)] * w_from;
    }
    const Quad rounding = Quad(disk::relative_margin) * d_sum;
    out.s += rounding * d_sum;
    out.y += rounding * w_sum;
    return out;
}

double SpringSeries::add_bounds(double R, std::span<double> h_radius) const {
    double power = 0.0;
    for (const Block& b : blocks_) {
        const Radii radius = radii(b, R);
        for (int lane = 0; lane < b.count; ++lane) {
            const double s0 = b.s[0][lane], s_radius = disk::enlarged(radius.s[lane]);
            const double k_rest = b.stiffness[lane] * b.rest[lane];
            double phi_radius = k_rest > 0.0 ? k_rest * disk::enlarged(disk::inverse_sqrt_radius(s0, s_radius)) : 0.0;
            if (b.damped) {
                const double y0 = 0.5 * b.s[1][lane], y_radius = disk::enlarged(radius.y[lane]);
                const double e_radius = disk::enlarged(disk::quotient_radius(y0, y_radius, s0, s_radius));
                phi_radius += b.damping[lane] * e_radius;
                power += b.damping[lane] * disk::product_radius(y0, y_radius, b.e[0][lane], e_radius);
            }
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double d_radius = disk::enlarged(radius.d[axis][lane]);
                const double force = disk::enlarged(
                    disk::product_radius(b.phi[0][lane], disk::enlarged(phi_radius), b.d[axis][0][lane], d_radius));
                h_radius[ix(b.i[ix(lane)]) + axis] += force;
                h_radius[ix(b.j[ix(lane)]) + axis] += force;
            }
        }
    }
    return power;
}

}  // namespace saltus::model
