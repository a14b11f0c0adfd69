// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// The period of each coordinate: a shift that changes no gap, constraint, force, row or friction coefficient; 0 if the
/// coordinate has none. Candidates come from the arguments of sin, cos and tan in the expressions; they are accepted if
/// they hold at scattered positions. Systems that are not made of expressions have no periods.
std::vector<double> periods_of(RestingModel& model);

/// Directions along which every position may be shifted without any change (translations of a model that no spring
/// ties to the ground), an orthonormal basis by columns. It is the common kernel of exact derivatives at scattered
/// positions. Needs derivatives.
Matrix neutral_directions(RestingModel& model);

/// Whether forces at rest, gaps, constraints, rows or loads depend on time with the present values of the parameters.
/// A time-dependent term with a factor 0 does not count. Systems that are not made of expressions are sampled.
bool depends_on_time(const model::Mechanics& model);

/// The copy of a, shifted by whole periods, that is nearest to b. A period 0 stands for none.
Vector nearest_copy(const std::vector<double>& periods, const Vector& a, const Vector& b);

}  // namespace saltus::stability
