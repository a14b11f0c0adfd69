// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/newton.hpp"

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/solvers/friction/detail/block_function.hpp"

namespace saltus::solvers {

namespace {

double norm(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size())).norm();
}

}  // namespace

void NewtonSolver::History::add(double value) {
    merit[next % length] = value;
    next = (next + 1) % length;
    count = std::min(count + 1, length);
}

double NewtonSolver::History::worst() const { return *std::max_element(merit, merit + count); }

/// Sparse LU with pivots over the whole matrix, for the rare Jacobian that the block factors solve inaccurately.
struct NewtonSolver::Pivoted {
    Eigen::SparseMatrix<double> matrix;
    Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu;
};

namespace {

constexpr int always_dense = 60;      // up to this number of rows dense factors are fastest
constexpr int dense_when_hard = 400;  // up to this number of rows a dense LU replaces inaccurate block factors

// Line search: a step of length s is accepted if merit <= (1 − sufficient_decrease s) · (worst recent merit).
constexpr double sufficient_decrease = 1e-4;
constexpr int max_halvings = 12;

// Iterative refinement of J x = −F: done if the defect is at most good_defect ‖F‖; the last round accepts
// usable_defect ‖F‖, because an inexact Newton direction still converges.
constexpr double good_defect = 1e-10, usable_defect = 1e-4;
constexpr int refinement_rounds = 3;

// Smallest proximal term, relative to mean(diag W): of the size of rounding.
constexpr double smallest_regularisation = 1e-13;

}  // namespace

NewtonSolver::NewtonSolver() = default;

double NewtonSolver::step_work() const {
    const double rows = p_->W.rows();
    const double factors = rows <= always_dense ? rows * rows * rows / 3.0
                           : by_interfaces_     ? interfaces_.work()
                                                : lu_.work();
    return factors + 6.0 * static_cast<double>(p_->W.values.size()) + 100.0 * rows;
}

NewtonSolver::~NewtonSolver() = default;

bool NewtonSolver::prepare(const FrictionProblem& p) {
    p_ = &p;
    const std::size_t rows = p.q.size(), blocks = p.laws.size();
    extra_.clear();
    extra_block_.assign(blocks, -1);
    for (int a = 0; a < p.W.blocks(); ++a)
        if (p.laws[ix(a)].row >= 0) {
            const auto after = std::upper_bound(p.W.start.begin(), p.W.start.end(), p.laws[ix(a)].row);
            extra_block_[ix(a)] = static_cast<int>(after - p.W.start.begin()) - 1;
            extra_.emplace_back(a, extra_block_[ix(a)]);
        }
    by_interfaces_ = p.W.rows() > always_dense && extra_.empty() && interfaces_.prepare(p.W);
    analysed_ = false;
    if (p.W.rows() > always_dense && !by_interfaces_ && !analyse()) return false;
    mean_ = p.W.diagonal_mean();
    shapes_.resize(blocks);
    square_.resize(blocks);
    open_.resize(blocks);
    for (std::vector<double>* x : {&tied_, &rho_, &v_, &v_before_, &W_direction_, &F_, &direction_, &correction_,
                                   &image_, &trial_, &best_, &descend_best_, &centre_})
        x->resize(rows);
    std::size_t squares = 0;
    for (int a = 0; a < p.W.blocks(); ++a) {
        const int n = p.W.block_size(a);
        shapes_[ix(a)] = shape_of(p.laws[ix(a)], n);
        square_[ix(a)] = squares;
        squares += ix(n) * ix(n);
        const int diagonal = p.W.find(a, a);
        const double* D = diagonal >= 0 ? p.W.values.data() + p.W.offset[ix(diagonal)] : nullptr;
        set_steps(p.laws[ix(a)], shapes_[ix(a)], n, D, mean_ > 0.0 ? mean_ : 1.0, rho_.data() + p.W.start[ix(a)]);
    }
    C_.resize(squares);
    E_.resize(squares);
    return true;
}

bool NewtonSolver::analyse() {
    if (!analysed_) factors_fit_ = lu_.analyse(p_->W, extra_);
    analysed_ = true;
    return factors_fit_;
}

void NewtonSolver::velocities(const std::vector<double>& r) {
    p_->W.multiply(r, v_);
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] += p_->q[i];
    if (weight_ > 0.0)
        for (std::size_t i = 0; i < v_.size(); ++i) v_[i] += weight_ * (r[i] - centre_[i]);
}

double NewtonSolver::evaluate(const std::vector<double>& r, Need need) {
    velocities(r);
    return evaluate_laws(r, need);
}

double NewtonSolver::evaluate_laws(const std::vector<double>& r, Need need) {
    const bool jacobian = need == Need::value_and_derivative;
    if (jacobian) {
        std::fill(C_.begin(), C_.end(), 0.0);
        std::fill(E_.begin(), E_.end(), 0.0);
        if (!extra_.empty()) std::fill(tied_.begin(), tied_.end(), 0.0);
    }
    double sum = 0.0;
    for (int a = 0; a < p_->W.blocks(); ++a) {
        const int first = p_->W.start[ix(a)], n = p_->W.block_size(a);
        const Law& law = p_->laws[ix(a)];
        const double scaling = law.row >= 0 ? r[ix(law.row)] : 0.0;
        const BlockFunction f{law,
                              shapes_[ix(a)],
                              n,
                              rho_.data() + first,
                              law.kind == LawKind::slider ? law.bound : law.mu * std::abs(scaling),
                              scaling >= 0.0 ? 1.0 : -1.0};
        BlockFunction::Derivative derivative;
        if (jacobian) derivative = {C_.data() + square_[ix(a)], E_.data() + square_[ix(a)], tied_.data() + first};
        open_[ix(a)] = f.evaluate(r.data() + first, v_.data() + first, F_.data() + first, derivative) ? 1 : 0;
        for (int i = first; i < first + n; ++i) sum += F_[ix(i)] * F_[ix(i)];
    }
    return sum;
}

namespace {

/// A = C W for C n × n and W n × m; A has a stride. Common sizes are known at compile time.
template <int n, int m>
inline void product(const double* C, const double* W, double* A, int stride) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            double sum = 0.0;
            for (int l = 0; l < n; ++l) sum += C[i * n + l] * W[l * m + j];
            A[i * stride + j] = sum;
        }
}

inline void product(int n, int m, const double* C, const double* W, double* A, int stride) {
    if (n == 3 && m == 3) return product<3, 3>(C, W, A, stride);
    if (n == 2 && m == 2) return product<2, 2>(C, W, A, stride);
    for (int i = 0; i < n; ++i) {
        std::fill_n(A + i * stride, m, 0.0);
        for (int l = 0; l < n; ++l) {
            const double c = C[i * n + l];
            if (c == 0.0) continue;
            for (int j = 0; j < m; ++j) A[i * stride + j] += c * W[l * m + j];
        }
    }
}

}  // namespace

// δF = C δv + E δr + tied δr_row with δv = (W + ε) δr gives the Jacobian J = C (W + ε) + E, plus `tied` in the column
// of the scaling reaction. ε is the proximal term; it is present in J alone, or in v too within the proximal method.
void NewtonSolver::assemble(double epsilon) {
    const BlockMatrix& W = p_->W;
    lu_.clear();
    for (int a = 0; a < W.blocks(); ++a) {
        if (open_[ix(a)] != 0) {
            lu_.make_identity(a);
            continue;
        }
        const int n = W.block_size(a);
        const double* const C = C_.data() + square_[ix(a)];
        const double* const E = E_.data() + square_[ix(a)];
        for (int k = W.row_start[ix(a)]; k < W.row_start[ix(a) + 1]; ++k) {
            const BlockLU::View block = lu_.at_entry(k);
            product(n, W.block_size(W.block_column[ix(k)]), C, W.values.data() + W.offset[ix(k)], block.data,
                    block.stride);
        }
        const BlockLU::View diagonal = lu_.at(a, a);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) diagonal.data[i * diagonal.stride + j] += epsilon * C[i * n + j] + E[i * n + j];
        if (const int b = extra_block_[ix(a)]; b >= 0) {
            const BlockLU::View block = lu_.at(a, b);
            const int column = p_->laws[ix(a)].row - W.start[ix(b)];
            for (int i = 0; i < n; ++i) block.data[i * block.stride + column] += tied_[ix(W.start[ix(a)] + i)];
        }
    }
}

void NewtonSolver::image(const std::vector<double>& x, double epsilon, std::vector<double>& y) {
    const BlockMatrix& W = p_->W;
    W.multiply(x, W_direction_);
    for (int a = 0; a < W.blocks(); ++a) {
        const int n = W.block_size(a), first = W.start[ix(a)];
        const double* const w = W_direction_.data() + first;
        if (open_[ix(a)] != 0) {
            std::copy_n(x.begin() + first, n, y.begin() + first);
            continue;
        }
        const double* const C = C_.data() + square_[ix(a)];
        const double* const E = E_.data() + square_[ix(a)];
        for (int i = 0; i < n; ++i) {
            double sum = extra_block_[ix(a)] >= 0 ? tied_[ix(first + i)] * x[ix(p_->laws[ix(a)].row)] : 0.0;
            for (int j = 0; j < n; ++j)
                sum += C[i * n + j] * (w[j] + epsilon * x[ix(first + j)]) + E[i * n + j] * x[ix(first + j)];
            y[ix(first + i)] = sum;
        }
    }
}

template <class Put>
void NewtonSolver::each_element(double epsilon, const Put& put) const {
    const BlockMatrix& W = p_->W;
    for (int a = 0; a < W.blocks(); ++a) {
        const int first = W.start[ix(a)], n = W.block_size(a);
        const double* const C = C_.data() + square_[ix(a)];
        const double* const E = E_.data() + square_[ix(a)];
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) put(first + i, first + j, epsilon * C[i * n + j] + E[i * n + j]);
            if (extra_block_[ix(a)] >= 0) put(first + i, p_->laws[ix(a)].row, tied_[ix(first + i)]);
        }
        if (open_[ix(a)] != 0) continue;
        for (int k = W.row_start[ix(a)]; k < W.row_start[ix(a) + 1]; ++k) {
            const int b = W.block_column[ix(k)], m = W.block_size(b);
            const double* const w = W.values.data() + W.offset[ix(k)];
            for (int i = 0; i < n; ++i)
                for (int l = 0; l < n; ++l)
                    if (const double c = C[i * n + l]; c != 0.0)
                        for (int j = 0; j < m; ++j) put(first + i, W.start[ix(b)] + j, c * w[l * m + j]);
        }
    }
}

bool NewtonSolver::solve_dense(double epsilon) {
    dense_.clear(p_->W.rows());
    each_element(epsilon, [&](int i, int j, double value) { dense_.at(i, j) += value; });
    if (!dense_.factorise()) return false;
    for (std::size_t i = 0; i < F_.size(); ++i) correction_[i] = -F_[i];
    dense_.solve(correction_, direction_);
    p_->W.multiply(direction_, W_direction_);
    return std::isfinite(norm(direction_));
}

bool NewtonSolver::solve_linear(double epsilon) {
    if (p_->W.rows() <= always_dense) return solve_dense(epsilon);
    if (by_interfaces_) {
        const auto solve = [&](const std::vector<double>& b, std::vector<double>& x) {
            interfaces_.solve(p_->W, b, x);
        };
        // B = ε C + E is inverted block by block, so the relative error of the solution is rounding/ε. Small terms are
        // tried first; if the refinement fails, more regularisation follows.
        for (const double least : {1e-7, 1e-5, 1e-3}) {
            const double used = std::max(epsilon, least * mean_);
            if (interfaces_.factorise(p_->W, C_, E_, square_, used) && refine(used, solve)) return true;
        }
        if (!analyse()) return false;
    }
    assemble(epsilon);
    if (lu_.factorise() &&
        refine(epsilon, [&](const std::vector<double>& b, std::vector<double>& x) { lu_.solve(b, x); }))
        return true;
    return solve_pivoted(epsilon);
}

/// Solves J x = −F by the given factors, with iterative refinement against J itself. False if the defect stays large.
template <class Solve>
bool NewtonSolver::refine(double epsilon, const Solve& solve) {
    const std::size_t n = F_.size();
    for (std::size_t i = 0; i < n; ++i) correction_[i] = -F_[i];
    solve(correction_, direction_);
    const double size = norm(F_);
    for (int round = 0; round < refinement_rounds; ++round) {
        image(direction_, epsilon, correction_);
        for (std::size_t i = 0; i < n; ++i) correction_[i] = -F_[i] - correction_[i];
        const double defect = norm(correction_);
        if (defect <= good_defect * size) return true;
        if (!std::isfinite(defect)) return false;
        if (round == refinement_rounds - 1) return defect <= usable_defect * size;
        solve(correction_, image_);
        for (std::size_t i = 0; i < n; ++i) direction_[i] += image_[i];
    }
    return false;
}

bool NewtonSolver::solve_pivoted(double epsilon) {
    const int n = p_->W.rows();
    if (n <= dense_when_hard) return solve_dense(epsilon);
    if (!pivoted_) pivoted_ = std::make_unique<Pivoted>();
    std::vector<Eigen::Triplet<double>> entries;
    each_element(epsilon, [&](int i, int j, double value) { entries.emplace_back(i, j, value); });
    pivoted_->matrix.resize(n, n);
    pivoted_->matrix.setFromTriplets(entries.begin(), entries.end());
    pivoted_->lu.compute(pivoted_->matrix);
    if (pivoted_->lu.info() != Eigen::Success) return false;
    Eigen::Map<Vector> target(direction_.data(), n);
    target = -pivoted_->lu.solve(Eigen::Map<const Vector>(F_.data(), n));
    p_->W.multiply(direction_, W_direction_);
    return target.allFinite();
}

bool NewtonSolver::step(std::vector<double>& r, double regularisation) {
    const std::size_t n = r.size();
    count_work(step_work());
    evaluate(r, Need::value_and_derivative);
    if (!solve_linear(regularisation)) return false;
    // Nonmonotone backtracking: the new merit must be below the worst of the recent ones. v is linear in r, so the
    // velocities of a shortened step need no product with W. If no length is accepted, the shortest one is taken.
    const double reference = history_.worst();
    double merit = 0.0, size = 1.0;
    v_before_.swap(v_);
    for (int cut = 0; cut < max_halvings; ++cut, size *= 0.5) {
        for (std::size_t i = 0; i < n; ++i) {
            trial_[i] = r[i] + size * direction_[i];
            v_[i] = v_before_[i] + size * (W_direction_[i] + weight_ * direction_[i]);
        }
        merit = evaluate_laws(trial_, Need::value);
        if (merit <= (1.0 - sufficient_decrease * size) * reference) break;
    }
    if (!std::isfinite(merit)) return false;
    r.swap(trial_);
    history_.add(merit);
    return true;
}

NewtonSolver::Descent NewtonSolver::descend(std::vector<double>& r, double regularisation, double target,
                                            int max_steps) {
    descend_best_ = r;
    double best_merit = evaluate(r, Need::value);
    history_.restart(best_merit);
    int steps = 0;
    for (; steps < max_steps && best_merit > target; ++steps) {
        if (!step(r, regularisation)) break;
        if (history_.last() < best_merit) {
            best_merit = history_.last();
            descend_best_ = r;
        }
    }
    r = descend_best_;
    return {best_merit <= target, steps};
}

int NewtonSolver::run(const Proximal& method, std::vector<double>& r) {
    constexpr int max_idle = 80;                 // outer steps without progress
    constexpr double progress = 0.9;             // a residual above this share of the best one is no progress
    constexpr double inner_accuracy = 0.05;      // ‖F‖ of an inner solve, relative to min(1, residual) ‖r‖,
    constexpr double smallest_accuracy = 1e-14;  // … but not below this, relative to ‖r‖
    constexpr double smallest_norm = 1e-300;     // replaces ‖r‖ if r = 0, so that the accuracy is > 0
    constexpr int easy = 8, hard = 20;           // Newton steps of an easy and of a hard inner problem
    constexpr double relax = 0.4, tighten = 1.5, retry = 4.0;  // factors of ε after easy, hard and failed problems
    constexpr double largest_weight = 1e3;                     // of ε, relative to mean(diag W)
    const std::size_t n = r.size();
    if (n == 0) return 0;
    double weight = method.weight * mean_;
    best_ = r;
    double best_defect = residual(*p_, r, image_);
    int iterations = 0, idle = 0;
    for (int outer = 0; outer < method.max_outer && iterations < method.max_steps && idle < max_idle; ++outer) {
        if (best_defect <= method.tolerance) break;
        centre_ = r;
        weight_ = weight;
        const double accuracy =
            std::max(smallest_accuracy, inner_accuracy * std::min(1.0, best_defect)) * std::max(smallest_norm, norm(r));
        const auto [reached, effort] =
            descend(r, weight, accuracy * accuracy, std::min(method.max_inner, method.max_steps - iterations));
        iterations += effort;
        weight_ = 0.0;
        const double defect = residual(*p_, r, image_);
        if (defect < best_defect) {
            idle = defect > progress * best_defect ? idle + 1 : 0;
            best_defect = defect;
            best_ = r;
        } else {
            ++idle;
        }
        // An easy problem allows less regularisation, a hard one needs more. A failed one is repeated from its centre,
        // unless it improved the residual.
        if (reached && effort <= easy) {
            weight = std::max(weight * relax, smallest_regularisation * mean_);
        } else if (reached && effort > hard) {
            weight *= tighten;
        } else if (!reached) {
            weight = std::min(weight * retry, largest_weight * mean_);
            if (defect > best_defect) r = centre_;
        }
    }
    r = best_;
    return iterations;
}

int NewtonSolver::run(const Newton& method, std::vector<double>& r) {
    constexpr int max_idle = 25;        // the method ends after this number of steps without halving the best residual
    constexpr int patience = 6;         // steps without halving it, after which the regularisation is reduced
    constexpr double near = 1e-4;       // if the residual is below this,
    constexpr double reduction = 1e-2;  // by this factor
    if (r.empty()) return 0;
    best_ = r;
    double defect = residual(*p_, r, image_), best_defect = defect;
    history_.restart(evaluate(r, Need::value));
    int iteration = 0, since_best = 0;
    double share = 0.1;  // proximal term over residual
    for (; iteration < method.max_iterations && best_defect > method.tolerance && since_best < max_idle; ++iteration) {
        // The proximal term is proportional to the residual: it stabilises far from a solution and vanishes at one, so
        // that the convergence stays superlinear.
        if (since_best > 0 && since_best % patience == 0 && best_defect < near) share *= reduction;
        const double epsilon = std::max(smallest_regularisation, std::min(method.proximal, share * defect));
        if (!step(r, mean_ * epsilon)) break;
        defect = residual(*p_, r, image_);
        if (defect < best_defect) {
            since_best = defect > 0.5 * best_defect ? since_best + 1 : 0;
            best_defect = defect;
            best_ = r;
        } else {
            ++since_best;
        }
    }
    r = best_;
    return iteration;
}

}  // namespace saltus::solvers
