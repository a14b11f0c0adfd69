// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/translations.hpp"

namespace saltus::orbit {

/// A symmetry of a model: x ↦ S x + b takes motions to motions, and applied twice it changes nothing. Velocities are
/// mapped as positions are, without b.
struct Symmetry {
    Matrix S;  ///< 2n × 2n
    Vector b;
    Vector by_parameters;  ///< largest |∂σ/∂p| for each parameter of derivatives; all 0 if σ has numbers alone
    Vector operator()(const Vector& x) const { return S * x + b; }
    /// With a symmetry σ, half an orbit leads from x to σ(x). So the map of half an orbit is σ⁻¹ ∘ Φ_{T/2} = σ ∘
    /// Φ_{T/2}: puts it into the place of Φ_{T/2}, with its derivatives. The motion stays as it is.
    void apply(Return& half) const;
};

/// Reads "x = -x, a = b, b = a": coordinates that are not named stay as they are. Whether the model has the symmetry is
/// not examined. Throws an Error that names --symmetry if the text is no such map.
Symmetry symmetry_of(const model::Model& model, const std::string& text);

/// Whether a motion ends where it started, up to 1e-7 of the size of its components and up to a translation.
bool closes(const trajectory::Trajectory& motion, const Translations& translations);

}  // namespace saltus::orbit
