// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/proof/admissible.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::stability {

/// An Eigen vector as boxes and witnesses take it, and back.
inline std::vector<double> list_of(const Vector& x) { return {x.data(), x.data() + x.size()}; }
inline Vector vector_of(std::span<const double> x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// A gap or constraint carries a force if its multiplier exceeds this fraction of the largest multiplier.
constexpr double loaded_force_ratio = 1e-9;

/// A curvature below −flat_curvature is negative; U is called flat if the smallest |curvature| is below it. The
/// curvature is relative to the mass matrix (unit 1/s²).
constexpr double flat_curvature = 1e-9;

/// An equilibrium q_e of the model without friction: 0 ∈ ∂Q(q_e), that is ∇U = Σ λ_i w_i with λ_i >= 0 for closed gaps
/// and λ_i of any sign for constraints. [Leine] (55)–(57)
///
/// "Position rows" are the constraints followed by the gaps, as in proof::Enclosure.
struct StationaryPoint {
    bool found = false;
    std::string why;           ///< if not found: the reason
    bool escapes = false;      ///< if not found: the energy still falls at a great distance, at the last iterate q
    Vector q;                  ///< the position, or the last iterate if not found
    Vector lambda;             ///< one multiplier for each position row. If they are not unique: a choice that loads as
                               ///< many contacts as possible
    std::vector<int> support;  ///< the constraints and an independent choice of loaded gaps (position rows)
    std::vector<int> closed;   ///< the position rows of the gaps that are zero
    double residual = 0.0;     ///< ‖∇U − Σ λ w‖ relative to its terms
    /// Smallest eigenvalue, relative to M, of the Hessian ∇²L = ∇²U − Σ λ ∇²g on the directions that keep all loaded
    /// rows closed. +∞ if there are no such directions.
    double curvature = 0.0;
    Vector direction;           ///< eigenvector of `curvature`
    bool minimum = false;       ///< the curvature is positive: q is a strict local minimum of Q
    int free_directions = 0;    ///< dimension of the directions that keep all loaded rows closed
    std::vector<double> scale;  ///< typical size of each coordinate, for searches
};

/// The local minimum of U on the admissible positions that descent reaches from `from`. A stationary point that is not
/// a minimum is left along a direction in which U falls.
StationaryPoint find_minimum(const proof::Enclosure& enclosure, const std::vector<double>& from);

/// An admissible position near a stationary point with a lower energy, along ± its direction of least curvature and
/// back onto the rows of its support; empty if none was found.
std::optional<Vector> lower_position(const proof::Enclosure& enclosure, const StationaryPoint& point);

/// The position near q, by Newton steps of least length, at which the given position rows are zero.
Vector onto_rows(const proof::Enclosure& enclosure, Vector q, const std::vector<int>& rows);

/// A minimum of U on the admissible positions with one coordinate held at a value.
struct HeldMinimum {
    bool found = false;
    Vector q;
    double U = 0.0;
    double slope = 0.0;  ///< dU/d(held value): the multiplier of the held coordinate
};
HeldMinimum find_minimum_holding(const proof::Enclosure& enclosure, const std::vector<double>& from, int coordinate,
                                 double value);

/// The stationary point of any kind that Newton's method reaches from `from`.
StationaryPoint find_stationary(const proof::Enclosure& enclosure, const std::vector<double>& from);

/// A small box in which a stationary point is proved to exist and to be the only one that is supported by `support`.
/// Empty box: not proved.
struct StationaryBox {
    proof::Box q;
    std::vector<int> support;      ///< position rows that carry the forces
    proof::IntervalVector lambda;  ///< multipliers of the rows of `support`
    bool proved() const { return !q.empty(); }
};
/// Encloses the stationary point, with its support and with λ > 0 proved for the loaded gaps.
StationaryBox enclose_equilibrium(const proof::Enclosure& enclosure, const StationaryPoint& point);
/// The same for the given independent rows, with multipliers of any sign.
StationaryBox enclose_stationary(const proof::Enclosure& enclosure, const StationaryPoint& point,
                                 const std::vector<int>& support);

/// The start of searches around the equilibrium: its proved box, or the computed point, made a little larger. It has
/// an interior, so that boxes beside it touch it.
proof::Box neighbourhood_of(const StationaryPoint& point, const StationaryBox& box);

/// The Jacobian of the equations ∇U − Σ λ_i w_i = 0, g_i = 0 (i in `support`) for the unknowns (q, λ), over a box of
/// positions and multipliers.
proof::IntervalMatrix stationarity_matrix(const proof::Enclosure& enclosure, const proof::Box& q,
                                          const std::vector<int>& support, const proof::IntervalVector& lambda);

/// q_e as reported: a coordinate is exactly 0 if its proved interval contains 0.
std::vector<double> position_of(const StationaryPoint& point, const StationaryBox& box);

/// The forces of all elements at the stationary point. Friction forces are 0.
std::vector<proof::ElementForce> forces_at(const model::Mechanics& model, const StationaryPoint& point);

}  // namespace saltus::stability
