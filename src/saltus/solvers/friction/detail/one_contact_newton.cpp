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
constexpr double settled = 256.0 * eps;  // ‖F‖ of a solution, of max(‖r‖, ‖q‖/mean(diag W))
constexpr double accepted = 1e4 * eps;   // where rounding of W r keeps it from getting further
constexpr int most_steps = 40;
constexpr int most_starts = 60;
constexpr int bisection = 5;  // the start that is one by bisection

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

    /// ‖F‖ over max(‖r‖, ‖q‖/mean(diag W)).
    double defect(const double* r) {
        double v[largest_newton];
        velocity(r, v);
        f_.evaluate(r, v, F_, {});
        double sum = 0.0, size = 0.0;
        for (int i = 0; i < n_; ++i) sum += F_[i] * F_[i], size += r[i] * r[i];
        const double scale = std::max(std::sqrt(size), size_of_q_);
        const double quotient = scale > 0.0 ? std::sqrt(sum) / scale : std::sqrt(sum);
        return std::isfinite(quotient) ? quotient : std::numeric_limits<double>::infinity();
    }

    /// Newton steps from r, which becomes the best point on the way; returns its defect.
    double descend(double* r) {
        double best[largest_newton], history[4];
        double now = defect(r), least = now, share = 0.1;
        std::copy_n(r, n_, best);
        std::fill_n(history, 4, now);
        int idle = 0;
        for (int k = 0; k < most_steps && least > settled && idle < 12; ++k) {
            if (idle > 0 && idle % 4 == 0) share *= 1e-2;
            if (!step(r, std::max(1e-15, std::min(1e-3, share * now)), *std::max_element(history, history + 4), now))
                break;
            history[k % 4] = now;
            idle = now < 0.5 * least ? 0 : idle + 1;
            if (now < least) {
                least = now;
                std::copy_n(r, n_, best);
            }
        }
        std::copy_n(best, n_, r);
        return least;
    }

    /// The normal force as the one unknown. Held at t, the other rows are a monotone problem in the bounded set t C,
    /// whose solution changes continuously with t, and v_N(t) with it: q_N < 0 at t = 0, positive far out, since for
    /// the forces that belong to (1, ρ), ρ ∈ C, and v_T = W_TT ρ + W_TN
    ///     0 < (1, ρ)ᵀ W (1, ρ) = v_N + ρᵀ v_T,    ρᵀ v_T <= 0.
    /// So a root lies between, and halving finds it, whatever the coupling.
    double bisect(double* r) {
        double low = 0.0, high = std::max(-q_[0] / W_[0], 1e-300), x[largest_newton] = {};
        std::fill_n(r, n_, 0.0);
        int k = 0;
        for (; k < 100 && normal_velocity(high, x) < 0.0; ++k) {
            low = high;
            high *= 4.0;
        }
        double least = std::numeric_limits<double>::infinity();
        for (k = 0; k < 120 && high - low > eps * high; ++k) {
            const double t = low > 0.0 && high > 4.0 * low ? std::sqrt(low) * std::sqrt(high) : 0.5 * (low + high);
            (normal_velocity(t, x) < 0.0 ? low : high) = t;
            if (k % 6 != 5 && high - low > 1e-14 * high) continue;
            double y[largest_newton];
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

    /// A point of the law's set: the normal force that stops a frictionless contact times something, each part
    /// anywhere within its bound.
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
    /// With the normal force held its row says nothing.
    void velocity(const double* r, double* v) const {
        for (int i = 0; i < n_; ++i) {
            v[i] = q_[i];
            for (int j = 0; j < n_; ++j) v[i] += W_[i * n_ + j] * r[j];
        }
        if (held_) v[0] = 0.0;
    }

    /// v_N with the normal force t; x holds a guess of the other rows and becomes their solution.
    double normal_velocity(double t, double* x) {
        held_ = true;
        const double change = x[0] > 0.0 ? t / x[0] : 1.0;
        for (int i = 1; i < n_; ++i) x[i] *= change;
        x[0] = t;
        for (int round = 0; round < 30 && descend(x) > accepted; ++round)
            for (int k = 0; k < 20; ++k) gradient_step(x);
        held_ = false;
        double v = q_[0];
        for (int j = 0; j < n_; ++j) v += W_[j] * x[j];
        return v;
    }

    /// x ← P(x − v/L), which comes nearer to the solution of a monotone problem with every step.
    void gradient_step(double* x) {
        double v[largest_newton], steps[largest_newton];
        velocity(x, v);
        std::copy_n(rho_, n_, steps);
        double ratio = 1.0;  // of the largest sum of a row, in steps, to what the steps allow
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

    /// One step with backtracking until the defect is below the `worst` of the last few; `now` becomes its defect.
    bool step(double* r, double regularisation, double worst, double& now) {
        constexpr int most = largest_newton * largest_newton;
        double C[most] = {}, E[most] = {}, tied[largest_newton], J[most], v[largest_newton], d[largest_newton];
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
        if (!solve_small<largest_newton>(n_, J, F_, d, 1e-300)) return false;
        double trial[largest_newton], length = 1.0;
        for (int cut = 0; cut < 10; ++cut, length *= 0.5) {
            for (int i = 0; i < n_; ++i) trial[i] = r[i] + length * d[i];
            now = defect(trial);
            if (now <= (1.0 - 1e-4 * length) * worst) break;
        }
        if (!std::isfinite(now)) return false;
        std::copy_n(trial, n_, r);
        return true;
    }

    Shape shape_;
    BlockFunction f_;
    int n_;
    const double *W_, *q_;
    double rho_[largest_newton], F_[largest_newton] = {};
    double mean_ = 1.0, size_of_q_ = 0.0;
    bool held_ = false;  // the normal force
};

}  // namespace

bool fulfils(const Law& law, int n, const double* W, const double* q, double bound, const double* r) {
    return OneBlock(law, n, W, q, bound).defect(r) <= settled;
}

bool solve_one_by_newton(const Law& law, int n, const double* W, const double* q, double bound, double* r) {
    OneBlock block(law, n, W, q, bound);
    Sequence random;
    double least = std::numeric_limits<double>::infinity(), x[largest_newton];
    std::copy_n(r, n, x);
    for (int start = -1; start < most_starts; ++start) {
        double defect = 0.0;
        if (start == bisection && block.shape().normal && W[0] > 0.0 && q[0] < 0.0) {
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
