// SPDX-License-Identifier: Apache-2.0
//
// The order of the work: find the minimum q_e of U and prove its box; choose the gaps I_C; find the level set; cover
// the equilibrium set; fill the table; conclude. The conditions themselves are in condition_1_*.cpp to
// condition_9_*.cpp.
#include "saltus/stability/certify/attractivity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/known_levels.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/propositions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double inf = Interval::infinity;

/// The damping matrix has a negative eigenvalue if it is below −negative_damping_ratio (1 + largest eigenvalue).
constexpr double negative_damping_ratio = 1e-12;
/// Subsets of up to this number of closed gaps are tried as I_C.
constexpr std::size_t max_gaps_for_subsets = 4;
/// ℰ reaches the boundary of 𝒰 if its highest level is within this fraction of the cap.
constexpr double cap_margin = 1e-9;
/// ℰ is the point q_e alone if its highest level is at most this fraction of 1 + ρ*.
constexpr double point_level_ratio = 1e-9;

/// Covers of the equilibrium set. Resolutions are fractions of the domain; a finer one is tried if ℰ is not separated
/// from other sets or from ρ*.
constexpr double coarse_resolution = 1.0 / 8.0, fine_resolution = 1.0 / 32.0, finest_resolution = 1.0 / 128.0;
constexpr long max_unbounded_cover_boxes = 4000;
/// Raising the cap: it starts at `first_raise` times the old cap (or at 1), grows by `raise_factor` up to
/// `highest_cap`, and ends if the highest level of ℰ is below `settled_fraction` of the cap.
constexpr double raising_resolution = 1.0 / 16.0, first_raise = 4.0, raise_factor = 8.0, highest_cap = 1e12,
                 settled_fraction = 0.9;
constexpr long max_raising_boxes = 20'000;

class Attractivity {
public:
    Attractivity(const model::Model& model, const CertifyOptions& options) : model_(model), options_(options) {}

    Certificate certify() {
        certificate_.theorem = Theorem::attractivity;
        const bool contacts = !model_.contacts.empty();
        certificate_.basis = contacts ? "Theorem 1" : "Corollary 3";
        std::string why;
        const std::unique_ptr<Enclosure> enclosure = Enclosure::of(model_, why);
        if (!enclosure) return not_examined(why);
        const Enclosure& e = *enclosure;
        const StationaryPoint equilibrium = find_minimum(e, options_.at.empty() ? model_.q0 : options_.at);
        certificate_.warnings = model_.warnings;
        const StationaryBox box = enclose_equilibrium(e, equilibrium);
        const Interval U_e = e.potential(box.proved() ? box.q : point_box(list_of(equilibrium.q)));
        const AdmissibleSet set(e, U_e);
        if (equilibrium.found) {
            certificate_.q = position_of(equilibrium, box);
            certificate_.forces = forces_at(model_, equilibrium);
        }
        if (!equilibrium.found || !equilibrium.minimum) return without_minimum(set, equilibrium, box);

        auto [levels, dissipated_velocities] = choose_gaps(set, equilibrium, box);
        const bool negative_damping = compare_friction_with_damping(e, levels);
        certificate_.reference = expr::midpoint(U_e);
        const EquilibriumCover cover = cover_equilibrium_set(set, equilibrium, box, levels);
        combine(levels);
        if (contacts && e.linear_damping && uncoupled(e, levels.domain.box)) certificate_.basis = "Corollary 2";
        for (const Interval& x : levels.domain.box) certificate_.domain.emplace_back(x.lo, x.hi);

        const ConditionScope scope = scope_of(set, equilibrium, box, levels);
        std::vector<Condition>& rows = certificate_.conditions;
        rows.push_back(condition_1_kinetic_energy(scope));
        rows.push_back(condition_2_minimum(scope, levels));
        rows.push_back(condition_3_dissipation(scope));
        if (negative_damping) accept_negative_damping(levels, rows.back(), dissipated_velocities);
        Verdict closing = Verdict::proved;  // without contacts there is nothing to close
        if (contacts) {
            rows.push_back(condition_4_closing_gaps(scope, levels));
            closing = rows.back().verdict;
            rows.push_back(dissipated_velocities);
            rows.push_back(condition_6_restitution(scope));
            rows.push_back(condition_7_impacts(scope));
        } else {
            dissipated_velocities.id = "4";  // in Corollary 3
            dissipated_velocities.text = "only u = 0 has no dissipation";
            if (dissipated_velocities.verdict == Verdict::fails && rows.back().verdict != Verdict::fails)
                examine_lossless_modes(e, dissipated_velocities);
            rows.push_back(dissipated_velocities);
        }
        rows.push_back(condition_8_level_set(levels, cover, closing));
        rows.push_back(condition_9_invariance());
        report_levels(levels, cover, negative_damping);
        conclude(levels, cover, closing);
        classify_linear(e);
        return std::move(certificate_);
    }

private:
    ConditionScope scope_of(const AdmissibleSet& set, const StationaryPoint& equilibrium, const StationaryBox& box,
                            const LevelSet& levels) const {
        return {set,
                equilibrium,
                box,
                levels.domain.box,
                std::min(levels.rho_verified, levels.stationary.verified),
                levels.velocity.verified,
                options_.budget};
    }

    // --- what cannot be examined -----------------------------------------------------------------------------------

    Certificate not_examined(const std::string& why) {
        certificate_.conditions.push_back(
            {"0", "the functions of the model can be bounded over boxes", Verdict::fails, why, {}});
        certificate_.summary = "not examined: " + why;
        return std::move(certificate_);
    }

    /// There is no minimum q_e. The conditions that do not need one are decided; the others are not examined.
    Certificate without_minimum(const AdmissibleSet& set, const StationaryPoint& equilibrium,
                                const StationaryBox& box) {
        const ConditionScope scope{set, equilibrium, box, point_box(list_of(equilibrium.q)), inf, 0.0, options_.budget};
        std::vector<Condition>& rows = certificate_.conditions;
        rows.push_back(condition_1_kinetic_energy(scope));
        rows.push_back(failed_minimum(equilibrium));
        rows.push_back(condition_3_dissipation(scope));
        const auto not_decided = [&](const char* id, const char* text) {
            rows.push_back({id, text, Verdict::assumed, "not examined: there is no minimum of Q", {}});
        };
        if (!model_.contacts.empty()) {
            not_decided("4", condition_text::closing_gaps);
            not_decided("5", condition_text::dissipated_velocities);
            rows.push_back(condition_6_restitution(scope));
            not_decided("7", condition_text::impacts);
        } else {
            not_decided("4", "only u = 0 has no dissipation");
        }
        not_decided("8", condition_text::level_set);
        rows.push_back(condition_9_invariance());
        certificate_.summary = "no minimum of the potential energy: " + rows[1].evidence;
        classify_linear(set.enclosure());
        return std::move(certificate_);
    }

    /// Condition 2 at a stationary point that is not a minimum, or without a stationary point.
    static Condition failed_minimum(const StationaryPoint& equilibrium) {
        Condition c{"2", condition_text::minimum, Verdict::fails, "", {}};
        c.witness.q = list_of(equilibrium.q);
        if (!equilibrium.found) {
            c.evidence = equilibrium.why;
            return c;
        }
        c.witness.values.emplace_back("curvature", equilibrium.curvature);
        const Vector d = equilibrium.direction / equilibrium.direction.norm();
        c.evidence = equilibrium.curvature < -flat_curvature
                         ? "the equilibrium is no minimum: the energy falls along the witness' direction"
                         : "the energy is flat along the witness' direction: equilibria of the model without "
                           "friction are not isolated";
        c.witness.u = list_of(d);
        return c;
    }

    // --- the level set ---------------------------------------------------------------------------------------------

    /// The gaps I_C with their level set, and condition 5 for them.
    struct GapChoice {
        LevelSet levels;
        Condition dissipated_velocities;
    };

    /// I_C is the set of gaps that are closed at q_e. If conditions 4 or 5 fail for it, its subsets are tried, larger
    /// ones first. If all fail, the result is that of the full set.
    GapChoice choose_gaps(const AdmissibleSet& set, const StationaryPoint& equilibrium,
                          const StationaryBox& box) const {
        const PositionTests tests(set, equilibrium, box);
        const std::vector<int>& closed = equilibrium.closed;
        std::vector<std::vector<int>> choices{closed};
        if (closed.size() > 1 && closed.size() <= max_gaps_for_subsets) {
            std::vector<unsigned> masks;
            for (unsigned mask = 1; mask + 1 < (1U << closed.size()); ++mask) masks.push_back(mask);
            std::stable_sort(masks.begin(), masks.end(),
                             [](unsigned a, unsigned b) { return std::popcount(a) > std::popcount(b); });
            for (const unsigned mask : masks) choices.push_back(subset(closed, mask));
        }
        GapChoice best;
        for (std::size_t k = 0; k < choices.size(); ++k) {
            GapChoice choice;
            choice.levels = level_set(tests, equilibrium, box, choices[k], {options_.budget});
            choice.dissipated_velocities =
                condition_5_dissipated_velocities(scope_of(set, equilibrium, box, choice.levels), choices[k]);
            const bool good = choice.levels.rho > 0.0 && choice.dissipated_velocities.verdict != Verdict::fails;
            if (k == 0 || good) best = std::move(choice);
            if (good) break;
        }
        return best;
    }

    /// Damping with a negative eigenvalue supplies energy, but friction of sliders takes more below some kinetic
    /// energy. [Leine] 6.1, 6.2. True: it does; the part `damping` of the level set is set.
    bool compare_friction_with_damping(const Enclosure& e, LevelSet& levels) const {
        const Box& positions = levels.domain.box;
        const std::optional<LinearSystem> linear = linear_system(e);
        const std::optional<LinearSystem> sliding = linear ? linear : sliding_system(e, positions);
        if (!sliding) return false;
        for (const Interval& x : e.forces_at_rest(positions))
            if (x.lo != 0.0 || x.hi != 0.0) return false;
        // If damping takes energy then condition 3 holds as printed.
        const Matrix C = sliding->C.middle();
        const Spectrum s = symmetric_spectrum(0.5 * (C + C.transpose()));
        if (!(s.smallest < -negative_damping_ratio * (1.0 + std::fabs(s.largest)))) return false;
        const double level = friction_level(*sliding, options_.budget);
        if (!(level > 0.0)) return false;
        levels.damping.value = levels.damping.verified = level;
        return true;
    }

    /// Friction takes more energy than damping supplies: conditions 3 and 5 hold together below that kinetic energy.
    static void accept_negative_damping(const LevelSet& levels, Condition& dissipation,
                                        Condition& dissipated_velocities) {
        dissipation.verdict = dissipated_velocities.verdict = Verdict::proved;
        dissipation.witness = dissipated_velocities.witness = {};
        dissipation.text =
            "the other smooth forces and friction together take energy from every motion below some kinetic energy, "
            "and the former vanish for u = 0";
        dissipation.evidence =
            "damping supplies energy, but friction takes more for T < " + number(levels.damping.value);
        dissipated_velocities.evidence = dissipation.evidence;
    }

    /// For linear systems velocities without dissipation are harmless if no motion keeps to them. [Leine] 6.2
    void examine_lossless_modes(const Enclosure& e, Condition& dissipated_velocities) {
        const std::optional<LinearSystem> linear = linear_system(e);
        if (!linear) return;
        const LosslessModes modes = lossless_modes(*linear);
        if (modes.none) {
            dissipated_velocities.text += ", or no motion stays without dissipation";
            dissipated_velocities.verdict = modes.proved ? Verdict::proved : Verdict::holds;
            dissipated_velocities.witness = {};
            dissipated_velocities.evidence =
                "some velocities have neither damping nor friction, but no mode of the linear system does";
            certificate_.basis = "Corollary 3, linear systems";
        } else if (modes.lost.size() > 0) {
            dissipated_velocities.witness.u = list_of(modes.lost);
            dissipated_velocities.evidence = "the mode of the witness has neither damping nor friction";
        }
    }

    // --- the equilibrium set ---------------------------------------------------------------------------------------

    /// A cover of ℰ, for condition 8. Sets the part `other_equilibria` of the level set.
    EquilibriumCover cover_equilibrium_set(const AdmissibleSet& set, const StationaryPoint& equilibrium,
                                           const StationaryBox& box, LevelSet& levels) {
        EquilibriumCover cover;
        combine(levels);
        const double limit = levels.rho_verified, cap = levels.stationary.verified;
        CoverRequest request{levels.domain.box,    neighbourhood_of(equilibrium, box), cap, 1.0, options_.budget,
                             WantedLevels::highest};
        if (const std::optional<LinearSystem> linear = linear_system(set.enclosure())) {
            // { q : K(q − q_e) ∈ friction forces } is one convex set, and its largest energy is known exactly.
            const ExtremeEnergy top = largest_energy(*linear, EnergySign::positive);
            if (top.found) {
                cover.highest = top.value;
                cover.highest_box = point_box(list_of(equilibrium.q + top.q));
                return cover;
            }
        }
        bool searched_everywhere = true;  // where ρ* allows equilibria
        if (cap == inf) {
            request.budget = std::min(options_.budget, max_unbounded_cover_boxes);
            request.resolution = coarse_resolution;
            cover = cover_equilibria(set, equilibrium.scale, request);
            if (!cover.complete) {
                RaisedCover raised = raise_cap(set, equilibrium, request);
                cover = std::move(raised.cover);
                searched_everywhere = !raised.ends_below_cap;
            }
        } else {
            for (const double resolution : {coarse_resolution, fine_resolution, finest_resolution}) {
                request.resolution = resolution;
                cover = cover_equilibria(set, equilibrium.scale, request);
                if (!cover.complete || !(limit > 0.0) || cover.highest < std::min(limit, cover.lowest_other)) break;
            }
            // If ℰ reaches the boundary of 𝒰 then its height is found with a higher cap, for the report.
            if (cover.complete && limit > 0.0 && cover.highest >= cap * (1.0 - cap_margin)) {
                RaisedCover raised = raise_cap(set, equilibrium, request);
                if (raised.ends_below_cap) {
                    raised.cover.lowest_other = std::min(raised.cover.lowest_other, cover.lowest_other);
                    cover = std::move(raised.cover);
                }
            }
        }
        LevelPart& part = levels.other_equilibria;
        part.verified = cover.lowest_other;
        part.value = std::isfinite(cover.lowest_other) ? known_level(cover.lowest_other) : cover.lowest_other;
        part.proved = cover.complete && searched_everywhere;
        part.boxes = cover.boxes;
        if (!cover.lowest_other_box.empty()) part.at = vector_of(centre(cover.lowest_other_box));
        return cover;
    }

    /// Covers with higher and higher caps, until ℰ ends clearly below the cap.
    struct RaisedCover {
        bool ends_below_cap = false;
        EquilibriumCover cover;  // the last one
    };
    RaisedCover raise_cap(const AdmissibleSet& set, const StationaryPoint& equilibrium, CoverRequest request) const {
        RaisedCover raised;
        request.budget = std::min(options_.budget, max_raising_boxes);
        request.resolution = raising_resolution;
        for (double cap = std::isfinite(request.cap) ? first_raise * request.cap : 1.0; cap < highest_cap;
             cap *= raise_factor) {
            request.cap = cap;
            raised.cover = cover_equilibria(set, equilibrium.scale, request);
            if (!raised.cover.complete) return raised;
            raised.ends_below_cap = raised.cover.highest < settled_fraction * cap;
            if (raised.ends_below_cap) return raised;
        }
        return raised;
    }

    /// The exact level of an equilibrium set that a bound encloses, for reports.
    double known_level(double bound) {
        if (!std::isfinite(bound)) return bound;
        if (!known_) known_.emplace(model_, certificate_.reference);
        return known_->nearest(bound);
    }

    // --- the conclusion --------------------------------------------------------------------------------------------

    void report_levels(const LevelSet& levels, const EquilibriumCover& cover, bool negative_damping) {
        certificate_.has_rho = true;
        certificate_.rho = levels.rho;
        certificate_.rho_verified = levels.rho_verified;
        const auto part = [&](const char* name, const LevelPart& p) {
            certificate_.rho_parts.emplace_back(name, p.value);
        };
        if (!levels.I_C.empty()) {
            part("velocity", levels.velocity);
            part("angle", levels.closing);
        }
        part("U", levels.stationary);
        if (!model_.regions.empty()) part("region", levels.region);
        if (negative_damping) part("damping", levels.damping);
        if (std::isfinite(levels.other_equilibria.value)) part("equilibria", levels.other_equilibria);
        certificate_.values = {{"V_max_on_E", cover.highest > 0.0 ? known_level(cover.highest) : cover.highest},
                               {"boxes", static_cast<double>(levels.boxes + cover.boxes)}};
    }

    bool fails(const char* id) const {
        const Condition* c = certificate_.find(id);
        return c != nullptr && c->verdict == Verdict::fails;
    }

    /// `closing`: the verdict of condition 4; `assumed` means that it could not be decided.
    void conclude(const LevelSet& levels, const EquilibriumCover& cover, Verdict closing) {
        const std::vector<Condition>& rows = certificate_.conditions;
        const bool closing_decided = closing != Verdict::assumed;
        certificate_.grade = grade_of(rows);
        if (none_fails(rows) && closing_decided) {
            certificate_.outcome = Outcome::attractive;
            certificate_.summary = std::isinf(levels.rho)
                                       ? "the equilibrium set is globally attractive"
                                       : "the equilibrium set is attractive; { V < " + number(levels.rho) +
                                             " } belongs to its region of attraction";
            return;
        }
        // V is positive definite and does not grow: q_e is stable. If ℰ is the point q_e then ℰ is stable.
        const bool V_does_not_grow = !fails("1") && !fails("2") && !fails("3") && !fails("6") && !fails("7");
        const bool single_point =
            cover.complete && cover.bounded &&
            cover.highest <=
                point_level_ratio * (1.0 + (std::isfinite(levels.rho_verified) ? levels.rho_verified : 0.0));
        const bool only_attraction_missing =
            model_.contacts.empty() ? fails("4") : (fails("4") || fails("5") || !closing_decided);
        if (V_does_not_grow && single_point && only_attraction_missing) {
            certificate_.outcome = Outcome::stable;
            certificate_.summary = "the equilibrium is stable, V does not grow; whether it is attractive is not shown";
            return;
        }
        certificate_.grade = Grade::numerical;
        certificate_.summary = failure_summary(rows);
        if (certificate_.summary.empty()) certificate_.summary = "condition 4 is not shown";
    }

    void classify_linear(const Enclosure& e) {
        const std::optional<LinearSystem> linear = linear_system(e);
        if (!linear) return;
        certificate_.classification = to_string(classify(*linear, options_.budget).kind);
        for (const std::complex<double>& x : eigenvalues(*linear))
            certificate_.eigenvalues.emplace_back(x.real(), x.imag());
    }

    const model::Model& model_;
    const CertifyOptions& options_;
    std::optional<KnownLevels> known_;
    Certificate certificate_;
};

}  // namespace

Certificate certify_attractivity(const model::Model& model, const CertifyOptions& options) {
    return Attractivity(model, options).certify();
}

}  // namespace saltus::stability
