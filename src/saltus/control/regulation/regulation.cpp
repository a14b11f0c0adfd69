// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/regulation.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/regulation/detail/regulation_rows.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"

namespace saltus::control {

using namespace saltus::proof;

const char* to_string(Scope scope) {
    switch (scope) {
        case Scope::global: return "global";
        case Scope::local: return "local";
        case Scope::inconclusive: return "inconclusive";
    }
    return "";
}

namespace {

Scope narrower(Scope a, Scope b) { return static_cast<Scope>(std::max(static_cast<int>(a), static_cast<int>(b))); }

std::vector<ElementForce> forces_of(const model::Mechanics& m, const Rest& rest) {
    std::vector<ElementForce> list;
    for (const model::Contact& c : m.contacts) list.push_back({c.name, rest.lambda(c.row), {}});
    return list;
}

/// The minimum nearest to a position among the solutions, for the case that the descent from there diverges.
std::optional<Rest> nearest_minimum(const std::vector<EquilibriumSolution>& solutions,
                                    const std::vector<double>& from) {
    std::optional<Rest> best;
    double least = Interval::infinity;
    for (const EquilibriumSolution& s : solutions) {
        if (!s.pushes || !s.rest.minimum()) continue;
        double distance = 0.0;
        for (std::size_t i = 0; i < from.size(); ++i) distance = std::max(distance, std::abs(s.rest.q[i] - from[i]));
        if (distance < least) {
            least = distance;
            best = s.rest;
        }
    }
    return best;
}

/// Rows about all positions of an unbounded region: the equilibria, and the growth of the potential. Samples do not
/// show that they hold, because a well may be narrow or far away.
bool sampled_over_all_positions(const Row& row) {
    const std::string& id = row.condition.id;
    return row.condition.verdict == Verdict::numerical && (id == "3" || id == "4" || id == "6" || id == "7");
}

/// The rows of one theorem. Rows of `always` are required in any case. Rows of `whole` are about the whole region; if
/// one of them fails, or is known from samples alone, then the row `local` about a neighbourhood of q_R may replace
/// them all.
struct Table {
    std::vector<Row> always, whole;
    std::optional<Row> local;

    bool whole_fails() const {
        return std::any_of(whole.begin(), whole.end(), [](const Row& r) { return r.fails(); });
    }
    /// Nothing follows for the whole region.
    bool whole_open() const {
        return whole_fails() || std::any_of(whole.begin(), whole.end(), sampled_over_all_positions);
    }

    /// The narrowest scope of the rows that the conclusion needs.
    Scope scope() const {
        Scope s = Scope::global;
        for (const Row& r : always) s = narrower(s, r.fails() ? Scope::inconclusive : r.scope);
        for (const Row& r : whole)
            s = narrower(s, r.fails() && r.scope != Scope::inconclusive ? Scope::global : r.scope);
        if (!whole_open()) return s;
        return local && !local->fails() ? narrower(s, Scope::local) : Scope::inconclusive;
    }

    /// The rows that the conclusion needs.
    std::vector<Condition> needed() const {
        std::vector<Condition> rows;
        for (const Row& r : always) rows.push_back(r.condition);
        if (whole_open() && local)
            rows.push_back(local->condition);
        else
            for (const Row& r : whole) rows.push_back(r.condition);
        return rows;
    }
};

/// Appends the rows to the certificate in the given order.
void append(Certificate& t, const Table& table, const std::vector<std::string>& order) {
    std::vector<const Row*> rows;
    for (const Row& r : table.always) rows.push_back(&r);
    for (const Row& r : table.whole) rows.push_back(&r);
    if (table.local) rows.push_back(&*table.local);
    for (const std::string& id : order)
        for (const Row* const r : rows)
            if (r->condition.id == id) t.conditions.push_back(r->condition);
}

// The order of the paper.
const std::vector<std::string> order5{"law", "1", "2", "LI", "3", "4", "R4", "R8", "R6"};
const std::vector<std::string> order6{"5", "6", "7", "R11", "R13"};

/// "row 3 fails", "rows 3 and 4 fail"; "" if none does.
std::string failing(const Table& table) {
    std::vector<std::string> ids;
    for (const Row& r : table.always)
        if (r.fails()) ids.push_back(r.condition.id);
    for (const Row& r : table.whole)
        if (r.fails()) ids.push_back(r.condition.id);
    if (table.local && table.local->fails()) ids.push_back(table.local->condition.id);
    if (ids.empty()) return "";
    return (ids.size() == 1 ? "row " : "rows ") + listing(ids) + (ids.size() == 1 ? " fails" : " fail");
}

/// "row 3 is known from samples alone"; "" if all rows about the whole region are proved.
std::string sampled(const Table& table) {
    std::vector<std::string> ids;
    for (const Row& r : table.whole)
        if (sampled_over_all_positions(r)) ids.push_back(r.condition.id);
    if (ids.empty()) return "";
    return (ids.size() == 1 ? "row " : "rows ") + listing(ids) + (ids.size() == 1 ? " is" : " are") +
           " known from samples alone";
}

/// The first required row that is not decided, as a sentence.
std::string open_rows(const Table& table) {
    for (const Row& r : table.always)
        if (!r.fails() && r.scope == Scope::inconclusive) return "row " + r.condition.id + " is not examined";
    return "";
}

/// The conclusion in words.
std::string sentence(const Table& table, Scope scope, const char* theorem, const char* remark) {
    switch (scope) {
        case Scope::global: return std::string("every admissible start ends at q_R (") + theorem + ")";
        case Scope::local: {
            std::string why = failing(table);
            if (why.empty()) why = sampled(table);
            return std::string("starts near q_R end there (") + theorem + " with " + remark + ")" +
                   (why.empty() ? "" : "; over the whole region " + why);
        }
        case Scope::inconclusive: break;
    }
    std::string why = failing(table);
    if (why.empty()) why = open_rows(table);
    return "nothing follows" + (why.empty() ? "" : ": " + why);
}

/// With e = 1 (or e -> 1 at small velocities) impacts never accumulate: between them λ̇ = 0, so that (29d) fails and
/// only the mean impulse rate converges (docs/papers.md, "(29d), (29e)"). Adds a warning for each such contact that
/// carries a force at q_R.
void warn_of_endless_impacts(Certificate& t, const model::Mechanics& m, const Rest& rest) {
    model::Workspace workspace(m);
    std::vector<double> values(static_cast<std::size_t>(m.layout().coefficients)), still(rest.q.size(), 0.0);
    m.system->coefficients(model::at(m, 0.0, rest.q, still), workspace.scratch(), values);
    for (const model::Contact& c : m.contacts) {
        const double e = c.e_n == model::no_coefficient ? 0.0 : values[static_cast<std::size_t>(c.e_n)];
        if ((c.c != model::no_coefficient || e >= 1.0) && rest.lambda(c.row) > 0.0)
            t.warnings.push_back("the impacts on '" + c.name +
                                 "' never accumulate: its force does not converge to the steady one as (29d) "
                                 "states, only the mean impulse rate does");
    }
}

/// ε and δ of Theorem 5, 1): starts with ‖q − q_R‖ < δ and ‖u‖ < δ stay within ε. V does not increase, and
///     ½ min(a, b) (r² + ‖u‖²) ≤ V ≤ slope · r + ½ growth r² + ½ B ‖u‖²,
/// so that δ is the root of slope · δ + ½ (growth + B) δ² = ½ min(a, b) ε². With s = slope and c = growth + B it is
/// (√(s² + c min(a, b) ε²) − s)/c, written without cancellation below.
void add_stability_margin(Certificate& t, const InertiaBounds& inertia, const PotentialBounds& bounds) {
    const double least = std::min(bounds.lower, inertia.lower), c = bounds.growth + inertia.upper, s = bounds.slope;
    if (!(least > 0.0) || !std::isfinite(c) || !(c > 0.0)) return;
    for (const double epsilon : {1.0, 0.1, 0.01}) {
        const double level = least * epsilon * epsilon;
        t.values.emplace_back("delta for epsilon " + number_text(epsilon), level / (std::sqrt(s * s + c * level) + s));
    }
}

/// Remark 2: the multipliers λ_i(0) are free, so that (q_R, 0, λ, γ) is a fixed point for every λ. γ_i = √g_i there.
void add_fixed_points(Certificate& t, const model::Mechanics& m, const Statics& statics) {
    for (const model::Contact& c : m.contacts)
        t.values.emplace_back("gamma " + c.name, std::sqrt(std::max(0.0, statics.positions()(c.row))));
}

/// Fewer coordinates are actuated than there are (p < n).
bool under_actuated(const model::Mechanics& m) { return static_cast<int>(m.control->actuated.size()) < m.size(); }

/// Examines Theorem 6 and adds its rows and results to the certificate.
void certify_springs(const Domain& domain, const Row& law, const std::vector<double>& from, long budget,
                     RegulationCertificate& out) {
    const model::Mechanics& m = domain.model;
    Certificate& t = out.table;
    out.no_springs = statics_refusal(m, ContactModel::springs);
    out.with_springs = out.no_springs.empty();
    if (!out.with_springs) {
        for (const char* const id : {"5", "6", "7", "R13"})
            t.conditions.push_back(skipped_row(id, out.no_springs).condition);
        return;
    }
    Statics statics(m, ContactModel::springs);
    out.spring_rest = find_rest(statics, from);
    const Rest& rest = out.spring_rest;
    out.spring_solutions = algebraic_solutions(domain, statics, ContactModel::springs, rest.found ? rest.q : from);
    const Uniqueness unique = spring_uniqueness(domain);
    Table table;
    table.whole.push_back(equilibrium_row(theorem6, domain, rest, out.spring_solutions, unique));
    table.always.push_back(law);
    if (!rest.found) {
        for (const char* const id : {"5", "7", "R13"}) table.always.push_back(skipped_row(id, "there is no q_R"));
    } else {
        const PotentialSurvey survey = survey_potential(domain, statics, rest, out.spring_solutions);
        PotentialRow potential = potential_row(theorem6, domain, statics, rest, unique, survey);
        const InertiaBounds inertia = inertia_bounds(domain, rest.q, ContactModel::springs, budget);
        table.always.push_back(spring_motion_row(domain, inertia, potential.row));
        table.whole.push_back(std::move(potential.row));
        table.always.push_back(invariance_row(
            theorem6, only_rest_is_undamped(domain, statics, rest, ContactModel::springs), under_actuated(m)));
        if (table.whole_open()) table.local = local_row(theorem6, rest, unique, survey);
        t.values.emplace_back("penalty_a_lower", potential.bounds.lower);
        t.values.emplace_back("penalty_a_upper", potential.bounds.upper);
        if (table.whole_open() && std::isfinite(survey.pass)) t.values.emplace_back("penalty_rho", survey.pass);
    }
    append(t, table, order6);
    out.springs = table.scope();
    out.spring_grade = grade_of(table.needed());
    out.spring_summary = sentence(table, out.springs, "Theorem 6", "Remark 11");
}

/// The certificate of a closed loop that the theorems do not treat: all rows but `law` are not examined.
void refuse(const Row& law, RegulationCertificate& out) {
    const std::string why = "the theorems do not treat this kind of closed loop";
    Certificate& t = out.table;
    t.conditions.push_back(law.condition);
    for (const char* const id : {"1", "2", "LI", "3", "4", "R8", "R6", "5", "6", "7", "R13"})
        t.conditions.push_back(skipped_row(id, why).condition);
    t.grade = Grade::not_examined;
    t.summary = "nothing follows: " + why;
    out.no_springs = why;
}

/// Sets ρ: all starts with V < ρ in the component of q_R converge. It is infinite for the global theorem. For the local
/// one it is the proved level, or numerically the potential at the next equilibrium; it requires that the other
/// assumptions hold over this level set.
void set_level(Certificate& t, Scope scope, const Uniqueness& unique, double pass, bool others_hold) {
    if (scope == Scope::global) {
        t.has_rho = true;
        t.rho = Interval::infinity;
        if (t.grade == Grade::proved) t.rho_verified = Interval::infinity;
    } else if (scope == Scope::local && others_hold && (unique.local() || std::isfinite(pass))) {
        t.has_rho = true;
        t.rho = unique.local() ? unique.level : pass;
        if (!std::isfinite(t.rho)) {
            t.has_rho = false;
            return;
        }
        if (unique.local()) {
            t.rho_verified = t.rho;
            for (const Interval& side : unique.window) t.domain.emplace_back(side.lo, side.hi);
        } else {
            t.rho_parts = {{"next equilibrium", pass}};
        }
    }
}

}  // namespace

bool regulates(const model::Mechanics& m) {
    return m.control && statics_refusal(m, ContactModel::rigid).empty() && m.constraints.empty();
}

RegulationCertificate certify_regulation(const model::Mechanics& m, const RegulationOptions& o) {
    model::refuse_unsupported(m, model::Analysis::regulation);
    RegulationCertificate out;
    Certificate& t = out.table;
    t.theorem = proof::Theorem::regulation;
    t.basis = under_actuated(m) ? "Theorem 5 with Remark 6" : "Theorem 5";
    const Domain domain(m);
    const Row law = law_row(domain);
    if (!statics_refusal(m, ContactModel::rigid).empty() || !m.constraints.empty()) {
        refuse(law, out);
        return out;
    }
    Statics statics(m, ContactModel::rigid);
    const std::vector<double> from = o.at.value_or(m.q0);
    Rest rest = find_rest(statics, from);
    out.solutions = algebraic_solutions(domain, statics, ContactModel::rigid, rest.found ? rest.q : from);
    if (!rest.found) rest = nearest_minimum(out.solutions, from).value_or(rest);
    const std::vector<double> around = rest.found ? rest.q : from;
    const InertiaBounds inertia = inertia_bounds(domain, around, ContactModel::rigid, o.budget);
    const Uniqueness unique = rest.found ? prove_unique(domain, rest, out.solutions, o.budget, o.stop) : Uniqueness{};
    Table table;
    const Independence independence = gradients_independent(domain, rest.found ? rest.q : std::vector<double>{},
                                                            out.solutions, scales(m, around), o.budget, o.stop);
    table.always = {law, motion_row(domain, around), impact_row(domain, around, independence.corners)};
    table.whole = {inertia_row(inertia), independence_row(independence),
                   equilibrium_row(theorem5, domain, rest, out.solutions, unique)};
    PotentialBounds bounds;
    double pass = Interval::infinity;
    bool only_rest_undamped = false;  // everywhere
    if (!rest.found) {
        table.whole.push_back(unbounded_row(domain, statics, from));
        table.always.push_back(skipped_row("R6", "there is no q_R"));
    } else {
        t.q = rest.q;
        t.forces = forces_of(m, rest);
        statics.at(rest.q);
        t.reference = statics.potential();
        const PotentialSurvey survey = survey_potential(domain, statics, rest, out.solutions);
        pass = survey.pass;
        PotentialRow potential = potential_row(theorem5, domain, statics, rest, unique, survey);
        bounds = potential.bounds;
        table.whole.push_back(std::move(potential.row));
        const Invariance invariance = only_rest_is_undamped(domain, statics, rest, ContactModel::rigid);
        only_rest_undamped = invariance.scope == Scope::global;
        table.always.push_back(invariance_row(theorem5, invariance, under_actuated(m)));
        if (table.whole_open()) table.local = local_row(theorem5, rest, unique, survey);
    }
    append(t, table, order5);
    out.rigid = table.scope();
    t.grade = grade_of(table.needed());
    t.assumptions = assumptions_of(table.needed(), "Assumption");
    t.outcome = out.rigid == Scope::inconclusive ? Outcome::inconclusive : Outcome::attractive;
    t.values = {{"b_lower", inertia.lower},
                {"b_upper", inertia.upper},
                {"a_lower", bounds.lower},
                {"a_upper", bounds.upper},
                {"actuated", static_cast<double>(m.control->actuated.size())}};
    if (rest.found) {
        if (out.rigid == Scope::global) add_stability_margin(t, inertia, bounds);
        statics.at(rest.q);
        add_fixed_points(t, m, statics);
    }
    set_level(t, out.rigid, unique, pass,
              only_rest_undamped && inertia.holds && independence.verdict != Verdict::fails);
    certify_springs(domain, law, around, o.budget, out);
    t.summary = (out.rigid == Scope::inconclusive ? "" : to_string(out.rigid) + std::string(": ")) +
                sentence(table, out.rigid, "Theorem 5", "Remark 4");
    if (out.rigid == Scope::local && !t.has_rho) t.summary += "; the size of this neighbourhood is not known";
    if (rest.found && out.rigid != Scope::inconclusive) warn_of_endless_impacts(t, m, rest);
    return out;
}

}  // namespace saltus::control
