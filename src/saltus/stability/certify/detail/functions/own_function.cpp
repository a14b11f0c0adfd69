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
#include "saltus/stability/certify/detail/functions/own_function.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
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
/// Newton's method for h(q, 0) = 0.
constexpr int max_newton_steps = 50;
constexpr double newton_accuracy = 1e-13;
/// Coordinates of the equilibrium below this are taken to be 0.
constexpr double zero_position = 1e-12;

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

bool has_elements(const model::Model& m) {
    return !m.contacts.empty() || !m.constraints.empty() || !m.sliders.empty() || !m.clutches.empty();
}

class OwnFunction {
public:
    OwnFunction(const model::Model& model, const StateFunction& V, Theorem theorem, const CertifyOptions& options)
        : model_(model), V_(V), options_(options), falls_(theorem == Theorem::attractivity) {
        certificate_.theorem = theorem;
        certificate_.basis = std::string(falls_ ? "Lyapunov's method" : "Theorem 2") + " with V = " + options.V;
        certificate_.warnings = model.settings->warnings;
    }

    Certificate certify() {
        std::string why;
        enclosure_ = Enclosure::of(model_, why);
        if (!enclosure_) return not_examined(why);
        if (sliding_directions(model_))
            return not_examined("a slider's surface moves; without --V steady sliding on it is examined");
        if (!find_equilibrium(why)) return not_examined(why);
        const std::size_t n = ix(V_.size());
        certificate_.q = q_;
        certificate_.reference = V_.value(q_, std::vector<double>(n, 0.0));
        set_scales();
        if (model_.autonomous && V_.has_rate() && exact()) prove();
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

    /// With contacts and friction: the minimum or stationary point of U. Otherwise Newton's method for h(q, 0) = 0.
    bool find_equilibrium(std::string& why) {
        const std::vector<double>& from = options_.at.empty() ? model_.q0 : options_.at;
        if (has_elements(model_)) {
            point_ = falls_ ? find_minimum(*enclosure_, from) : find_stationary(*enclosure_, from);
            if (!point_.found) {
                why = point_.why;
                return false;
            }
            certificate_.forces = forces_at(model_, point_);
        } else if (!newton(from)) {
            why = "no equilibrium was found from " + position_text(model_, vector_of(from));
            return false;
        }
        for (double& x : point_.q)
            if (std::fabs(x) < zero_position) x = 0.0;
        q_ = list_of(point_.q);
        return true;
    }

    bool newton(const std::vector<double>& from) {
        RestingModel resting(model_);
        if (!resting.has_derivatives()) return false;
        Vector q = vector_of(from);
        for (int k = 0; k < max_newton_steps; ++k) {
            resting.move_to(q);
            const Statics s = resting.statics({});
            const Matrix K = resting.stiffness(s, Vector());
            const Vector step = least_squares(K, s.h);
            if (!step.allFinite()) return false;
            q -= step;
            if (step.norm() > newton_accuracy * (1.0 + q.norm())) continue;
            resting.move_to(q);
            const Statics there = resting.statics({});
            if (!(there.h.cwiseQuotient(there.scale).norm() <= 1e-9 * there.size)) return false;
            point_.found = true;
            point_.q = q;
            point_.scale.assign(ix(q.size()), 1.0);
            return true;
        }
        return false;
    }

    /// Scales of the states: positions as found by the search, velocities such that both change V alike.
    void set_scales() {
        const std::size_t n = q_.size();
        scale_ = point_.scale;
        scale_.resize(2 * n, 1.0);
        const IntervalMatrix H = V_.hessian(state());
        for (std::size_t i = 0; i < n; ++i) {
            const int a = static_cast<int>(i), b = static_cast<int>(n + i);
            const double position = std::fabs(expr::midpoint(H(a, a))), velocity = std::fabs(expr::midpoint(H(b, b)));
            const double ratio = velocity > 0.0 ? std::sqrt(position / velocity) : 0.0;
            scale_[n + i] = scale_[i] * (ratio > 0.0 && std::isfinite(ratio) ? ratio : 1.0);
        }
    }

    Box state() const {
        Box x = point_box(q_);
        x.resize(2 * q_.size(), Interval(0.0));
        return x;
    }

    /// x_e is exactly an equilibrium, and ∇V(x_e) is exactly 0. Otherwise the formula of Taylor (state_proofs.hpp)
    /// cannot be used.
    bool exact() const {
        const auto zero = [](const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; };
        const IntervalVector h = enclosure_->force(point_box(q_), Box(q_.size(), Interval(0.0)));
        const std::vector<Interval> gradient = V_.gradient(state());
        return std::all_of(h.begin(), h.end(), zero) && std::all_of(gradient.begin(), gradient.end(), zero);
    }

    void prove() {
        StateProofRequest request{state(), scale_,          falls_ ? Course::falls : Course::grows,
                                  falls_,  options_.budget, options_.stop};
        proof_ = prove_around(V_, *enclosure_, request);
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
        if (!model_.contacts.empty())
            rows().push_back(sampled_row("4", falls_ ? text_impact_falls : text_impact_grows, samples_.wrong_impact,
                                         "at the impact after the witness V jumps the wrong way",
                                         "at all impacts of " + motions_text()));
        constant_row();
        falls_ ? level_row() : isolation_row();
        if (falls_ && !proof_.strict) {
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
                 "V has its gradient 0 at the equilibrium and a positive definite second derivative " + box_text(),
                 {}});
            return;
        }
        rows().push_back(sampled_row("2", text_positive, samples_.not_positive,
                                     "the witness is no equilibrium, and V is not larger there",
                                     "at " + sampled_text()));
    }

    void rises_row() {
        Condition c{"2", text_rises, Verdict::not_examined, "", {}};
        const bool proved = proved_course() && rises_somewhere(V_, state());
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

    void course_row() {
        const char* const text = falls_ ? text_falls : text_grows;
        if (proved_course()) {
            rows().push_back({"3",
                              text,
                              Verdict::proved,
                              std::string("the second derivative of the rate of V is ") +
                                  (falls_ ? "negative" : "positive") + " definite" +
                                  (proof_.strict ? " " : " by the velocities ") + box_text() + " (" +
                                  boxes_text(proof_.boxes) + ")",
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
            if (proof_.level > 0.0) {
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
                          "isolation is examined only where the rate of V is bounded: models without contacts and "
                          "friction",
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
        if (proved_course() && std::isinf(proof_.level)) return "the equilibrium is globally attractive";
        if (proved_course())
            return "the equilibrium is attractive; the states of the box with V < V_e + " + number(proof_.level) +
                   " belong to its region of attraction";
        return "the equilibrium set is attractive for states next to it";
    }

    const model::Model& model_;
    const StateFunction& V_;
    const CertifyOptions& options_;
    const bool falls_;
    std::unique_ptr<Enclosure> enclosure_;
    StationaryPoint point_;
    std::vector<double> q_, scale_;
    StateProof proof_;
    StateSamples samples_;
    bool sampled_ = false;
    Certificate certificate_;
};

/// The certificate of T + potential/factor in terms of V = factor (T + potential/factor).
void rescale(Certificate& c, const StateFunction& V, double factor, const std::string& text) {
    const double size = std::fabs(factor);
    c.basis += " with V = " + text;
    c.rho *= size;
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

}  // namespace

Certificate certify_with_function(const model::Model& model, std::optional<Theorem> theorem,
                                  const CertifyOptions& options) {
    const bool instability = theorem && *theorem == Theorem::instability;
    model::refuse_elements(model, instability ? model::Analysis::instability : model::Analysis::attractivity);
    const StateFunction V = StateFunction::read(model, options.V);
    if (const std::optional<EnergyForm>& energy = V.energy()) {
        const Theorem fits = energy->factor > 0.0 ? Theorem::attractivity : Theorem::instability;
        if (!theorem) theorem = fits;
        if (*theorem == fits) {
            // The graph of V contains that of the model, so that its expressions can be copied with the formulas.
            const model::Model split = model::with_potential(model, [&](model::Formulas& f) {
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
    return OwnFunction(model, V, theorem.value_or(Theorem::attractivity), options).certify();
}

}  // namespace saltus::stability
