// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 2, statement 3: let V_E be the largest V on the equilibrium set ℰ. If states next to ℰ have V > V_E,
// if V̇ >= 0 near ℰ and no motion stays where V̇ = 0 outside ℰ, then ℰ is unstable.
//
// With V = −T − (U − U_e) the power balance gives V̇ = D^nc + D^λT >= 0, and V̇ = 0 only for u = 0 if friction acts on
// every velocity that is not damped ((98), (99)). At rest outside ℰ the accelerations are not 0. What is left to show
// is the geometry of U around ℰ. The rows of the table:
//   1  kinetic energy and scleronomic constraints                    condition_1_kinetic_energy
//   2  q_e is stationary and U has negative curvature there          saddle_row
//   3  the smooth forces take energy                                 condition_3_dissipation
//   4  V̇ > 0 for u ≠ 0                                               condition_5_dissipated_velocities
//   5  states next to ℰ with V > V_E                                 start_row
//   6  ℰ is isolated                                                 isolation_row
// and for models with contacts, which [Leine] 6.2 does not treat:
//   7  open gaps of I_C close                                        closing_row
//   8  Newton's law, 0 <= e_N < 1, |e_T| < 1                         condition_6_restitution
//   9  impacts take energy                                           condition_7_impacts
// and for models with contacts or with friction of constraints
//   10 limit sets are positively invariant                           assumed
// With sliders alone the forces are bounded, convex-valued and upper semicontinuous functions of the state, so that
// limit sets consist of motions. Friction of a constraint is bounded by |ν|, which is no such function.
//
// Models with contacts or clutches are first judged by one motion that leaves the set, if there is one
// (escaping_motion.cpp); the table then has four rows.
//
// With contacts. Let I_C be the gaps that are closed at q_e, and let D be a neighbourhood of ℰ, bounded, with small
// velocities. Suppose that a motion from x₀ with V(x₀) > V_E stays in D. V = −T − (U − U_e) does not decrease: smooth
// forces and friction take energy (3), and so do impacts (9). V is bounded in D, so that it converges. On a motion in
// the limit set, V is constant (10). So it has no impact: an impact takes energy strictly (8, 9). An open gap of I_C
// accelerates towards closing (7) and would end in an impact. So all gaps of I_C stay closed, and then only u = 0 has
// no dissipation (4): the motion is an equilibrium in D, that is a point of ℰ (6). There V <= V_E < V(x₀), a
// contradiction. So the motion leaves D. Since x₀ can be chosen arbitrarily near to ℰ (5), ℰ is unstable.
//
// V_E = −min Q over ℰ, from a cover of ℰ by boxes. Beyond the point of ℰ with the least Q, U falls on, since ℰ has no
// stationary point of U except q_e. The printed proof of Theorem 3 starts at the end of ℰ along an eigenvector of K,
// where V can be smaller than V_E (docs/papers.md); this point is reported for comparison.
#include "saltus/stability/certify/detail/instability.hpp"
#include "saltus/base/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/motions/escaping_motion.hpp"
#include "saltus/stability/certify/detail/position_tests.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Two saddles have the same level if their energies differ by at most this fraction of 1 + |U|.
constexpr double same_energy_ratio = 1e-9;
/// The start of the cover is larger than the box of q_e by this fraction of 1 + |q|: a few rounding errors.
constexpr double start_margin = 1e-12;
/// The neighbourhood of ℰ grows from this radius (relative to the scales) by the factor 2 up to the largest, until ℰ
/// lies inside it.
constexpr double first_radius = 0.25, largest_radius = 3000.0, radius_growth = 2.0;
/// ℰ is covered by pieces of this fraction of the neighbourhood.
constexpr double cover_resolution = 1.0 / 32.0;
/// Instability is about arbitrarily small neighbourhoods: velocities are bounded by T <= slow_energy (1 + |V_E|).
constexpr double slow_energy = 1e-3;
/// The reported start x₀ lies beyond the point of ℰ with the largest V by this factor.
constexpr double start_factor = 1.01;
/// The end along the eigenvector is mentioned if its V is below this fraction of V_E.
constexpr double clearly_below = 0.999;

const char* const text_minimum =
    "the equilibrium is stationary and no minimum of U: V = -T - (U - U_e) is positive next to it";
const char* const text_start = "there are states next to the equilibrium set with V > V_E, the largest V on it";
const char* const text_isolated = "the equilibrium set is isolated";
const char* const text_member = "p is an equilibrium of the set: the contacts push, and friction holds it";
const char* const text_consistent =
    "near p a smooth motion with fixed sticking and slipping contacts obeys all laws of the contacts";
const char* const text_escape = "one such motion leaves p: q - p grows like v exp(rate t), with a rate > 0";
/// p is the frictionless equilibrium if it is at most this fraction of 1 + |p| from it.
constexpr double same_position = 1e-9;
const char* const text_invariance = "limit sets next to the equilibrium set are positively invariant";

/// The examined neighbourhood of ℰ is the hull of its cover, larger by this fraction of the hull's width and of the
/// scales.
constexpr double neighbourhood_margin = 1e-3;
/// If the gaps of I_C are not proved to close for T <= slow_energy (1 + |V_E|), slower motions are tried: T is divided
/// by this factor, at most this often.
constexpr double slower_factor = 1e3;
constexpr int max_slower = 3;
/// A gap of the start is closed if it is at most this length, in the unit of the gap: rounding of the start.
constexpr double closed_gap = 1e-12;

/// A stationary point of U that is not a minimum: the one that Newton's method reaches from the start, or the lowest
/// saddle on the boundary of the valley around the minimum. Of two saddles of the same level the one nearer to the
/// start is taken. If there is none, the minimum itself.
StationaryPoint find_saddle(const Enclosure& e, const std::vector<double>& from) {
    StationaryPoint near = find_stationary(e, from);
    if (near.found && !near.minimum) return near;
    StationaryPoint bottom = find_minimum(e, from);
    if (!bottom.found) return bottom;
    const LevelDomain domain = find_domain(e, bottom);
    StationaryPoint best = bottom;
    double lowest = infinity;
    for (const LevelDomain::Face& face : domain.faces) {
        const StationaryPoint saddle = find_stationary(e, list_of(face.at));
        if (!saddle.found || saddle.minimum) continue;
        const double U = expr::midpoint(e.potential(point_box(list_of(saddle.q))));
        const Vector start = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
        const bool nearer = (saddle.q - start).norm() < (best.q - start).norm();
        const double tolerance = same_energy_ratio * (1.0 + std::fabs(U));
        if (U + tolerance < lowest || (U < lowest + tolerance && nearer)) {
            lowest = std::min(lowest, U);
            best = saddle;
        }
    }
    return best;
}

/// The box around q_e with the half width radius · scale of each coordinate.
Box box_around(const StationaryPoint& saddle, double radius) {
    Box box;
    for (Index k = 0; k < saddle.q.size(); ++k) {
        const double r = radius * saddle.scale[static_cast<std::size_t>(k)];
        box.emplace_back(saddle.q(k) - r, saddle.q(k) + r);
    }
    return box;
}

class Instability {
public:
    Instability(const model::Mechanics& model, const CertifyOptions& options) : model_(model), options_(options) {}

    Certificate certify() {
        certificate_.theorem = Theorem::instability;
        certificate_.basis = "Theorem 2";
        std::string why;
        enclosure_ = Enclosure::of(model_, why);
        if (!enclosure_) {
            rows().push_back(
                {"0", "the functions of the model can be bounded over boxes", Verdict::not_examined, why, {}});
            certificate_.grade = Grade::not_examined;
            certificate_.summary = "not examined: " + why;
            return std::move(certificate_);
        }
        const Enclosure& e = *enclosure_;
        certificate_.warnings = model_.warnings;
        const std::optional<LinearSystem> linear = linear_system(e);
        if (linear) certificate_.basis = "Theorem 3";
        const StationaryPoint saddle = find_saddle(e, options_.at.empty() ? model_.q0 : options_.at);
        const StationaryBox box = enclose_equilibrium(e, saddle);
        if (saddle.found) {
            certificate_.q = position_of(saddle, box);
            certificate_.forces = forces_at(model_, saddle);
        }
        const AdmissibleSet set(e, e.potential(box.proved() ? box.q : point_box(list_of(saddle.q))), options_.stop);
        // With contacts the theorem rests on an assumption, and turning about a contact without dissipation often
        // violates row 4. One motion that leaves the set is a proof without assumptions. With clutches the set is often
        // unbounded, and V_E is infinite.
        if (!model_.contacts.empty() || !model_.clutches.empty())
            if (const std::optional<EscapingMotion> motion = escaping_motion(e, saddle, box)) {
                rows().push_back(
                    condition_1_kinetic_energy({set, saddle, box, motion->at, infinity, 0.0, options_.budget}));
                if (rows().front().verdict == Verdict::proved) return judged_by_motion(*motion);
                rows().clear();
            }
        const ExtremeEnergy top = linear ? largest_energy(*linear, EnergySign::negative) : ExtremeEnergy{};
        auto [domain, cover] =
            surround(set, saddle, box, top.found ? WantedLevels::highest : WantedLevels::highest_and_lowest);
        if (top.found) {
            cover.lowest = -top.value;
            cover.lowest_box = point_box(list_of(saddle.q + top.q));
        }
        const double slow = slow_energy * (1.0 + std::fabs(cover.lowest));
        const PositionTests tests(set, saddle, box);
        ConditionScope scope{set,  saddle,         box, neighbourhood_of(cover, domain, saddle.scale), infinity,
                             slow, options_.budget};
        const bool contacts = !model_.contacts.empty();
        Condition closing;
        if (contacts) {
            certificate_.basis = "Theorem 2 with contacts";
            closing = closing_row(tests, scope);
        }

        Condition first = condition_1_kinetic_energy(scope);
        if (first.verdict == Verdict::proved && !model_.clutches.empty()) {
            first.verdict = Verdict::not_examined;
            first.evidence = "the model has clutches, which the theorem does not treat";
        }
        rows().push_back(std::move(first));
        rows().push_back(saddle_row(saddle, box, linear));
        rows().push_back(condition_3_dissipation(scope));
        rows().push_back(growth_row(scope));
        rows().push_back(start_row(tests, saddle, cover, linear));
        rows().push_back(isolation_row(saddle, cover, domain));
        if (contacts) {
            rows().push_back(std::move(closing));
            rows().push_back(condition_6_restitution(scope));
            rows().back().id = "8";
            rows().push_back(condition_7_impacts(scope));
            rows().back().id = "9";
        }
        if (contacts || !frictional_constraints(e).empty()) {
            Condition invariance = condition_9_invariance();
            invariance.id = "10";
            invariance.text = text_invariance;
            rows().push_back(std::move(invariance));
        }
        conclude(cover, linear);
        if (set.stopped()) certificate_.warnings.emplace_back("the certificate was stopped before it was complete");
        return std::move(certificate_);
    }

private:
    std::vector<Condition>& rows() { return certificate_.conditions; }

    /// A neighbourhood of q_e and the cover of the equilibria in it.
    struct Surroundings {
        Box domain;
        EquilibriumCover cover;
    };
    /// The smallest tried neighbourhood that contains ℰ in its interior.
    Surroundings surround(const AdmissibleSet& set, const StationaryPoint& saddle, const StationaryBox& box,
                          WantedLevels levels) const {
        Box start = box.proved() ? box.q : point_box(list_of(saddle.q));
        for (Interval& x : start)
            x = Interval(x.lo - start_margin * (1.0 + std::fabs(x.lo)), x.hi + start_margin * (1.0 + std::fabs(x.hi)));
        Surroundings s;
        for (double radius = first_radius; radius < largest_radius; radius *= radius_growth) {
            s.domain = box_around(saddle, radius);
            s.cover = cover_equilibria(set, saddle.scale,
                                       {s.domain, start, infinity, cover_resolution, options_.budget, levels});
            if (!s.cover.complete || strictly_inside(s.cover, s.domain)) break;
        }
        return s;
    }

    /// All pieces of ℰ lie in the interior of the domain.
    static bool strictly_inside(const EquilibriumCover& cover, const Box& domain) {
        for (const EquilibriumCover::Piece& p : cover.pieces)
            for (std::size_t k = 0; p.connected && k < domain.size(); ++k)
                if (p.box[k].lo <= domain[k].lo || p.box[k].hi >= domain[k].hi) return false;
        return true;
    }

    /// The hull of the cover of ℰ, a little larger. The theorem is about an arbitrarily small neighbourhood. `domain`
    /// if ℰ is not known to lie inside it.
    static Box neighbourhood_of(const EquilibriumCover& cover, const Box& domain, const std::vector<double>& scale) {
        Box box;
        for (const EquilibriumCover::Piece& p : cover.pieces)
            if (p.connected) box = box.empty() ? p.box : hull(box, p.box);
        if (box.empty() || !cover.complete || !strictly_inside(cover, domain)) return domain;
        for (std::size_t k = 0; k < box.size(); ++k) {
            const double margin = neighbourhood_margin * (width(box[k]) + scale[k]);
            box[k] = Interval(box[k].lo - margin, box[k].hi + margin);
        }
        return box;
    }

    /// Row 4: only u = 0 has no dissipation while the gaps of I_C stay closed.
    Condition growth_row(const ConditionScope& scope) const {
        Condition c;
        if (model_.clutches.empty()) {
            c = condition_5_dissipated_velocities(scope, scope.equilibrium.closed);
        } else {
            c.verdict = Verdict::not_examined;
            c.evidence = "clutches hold some velocities without dissipation; the theorem has none";
        }
        c.id = "4";
        c.text = model_.contacts.empty() ? "V grows unless u = 0: friction acts on every velocity that is not damped"
                                         : "with the gaps of I_C closed and staying so, V grows unless u = 0";
        return c;
    }

    /// Row 7: the open gaps of I_C, which are those closed at q_e, accelerate towards closing in the neighbourhood.
    /// Lowers scope.kinetic if the proof needs slower motions.
    Condition closing_row(const PositionTests& tests, ConditionScope& scope) const {
        Condition c{"7", condition_text::closing_gaps, Verdict::not_examined, "", {}};
        const std::vector<int>& I_C = scope.equilibrium.closed;
        if (!scope.equilibrium.found) {
            c.evidence = "no equilibrium was found";
            return c;
        }
        std::vector<std::string> names;
        for (const int r : I_C)
            names.push_back(
                "'" + model_.contacts[static_cast<std::size_t>(r - static_cast<int>(model_.constraints.size()))].name +
                "'");
        if (I_C.empty()) {
            c.verdict = Verdict::proved;
            c.evidence =
                "no gap is closed at the equilibrium: I_C is empty, and condition 4 requires dissipation "
                "everywhere";
            return c;
        }
        const double kinetic = scope.kinetic;
        for (int k = 0; k <= max_slower; ++k, scope.kinetic /= slower_factor) {
            const CoverProof proof = prove_on(
                scope.set, {scope.domain}, {}, infinity, scope.equilibrium.scale,
                [&](const Box& q) { return tests.gaps_close(q, infinity, I_C, scope.kinetic); }, options_.budget);
            if (!proof.proved) continue;
            c.verdict = Verdict::proved;
            c.evidence = "I_C = {" + listing(names) + "}; for T < " + number(scope.kinetic) +
                         " next to the equilibrium set (" + boxes_text(proof.boxes) + ")";
            return c;
        }
        scope.kinetic = kinetic;
        c.evidence = "it is not proved that the gaps of I_C = {" + listing(names) + "} close next to the set";
        return c;
    }

    /// Row 2: q_e is stationary and U has negative curvature in some direction that the constraints allow.
    Condition saddle_row(const StationaryPoint& saddle, const StationaryBox& box,
                         const std::optional<LinearSystem>& linear) const {
        Condition c{"2", text_minimum, Verdict::fails, "", {}};
        if (linear) c.text = "the stiffness K is symmetric and has a negative eigenvalue";
        if (!saddle.found) {
            c.verdict = Verdict::not_examined;
            c.evidence = saddle.why;
            return c;
        }
        const std::string where = position_text(model_, saddle.q);
        if (saddle.free_directions == 0 || saddle.curvature > -flat_curvature) {
            const bool minimum = box.proved() && saddle.minimum;
            c.verdict = minimum ? Verdict::fails : Verdict::not_examined;
            c.evidence = minimum ? "the stationary point " + where + " is a minimum of U, smallest curvature " +
                                       number(saddle.curvature)
                                 : "no negative curvature of U was found at " + where;
            if (!minimum) return c;
            c.witness.q = list_of(saddle.q);
            c.witness.values.emplace_back("curvature", saddle.curvature);
            return c;
        }
        const bool proved = box.proved() && has_negative_curvature(saddle, box);
        if (saddle.closed.size() + model_.constraints.size() > saddle.support.size() &&
            !leaves_unloaded_gaps(saddle, box)) {
            c.evidence = "the curvature of U is negative at " + where +
                         ", but a closed gap without load may block the motion along that direction";
            c.verdict = Verdict::not_examined;
            return c;
        }
        c.verdict = proved ? Verdict::proved : Verdict::numerical;
        c.evidence = "at " + where + " the curvature of U is " + number(saddle.curvature) + " in some direction";
        if (!proved) c.evidence += "; computed at this one position, which is not proved to be stationary";
        return c;
    }

    /// Proves dᵀ∇²L d < 0 over the box of q_e, for a d = T y along the constraints. The upper left block of the
    /// stationarity matrix is ∇²L.
    bool has_negative_curvature(const StationaryPoint& saddle, const StationaryBox& box) const {
        const Enclosure& e = *enclosure_;
        const std::optional<IntervalMatrix> d = direction_along_support(saddle, box);
        if (!d) return false;
        const IntervalMatrix J = stationarity_matrix(e, box.q, box.support, box.lambda);
        const int n = e.size();
        IntervalMatrix H(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) H(i, j) = J(i, j);
        return (transpose(*d) * H * *d)(0, 0).hi < 0.0;
    }

    /// The direction of least curvature over the box of q_e, along the rows of the support. std::nullopt: not enclosed.
    std::optional<IntervalMatrix> direction_along_support(const StationaryPoint& saddle,
                                                          const StationaryBox& box) const {
        if (!box.proved()) return std::nullopt;
        const std::optional<IntervalMatrix> T =
            tangents(rows_of(enclosure_->row_matrix(box.q), box.support), enclosure_->size());
        if (!T || T->cols() == 0) return std::nullopt;
        return *T * IntervalMatrix(Matrix(least_squares(T->middle(), saddle.direction)));
    }

    /// The gaps that are closed at q_e without being in the support all open along the direction of least curvature, or
    /// all open along its opposite. So the positions with a lower U are admissible.
    bool leaves_unloaded_gaps(const StationaryPoint& saddle, const StationaryBox& box) const {
        const std::optional<IntervalMatrix> d = direction_along_support(saddle, box);
        if (!d) return false;
        bool forwards = true, backwards = true;
        for (const int r : saddle.closed) {
            if (std::find(box.support.begin(), box.support.end(), r) != box.support.end()) continue;
            const Interval rate = (rows_of(enclosure_->row_matrix(box.q), {r}) * *d)(0, 0);
            forwards = forwards && rate.lo > 0.0;
            backwards = backwards && rate.hi < 0.0;
        }
        return forwards || backwards;
    }

    /// Row 5: states next to ℰ with V > V_E. Let p be a point of ℰ at which V is largest, that is U is smallest. If p
    /// is not a stationary point of U then U decreases further next to p. If p is q_e then it decreases along the
    /// direction of negative curvature (row 2). So it is enough that ℰ has no stationary point except q_e.
    Condition start_row(const PositionTests& tests, const StationaryPoint& saddle, const EquilibriumCover& cover,
                        const std::optional<LinearSystem>& linear) {
        Condition c{"5", text_start, Verdict::not_examined, "", {}};
        const double V_E = std::max(0.0, -cover.lowest);
        certificate_.values.emplace_back("V_E", V_E);
        if (cover.lowest_box.empty() || !saddle.found) {
            c.evidence = "no equilibrium set was covered";
            return c;
        }
        const Condition& curvature = rows()[1];
        if (curvature.verdict != Verdict::proved && curvature.verdict != Verdict::numerical) {
            c.evidence = "there is no direction of negative curvature at the equilibrium";
            return c;
        }
        const bool only_q_e =
            std::all_of(cover.pieces.begin(), cover.pieces.end(), [&](const EquilibriumCover::Piece& p) {
                return !p.connected || tests.no_stationary_point(p.box, infinity).proved;
            });
        const std::string where =
            "V_E = " + number(V_E) + " at " + position_text(model_, vector_of(centre(cover.lowest_box)));
        if (!only_q_e) {
            c.evidence = where + "; the set may have other stationary points of U, at which V need not grow outwards";
            return c;
        }
        c.verdict = curvature.verdict;
        c.evidence = where + ", where U decreases further outwards";
        if (linear) c.evidence += eigenvector_remark(saddle, cover, *linear, V_E);
        return c;
    }

    /// The table of one motion that leaves the set (escaping_motion.cpp), after its row 1. It needs no limit sets and
    /// no energy.
    Certificate judged_by_motion(const EscapingMotion& motion) {
        certificate_.basis = "Lyapunov's first method";
        const Vector at = vector_of(centre(motion.at));
        const std::string mode = mode_text(model_, motion);
        const bool end = (at - vector_of(certificate_.q)).norm() > same_position * (1.0 + at.norm());
        rows().push_back({"2",
                          text_member,
                          Verdict::proved,
                          (end ? "an end of the set, " : "") + position_text(model_, at) +
                              (end ? "; a path of equilibria leads from the frictionless equilibrium to it" : ""),
                          {}});
        rows().push_back({"3",
                          text_consistent,
                          Verdict::proved,
                          mode.empty() ? "there are no contacts and sliders to examine" : "mode: " + mode,
                          {}});
        rows().push_back({"4",
                          text_escape,
                          Verdict::proved,
                          "rate " + number(motion.rate.lo) + " 1/s along " + position_text(model_, motion.direction),
                          {}});
        certificate_.values.emplace_back("escape rate", expr::midpoint(motion.rate));
        for (std::size_t k = 0; k < model_.coordinates.size(); ++k) {
            certificate_.values.emplace_back("p " + model_.coordinates[k], at(static_cast<Index>(k)));
            certificate_.values.emplace_back("v " + model_.coordinates[k], motion.direction(static_cast<Index>(k)));
        }
        certificate_.outcome = Outcome::unstable;
        certificate_.grade = grade_of(rows());
        certificate_.summary = "the equilibrium set is unstable: a motion leaves it";
        return std::move(certificate_);
    }

    /// Adds the start x₀ of the proof to the values. A remark if the end of ℰ along the eigenvector of K, where the
    /// printed proof starts, has a lower V.
    std::string eigenvector_remark(const StationaryPoint& saddle, const EquilibriumCover& cover,
                                   const LinearSystem& linear, double V_E) {
        const std::vector<double> at = centre(cover.lowest_box);
        for (std::size_t k = 0; k < at.size(); ++k) {
            const double q = saddle.q(static_cast<Index>(k));
            certificate_.values.emplace_back("x0 " + model_.coordinates[k], q + start_factor * (at[k] - q));
        }
        const EigenvectorEnd end = eigenvector_end(linear);
        if (!(end.reach > 0.0)) return "";
        certificate_.values.emplace_back("V_at_eigenvector_end", end.value);
        if (!(end.value < clearly_below * V_E)) return "";
        return "; at the set's end along the eigenvector V is only " + number(end.value) +
               ", so that the start x0 is taken beyond the point of V_E";
    }

    /// The statics of the model confirm that the position is admissible and an equilibrium.
    bool rests_at(const std::vector<double>& q) const {
        RestingModel resting(model_);
        const EquilibriumPoint point = equilibrium_at(resting, vector_of(q), {.ranges = false});
        return point.decided && point.admissible && point.is_equilibrium;
    }

    /// Row 6: ℰ lies in the interior of the neighbourhood; other sets have a distance from it.
    Condition isolation_row(const StationaryPoint& saddle, const EquilibriumCover& cover, const Box& domain) const {
        Condition c{"6", text_isolated, Verdict::proved, "", {}};
        if (!saddle.found || !cover.complete) {
            c.verdict = Verdict::not_examined;
            c.evidence = saddle.found
                             ? "the budget of boxes was used up before the surroundings of the set were covered"
                             : "no equilibrium was found";
            return c;
        }
        if (!strictly_inside(cover, domain)) {
            c.verdict = Verdict::not_examined;
            c.evidence = "the set reaches the boundary of the examined neighbourhood";
            for (const EquilibriumCover::Piece& p : cover.pieces)
                for (std::size_t k = 0; p.connected && k < domain.size(); ++k)
                    if (p.box[k].lo <= domain[k].lo || p.box[k].hi >= domain[k].hi) {
                        // If the point straight on from q_e is an equilibrium it is the witness: it is exact.
                        std::vector<double> along = list_of(saddle.q);
                        along[k] = p.box[k].lo <= domain[k].lo ? domain[k].lo : domain[k].hi;
                        const std::optional<ForceSet> forces =
                            frictional_forces(*enclosure_, point_box(along), p.closed, p.signs);
                        if (!forces || separate(*forces) || !rests_at(along)) continue;
                        c.verdict = Verdict::fails;
                        c.witness.q = along;
                        c.witness.u.assign(along.size(), 0.0);
                    }
            return c;
        }
        std::string extent;
        for (std::size_t k = 0; k < domain.size(); ++k) {
            double lo = infinity, hi = -infinity;
            for (const EquilibriumCover::Piece& p : cover.pieces)
                if (p.connected) lo = std::min(lo, p.box[k].lo), hi = std::max(hi, p.box[k].hi);
            extent += (extent.empty() ? "" : ", ") + range_text(model_.coordinates[k], lo, hi);
        }
        c.evidence = "the set lies in " + extent + "; there is no other equilibrium set next to it";
        return c;
    }

    /// The three statements of Theorem 2 as rows that the verdict does not need. Returns whether statement 2 holds: V
    /// does not decrease, so that no motion from a state with V > V_E converges to ℰ. It needs no condition on the
    /// velocities without dissipation (4) and none on limit sets (10).
    bool add_statements() {
        const auto weakest = [&](std::initializer_list<const char*> ids) {
            Verdict verdict = Verdict::proved;
            for (const char* const id : ids) {
                const Condition* const c = certificate_.find(id);
                if (c == nullptr || c->verdict == Verdict::proved || c->verdict == Verdict::assumed) continue;
                if (c->verdict != Verdict::numerical) return Verdict::not_examined;
                verdict = Verdict::numerical;
            }
            return verdict;
        };
        const Verdict second = weakest({"1", "2", "3", "5", "6", "8", "9"});
        const Verdict third = weakest({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
        certificate_.further.push_back({"S1",
                                        "statement 1 of Theorem 2: V grows at all states next to the set",
                                        Verdict::fails,
                                        "at rest next to the set the rate of V = -T - (U - U_e) is 0",
                                        {}});
        certificate_.further.push_back(
            {"S2",
             "statement 2 of Theorem 2: V does not decrease, so that the set is not attractive",
             second,
             second == Verdict::not_examined ? "the conditions other than 4, 7 and 10 do not all hold" : "",
             {}});
        certificate_.further.push_back({"S3",
                                        "statement 3 of Theorem 2: no motion stays where V is constant, so that the "
                                        "set is unstable",
                                        third,
                                        third == Verdict::not_examined ? "the conditions do not all hold" : "",
                                        {}});
        return second != Verdict::not_examined;
    }

    void conclude(const EquilibriumCover& cover, const std::optional<LinearSystem>& linear) {
        const bool not_attractive = add_statements();
        certificate_.values.emplace_back("boxes", static_cast<double>(cover.boxes));
        if (linear) {
            const LinearClassification c = classify(*linear, options_.budget);
            certificate_.classification = to_string(c.kind);
            for (const std::complex<double>& x : eigenvalues(*linear))
                certificate_.eigenvalues.emplace_back(x.real(), x.imag());
        }
        certificate_.grade = grade_of(rows());
        certificate_.assumptions = assumptions_of(rows(), "condition");
        if (all_hold(rows())) {
            certificate_.outcome = Outcome::unstable;
            certificate_.summary =
                linear ? "the equilibrium set is unstable: negative stiffness" : "the equilibrium set is unstable";
            return;
        }
        certificate_.summary = failure_summary(rows());
        if (not_attractive) certificate_.summary += "; the equilibrium set is not attractive (statement 2)";
    }

    const model::Mechanics& model_;
    const CertifyOptions& options_;
    std::unique_ptr<Enclosure> enclosure_;
    Certificate certificate_;
};

}  // namespace

bool starts_at_saddle_equilibrium(const model::Mechanics& model, const CertifyOptions& options) {
    if (!model.clutches.empty()) return false;
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, why);
    if (!e) return false;
    const std::vector<double>& from = options.at.empty() ? model.q0 : options.at;
    const StationaryPoint near = find_stationary(*e, from);
    if (!near.found || near.minimum || !(near.curvature < -flat_curvature)) return false;
    // The gaps that are closed at the start, up to rounding.
    const IntervalVector gaps = e->position_values(point_box(from));
    std::vector<int> closed;
    for (int r = e->constraints(); r < e->positions(); ++r) {
        const double gap = expr::midpoint(gaps[static_cast<std::size_t>(r)]);
        if (gap < -closed_gap) return false;  // the start is only a guess
        if (gap <= closed_gap) closed.push_back(r);
    }
    // The start is an equilibrium if no direction separates its forces, for some signs of the reactions.
    const std::size_t frictional = frictional_constraints(*e).size();
    for (unsigned combination = 0; combination < (1U << frictional); ++combination) {
        const std::optional<ForceSet> forces =
            frictional_forces(*e, point_box(from), closed, signs_of(combination, frictional));
        if (forces && !separate(*forces)) return true;
    }
    return false;
}

Certificate certify_instability(const model::Mechanics& model, const CertifyOptions& options) {
    model::refuse_elements(model, model::Analysis::instability);
    return Instability(model, options).certify();
}

}  // namespace saltus::stability
