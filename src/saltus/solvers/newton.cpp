// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/newton.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>

#include "saltus/solvers/residual.hpp"

namespace saltus::solvers {

namespace {

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

}  // namespace

/// The Jacobian's storage and factorisation: dense for small or full problems, otherwise sparse with the pattern of W,
/// analysed once.
struct NewtonSolver::Linear {
    explicit Linear(const FrictionProblem& p) : n(p.W.rows()) {
        dense = n <= 90 || static_cast<double>(p.W.values.size()) > 0.3 * n * static_cast<double>(n);
        if (dense) {
            A.resize(n, n);
            return;
        }
        std::vector<Eigen::Triplet<double>> entries;
        const auto add = [&](int row, int column) { entries.emplace_back(row, column, 1.0); };
        for (int a = 0; a < p.W.blocks(); ++a) {
            const int first = p.W.start[ix(a)], last = p.W.start[ix(a) + 1];
            for (int k = p.W.row_start[ix(a)]; k < p.W.row_start[ix(a) + 1]; ++k) {
                const int b = p.W.block_column[ix(k)];
                for (int i = first; i < last; ++i)
                    for (int j = p.W.start[ix(b)]; j < p.W.start[ix(b) + 1]; ++j) add(i, j);
            }
            for (int i = first; i < last; ++i) {
                add(i, i);
                if (p.laws[ix(a)].row >= 0) add(i, p.laws[ix(a)].row);
            }
        }
        S.resize(n, n);
        S.setFromTriplets(entries.begin(), entries.end(), [](double x, double) { return x; });
        lu.analyzePattern(S);
    }

    void clear() {
        if (dense)
            A.setZero();
        else
            std::fill_n(S.valuePtr(), S.nonZeros(), 0.0);
    }
    double& operator()(int i, int j) { return dense ? A(i, j) : S.coeffRef(i, j); }

    bool solve(const Vector& b, Vector& x) {
        if (dense) {
            x = A.partialPivLu().solve(b);
        } else {
            lu.factorize(S);
            if (lu.info() != Eigen::Success) return false;
            x = lu.solve(b);
        }
        return x.allFinite();
    }

    int n;
    bool dense = true;
    Matrix A;
    Eigen::SparseMatrix<double> S;
    Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu;
};

NewtonSolver::NewtonSolver(const FrictionProblem& p)
    : p_(p), rho_(p.q.size()), v_(p.q.size()), linear_(std::make_unique<Linear>(p)) {
    const double mean = p.W.diagonal_mean();
    for (int a = 0; a < p.W.blocks(); ++a) {
        const int n = p.W.block_size(a);
        shapes_.push_back(shape_of(p.laws[ix(a)], n));
        const int diagonal = p.W.find(a, a);
        const double* D = diagonal >= 0 ? p.W.values.data() + p.W.offset[ix(diagonal)] : nullptr;
        const auto trace = [&](int first, int size) {
            double sum = 0.0;
            for (int i = first; i < first + size && D != nullptr; ++i) sum += D[i * n + i];
            return sum > 0.0 ? sum / size : (mean > 0.0 ? mean : 1.0);
        };
        const auto set = [&](int first, int size) {
            for (int i = first; i < first + size; ++i) rho_[ix(p.W.start[ix(a)] + i)] = 1.0 / trace(first, size);
        };
        if (shapes_.back().bilateral) set(0, n);
        if (shapes_.back().normal) set(0, 1);
        for (int k = 0; k < shapes_.back().parts; ++k)
            set(shapes_.back().part[ix(k)].first, shapes_.back().part[ix(k)].size);
    }
}

NewtonSolver::~NewtonSolver() = default;

void NewtonSolver::velocities(const std::vector<double>& r, std::vector<double>& v) const {
    p_.W.multiply(r, v);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += p_.q[i];
    if (weight_ > 0.0)
        for (std::size_t i = 0; i < v.size(); ++i) v[i] += weight_ * (r[i] - centre_[i]);
}

double NewtonSolver::evaluate(const std::vector<double>& r, std::vector<double>& F, bool jacobian, double proximal) {
    velocities(r, v_);
    Linear& J = *linear_;
    if (jacobian) J.clear();
    // J(row, ·) += factor · (W + proximal)(source, ·)
    const auto add_velocity = [&](int a, int row, int source, double factor) {
        const int local = source - p_.W.start[ix(a)];
        for (int k = p_.W.row_start[ix(a)]; k < p_.W.row_start[ix(a) + 1]; ++k) {
            const int b = p_.W.block_column[ix(k)];
            const int m = p_.W.block_size(b), first = p_.W.start[ix(b)];
            const double* w = p_.W.values.data() + p_.W.offset[ix(k)] + ix(local) * ix(m);
            for (int j = 0; j < m; ++j) J(row, first + j) += factor * w[j];
        }
        J(row, source) += factor * proximal;
    };
    double sum = 0.0;
    for (int a = 0; a < p_.W.blocks(); ++a) {
        const Shape& shape = shapes_[ix(a)];
        const Law& law = p_.laws[ix(a)];
        const int first = p_.W.start[ix(a)], n = p_.W.block_size(a);
        if (shape.bilateral) {
            for (int i = first; i < first + n; ++i) {
                F[ix(i)] = rho_[ix(i)] * v_[ix(i)];
                if (jacobian) add_velocity(a, i, i, rho_[ix(i)]);
            }
        }
        double y_n = 0.0;
        if (shape.normal) {
            y_n = r[ix(first)] - rho_[ix(first)] * v_[ix(first)];
            if (y_n > 0.0) {
                F[ix(first)] = rho_[ix(first)] * v_[ix(first)];
                if (jacobian) add_velocity(a, first, first, rho_[ix(first)]);
            } else {
                F[ix(first)] = r[ix(first)];
                if (jacobian) J(first, first) += 1.0;
            }
        }
        for (int k = 0; k < shape.parts; ++k) {
            const Shape::Part& part = shape.part[ix(k)];
            const int t = first + part.first;
            double y[2] = {0.0, 0.0};
            for (int i = 0; i < part.size; ++i) y[i] = r[ix(t + i)] - rho_[ix(t + i)] * v_[ix(t + i)];
            const double length = part.size == 1 ? std::abs(y[0]) : std::hypot(y[0], y[1]);
            const double bound = shape.normal                  ? part.mu * std::max(0.0, y_n)
                                 : law.kind == LawKind::slider ? law.bound
                                                               : law.mu * std::abs(r[ix(law.row)]);
            if (length <= bound && bound > 0.0) {  // sticks
                for (int i = 0; i < part.size; ++i) {
                    F[ix(t + i)] = rho_[ix(t + i)] * v_[ix(t + i)];
                    if (jacobian) add_velocity(a, t + i, t + i, rho_[ix(t + i)]);
                }
                continue;
            }
            if (bound <= 0.0) {
                for (int i = 0; i < part.size; ++i) {
                    F[ix(t + i)] = r[ix(t + i)];
                    if (jacobian) J(t + i, t + i) += 1.0;
                }
                continue;
            }
            // slips: F_T = r_T − b d, d = y/‖y‖;  δF = δr_T − d δb − (b/‖y‖)(I − d dᵀ)(δr_T − ρ δv_T)
            const double d[2] = {y[0] / length, y[1] / length};
            for (int i = 0; i < part.size; ++i) {
                F[ix(t + i)] = r[ix(t + i)] - bound * d[i];
                if (!jacobian) continue;
                J(t + i, t + i) += 1.0;
                if (shape.normal) {
                    J(t + i, first) -= d[i] * part.mu;
                    add_velocity(a, t + i, first, d[i] * part.mu * rho_[ix(first)]);
                } else if (law.kind == LawKind::scaled_slider) {
                    J(t + i, law.row) -= d[i] * law.mu * (r[ix(law.row)] >= 0.0 ? 1.0 : -1.0);
                }
                for (int j = 0; j < part.size && part.size > 1; ++j) {
                    const double c = bound / length * ((i == j ? 1.0 : 0.0) - d[i] * d[j]);
                    J(t + i, t + j) -= c;
                    add_velocity(a, t + i, t + j, c * rho_[ix(t + j)]);
                }
            }
        }
        for (int i = first; i < first + n; ++i) sum += F[ix(i)] * F[ix(i)];
    }
    return sum;
}

bool NewtonSolver::step(std::vector<double>& r, double regularisation, std::deque<double>& history) {
    const std::size_t n = r.size();
    std::vector<double> F(n), trial(n);
    evaluate(r, F, true, regularisation);
    Vector direction;
    if (!linear_->solve(-Eigen::Map<const Vector>(F.data(), static_cast<Eigen::Index>(n)), direction)) return false;
    // Nonmonotone backtracking: better than the worst of the last few.
    const double reference = *std::max_element(history.begin(), history.end());
    double merit = 0.0, size = 1.0;
    for (int cut = 0; cut < 12; ++cut, size *= 0.5) {
        for (std::size_t i = 0; i < n; ++i) trial[i] = r[i] + size * direction(static_cast<Eigen::Index>(i));
        merit = evaluate(trial, F, false, 0.0);
        if (merit <= (1.0 - 1e-4 * size) * reference) break;
    }
    if (!std::isfinite(merit)) return false;
    r = std::move(trial);
    history.push_back(merit);
    if (history.size() > 8) history.pop_front();
    return true;
}

bool NewtonSolver::descend(std::vector<double>& r, double regularisation, double target, int most, int& iterations) {
    std::vector<double> best = r, F(r.size());
    double best_merit = evaluate(r, F, false, 0.0);
    std::deque<double> history{best_merit};
    for (int k = 0; k < most && best_merit > target; ++k, ++iterations) {
        if (!step(r, regularisation, history)) break;
        if (history.back() < best_merit) {
            best_merit = history.back();
            best = r;
        }
    }
    r = best;
    return best_merit <= target;
}

int NewtonSolver::run(const Proximal& method, std::vector<double>& r) {
    const std::size_t n = r.size();
    if (n == 0) return 0;
    const double mean = p_.W.diagonal_mean();
    double weight = method.weight * mean;
    std::vector<double> best = r, F(n);
    double best_defect = residual(p_, r);
    int iterations = 0, idle = 0;
    for (int outer = 0; outer < method.max_outer && best_defect > method.tolerance && idle < 80; ++outer) {
        centre_ = r;
        weight_ = weight;
        const double size = std::max(1e-300, Eigen::Map<const Vector>(r.data(), static_cast<Eigen::Index>(n)).norm());
        const double accuracy = std::max(1e-14, 0.05 * std::min(1.0, best_defect)) * size;
        const int before = iterations;
        const bool reached = descend(r, weight, accuracy * accuracy, method.max_inner, iterations);
        weight_ = 0.0;
        const double defect = residual(p_, r);
        if (defect < best_defect) {
            idle = defect > 0.9 * best_defect ? idle + 1 : 0;
            best_defect = defect;
            best = r;
        } else {
            ++idle;
        }
        // Easy steps allow less regularisation, hard ones ask for more; a step that failed is not taken.
        const int effort = iterations - before;
        if (reached && effort <= 8) {
            weight = std::max(weight * 0.4, 1e-13 * mean);
        } else if (reached && effort > 20) {
            weight *= 1.5;
        } else if (!reached) {
            weight = std::min(weight * 4.0, 1e3 * mean);
            if (defect > best_defect) r = centre_;
        }
    }
    r = best;
    return iterations;
}

int NewtonSolver::run(const Newton& method, std::vector<double>& r) {
    if (r.empty()) return 0;
    const double proximal = method.proximal * p_.W.diagonal_mean();
    std::vector<double> best = r, F(r.size());
    double best_defect = residual(p_, r);
    std::deque<double> history{evaluate(r, F, false, 0.0)};
    int iteration = 0, since_best = 0;
    for (; iteration < method.max_iterations && best_defect > method.tolerance && since_best < 25; ++iteration) {
        if (!step(r, proximal, history)) break;
        const double defect = residual(p_, r);
        if (defect < best_defect) {
            since_best = defect > 0.5 * best_defect ? since_best + 1 : 0;
            best_defect = defect;
            best = r;
        } else {
            ++since_best;
        }
    }
    r = best;
    return iteration;
}

}  // namespace saltus::solvers
