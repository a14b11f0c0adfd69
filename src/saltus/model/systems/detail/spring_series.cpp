// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/spring_series.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/expr/series/disk_rules.hpp"

namespace saltus::model {

namespace disk = expr::disk;

SpringSeries::SpringSeries(std::span<const Spring> springs) {
    // Springs without dampers need fewer series, and muscles need more. They get blocks of their own.
    std::vector<Spring> sorted(springs.begin(), springs.end());
    std::erase_if(sorted, [](const Spring& s) { return !s.muscle && s.stiffness == 0.0 && s.damping == 0.0; });
    const auto kind = [](const Spring& s) { return (s.muscle ? 2 : 0) + (s.damping != 0.0 ? 0 : 1); };
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Spring& a, const Spring& b) { return kind(a) < kind(b); });
    blocks_.reserve(sorted.size() / Quad::width + 4);
    for (std::size_t first = 0; first < sorted.size();) {
        std::size_t count = 1;
        while (count < ix(Quad::width) && first + count < sorted.size() &&
               kind(sorted[first + count]) == kind(sorted[first]))
            ++count;
        add_block({sorted.data() + first, count});
        first += count;
    }
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
    if (!springs.front().muscle) return;
    b.muscle = static_cast<int>(muscles_.size());
    Muscle& muscle = muscles_.emplace_back();
    for (int lane = 0; lane < b.count; ++lane) muscle.law[ix(lane)] = springs[ix(lane)].law;
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

/// Order n of φ without its damper, and of the power that the muscles of a block supply.
Quad SpringSeries::muscle_order(Muscle& m, Block& b, int n, Powers& powers) {
    for (int lane = 0; lane < b.count; ++lane)
        for (std::size_t f = 0; f < 4; ++f) {
            const Signal& signal = m.law[ix(lane)][f];
            const double constant = n == 0 ? signal.constant : 0.0;
            m.value[f][ix(n)].set(lane, signal.series != nullptr ? signal.series[n] : constant);
        }
    const Block::Series &k = m.value[0], &rest = m.value[1], &k_rate = m.value[2], &rest_rate = m.value[3];
    m.kappa[ix(n)] = convolution(k.data(), rest.data(), n);
    m.x[ix(n)] = convolution(b.s.data(), b.r.data(), n) - rest[ix(n)];
    m.x2[ix(n)] = square_order(m.x.data(), n);
    m.kx[ix(n)] = convolution(k.data(), m.x.data(), n);
    const Quad supplied =
        Quad(0.5) * convolution(k_rate.data(), m.x2.data(), n) - convolution(m.kx.data(), rest_rate.data(), n);
    for (int lane = 0; lane < b.count; ++lane) powers.supplied += supplied[lane];
    if (n == 0) return m.kx[0] * b.r[0];  // more accurate than k − κ r near l = l₀
    return k[ix(n)] - convolution(m.kappa.data(), b.r.data(), n);
}

SpringSeries::Powers SpringSeries::add_order(int n, std::span<double* const> q, std::span<double* const> u,
                                             std::span<double* const> h) {
    order_ = n;
    Powers powers;
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
        if (b.muscle >= 0) phi = muscle_order(muscles_[ix(b.muscle)], b, n, powers);
        if (b.damped) {
            const Quad y = Quad(0.5 * (n + 1)) * b.s[ix(n + 1)];
            b.e[ix(n)] = (y - convolution(b.s.data(), b.e.data(), n, 1)) / s0;
            phi += b.damping * b.e[ix(n)];
            Quad sum, weight;  // order n of c y e
            for (int j = 0; j <= n; ++j) sum += (weight += half) * b.s[ix(j + 1)] * b.e[ix(n - j)];
            sum *= b.damping;
            for (int lane = 0; lane < b.count; ++lane) powers.damping += sum[lane];
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
    return powers;
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

/// Bounds of a muscle on the disk: adds that of φ without its damper to `phi_radius`, and returns that of its power.
SpringSeries::Powers SpringSeries::muscle_bounds(const Muscle& m, const Block& b, int lane, double s_radius,
                                                 std::span<const double> signal_radius, double& phi_radius) const {
    std::array<double, 4> at{}, radius{};
    for (std::size_t f = 0; f < 4; ++f) {
        const int number = m.law[ix(lane)][f].number;
        at[f] = m.value[f][0][lane];
        radius[f] = number < 0 ? 0.0 : disk::enlarged(signal_radius[ix(number)]);
    }
    const double s0 = b.s[0][lane], r0 = b.r[0][lane], x0 = m.x[0][lane];
    const double r_radius = disk::enlarged(disk::inverse_sqrt_radius(s0, s_radius));
    const double kappa_radius = disk::enlarged(disk::product_radius(at[0], radius[0], at[1], radius[1]));
    phi_radius += radius[0] + disk::product_radius(m.kappa[0][lane], kappa_radius, r0, r_radius);
    const double x_radius = disk::enlarged(disk::sqrt_radius(s0, s_radius) + radius[1]);
    const double x2_radius = disk::enlarged(disk::product_radius(x0, x_radius, x0, x_radius));
    const double kx_radius = disk::enlarged(disk::product_radius(at[0], radius[0], x0, x_radius));
    return {0.0, 0.5 * disk::product_radius(at[2], radius[2], x0 * x0, x2_radius) +
                     disk::product_radius(at[0] * x0, kx_radius, at[3], radius[3])};
}

SpringSeries::Powers SpringSeries::add_bounds(double R, std::span<const double> signal_radius,
                                              std::span<double> h_radius) const {
    Powers powers;
    for (const Block& b : blocks_) {
        const Radii radius = radii(b, R);
        for (int lane = 0; lane < b.count; ++lane) {
            const double s0 = b.s[0][lane], s_radius = disk::enlarged(radius.s[lane]);
            const double k_rest = b.stiffness[lane] * b.rest[lane];
            double phi_radius = k_rest > 0.0 ? k_rest * disk::enlarged(disk::inverse_sqrt_radius(s0, s_radius)) : 0.0;
            if (b.muscle >= 0)
                powers.supplied +=
                    muscle_bounds(muscles_[ix(b.muscle)], b, lane, s_radius, signal_radius, phi_radius).supplied;
            if (b.damped) {
                const double y0 = 0.5 * b.s[1][lane], y_radius = disk::enlarged(radius.y[lane]);
                const double e_radius = disk::enlarged(disk::quotient_radius(y0, y_radius, s0, s_radius));
                phi_radius += b.damping[lane] * e_radius;
                powers.damping += b.damping[lane] * disk::product_radius(y0, y_radius, b.e[0][lane], e_radius);
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
    return powers;
}

}  // namespace saltus::model
