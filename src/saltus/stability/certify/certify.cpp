// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/certify.hpp"

#include "saltus/base/error.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/certificate_claims.hpp"
#include "saltus/stability/certify/detail/functions/own_function.hpp"
#include "saltus/stability/certify/detail/functions/sliding_contacts.hpp"
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"
#include "saltus/stability/certify/detail/instability.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

namespace {

/// Steady sliding that attracts by Lyapunov's first method: ρ* is a level of V = zᵀPz whose set lies in a region in
/// which the contacts and sliders keep their states. The claims of the motion in this mode find it.
proof::Certificate with_level(const model::Model& model, proof::Certificate certificate,
                              const CertifyOptions& options) {
    if (certificate.outcome != proof::Outcome::attractive || certificate.has_rho) return certificate;
    ClaimOptions claims;
    claims.budget = options.budget;
    claims.stop = options.stop;
    const proof::CertifiedStatement s = certificate_claims(model, certificate, claims);
    if (!s.certified() || s.P.empty()) return certificate;
    certificate.has_rho = true;
    certificate.rho = certificate.rho_verified = s.level;
    certificate.rho_parts = {{"region of the mode", s.level}};
    certificate.P = s.P;
    const bool closed = !model.contacts.empty();
    certificate.summary = std::string("steady sliding is attractive; the states with ") +
                          (closed ? "the same closed contacts and " : "") + "V < " + number(s.level) +
                          ", V = z'Pz with z = (q - q_e, u), belong to its region of attraction";
    return certificate;
}

}  // namespace

proof::Certificate certify(const model::Model& model, std::optional<Theorem> theorem, const CertifyOptions& options) {
    SALTUS_EXPECT(theorem != Theorem::regulation);
    if (!options.V.empty()) return certify_with_function(model, theorem, options);
    if (std::optional<proof::Certificate> sliding = certify_sliding_contacts(model, theorem, options))
        return with_level(model, std::move(*sliding), options);
    if (const auto directions = sliding_directions(model))
        return with_level(model, certify_steady_sliding(model, *directions, theorem, options), options);
    const bool instability = theorem ? *theorem == Theorem::instability : starts_at_saddle_equilibrium(model, options);
    return instability ? certify_instability(model, options) : certify_attractivity(model, options);
}

}  // namespace saltus::stability
