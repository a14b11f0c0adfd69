// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::orbit {

/// A symmetry of a model: x ↦ S x + b takes motions to motions, and applied twice it changes nothing. Velocities are
/// mapped as positions are, without b.
struct Symmetry {
    Matrix S;  ///< 2n × 2n
    Vector b;
    Vector operator()(const Vector& x) const { return S * x + b; }
};

/// Reads "x = -x, a = b, b = a": coordinates that are not named stay as they are. Whether the model has the symmetry is
/// not examined. Throws an Error that names --symmetry if the text is no such map.
Symmetry symmetry_of(const model::Model& model, const std::string& text);

}  // namespace saltus::orbit
