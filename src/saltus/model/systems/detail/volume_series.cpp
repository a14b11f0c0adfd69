// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/volume_series.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/expr/series/disk_rules.hpp"

namespace saltus::model {

namespace disk = expr::disk;
using Face = PointFormulas::Face;

namespace {

constexpr double face_factor = 1.0 / 12.0;  // of enclosed_volume

}  // namespace

bool is_closed(std::span<const Face> faces) {
    std::map<std::pair<int, int>, int> passes;  // by edge: times from the lower to the higher number, minus times back
    for (const Face& f : faces)
        for (std::size_t c = 0; c < 4; ++c) {
            const int from = f[c], to = f[(c + 1) % 4];
            passes[{std::min(from, to), std::max(from, to)}] += from < to ? 1 : -1;
        }
    return std::all_of(passes.begin(), passes.end(), [](const auto& edge) { return edge.second == 0; });
}

VolumeSeries::VolumeSeries(const PointFormulas::Volume& volume, std::span<const int> points, int first_coordinate) {
    for (const int i : points)
        for (int axis = 0; axis < 3; ++axis) coordinate_.push_back(ix(first_coordinate + 3 * i + axis));
    const auto index_of = [&](int point) {
        return ix(std::lower_bound(points.begin(), points.end(), point) - points.begin());
    };
    blocks_.reserve((volume.faces.size() + Quad::width - 1) / Quad::width);
    for (std::size_t first = 0; first < volume.faces.size(); first += Quad::width) {
        Block& b = blocks_.emplace_back();
        b.count = static_cast<int>(std::min(ix(Quad::width), volume.faces.size() - first));
        for (std::size_t lane = 0; lane < Quad::width; ++lane)
            for (std::size_t c = 0; c < 4; ++c)
                b.corner[c][lane] = index_of(volume.faces[first + (lane < ix(b.count) ? lane : 0)][c]);
    }
    relative_.assign(coordinate_.size() * stride, 0.0);
    row_.assign(coordinate_.size() * stride, 0.0);
}

void VolumeSeries::extend(int n, std::span<double* const> q, std::span<double* const> u) {
    for (int m = n == 0 ? 0 : n + 1; m <= n + 1; ++m) {
        const std::span<double* const> from = m == 0 ? q : u;
        const int order = m == 0 ? 0 : m - 1;
        const double divisor = m == 0 ? 1.0 : m;  // q_m = u_(m−1)/m
        for (std::size_t k = 0; k < coordinate_.size(); ++k) {
            relative_[k * stride + ix(m)] = (from[coordinate_[k]][order] - from[coordinate_[k % 3]][order]) / divisor;
            row_[k * stride + ix(m)] = 0.0;
        }
        for (Block& b : blocks_) add_faces(b, m);
    }
}

namespace {

using Vector3 = std::array<Quad, 3>;

/// Order m of the cross product of two vectors of series.
template <class Series>
Vector3 cross_order(const Series& a, const Series& b, int m) {
    Vector3 sum;
    for (int j = 0; j <= m; ++j) {
        const Quad &a0 = a[0][ix(j)], &a1 = a[1][ix(j)], &a2 = a[2][ix(j)];
        const Quad &b0 = b[0][ix(m - j)], &b1 = b[1][ix(m - j)], &b2 = b[2][ix(m - j)];
        sum[0] += a1 * b2 - a2 * b1;
        sum[1] += a2 * b0 - a0 * b2;
        sum[2] += a0 * b1 - a1 * b0;
    }
    return sum;
}

}  // namespace

/// Order m of D, E and P of the faces of a block, and of their part of the row.
void VolumeSeries::add_faces(Block& b, int m) {
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (int lane = 0; lane < Quad::width; ++lane) {
            const auto x = [&](std::size_t c) { return relative(3 * b.corner[c][ix(lane)] + axis)[m]; };
            b.D[axis][ix(m)].set(lane, x(2) - x(0));
            b.E[axis][ix(m)].set(lane, x(3) - x(1));
            b.P[axis][ix(m)].set(lane, x(0) + x(1));
        }
    const Vector3 a = cross_order(b.E, b.P, m), d = cross_order(b.D, b.P, m), c = cross_order(b.D, b.E, m);
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (int lane = 0; lane < b.count; ++lane) {
            const auto add = [&](std::size_t corner, double value) {
                row_[(3 * b.corner[corner][ix(lane)] + axis) * stride + ix(m)] -= face_factor * value;
            };
            add(0, c[axis][lane] - a[axis][lane]);
            add(1, d[axis][lane] + c[axis][lane]);
            add(2, a[axis][lane]);
            add(3, -d[axis][lane]);
        }
}

double VolumeSeries::volume_order(int n) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < coordinate_.size(); ++k)
        for (int j = 0; j <= n; ++j) sum -= row(k)[j] * relative(k)[n - j];
    return sum / 3.0;
}

double VolumeSeries::curvature_order(int n) const {
    // Order j of d(−∇V)/dt is (j + 1) row_(j+1), and that of u is (j + 1) x_(j+1).
    std::array<double, SeriesEquations::max_order + 1> weight{};
    for (int j = 0; j <= n; ++j) weight[ix(j)] = (j + 1) * (n - j + 1);
    double sum = 0.0;
    for (std::size_t k = 0; k < coordinate_.size(); ++k)
        for (int j = 0; j <= n; ++j) sum += weight[ix(j)] * row(k)[j + 1] * relative(k)[n - j + 1];
    return sum;
}

namespace {

/// A quantity on the disk: its value at the centre, and a bound of its change.
struct Ball {
    double value = 0.0, radius = 0.0;
};
using Balls = std::array<Ball, 3>;

/// The polynomial with the coefficients get(0), …, get(N) on the disk |τ| <= R.
template <class Get>
Ball polynomial_ball(Get get, int N, double R) {
    double sum = 0.0;
    for (int n = N; n > 0; --n) sum = (sum + std::abs(get(n))) * R;
    return {get(0), disk::enlarged(sum)};
}

/// The same for the derivative Σ n get(n) τ^(n−1), which has the degree N.
template <class Get>
Ball derivative_ball(Get get, int N, double R) {
    return polynomial_ball([&](int n) { return (n + 1) * get(n + 1); }, N, R);
}

double product_radius(const Ball& a, const Ball& b) {
    return disk::product_radius(a.value, a.radius, b.value, b.radius);
}

/// Radii of the components of a × b.
std::array<double, 3> cross_radius(const Balls& a, const Balls& b) {
    const auto component = [&](std::size_t i, std::size_t j) {
        return product_radius(a[i], b[j]) + product_radius(a[j], b[i]);
    };
    return {component(1, 2), component(2, 0), component(0, 1)};
}

}  // namespace

const VolumeSeries::Bounds& VolumeSeries::bounds(double R, int N) {
    const std::size_t count = coordinate_.size();
    bounds_.row.assign(count, 0.0);
    rate_radius_.assign(count, 0.0);
    for (const Block& b : blocks_)
        for (int lane = 0; lane < b.count; ++lane) bound_face(b, lane, R, N);
    bounds_.volume = bounds_.curvature = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        bounds_.row[k] = disk::enlarged(bounds_.row[k]);
        const auto x = [&](int n) { return relative(k)[n]; };
        const Ball rate{row(k)[1], disk::enlarged(rate_radius_[k])};
        bounds_.volume += product_radius({row(k)[0], bounds_.row[k]}, polynomial_ball(x, N, R)) / 3.0;
        bounds_.curvature += product_radius(rate, derivative_ball(x, N, R));
    }
    bounds_.volume = disk::enlarged(bounds_.volume);
    bounds_.curvature = disk::enlarged(bounds_.curvature);
    return bounds_;
}

/// Adds the part of one face to the radii of the row and of its derivative, such as d(E × P)/dt = Ė × P + E × Ṗ.
void VolumeSeries::bound_face(const Block& b, int lane, double R, int N) {
    Balls D, E, P, dD, dE, dP;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto balls = [&](const Block::Series& series, Ball& value, Ball& rate) {
            const auto get = [&](int n) { return series[ix(n)][lane]; };
            value = polynomial_ball(get, N, R);
            rate = derivative_ball(get, N, R);
        };
        balls(b.D[axis], D[axis], dD[axis]);
        balls(b.E[axis], E[axis], dE[axis]);
        balls(b.P[axis], P[axis], dP[axis]);
    }
    const auto add = [&](const std::array<double, 3>& a, const std::array<double, 3>& d, const std::array<double, 3>& c,
                         std::vector<double>& to) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::array<double, 4> part{c[axis] + a[axis], d[axis] + c[axis], a[axis], d[axis]};
            for (std::size_t corner = 0; corner < 4; ++corner)
                to[3 * b.corner[corner][ix(lane)] + axis] += face_factor * part[corner];
        }
    };
    const auto rate_radius = [](const Balls& a, const Balls& da, const Balls& c, const Balls& dc) {
        std::array<double, 3> sum = cross_radius(da, c);
        const std::array<double, 3> second = cross_radius(a, dc);
        for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += second[axis];
        return sum;
    };
    add(cross_radius(E, P), cross_radius(D, P), cross_radius(D, E), bounds_.row);
    add(rate_radius(E, dE, P, dP), rate_radius(D, dD, P, dP), rate_radius(D, dD, E, dE), rate_radius_);
}

}  // namespace saltus::model
