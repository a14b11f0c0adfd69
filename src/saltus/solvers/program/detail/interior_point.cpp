// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/solvers/program/cone_program.hpp"
#include "saltus/solvers/program/detail/second_order_cone.hpp"

namespace saltus::solvers {

namespace {

using namespace second_order;

constexpr double shortest_step = 1e-10;      // a step a <= this (1: the full step) ends the method
constexpr double boundary_share = 0.99;      // share of the step to the boundary of the cones that is taken
constexpr double smallest_size = 1e-300;     // replaces a size of 0 in a denominator; below every number of a program
constexpr double aimed_share = 1e-3;         // the method goes on until the worst residual is this · tolerance
constexpr int max_idle = 12;                 // this number of steps in a row without progress ends the method
constexpr double progress = 0.9;             // progress: the worst residual is below this times the least one so far
constexpr double certificate_ratio = 1e3;    // a certificate is examined if κ > this · τ
constexpr double certificate_margin = 1e-6;  // and accepted if `excludes` or `falls` of the unit vector exceeds this

/// The homogeneous self-dual embedding
///     A x = b τ,   Aᵀy + s = c τ,   bᵀy − cᵀx = κ,   x, s ∈ K,   τ, κ >= 0.
/// It always has a solution with xᵀs + τκ = 0. If τ > 0, then x/τ, y/τ solve the program. If κ > 0, then y or x proves
/// that it has no solution.
///
/// A step solves the linearised equations, with the complementarity x ∘ s = μ e written in the Nesterov–Todd scaling
/// λ = W s = W⁻¹x:
///     A dx − b dτ = η r_p,   Aᵀdy + ds − c dτ = η r_d,   bᵀdy − cᵀdx − dκ = η r_g,
///     λ ∘ (W⁻¹dx + W ds) = r_c,   κ dτ + τ dκ = r_k.
/// From the fourth equation W⁻¹dx + W ds = λ⁻¹∘r_c =: v, so dx = W v − W²ds. The second one gives
/// ds = η r_d + c dτ − Aᵀdy. Both inserted into the first one leave the normal equations
///     (A W²Aᵀ) dy = η r_p − A (W v − η W²r_d) + (b + A W²c) dτ.
/// dy and dx are linear in dτ: dy = p1 + dτ p2, dx = q1 + dτ q2, where p1 and p2 solve the normal equations for the two
/// parts of the right-hand side, q1 = W v − W²(η r_d − Aᵀp1) and q2 = W²(Aᵀp2 − c). With dκ = (r_k − κ dτ)/τ from the
/// fifth equation the third one gives
///     (bᵀp2 − cᵀq2 + κ/τ) dτ = η r_g − bᵀp1 + cᵀq1 + r_k/τ.
///
/// Mehrotra's rule: an affine step (σ = 0) shows how long a step the cones allow; σ = (1 − that length)³ centres the
/// actual step, whose r_c contains the second-order correction (W⁻¹dx_a) ∘ (W ds_a).
class Embedding {
public:
    Embedding(const ConeProgram& p, double row_scale, double cost_scale)
        : p_(p), b_(p.b / row_scale), c_(p.c / cost_scale), K_(p.cones) {
        x = s = K_.unit();
        y = Vector::Zero(p.A.rows());
    }

    Vector x, y, s;
    double tau = 1.0, kappa = 1.0;

    /// One predictor-corrector step. False if the factorisation fails, the step is too short, or numbers overflow.
    bool step() {
        const Vector rp = b_ * tau - p_.A * x, rd = c_ * tau - p_.A.transpose() * y - s;
        const double rg = kappa + c_.dot(x) - b_.dot(y);
        const double mu = (x.dot(s) + tau * kappa) / (K_.degree() + 1.0);
        K_.scale(x, s);
        lambda_ = K_.apply(s);
        if (!factorise()) return false;
        const Vector e = K_.unit();
        Direction affine;
        if (!solve(rp, rd, rg, -K_.product_of(lambda_, lambda_), -tau * kappa, 1.0, affine)) return false;
        const double reach = std::min(1.0, length(affine));
        const double sigma = std::pow(1.0 - reach, 3);
        const Vector correction = K_.product_of(K_.apply_inverse(affine.x), K_.apply(affine.s));
        const Vector target = sigma * mu * e - K_.product_of(lambda_, lambda_) - correction;
        Direction d;
        if (!solve(rp, rd, rg, target, sigma * mu - tau * kappa - affine.tau * affine.kappa, 1.0 - sigma, d))
            return false;
        const double a = std::min(1.0, boundary_share * length(d));
        if (!(a > shortest_step)) return false;
        x += a * d.x;
        y += a * d.y;
        s += a * d.s;
        tau += a * d.tau;
        kappa += a * d.kappa;
        return x.allFinite() && y.allFinite() && s.allFinite() && tau > 0.0;
    }

private:
    struct Direction {
        Vector x, y, s;
        double tau = 0.0, kappa = 0.0;
    };

    /// The largest step along d that keeps x and s in the cones, τ >= 0 and κ >= 0.
    double length(const Direction& d) const {
        double a = std::min(K_.step(x, d.x), K_.step(s, d.s));
        if (d.tau < 0.0) a = std::min(a, -tau / d.tau);
        if (d.kappa < 0.0) a = std::min(a, -kappa / d.kappa);
        return a;
    }

    /// W²z.
    Vector squared(const Vector& z) const { return K_.apply(K_.apply(z)); }

    /// Factors of A W²Aᵀ, and the solution p2, q2 of the right-hand side that belongs to dτ.
    bool factorise() {
        Matrix AW(p_.A.rows(), p_.A.cols());
        for (Index i = 0; i < AW.rows(); ++i) AW.row(i) = K_.apply(p_.A.row(i).transpose()).transpose();
        normal_.noalias() = AW * AW.transpose();
        factors_.compute(normal_);
        if (AW.rows() > 0 && (factors_.info() != Eigen::Success || !factors_.isPositive())) return false;
        p2_ = refined(b_ + p_.A * squared(c_));
        q2_ = squared(p_.A.transpose() * p2_ - c_);
        return p2_.allFinite();
    }
    /// (A W²Aᵀ)⁻¹ r with two steps of iterative refinement.
    Vector refined(const Vector& r) const {
        if (r.size() == 0) return r;
        Vector z = factors_.solve(r);
        for (int k = 0; k < 2; ++k) z += factors_.solve(r - normal_ * z);
        return z;
    }

    /// Solves the linearised equations above for d, with r_c = rc, r_k = rk, η = eta; false if a result is not finite.
    bool solve(const Vector& rp, const Vector& rd, double rg, const Vector& rc, double rk, double eta,
               Direction& d) const {
        const Vector Wv = K_.apply(K_.quotient_of(lambda_, rc));
        const Vector p1 = refined(eta * rp - p_.A * (Wv - squared(eta * rd)));
        const Vector q1 = Wv - squared(eta * rd - p_.A.transpose() * p1);
        const double denominator = b_.dot(p2_) - c_.dot(q2_) + kappa / tau;
        d.tau = (eta * rg - b_.dot(p1) + c_.dot(q1) + rk / tau) / denominator;
        d.y = p1 + d.tau * p2_;
        d.x = q1 + d.tau * q2_;
        d.s = eta * rd - p_.A.transpose() * d.y + c_ * d.tau;
        d.kappa = (rk - kappa * d.tau) / tau;
        return d.x.allFinite() && d.s.allFinite() && std::isfinite(d.tau);
    }

    const ConeProgram& p_;
    Vector b_, c_;
    Cones K_;
    Vector lambda_, p2_, q2_;
    Matrix normal_;
    Eigen::LDLT<Matrix> factors_;
};

double size_of(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

}  // namespace

ProgramSolution solve(const ConeProgram& p, const InteriorPoint& method) {
    SALTUS_EXPECT(p.b.size() == p.A.rows() && p.c.size() == p.A.cols());
    SALTUS_EXPECT(std::accumulate(p.cones.begin(), p.cones.end(), Index{0}) == p.A.cols());
    SALTUS_EXPECT(std::all_of(p.cones.begin(), p.cones.end(), [](int n) { return n >= 1; }));
    ProgramSolution best;
    best.x = Vector::Zero(p.A.cols());
    best.y = Vector::Zero(p.A.rows());
    if (!p.A.allFinite() || !p.b.allFinite() || !p.c.allFinite()) {
        best.status = ProgramStatus::non_finite;
        best.gap = best.primal_residual = best.dual_residual = infinity;
        return best;
    }
    const double row_scale = std::max(size_of(p.b), smallest_size), cost_scale = std::max(size_of(p.c), smallest_size);
    examine(p, best);
    Embedding embedding(p, row_scale, cost_scale);
    double least = worst(best);
    const double wanted = aimed_share * method.tolerance;
    const double rows = static_cast<double>(p.A.rows());
    const double work_of_step = rows * rows * (static_cast<double>(p.A.cols()) + rows);
    int idle = 0;
    for (int k = 0; k < method.max_iterations && least > wanted && idle < max_idle; ++k) {
        count_work(work_of_step);
        if (!embedding.step()) break;
        ProgramSolution now;
        now.x = embedding.x / embedding.tau * row_scale;
        now.y = embedding.y / embedding.tau * cost_scale;
        now.iterations = k + 1;
        ++idle;
        if (now.x.allFinite() && now.y.allFinite()) {
            examine(p, now);
            if (worst(now) < progress * least) idle = 0;
            if (worst(now) < least) {
                least = worst(now);
                best = now;
            }
        }
        best.iterations = k + 1;
        if (least <= method.tolerance) continue;
        const Vector y = embedding.y / std::max(smallest_size, embedding.y.norm());
        const Vector r = embedding.x / std::max(smallest_size, embedding.x.norm());
        if (embedding.kappa > certificate_ratio * embedding.tau && excludes(p, y) > certificate_margin) {
            best.status = ProgramStatus::infeasible;
            best.certificate = y;
            return best;
        }
        if (embedding.kappa > certificate_ratio * embedding.tau && falls(p, r) > certificate_margin) {
            best.status = ProgramStatus::unbounded;
            best.certificate = r;
            return best;
        }
    }
    if (least <= method.tolerance) best.status = ProgramStatus::optimal;
    return best;
}

}  // namespace saltus::solvers
