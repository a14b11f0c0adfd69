// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_rows.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/regulation/detail/regulation_scatter.hpp"
#include "saltus/integrate/collision_at.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

constexpr double negligible_coordinate = 1e-15;  ///< smaller coordinates are printed as 0
constexpr std::size_t max_printed = 6;           ///< coordinates in a text
constexpr std::size_t max_excluded = 3;          ///< excluded solutions in a text
constexpr double same_equilibrium = 1e-6;        ///< distance of two solutions that are the same, in scales
constexpr int collisions_per_corner = 200;       ///< velocities that are tried
constexpr double created_energy = 1e-9;          ///< an impact creates energy if T grows by more than this part

/// The statement of a row.
const char* text_for(const std::string& id) {
    if (id == "law")
        return "the closed loop has frictionless contacts, no constraints, forces of a potential, and a positive "
               "semidefinite Kv";
    if (id == "1") return "the inertia is bounded: b_lower |u|^2 <= u.Mu <= b_upper |u|^2 with 0 < b_lower";
    if (id == "2") return "motions exist, are unique, and depend continuously on their start except at impacts";
    if (id == "LI") return "gradients of contacts that are closed together are linearly independent";
    if (id == "3") return "(27) has one solution q_R in the region with nonnegative contact forces";
    if (id == "4")
        return "the shaped potential is positive definite about q_R on the region: a r^2/2 <= U~ - U~(q_R) <= A r^2/2, "
               "or with other comparison functions";
    if (id == "R4") return "near q_R Assumptions 1, 3 and 4 hold: it is isolated, and the potential definite about it";
    if (id == "R8") return "no impact increases V: energy is kept (11a) or lost (46)";
    if (id == "R6") return "invariance: only rest keeps q'.E Kv E'q' = 0, with Rayleigh damping added";
    if (id == "5") return "with springs motions exist at all times, are unique, and depend continuously on their start";
    if (id == "6") return "with springs (48) has one solution q_R";
    if (id == "7")
        return "with the energy of the springs the potential is positive definite about their q_R: a r^2/2 <= ... <= "
               "A r^2/2, or with other comparison functions";
    if (id == "R11") return "near q_R Assumptions 1, 6 and 7 hold";
    if (id == "R13") return "invariance with springs: only rest keeps q'.E Kv E'q' = 0, with Rayleigh damping added";
    return "";
}

Row row(const char* id, Verdict verdict, std::string evidence, Scope scope = Scope::global) {
    return {{id, text_for(id), verdict, std::move(evidence), {}}, scope};
}

std::string position(const model::Mechanics& m, const std::vector<double>& q) {
    std::string text;
    for (std::size_t i = 0; i < q.size() && i < max_printed; ++i)
        text += (i > 0 ? ", " : "") + m.coordinates[i] + " = " +
                text_of(std::abs(q[i]) < negligible_coordinate ? 0.0 : q[i]);
    return q.size() > max_printed ? text + ", ..." : text;
}

double coefficient(const model::Mechanics& m, const std::vector<double>& q, model::Coefficient c, double otherwise) {
    if (c == model::no_coefficient) return otherwise;
    model::Workspace workspace(m);
    std::vector<double> values(static_cast<std::size_t>(m.layout().coefficients)), rest(q.size(), 0.0);
    m.system->coefficients(model::at(m, 0.0, q, rest), workspace.scratch(), values);
    return values[static_cast<std::size_t>(c)];
}

/// Whether two contacts can be closed at once.
bool close_together(const Domain& domain) {
    for (const std::vector<int>& s : contact_subsets(domain, ContactModel::rigid, 2))
        if (s.size() == 2) return true;
    return false;
}

std::vector<std::pair<std::string, double>> forces_of(const model::Mechanics& m, const Rest& rest) {
    std::vector<std::pair<std::string, double>> list;
    for (const model::Contact& c : m.contacts)
        if (rest.lambda(c.row) != 0.0) list.emplace_back("lambda(" + c.name + ")", rest.lambda(c.row));
    return list;
}

std::string forces_text(const model::Mechanics& m, const Rest& rest) {
    std::string text;
    for (const auto& [name, value] : forces_of(m, rest))
        text += (text.empty() ? "" : ", ") + name + " = " + text_of(value);
    return text;
}

/// The solutions that a negative force excludes, for example "; the root q = 6.78 is excluded by its sign:
/// lambda(upper) = -6.78".
std::string excluded(const model::Mechanics& m, const std::vector<EquilibriumSolution>& solutions) {
    std::string text;
    std::size_t count = 0;
    for (const EquilibriumSolution& s : solutions) {
        if (s.pushes || ++count > max_excluded) continue;
        text += "; the root " + position(m, s.rest.q) + " is excluded by its sign: " + forces_text(m, s.rest);
    }
    return text;
}

/// The other equilibrium nearest to q_R; null if there is none.
const EquilibriumSolution* another(const model::Mechanics& m, const Rest& rest,
                                   const std::vector<EquilibriumSolution>& solutions) {
    const std::vector<double> scale = scales(m, rest.q);
    const EquilibriumSolution* nearest = nullptr;
    double least = Interval::infinity;
    for (const EquilibriumSolution& s : solutions) {
        if (!s.pushes) continue;
        double distance = 0.0;
        for (std::size_t i = 0; i < rest.q.size(); ++i)
            distance = std::max(distance, std::abs(s.rest.q[i] - rest.q[i]) / scale[i]);
        if (distance > same_equilibrium && distance < least) {
            least = distance;
            nearest = &s;
        }
    }
    return nearest;
}

std::size_t equilibria(const std::vector<EquilibriumSolution>& solutions) {
    return static_cast<std::size_t>(
        std::count_if(solutions.begin(), solutions.end(), [](const EquilibriumSolution& s) { return s.pushes; }));
}

}  // namespace

std::string text_of(double x) { return rounded_text(x + 0.0, 10); }

Row law_row(const Domain& domain) {
    const model::Mechanics& m = domain.model;
    const model::ControlLoop& loop = *m.control;
    const bool under = static_cast<int>(loop.actuated.size()) < m.size();
    const bool shaped = !loop.shaping.empty();
    const std::string law = shaped ? "potential shaping (42)"
                            : loop.Kp.cwiseAbs().maxCoeff() > 0.0
                                ? std::string("PD on the outputs ") + (under ? "(44)" : "(42)")
                                : "derivative feedback (25)";
    Row r = row("law", Verdict::proved,
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
        return fail(
            "forces other than those of the potential act at rest: f, whose conservative part must be in U, or a Kp "
            "that is not symmetric");
    const Matrix Kv = 0.5 * (loop.Kv + loop.Kv.transpose());
    const Spectrum s = symmetric_spectrum(Kv);
    if (s.smallest < 0.0) {
        r = fail("Kv is not positive semidefinite");
        r.condition.witness.values = {{"eigenvalue of Kv", s.smallest}};
        return r;
    }
    if (s.smallest <= 0.0) r.condition.evidence += "; Kv is singular: R must damp the other velocities (Remark 5)";
    if (!domain.enclosure) r.condition.verdict = Verdict::numerical;
    return r;
}

Row inertia_row(const InertiaBounds& b) {
    Row r = row("1", b.proved ? Verdict::proved : Verdict::numerical,
                "b_lower = " + text_of(b.lower) + ", b_upper = " + text_of(b.upper) + ", " + b.how);
    if (b.holds) return r;
    r.condition.verdict = Verdict::fails;
    r.condition.evidence = b.how + " over the region: eigenvalues of M from " + text_of(b.lower) + " to " +
                           text_of(b.upper) + " up to the witness";
    r.condition.witness.q = b.worst;
    r.condition.witness.values = {{"smallest eigenvalue", b.lower}, {"largest eigenvalue", b.upper}};
    return r;
}

Row motion_row(const Domain& domain, const std::vector<double>& q) {
    const model::Mechanics& m = domain.model;
    std::string evidence =
        m.contacts.empty() ? "there are no impacts"
        : close_together(domain)
            ? "contacts can close together: the corner conditions (11) then have several solutions, of which Moreau's "
              "is taken"
            : "no two contacts close together: the corner conditions (11) have one solution that leaves the contact";
    for (const model::Contact& c : m.contacts) {
        const double e = coefficient(m, q, c.e_n, 0.0);
        if (c.impact == model::ImpactLaw::energy && m.size() > 1 && (c.c != model::no_coefficient || e < 1.0)) {
            evidence += "; impacts on " + c.name + " that are mostly tangential have no solution of (46)";
            break;
        }
    }
    return row("2", Verdict::assumed, std::move(evidence));
}

Row independence_row(const Independence& i) {
    Row r = row("LI", i.verdict, i.evidence, i.at_rest ? Scope::inconclusive : Scope::global);
    r.condition.witness = i.witness;
    return r;
}

Row equilibrium_row(const TheoremRows& theorem, const Domain& domain, const Rest& rest,
                    const std::vector<EquilibriumSolution>& solutions, const Uniqueness& unique) {
    const model::Mechanics& m = domain.model;
    const bool springs = theorem.contacts == ContactModel::springs;
    Row r = row(theorem.equilibrium, Verdict::numerical, "");
    if (!rest.found) {
        r.condition.verdict = Verdict::fails;
        r.scope = Scope::inconclusive;
        r.condition.evidence = rest.reason.empty() ? "none was found" : rest.reason;
        for (const EquilibriumSolution& s : solutions)
            if (!s.pushes) {
                r.condition.evidence =
                    "no solution with nonnegative forces was found: at the witness a contact would have to pull";
                r.condition.witness.q = s.rest.q;
                r.condition.witness.values = forces_of(m, s.rest);
                return r;
            }
        if (!rest.isolated && rest.q.size() == static_cast<std::size_t>(m.size())) r.condition.witness.q = rest.q;
        return r;
    }
    const std::string forces = forces_text(m, rest);
    r.condition.evidence =
        "q_R: " + position(m, rest.q) + (forces.empty() ? " without contact forces" : " with " + forces);
    if (const EquilibriumSolution* const other = another(m, rest, solutions); other != nullptr) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence += "; one of " + std::to_string(equilibria(solutions)) + " that were found";
        r.condition.witness.q = other->rest.q;
        r.condition.witness.values = forces_of(m, other->rest);
    } else if (unique.everywhere) {
        r.condition.verdict = Verdict::proved;
        r.condition.evidence += "; " + unique.how;
    } else {
        r.condition.evidence += "; the only one found by descents and Newton searches from many starts around q_R";
        if (unique.local()) r.condition.evidence += ", and " + unique.how;
    }
    if (!springs) r.condition.evidence += excluded(m, solutions);
    return r;
}

/// If q_R lies on rigid contacts then ∇Ũ = Σ λ w ≠ 0 there and Ũ grows linearly into the region: the lower bound of
/// (28) holds, an upper bound ½ A r² does not. Remark 4 admits the comparison function slope · r + ½ A r² instead.
PotentialRow potential_row(const TheoremRows& theorem, const Domain& domain, Statics& s, const Rest& rest,
                           const Uniqueness& unique, const PotentialSurvey& survey) {
    PotentialRow out;
    Row& r = out.row;
    PotentialBounds& bounds = out.bounds;
    r = row(theorem.potential, Verdict::numerical, "");
    const auto fails = [&](std::string why, const std::vector<double>& q, const char* name, double value) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = std::move(why);
        r.condition.witness.q = q;
        r.condition.witness.values = {{name, value}};
        return out;
    };
    if (!domain.potential) {
        r.condition.verdict = Verdict::not_examined;
        r.scope = Scope::inconclusive;
        r.condition.evidence = "not all forces have a potential";
        return out;
    }
    if (!rest.minimum())
        return fails("q_R is no minimum of the potential: its curvature is not positive", rest.q, "curvature",
                     rest.curvature);
    s.at(rest.q);
    double slope = 0.0;  // of the linear growth
    if (theorem.contacts == ContactModel::rigid)
        for (int i = s.constraints(); i < s.rows(); ++i) slope += rest.lambda(i) * s.gradients().row(i).norm();
    const bool linear = slope > 0.0;
    if (unique.convexity > 0.0) {
        bounds.lower = unique.convexity;
        const double largest =
            theorem.contacts == ContactModel::rigid ? eigenvalues(domain.hessian).upper : spring_curvature(domain);
        bounds.upper = linear ? Interval::infinity : largest;
        bounds.slope = slope;
        bounds.growth = largest;
        r.condition.verdict = Verdict::proved;
        r.condition.evidence = "a = " + text_of(bounds.lower) + ", the least curvature";
        if (linear)
            r.condition.evidence += "; no A: the reactions make U~ grow linearly from q_R, at most like " +
                                    text_of(slope) + " r + " + text_of(largest) +
                                    " r^2/2, which is the comparison function (" + theorem.remark + ")";
        else if (std::isinf(largest))
            r.condition.evidence += std::string("; no A, but a comparison function (") + theorem.remark + ")";
        else
            r.condition.evidence += ", A = " + text_of(largest);
        return out;
    }
    bounds.lower = survey.lower;
    bounds.upper = linear ? Interval::infinity : survey.upper;
    if (!linear) bounds.growth = survey.upper;
    if (!survey.below.empty())
        return fails("the potential at the witness is not above that at q_R", survey.below, "U~ - U~(q_R)",
                     survey.below_value);
    const std::string sampled = "sampled a = " + text_of(survey.lower) +
                                (linear ? ", growing linearly from q_R" : ", A = " + text_of(survey.upper));
    if (unique.everywhere && unique.bounded) {
        const bool all = std::isinf(unique.level);
        r.condition.verdict = all ? Verdict::proved : Verdict::numerical;
        r.condition.evidence = std::string("q_R is the only equilibrium, and level sets are bounded") +
                               (all ? "" : " up to " + text_of(unique.level)) + ": U~ is larger elsewhere; " + sampled;
        if (all || survey.far.empty()) return out;
    }
    if (!survey.far.empty())
        return fails(
            "positive, but it does not grow without bound: level sets above the level of the witness are unbounded",
            survey.far, "U~ - U~(q_R)", survey.far_value);
    r.condition.evidence = sampled;
    if (unique.local()) r.condition.evidence += "; definite up to the level " + text_of(unique.level) + ", proved";
    return out;
}

Row unbounded_row(const Domain& domain, Statics& s, const std::vector<double>& from) {
    Row r =
        row("4", Verdict::fails, "there is no q_R about which the potential could be definite", Scope::inconclusive);
    Rest start;
    start.q = from;
    start.lambda = Vector::Zero(s.rows());
    const PotentialSurvey survey = survey_potential(domain, s, start, {});
    if (survey.below.empty() || !(survey.below_value < 0.0)) return r;
    r.condition.evidence += "; it decreases by the given amount to the witness";
    r.condition.witness.q = survey.below;
    r.condition.witness.values = {{"U~ - U~(start)", survey.below_value}};
    return r;
}

Row local_row(const TheoremRows& theorem, const Rest& rest, const Uniqueness& unique, const PotentialSurvey& survey) {
    Row r = row(theorem.local, Verdict::numerical, "", Scope::local);
    if (!rest.minimum()) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence = "q_R is no minimum of the potential";
        r.condition.witness.q = rest.q;
        r.condition.witness.values = {{"curvature", rest.curvature}};
    } else if (unique.local()) {
        r.condition.verdict = Verdict::proved;
        if (!std::isinf(unique.level))
            r.condition.evidence =
                "on the part of { U~ - U~(q_R) < " + text_of(unique.level) + " } around q_R, which is bounded: ";
        else if (unique.everywhere)
            r.condition.evidence = "on every level set, all of which are bounded: ";
        else  // other components of the admissible set are not searched
            r.condition.evidence = "on the component of the region that contains q_R, which is bounded: ";
        r.condition.evidence += unique.how;
    } else {
        r.condition.evidence = "q_R is an isolated minimum" +
                               (std::isnan(rest.curvature) ? std::string() : ", curvature " + text_of(rest.curvature)) +
                               (std::isfinite(survey.pass)
                                    ? "; the next equilibrium that was found lies " + text_of(survey.pass) + " higher"
                                    : "");
    }
    return r;
}

namespace {

/// A collision that creates energy at one of the corners, among scattered velocities that approach all closed contacts.
struct CollisionSearch {
    long tried = 0;                     ///< collisions
    std::vector<double> q, u;           ///< if one creates energy: position and velocity before it
    std::optional<double> energy_gain;  ///< T⁺ − T⁻
};
CollisionSearch search_energy_gain(const model::Mechanics& m, const std::vector<std::vector<double>>& corners) {
    CollisionSearch out;
    for (const std::vector<double>& corner : corners) {
        const std::vector<char> closed = integrate::closed_elements(m, 0.0, corner);
        for (int k = 1; k <= collisions_per_corner; ++k) {
            std::vector<double> u(corner.size());
            for (std::size_t i = 0; i < u.size(); ++i) u[i] = scattered(k, i);
            const integrate::ModelCollision collision = integrate::collision_at(m, 0.0, corner, u, closed);
            if (collision.singular) break;
            const Vector before = Eigen::Map<const Vector>(u.data(), static_cast<Eigen::Index>(u.size()));
            if (!(impact::relative_velocities(collision.collision, before).maxCoeff() <= 0.0)) continue;
            const integrate::LawOutcome after = integrate::law_outcome(m, collision);
            if (!after.solved || !after.approaches) continue;
            ++out.tried;
            const Matrix& M = collision.collision.M;
            const double T = 0.5 * before.dot(M * before), change = 0.5 * after.u_plus.dot(M * after.u_plus) - T;
            if (!(change > created_energy * T)) continue;
            out.q = corner;
            out.u = u;
            out.energy_gain = change;
            return out;
        }
    }
    return out;
}

}  // namespace

/// With one law for all contacts no energy is created: Newton's law has the contact work
///     W = ½ Σ (1 − e_i) γ_i⁻ Λ_i <= 0 if all contacts approach (γ_i⁻ <= 0), 0 <= e_i <= 1,
/// and the energy law (46) does not increase T by definition. Different laws at once are tested by collisions.
Row impact_row(const Domain& domain, const std::vector<double>& q, const std::vector<std::vector<double>>& corners) {
    const model::Mechanics& m = domain.model;
    Row r = row("R8", Verdict::proved, "");
    const bool together = close_together(domain);
    bool one_law = true, velocity = false;
    std::vector<std::string> laws;
    for (const model::Contact& c : m.contacts) {
        const double e = coefficient(m, q, c.e_n, 0.0);
        velocity = velocity || c.c != model::no_coefficient;
        one_law = one_law && c.impact == m.contacts[0].impact && c.impact != model::ImpactLaw::poisson;
        laws.push_back(c.name + (c.c != model::no_coefficient ? " e = 1 - c v" : " e = " + text_of(e)));
    }
    r.condition.evidence = m.contacts.empty() ? "there are no contacts" : listing(laws, "and", "", 4);
    if (velocity) r.condition.evidence += "; 1 - c v is taken as 0 where it would be negative";
    if (!together || one_law) return r;
    r.condition.verdict = Verdict::numerical;
    const CollisionSearch search = search_energy_gain(m, corners);
    if (search.energy_gain) {
        r.condition.verdict = Verdict::fails;
        r.condition.evidence += "; the collision of the witness creates energy";
        r.condition.witness.q = search.q;
        r.condition.witness.u = search.u;
        r.condition.witness.values = {{"T after - T before", *search.energy_gain}};
        return r;
    }
    r.condition.evidence += "; no energy was created in " +
                            counted(static_cast<std::size_t>(search.tried), "collision") + " with several contacts";
    return r;
}

Row invariance_row(const TheoremRows& theorem, const Invariance& i, bool under) {
    const bool all = !under && (i.verdict == Verdict::proved || i.verdict == Verdict::numerical);
    Row r = row(theorem.invariance, i.verdict, (all ? "every coordinate is actuated: " : "") + i.evidence, i.scope);
    if (i.verdict == Verdict::not_examined) r.scope = Scope::inconclusive;
    r.condition.witness = i.witness;
    return r;
}

Row spring_motion_row(const Domain& domain, const InertiaBounds& inertia, const Row& potential) {
    if (!inertia.holds) {
        Row r = row("5", Verdict::assumed,
                    "over all positions, also beyond the contacts, the inertia is " + inertia.how, Scope::local);
        return r;
    }
    const bool proved = domain.enclosure && domain.enclosure->smooth && inertia.proved &&
                        potential.condition.verdict == Verdict::proved;
    return row("5", proved ? Verdict::proved : Verdict::assumed,
               proved ? "forces are Lipschitz, and V bounds the motions by Assumptions 1 and 7"
                      : "forces are Lipschitz where the model's functions are smooth");
}

Row skipped_row(const char* id, const std::string& why) {
    return row(id, Verdict::not_examined, why, Scope::inconclusive);
}

}  // namespace saltus::control
