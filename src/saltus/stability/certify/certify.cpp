// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/certify.hpp"

#include "saltus/stability/certify/detail/instability.hpp"

namespace saltus::stability {

proof::Certificate certify(const model::Model& model, Theorem theorem, const CertifyOptions& options) {
    if (theorem == Theorem::instability || (theorem == Theorem::fitting && rests_on_a_pass(model, options)))
        return certify_instability(model, options);
    return certify_attractivity(model, options);
}

}  // namespace saltus::stability
