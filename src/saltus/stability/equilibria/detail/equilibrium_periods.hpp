// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// The period of each coordinate: the shift that changes no gap, constraint, force or row; 0: none. Candidates come
/// from the arguments of sines and cosines; that they are periods is seen at scattered positions.
std::vector<double> periods_of(RestingModel& model);

/// Directions along which every position may be shifted without any change, orthonormal columns: translations of a
/// model that no spring ties to the ground. From exact derivatives at scattered positions.
Matrix neutral_directions(RestingModel& model);

/// Whether forces at rest, gaps, constraints, rows or loads depend on time, with the values that the parameters have: a
/// term with a factor 0 does not.
bool depends_on_time(const model::Model& model);

/// a shifted by whole periods to where it is nearest to b.
Vector nearest_copy(const std::vector<double>& periods, const Vector& a, const Vector& b);

}  // namespace saltus::stability
