// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/one_contact_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/complementarity/detail/sequence.hpp"
#include "saltus/solvers/friction/detail/block_function.hpp"
#include "saltus/solvers/linear/detail/small_system.hpp"

namespace saltus::solvers {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
// The defect is ‖F‖ over max(‖r‖, ‖q‖/mean(diag W)).
constexpr double settled = 256.0 * eps;  // defect <= settled: the iteration stops, r is a solution
constexpr double accepted = 1e4 * eps;   // defect <= accepted: a solution, though rounding of W r prevents a better one
constexpr int max_steps = 40;            // Newton steps from one start
constexpr int max_idle = 12;             // steps without halving the best defect
constexpr int max_starts = 60;
constexpr int bisection_start = 5;  // number of the start that is a bisection for the normal reaction

// Regularisation of a step, relative to mean(diag W): share · defect, between these values. Every `patience` idle steps
// the share is multiplied by `share_reduction`.
constexpr double smallest_regularisation = 1e-15, largest_regularisation = 1e-3;
constexpr double first_share = 0.1, share_reduction = 1e-2;
constexpr int patience = 4;

// Line search: a step of length s is accepted if its defect <= (1 − sufficient_decrease s) · (worst recent defect).
constexpr double sufficient_decrease = 1e-4;
constexpr int max_halvings = 10;
constexpr int history_length = 4;

// A smaller pivot counts as zero: then the matrix of the step is singular. Any nonzero pivot is accepted, because the
// line search rejects steps that are too inaccurate.
constexpr double smallest_pivot = 1e-300;
// Least first upper end of the bisection, in the unit of r. The end grows by factors, so that it must not be zero.
constexpr double smallest_reaction = 1e-300;

/// One block with its Alart–Curnier function F(r, W r + q), and the ways to find a zero of it.
class OneBlock {
public:
    OneBlock(const Law& law, int n, const double* W, const double* q, double bound)
        : shape_(shape_of(law, n)), f_{law, shape_, n, rho_, bound, 1.0}, n_(n), W_(W), q_(q) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) sum += std::abs(W[i * n + i]);
        mean_ = sum > 0.0 ? sum / n : 1.0;
        set_steps(law, shape_, n, W, mean_, rho_);
        for (int i = 0; i < n; ++i) size_of_q_ += q[i] * q[i];
        size_of_q_ = std::sqrt(size_of_q_) / mean_;
    }

    const Shape& shape() const { return shape_; }

    /// ‖F‖ over max(‖r‖, ‖q‖/mean(diag W)); infinite if it is not finite.
    double defect(const double* r) {
        double v[max_newton_rows];
        velocity(r, v);
        f_.evaluate(r, v, F_, {});
        double sum = 0.0, size = 0.0;
        for (int i = 0; i < n_; ++i) sum += F_[i] * F_[i], size += r[i] * r[i];
        const double scale = std::max(std::sqrt(size), size_of_q_);
        const double quotient = scale > 0.0 ? std::sqrt(sum) / scale : std::sqrt(sum);
        return std::isfinite(quotient) ? quotient : std::numeric_limits<double>::infinity();
    }

    /// Newton steps from r, which becomes the best of the iterates; returns its defect.
    double descend(double* r) {
        double best[max_newton_rows], history[history_length];
        double now = defect(r), least = now, share = first_share;
        std::copy_n(r, n_, best);
        std::fill_n(history, history_length, now);
        int idle = 0;
        for (int k = 0; k < max_steps && least > settled && idle < max_idle; ++k) {
            if (idle > 0 && idle % patience == 0) share *= share_reduction;
            const double regularisation =
                std::max(smallest_regularisation, std::min(largest_regularisation, share * now));
            now = step(r, regularisation, *std::max_element(history, history + history_length));
            if (!std::isfinite(now)) break;
            history[k % history_length] = now;
            idle = now < 0.5 * least ? 0 : idle + 1;
            if (now < least) {
                least = now;
                std::copy_n(r, n_, best);
            }
        }
        std::copy_n(best, n_, r);
        return least;
    }

    /// Bisection for the normal reaction t. With r_N = t held, the other rows are a monotone problem on the bounded set
    /// t C. Its solution, and hence v_N(t), depend continuously on t. v_N(0) = q_N < 0. For large t, r ≈ t (1, ρ) with
    /// ρ ∈ C, and for positive definite W
    ///     0 < (1, ρ)ᵀ W (1, ρ) = v_N + ρᵀ v_T   with   ρᵀ v_T <= 0,
    /// so v_N > 0. A root lies between, whatever the coupling. Every sixth bracket Newton's method tries to finish.
    double bisect(double* r) {
        constexpr int max_growths = 100, max_rounds = 120, newton_every = 6;
        constexpr double narrow = 1e-14;  // a bracket of this relative width: Newton's method tries every time
        double low = 0.0, high = std::max(-q_[0] / W_[0], smallest_reaction), x[max_newton_rows] = {};
        std::fill_n(r, n_, 0.0);
        int k = 0;
        for (; k < max_growths && normal_velocity(high, x) < 0.0; ++k) {
            low = high;
            high *= 4.0;
        }
        double least = std::numeric_limits<double>::infinity();
        for (k = 0; k < max_rounds && high - low > eps * high; ++k) {
            const double t = low > 0.0 && high > 4.0 * low ? std::sqrt(low) * std::sqrt(high) : 0.5 * (low + high);
            (normal_velocity(t, x) < 0.0 ? low : high) = t;
            if (k % newton_every != newton_every - 1 && high - low > narrow * high) continue;
            double y[max_newton_rows];
            std::copy_n(x, n_, y);
            const double now = descend(y);
            if (now < least) {
                least = now;
                std::copy_n(y, n_, r);
            }
            if (least <= settled) break;
        }
        return least;
    }

    /// Writes the start point number `start` into r. 0: zero. 1: the reaction −q_N/W_NN of a frictionless contact. From
    /// 2 on: that reaction times a random factor between e⁻² and e², and each part at random within its bound.
    void choose(int start, Sequence& random, double* r) const {
        std::fill_n(r, n_, 0.0);
        if (start == 0) return;
        double bound = f_.bound;
        if (shape_.normal) r[0] = std::max(0.0, -q_[0] / (W_[0] > 0.0 ? W_[0] : mean_));
        if (start == 1) return;
        if (shape_.normal) {
            r[0] *= std::exp(4.0 * random() - 2.0);
            bound = f_.law.mu * r[0];
        } else if (shape_.bilateral) {
            for (int i = 0; i < n_; ++i) r[i] = size_of_q_ * (2.0 * random() - 1.0);
        }
        if (shape_.patch)
            for (int i = 1; i < 4; ++i) r[i] = bound * (2.0 * random() - 1.0) * (i == 3 ? f_.law.radius : 1.0);
        for (int k = 0; k < shape_.parts; ++k) {
            const Shape::Part& part = shape_.part[static_cast<std::size_t>(k)];
            const double limit = shape_.normal ? part.mu * r[0] : bound;
            for (int i = part.first; i < part.first + part.size; ++i) r[i] = limit * (2.0 * random() - 1.0);
        }
    }

private:
    /// v = W r + q. If the normal reaction is held, v_N is replaced by 0, so that its law is satisfied.
    void velocity(const double* r, double* v) const {
        for (int i = 0; i < n_; ++i) {
            v[i] = q_[i];
            for (int j = 0; j < n_; ++j) v[i] += W_[i * n_ + j] * r[j];
        }
        if (held_) v[0] = 0.0;
    }

    /// v_N if the normal reaction is held at t. x holds a guess for the other rows and becomes their solution.
    /// Projected gradient steps help if Newton's method does not converge.
    double normal_velocity(double t, double* x) {
        constexpr int max_rounds = 30, gradient_steps = 20;
        held_ = true;
        const double change = x[0] > 0.0 ? t / x[0] : 1.0;
        for (int i = 1; i < n_; ++i) x[i] *= change;
        x[0] = t;
        for (int round = 0; round < max_rounds && descend(x) > accepted; ++round)
            for (int k = 0; k < gradient_steps; ++k) gradient_step(x);
        held_ = false;
        double v = q_[0];
        for (int j = 0; j < n_; ++j) v += W_[j] * x[j];
        return v;
    }

    /// Projected gradient step x ← P(x − v/L) on the tangential rows. It never increases the distance to the solution
    /// of a monotone problem. L is bounded by the largest row sum of √ρ |W_TT| √ρ, so the steps ρ are divided by that
    /// sum.
    void gradient_step(double* x) {
        double v[max_newton_rows], steps[max_newton_rows];
        velocity(x, v);
        std::copy_n(rho_, n_, steps);
        double ratio = 1.0;
        for (int i = 1; i < n_; ++i) {
            double sum = 0.0;
            for (int j = 1; j < n_; ++j) sum += std::abs(W_[i * n_ + j]) * std::sqrt(steps[i] * steps[j]);
            ratio = std::max(ratio, sum);
        }
        for (int i = 1; i < n_; ++i) rho_[i] /= ratio;
        f_.evaluate(x, v, F_, {});
        for (int i = 1; i < n_; ++i) x[i] -= F_[i];
        std::copy_n(steps, n_, rho_);
    }

    /// One Newton step with J = C (W + ε) + E and backtracking until the defect is below `worst`, the worst recent one.
    /// Returns the new defect; infinity if there is no finite step, and then r is unchanged.
    double step(double* r, double regularisation, double worst) {
        constexpr double none = std::numeric_limits<double>::infinity();
        constexpr int elements = max_newton_rows * max_newton_rows;
        double C[elements] = {}, E[elements] = {}, tied[max_newton_rows], J[elements], v[max_newton_rows],
               d[max_newton_rows];
        velocity(r, v);
        f_.evaluate(r, v, F_, {C, E, tied});
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) {
                double sum = E[i * n_ + j] + regularisation * mean_ * C[i * n_ + j];
                for (int l = 0; l < n_; ++l) sum += C[i * n_ + l] * W_[l * n_ + j];
                J[i * n_ + j] = sum;
            }
        if (held_) {
            std::fill_n(J, n_, 0.0);
            J[0] = 1.0;
        }
        for (int i = 0; i < n_; ++i) F_[i] = -F_[i];
        if (!solve_small<max_newton_rows>(n_, J, F_, d, smallest_pivot)) return none;
        double trial[max_newton_rows], length = 1.0, now = none;
        for (int cut = 0; cut < max_halvings; ++cut, length *= 0.5) {
            for (int i = 0; i < n_; ++i) trial[i] = r[i] + length * d[i];
            now = defect(trial);
            if (now <= (1.0 - sufficient_decrease * length) * worst) break;
        }
        if (std::isfinite(now)) std::copy_n(trial, n_, r);
        return now;
    }

    Shape shape_;
    BlockFunction f_;
    int n_;
    const double *W_, *q_;
    double rho_[max_newton_rows], F_[max_newton_rows] = {};
    double mean_ = 1.0;       // mean |W_ii|
    double size_of_q_ = 0.0;  // ‖q‖/mean(diag W)
    bool held_ = false;       // the normal reaction is held (bisection)
};

}  // namespace

bool fulfils(const Law& law, int n, const double* W, const double* q, double bound, const double* r) {
    return OneBlock(law, n, W, q, bound).defect(r) <= settled;
}

bool solve_one_by_newton(const Law& law, int n, const double* W, const double* q, double bound, double* r) {
    OneBlock block(law, n, W, q, bound);
    Sequence random;
    double least = std::numeric_limits<double>::infinity(), x[max_newton_rows];
    std::copy_n(r, n, x);
    for (int start = -1; start < max_starts; ++start) {
        double defect = 0.0;
        if (start == bisection_start && block.shape().normal && W[0] > 0.0 && q[0] < 0.0) {
            defect = block.bisect(x);
        } else {
            if (start >= 0) block.choose(start, random, x);
            defect = block.descend(x);
        }
        if (defect < least) {
            least = defect;
            std::copy_n(x, n, r);
        }
        if (least <= accepted) return true;
    }
    return false;
}

}  // namespace saltus::solvers
