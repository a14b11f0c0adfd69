// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// What is measured on a motion of one period.
namespace saltus::orbit {

/// Least and largest values of all components along a motion, at samples.
std::pair<Vector, Vector> range_of(const trajectory::Trajectory& motion);

/// Least and largest values of the positions along a motion. Extrema between the ends of steps are located where the
/// velocity changes its sign.
std::pair<Vector, Vector> position_range(const trajectory::Trajectory& motion);

/// Largest magnitudes of all components along a motion; 1 for components that are always 0.
Vector sizes(const trajectory::Trajectory& motion);

/// The number of elements that hold something on an arc of a motion: closed contacts, constraints, locked clutches, and
/// sliders that stick.
std::size_t holding_elements(const trajectory::Trajectory& motion, const trajectory::Arc& arc);

/// Where the motion is in its simplest mode: the middle of the longest arc with the fewest elements that hold.
/// Derivatives by the state exist there.
double calm_time(const trajectory::Trajectory& motion);

/// Whether the only direction without a derivative is the one that leaves the only closed contact. Disturbances in that
/// direction are not admissible: the map loses rank exactly, and the multiplier is 0.
bool leaves_one_contact(const Return& r);

/// The largest entry of a derivative in the sizes of the components: rounding of the start grows by this factor.
double growth_of(const Matrix& slope, const Vector& size);

/// Eigenvalues of the derivative of a return map, and what they say.
struct Multipliers {
    std::vector<std::complex<double>> values;  ///< largest modulus first; values below rounding are exactly 0
    std::optional<std::size_t> trivial;        ///< autonomous systems: number of the one that must be 1
    std::optional<double> trivial_error;       ///< its distance from 1
    int outside = 0;                           ///< how many lie outside the unit circle, the trivial one not counted
    bool undecided = false;                    ///< one is nearer to the circle than its error
};
Multipliers multipliers_of(const Matrix& slope, bool autonomous);
/// Multipliers of the product of the derivatives of several parts of an orbit. They are the K-th powers of the
/// eigenvalues of the cyclic matrix of the K derivatives, whose entries are of moderate size, so that small multipliers
/// are as accurate as large ones.
Multipliers cyclic_multipliers(const std::vector<Matrix>& maps, const Vector& size, bool autonomous);
/// What eigenvalues say that are already known. Their error grows with the largest one by the factor `error_growth`: 1
/// if they are those of one matrix, 0 if each has its own relative accuracy.
Multipliers judged(std::vector<std::complex<double>> values, bool autonomous, double error_growth);

/// Whether an excited motion of this duration is repeated by the one that starts at the same state one duration later:
/// otherwise the excitation has another period. `error` is the absolute error of the motion, which matters if the orbit
/// is small.
bool excitation_repeats(const ReturnMap& map, const trajectory::Trajectory& motion, double error);

}  // namespace saltus::orbit
