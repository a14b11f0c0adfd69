// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double balanced = 1e-12;  ///< residual of equations that counts as none
using Index = Eigen::Index;
using solvers::ProgramStatus;

}  // namespace

/// Σ|F| and the depths of gaps below zero.
double RestingManifold::violation(const Linear& l, const Vector& lambda) const {
    const Vector F = l.constant + l.B * lambda.cwiseQuotient(l.unit_lambda);
    return F.cwiseAbs().sum() - (l.gaps.size() > 0 ? l.gaps.cwiseMin(0.0).sum() : 0.0);
}

/// One choice of signs. Around (q, λ_k), with δ in a box,
///     F ≈ F(q, λ) + ∂F(q, λ_k)/∂q δ,
/// is linear in the new λ and δ. What it cannot fulfil is paid for: merit = cost·q + weight · violation.
bool RestingManifold::settle_signed(RestPoint& p, const Vector& cost, const SettleOptions& options) {
    const Index n = size();
    double weight = 100.0, radius = options.radius;
    Linear here;
    evaluate(p.q, here);
    if (p.lambda.size() != here.B.cols()) p = at(p.q);
    const double price = cost.size() > 0 ? cost.cwiseProduct(here.unit_q).cwiseAbs().maxCoeff() : 0.0;
    const auto value = [&](const Vector& q) { return price > 0.0 ? cost.dot(q) / price : 0.0; };
    double broken = violation(here, p.lambda);
    bool forces_lawful = false;  // the first λ need not be
    for (int round = 0; round < options.most; ++round) {
        const Linear l = linearise(p.q, p.lambda, true);
        const Index equations = l.constant.size(), gaps = l.gaps.size();
        ForceProgram program;
        program.elements = &l.statics.elements;
        program.sign = p.sign;
        program.margin = false;
        program.B = l.B * l.unit_lambda.cwiseInverse().asDiagonal();
        program.b = -l.constant;
        // x = (δ⁺, δ⁻, r⁺, r⁻, e): δ in units, e lifts gaps
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
        ForceCost c;
        c.x = Vector::Constant(width, weight);
        c.x.head(rest).setConstant(price > 0.0 ? 1e-9 : 1e-3);  // no further than it must be
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
        next.lambda = step.lambda;
        Linear there;
        evaluate(next.q, there);
        const double left = step.x.tail(width - rest).sum();
        const double next_broken = violation(there, next.lambda);
        const double predicted = (value(p.q) - value(next.q)) + weight * (broken - left);
        const double actual = (value(p.q) - value(next.q)) + weight * (broken - next_broken);
        const double length = delta.cwiseAbs().maxCoeff();
        const bool first = !forces_lawful, accept = std::isfinite(next_broken) && (first || actual >= 0.1 * predicted);
        if (accept) {
            p.q = next.q;
            p.lambda = next.lambda;
            broken = next_broken;
            forces_lawful = true;
        }
        if (price == 0.0 && accept && broken <= balanced) break;
        if (length <= 1e-15 || (!first && accept && predicted <= 1e-15)) break;
        if (!accept || (!first && actual < 0.25 * predicted))
            radius = std::min(radius, length) * (accept ? 0.5 : 0.25);
        else if (actual > 0.75 * predicted && length > 0.9 * radius)
            radius = std::min(2.0 * radius, options.largest);
        if (radius < options.smallest) break;
        if (left > 1e-9 && length < 0.5 * radius && weight < 1e7) weight *= 10.0;
    }
    p.residual = broken;
    return forces_lawful && broken <= 1e-10;
}

bool RestingManifold::settle(RestPoint& p, const Vector& cost, const SettleOptions& options) {
    if (p.sign.empty()) p = at(p.q);
    bool settled = settle_signed(p, cost, options);
    // A reaction that comes to zero may go on with the other sign.
    int turns = 0;
    for (std::size_t k = 0; k < p.sign.size() && turns < 20; ++k) {
        if (p.sign[k] == 0) continue;
        RestPoint other = p;
        other.sign[k] = -other.sign[k];
        if (cost.size() == 0 && settled) break;
        SettleOptions near = options;
        if (settled) near.radius = std::min(options.radius, 1e-3);
        const bool fine = settle_signed(other, cost, near);
        const bool better =
            cost.size() > 0 && cost.dot(other.q) < cost.dot(p.q) - 1e-13 * cost.cwiseAbs().dot(unit(p.q));
        if (!fine || (settled && !better)) continue;
        p = other;
        settled = true;
        ++turns;
        k = static_cast<std::size_t>(-1);  // once more for the others
    }
    return settled;
}

}  // namespace saltus::stability
