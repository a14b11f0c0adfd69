// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_forces.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

using solvers::ProgramStatus;
using trajectory::ElementKind;

/// Columns of W that depend on others to this relative accuracy do not count for the least-norm forces.
constexpr double dependent_column = 1e-10;
/// The least-norm forces are taken only if their ForceDefects::law is at most this.
constexpr double negligible_law_defect = 1e-14;
/// The doubling of a load stops at this bound; it is never reached by forces of ordinary size.
constexpr double largest_load = 1e300;

/// The balance h + Wλ = 0 in units of `scale` and in an orthonormal basis R of the range of W:
///     Rᵀ(W/scale) λ = −Rᵀ(h/scale),
/// which has full row rank, and the part of h outside the range, which no force can hold.
struct Reduced {
    Matrix range;       ///< R
    Matrix B;           ///< Rᵀ(W/scale)
    Vector b;           ///< −Rᵀ(h/scale)
    Vector rest;        ///< (I − RRᵀ)(h/scale)
    double size = 0.0;  ///< that forces are compared with

    explicit Reduced(const Statics& s) {
        const Vector h = s.h.cwiseQuotient(s.scale);
        const Matrix W = s.scale.cwiseInverse().asDiagonal() * s.W;
        range = range_of(W);
        B = range.transpose() * W;
        b = -(range.transpose() * h);
        rest = h - range * (range.transpose() * h);
        size = std::max(s.size, h.norm());
    }
    double defect() const { return size > 0.0 ? rest.norm() / size : 0.0; }
};

/// The laws of constraints with friction, λ_T ∈ |ν| C, are not convex: each is a union of two cones, for σ = sign ν =
/// ±1. This search branches over the signs (branch and bound). With some signs still open (σ = 0: reaction and friction
/// are free) the program is a relaxation, so that its margin bounds the margins of all its branches from above:
///   - a relaxation with margin <= best margin cannot improve and its branches are skipped;
///   - a relaxation with margin < 0 disproves all its branches at once, by the separation that its dual point gives.
/// If the optimum of max t is < 0 then the dual point y fulfils yᵀb > yᵀBλ for all allowed λ (Farkas), that is
/// v·(h + Wλ) > 0 for v = −R y/scale.
class SignSearch {
public:
    SignSearch(const Statics& s, const Reduced& r, const BalanceOptions& options, ForceCorners* corners)
        : s_(s), r_(r), options_(options), corners_(corners) {
        for (std::size_t k = 0; k < s.elements.size(); ++k)
            if (s.elements[k].two_signed()) open_.push_back(k);
        best_.margin = -infinity;
    }

    Balance run() {
        program_.elements = &s_.elements;
        program_.sign.assign(s_.elements.size(), 0);
        program_.B = r_.B;
        program_.b = r_.b;
        program_.A = Matrix(r_.b.size(), 0);
        program_.size = r_.size;
        descend(0);
        best_.holds = best_.margin >= -rest_tolerance;
        if (best_.holds) best_.separations.clear();
        return best_;
    }

private:
    void descend(std::size_t depth) {
        if (stop_) return;
        if (++programs_ > options_.max_programs) {
            best_.decided = false;
            stop_ = true;
            return;
        }
        const ForceSolution solution = solve(program_, {{}, {}, -1.0}, corners_);
        if (solution.status != ProgramStatus::optimal) {
            if (depth == open_.size()) best_.decided = false;
            if (depth == open_.size()) return;
        } else {
            if (solution.t < -rest_tolerance) {
                separate(solution);
                if (depth == open_.size() && solution.t > best_.margin) keep(solution);
                // The relaxation has no solution, so no branch has one. The branches are still examined if the largest
                // (negative) margin is wanted.
                if (depth < open_.size() && !options_.best_margin) return;
            } else if (depth == open_.size()) {
                if (solution.t > best_.margin) keep(solution);
                if (!options_.best_margin || best_.margin >= 1.0) stop_ = true;
                return;
            }
            if (solution.t <= best_.margin) return;
        }
        if (depth == open_.size()) return;
        const std::size_t k = open_[depth];
        const double guess = solution.lambda.size() > 0 ? solution.lambda(s_.elements[k].normal) : 1.0;
        const int first = guess < 0.0 ? -1 : 1;
        for (const int sign : {first, -first}) {
            program_.sign[k] = sign;
            descend(depth + 1);
        }
        program_.sign[k] = 0;
    }

    void keep(const ForceSolution& solution) {
        best_.margin = solution.t;
        best_.lambda = solution.lambda;
        best_.sign = program_.sign;
    }

    void separate(const ForceSolution& solution) {
        // Skip it if a separation that is known covers these signs.
        for (const Separation& other : best_.separations) {
            bool covered = true;
            for (const std::size_t k : open_) covered &= other.sign[k] == 0 || other.sign[k] == program_.sign[k];
            if (covered) return;
        }
        Separation out;
        out.v = -(r_.range * solution.y).cwiseQuotient(s_.scale);
        out.v /= out.v.cwiseProduct(s_.scale).norm();
        out.sign = program_.sign;
        out.power = least_power(s_, out.sign, out.v);
        best_.separations.push_back(std::move(out));
    }

    const Statics& s_;
    const Reduced& r_;
    const BalanceOptions& options_;
    ForceCorners* corners_;
    ForceProgram program_;
    std::vector<std::size_t> open_;  ///< elements whose reaction has two signs
    Balance best_;
    int programs_ = 0;   ///< solved so far
    bool stop_ = false;  ///< the search is finished or has reached its limit
};

}  // namespace

Balance balance(const Statics& s, const BalanceOptions& options, ForceCorners* corners) {
    const Reduced reduced(s);
    Balance result = SignSearch(s, reduced, options, corners).run();
    result.defect = reduced.defect();
    if (result.defect > rest_tolerance) {
        result.holds = false;
        Separation out;
        out.v = reduced.rest.cwiseQuotient(s.scale);
        out.v /= out.v.cwiseProduct(s.scale).norm();
        out.sign.assign(s.elements.size(), 0);
        out.power = least_power(s, out.sign, out.v);
        result.separations = {out};
        result.decided = true;
    }
    if (!s.moves.empty()) result.holds = false;
    return result;
}

ForceDefects examine(const Statics& s, const Vector& lambda) {
    ForceDefects out;
    Vector left = s.h, terms = s.h.cwiseAbs();
    left += s.W * lambda;
    terms += s.W.cwiseAbs() * lambda.cwiseAbs();
    const double size = std::max(s.size, terms.cwiseQuotient(s.scale).norm());
    if (size > 0.0) out.balance = left.cwiseQuotient(s.scale).norm() / size;
    // The relative size of a force along a column: ‖w/scale‖ times the force, divided by the size of all terms.
    const auto weigh = [&](int column, double force) {
        return size > 0.0 ? std::max(0.0, force) * s.W.col(column).cwiseQuotient(s.scale).norm() / size : 0.0;
    };
    for (const RestingElement& e : s.elements) {
        double load = e.load;
        if (e.normal >= 0) load = lambda(e.normal);
        if (e.kind == ElementKind::contact || e.kind == ElementKind::clutch)
            out.law = std::max(out.law, weigh(e.normal, -load));
        if (e.kind == ElementKind::constraint) load = std::abs(load);
        if (e.body.empty()) continue;
        const Vector force = lambda.segment(e.slip, e.body.dimension);
        if (e.sliding.size() > 0) {
            out.law = std::max(out.law, weigh(e.slip, (force - load * e.sliding).norm()));
            continue;
        }
        const std::span<const double> f(force.data(), static_cast<std::size_t>(force.size()));
        if (e.body.contains(f, load, 0.0)) continue;
        // The violation is the additional load under which the friction force would be allowed. Bisection finds it for
        // bodies of any shape.
        double lo = 0.0, hi = std::max(std::abs(load), force.norm());
        while (!e.body.contains(f, std::max(0.0, load) + hi, 0.0) && hi < largest_load) hi *= 2.0;
        constexpr int max_bisections = 100;
        for (int k = 0; k < max_bisections; ++k) {
            const double mid = 0.5 * (lo + hi);
            (e.body.contains(f, std::max(0.0, load) + mid, 0.0) ? hi : lo) = mid;
        }
        const int column = e.normal >= 0 ? e.normal : e.slip;
        out.law = std::max(out.law, weigh(column, hi));
    }
    return out;
}

/// The infimum over the allowed λ is taken element by element, with a = wᵀv and the support function σ_C:
///     slider       inf { a_T·λ_T : λ_T ∈ F C } = −F σ_C(a_T)
///     contact      inf { a_N λ_N + a_T·λ_T : λ_N >= 0, λ_T ∈ λ_N C } = 0 if a_N >= σ_C(a_T), otherwise −∞
///     constraint   ν free: 0 if a = 0, otherwise −∞; with friction and σν >= 0: as a contact with σ a_N.
double least_power(const Statics& s, const std::vector<int>& sign, const Vector& v, double rounding) {
    const auto along = [&](int column) {
        const double value = s.W.col(column).dot(v);
        const double terms = s.W.col(column).cwiseQuotient(s.scale).norm() * v.cwiseProduct(s.scale).norm();
        return std::abs(value) <= rounding * terms ? 0.0 : value;
    };
    double power = s.h.dot(v);
    for (std::size_t k = 0; k < s.elements.size(); ++k) {
        const RestingElement& e = s.elements[k];
        Vector slip(e.body.dimension);
        for (int i = 0; i < e.body.dimension; ++i) slip(i) = along(e.slip + i);
        const double taken = e.sliding.size() > 0
                                 ? -slip.dot(e.sliding)
                                 : e.body.support({slip.data(), static_cast<std::size_t>(slip.size())});
        if (e.normal < 0) {
            power -= e.load * taken;
            continue;
        }
        const double normal = along(e.normal);
        const double terms = s.W.col(e.normal).cwiseQuotient(s.scale).norm() * v.cwiseProduct(s.scale).norm();
        if (e.free() && normal != 0.0) return -infinity;
        if (e.free()) continue;
        if (e.two_signed() && sign[k] == 0) {
            if (normal != 0.0 || taken != 0.0) return -infinity;
            continue;
        }
        const double direction = e.two_signed() ? static_cast<double>(sign[k]) : 1.0;
        if (direction * normal - taken < -rounding * terms) return -infinity;
    }
    return power;
}

Vector plain_forces(const Statics& s, const Balance& b) {
    const Matrix W = s.scale.cwiseInverse().asDiagonal() * s.W;
    // Columns of unit length make the norm of the forces independent of the units of forces and moments.
    Matrix unit = W;
    Vector length = Vector::Ones(W.cols());
    for (Eigen::Index c = 0; c < W.cols(); ++c)
        if (W.col(c).norm() > 0.0) {
            length(c) = W.col(c).norm();
            unit.col(c) /= length(c);
        }
    Vector lambda = least_squares(unit, -s.h.cwiseQuotient(s.scale), dependent_column).cwiseQuotient(length);
    const ForceDefects defects = examine(s, lambda);
    if (defects.balance <= rest_tolerance && defects.law <= negligible_law_defect) return lambda;
    return b.lambda;
}

}  // namespace saltus::stability
