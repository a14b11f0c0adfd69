// SPDX-License-Identifier: Apache-2.0
//
// The order of the work: find the minimum q_e of U and prove its box; choose the gaps I_C; find the level set; cover
// the equilibrium set; fill the table; conclude. The conditions themselves are in condition_1_*.cpp to
// condition_9_*.cpp.
#include "saltus/stability/certify/attractivity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/known_levels.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/motions/lossless_motion.hpp"
#include "saltus/stability/certify/detail/propositions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Subsets of up to this number of closed gaps are tried as I_C.
constexpr std::size_t max_gaps_for_subsets = 4;
/// ℰ reaches the boundary of 𝒰 if its highest level is within this fraction of the cap.
constexpr double cap_margin = 1e-9;
/// If the equilibria up to ρ* cannot be covered, ρ* is lowered by this fraction.
constexpr double level_reduction = 1e-6;
/// ℰ is the point q_e alone if its highest level is at most this fraction of 1 + ρ*.
constexpr double point_level_ratio = 1e-9;

/// Directions along which the energy of a stationary point is examined: it must fall, or the slope must vanish up to
/// flat_slope_ratio of the largest force, at these distances.
constexpr double tried_distances[] = {0.1, 1e-2, 1e-3};
constexpr double flat_slope_ratio = 1e-12;
/// Covers of the equilibrium set. Resolutions are fractions of the domain; a finer one is tried if ℰ is not separated
/// from other sets or from ρ*.
constexpr double coarse_resolution = 1.0 / 8.0, fine_resolution = 1.0 / 32.0, finest_resolution = 1.0 / 128.0;
constexpr long max_unbounded_cover_boxes = 4000;
/// Raising the cap: it starts at `first_raise` times the old cap (or at 1), grows by `raise_factor` up to
/// `highest_cap`, and ends if the highest level of ℰ is below `settled_fraction` of the cap.
constexpr double raising_resolution = 1.0 / 16.0, first_raise = 4.0, raise_factor = 8.0, highest_cap = 1e6,
                 settled_fraction = 0.9;
constexpr long max_raising_boxes = 20'000;

class Attractivity {
public:
    Attractivity(const model::Mechanics& model, const CertifyOptions& options) : model_(model), options_(options) {}

    Certificate certify() {
        certificate_.theorem = Theorem::attractivity;
        certificate_.basis = model_.contacts.empty() ? "Corollary 3" : "Theorem 1";
        std::string why;
        const std::unique_ptr<Enclosure> enclosure = Enclosure::of(model_, why);
        if (!enclosure) return not_examined(why);
        const Enclosure& e = *enclosure;
        const StationaryPoint equilibrium = find_minimum(e, options_.at.empty() ? model_.q0 : options_.at);
        certificate_.warnings = model_.warnings;
        const StationaryBox box = enclose_equilibrium(e, equilibrium);
        const Interval U_e = e.potential(box.proved() ? box.q : point_box(list_of(equilibrium.q)));
        const AdmissibleSet set(e, U_e, options_.stop);
        if (equilibrium.found) {
            certificate_.q = position_of(equilibrium, box);
            certificate_.forces = forces_at(model_, equilibrium);
        }
        if (!equilibrium.found || !equilibrium.minimum) return without_minimum(set, equilibrium, box);
        certificate_.reference = expr::midpoint(U_e);
        fill_table(set, equilibrium, box);
        classify_linear(e);
        if (set.stopped()) certificate_.warnings.emplace_back("the certificate was stopped before it was complete");
        return std::move(certificate_);
    }

private:
    /// The rows of the theorem. Each condition is decided below the level that the conditions before it left; the least
    /// of all levels is ρ*.
    void fill_table(const AdmissibleSet& set, const StationaryPoint& equilibrium, const StationaryBox& box) {
        const Enclosure& e = set.enclosure();
        const bool contacts = !model_.contacts.empty();
        GapChoice choice = choose_gaps(set, equilibrium, box);
        LevelSet& levels = choice.levels;
        Condition& dissipated_velocities = choice.dissipated_velocities;
        const bool negative_damping = compare_friction_with_damping(e, levels);
        if (!contacts && dissipated_velocities.verdict != Verdict::proved)
            examine_lossless_modes(e, dissipated_velocities, levels);
        if (negative_damping) levels.losses = {};
        combine(levels);
        const auto decide = [&](LevelPart& part, Condition (*condition)(const ConditionScope&)) {
            Condition row = below_largest_level(scope_of(set, equilibrium, box, levels), part, condition);
            combine(levels);
            return row;
        };
        const Condition inertia = decide(levels.inertia, condition_1_kinetic_energy);
        exact_levels_ = inertia.verdict == Verdict::proved;
        Condition dissipation;
        if (negative_damping)
            accept_negative_damping(levels, dissipation, dissipated_velocities);
        else
            dissipation = decide(levels.dissipation, condition_3_dissipation);
        Condition impacts;
        if (contacts) impacts = decide(levels.impacts, condition_7_impacts);
        const EquilibriumCover cover = cover_equilibrium_set(set, equilibrium, box, levels);
        combine(levels);
        if (contacts && e.linear_damping && uncoupled(e, levels.domain.box)) certificate_.basis = "Corollary 2";
        for (const Interval& x : levels.domain.box) certificate_.domain.emplace_back(x.lo, x.hi);
        for (const int r : levels.I_C)
            certificate_.closing_gaps.push_back(model_.contacts[static_cast<std::size_t>(r - e.constraints())].name);

        const ConditionScope scope = scope_of(set, equilibrium, box, levels);
        std::vector<Condition>& rows = certificate_.conditions;
        rows = {inertia, condition_2_minimum(scope, levels), dissipation};
        if (contacts) {
            rows.push_back(condition_4_closing_gaps(scope, levels));
            rows.push_back(dissipated_velocities);
            rows.push_back(condition_6_restitution(scope));
            rows.push_back(impacts);
        } else {
            dissipated_velocities.id = "4";  // in Corollary 3
            if (dissipated_velocities.text == condition_text::dissipated_velocities)
                dissipated_velocities.text = condition_text::only_rest_is_lossless;
            rows.push_back(dissipated_velocities);
        }
        rows.push_back(condition_8_level_set(scope, levels, cover));
        rows.push_back(condition_9_invariance());
        report_levels(levels, cover, negative_damping);
        conclude(scope, levels, cover);
        add_propositions(scope);
    }

    /// Propositions 1 to 4, where they apply.
    void add_propositions(const ConditionScope& scope) {
        const Condition* dissipation = certificate_.find("3");
        for (Condition& row :
             proposition_rows(scope, dissipation != nullptr && dissipation->verdict == Verdict::proved))
            certificate_.further.push_back(std::move(row));
        if (std::optional<Condition> row = proposition_4_row(scope)) certificate_.further.push_back(std::move(*row));
    }

    ConditionScope scope_of(const AdmissibleSet& set, const StationaryPoint& equilibrium, const StationaryBox& box,
                            const LevelSet& levels) const {
        return {set,
                equilibrium,
                box,
                levels.domain.box,
                std::min(levels.rho_verified, levels.stationary.verified),
                std::min(levels.velocity.verified, levels.rho_verified),
                options_.budget};
    }

    // --- what cannot be examined -----------------------------------------------------------------------------------

    Certificate not_examined(const std::string& why) {
        certificate_.conditions.push_back(
            {"0", "the functions of the model can be bounded over boxes", Verdict::not_examined, why, {}});
        certificate_.grade = Grade::not_examined;
        certificate_.summary = "not examined: " + why;
        return std::move(certificate_);
    }

    /// There is no minimum q_e. The conditions that do not need one are decided; the others are not examined.
    Certificate without_minimum(const AdmissibleSet& set, const StationaryPoint& equilibrium,
                                const StationaryBox& box) {
        const ConditionScope scope{set, equilibrium,    box, point_box(list_of(equilibrium.q)), infinity,
                                   0.0, options_.budget};
        std::vector<Condition>& rows = certificate_.conditions;
        rows.push_back(condition_1_kinetic_energy(scope));
        rows.push_back(failed_minimum(set.enclosure(), equilibrium));
        rows.push_back(condition_3_dissipation(scope));
        const auto not_decided = [&](const char* id, const char* text) {
            rows.push_back({id, text, Verdict::not_examined, "there is no minimum of Q", {}});
        };
        if (!model_.contacts.empty()) {
            not_decided("4", condition_text::closing_gaps);
            not_decided("5", condition_text::dissipated_velocities);
            rows.push_back(condition_6_restitution(scope));
            not_decided("7", condition_text::impacts);
        } else {
            not_decided("4", condition_text::only_rest_is_lossless);
        }
        not_decided("8", condition_text::level_set);
        rows.push_back(condition_9_invariance());
        certificate_.grade = grade_of(rows);
        certificate_.summary = "no minimum of the potential energy: " + rows[1].evidence;
        classify_linear(set.enclosure());
        return std::move(certificate_);
    }

    /// Condition 2 at a stationary point that is not a minimum, or without a stationary point. It fails if the energy
    /// is proved to fall along the witness' direction, or is flat along it at all tried distances. A vanishing
    /// curvature alone decides nothing: x⁴ has a minimum.
    static Condition failed_minimum(const Enclosure& e, const StationaryPoint& equilibrium) {
        Condition c{"2", condition_text::minimum, Verdict::fails, "", {}};
        c.witness.q = list_of(equilibrium.q);
        if (!equilibrium.found) {
            c.evidence = equilibrium.why;
            if (!equilibrium.escapes) {
                c.verdict = Verdict::not_examined;
                c.witness = {};
            }
            return c;
        }
        c.witness.values.emplace_back("curvature", equilibrium.curvature);
        const Vector d = equilibrium.direction / equilibrium.direction.norm();
        c.witness.u = list_of(d);
        if (const std::optional<Vector> lower = lower_position(e, equilibrium)) {
            const Vector way = *lower - equilibrium.q;
            c.evidence = "the equilibrium is no minimum: the energy falls along the witness' direction";
            c.witness.u = list_of(way / way.norm());
        } else if (std::fabs(equilibrium.curvature) <= flat_curvature && flat_along(e, equilibrium, d)) {
            c.evidence =
                "the energy is flat along the witness' direction: equilibria of the model without friction are not "
                "isolated";
        } else {
            c.verdict = Verdict::not_examined;
            c.evidence =
                "no positive curvature of the energy was found there, and no lower position near it either; whether "
                "it has a minimum there is not decided";
            c.witness = {};
        }
        return c;
    }

    /// The slope of the energy along d vanishes at all tried distances, on both sides.
    static bool flat_along(const Enclosure& e, const StationaryPoint& equilibrium, const Vector& d) {
        double largest = 1.0;
        for (const Interval& x : e.gradient(point_box(list_of(equilibrium.q))))
            largest = std::max(largest, std::fabs(expr::midpoint(x)));
        for (const double distance : tried_distances)
            for (const double sign : {1.0, -1.0}) {
                const IntervalVector g = e.gradient(point_box(list_of(equilibrium.q + sign * distance * d)));
                double slope = 0.0;
                for (std::size_t k = 0; k < g.size(); ++k) slope += expr::midpoint(g[k]) * d(static_cast<Index>(k));
                if (!(std::fabs(slope) <= flat_slope_ratio * largest)) return false;
            }
        return true;
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
        if (!closed.empty()) choices.emplace_back();  // enough if every velocity is damped
        GapChoice best;
        for (std::size_t k = 0; k < choices.size(); ++k) {
            GapChoice choice;
            choice.levels = level_set(tests, equilibrium, box, choices[k], {options_.budget});
            choice.dissipated_velocities = below_largest_level(
                scope_of(set, equilibrium, box, choice.levels), choice.levels.losses,
                [&](const ConditionScope& s) { return condition_5_dissipated_velocities(s, choices[k]); });
            const bool good = choice.levels.rho > 0.0 && choice.dissipated_velocities.verdict == Verdict::proved;
            if (k == 0 || good) best = std::move(choice);
            if (good) break;
        }
        return best;
    }

    /// Damping with a negative eigenvalue supplies energy, but friction of sliders takes more below some kinetic
    /// energy. [Leine] 6.1, 6.2. True: it does; the part `damping` of the level set is set.
    bool compare_friction_with_damping(const Enclosure& e, LevelSet& levels) const {
        if (!model_.autonomous || !model_.scleronomic) return false;
        const Box& positions = levels.domain.box;
        const std::optional<LinearSystem> linear = linear_system(e);
        const std::optional<LinearSystem> sliding = linear ? linear : sliding_system(e, positions);
        if (!sliding) return false;
        for (const Interval& x : e.forces_at_rest(positions))
            if (x.lo != 0.0 || x.hi != 0.0) return false;
        // If damping takes energy at q_e then condition 3 holds as printed, at least below some level.
        const IntervalMatrix S = symmetric_part(e.damping(point_box(certificate_.q)));
        if (!(quadratic_form(S, list_of(symmetric_spectrum(S.middle()).smallest_direction)).hi < 0.0)) return false;
        const double level = friction_level(*sliding, options_.budget);
        if (!(level > 0.0)) return false;
        levels.damping.value = levels.damping.verified = level;
        return true;
    }

    /// Friction takes more energy than damping supplies: conditions 3 and 5 hold together below that kinetic energy.
    static void accept_negative_damping(const LevelSet& levels, Condition& dissipation,
                                        Condition& dissipated_velocities) {
        dissipation.id = "3";
        dissipation.verdict = dissipated_velocities.verdict = Verdict::proved;
        dissipated_velocities.witness = {};
        dissipation.text =
            "the other smooth forces and friction together take energy from every motion below some kinetic energy, "
            "and the former vanish for u = 0";
        dissipation.evidence =
            "damping supplies energy, but friction takes more for T < " + number(levels.damping.value);
        dissipated_velocities.evidence = dissipation.evidence;
    }

    /// For linear systems velocities without dissipation are harmless if no motion keeps to them. [Leine] 6.2
    void examine_lossless_modes(const Enclosure& e, Condition& dissipated_velocities, LevelSet& levels) {
        const std::optional<LinearSystem> linear = linear_system(e);
        if (!linear) return;
        const LosslessModes modes = lossless_modes(*linear);
        if (modes.none && modes.proved) {
            dissipated_velocities.text =
                std::string(condition_text::only_rest_is_lossless) + ", or no motion stays without dissipation";
            dissipated_velocities.verdict = Verdict::proved;
            dissipated_velocities.witness = {};
            dissipated_velocities.evidence =
                "some velocities have neither damping nor friction, but no mode of the linear system does";
            certificate_.basis = "Corollary 3, linear systems";
            levels.losses = {};
        } else if (modes.lost.size() > 0 && dissipated_velocities.verdict == Verdict::fails) {
            dissipated_velocities.witness.u = list_of(modes.lost);
            dissipated_velocities.evidence = "the mode of the witness has neither damping nor friction";
        }
    }

    // --- the equilibrium set ---------------------------------------------------------------------------------------

    /// A cover of ℰ, for condition 8. Sets the part `other_equilibria` of the level set.
    EquilibriumCover cover_equilibrium_set(const AdmissibleSet& set, const StationaryPoint& equilibrium,
                                           const StationaryBox& box, LevelSet& levels) {
        EquilibriumCover cover;
        const double limit = levels.rho_verified, cap = levels.stationary.verified;
        if (!(cap > 0.0)) return cover;
        CoverRequest request{levels.domain.box,    neighbourhood_of(equilibrium, box), cap, 1.0, options_.budget,
                             WantedLevels::highest};
        if (const std::optional<LinearSystem> linear = linear_system(set.enclosure())) {
            // { q : K(q − q_e) ∈ friction forces } is one convex set, whose largest energy has an exact bound.
            const ExtremeEnergy top = largest_energy(*linear, EnergySign::positive);
            if (top.found && top.bound < limit) {
                cover.highest = top.value;
                cover.highest_box = point_box(list_of(equilibrium.q + top.q));
                return cover;
            }
        }
        if (limit == infinity && has_convex_statics(set.enclosure())) {
            cover.convex = true;
            cover.bounded = false;
            return cover;
        }
        double searched = infinity;  // equilibria above this level are not known
        if (cap == infinity) {
            request.budget = std::min(options_.budget, max_unbounded_cover_boxes);
            request.resolution = coarse_resolution;
            cover = cover_equilibria(set, equilibrium.scale, request);
            if (cover.covers && (!cover.complete || !cover.bounded)) {
                RaisedCover raised = raise_cap(set, equilibrium, request);
                searched = raised.cap;
                cover = std::move(raised.cover);
            }
        } else {
            cover = finer_cover(set, equilibrium, request, limit);
            // If ℰ reaches the boundary of 𝒰 then its height is found with a higher cap, for the report.
            if (cover.complete && limit > 0.0 && cover.highest >= cap * (1.0 - cap_margin)) {
                RaisedCover raised = raise_cap(set, equilibrium, request);
                if (raised.ends_below_cap) {
                    raised.cover.lowest_other = std::min(raised.cover.lowest_other, cover.lowest_other);
                    cover = std::move(raised.cover);
                }
            }
        }
        if (std::isfinite(limit) && limit > 0.0 && cover.covers && !(cover.bounded && cover.highest < limit)) {
            // Far above ρ* there may be too much to cover, and ρ* itself may be reached at infinity only. A level just
            // below ρ* is enough.
            request.cap = limit * (1.0 - level_reduction);
            EquilibriumCover low = finer_cover(set, equilibrium, request, request.cap);
            if (low.bounded && low.highest < std::min(request.cap, low.lowest_other)) {
                cover = std::move(low);
                searched = request.cap;
            }
        }
        LevelPart& part = levels.other_equilibria;
        part.verified = std::min(cover.lowest_other, searched);
        part.value = std::isfinite(part.verified) ? known_level(part.verified) : part.verified;
        part.proved = cover.complete;
        part.boxes = cover.boxes;
        if (!cover.lowest_other_box.empty()) part.at = vector_of(centre(cover.lowest_other_box));
        return cover;
    }

    /// The equilibria are { q : ∇U(q) ∈ Σ w_i λ_i, λ in convex sets } with an affine ∇U and constant rows and bounds of
    /// the forces. This is the preimage of a convex set under an affine map: one convex set. It may be unbounded, as
    /// with clutches. Contacts and constraints with friction have other sets for each combination of closed gaps and
    /// signs.
    static bool has_convex_statics(const Enclosure& e) {
        const model::Mechanics& m = e.model();
        if (!m.contacts.empty() || !frictional_constraints(e).empty() || !e.smooth || !e.forces_vanish_at_rest)
            return false;
        const Box all = whole_space(static_cast<std::size_t>(e.size()));
        const IntervalMatrix H = e.hessian(all), W = e.row_matrix(all);
        for (const IntervalMatrix* A : {&H, &W})
            for (int i = 0; i < A->rows(); ++i)
                for (int j = 0; j < A->cols(); ++j)
                    if (!(*A)(i, j).defined || !is_point((*A)(i, j))) return false;
        const IntervalVector coefficients = e.coefficients(all, Box(all.size(), Interval(0.0)));
        return std::all_of(coefficients.begin(), coefficients.end(),
                           [](const Interval& x) { return x.defined && is_point(x); });
    }

    /// Covers with finer and finer resolutions, until ℰ is separated from other sets and from the limit.
    EquilibriumCover finer_cover(const AdmissibleSet& set, const StationaryPoint& equilibrium, CoverRequest request,
                                 double limit) const {
        EquilibriumCover cover;
        for (const double resolution : {coarse_resolution, fine_resolution, finest_resolution}) {
            request.resolution = resolution;
            cover = cover_equilibria(set, equilibrium.scale, request);
            if (!cover.complete || !(limit > 0.0) || cover.highest < std::min(limit, cover.lowest_other)) break;
        }
        return cover;
    }

    /// Covers with higher and higher caps, until ℰ ends clearly below the cap.
    struct RaisedCover {
        bool ends_below_cap = false;
        double cap = 0.0;        // all equilibria up to this level are covered
        EquilibriumCover cover;  // up to `cap`
    };
    RaisedCover raise_cap(const AdmissibleSet& set, const StationaryPoint& equilibrium, CoverRequest request) const {
        RaisedCover raised;
        // Without a cap before, every higher cap that is covered makes the level set larger.
        const bool bounded_before = std::isfinite(request.cap);
        request.budget = std::min(options_.budget, max_raising_boxes);
        request.resolution = raising_resolution;
        for (double cap = std::isfinite(request.cap) ? first_raise * request.cap : 1.0; cap < highest_cap;
             cap *= raise_factor) {
            request.cap = cap;
            EquilibriumCover cover = cover_equilibria(set, equilibrium.scale, request);
            if (!cover.complete && raised.cap > 0.0) return raised;
            raised.ends_below_cap = cover.complete && cover.highest < settled_fraction * cap;
            raised.cap = cap;
            raised.cover = std::move(cover);
            if ((raised.ends_below_cap && bounded_before) || !raised.cover.complete) return raised;
        }
        return raised;
    }

    /// The exact level of an equilibrium set that a bound encloses, for reports.
    double known_level(double bound) {
        if (!std::isfinite(bound) || !exact_levels_) return bound;
        if (!known_) known_.emplace(model_, certificate_.reference, options_.stop);
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
        if (!model_.system->symbolic()->formulas().regions.empty()) part("region", levels.region);
        if (negative_damping) part("damping", levels.damping);
        if (std::isfinite(levels.other_equilibria.value)) part("equilibria", levels.other_equilibria);
        for (const auto& [name, p] : {std::pair<const char*, const LevelPart*>{"inertia", &levels.inertia},
                                      {"dissipation", &levels.dissipation},
                                      {"losses", &levels.losses},
                                      {"impacts", &levels.impacts}})
            if (std::isfinite(p->value)) part(name, *p);
        certificate_.values = {{"V_max_on_E", cover.highest > 0.0 ? known_level(cover.highest) : cover.highest},
                               {"boxes", static_cast<double>(levels.boxes + cover.boxes)}};
    }

    /// The rows with these numbers that the table has.
    std::vector<Condition> rows_of(std::initializer_list<const char*> ids) const {
        std::vector<Condition> list;
        for (const char* const id : ids)
            if (const Condition* c = certificate_.find(id)) list.push_back(*c);
        return list;
    }

    /// What is attracted. Outside the domain { V < ρ } may have other components, with other equilibria.
    std::string attraction(const LevelSet& levels) const {
        std::string where;
        for (std::size_t k = 0; k < levels.domain.box.size(); ++k) {
            const Interval& x = levels.domain.box[k];
            if (std::isinf(x.lo) && std::isinf(x.hi)) continue;
            where += (where.empty() ? " with " : ", ") + model_.coordinates[k];
            if (std::isinf(x.hi))
                where += " > " + number(x.lo);
            else if (std::isinf(x.lo))
                where += " < " + number(x.hi);
            else
                where += " in (" + number(x.lo) + ", " + number(x.hi) + ")";
        }
        if (std::isinf(levels.rho) && where.empty()) return "the equilibrium set is globally attractive";
        const std::string starts = std::isinf(levels.rho) ? "every state" : "{ V < " + number(levels.rho) + " }";
        return "the equilibrium set is attractive; " + starts + where + " belongs to its region of attraction";
    }

    void conclude(const ConditionScope& scope, const LevelSet& levels, const EquilibriumCover& cover) {
        const std::vector<Condition>& rows = certificate_.conditions;
        certificate_.grade = grade_of(rows);
        certificate_.assumptions = assumptions_of(rows, "condition");
        if (all_hold(rows)) {
            certificate_.outcome = Outcome::attractive;
            certificate_.summary = attraction(levels);
            return;
        }
        // V is positive definite and does not grow: q_e is stable. If ℰ is the point q_e then ℰ is stable.
        const bool no_energy = impacts_create_no_energy(scope);
        const std::vector<Condition> needed = model_.contacts.empty() ? rows_of({"1", "2", "3"})
                                              : no_energy             ? rows_of({"1", "2", "3", "7"})
                                                                      : rows_of({"1", "2", "3", "6", "7"});
        const bool single_point =
            cover.covers && cover.complete && cover.bounded &&
            cover.highest <=
                point_level_ratio * (1.0 + (std::isfinite(levels.rho_verified) ? levels.rho_verified : 0.0));
        const bool stable = all_hold(needed);
        const std::optional<LosslessMotion> lossless = stable ? lossless_motion(scope) : std::nullopt;
        if (lossless)
            certificate_.further.push_back(
                {"A", "the equilibrium set is attractive", Verdict::fails, lossless->text, lossless->witness});
        if (stable && (single_point || lossless)) {
            certificate_.outcome = Outcome::stable;
            certificate_.grade = grade_of(needed);
            certificate_.assumptions.clear();  // stability needs no invariance of limit sets
            certificate_.summary =
                std::string(single_point ? "the equilibrium is stable"
                                         : "the equilibrium q_e is stable, a point of the equilibrium set") +
                ", V does not grow; " +
                (lossless ? "the set is not attractive: " + lossless->text : "whether it is attractive is not shown");
            return;
        }
        certificate_.summary = failure_summary(rows);
    }

    /// Newton's law with 0 <= e_N <= 1 and |e_T| <= 1 at all contacts. With condition 7 impacts then create no energy.
    bool impacts_create_no_energy(const ConditionScope& scope) const {
        const ContactCoefficients e = contact_coefficients(scope);
        for (std::size_t k = 0; k < e.e_n.size(); ++k) {
            if (model_.contacts[k].impact != model::ImpactLaw::newton) return false;
            if (!(e.e_n[k].lo >= 0.0 && e.e_n[k].hi <= 1.0)) return false;
            if (e.friction[k] && !(e.e_t[k].lo >= -1.0 && e.e_t[k].hi <= 1.0)) return false;
        }
        return true;
    }

    void classify_linear(const Enclosure& e) {
        const std::optional<LinearSystem> linear = linear_system(e);
        if (!linear) return;
        certificate_.classification = to_string(classify(*linear, options_.budget).kind);
        for (const std::complex<double>& x : eigenvalues(*linear))
            certificate_.eigenvalues.emplace_back(x.real(), x.imag());
    }

    const model::Mechanics& model_;
    const CertifyOptions& options_;
    std::optional<KnownLevels> known_;
    bool exact_levels_ = false;  // condition 1 is proved, so that the theory of equilibrium sets applies
    Certificate certificate_;
};

}  // namespace

Certificate certify_attractivity(const model::Mechanics& model, const CertifyOptions& options) {
    model::refuse_elements(model, model::Analysis::attractivity);
    return Attractivity(model, options).certify();
}

}  // namespace saltus::stability
