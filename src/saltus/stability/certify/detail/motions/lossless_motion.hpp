// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"

namespace saltus::stability {

/// Motions next to q_e that keep their energy V > 0 for ever. They show that the equilibrium set is not attractive.
struct LosslessMotion {
    std::string text;        ///< what moves, as evidence
    proof::Witness witness;  ///< a start of such a motion, or a direction of its velocity
};

/// A proof that such motions exist arbitrarily near to q_e. std::nullopt: none was found, which does not mean that
/// there is none.
std::optional<LosslessMotion> lossless_motion(const ConditionScope& scope);

}  // namespace saltus::stability
