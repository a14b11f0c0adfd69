// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/model/model.hpp"
#include "saltus/proof/enclosure.hpp"
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The certified level is this fraction of ρ*.
constexpr double certified_part = 0.99;

/// Why certificates do not exist for such models; empty if they do.
std::string unsupported(const model::Model& m) {
    if (m.control) return "feedback is not certified";
    if (!m.clutches.empty()) return "clutches are not certified";
    if (!m.scleronomic || !m.autonomous) return "a model that depends on time is not certified";
    const auto planar = [](const model::Friction& f) {
        return f.law == model::FrictionLaw::none || f.law == model::FrictionLaw::coulomb ||
               f.law == model::FrictionLaw::orthotropic;
    };
    for (const model::Contact& c : m.contacts) {
        if (c.impact != model::ImpactLaw::newton) return "only Newton's impact law is certified";
        if (!planar(c.friction)) return "only Coulomb friction is certified";
        if (c.condition != model::no_coefficient) return "a contact that exists under a condition is not certified";
    }
    for (const model::Constraint& c : m.constraints) {
        if (c.on_velocity) return "constraints of velocities are not certified";
        if (!planar(c.friction)) return "only Coulomb friction is certified";
    }
    for (const model::Slider& s : m.sliders)
        if (!planar(s.friction)) return "only Coulomb friction is certified";
    return "";
}

/// The function of each condition. Without contacts condition 4 is that of the losses.
ClaimList claims_of(const std::string& id, const ClaimScope& scope) {
    const bool contacts = !scope.e.model().contacts.empty();
    if (id == "1") return kinetic_claims(scope);
    if (id == "2") return minimum_claims(scope);
    if (id == "3") return dissipation_claims(scope);
    if (id == "4") return contacts ? closing_claims(scope) : loss_claims(scope);
    if (id == "5") return loss_claims(scope);
    if (id == "6") return restitution_claims(scope);
    if (id == "7") return impact_claims(scope);
    if (id == "8") return equilibrium_claims(scope);
    return {{}, "this condition is not certified"};
}

}  // namespace

CertifiedStatement attractivity_claims(const model::Model& model, const Certificate& certificate,
                                       const ClaimOptions& options) {
    SALTUS_EXPECT(certificate.theorem == Theorem::attractivity);
    std::string why = unsupported(model), reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    if (!e) why = reason;
    if (why.empty() && (certificate.outcome != Outcome::attractive || certificate.grade != Grade::proved))
        why = "the verdict is not 'attractive, proved'";
    if (why.empty() && !(certificate.rho_verified > 0.0)) why = "there is no level set";
    CertifiedStatement s = uncertified(certificate, model.coordinates, why);
    if (!why.empty()) return s;
    s.level =
        std::isfinite(certificate.rho_verified) ? certified_part * certificate.rho_verified : certificate.rho_verified;
    const StationaryPoint equilibrium = find_minimum(*e, certificate.q);
    if (!equilibrium.found) return uncertified(certificate, model.coordinates, "the equilibrium was not found again");
    std::vector<int> I_C;
    for (const std::string& name : certificate.closing_gaps)
        for (int k = 0; k < static_cast<int>(model.contacts.size()); ++k)
            if (model.contacts[static_cast<std::size_t>(k)].name == name)
                I_C.push_back(static_cast<int>(model.constraints.size()) + k);
    for (CertifiedCondition& c : s.conditions) {
        if (c.verdict == Verdict::assumed) continue;
        ClaimList list =
            claims_of(c.id, {*e, equilibrium, s.domain, s.reference, s.level, I_C, options.budget, options.stop});
        c.certified = list.complete();
        c.why = list.why;
        if (c.certified) c.claims = std::move(list.claims);
    }
    return s;
}

}  // namespace saltus::stability
