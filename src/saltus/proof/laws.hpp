// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/model/elements.hpp"
#include "saltus/proof/enclosure.hpp"
#include "saltus/proof/separation.hpp"

namespace saltus::proof {

/// A coefficient's bounds, 0 where it is none.
Interval coefficient(const IntervalVector& coefficients, model::Coefficient c);

/// The friction forces of an element under a load, in the space of the given rows (one a row of the model). The body of
/// a Coulomb–Contensou patch is replaced by a larger one, disk plus segment.
Friction friction_of(const model::Friction& friction, const IntervalMatrix& rows, const IntervalVector& coefficients,
                     const Interval& load);

/// There is no friction whatever the load; or there is some in every direction of slip.
bool without_friction(const model::Friction& friction, const IntervalVector& coefficients);
bool with_friction(const model::Friction& friction, const IntervalVector& coefficients);

}  // namespace saltus::proof
