// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/certify.hpp"

#include "saltus/base/error.hpp"
#include "saltus/stability/certify/detail/instability.hpp"

namespace saltus::stability {

proof::Certificate certify(const model::Model& model, std::optional<Theorem> theorem, const CertifyOptions& options) {
    SALTUS_EXPECT(theorem != Theorem::regulation);
    const bool instability = theorem ? *theorem == Theorem::instability : starts_at_saddle_equilibrium(model, options);
    return instability ? certify_instability(model, options) : certify_attractivity(model, options);
}

}  // namespace saltus::stability
