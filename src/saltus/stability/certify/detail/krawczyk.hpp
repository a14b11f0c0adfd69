// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/proof/matrix.hpp"

namespace saltus::stability {

/// A function F of the unknowns with its derivative, both as enclosures.
struct EnclosedEquations {
    proof::IntervalMatrix value;  ///< F at the computed point x̂, a column
    proof::IntervalMatrix slope;  ///< F' over the box around it
};

/// Krawczyk's operator: K = −R F(x̂) + (I − R F'(x̂ + [s])) [s] with R ≈ F'⁻¹. If K lies in the interior of [s] = `step`
/// then x̂ + [s] contains exactly one zero for each F of the family, and x̂ + K contains it. The result is K.
/// std::nullopt: not shown.
std::optional<proof::IntervalMatrix> krawczyk(const EnclosedEquations& equations, const proof::IntervalMatrix& step);

}  // namespace saltus::stability
