// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/certify/detail/claims/box_claims.hpp"
#include "saltus/stability/certify/detail/functions/state_function.hpp"

namespace saltus::stability {

/// The claims of the theorem "function" (docs/certificate-format.md, "A function of the state") for a certificate of
/// `certify_with_function` whose V is no energy. `V` is the function of `options.V`. A statement that is not certified
/// says why.
proof::CertifiedStatement state_function_claims(const model::Mechanics& model, StateFunction& V,
                                                const proof::Certificate& certificate, const CertifyOptions& options);

}  // namespace saltus::stability
