// SPDX-License-Identifier: Apache-2.0
//
// The rows of a certificate with a function V of the user that is no energy of the system.
//
// Attractivity. Let B be a box of states around x_e = (q_e, 0), and ρ the least V − V(x_e) on its boundary.
//   1  class of the system                                           condition_1_kinetic_energy
//   2  V > V(x_e) in B at all states that are no equilibria
//   3  V does not grow along motions without impacts: V̇ <= 0 for all forces that the laws allow
//   4  V does not grow at impacts                                    (models with contacts)
//   5  no motion keeps V, except equilibria
//   6  the equilibria in B have V < V(x_e) + ρ
//   7  limit sets are positively invariant                           assumed, except for smooth equations; not needed
//   if
//                                                                    V̇ < 0
// By 2 to 4 a motion from { V < V(x_e) + ρ } stays in B, and V converges along it. By 5 and 7 its limit set consists of
// equilibria (LaSalle's principle).
//
// Instability, [Leine] Theorem 2 (with V_E <= V of docs/papers.md). A constant may be added to V, so that V > 0 on B.
//   2  next to the equilibrium set there are states with V > V_E, the largest V on the set
//   3  V does not decrease along motions without impacts
//   4  V does not decrease at impacts
//   5  statement 1: V̇ > 0 outside the set, or statement 3: no motion keeps V, except equilibria
//   6  the equilibrium set is isolated
// Rows S1, S2 and S3 say which of the three statements apply. Statement 2 (not attractive) needs rows 1 to 4 and 6.
//
// A function V = φ(T + U) is not examined by these rows but by the conditions of Theorem 1 or 2 (certify_by_energy).
#include "saltus/stability/certify/detail/functions/own_function.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/functions/function_proof.hpp"
#include "saltus/stability/certify/detail/functions/state_samples.hpp"
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"
#include "saltus/stability/certify/detail/instability.hpp"
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Samples are taken in boxes of these half widths, in units of the scales, until no witness is left: a condition that
/// fails far away may hold next to the equilibrium.
constexpr double sample_radii[] = {1.0, 0.1, 0.01};
/// The sign of φ' of V = φ(E) is proved by intervals of E, which are halved at most this often.
constexpr int max_energy_splits = 12;
/// If φ is not proved to increase for all E, then up to U(q_e) plus at most this level, which is halved until the proof
/// succeeds.
constexpr double largest_monotone_level = 0x1p40;
/// ρ of V = φ(E) belongs to this fraction of the level of E: the rounding errors of U(q_e) are smaller.
constexpr double kept_level = 1.0 - 1e-12;

const char* const text_positive = "V is larger than at the equilibrium at all states next to it that are no equilibria";
const char* const text_falls = "V does not grow along motions without impacts, whatever forces the laws allow";
const char* const text_grows = "V does not decrease along motions without impacts, whatever forces the laws allow";
const char* const text_impact_falls = "V does not grow at impacts";
const char* const text_impact_grows = "V does not decrease at impacts";
const char* const text_constant = "no motion keeps V constant, except equilibria";
const char* const text_level =
    "the equilibria lie in the level set: V on them is below its least value on the boundary";
const char* const text_rises = "next to the equilibrium set there are states with V > V_E, the largest V on it";
const char* const text_isolated = "the equilibrium set is isolated";

class OwnFunction {
public:
    OwnFunction(const model::Model& model, StateFunction& V, Theorem theorem, const CertifyOptions& options)
        : model_(model), V_(V), options_(options), falls_(theorem == Theorem::attractivity) {
        certificate_.theorem = theorem;
        certificate_.basis = std::string(falls_ ? "Lyapunov's method" : "Theorem 2") + " with V = " + options.V;
        certificate_.warnings = model.warnings;
    }

    Certificate certify() {
        FunctionProof f = prove_function(model_, V_, falls_ ? Course::falls : Course::grows, options_);
        if (!f.why.empty()) return not_examined(f.why);
        enclosure_ = std::move(f.enclosure);
        point_ = std::move(f.point);
        q_ = std::move(f.q);
        scale_ = std::move(f.scale);
        open_ = f.open;
        support_ = std::move(f.support);
        proof_ = std::move(f.proof);
        highest_ = f.highest;
        certificate_.q = q_;
        if (has_elements(model_)) certificate_.forces = forces_at(model_, point_);
        certificate_.reference = V_.value(q_, std::vector<double>(q_.size(), 0.0));
        // Samples decide what is not proved, and find witnesses.
        if (!proved_course()) sample();
        fill();
        conclude();
        return std::move(certificate_);
    }

private:
    std::vector<Condition>& rows() { return certificate_.conditions; }

    Certificate not_examined(const std::string& why) {
        rows().push_back({"0", "the system and an equilibrium can be examined", Verdict::not_examined, why, {}});
        certificate_.grade = Grade::not_examined;
        certificate_.summary = "not examined: " + why;
        return std::move(certificate_);
    }

    Box state() const {
        Box x = point_box(q_);
        x.resize(2 * q_.size(), Interval(0.0));
        return x;
    }
    bool proved_course() const { return proof_.radius > 0.0; }

    void sample() {
        StateSampleRequest request{q_, scale_, 0.0, falls_ ? Course::falls : Course::grows, options_.stop};
        for (const double radius : sample_radii) {
            request.radius = radius;
            samples_ = sample_states(model_, V_, request);
            sampled_ = true;
            if (!samples_.wrong_rate.given() && !samples_.wrong_impact.given() && !samples_.constant.given() &&
                !(falls_ && samples_.not_positive.given()))
                break;
        }
    }

    std::string sampled_text() const {
        return counted(static_cast<std::size_t>(samples_.states), "state") + " in a box of half width " +
               number(samples_.radius) + " (in units of the scales) around the equilibrium";
    }
    std::string motions_text() const {
        return counted(static_cast<std::size_t>(samples_.motions), "motion") + " of " + number(samples_.horizon) +
               " s from states in a box of half width " + number(samples_.radius) + ", with " +
               counted(static_cast<std::size_t>(samples_.impacts), "impact");
    }

    /// A row from the samples: fails at the witness, is numerical, or was not examined.
    Condition sampled_row(const char* id, const char* text, const Witness& witness, const std::string& bad,
                          const std::string& good) const {
        Condition c{id, text, Verdict::not_examined, "", {}};
        if (!samples_.failed.empty()) {
            c.evidence = "a motion could not be simulated: " + samples_.failed;
        } else if (witness.given()) {
            c.verdict = Verdict::fails;
            c.evidence = bad;
            c.witness = witness;
        } else if (samples_.motions == 0) {
            c.evidence = "no admissible state was found next to the equilibrium";
        } else {
            c.verdict = Verdict::numerical;
            c.evidence = good;
        }
        return c;
    }

    std::string box_text() const {
        if (std::isinf(proof_.radius)) return "in the whole space";
        std::string text;
        for (std::size_t k = 0; k < q_.size(); ++k)
            for (const bool velocity : {false, true}) {
                const Interval& x = proof_.box[velocity ? q_.size() + k : k];
                text += (text.empty() ? "in the box " : ", ") + model_.coordinates[k] + (velocity ? "'" : "") +
                        " in [" + number(x.lo) + ", " + number(x.hi) + "]";
            }
        return text;
    }

    void fill() {
        class_row();
        falls_ ? positive_row() : rises_row();
        course_row();
        if (!model_.contacts.empty() && proved_course())
            rows().push_back({"4", falls_ ? text_impact_falls : text_impact_grows, Verdict::proved, impact_text(), {}});
        else if (!model_.contacts.empty())
            rows().push_back(sampled_row("4", falls_ ? text_impact_falls : text_impact_grows, samples_.wrong_impact,
                                         "at the impact after the witness V jumps the wrong way",
                                         "at all impacts of " + motions_text()));
        constant_row();
        falls_ ? level_row() : isolation_row();
        if ((falls_ || has_elements(model_)) && !proof_.strict) {
            Condition invariance = condition_9_invariance();
            invariance.id = "7";
            rows().push_back(std::move(invariance));
        }
        if (!falls_) statement_rows();
    }

    void class_row() {
        const AdmissibleSet set(*enclosure_, enclosure_->potential(point_box(q_)), options_.stop);
        const StationaryBox none;
        Box domain;
        for (std::size_t k = 0; k < q_.size(); ++k) {
            if (proved_course())
                domain.push_back(proof_.box[k]);
            else
                domain.emplace_back(q_[k] - samples_.radius * scale_[k], q_[k] + samples_.radius * scale_[k]);
        }
        rows().push_back(condition_1_kinetic_energy({set, point_, none, domain, infinity, 0.0, options_.budget}));
        if (!model_.autonomous && rows().back().verdict == Verdict::proved) {
            rows().back().verdict = Verdict::not_examined;
            rows().back().evidence = "the forces depend on the time";
        }
    }

    void positive_row() {
        if (proof_.positive) {
            rows().push_back(
                {"2",
                 text_positive,
                 Verdict::proved,
                 support_.empty()
                     ? "V has its gradient 0 at the equilibrium and a positive definite second derivative " + box_text()
                     : lifted_text() +
                           " has its gradient 0 at the equilibrium and a positive definite second derivative " +
                           box_text(),
                 {}});
            return;
        }
        rows().push_back(sampled_row("2", text_positive, samples_.not_positive,
                                     "the witness is no equilibrium, and V is not larger there",
                                     "at " + sampled_text()));
    }

    void rises_row() {
        Condition c{"2", text_rises, Verdict::not_examined, "", {}};
        const bool proved = proved_course() && open_ && rises_somewhere(V_, state());
        if (proved) {
            c.verdict = Verdict::proved;
            c.evidence = "the equilibrium is a point, at which V has the gradient 0 and grows in some direction";
        } else if (proved_course()) {
            c.evidence = "no direction was found in which V grows from the equilibrium";
        } else {
            c = sampled_row("2", text_rises, {}, "", "at some of " + sampled_text());
            if (!samples_.rises && c.verdict == Verdict::numerical) {
                c.verdict = Verdict::not_examined;
                c.evidence = "V is not larger than V_E at any of " + sampled_text();
            }
        }
        rows().push_back(std::move(c));
    }

    /// "V - 4.905 gN('left') - 4.905 gN('right')": V less what the supporting contacts carry.
    std::string lifted_text() const {
        std::string text = "V";
        for (const Support::Load& load : support_.loads)
            text += " - " + number(expr::midpoint(load.force)) + " gN('" +
                    model_.contacts[ix(load.gap - enclosure_->constraints())].name + "')";
        return text;
    }

    /// The states on which the smooth part of the rate depends: "x, x' and y'".
    std::string losing_text() const {
        std::vector<std::string> names;
        const int n = V_.size();
        for (const int k : V_.losing_states())
            names.push_back(k < n ? model_.coordinates[ix(k)] : model_.coordinates[ix(k - n)] + "'");
        return listing(names);
    }

    std::string impact_text() const {
        if (V_.along_velocity())
            return "V is a monotone function of the kinetic energy, which no impact of the box increases (conditions 6 "
                   "and 7 of "
                   "Theorem 1)";
        return "no gap closes in the box, or V is convex along the impulses that the laws allow, and not larger after "
               "them "
               "than before";
    }
    /// What the forces of contacts, constraints, sliders and clutches do to V.
    std::string elements_text() const {
        return V_.along_velocity()
                   ? "V depends on velocities by the kinetic energy alone, so that friction takes it and no other "
                     "force of "
                     "contacts and constraints changes it"
                   : "the forces of contacts, constraints, sliders and clutches change V in the same direction";
    }

    void course_row() {
        const char* const text = falls_ ? text_falls : text_grows;
        if (proof_.dissipative) {
            const std::string damped = V_.losing_states().empty()
                                           ? "the smooth forces do not change V"
                                           : std::string("the second derivative of the smooth part of the rate by ") +
                                                 losing_text() + " is " + (falls_ ? "negative" : "positive") +
                                                 " definite";
            rows().push_back(
                {"3",
                 text,
                 Verdict::proved,
                 damped + ", and " + elements_text() + ", " + box_text() + " (" + boxes_text(proof_.boxes) + ")",
                 {}});
            return;
        }
        if (proved_course()) {
            rows().push_back({"3",
                              text,
                              Verdict::proved,
                              std::string("the second derivative of the rate of V is ") +
                                  (falls_ ? "negative" : "positive") + " definite" +
                                  (proof_.strict ? " " : " by the velocities ") + box_text() + " (" +
                                  boxes_text(proof_.boxes) + ")" + (has_elements(model_) ? "; " + elements_text() : ""),
                              {}});
            return;
        }
        rows().push_back(sampled_row(
            "3", text, samples_.wrong_rate,
            falls_ ? "along the motion from the witness V grows" : "along the motion from the witness V decreases",
            "along " + motions_text()));
    }

    void constant_row() {
        if (proof_.strict) {
            rows().push_back(
                {"5", text_constant, Verdict::proved, "the rate of V is not 0 at any other state of the box", {}});
        } else if (proof_.dissipative) {
            rows().push_back({"5",
                              text_constant,
                              Verdict::proved,
                              "damping, sliders and constraints together leave no velocity that keeps V",
                              {}});
        } else if (proof_.except_rest) {
            rows().push_back(
                {"5",
                 text_constant,
                 Verdict::proved,
                 "the rate of V is 0 for u = 0 only, and at rest outside the equilibrium the accelerations "
                 "are not 0",
                 {}});
        } else {
            rows().push_back(sampled_row("5", text_constant, samples_.constant,
                                         "the motion from the witness keeps V and does not come to rest",
                                         "V changed, or the motion came to rest, in " + motions_text()));
        }
    }

    void level_row() {
        Condition c{"6", text_level, Verdict::not_examined, "", {}};
        certificate_.has_rho = true;
        if (proved_course()) {
            certificate_.rho = certificate_.rho_verified = proof_.level;
            certificate_.rho_parts = {{"boundary of the box", proof_.level}};
            for (std::size_t k = 0; k < q_.size(); ++k)
                certificate_.domain.emplace_back(proof_.box[k].lo, proof_.box[k].hi);
            if (proof_.dissipative) {
                certificate_.values.emplace_back("V_max_on_E", highest_);
                c.evidence = "V exceeds its value at q_e by at most " + number(highest_) +
                             " at the equilibria of the box, and by at least " + number(proof_.level) +
                             " on the boundary";
                if (highest_ < proof_.level) c.verdict = Verdict::proved;
            } else if (proof_.level > 0.0) {
                c.verdict = Verdict::proved;
                c.evidence = "the equilibrium is the only one in the box; V exceeds its value there by " +
                             number(proof_.level) + " on the boundary";
                if (std::isinf(proof_.level)) c.evidence = "the equilibrium is the only one, and V grows without bound";
            } else {
                c.evidence = "no positive lower bound of V on the boundary of the box was found";
            }
        } else {
            certificate_.has_rho = false;
            c = sampled_row("6", text_level, {}, "",
                            "V exceeds its value at q_e by at most " + number(samples_.highest) +
                                " at the equilibria among the samples; a level of the boundary is not known");
            if (c.verdict == Verdict::numerical && samples_.highest > 0.0) c.verdict = Verdict::not_examined;
        }
        rows().push_back(std::move(c));
    }

    void isolation_row() {
        if (proved_course()) {
            rows().push_back({"6", text_isolated, Verdict::proved, "the box has no other equilibrium", {}});
            return;
        }
        rows().push_back({"6",
                          text_isolated,
                          Verdict::not_examined,
                          "isolation is examined only if the rate of V is proved to have one sign at all other "
                          "states",
                          {}});
    }

    const Condition& row(const char* id) const { return *certificate_.find(id); }
    static bool holds(const Condition& c) { return c.verdict == Verdict::proved || c.verdict == Verdict::numerical; }

    Verdict weakest(std::initializer_list<const char*> ids) const {
        Verdict verdict = Verdict::proved;
        for (const char* const id : ids) {
            const Condition* const c = certificate_.find(id);
            if (c == nullptr) continue;
            if (!holds(*c)) return Verdict::not_examined;
            if (c->verdict == Verdict::numerical) verdict = Verdict::numerical;
        }
        return verdict;
    }

    void statement_rows() {
        const Verdict without_growth = weakest({"1", "2", "3", "4", "6"});
        const Verdict all = weakest({"1", "2", "3", "4", "5", "6"});
        certificate_.further.push_back(
            {"S1",
             "statement 1 of Theorem 2: V grows at all states next to the set, so that it is unstable",
             proof_.strict ? all : Verdict::not_examined,
             proof_.strict ? "the rate of V is positive except at the equilibrium" : "the rate of V vanishes at rest",
             {}});
        certificate_.further.push_back(
            {"S2",
             "statement 2 of Theorem 2: V does not decrease, so that the set is not attractive",
             without_growth,
             without_growth == Verdict::not_examined ? "conditions 1 to 4 and 6 do not all hold" : "",
             {}});
        certificate_.further.push_back({"S3",
                                        "statement 3 of Theorem 2: no motion keeps V, so that the set is unstable",
                                        all,
                                        all == Verdict::not_examined ? "conditions 1 to 6 do not all hold" : "",
                                        {}});
    }

    void conclude() {
        certificate_.grade = grade_of(rows());
        certificate_.assumptions = assumptions_of(rows(), "condition");
        certificate_.values.emplace_back("boxes", static_cast<double>(proof_.boxes));
        if (sampled_) {
            certificate_.values.emplace_back("sampled states", samples_.states);
            certificate_.values.emplace_back("sampled motions", samples_.motions);
        }
        if (all_hold(rows())) {
            certificate_.outcome = falls_ ? Outcome::attractive : Outcome::unstable;
            certificate_.summary = falls_ ? attraction() : "the equilibrium is unstable: V grows next to it";
            return;
        }
        if (falls_ && weakest({"1", "2", "3", "4"}) != Verdict::not_examined) {
            certificate_.outcome = Outcome::stable;
            std::vector<Condition> needed;
            for (const char* const id : {"1", "2", "3", "4"})
                if (const Condition* c = certificate_.find(id)) needed.push_back(*c);
            certificate_.grade = grade_of(needed);
            certificate_.assumptions.clear();
            certificate_.summary = "the equilibrium is stable, V does not grow; whether it is attractive is not shown";
            return;
        }
        certificate_.summary = failure_summary(rows());
        if (!falls_ && certificate_.further[1].verdict != Verdict::not_examined)
            certificate_.summary += "; the equilibrium is not attractive (statement 2)";
    }

    std::string attraction() const {
        const std::string what = proof_.dissipative ? "the equilibrium set" : "the equilibrium";
        if (proved_course() && std::isinf(proof_.level)) return what + " is globally attractive";
        if (proved_course())
            return what + " is attractive; the states of the box with V < V_e + " + number(proof_.level) +
                   " belong to its region of attraction";
        return "the equilibrium set is attractive for states next to it";
    }

    const model::Model& model_;
    StateFunction& V_;
    const CertifyOptions& options_;
    const bool falls_;
    bool open_ = true;  // no contact is closed at q_e
    Support support_;
    double highest_ = infinity;  // upper bound of V − V(x_e) at the equilibria in the box, if dissipative
    std::unique_ptr<Enclosure> enclosure_;
    StationaryPoint point_;
    std::vector<double> q_, scale_;
    StateProof proof_;
    StateSamples samples_;
    bool sampled_ = false;
    Certificate certificate_;
};

/// { V < ρ } as the summary of a certificate of the energy names it.
std::string level_text(double rho) { return "{ V < " + number(rho) + " }"; }
/// The summary of a certificate of the energy, with the level c.rho of another V in the place of `old_rho`.
void replace_level(Certificate& c, double old_rho) {
    const std::string text = level_text(old_rho);
    if (const std::size_t at = c.summary.find(text); at != std::string::npos)
        c.summary.replace(at, text.size(), "{ V < V_e + " + number(c.rho) + " }");
}

/// The certificate of T + potential/factor in terms of V = factor (T + potential/factor).
void rescale(Certificate& c, const StateFunction& V, double factor, const std::string& text) {
    const double size = std::fabs(factor);
    c.basis += " with V = " + text;
    const double old_rho = c.rho;
    c.rho *= size;
    replace_level(c, old_rho);
    c.rho_verified *= size;
    for (auto& [name, level] : c.rho_parts) level *= size;
    for (auto& [name, value] : c.values)
        if (name.starts_with("V_")) value *= size;
    if (!c.q.empty()) c.reference = V.value(c.q, std::vector<double>(c.q.size(), 0.0));
    if (size != 1.0)
        c.warnings.push_back("V is " + number(factor) +
                             " times an energy; levels in the evidence of the rows are those of that energy, rho* is "
                             "one of V");
}

/// What is proved about φ in V = φ(E), E = T + U.
enum class Slope { increases, decreases, does_not_decrease };
/// Proves it for all E with E − U(q_e) in `energies`, by halving. q: the point q_e.
bool has_slope(const StateFunction& V, const Box& q, Slope slope, const Interval& energies, int depth = 0) {
    const Interval k = V.kappa_at(q, energies);
    const bool proved = slope == Slope::increases ? k.lo > 0.0 : slope == Slope::decreases ? k.hi < 0.0 : k.lo >= 0.0;
    if (k.defined && proved) return true;
    const Box side{energies};
    if (depth >= max_energy_splits || !can_split(side, 0)) return false;
    const auto [a, b] = split(side, 0, 0.0, 1.0);
    return has_slope(V, q, slope, a[0], depth + 1) && has_slope(V, q, slope, b[0], depth + 1);
}

/// The certificate of V = φ(T + U), from that of the energy. If φ increases between U_e and U_e + ρ, then the level
/// sets of V up to φ(U_e + ρ) are those of T + U up to U_e + ρ, and V falls exactly where the energy falls. φ must not
/// decrease above U_e + ρ, because states with a higher energy would have V < φ(U_e + ρ) otherwise. For instability φ
/// decreases at U_e, and −V is used. std::nullopt if this is not proved.
std::optional<Certificate> certify_by_energy(const model::Model& model, StateFunction& V,
                                             std::optional<Theorem> theorem, const CertifyOptions& options) {
    // The sign of φ' at the equilibrium decides which theorem fits. Its position is known only afterwards.
    if (!theorem) {
        std::optional<Certificate> c = certify_by_energy(model, V, Theorem::attractivity, options);
        return c ? c : certify_by_energy(model, V, Theorem::instability, options);
    }
    CertifyOptions inner = options;
    inner.V.clear();
    const bool attractivity = *theorem == Theorem::attractivity;
    Certificate c = attractivity ? certify_attractivity(model, inner) : certify_instability(model, inner);
    if (c.q.empty()) return std::nullopt;
    const Box q = point_box(c.q);
    const Slope slope = attractivity ? Slope::increases : Slope::decreases;
    const double old_rho = c.rho;
    double top = c.has_rho ? c.rho : 0.0;
    const auto increases = [&](double level) {
        return has_slope(V, q, slope, Interval(0.0, std::isinf(level) ? infinity : std::max(0.0, level)));
    };
    if (attractivity && !has_slope(V, q, Slope::does_not_decrease, Interval(0.0, infinity))) return std::nullopt;
    if (!increases(top)) {
        // A smaller level that contains the equilibrium set.
        const auto highest =
            std::find_if(c.values.begin(), c.values.end(), [](const auto& x) { return x.first == "V_max_on_E"; });
        const double least = highest == c.values.end() ? infinity : highest->second;
        top = std::min(top, largest_monotone_level);
        while (top > least && !increases(top)) top *= 0.5;
        if (!(top > least) || c.outcome != Outcome::attractive) return std::nullopt;
        c.rho = std::min(c.rho, top);
        c.rho_verified = std::min(c.rho_verified, top);
        c.rho_parts.emplace_back("increase of V", top);
        if (std::isinf(old_rho))
            c.summary =
                "the equilibrium set is attractive; " + level_text(infinity) + " belongs to its region of attraction";
    }
    std::erase_if(c.rho_parts, [&](const auto& part) { return part.second > top; });
    const Interval V_e = V.value_at(q, Interval(0.0));
    const auto level = [&](double energy) {
        if (std::isinf(energy) || !(energy > 0.0)) return energy;
        const Interval d = V.value_at(q, Interval(energy * kept_level)) - V_e;
        return attractivity ? d.lo : -d.hi;
    };
    c.basis += " with V = " + options.V;
    c.rho = level(c.rho);
    replace_level(c, old_rho);
    c.rho_verified = level(c.rho_verified);
    for (auto& [name, x] : c.rho_parts) x = level(x);
    for (auto& [name, x] : c.values)
        if (name.starts_with("V_")) x = level(x);
    c.reference = V.value(c.q, std::vector<double>(c.q.size(), 0.0));
    c.warnings.push_back(
        std::string("V ") + (attractivity ? "increases" : "decreases") +
        " with the energy T + U; levels in the evidence of the rows are those of T + U, rho* is one of V");
    return c;
}

}  // namespace

Certificate certify_with_function(const model::Model& model, std::optional<Theorem> theorem,
                                  const CertifyOptions& options) {
    const bool instability = theorem && *theorem == Theorem::instability;
    const model::Analysis analysis = instability ? model::Analysis::instability : model::Analysis::attractivity;
    model::refuse_elements(model, analysis);
    // V is an expression over the graph of the model, which a system of mass points does not have.
    if (model::has_feature(model, model::Feature::no_formulas))
        model::refuse_unsupported(model, analysis, {"--V", 0, 0});
    StateFunction V = StateFunction::read(model, options.V);
    if (const std::optional<EnergyForm>& energy = V.energy()) {
        const Theorem fits = energy->factor > 0.0 ? Theorem::attractivity : Theorem::instability;
        if (!theorem) theorem = fits;
        if (*theorem == fits) {
            // The graph of V contains that of the model, so that its expressions can be copied with the formulas.
            const model::Mechanics split = model::with_potential(model, [&](model::Formulas& f) {
                f.graph = V.formulas().graph;
                return energy->potential;
            });
            std::string why;
            const std::unique_ptr<Enclosure> e = Enclosure::of(split, why);
            if (e && e->forces_vanish_at_rest) {
                CertifyOptions inner = options;
                inner.V.clear();
                Certificate c = *theorem == Theorem::attractivity ? certify_attractivity(split, inner)
                                                                  : certify_instability(split, inner);
                rescale(c, V, energy->factor, options.V);
                return c;
            }
        }
    }
    if (!V.energy() && V.function_of_energy() && !sliding_directions(model))
        if (std::optional<Certificate> c = certify_by_energy(model, V, theorem, options)) return std::move(*c);
    return OwnFunction(model, V, theorem.value_or(Theorem::attractivity), options).certify();
}

}  // namespace saltus::stability
