// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// The rows of constraints and closed contacts as a matrix, at the position of the model.
Matrix closed_rows(const RestingModel& model, const std::vector<char>& closed);

/// Whether these rows have a smaller rank at q than beside it: a gradient vanishes (as that of g = xy at the origin, or
/// of a gap y²), or two of them become parallel. The admissible positions are then no smooth surface. Moves the model.
bool singular_closing(RestingModel& model, const std::vector<char>& closed, const Vector& q);

/// Whether the balance at q needs forces of rows that are singular there. Rows that vanish at the true position are
/// only small at the computed one, and large forces along them balance any load: a gap y² seems to carry the weight of
/// a body at y = −1e-8. Moves the model.
bool rests_on_singular_rows(RestingModel& model, const std::vector<char>& closed, const Vector& q);

}  // namespace saltus::stability
