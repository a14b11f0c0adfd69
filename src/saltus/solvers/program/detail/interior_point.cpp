// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/solvers/program/cone_program.hpp"
#include "saltus/solvers/program/detail/second_order_cone.hpp"

namespace saltus::solvers {

namespace {

using namespace second_order;

/// The embedding  A x = b τ,  Aᵀy + s = c τ,  bᵀy − cᵀx = κ  with x, s ∈ K, τ, κ >= 0 has a solution always; τ > 0
/// gives one of the program, κ > 0 a proof that there is none. A step solves its linearisation with λ ∘ (W⁻¹dx + W ds)
/// = σμe − λ∘λ − correction; eliminating ds and dx leaves A W²Aᵀ dy.
class Embedding {
public:
    Embedding(const ConeProgram& p, double row_scale, double cost_scale)
        : p_(p), b_(p.b / row_scale), c_(p.c / cost_scale), K_(p.cones) {
        x = s = K_.unit();
        y = Vector::Zero(p.A.rows());
    }

    Vector x, y, s;
    double tau = 1.0, kappa = 1.0;

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
        const double a = std::min(1.0, 0.99 * length(d));
        if (!(a > 1e-10)) return false;
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

    double length(const Direction& d) const {
        double a = std::min(K_.step(x, d.x), K_.step(s, d.s));
        if (d.tau < 0.0) a = std::min(a, -tau / d.tau);
        if (d.kappa < 0.0) a = std::min(a, -kappa / d.kappa);
        return a;
    }

    Vector squared(const Vector& z) const { return K_.apply(K_.apply(z)); }

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
    Vector refined(const Vector& r) const {
        if (r.size() == 0) return r;
        Vector z = factors_.solve(r);
        for (int k = 0; k < 2; ++k) z += factors_.solve(r - normal_ * z);
        return z;
    }

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
    const double row_scale = std::max(size_of(p.b), 1e-300), cost_scale = std::max(size_of(p.c), 1e-300);
    examine(p, best);
    Embedding embedding(p, row_scale, cost_scale);
    double least = worst(best);
    const double wanted = 1e-3 * method.tolerance;
    int idle = 0;
    for (int k = 0; k < method.max_iterations && least > wanted && idle < 12; ++k) {
        if (!embedding.step()) break;
        ProgramSolution now;
        now.x = embedding.x / embedding.tau * row_scale;
        now.y = embedding.y / embedding.tau * cost_scale;
        now.iterations = k + 1;
        ++idle;
        if (now.x.allFinite() && now.y.allFinite()) {
            examine(p, now);
            if (worst(now) < 0.9 * least) idle = 0;
            if (worst(now) < least) {
                least = worst(now);
                best = now;
            }
        }
        best.iterations = k + 1;
        if (least <= method.tolerance) continue;
        const Vector y = embedding.y / std::max(1e-300, embedding.y.norm());
        const Vector r = embedding.x / std::max(1e-300, embedding.x.norm());
        if (embedding.kappa > 1e3 * embedding.tau && excludes(p, y) > 1e-6) {
            best.status = ProgramStatus::infeasible;
            best.certificate = y;
            return best;
        }
        if (embedding.kappa > 1e3 * embedding.tau && falls(p, r) > 1e-6) {
            best.status = ProgramStatus::unbounded;
            best.certificate = r;
            return best;
        }
    }
    if (least <= method.tolerance) best.status = ProgramStatus::optimal;
    return best;
}

}  // namespace saltus::solvers
