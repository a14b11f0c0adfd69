// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/certificate_grade.hpp"

#include <algorithm>

#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The text of an expression mentions a reaction, lambda(...), which the builder eliminates by formulas.
bool mentions_reaction(const model::Field& field) { return field.source.text.find("lambda") != std::string::npos; }

std::string control_obstacle(const model::ControlDescription& c) {
    if (c.saturation.given || !c.saturation_of.empty()) return "feedback with saturation is not certified";
    if (c.period.given) return "feedback that samples is not certified";
    if (c.velocity.word != "measured") return "feedback with estimated velocities is not certified";
    return "";
}

/// Lowers the rows whose claims are missing. Rows of other theorems than that of the claims are lowered together.
void lower_grade(Certificate& certificate, const CertifiedStatement& statement) {
    if (certificate.outcome == Outcome::inconclusive || certificate.grade != Grade::proved || statement.certified())
        return;
    const auto lower = [](Condition& row, const std::string& why) {
        row.verdict = Verdict::numerical;
        row.evidence += "; shown by intervals of this program alone: " + why;
    };
    bool lowered = false;
    std::string first;
    for (const CertifiedCondition& claim : statement.conditions) {
        if (claim.certified || claim.verdict == Verdict::assumed) continue;
        if (first.empty()) first = claim.why;
        for (Condition& row : certificate.conditions)
            if (row.id == claim.id && row.verdict == Verdict::proved) lower(row, claim.why), lowered = true;
    }
    // The claims may belong to another theorem, which has other rows.
    if (!lowered)
        for (Condition& row : certificate.conditions)
            if (row.verdict == Verdict::proved) lower(row, first);
    certificate.grade = Grade::numerical;
}

/// A claim about motions next to steady sliding has no level of the energy.
void withdraw_level(Certificate& certificate, const CertifiedStatement& statement) {
    if (statement.theorem != "one mode" || !statement.certified() || certificate.outcome != Outcome::attractive ||
        !certificate.has_rho || !certificate.P.empty())
        return;
    certificate.has_rho = false;
    certificate.rho_parts.clear();
    certificate.summary = "steady sliding is attractive for states next to it; a level set is not certified";
}

/// The claims are tried 1 % below the level of the table. If they need a lower level, this one is reported: where
/// friction takes what negative damping supplies.
void take_level(Certificate& certificate, const CertifiedStatement& statement) {
    constexpr double same_level = 0.98;
    if (statement.theorem != "attractivity" || !statement.certified() || certificate.outcome != Outcome::attractive ||
        !certificate.has_rho || !(statement.level < same_level * certificate.rho_verified))
        return;
    const std::string set = "{ V < ";
    const std::size_t from = certificate.summary.find(set), to = certificate.summary.find(" }", from);
    if (from != std::string::npos && to != std::string::npos)
        certificate.summary.replace(from, to - from, set + number(statement.level));
    certificate.rho = certificate.rho_verified = statement.level;
    certificate.rho_parts.emplace_back("certificate", statement.level);
}

}  // namespace

std::string certificate_obstacle(const model::Description& d) {
    if (d.points || !d.springs.empty() || !d.volumes.empty() || !d.obstacles.empty())
        return "mass points are not certified";
    if (!d.jumps.empty()) return "resets of the state are not certified";
    for (const model::ContactDescription& c : d.contacts)
        if (c.condition.given || c.mu_static.given || c.radius.given || !c.radii.empty())
            return "contact '" + c.name +
                   "' has a condition, a static friction coefficient, or a law that is not certified";
    for (const model::ConstraintDescription& c : d.constraints)
        if (c.gamma.given || c.mu_static.given)
            return "constraint '" + c.name + "' is one of velocities, or has a static friction coefficient";
    for (const model::SliderDescription& s : d.sliders)
        if (s.eT.given || s.mu_static.given || mentions_reaction(s.FN))
            return "slider '" + s.name +
                   "' has an impact law, a static friction coefficient, or a normal force that follows reactions";
    return d.control ? control_obstacle(*d.control) : "";
}

CertifiedStatement grade_by_claims(const model::Model& model, Certificate& certificate, const ClaimOptions& options) {
    CertifiedStatement statement = certificate_claims(model, certificate, options);
    lower_grade(certificate, statement);
    withdraw_level(certificate, statement);
    // With a function of the user the level of the claims may be that of the energy.
    if (options.V.empty()) take_level(certificate, statement);
    statement.grade = to_string(certificate.grade);
    return statement;
}

CertifiedStatement grade_by_claims(const model::Mechanics& model, Equilibria& equilibria, const ClaimOptions& options) {
    Completeness& completeness = equilibria.completeness;
    if (completeness.complete && completeness.region != completeness.searched) {
        // The search gives up far away, or next to sets without end. Its claims may hold there nevertheless.
        const std::vector<std::pair<double, double>> decided = completeness.region;
        completeness.region = completeness.searched;
        CertifiedStatement whole = completeness_claims(model, equilibria, options);
        if (whole.certified()) return whole;
        completeness.region = decided;
    }
    CertifiedStatement statement = completeness_claims(model, equilibria, options);
    if (!completeness.complete || statement.certified()) return statement;
    completeness.complete = false;
    const auto missing =
        std::find_if(statement.conditions.begin(), statement.conditions.end(),
                     [](const CertifiedCondition& c) { return !c.certified && c.verdict != Verdict::assumed; });
    completeness.why = "boxes of this program alone exclude other equilibria, and no certificate shows it" +
                       (missing == statement.conditions.end() ? "" : " (" + missing->why + ")");
    return statement;
}

}  // namespace saltus::stability
