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
/// The boxes of equilibrium sets exceed the extents by this fraction of their width, and by this distance relative to
/// 1 + |q|.
constexpr double wider_extent = 0.02, wider_point = 1e-3;
/// Copies of sets are listed for at most this number of periodic coordinates.
constexpr std::size_t max_periodic = 3;

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

namespace {

/// The boxes of all sets and of those copies that meet the region.
std::vector<Box> set_boxes(const Equilibria& equilibria, const Box& region) {
    std::vector<Box> boxes;
    for (const EquilibriumSet& set : equilibria.sets) {
        std::vector<Box> copies{Box()};
        for (std::size_t k = 0; k < region.size(); ++k) {
            const auto i = static_cast<Eigen::Index>(k);
            const double lo = set.lower(i), hi = set.upper(i);
            const double wider = (std::isfinite(lo) && std::isfinite(hi) ? wider_extent * (hi - lo) : 0.0) +
                                 wider_point * (1.0 + (std::isfinite(lo) ? std::fabs(lo) : 0.0));
            const Interval side(lo - wider, hi + wider);
            const double period = equilibria.periods[k];
            std::vector<Box> longer;
            for (const Box& copy : copies)
                for (const int turn : {0, -1, 1}) {
                    if (turn != 0 && !(period > 0.0)) continue;
                    const Interval moved = side + Interval(static_cast<double>(turn) * period);
                    if (!intersection(moved, region[k])) continue;
                    longer.push_back(copy);
                    longer.back().push_back(moved);
                }
            copies = std::move(longer);
        }
        boxes.insert(boxes.end(), copies.begin(), copies.end());
    }
    return boxes;
}

}  // namespace

CertifiedStatement completeness_claims(const model::Model& model, const Equilibria& equilibria,
                                       const ClaimOptions& options) {
    CertifiedStatement s;
    s.theorem = "equilibria";
    s.verdict = equilibria.completeness.complete ? "complete" : "not complete";
    s.statement = "all equilibria with a position in the domain lie in the boxes of the sets";
    s.coordinates = model.coordinates;
    s.sets.emplace();
    std::string why = unsupported(model), reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    if (!e) why = reason;
    if (why.empty() && !equilibria.completeness.complete) why = "the search is not complete";
    const auto periodic =
        std::count_if(equilibria.periods.begin(), equilibria.periods.end(), [](double p) { return p > 0.0; });
    if (why.empty() && static_cast<std::size_t>(periodic) > max_periodic)
        why = "there are too many periodic coordinates";
    s.domain = whole_space(model.coordinates.size());
    for (std::size_t k = 0; k < equilibria.completeness.region.size(); ++k)
        s.domain[k] = Interval(equilibria.completeness.region[k].first, equilibria.completeness.region[k].second);
    const Verdict verdict = equilibria.completeness.complete ? Verdict::proved : Verdict::not_examined;
    s.grade = to_string(why.empty() ? Grade::proved : Grade::not_examined);
    s.conditions.push_back({"form",
                            "the kinetic energy is a quadratic form of the velocities; nothing depends on time",
                            verdict,
                            why.empty(),
                            why,
                            {}});
    s.conditions.push_back(
        {"complete", "there is no equilibrium outside of the listed boxes", verdict, why.empty(), why, {}});
    if (!why.empty()) return s;
    s.conditions[0].claims.emplace_back(ClaimValue::Record{{"kind", "form"}});
    StationaryPoint origin;
    origin.q = equilibria.sets.empty() ? vector_of(model.q0) : equilibria.sets.front().representative;
    origin.scale.assign(model.coordinates.size(), 1.0);
    const std::vector<Box> sets = set_boxes(equilibria, s.domain);
    const ClaimScope scope{*e, origin, s.domain, 0.0, Interval::infinity, {}, options.budget, options.stop};
    std::optional<ClaimValue> tree = tree_over(
        scope, s.domain,
        [&](const Box& q) -> std::optional<ClaimValue> {
            for (std::size_t k = 0; k < sets.size(); ++k)
                if (inside(q, sets[k])) return ClaimValue::List{"listed", static_cast<int>(k)};
            return unbalanced_leaf(scope, q);
        },
        [&](const Box& q) { return unbalanced_spread(scope, q); }, -1, sets);
    s.sets = sets;
    CertifiedCondition& complete = s.conditions[1];
    complete.certified = tree.has_value();
    if (tree)
        complete.claims.emplace_back(ClaimValue::Record{{"kind", "equilibria"}, {"tree", std::move(*tree)}});
    else
        complete.why = "equilibria outside of the boxes are not excluded by plain enclosures";
    return s;
}

}  // namespace saltus::stability
