// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/cone_program.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/solvers/linear_program.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;
using Segment = Eigen::Ref<Vector>;
using ConstSegment = Eigen::Ref<const Vector>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// --- one second-order cone -----------------------------------------------------------------------------------

/// n² − ‖t‖² without cancellation of squares.
double determinant(const ConstSegment& x) {
    const double length = x.tail(x.size() - 1).norm();
    return (x(0) - length) * (x(0) + length);
}

double outside(const ConstSegment& x) { return std::max(0.0, x.tail(x.size() - 1).norm() - x(0)); }

/// The Jordan product (x·y, x₀y₁ + y₀x₁) and its inverse λ ∘ z = r.
Vector product(const ConstSegment& x, const ConstSegment& y) {
    Vector z(x.size());
    z(0) = x.dot(y);
    z.tail(x.size() - 1) = x(0) * y.tail(x.size() - 1) + y(0) * x.tail(x.size() - 1);
    return z;
}
Vector quotient(const ConstSegment& lambda, const ConstSegment& r) {
    const Index k = r.size() - 1;
    Vector z(r.size());
    z(0) = (lambda(0) * r(0) - lambda.tail(k).dot(r.tail(k))) / determinant(lambda);
    z.tail(k) = (r.tail(k) - z(0) * lambda.tail(k)) / lambda(0);
    return z;
}

/// The largest step along d that stays in the cone.
double step_to_boundary(const ConstSegment& x, const ConstSegment& d) {
    const Index k = x.size() - 1;
    if (k == 0) return d(0) < 0.0 ? -x(0) / d(0) : infinity;
    // det(x + a d) = A a² + 2B a + C, the first positive root.
    const double A = determinant(d), B = x(0) * d(0) - x.tail(k).dot(d.tail(k)), C = determinant(x);
    const double discriminant = B * B - A * C;
    double step = infinity;
    if (A < 0.0 || (B < 0.0 && discriminant >= 0.0)) {
        const double root = std::sqrt(std::max(0.0, discriminant));
        const double first = B < 0.0 ? C / (-B + root) : (A != 0.0 ? (-B - root) / A : infinity);
        if (first > 0.0) step = first;
    }
    if (d(0) < 0.0) step = std::min(step, -x(0) / d(0));
    return step;
}

/// Nesterov and Todd's scaling of a pair x, s: the symmetric W with W s = W⁻¹x = λ. W = β (2 v vᵀ − J), J = diag(1,
/// −1…).
struct Scaling {
    double beta = 1.0;
    Vector v;

    void set(const ConstSegment& x, const ConstSegment& s) {
        const double dx = std::sqrt(std::max(determinant(x), 1e-300)), ds = std::sqrt(std::max(determinant(s), 1e-300));
        beta = std::sqrt(dx / ds);
        if (x.size() == 1) return;
        Vector w = s / ds;
        const double gamma = std::sqrt(0.5 * (1.0 + x.dot(w) / dx));
        w.tail(w.size() - 1) *= -1.0;
        w = (x / dx + w) / (2.0 * gamma);
        // On the hyperboloid to rounding: w₀ from the rest.
        w(0) = std::sqrt(1.0 + w.tail(w.size() - 1).squaredNorm());
        v = w;
        v(0) += 1.0;
        v /= std::sqrt(2.0 * v(0));
    }
    Vector apply(const ConstSegment& z) const {
        if (z.size() == 1) return beta * z;
        Vector r = 2.0 * v.dot(z) * v;
        r(0) -= z(0);
        r.tail(z.size() - 1) += z.tail(z.size() - 1);
        return beta * r;
    }
    Vector apply_inverse(const ConstSegment& z) const {
        if (z.size() == 1) return z / beta;
        Vector jv = v;
        jv.tail(v.size() - 1) *= -1.0;
        Vector r = 2.0 * jv.dot(z) * jv;
        r(0) -= z(0);
        r.tail(z.size() - 1) += z.tail(z.size() - 1);
        return r / beta;
    }
};

// --- the product of cones ------------------------------------------------------------------------------------

class Cones {
public:
    explicit Cones(const std::vector<int>& sizes) : sizes_(sizes), scaling_(sizes.size()) {
        Index at = 0;
        for (const int size : sizes) {
            start_.push_back(at);
            at += size;
        }
        total_ = at;
    }
    Index total() const { return total_; }
    Index start(std::size_t k) const { return start_[k]; }
    double degree() const { return static_cast<double>(sizes_.size()); }

    template <class Function>
    void each(Function function) const {
        for (std::size_t k = 0; k < sizes_.size(); ++k) function(k, start_[k], Index{sizes_[k]});
    }

    Vector unit() const {
        Vector e = Vector::Zero(total_);
        for (const Index at : start_) e(at) = 1.0;
        return e;
    }
    void scale(const Vector& x, const Vector& s) {
        each([&](std::size_t k, Index at, Index n) { scaling_[k].set(x.segment(at, n), s.segment(at, n)); });
    }
    Vector apply(const Vector& z) const {
        Vector r(total_);
        each([&](std::size_t k, Index at, Index n) { r.segment(at, n) = scaling_[k].apply(z.segment(at, n)); });
        return r;
    }
    Vector apply_inverse(const Vector& z) const {
        Vector r(total_);
        each([&](std::size_t k, Index at, Index n) { r.segment(at, n) = scaling_[k].apply_inverse(z.segment(at, n)); });
        return r;
    }
    Vector product_of(const Vector& x, const Vector& y) const {
        Vector r(total_);
        each([&](std::size_t, Index at, Index n) { r.segment(at, n) = product(x.segment(at, n), y.segment(at, n)); });
        return r;
    }
    Vector quotient_of(const Vector& lambda, const Vector& z) const {
        Vector r(total_);
        each([&](std::size_t, Index at, Index n) {
            r.segment(at, n) = quotient(lambda.segment(at, n), z.segment(at, n));
        });
        return r;
    }
    double step(const Vector& x, const Vector& d) const {
        double step = infinity;
        each([&](std::size_t, Index at, Index n) {
            step = std::min(step, step_to_boundary(x.segment(at, n), d.segment(at, n)));
        });
        return step;
    }
    double outside_by(const Vector& x) const {
        double most = 0.0;
        each([&](std::size_t, Index at, Index n) { most = std::max(most, outside(x.segment(at, n))); });
        return most;
    }

private:
    const std::vector<int>& sizes_;
    std::vector<Index> start_;
    std::vector<Scaling> scaling_;
    Index total_ = 0;
};

double over(double error, double scale) { return error == 0.0 ? 0.0 : error / scale; }

// --- the method ----------------------------------------------------------------------------------------------

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

double worst(const ProgramSolution& s) { return std::max({s.gap, s.primal_residual, s.dual_residual}); }

double size_of(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

// --- extreme rays --------------------------------------------------------------------------------------------

/// The program with finitely many directions for each cone, as a linear one.
class Rays {
public:
    explicit Rays(const ConeProgram& p) : p_(p), K_(p.cones), directions_(p.cones.size()) {
        program_.A.resize(p.A.rows(), 0);
        program_.b = p.b;
        K_.each([&](std::size_t k, Index, Index n) {
            if (n == 1) add(k, Vector(0));
            for (Index i = 0; i + 1 < n; ++i)
                for (const double sign : {1.0, -1.0}) add(k, sign * Vector::Unit(n - 1, i));
        });
    }

    /// A direction that is new to its cone; false when it is there already. One that is very near to another would make
    /// bases singular: it goes further away on the same side, and is between the two up to the square of that angle.
    bool add(std::size_t k, const Vector& direction) {
        constexpr double apart = 1e-6;
        const double length = direction.norm();
        if (direction.size() > 0 && !(length > 0.0)) return false;
        Vector d = direction.size() == 0 ? direction : Vector(direction / length);
        for (int pass = 0; pass < 2; ++pass)
            for (const Vector& known : directions_[k]) {
                const double distance = (known - d).norm();
                if (distance >= 0.5 * apart) continue;
                if (pass > 0 || distance <= 1e-12) return false;
                d = (known + apart / distance * (d - known)).normalized();
            }
        directions_[k].push_back(d);
        const Index at = start_of(k), n = program_.A.cols();
        Vector ray(d.size() + 1);
        ray << 1.0, d;
        program_.A.conservativeResize(p_.A.rows(), n + 1);
        program_.A.col(n) = p_.A.middleCols(at, ray.size()) * ray;
        program_.c.conservativeResize(n + 1);
        program_.c(n) = p_.c.segment(at, ray.size()).dot(ray);
        cone_.push_back(k);
        ray_.push_back(ray);
        if (!basis_.basic.empty()) {
            basis_.unknown.insert(basis_.unknown.begin() + n, SimplexBasis::At::lower);
            for (int& j : basis_.basic)
                if (j >= n) ++j;
        }
        return true;
    }

    /// Where g is to lie in −K: for each cone the direction along which it is worst.
    bool add_violated(const Vector& g, const Vector& size, double tolerance) {
        bool added = false;
        K_.each([&](std::size_t k, Index at, Index n) {
            const Vector tangential = g.segment(at + 1, n - 1);
            if (n > 1 && g(at) + tangential.norm() > tolerance * size.segment(at, n).norm())
                added |= add(k, tangential);
        });
        return added;
    }

    ProgramSolution solve() { return solvers::solve(program_, Simplex{}, basis_); }
    void move_to(const Vector& b) { program_.b = b; }

    Vector point(const Vector& weights) const {
        Vector x = Vector::Zero(K_.total());
        for (Index j = 0; j < weights.size(); ++j) {
            const auto i = static_cast<std::size_t>(j);
            x.segment(start_of(cone_[i]), ray_[i].size()) += weights(j) * ray_[i];
        }
        return x;
    }

    /// Sizes of the terms of c − Aᵀy.
    Vector terms(const Vector& y) const { return p_.c.cwiseAbs() + p_.A.cwiseAbs().transpose() * y.cwiseAbs(); }

private:
    Index start_of(std::size_t k) const { return K_.start(k); }

    const ConeProgram& p_;
    Cones K_;
    std::vector<std::vector<Vector>> directions_;
    LinearProgram program_;
    SimplexBasis basis_;
    std::vector<std::size_t> cone_;
    std::vector<Vector> ray_;
};

void seed(Rays& rays, const ConeProgram& p, const ProgramSolution& start) {
    const Cones K(p.cones);
    const bool has_x = start.x.size() == p.A.cols() && start.x.allFinite();
    const bool has_y = start.y.size() == p.A.rows() && start.y.allFinite();
    const Vector z = has_y ? Vector(p.c - p.A.transpose() * start.y) : Vector::Zero(p.A.cols());
    K.each([&](std::size_t k, Index at, Index n) {
        if (n > 2 && has_x) rays.add(k, start.x.segment(at + 1, n - 1));
        if (n > 2 && has_y) rays.add(k, -z.segment(at + 1, n - 1));
    });
}

}  // namespace

void examine(const ConeProgram& p, ProgramSolution& s) {
    const Cones K(p.cones);
    const double size = p.A.norm();
    s.value = p.c.dot(s.x);
    s.dual_value = p.b.dot(s.y);
    s.primal_residual =
        std::max(over((p.A * s.x - p.b).norm(), p.b.norm() + size * s.x.norm()), over(K.outside_by(s.x), s.x.norm()));
    s.dual_residual = over(K.outside_by(p.c - p.A.transpose() * s.y), p.c.norm() + size * s.y.norm());
    s.gap =
        over(std::abs(s.value - s.dual_value), p.c.cwiseAbs().dot(s.x.cwiseAbs()) + p.b.cwiseAbs().dot(s.y.cwiseAbs()));
}

double excludes(const ConeProgram& p, const Vector& y, double rounding) {
    if (y.size() != p.A.rows() || !y.allFinite()) return 0.0;
    const Vector d = -(p.A.transpose() * y);
    if (Cones(p.cones).outside_by(d) > rounding * p.A.norm() * y.norm()) return 0.0;
    return over(p.b.dot(y), p.b.cwiseAbs().dot(y.cwiseAbs()));
}

double falls(const ConeProgram& p, const Vector& r, double rounding) {
    if (r.size() != p.A.cols() || !r.allFinite()) return 0.0;
    if (Cones(p.cones).outside_by(r) > rounding * r.norm()) return 0.0;
    if ((p.A * r).norm() > rounding * p.A.norm() * r.norm()) return 0.0;
    return over(-p.c.dot(r), p.c.cwiseAbs().dot(r.cwiseAbs()));
}

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

ProgramSolution solve(const ConeProgram& p, const ExtremeRays& method, const ProgramSolution& start) {
    ProgramSolution best;
    best.x = start.x.size() == p.A.cols() ? start.x : Vector::Zero(p.A.cols());
    best.y = start.y.size() == p.A.rows() ? start.y : Vector::Zero(p.A.rows());
    if (!p.A.allFinite() || !p.b.allFinite() || !p.c.allFinite()) {
        best.status = ProgramStatus::non_finite;
        best.gap = best.primal_residual = best.dual_residual = infinity;
        return best;
    }
    examine(p, best);
    const ProgramSolution first = best;
    const auto consider = [&](const Vector& x, const Vector& y) {
        ProgramSolution s;
        s.x = x;
        s.y = y;
        examine(p, s);
        s.iterations = best.iterations;
        // A point that misses its equations is worth less than one that misses the optimum.
        const auto rank = [](const ProgramSolution& q) { return std::max(worst(q), 100.0 * q.primal_residual); };
        if (rank(s) < rank(best)) best = s;
    };
    const auto ended = [&](ProgramStatus otherwise) {
        best.status = worst(best) <= method.accept ? ProgramStatus::optimal : otherwise;
        return best;
    };
    constexpr double on_the_edge = 1e-9;
    bool moved = false;
    Rays rays(p);
    seed(rays, p, start);
    for (int round = 0; round < method.max_rounds; ++round) {
        const ProgramSolution linear = rays.solve();
        best.iterations += linear.iterations;
        const Vector x = rays.point(linear.x);
        // Where one of the two programs has no interior, the points of the other may be the better half of a pair.
        consider(x, linear.y);
        consider(x, first.y);
        consider(first.x, linear.y);
        if (worst(best) <= method.tolerance) break;
        switch (linear.status) {
            case ProgramStatus::optimal:
                if (rays.add_violated(p.A.transpose() * linear.y - p.c, rays.terms(linear.y), method.tolerance))
                    continue;
                return ended(ProgramStatus::stalled);
            case ProgramStatus::infeasible: {
                const Vector g = p.A.transpose() * linear.certificate;
                if (rays.add_violated(g, Vector::Zero(g.size()), 0.0)) continue;
                if (excludes(p, linear.certificate, 1e-12) > on_the_edge) {
                    best.certificate = linear.certificate;
                    best.status = ProgramStatus::infeasible;
                    return best;
                }
                // b is on the edge of A K, outside by rounding: the next point inside takes its place.
                if (moved) return ended(ProgramStatus::stalled);
                rays.move_to(p.A * x);
                moved = true;
                continue;
            }
            case ProgramStatus::unbounded:
                best.x = x;
                best.y = linear.y;
                examine(p, best);
                best.certificate = rays.point(linear.certificate);
                best.status = ProgramStatus::unbounded;
                return best;
            default: return ended(ProgramStatus::stalled);
        }
    }
    return ended(ProgramStatus::stalled);
}

namespace {

/// Independent columns: A x = b has one solution or none, and any y with Aᵀy = c belongs to it.
ProgramSolution only_point(const ConeProgram& p) {
    ProgramSolution s;
    s.x = least_squares(p.A, p.b);
    s.x += least_squares(p.A, p.b - p.A * s.x);
    s.y = least_squares(p.A.transpose(), p.c);
    examine(p, s);
    return s;
}

}  // namespace

ProgramSolution solve(const ConeProgram& p, const InteriorThenRays& method) {
    if (p.A.rows() >= p.A.cols() && p.A.allFinite() && p.b.allFinite() && p.c.allFinite()) {
        ProgramSolution only = only_point(p);
        if (worst(only) <= method.rays.tolerance) {
            only.status = ProgramStatus::optimal;
            return only;
        }
    }
    // Cones with two edges at most are a linear program.
    if (std::all_of(p.cones.begin(), p.cones.end(), [](int n) { return n <= 2; })) return solve(p, method.rays);
    const ProgramSolution near = solve(p, method.interior);
    if (near.status == ProgramStatus::non_finite) return near;
    // Good enough as it is, unless large x that balance each other hide what b is missed by.
    const double enough = 10.0 * method.rays.tolerance;
    if (worst(near) <= enough && (p.A * near.x - p.b).norm() <= 10.0 * enough * p.b.norm()) return near;
    ProgramSolution exact = solve(p, method.rays, near);
    exact.iterations += near.iterations;
    return exact;
}

}  // namespace saltus::solvers
