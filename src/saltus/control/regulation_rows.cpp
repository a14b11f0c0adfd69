// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/base/text.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

std::string text_of(double x) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.10g", x + 0.0);
    return digits;
}

Row row(const char* id, std::string text, Verdict verdict, std::string evidence, Scope scope = Scope::global) {
    return {{id, std::move(text), verdict, std::move(evidence), {}}, scope};
}

std::string position(const model::Model& m, const std::vector<double>& q) {
    std::string text;
    for (std::size_t i = 0; i < q.size() && i < 6; ++i)
        text += (i > 0 ? ", " : "") + m.coordinates[i] + " = " + text_of(q[i]);
    return q.size() > 6 ? text + ", ..." : text;
}

double coefficient(const model::Model& m, const std::vector<double>& q, model::Coefficient c, double otherwise) {
    if (c == model::no_coefficient) return otherwise;
    model::Workspace workspace(m);
    std::vector<double> values(static_cast<std::size_t>(m.layout().coefficients)), rest(q.size(), 0.0);
    m.system->coefficients(model::at(m, 0.0, q, rest), workspace.scratch(), values);
    return values[static_cast<std::size_t>(c)];
}

bool close_together(const Domain& domain) {
    for (const std::vector<int>& s : contact_subsets(domain, ContactModel::rigid, 2))
        if (s.size() == 2) return true;
    return false;
}

/// The least 2(Ũ − Ũ_R)/r² and the largest, at scattered admissible points at all distances.
struct SampledBounds {
    double lower = Interval::infinity, upper = 0.0;
    std::vector<double> lowest;
};

SampledBounds sampled(const Domain& domain, Statics& s, const Rest& rest, double reach) {
    SampledBounds out;
    s.at(rest.q);
    const double U = s.potential();
    const std::vector<double> scale = scales(domain.model, rest.q);
    for (int k = 1; k <= 2000; ++k) {
        std::vector<double> q = rest.q;
        const double distance = reach * std::exp2(-static_cast<double>(k % 12));
        double r2 = 0.0;
        for (std::size_t i = 0; i < q.size(); ++i) {
            const double x = 0.5 + 0.6180339887498949 * k * (1.0 + 0.7548776662466927 * static_cast<double>(i));
            const double d = distance * scale[i] * (2.0 * (x - std::floor(x)) - 1.0);
            q[i] += d;
            r2 += d * d;
        }
        s.at(q);
        bool inside = true;
        for (int i = s.constraints(); i < s.rows(); ++i)
            inside = inside && (s.compliance()(i) > 0.0 || s.positions()(i) >= 0.0);
        if (!inside || !(r2 > 0.0)) continue;
        const double ratio = 2.0 * (s.potential() - U) / r2;
        out.upper = std::max(out.upper, ratio);
        if (ratio < out.lower) {
            out.lower = ratio;
            out.lowest = q;
        }
    }
    s.at(rest.q);
    return out;
}

std::size_t equilibria(const std::vector<EquilibriumSolution>& solutions) {
    return static_cast<std::size_t>(
        std::count_if(solutions.begin(), solutions.end(), [](const EquilibriumSolution& s) { return s.pushes; }));
}

/// "q = 6.78 is excluded: lambda(upper) = -6.78".
std::string excluded(const model::Model& m, const std::vector<EquilibriumSolution>& solutions) {
    std::string text;
    std::size_t count = 0;
    for (const EquilibriumSolution& s : solutions) {
        if (s.pushes || ++count > 3) continue;
        std::string signs;
        for (const model::Contact& c : m.contacts)
            if (s.rest.lambda(c.row) < 0.0)
                signs += (signs.empty() ? "" : ", ") + ("lambda(" + c.name + ") = ") + text_of(s.rest.lambda(c.row));
        text += "; the root " + position(m, s.rest.q) + " is excluded by its sign: " + signs;
    }
    return text;
}

}  // namespace

Row law_row(const Domain& domain) {
    const model::Model& m = domain.model;
    const model::ControlLoop& loop = *m.control;
    const bool under = static_cast<int>(loop.actuated.size()) < m.size();
    const bool shaped = !loop.shaping.empty();
    const std::string law = shaped ? "potential shaping (42)"
                            : loop.Kp.cwiseAbs().maxCoeff() > 0.0
                                ? std::string("PD on the outputs ") + (under ? "(44)" : "(42)")
                                : "derivative feedback (25)";
    Row r = row("law",
                "the closed loop has frictionless contacts, no constraints, forces of a potential, and a Kv that damps",
                Verdict::proved,
                law + " on " + std::to_string(loop.actuated.size()) + " of " + std::to_string(m.size()) +
                    " coordinates; the potential is that of the closed loop");
    const auto fail = [&](std::string why) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = std::move(why);
        return r;
    };
    if (const std::string why = statics_refusal(m, ContactModel::rigid); !why.empty()) return fail(why);
    if (!m.constraints.empty()) return fail("constraint '" + m.constraints[0].name + "': the theorem has none");
    if (!domain.potential)
        return fail("forces beside those of the potential act at rest (f, or a Kp that is not symmetric)");
    const Matrix Kv = 0.5 * (loop.Kv + loop.Kv.transpose());
    const Spectrum s = symmetric_spectrum(Kv);
    if (s.smallest < 0.0) {
        r = fail("Kv is not positive semidefinite");
        r.condition.witness.values = {{"eigenvalue of Kv", s.smallest}};
        return r;
    }
    if (s.smallest <= 0.0) r.condition.evidence += "; Kv is singular: R is to damp what it does not (Remark 5)";
    if (!domain.enclosure) r.condition.verdict = Verdict::holds;
    return r;
}

Row no_equilibrium_row(const Rest& rest, const std::string& id) {
    return row(id.c_str(),
               id == "6" ? "(48) has one solution q_R" : "(27) has one solution q_R with nonnegative forces",
               Verdict::fails, rest.reason.empty() ? "none was found" : rest.reason, Scope::inconclusive);
}

Row inertia_row(const InertiaBounds& b) {
    Row r = row("1", "the inertia is bounded: b_lower |u|^2 <= u.Mu <= b_upper |u|^2, 0 < b_lower",
                b.proved ? Verdict::proved : Verdict::holds,
                "b_lower = " + text_of(b.lower) + ", b_upper = " + text_of(b.upper) + ", " + b.how);
    if (!(b.lower > 0.0)) r.condition.verdict = Verdict::fails;
    if (!b.proved) r.scope = Scope::local;
    return r;
}

Row motion_row(const Domain& domain) {
    std::string evidence =
        close_together(domain)
            ? "contacts can close together: the corner conditions (11) then leave several velocities, of which "
              "Moreau's choice is taken"
            : "no two contacts close together: the corner conditions (11) have one outcome that leaves";
    return row("2", "motions exist, are unique, and depend continuously on their start but at impacts",
               Verdict::assumed, std::move(evidence));
}

Row independence_row(const Independence& i) {
    Row r = row("LI", "gradients of contacts that are closed together are independent", i.verdict, i.evidence);
    r.condition.witness = i.witness;
    return r;
}

Row equilibrium_row(const Domain& domain, const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                    const Uniqueness& unique) {
    const model::Model& m = domain.model;
    const std::size_t count = std::max<std::size_t>(equilibria(solutions), 1);
    Row r = row("3", "(27) has one solution q_R in the region with nonnegative contact forces", Verdict::holds, "");
    std::string forces;
    for (const model::Contact& c : m.contacts)
        if (rest.lambda(c.row) != 0.0)
            forces += (forces.empty() ? " with " : ", ") + ("lambda(" + c.name + ") = ") + text_of(rest.lambda(c.row));
    r.condition.evidence = "q_R: " + position(m, rest.q) + (forces.empty() ? " without contact forces" : forces);
    if (unique.proved && unique.global) {
        r.condition.verdict = Verdict::proved;
        r.condition.evidence += "; " + unique.how;
    } else if (count > 1) {
        r.condition.verdict = unique.proved ? Verdict::proved : Verdict::holds;
        r.scope = Scope::local;
        r.condition.evidence += "; not the only one of " + std::to_string(count) + ", but isolated (Remark 4)";
        for (const EquilibriumSolution& s : solutions)
            if (s.pushes && std::abs(s.rest.q[0] - rest.q[0]) + (s.rest.lambda - rest.lambda).norm() > 1e-7) {
                r.condition.evidence += "; another: " + position(m, s.rest.q);
                break;
            }
        if (unique.proved) r.condition.evidence += "; " + unique.how;
    } else if (unique.proved) {
        r.condition.verdict = Verdict::proved;
        r.scope = Scope::local;
        r.condition.evidence += "; " + unique.how + ", no other was found";
    } else {
        r.condition.evidence +=
            "; the only one found from many starts" + (unique.how.empty() ? std::string() : ", and " + unique.how);
        r.scope = unique.global || !domain.enclosure || unique.how.empty() ? Scope::global : Scope::local;
    }
    r.condition.evidence += excluded(m, solutions);
    return r;
}

Row potential_row(const Domain& domain, Statics& s, const Rest& rest, const Uniqueness& unique,
                  const std::vector<EquilibriumSolution>& solutions, PotentialBounds& bounds) {
    Row r = row("4",
                "the shaped potential is positive definite about q_R on the region: a r^2/2 <= U~ - U~(q_R) <= A "
                "r^2/2, or with other "
                "comparison functions (Remark 4)",
                Verdict::holds, "");
    s.at(rest.q);
    double slope = 0.0;  // of the linear growth into the region
    for (int i = s.constraints(); i < s.rows(); ++i) slope += rest.lambda(i) * s.gradients().row(i).norm();
    if (!rest.minimum()) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = "q_R is no minimum: curvature " + text_of(rest.curvature) + " along some direction";
        r.condition.witness.q = rest.q;
        r.condition.witness.values = {{"curvature", rest.curvature}};
        r.scope = Scope::inconclusive;
        return r;
    }
    if (unique.convexity > 0.0) {
        bounds.lower = unique.convexity;
        bounds.proved = true;
        const double largest = eigenvalues(domain.hessian).upper;
        bounds.upper = slope > 0.0 ? Interval::infinity : largest;
        r.condition.verdict = Verdict::proved;
        r.condition.evidence = "a = " + text_of(bounds.lower) + ", the least curvature";
        if (slope > 0.0)
            r.condition.evidence += "; no A: the reactions make U~ grow linearly from q_R, at most like " +
                                    text_of(slope) + " r + " + text_of(largest) +
                                    " r^2/2, which is the comparison function";
        else
            r.condition.evidence += ", A = " + text_of(largest);
        return r;
    }
    const bool many = equilibria(solutions) > 1;
    const SampledBounds sample = sampled(domain, s, rest, many ? 0.1 : 8.0);
    bounds.lower = sample.lower;
    bounds.upper = slope > 0.0 ? Interval::infinity : sample.upper;
    if (unique.proved) {
        r.condition.verdict = Verdict::proved;
        r.scope = unique.global ? Scope::global : Scope::local;
        r.condition.evidence = "q_R is the only equilibrium on bounded level sets" +
                               (unique.global ? std::string() : " up to U~ - U~(q_R) = " + text_of(unique.level)) +
                               ", so that U~ is larger elsewhere; sampled a = " + text_of(sample.lower);
        return r;
    }
    r.scope = many || !(unique.global || unique.how.empty()) ? Scope::local : Scope::global;
    r.condition.evidence = std::string(many ? "near q_R, " : "") + "sampled a = " + text_of(sample.lower) +
                           (slope > 0.0 ? ", growing linearly from q_R" : ", A = " + text_of(sample.upper));
    if (!(sample.lower > 0.0)) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = "U~ is below U~(q_R) at the witness";
        r.condition.witness.q = sample.lowest;
        r.scope = Scope::inconclusive;
    }
    return r;
}

Row impact_row(const Domain& domain, const Rest& rest) {
    const model::Model& m = domain.model;
    Row r = row("R8", "no impact raises V: energy is kept (11a) or lost (46)", Verdict::proved, "");
    const bool together = close_together(domain);
    bool one_law = true, velocity = false;
    std::vector<std::string> laws;
    for (const model::Contact& c : m.contacts) {
        const double e = coefficient(m, rest.q, c.e_n, 0.0);
        velocity = velocity || c.c != model::no_coefficient;
        one_law = one_law && c.impact == m.contacts[0].impact &&
                  (c.impact == model::ImpactLaw::energy || e == coefficient(m, rest.q, m.contacts[0].e_n, 0.0));
        laws.push_back(c.name + (c.c != model::no_coefficient ? " e = 1 - c v" : " e = " + text_of(e)));
    }
    r.condition.evidence = listing(laws, "and", "", 4);
    if (m.contacts.empty()) r.condition.evidence = "no contacts";
    if (velocity) r.condition.evidence += "; 1 - c v is taken as 0 where it would be negative";
    if (!together || one_law) return r;
    r.condition.verdict = Verdict::assumed;
    r.condition.evidence +=
        "; contacts with different restitution can close together, and may then create energy: every "
        "simulated impact is audited";
    return r;
}

Row invariance_row(const std::string& id, const Invariance& i, bool under, const char* system) {
    Row r = row(
        id.c_str(),
        under ? std::string("only rest keeps the actuated coordinates still: the invariance condition for ") + system
              : "every coordinate is actuated: V falls whenever something moves",
        i.verdict, i.evidence, i.scope);
    if (i.verdict == Verdict::assumed) r.scope = Scope::inconclusive;
    r.condition.witness = i.witness;
    return r;
}

Row spring_motion_row(const Domain& domain, const InertiaBounds& inertia, const Row& potential) {
    const bool proved = domain.enclosure && domain.enclosure->smooth && inertia.proved &&
                        potential.condition.verdict == Verdict::proved && potential.scope == Scope::global;
    return row("5", "with springs motions exist for ever, are unique, and depend continuously on their start",
               proved ? Verdict::proved : Verdict::assumed,
               proved ? "forces are Lipschitz, and V bounds the motions by Assumptions 1 and 7"
                      : "forces are Lipschitz where the model's functions are smooth");
}

Row spring_equilibrium_row(const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                           const PotentialBounds& bounds) {
    const std::size_t count = std::max<std::size_t>(equilibria(solutions), 1);
    std::string evidence = "q_R of the springs within " + text_of(rest.residual) + " of balance; ";
    if (bounds.proved)
        return row("6", "(48) has one solution q_R", Verdict::proved, evidence + "the potential is strongly convex");
    if (count > 1)
        return row("6", "(48) has one solution q_R", Verdict::holds,
                   evidence + std::to_string(count) + " were found, this one is isolated (Remark 11)", Scope::local);
    return row("6", "(48) has one solution q_R", Verdict::holds, evidence + "the only one found from many starts");
}

Row spring_potential_row(const Domain& domain, Statics& s, const Rest& rest,
                         const std::vector<EquilibriumSolution>& solutions, PotentialBounds& bounds) {
    Row r = row(
        "7", "with the springs' energy the potential is positive definite about their q_R: a r^2/2 <= ... <= A r^2/2",
        Verdict::holds, "");
    if (!rest.minimum()) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = "q_R is no minimum: curvature " + text_of(rest.curvature);
        r.condition.witness.q = rest.q;
        r.scope = Scope::inconclusive;
        return r;
    }
    if (domain.enclosure && domain.potential && domain.enclosure->smooth && domain.convex) {
        const IntervalMatrix H = domain.enclosure->hessian(domain.whole);
        const double curvature = H.finite() ? eigenvalues(H).lower : -1.0;
        if (curvature > 0.0) {
            bounds.lower = curvature;
            bounds.upper = Interval::infinity;
            bounds.proved = true;
            const Box still = point_box(std::vector<double>(static_cast<std::size_t>(domain.model.size()), 0.0));
            const IntervalVector coefficients = domain.enclosure->coefficients(domain.whole, still);
            if (domain.affine) {
                bounds.upper = 0.0;
                for (const std::vector<int>& subset :
                     contact_subsets(domain, ContactModel::springs, domain.model.contacts.size())) {
                    IntervalMatrix K = H;
                    for (const int i : subset) {
                        const model::Contact& c = domain.model.contacts[static_cast<std::size_t>(i)];
                        const Interval k = coefficients[static_cast<std::size_t>(c.penalty_k)];
                        for (int a = 0; a < K.rows(); ++a)
                            for (int b = 0; b < K.cols(); ++b)
                                K(a, b) = K(a, b) + k * domain.gradients(c.row, a) * domain.gradients(c.row, b);
                    }
                    bounds.upper = std::max(bounds.upper, eigenvalues(K).upper);
                }
            }
            r.condition.verdict = Verdict::proved;
            r.condition.evidence = "a = " + text_of(bounds.lower) +
                                   (std::isinf(bounds.upper) ? ", A by a comparison function (Remark 11)"
                                                             : ", A = " + text_of(bounds.upper));
            return r;
        }
    }
    const bool many = equilibria(solutions) > 1;
    const SampledBounds sample = sampled(domain, s, rest, many ? 0.1 : 8.0);
    bounds.lower = sample.lower;
    bounds.upper = sample.upper;
    if (many) r.scope = Scope::local;
    r.condition.evidence = std::string(many ? "near q_R, " : "") + "sampled a = " + text_of(sample.lower) +
                           ", A = " + text_of(sample.upper);
    if (!(sample.lower > 0.0)) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = "the potential is lower at the witness";
        r.condition.witness.q = sample.lowest;
        r.scope = Scope::inconclusive;
    }
    return r;
}

std::string summary(const RegulationCertificate& c, const Domain& domain, const Rest& rest) {
    std::string failed;
    for (const Condition& row : c.table.conditions)
        if (row.verdict == Verdict::fails) failed += (failed.empty() ? "" : ", ") + row.id;
    std::string text;
    switch (c.rigid) {
        case Scope::global: text = "global: every admissible start ends at q_R (Theorem 5)"; break;
        case Scope::local: text = "local: starts near q_R end there (Theorem 5 with Remark 4)"; break;
        case Scope::inconclusive:
            text =
                "nothing follows for rigid contacts" + (failed.empty() ? std::string() : ": row " + failed + " fails");
            break;
    }
    if (c.rigid != Scope::inconclusive) {
        std::string forces;
        for (const model::Contact& contact : domain.model.contacts)
            if (rest.lambda(contact.row) != 0.0)
                forces += (forces.empty() ? ", pressing with " : ", ") + text_of(rest.lambda(contact.row)) + " on " +
                          contact.name;
        text += forces;
    }
    if (!c.with_springs) return text;
    return text + "; with springs " + (c.springs == Scope::inconclusive ? "nothing follows" : to_string(c.springs)) +
           " (Theorem 6)";
}

void warn(RegulationCertificate& c, const Domain& domain, const Rest& rest) {
    const model::Model& m = domain.model;
    for (const model::Contact& contact : m.contacts) {
        const double e = coefficient(m, rest.q, contact.e_n, 0.0);
        const bool elastic = contact.c != model::no_coefficient || e >= 1.0;
        if (elastic && rest.lambda(contact.row) > 0.0)
            c.table.warnings.push_back(
                "the impacts on '" + contact.name +
                "' never come to an end: its force does not converge to the steady one as (29d) says, "
                "only the mean impulse rate does");
        if (contact.impact == model::ImpactLaw::energy && contact.c == model::no_coefficient && e < 1.0 && m.size() > 1)
            c.table.warnings.push_back("impacts on '" + contact.name +
                                       "' that are mostly tangential have no solution of (46) with e = " + text_of(e));
    }
}

}  // namespace saltus::control
