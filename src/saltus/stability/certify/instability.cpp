// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 2, statement 3: let V_E be the largest V on the equilibrium set ℰ. If states next to ℰ have V > V_E,
// if V̇ >= 0 near ℰ and no motion stays where V̇ = 0 outside ℰ, then ℰ is unstable.
//
// With V = −T − (U − U_e) the power balance gives V̇ = D^nc + D^λT >= 0, and V̇ = 0 only for u = 0 if friction acts on
// every velocity that is not damped ((98), (99)). At rest outside ℰ the accelerations are not 0. What is left to show
// is the geometry of U around ℰ. The rows of the table:
//   1  kinetic energy and scleronomic constraints; no impacts        condition_1_kinetic_energy
//   2  q_e is stationary and U has negative curvature there          saddle_row
//   3  the smooth forces take energy                                 condition_3_dissipation
//   4  V̇ > 0 for u ≠ 0                                               condition_5_dissipated_velocities, I_C empty
//   5  states next to ℰ with V > V_E                                 start_row
//   6  ℰ is isolated                                                 isolation_row
//
// V_E = −min Q over ℰ, from a cover of ℰ by boxes. Beyond the point of ℰ with the least Q, U falls on, since ℰ has no
// stationary point of U except q_e. The printed proof of Theorem 3 starts at the end of ℰ along an eigenvector of K,
// where V can be smaller than V_E (docs/papers.md); this point is reported for comparison.
#include "saltus/stability/certify/detail/instability.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/position_tests.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double inf = Interval::infinity;

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
    double lowest = inf;
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
    Instability(const model::Model& model, const CertifyOptions& options) : model_(model), options_(options) {}

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
        const ExtremeEnergy top = linear ? largest_energy(*linear, EnergySign::negative) : ExtremeEnergy{};
        auto [domain, cover] =
            surround(set, saddle, box, top.found ? WantedLevels::highest : WantedLevels::highest_and_lowest);
        if (top.found) {
            cover.lowest = -top.value;
            cover.lowest_box = point_box(list_of(saddle.q + top.q));
        }
        const double slow = slow_energy * (1.0 + std::fabs(cover.lowest));
        const ConditionScope scope{set, saddle, box, domain, inf, slow, options_.budget};

        Condition first = condition_1_kinetic_energy(scope);
        if (first.verdict == Verdict::proved && (!model_.contacts.empty() || !model_.clutches.empty())) {
            first.verdict = Verdict::fails;
            first.witness.values.emplace_back("contacts and clutches",
                                              static_cast<double>(model_.contacts.size() + model_.clutches.size()));
            first.evidence = "the model has " + std::string(model_.contacts.empty() ? "clutches" : "contacts") +
                             "; the theorem is about motions without impacts, with constraints and sliders";
        }
        first.text += "; no unilateral contacts";
        rows().push_back(std::move(first));
        rows().push_back(saddle_row(saddle, box, linear));
        rows().push_back(condition_3_dissipation(scope));
        rows().push_back(growth_row(scope));
        rows().push_back(start_row(PositionTests(set, saddle, box), saddle, cover, linear));
        rows().push_back(isolation_row(saddle, cover, domain));
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
            s.cover =
                cover_equilibria(set, saddle.scale, {s.domain, start, inf, cover_resolution, options_.budget, levels});
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

    /// Row 4: only u = 0 has no dissipation. Which contacts rub depends on those that are closed, which the theorem
    /// does not treat.
    Condition growth_row(const ConditionScope& scope) const {
        Condition c;
        if (model_.contacts.empty() && model_.clutches.empty()) {
            c = condition_5_dissipated_velocities(scope, {});
        } else {
            c.verdict = Verdict::not_examined;
            c.evidence = "closed contacts and clutches hold some velocities and rub on others; the theorem has none";
        }
        c.id = "4";
        c.text = "V grows unless u = 0: friction acts on every velocity that is not damped";
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
        c.verdict = proved ? Verdict::proved : Verdict::numerical;
        c.evidence = "at " + where + " the curvature of U is " + number(saddle.curvature) + " in some direction";
        if (!proved) c.evidence += "; computed at this one position, which is not proved to be stationary";
        return c;
    }

    /// Proves dᵀ∇²L d < 0 over the box of q_e, for a d = T y along the constraints. The upper left block of the
    /// stationarity matrix is ∇²L.
    bool has_negative_curvature(const StationaryPoint& saddle, const StationaryBox& box) const {
        const Enclosure& e = *enclosure_;
        const IntervalMatrix J = stationarity_matrix(e, box.q, box.support, box.lambda);
        const int n = e.size();
        const IntervalMatrix rows = e.row_matrix(box.q);
        const std::optional<IntervalMatrix> T = tangents(rows_of(rows, box.support), n);
        if (!T || T->cols() == 0) return false;
        const Vector y = least_squares(T->middle(), saddle.direction);
        IntervalMatrix d = *T * IntervalMatrix(Matrix(y)), H(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) H(i, j) = J(i, j);
        return (transpose(d) * H * d)(0, 0).hi < 0.0;
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
                return !p.connected || tests.no_stationary_point(p.box, inf).proved;
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
                        if (!forces || separate(*forces)) continue;
                        c.verdict = Verdict::fails;
                        c.witness.q = along;
                        c.witness.u.assign(along.size(), 0.0);
                    }
            return c;
        }
        std::string extent;
        for (std::size_t k = 0; k < domain.size(); ++k) {
            double lo = inf, hi = -inf;
            for (const EquilibriumCover::Piece& p : cover.pieces)
                if (p.connected) lo = std::min(lo, p.box[k].lo), hi = std::max(hi, p.box[k].hi);
            extent +=
                (extent.empty() ? "" : ", ") + model_.coordinates[k] + " in [" + number(lo) + ", " + number(hi) + "]";
        }
        c.evidence = "the set lies in " + extent + "; there is no other equilibrium set next to it";
        return c;
    }

    void conclude(const EquilibriumCover& cover, const std::optional<LinearSystem>& linear) {
        certificate_.values.emplace_back("boxes", static_cast<double>(cover.boxes));
        if (linear) {
            const LinearClassification c = classify(*linear, options_.budget);
            certificate_.classification = to_string(c.kind);
            for (const std::complex<double>& x : eigenvalues(*linear))
                certificate_.eigenvalues.emplace_back(x.real(), x.imag());
        }
        certificate_.grade = grade_of(rows());
        if (all_hold(rows())) {
            certificate_.outcome = Outcome::unstable;
            certificate_.summary =
                linear ? "the equilibrium set is unstable: negative stiffness" : "the equilibrium set is unstable";
            return;
        }
        certificate_.summary = failure_summary(rows());
    }

    const model::Model& model_;
    const CertifyOptions& options_;
    std::unique_ptr<Enclosure> enclosure_;
    Certificate certificate_;
};

}  // namespace

bool starts_at_saddle_equilibrium(const model::Model& model, const CertifyOptions& options) {
    if (!model.contacts.empty() || !model.clutches.empty()) return false;
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, why);
    if (!e) return false;
    const std::vector<double>& from = options.at.empty() ? model.q0 : options.at;
    const StationaryPoint near = find_stationary(*e, from);
    if (!near.found || near.minimum || !(near.curvature < -flat_curvature)) return false;
    // The start is an equilibrium if no direction separates its forces, for some signs of the reactions.
    const std::size_t frictional = frictional_constraints(*e).size();
    for (unsigned combination = 0; combination < (1U << frictional); ++combination) {
        const std::optional<ForceSet> forces =
            frictional_forces(*e, point_box(from), {}, signs_of(combination, frictional));
        if (forces && !separate(*forces)) return true;
    }
    return false;
}

Certificate certify_instability(const model::Model& model, const CertifyOptions& options) {
    model::refuse_elements(model, model::Analysis::instability);
    return Instability(model, options).certify();
}

}  // namespace saltus::stability
