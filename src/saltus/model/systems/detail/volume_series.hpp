// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "saltus/model/series.hpp"
#include "saltus/model/systems/detail/point_system.hpp"
#include "saltus/model/systems/detail/quad.hpp"

namespace saltus::model {

/// Whether each edge of the faces is passed as often in one direction as in the other. The volume inside such a surface
/// does not change if the surface is moved as a whole.
bool is_closed(std::span<const PointFormulas::Face> faces);

/// The volume V(x) inside a closed surface of bilinear faces as a Taylor series, with its gradient. The cost of an
/// order is linear in the number of faces.
///
/// All positions are relative to the first point of the surface, which keeps rounding errors and bounds small. With the
/// corners 0 to 3 of a face and
///     D = x_2 − x_0,   E = x_3 − x_1,   P = x_0 + x_1,   a = E × P,   b = D × P,   c = D × E,
/// the face contributes (c − a, b + c, a, −b)/12 to ∇V at its corners: the sums of add_corner_products, rearranged. The
/// rest follows from ∇V: it is homogeneous of degree 2, so that V = ∇V·x/3, and uᵀV''u = d(∇V)/dt·u.
class VolumeSeries {
public:
    /// `points`: the points of the faces, ascending. `first_coordinate`: of point 0.
    VolumeSeries(const PointFormulas::Volume& volume, std::span<const int> points, int first_coordinate);

    /// Computes order n + 1 of positions and row, besides order 0 if n = 0. Orders 0 to n of q and u must be known,
    /// with q̇ = u.
    void extend(int n, std::span<double* const> q, std::span<double* const> u);

    /// Series of −∂V/∂x_k, for the three coordinates of each of the points.
    const double* row(std::size_t k) const { return row_.data() + k * stride; }
    double volume_order(int n) const;     ///< order n of V
    double curvature_order(int n) const;  ///< order n of −uᵀV''u

    /// Bounds of |f(τ) − f(0)| on the complex disk |τ| <= R, for the polynomials q and u of degree N, the last n of
    /// `extend`.
    struct Bounds {
        std::vector<double> row;
        double volume = 0.0, curvature = 0.0;
    };
    const Bounds& bounds(double R, int N);

private:
    /// The series of four faces side by side; order n of each at [n].
    struct Block {
        static constexpr std::size_t orders = SeriesEquations::max_order + 2;
        using Series = std::array<Quad, orders>;
        int count;                                                   // faces that exist; the others are copies
        std::array<std::array<std::size_t, Quad::width>, 4> corner;  // by corner and face: index of the point
        std::array<Series, 3> D, E, P;                               // by axis
    };

    static constexpr std::size_t stride = SeriesEquations::max_order + 2;
    const double* relative(std::size_t k) const { return relative_.data() + k * stride; }
    void add_faces(Block& b, int m);
    void bound_face(const Block& b, int lane, double R, int N);

    std::vector<std::size_t> coordinate_;  // of each point and axis
    std::vector<Block> blocks_;
    std::vector<double> relative_, row_;  // series: positions relative to the first point, −∇V
    Bounds bounds_;
    std::vector<double> rate_radius_;  // of bounds: of d(∇V)/dt
};

}  // namespace saltus::model
