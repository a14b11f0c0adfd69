// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/proof/enclosure.hpp"
#include "saltus/proof/separation.hpp"

namespace saltus::proof {

/// The bounds of one coefficient of a model, from the bounds of all coefficients. 0 for `model::no_coefficient`.
Interval coefficient(const IntervalVector& coefficients, model::Coefficient c);

/// The set of friction forces of one element with the normal force `load`, as generalised forces: the vectors are rows
/// of `rows` (the matrix Wᵀ of the model, or its image). For Coulomb–Contensou friction the result is a larger set, the
/// sum of the disk of sliding forces and the segment of drilling moments.
Friction friction_of(const model::Friction& friction, const IntervalMatrix& rows, const IntervalVector& coefficients,
                     const Interval& load);

/// Proves that the element has no friction for any load.
bool without_friction(const model::Friction& friction, const IntervalVector& coefficients);
/// Proves that the element has friction in every direction of slip if its load is positive.
bool with_friction(const model::Friction& friction, const IntervalVector& coefficients);

}  // namespace saltus::proof
