// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/functions/function_proof.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/functions/element_powers.hpp"
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Newton's method for h(q, 0) = 0.
constexpr int max_newton_steps = 50;
constexpr double newton_accuracy = 1e-13;
/// Coordinates of the equilibrium below this are taken to be 0.
constexpr double zero_position = 1e-12;
/// Steps that remove rounding errors from the loads of several contacts.
constexpr int refinements = 3;
/// Equilibria in the box are covered by boxes of this fraction of its sides.
constexpr double cover_resolution = 1.0 / 64.0;

class Proof {
public:
    Proof(const model::Mechanics& model, StateFunction& V, Course course, const CertifyOptions& options)
        : model_(model), V_(V), options_(options), falls_(course == Course::falls), course_(course) {}

    FunctionProof run() {
        r_.enclosure = Enclosure::of(model_, r_.why);
        if (!r_.enclosure) return std::move(r_);
        if (sliding_directions(model_)) {
            r_.why = "a slider's surface moves; without --V steady sliding on it is examined";
            return std::move(r_);
        }
        if (!find_equilibrium()) return std::move(r_);
        set_scales();
        if (!model_.autonomous) return std::move(r_);
        if (!has_elements(model_) && V_.has_rate() && exact()) r_.proof = prove_around(V_, *r_.enclosure, request());
        if (has_elements(model_) && V_.has_smooth_rate()) prove_with_elements();
        return std::move(r_);
    }

private:
    /// With contacts and friction: the minimum or stationary point of U. Otherwise Newton's method for h(q, 0) = 0.
    bool find_equilibrium() {
        const std::vector<double>& from = options_.at.empty() ? model_.q0 : options_.at;
        if (has_elements(model_)) {
            r_.point = falls_ ? find_minimum(*r_.enclosure, from) : find_stationary(*r_.enclosure, from);
            if (!r_.point.found) {
                r_.why = r_.point.why;
                return false;
            }
        } else if (!newton(from)) {
            r_.why = "no equilibrium was found from " + position_text(model_, vector_of(from));
            return false;
        }
        for (double& x : r_.point.q)
            if (std::fabs(x) < zero_position) x = 0.0;
        r_.q = list_of(r_.point.q);
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
            r_.point.found = true;
            r_.point.q = q;
            r_.point.scale.assign(ix(q.size()), 1.0);
            return true;
        }
        return false;
    }

    /// Scales of the states: positions as found by the search, velocities such that both change V alike.
    void set_scales() {
        const std::size_t n = r_.q.size();
        r_.scale = r_.point.scale;
        r_.scale.resize(2 * n, 1.0);
        const IntervalMatrix H = V_.hessian(r_.state());
        for (std::size_t i = 0; i < n; ++i) {
            const int a = static_cast<int>(i), b = static_cast<int>(n + i);
            const double position = std::fabs(expr::midpoint(H(a, a))), velocity = std::fabs(expr::midpoint(H(b, b)));
            const double ratio = velocity > 0.0 ? std::sqrt(position / velocity) : 0.0;
            r_.scale[n + i] = r_.scale[i] * (ratio > 0.0 && std::isfinite(ratio) ? ratio : 1.0);
        }
    }

    /// x_e is exactly an equilibrium, and ∇V(x_e) is exactly 0. Otherwise the formula of Taylor (state_proofs.hpp)
    /// cannot be used.
    bool exact() const {
        const IntervalVector h = r_.enclosure->force(point_box(r_.q), Box(r_.q.size(), Interval(0.0)));
        const std::vector<Interval> gradient = V_.gradient(r_.state());
        return std::all_of(h.begin(), h.end(), [](const Interval& x) { return is_zero(x); }) &&
               std::all_of(gradient.begin(), gradient.end(), [](const Interval& x) { return is_zero(x); });
    }

    StateProofRequest request() const {
        return {r_.state(), r_.scale, course_, falls_, options_.budget, options_.stop};
    }

    /// Models with contacts, constraints, sliders or clutches. If V must grow, the proof that only rest keeps V is not
    /// enough: friction holds a set of equilibria, and V would have to be compared with its largest value on the set.
    void prove_with_elements() {
        StateProofRequest asked = request();
        if (!find_support(asked.support)) return;
        const ElementPowers elements(V_, *r_.enclosure, course_);
        asked.elements = &elements;
        asked.point = &r_.point;
        const IntervalVector h = r_.enclosure->force(point_box(r_.q), Box(r_.q.size(), Interval(0.0)));
        asked.force_free =
            asked.support.empty() && std::all_of(h.begin(), h.end(), [](const Interval& x) { return is_zero(x); });
        // Row 2 needs states next to x_e with V > V(x_e) in any direction. Constraints and clutches exclude some.
        if (!falls_ && (!asked.force_free || !model_.constraints.empty() || !model_.clutches.empty())) return;
        r_.proof = prove_around(V_, *r_.enclosure, asked);
        if (!falls_ && !r_.proof.strict) r_.proof = {};
        r_.support = asked.support;
        if (r_.proof.dissipative) cover_equilibria_in_box();
    }

    /// ∇V(x_e) = 0 exactly, or ∇V(x_e) = Σ α_i ∇g_i exactly with α_i >= 0 and the contacts i that are closed at q_e. A
    /// gap of q_e must be exactly 0 or positive.
    bool find_support(Support& support) {
        const std::vector<Interval> gradient = V_.gradient(r_.state());
        const IntervalVector g = r_.enclosure->position_values(point_box(r_.q));
        std::vector<int> closed;
        for (int r = r_.enclosure->constraints(); r < r_.enclosure->positions(); ++r) {
            const Interval& gap = g[ix(r)];
            if (is_zero(gap))
                closed.push_back(r);
            else if (!gap.defined || !(gap.lo > 0.0))
                return false;
        }
        r_.open = closed.empty();
        if (std::all_of(gradient.begin(), gradient.end(), [](const Interval& x) { return is_zero(x); })) return true;
        if (closed.empty() || !falls_) return false;
        return support_of_one(gradient, closed, support) || support_of_several(gradient, closed, support);
    }

    /// One contact, whose gap changes along one coordinate only at q_e, as V does: α is the quotient of both slopes.
    bool support_of_one(const std::vector<Interval>& gradient, const std::vector<int>& closed, Support& support) const {
        const IntervalMatrix W = r_.enclosure->row_matrix(point_box(r_.q));
        const std::size_t n = r_.q.size();
        for (const int r : closed) {
            int along = -1, count = 0;
            for (std::size_t i = 0; i < n; ++i)
                if (!is_zero(W(r, static_cast<int>(i)))) along = static_cast<int>(i), ++count;
            if (count != 1) continue;
            bool others = false;
            for (std::size_t i = 0; i < 2 * n; ++i) others = others || (i != ix(along) && !is_zero(gradient[i]));
            const Interval force = gradient[ix(along)] / W(r, along);
            if (others || !force.defined || !(force.lo >= 0.0)) continue;
            support.loads = {{r, force, along}};
            return true;
        }
        return false;
    }

    /// Several contacts share V's slope. Their numbers α solve a least-squares problem, and the balance must then be
    /// exact: Interval sums of numbers that are representable have no rounding.
    bool support_of_several(const std::vector<Interval>& gradient, const std::vector<int>& closed,
                            Support& support) const {
        const IntervalMatrix W = rows_of(r_.enclosure->row_matrix(point_box(r_.q)), closed);
        if (!W.finite()) return false;
        const std::size_t n = r_.q.size();
        Vector slope(static_cast<Index>(n));
        for (std::size_t i = 0; i < n; ++i) slope(static_cast<Index>(i)) = expr::midpoint(gradient[i]);
        const Matrix columns = W.middle().transpose();
        Vector alpha = least_squares(columns, slope);
        // Refinement removes rounding errors of the solution: if the exact α are representable, they are found.
        for (int k = 0; k < refinements && alpha.allFinite(); ++k) {
            Vector left(slope.size());
            for (Index i = 0; i < left.size(); ++i) {
                long double sum = slope(i);
                for (Index j = 0; j < alpha.size(); ++j) sum -= static_cast<long double>(columns(i, j)) * alpha(j);
                left(i) = static_cast<double>(sum);
            }
            alpha += least_squares(columns, left);
        }
        if (!alpha.allFinite()) return false;
        std::vector<Interval> rest = gradient;
        Support found;
        for (int k = 0; k < W.rows(); ++k) {
            if (!(alpha(k) >= 0.0)) return false;
            found.loads.push_back({closed[ix(k)], Interval(alpha(k)), -1});
            for (std::size_t i = 0; i < n; ++i)
                if (!is_zero(W(k, static_cast<int>(i))))
                    rest[i] -= found.loads[ix(k)].force * W(k, static_cast<int>(i));
        }
        if (!std::all_of(rest.begin(), rest.end(), [](const Interval& x) { return is_zero(x); })) return false;
        support = found;
        return true;
    }

    /// The largest V at equilibria in B, relative to V(x_e); +∞ if they are not bounded.
    void cover_equilibria_in_box() {
        const Box at = point_box(r_.q);
        const AdmissibleSet set(*r_.enclosure, r_.enclosure->potential(at), options_.stop);
        CoverRequest request;
        request.domain = Box(r_.proof.box.begin(), r_.proof.box.begin() + static_cast<std::ptrdiff_t>(r_.q.size()));
        request.start = at;
        request.resolution = cover_resolution;
        request.budget = options_.budget;
        const EquilibriumCover cover = cover_equilibria(set, r_.point.scale, request);
        r_.highest = cover.covers ? 0.0 : infinity;
        const double V_e = V_.value(r_.state()).lo;
        for (const EquilibriumCover::Piece& p : cover.pieces) {
            Box x = p.box;
            x.resize(2 * r_.q.size(), Interval(0.0));
            const Interval V = V_.value(x);
            r_.highest = std::max(r_.highest, V.defined && bounded(p.box) ? expr::next_up(V.hi - V_e) : infinity);
        }
    }

    const model::Mechanics& model_;
    StateFunction& V_;
    const CertifyOptions& options_;
    const bool falls_;
    const Course course_;
    FunctionProof r_;
};

}  // namespace

Box FunctionProof::state() const {
    Box x = point_box(q);
    x.resize(2 * q.size(), Interval(0.0));
    return x;
}

bool has_elements(const model::Mechanics& m) {
    return !m.contacts.empty() || !m.constraints.empty() || !m.sliders.empty() || !m.clutches.empty();
}

FunctionProof prove_function(const model::Mechanics& model, StateFunction& V, Course course,
                             const CertifyOptions& options) {
    return Proof(model, V, course, options).run();
}

}  // namespace saltus::stability
