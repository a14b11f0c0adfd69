// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// Mass points with springs, volume constraints and plane obstacles. What may depend on parameters or the time is an
/// expression; the geometry is numbers. Point i has the coordinates first_coordinate + 3i + {0, 1, 2}.
struct PointFormulas {
    using Triple = std::array<double, 3>;

    struct SpringGroup {
        expr::Expr k, c, rest;
        bool rest_initial = true;
    };
    struct Spring {
        int i, j, group;
        double length;  ///< at the start
    };
    /// A bilinear face, counter-clockwise seen from outside.
    using Face = std::array<int, 4>;
    /// g = V₀ − V(q) − η(t), so that the multiplier is minus the pressure.
    struct Volume {
        std::vector<Face> faces;
        double initial = 0.0;
        expr::Expr eta;
    };
    /// gN = n·x − offset(t) for every point; with friction two slip directions.
    struct Obstacle {
        Triple normal{}, tangent1{}, tangent2{};
        expr::Expr offset;
        bool friction = false;
    };

    expr::Graph graph;
    expr::Expr t;
    std::vector<expr::Expr> p;
    int first_coordinate = 0;
    int coordinates = 0;  ///< of the model
    std::vector<double> position, velocity;
    std::vector<double> weight;  ///< mass of point i = weight[i]·mass_scale
    expr::Expr mass_scale;
    Triple gravity{};
    std::vector<SpringGroup> groups;
    std::vector<Spring> springs;
    std::vector<Volume> volumes;
    std::vector<Obstacle> obstacles;
    std::vector<expr::Expr> coefficients;

    int points() const { return static_cast<int>(weight.size()); }
};

/// The four triangles of a face whose volumes with the origin, summed with weight 1/12 for the determinants, are the
/// volume under the bilinear patch: the mean of its two triangulations.
inline constexpr std::array<std::array<std::size_t, 3>, 4> face_triangles{{{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}}};

/// V of a closed surface of bilinear faces, and the symmetric bilinear map B with ∇V = B(q, q); from it
/// uᵀV''u = 2 B(q, u)·u. Points are taken from x and y at three numbers each.
double enclosed_volume(std::span<const PointFormulas::Face> faces, std::span<const double> x);
void volume_form(std::span<const PointFormulas::Face> faces, std::span<const double> x, std::span<const double> y,
                 std::span<double> out);

/// The equations of mass points, in plain loops over points, springs and faces: cost linear in their number.
class PointSystem final : public System {
public:
    explicit PointSystem(PointFormulas formulas);

    const Layout& layout() const override { return layout_; }
    std::size_t scratch_size() const override { return tape_.slot_count() + tape_.output_count() + 2 * weight_count(); }
    void prepare(std::span<const double> p, std::span<double> scratch) const override;
    void mass(const At& at, std::span<double> scratch, std::span<double> M) const override;
    void force(const At& at, std::span<double> scratch, std::span<double> h) const override;
    void positions(const At& at, std::span<double> scratch, std::span<double> g) const override;
    void rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const override;
    void curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const override;
    void coefficients(const At& at, std::span<double> scratch, std::span<double> values) const override;
    Energy energy(const At& at, std::span<double> scratch) const override;
    std::unique_ptr<Jacobians> jacobians() const override;
    std::unique_ptr<Jacobians> jacobians_by(std::span<const int> parameters) const override;

private:
    /// Values of the expressions at one time.
    struct Signals {
        double mass_scale;
        std::span<const double> groups;   // k, c, rest each
        std::span<const double> offsets;  // value, first and second derivative each
        std::span<const double> etas;
        std::span<const double> coefficients;
    };
    Signals signals(const At& at, std::span<double> scratch) const;
    std::size_t weight_count() const { return 3 * f_.weight.size(); }
    std::span<const double> own(std::span<const double> x) const {
        return x.subspan(static_cast<std::size_t>(f_.first_coordinate), 3 * f_.weight.size());
    }

    PointFormulas f_;
    Layout layout_;
    expr::Tape tape_;
    std::vector<std::vector<int>> volume_points_;  // of each volume, ascending
};

}  // namespace saltus::model
