// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/instability.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/attractivity_conditions.hpp"
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double inf = Interval::infinity;

const char* const text_minimum =
    "the equilibrium is stationary and no minimum of U: V = -T - (U - U_e) is positive next to it";
const char* const text_start = "there are states next to the equilibrium set with V > V_E, the largest V on it";
const char* const text_isolated = "the equilibrium set is isolated";

/// A stationary point of U that is no minimum.
Rest find_pass(const Enclosure& e, const std::vector<double>& from) {
    Rest near = find_stationary(e, from);
    if (near.found && !near.minimum) return near;
    const Rest bottom = find_minimum(e, from);
    if (!bottom.found) return bottom;
    const Domain domain = find_domain(e, bottom);
    Rest best = bottom;
    double lowest = inf;
    for (const Domain::Face& face : domain.faces) {
        Rest pass = find_stationary(e, list_of(face.at));
        if (!pass.found || pass.minimum) continue;
        const double U = expr::midpoint(e.potential(point_box(list_of(pass.q))));
        // Of two equal ones the one towards the start.
        const Vector start = Eigen::Map<const Vector>(from.data(), static_cast<Index>(from.size()));
        const bool nearer = (pass.q - start).norm() < (best.q - start).norm();
        const double room = 1e-9 * (1.0 + std::fabs(U));
        if (U + room < lowest || (U < lowest + room && nearer)) {
            lowest = std::min(lowest, U);
            best = pass;
        }
    }
    return best;
}

/// Positions around q_e: a box of the given half width, the constraints' dependent coordinates free in it.
Box neighbourhood(const Rest& rest, double radius) {
    Box box;
    for (Index k = 0; k < rest.q.size(); ++k) {
        const double r = radius * rest.scale[static_cast<std::size_t>(k)];
        box.emplace_back(rest.q(k) - r, rest.q(k) + r);
    }
    return box;
}

class Instability {
public:
    Instability(const model::Model& model, const CertifyOptions& options) : model_(model), options_(options) {}

    Certificate certify() {
        certificate_.theorem = "instability";
        certificate_.basis = "Theorem 2";
        std::string why;
        enclosure_ = Enclosure::of(model_, why);
        if (!enclosure_) {
            rows().push_back({"0", "the functions of the model can be bounded over boxes", Verdict::fails, why, {}});
            certificate_.summary = "not examined: " + why;
            return std::move(certificate_);
        }
        const Enclosure& e = *enclosure_;
        certificate_.warnings = model_.warnings;
        const std::optional<LinearSystem> linear = linear_system(e);
        if (linear) certificate_.basis = "Theorem 3";
        const Rest rest = find_pass(e, options_.at.empty() ? model_.q0 : options_.at);
        const RestBox box = enclose_rest(e, rest);
        if (rest.found) {
            certificate_.q = position_of(rest, box);
            certificate_.forces = forces_at(model_, rest);
        }
        const AdmissibleSet set(e, e.potential(box.proved() ? box.q : point_box(list_of(rest.q))));
        EquilibriumCover cover;
        const ExtremeEnergy top = linear ? largest_energy(*linear, -1.0) : ExtremeEnergy{};
        const Box domain = surround(set, rest, box, !top.found, cover);
        if (top.found) {
            cover.bottom = -top.value;
            cover.bottom_box = point_box(list_of(rest.q + top.q));
        }
        // Slow motions are enough: the statement is about arbitrarily small neighbourhoods.
        const double slow = 1e-3 * (1.0 + std::fabs(cover.bottom));
        const Ground ground{set, rest, box, domain, inf, slow, options_.budget};

        Condition first = kinetic_condition(ground);
        if (first.verdict != Verdict::fails && (!model_.contacts.empty() || !model_.clutches.empty())) {
            first.verdict = Verdict::fails;
            first.evidence = "the model has " + std::string(model_.contacts.empty() ? "clutches" : "contacts") +
                             "; the theorem is about motions without impacts, with constraints and sliders";
        }
        first.text += "; no unilateral contacts";
        rows().push_back(std::move(first));
        rows().push_back(pass_row(rest, box, linear));
        rows().push_back(dissipation_condition(ground));
        Condition kernel = kernel_condition(ground, {});
        kernel.id = "4";
        kernel.text = "V grows unless u = 0: friction acts on every velocity that is not damped";
        rows().push_back(std::move(kernel));
        rows().push_back(start_row(set, rest, cover, linear));
        rows().push_back(isolation_row(rest, cover, domain));
        conclude(cover, linear);
        return std::move(certificate_);
    }

private:
    std::vector<Condition>& rows() { return certificate_.conditions; }

    /// A neighbourhood that holds the equilibrium set around q_e and none of the others; the cover of the first.
    Box surround(const AdmissibleSet& set, const Rest& rest, const RestBox& box, bool bottom,
                 EquilibriumCover& cover) const {
        Box start = box.proved() ? box.q : point_box(list_of(rest.q));
        for (Interval& x : start)
            x = Interval(x.lo - 1e-12 * (1.0 + std::fabs(x.lo)), x.hi + 1e-12 * (1.0 + std::fabs(x.hi)));
        Box domain = neighbourhood(rest, 1.0);
        for (double radius = 0.25; radius < 3000.0; radius *= 2.0) {
            domain = neighbourhood(rest, radius);
            const CoverRequest request{domain, start, inf, 1.0 / 32.0, options_.budget, bottom};
            cover = cover_equilibria(set, rest.scale, request);
            if (!cover.complete) break;
            if (strictly_inside(cover, domain)) break;
        }
        return domain;
    }

    static bool strictly_inside(const EquilibriumCover& cover, const Box& domain) {
        for (const EquilibriumCover::Piece& p : cover.pieces)
            for (std::size_t k = 0; p.own && k < domain.size(); ++k)
                if (p.box[k].lo <= domain[k].lo || p.box[k].hi >= domain[k].hi) return false;
        return true;
    }

    Condition pass_row(const Rest& rest, const RestBox& box, const std::optional<LinearSystem>& linear) const {
        Condition c{"2", text_minimum, Verdict::fails, "", {}};
        if (linear) c.text = "the stiffness K is symmetric and has a negative eigenvalue";
        if (!rest.found) {
            c.evidence = rest.why;
            c.witness.q = list_of(rest.q);
            return c;
        }
        c.witness.q = list_of(rest.q);
        if (rest.free_directions == 0 || rest.curvature > -1e-9) {
            c.evidence = rest.minimum ? "the stationary point " + position_text(model_, rest.q) +
                                            " is a minimum of U, smallest curvature " + number(rest.curvature)
                                      : "U is flat at " + position_text(model_, rest.q);
            c.witness.values.emplace_back("curvature", rest.curvature);
            return c;
        }
        c.witness = {};
        c.verdict = box.proved() && negative(rest, box) ? Verdict::proved : Verdict::holds;
        c.evidence = "at " + position_text(model_, rest.q) + " the curvature of U is " + number(rest.curvature) +
                     " in some direction";
        return c;
    }

    /// dᵀ∇²L d < 0 along the constraints, over the box of q_e.
    bool negative(const Rest& rest, const RestBox& box) const {
        const Enclosure& e = *enclosure_;
        const IntervalMatrix J = stationarity_matrix(e, box.q, box.support, box.lambda);
        const int n = e.size();
        const IntervalMatrix rows = e.row_matrix(box.q);
        const std::optional<IntervalMatrix> T = tangents(rows_of(rows, box.support), n);
        if (!T || T->cols() == 0) return false;
        // The direction as a combination of tangents.
        const Vector y = least_squares(T->middle(), rest.direction);
        IntervalMatrix d = *T * IntervalMatrix(Matrix(y)), H(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) H(i, j) = J(i, j);
        return (transpose(d) * H * d)(0, 0).hi < 0.0;
    }

    Condition start_row(const AdmissibleSet& set, const Rest& rest, const EquilibriumCover& cover,
                        const std::optional<LinearSystem>& linear) {
        Condition c{"5", text_start, Verdict::proved, "", {}};
        const double V_E = std::max(0.0, -cover.bottom);
        certificate_.values.emplace_back("V_E", V_E);
        double along = V_E;  // at the end of the set along the eigenvector, where the printed proof begins
        if (linear && !cover.bottom_box.empty()) {
            const std::vector<double> at = centre(cover.bottom_box);
            for (std::size_t k = 0; k < at.size(); ++k) {
                const double q = rest.q(static_cast<Index>(k));
                certificate_.values.emplace_back("x0 " + model_.coordinates[k], q + 1.01 * (at[k] - q));
            }
            const EigenvectorEnd end = eigenvector_end(*linear);
            if (end.reach > 0.0) certificate_.values.emplace_back("V_at_eigenvector_end", along = end.value);
        }
        if (cover.bottom_box.empty() || !rest.found) {
            c.verdict = Verdict::fails;
            c.evidence = "no equilibrium set was covered";
            return c;
        }
        if (V_E <= 1e-12) {
            c.verdict = rows()[1].verdict;
            c.evidence =
                "the set is the point itself, V_E = 0: V is positive along the direction of negative curvature";
            return c;
        }
        // Where V is largest on the set, U still falls along some direction that the constraints allow.
        const std::optional<ForceSet> forces = statics(set.enclosure(), cover.bottom_box, {}, {false, {}});
        const bool falls = forces && separate(*forces);
        const std::vector<double> at = centre(cover.bottom_box);
        c.evidence = "V_E = " + number(V_E) + " at " +
                     position_text(model_, Eigen::Map<const Vector>(at.data(), static_cast<Index>(at.size()))) +
                     ", where U goes on falling outwards";
        if (along < 0.999 * V_E)
            c.evidence += "; at the set's end along the eigenvector V is only " + number(along) +
                          ", so that the start is taken beyond the former";
        if (!falls) c.verdict = Verdict::holds;
        return c;
    }

    Condition isolation_row(const Rest& rest, const EquilibriumCover& cover, const Box& domain) const {
        Condition c{"6", text_isolated, Verdict::proved, "", {}};
        if (!rest.found || !cover.complete) {
            c.verdict = rest.found ? Verdict::holds : Verdict::fails;
            c.evidence =
                rest.found ? "the budget ended before its surroundings were covered" : "there is no equilibrium";
            return c;
        }
        if (!strictly_inside(cover, domain)) {
            c.verdict = Verdict::fails;
            c.evidence = "it reaches as far as was looked";
            for (const EquilibriumCover::Piece& p : cover.pieces)
                for (std::size_t k = 0; p.own && k < domain.size(); ++k)
                    if (p.box[k].lo <= domain[k].lo || p.box[k].hi >= domain[k].hi) {
                        // Straight on from the equilibrium if it can be, which is exact.
                        std::vector<double> along = list_of(rest.q);
                        along[k] = p.box[k].lo <= domain[k].lo ? domain[k].lo : domain[k].hi;
                        const std::optional<ForceSet> forces =
                            statics(*enclosure_, point_box(along), p.closed, {true, p.signs});
                        c.witness.q = forces && !separate(*forces) ? along : centre(p.box);
                        c.witness.u.assign(along.size(), 0.0);
                    }
            return c;
        }
        std::string extent;
        for (std::size_t k = 0; k < domain.size(); ++k) {
            double lo = inf, hi = -inf;
            for (const EquilibriumCover::Piece& p : cover.pieces)
                if (p.own) lo = std::min(lo, p.box[k].lo), hi = std::max(hi, p.box[k].hi);
            extent +=
                (extent.empty() ? "" : ", ") + model_.coordinates[k] + " in [" + number(lo) + ", " + number(hi) + "]";
        }
        c.evidence = "it lies in " + extent + ", without another one around it";
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
        if (none_fails(rows())) {
            certificate_.outcome = Outcome::unstable;
            certificate_.summary =
                linear ? "the equilibrium set is unstable: negative stiffness" : "the equilibrium set is unstable";
            return;
        }
        certificate_.grade = Grade::numerical;
        std::vector<std::string> failing;
        for (const Condition& c : rows())
            if (c.verdict == Verdict::fails) failing.push_back(c.id);
        certificate_.summary = "condition" + std::string(failing.size() > 1 ? "s " : " ") + listing(failing) +
                               (failing.size() > 1 ? " fail" : " fails");
    }

    const model::Model& model_;
    const CertifyOptions& options_;
    std::unique_ptr<Enclosure> enclosure_;
    Certificate certificate_;
};

}  // namespace

bool rests_on_a_pass(const model::Model& model, const CertifyOptions& options) {
    if (!model.contacts.empty() || !model.clutches.empty()) return false;
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, why);
    if (!e) return false;
    const std::vector<double>& from = options.at.empty() ? model.q0 : options.at;
    const Rest near = find_stationary(*e, from);
    if (!near.found || near.minimum || !(near.curvature < -1e-9)) return false;
    // At rest there: the forces of the laws balance.
    const std::size_t frictional = frictional_constraints(*e).size();
    const Box point = point_box(from);
    for (unsigned mask = 0; mask < (1U << frictional); ++mask) {
        std::vector<int> signs;
        for (std::size_t k = 0; k < frictional; ++k) signs.push_back((mask >> k & 1U) != 0 ? -1 : 1);
        const std::optional<ForceSet> forces = statics(*e, point, {}, {true, signs});
        if (forces && !separate(*forces)) return true;
    }
    return false;
}

Certificate certify_instability(const model::Model& model, const CertifyOptions& options) {
    return Instability(model, options).certify();
}

}  // namespace saltus::stability
