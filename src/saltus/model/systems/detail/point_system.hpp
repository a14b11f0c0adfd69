// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// Mass points with springs, volume constraints and plane obstacles. Quantities that may depend on parameters or the
/// time are expressions; the geometry consists of numbers. Point i has the coordinates first_coordinate + 3i + {0, 1,
/// 2}.
struct PointFormulas {
    using Triple = std::array<double, 3>;

    /// Springs with the same law: tension k(l − l₀) + c l̇ along the line.
    struct SpringGroup {
        expr::Expr k, c, rest;     ///< stiffness, damping, length l₀ without force; k and l₀ may depend on the time
        bool rest_initial = true;  ///< l₀ is the initial length of each spring; `rest` is not read
        bool varies = false;       ///< k or l₀ depends on the time: muscles
        expr::Expr k_rate, rest_rate;  ///< dk/dt and dl₀/dt
    };
    struct Spring {
        int i, j, group;  ///< numbers of its points and of its group
        double length;    ///< initial length
    };
    /// A bilinear face: the numbers of its four corners, counter-clockwise seen from outside.
    using Face = std::array<int, 4>;
    /// The constraint g = V₀ − V(q) − η(t) = 0. Its multiplier is minus the pressure.
    struct Volume {
        std::vector<Face> faces;
        double initial = 0.0;
        expr::Expr eta;
    };
    /// The contact g_N = n·x − offset(t) >= 0 of every point. With friction there are two slip rows, along the
    /// tangents.
    struct Obstacle {
        Triple normal{}, tangent1{}, tangent2{};
        expr::Expr offset;
        bool friction = false;
    };

    expr::Graph graph;
    expr::Expr t;
    std::vector<expr::Expr> p;
    int first_coordinate = 0;
    int coordinates = 0;                     ///< number of coordinates of the whole model
    std::vector<double> position, velocity;  ///< initial position and velocity, three numbers per point
    std::vector<double> weight;              ///< mass of point i = weight[i]·mass_scale
    expr::Expr mass_scale;
    Triple gravity{};
    std::vector<SpringGroup> groups;
    std::vector<Spring> springs;
    std::vector<Volume> volumes;
    std::vector<Obstacle> obstacles;
    std::vector<expr::Expr> coefficients;

    int points() const { return static_cast<int>(weight.size()); }
};

/// The four triangles of the two triangulations of a face. The volume between the origin and a bilinear patch is the
/// mean of its two triangulations: the sum of det(a, b, c)/6 over the four triangles, divided by 2.
inline constexpr std::array<std::array<std::size_t, 3>, 4> face_triangles{{{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}}};

/// The volume V(x) inside a closed surface of bilinear faces. V is a cubic form: V(x) = D(x, x, x) with a symmetric
/// trilinear D. With the bilinear map B(x, y) = 3D(x, y, ·) one has ∇V = B(x, x) and uᵀV''u = 2B(x, u)·u. x and y have
/// three numbers per point.
double enclosed_volume(std::span<const PointFormulas::Face> faces, std::span<const double> x);
/// Adds B(x, x) to `out`.
void add_volume_gradient(std::span<const PointFormulas::Face> faces, std::span<const double> x, std::span<double> out);
/// Adds B(x, y) to `out`.
void add_volume_form(std::span<const PointFormulas::Face> faces, std::span<const double> x, std::span<const double> y,
                     std::span<double> out);

/// The equations of mass points, evaluated in plain loops over points, springs and faces. The cost is linear in their
/// number. System::symbolic returns null, because there are no expressions of the equations.
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
    /// Null if a volume is not closed.
    std::unique_ptr<SeriesEquations> series(const SeriesNeeds& needs, std::span<const double> p) const override;

    using Signal = std::array<expr::Expr, 3>;  ///< a function of time, its first and its second derivative

private:
    /// Values of the expressions at one time.
    struct Signals {
        double mass_scale;
        std::span<const double> groups;   // k, c, rest, dk/dt, drest/dt of each group
        std::span<const double> offsets;  // value, first and second time derivative of each obstacle
        std::span<const double> etas;     // value, first and second time derivative of η of each volume
        std::span<const double> coefficients;
    };
    static constexpr std::size_t law_size = 5;  // numbers of a group in Signals::groups
    Signals signals(const At& at, std::span<double> scratch) const;
    std::size_t weight_count() const { return 3 * f_.weight.size(); }
    std::span<const double> own(std::span<const double> x) const {
        return x.subspan(static_cast<std::size_t>(f_.first_coordinate), 3 * f_.weight.size());
    }

    PointFormulas f_;
    Layout layout_;
    std::vector<Signal> offsets_, etas_;  // of the obstacles and of the volumes
    expr::Tape tape_;
    std::vector<std::vector<int>> volume_points_;  // of each volume, ascending
    bool volumes_closed_ = true;
};

}  // namespace saltus::model
