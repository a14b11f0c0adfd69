// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/model/description.hpp"
#include "saltus/stability/certify/certificate_claims.hpp"

// "Proved" is said only of what a certificate file can show to another program (docs/certificate-format.md). What this
// program has proved by its own intervals, without such a file, is graded numerical.

namespace saltus::stability {

/// What the description contains that the certificate format does not cover; empty if the format covers all of it. A
/// built model does not show this any more: a force that is cut, for example, is one of its other forces.
std::string certificate_obstacle(const model::Description& description);

/// The claims of a certificate (`certificate_claims`). Proved rows whose claims are missing are lowered to `numerical`,
/// with the reason in their evidence, and the grade of the certificate with them. A level that the claims do not reach
/// is replaced by theirs, or withdrawn. An inconclusive certificate stays as it is.
proof::CertifiedStatement grade_by_claims(const model::Model& model, proof::Certificate& certificate,
                                          const ClaimOptions& options);

/// The claims of a search (`completeness_claims`). If they are missing, the search does not count as complete, and says
/// why.
proof::CertifiedStatement grade_by_claims(const model::Mechanics& model, Equilibria& equilibria,
                                          const ClaimOptions& options);

}  // namespace saltus::stability
