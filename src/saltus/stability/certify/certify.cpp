// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/certify.hpp"

#include "saltus/base/error.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/functions/own_function.hpp"
#include "saltus/stability/certify/detail/functions/sliding_contacts.hpp"
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"
#include "saltus/stability/certify/detail/instability.hpp"

namespace saltus::stability {

proof::Certificate certify(const model::Model& model, std::optional<Theorem> theorem, const CertifyOptions& options) {
    SALTUS_EXPECT(theorem != Theorem::regulation);
    if (!options.V.empty()) return certify_with_function(model, theorem, options);
    if (std::optional<proof::Certificate> sliding = certify_sliding_contacts(model, theorem, options))
        return std::move(*sliding);
    if (const auto directions = sliding_directions(model))
        return certify_steady_sliding(model, *directions, theorem, options);
    const bool instability = theorem ? *theorem == Theorem::instability : starts_at_saddle_equilibrium(model, options);
    return instability ? certify_instability(model, options) : certify_attractivity(model, options);
}

}  // namespace saltus::stability
