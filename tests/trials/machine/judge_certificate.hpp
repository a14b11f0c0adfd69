// SPDX-License-Identifier: Apache-2.0
//
// Judges `saltus certify`. A level set { V < rho } that is said to belong to a region of attraction is tried: motions
// by time-stepping start inside it, most of them near its boundary. V must not rise, the motion must stay in the stated
// domain, and it must come to rest in the equilibrium set. An unstable equilibrium must have lower potential energy
// nearby.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

/// The statements of a certificate against the model.
Findings judge_certificate_document(const Model& model, const nlohmann::json& document, int starts);

Findings judge_certificate(const Model& model, const Program& program);

}  // namespace trials
