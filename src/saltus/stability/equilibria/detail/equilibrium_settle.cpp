// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

namespace {

/// The violation Σ|F| + Σ max(0, −gap) is relative (see RestingManifold).
constexpr double balanced = 1e-12;           ///< without a cost the search ends if the violation is at most this
constexpr double settled_violation = 1e-10;  ///< a search has succeeded if the violation is at most this in the end
constexpr double open_violation = 1e-9;      ///< if a program leaves more than this, the penalty weight is raised

constexpr double first_weight = 100.0;  ///< penalty weight of the violation relative to the cost
constexpr double largest_weight = 1e7;  ///< no raise above this
/// Price of a unit of displacement, with and without a cost: among equal solutions the nearest is taken.
constexpr double step_price_with_cost = 1e-9, step_price = 1e-3;
/// The search ends if a step is at most this long, or predicts at most this decrease of the merit function.
constexpr double vanishing_step = 1e-15;
/// First radius of a search with one sign changed, started from an equilibrium.
constexpr double radius_after_sign_change = 1e-3;
/// A result is better only if its cost is smaller by more than this part of Σ|c_i|(1 + |q_i|).
constexpr double negligible_cost = 1e-13;
constexpr int max_sign_changes = 20;

using Index = Eigen::Index;
using solvers::ProgramStatus;

}  // namespace

/// Σ|F| and the depths of gaps below zero.
double RestingManifold::violation(const Linear& l, const Vector& lambda) const {
    const Vector F = l.constant + l.B * lambda.cwiseQuotient(l.unit_lambda);
    return F.cwiseAbs().sum() - (l.gaps.size() > 0 ? l.gaps.cwiseMin(0.0).sum() : 0.0);
}

/// The program of one step, over x = (δ⁺, δ⁻, r⁺, r⁻, e) and allowed forces λ, in units:
///     F(q, λ) + J (δ⁺ − δ⁻) + r⁺ − r⁻ = 0,   gaps + gap_slopes (δ⁺ − δ⁻) + e >= 0,   0 <= δ± <= radius,   r±, e >= 0.
/// r and e take up what the linearised equations and gaps cannot fulfil.
ForceProgram RestingManifold::settle_program(const Linear& l, const std::vector<int>& sign, double radius) {
    const Index n = size(), equations = l.constant.size(), gaps = l.gaps.size();
    ForceProgram program;
    program.elements = &l.statics.elements;
    program.sign = sign;
    program.margin = false;
    program.B = l.B * l.unit_lambda.cwiseInverse().asDiagonal();
    program.b = -l.constant;
    const Index width = 2 * n + 2 * equations + gaps, rest = 2 * n;
    program.A = Matrix::Zero(equations, width);
    program.A.leftCols(n) = l.J;
    program.A.middleCols(n, n) = -l.J;
    program.A.middleCols(rest, equations).setIdentity();
    program.A.middleCols(rest + equations, equations) = -Matrix::Identity(equations, equations);
    program.lower = Vector::Zero(width);
    program.upper = Vector::Constant(width, infinity);
    program.upper.head(rest).setConstant(radius);
    program.C = Matrix::Zero(gaps, width);
    if (gaps > 0) {
        program.C.leftCols(n) = l.gap_slopes;
        program.C.middleCols(n, n) = -l.gap_slopes;
        program.C.rightCols(gaps).setIdentity();
    }
    program.d = -l.gaps;
    program.size = 1.0;
    if (!model_.model().sliders.empty()) {
        const Matrix slopes = model_.load_slopes(l.statics) * l.unit_q.asDiagonal();
        program.load_slope = Matrix::Zero(static_cast<Index>(l.statics.elements.size()), width);
        program.load_slope.leftCols(n) = slopes;
        program.load_slope.middleCols(n, n) = -slopes;
    }
    return program;
}

/// Friction coefficients may depend on the position. The program has those of q: its friction forces are λ̂ ∈ λ_N μ(q)
/// C. At q + δ the forces λ_i = λ̂_i (1 + s_i·δ) with s_i = ∂ln μ_i/∂q obey the laws to first order. Their change λ_i
/// s_i·δ is added to J. Returns the rows s_i.
Matrix RestingManifold::follow_friction(Linear& l, const Vector& lambda) {
    Matrix slopes = model_.friction_slopes(l.statics);
    if (slopes.isZero(0.0)) return slopes;
    const Statics& s = l.statics;
    const double size = s.size > 0.0 ? s.size : 1.0;
    l.J.topRows(s.h.size()) +=
        s.scale.cwiseInverse().asDiagonal() * (s.W * lambda.asDiagonal() * slopes) * l.unit_q.asDiagonal() / size;
    return slopes;
}

/// Sequential linear programming with a trust region, for one choice of signs. Around (q, λ_k), with δ in a box,
///     F ≈ F(q, λ) + ∂F(q, λ_k)/∂q δ
/// is linear in the new λ and in δ. The merit function is cost·q + weight · violation (exact l₁ penalty). A step is
/// accepted if the merit function decreases by at least a tenth of what the program predicts; the radius of the box
/// shrinks after a bad prediction and grows after a good one.
bool RestingManifold::settle_signed(RestPoint& p, const Vector& cost, const SettleOptions& options) {
    constexpr double accepted_ratio = 0.1, poor_ratio = 0.25, good_ratio = 0.75;  // of actual to predicted decrease
    const Index n = size();
    double weight = first_weight, radius = options.radius;
    const Linear here = evaluate(p.q);
    // The number of forces and elements may differ from those of the position that p was computed for.
    if (p.lambda.size() != here.B.cols() || p.sign.size() != here.statics.elements.size()) p = at(p.q);
    const double price = cost.size() > 0 ? cost.cwiseProduct(here.unit_q).cwiseAbs().maxCoeff() : 0.0;
    const auto value = [&](const Vector& q) { return price > 0.0 ? cost.dot(q) / price : 0.0; };
    double broken = violation(here, p.lambda);
    bool forces_lawful = false;  // the start forces need not obey the laws; those of a program do
    for (int round = 0; round < options.max_steps && !(interrupted && interrupted()); ++round) {
        Linear l = linearise(p.q, p.lambda, GapSlopes::compute);
        const Matrix friction = follow_friction(l, p.lambda);
        const ForceProgram program = settle_program(l, p.sign, radius);
        const Index width = program.A.cols(), rest = 2 * n;
        ForceCost c;
        c.x = Vector::Constant(width, weight);
        c.x.head(rest).setConstant(price > 0.0 ? step_price_with_cost : step_price);
        if (price > 0.0) {
            c.x.head(n) += cost.cwiseProduct(l.unit_q) / price;
            c.x.segment(n, n) -= cost.cwiseProduct(l.unit_q) / price;
        }
        ++programs;
        const ForceSolution step = solve(program, c, &corners_);
        if (step.status != ProgramStatus::optimal) return false;
        RestPoint next = p;
        const Vector delta = step.x.head(n) - step.x.segment(n, n);
        next.q = p.q + delta.cwiseProduct(l.unit_q);
        next.lambda = step.lambda + step.lambda.cwiseProduct(friction * (next.q - p.q));
        const Linear there = evaluate(next.q);
        const double left = step.x.tail(width - rest).sum();
        const bool same_forces = there.B.cols() == l.B.cols() && there.statics.elements.size() == p.sign.size();
        double next_broken = same_forces ? violation(there, next.lambda) : infinity;
        // The program knows coefficients and loads to first order: at next.q the forces may break the laws.
        if (same_forces && !model_.model().layout().coefficients_constant)
            next_broken += examine(there.statics, next.lambda).law;
        const double predicted = (value(p.q) - value(next.q)) + weight * (broken - left);
        const double actual = (value(p.q) - value(next.q)) + weight * (broken - next_broken);
        const double length = delta.cwiseAbs().maxCoeff();
        const bool first = !forces_lawful;
        const bool accept = std::isfinite(next_broken) && (first || actual >= accepted_ratio * predicted);
        if (accept) {
            p.q = next.q;
            p.lambda = next.lambda;
            broken = next_broken;
            forces_lawful = true;
        }
        if (price == 0.0 && accept && broken <= balanced) break;
        if (length <= vanishing_step || (!first && accept && predicted <= vanishing_step)) break;
        if (!accept || (!first && actual < poor_ratio * predicted))
            radius = std::min(radius, length) * (accept ? 0.5 : 0.25);
        else if (actual > good_ratio * predicted && length > 0.9 * radius)
            radius = std::min(2.0 * radius, options.largest);
        if (radius < options.smallest) break;
        if (left > open_violation && length < 0.5 * radius && weight < largest_weight) weight *= 10.0;
    }
    p.residual = broken;
    return forces_lawful && broken <= settled_violation;
}

bool RestingManifold::settle(RestPoint& p, const Vector& cost, const SettleOptions& options) {
    if (p.sign.empty()) p = at(p.q);
    bool settled = settle_signed(p, cost, options);
    // The search may have ended where a reaction with friction vanishes; it then continues with the other sign.
    int sign_changes = 0;
    for (std::size_t k = 0; k < p.sign.size() && sign_changes < max_sign_changes; ++k) {
        if (p.sign[k] == 0) continue;
        RestPoint other = p;
        other.sign[k] = -other.sign[k];
        if (cost.size() == 0 && settled) break;
        SettleOptions near = options;
        if (settled) near.radius = std::min(options.radius, radius_after_sign_change);
        const bool other_settled = settle_signed(other, cost, near);
        const bool better =
            cost.size() > 0 && cost.dot(other.q) < cost.dot(p.q) - negligible_cost * cost.cwiseAbs().dot(unit(p.q));
        if (!other_settled || (settled && !better)) continue;
        p = other;
        settled = true;
        ++sign_changes;
        k = static_cast<std::size_t>(-1);  // start again with the first element
    }
    return settled;
}

}  // namespace saltus::stability
