// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;
using At = SimplexBasis::At;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double noise = 64 * std::numeric_limits<double>::epsilon();  // of a proof, relative to its terms

double power_of_two_near(double x) { return x > 0.0 && std::isfinite(x) ? std::exp2(std::round(std::log2(x))) : 1.0; }

double largest(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// The program with rows and columns of size about 1, one slot variable a row, fixed to 0, and the basis on its way.
///
/// Slots stand for "this row is not yet met": A x + s = b with s = 0 asked. The first basis has all of them, with
/// whatever values b − A x gives. A basic variable outside its bounds counts as an infeasibility, and while there is
/// one the cost is their sum; where none is left the cost is c. So the method starts anywhere, and goes back to the
/// first phase by itself when a fresh factorisation shows that rounding had hidden an infeasibility.
class Tableau {
public:
    explicit Tableau(const LinearProgram& p)
        : m_(p.A.rows()), n_(p.A.cols()), A_(m_, n_ + m_), b_(p.b), c_(Vector::Zero(n_ + m_)) {
        A_.leftCols(n_) = p.A;
        A_.rightCols(m_).setIdentity();
        row_scale_ = Vector::Ones(m_);
        column_scale_ = Vector::Ones(n_);
        for (int pass = 0; pass < 2; ++pass) {
            for (Index i = 0; i < m_; ++i) scale_row(i);
            for (Index j = 0; j < n_; ++j) scale_column(j);
        }
        b_ = b_.cwiseProduct(row_scale_);
        c_.head(n_) = p.c.cwiseProduct(column_scale_);
        lower_ = upper_ = Vector::Zero(n_ + m_);
        double size = largest(b_);
        for (Index j = 0; j < n_; ++j) {
            lower_(j) = p.lower_of(j) / column_scale_(j);
            upper_(j) = p.upper_of(j) / column_scale_(j);
            const double nearest = std::min(std::abs(lower_(j)), std::abs(upper_(j)));
            if (std::isfinite(nearest)) size = std::max(size, nearest);
        }
        size_ = power_of_two_near(size);
        b_ /= size_;
        lower_ /= size_;
        upper_ /= size_;
        c_ /= power_of_two_near(largest(c_));
        slack_ = feasibility * (1.0 + largest(b_));
    }

    enum class End { optimal, infeasible, unbounded, singular, limit };

    /// From the given basis where it fits, else from the slots.
    void start(const SimplexBasis& given) {
        at_.assign(static_cast<std::size_t>(n_ + m_), At::basic);
        basic_.resize(static_cast<std::size_t>(m_));
        if (given.basic.size() == basic_.size() && given.unknown.size() == at_.size()) {
            at_ = given.unknown;
            for (Index i = 0; i < m_; ++i) basic_[ix(i)] = given.basic[ix(i)];
            if (factorise()) return;
        }
        for (Index j = 0; j < n_; ++j) at_[ix(j)] = resting_place(j);
        for (Index i = 0; i < m_; ++i) {
            at_[ix(n_ + i)] = At::basic;
            basic_[ix(i)] = n_ + i;
        }
        factorise();
    }

    /// Small pivots led to a singular basis: once more without them.
    void start_carefully() {
        smallest_pivot_ = 1e-6;
        start({});
    }

    End run(int max_pivots, int& pivots) {
        int degenerate = 0;
        for (; pivots < max_pivots; ++pivots) {
            if (since_factorised_ >= 64 && !factorise()) return End::singular;
            const bool feasible = phase_costs();
            const bool bland = degenerate > 20 + m_ / 4;
            const Index entering = price(feasible, bland);
            if (entering < 0) {
                // What the updated inverse says is believed only from a fresh one.
                if (since_factorised_ == 0) return feasible ? End::optimal : End::infeasible;
                if (!factorise()) return End::singular;
                continue;
            }
            column_ = inverse_ * A_.col(entering);
            const double direction = rises_ ? 1.0 : -1.0;
            const Step step = ratio_test(entering, direction, bland);
            if (!std::isfinite(step.length)) {
                if (since_factorised_ > 0) {
                    if (!factorise()) return End::singular;
                    continue;
                }
                ray_of(entering, direction);
                return feasible ? End::unbounded : End::limit;
            }
            degenerate = step.length > 1e-13 ? 0 : degenerate + 1;
            move(entering, direction, step);
        }
        return End::limit;
    }

    Vector x() const {
        Vector full(n_);
        for (Index j = 0; j < n_; ++j) full(j) = place(j);
        for (Index i = 0; i < m_; ++i)
            if (basic_[ix(i)] < n_) {
                const Index j = basic_[ix(i)];
                full(j) = std::clamp(x_basic_(i), lower_(j), upper_(j));
            }
        return full.cwiseProduct(column_scale_) * size_;
    }

    /// Multipliers of the program's own costs, from this basis.
    Vector y(const LinearProgram& p) const {
        Vector cost = Vector::Zero(m_);
        for (Index i = 0; i < m_; ++i)
            if (basic_[ix(i)] < n_) cost(i) = p.c(basic_[ix(i)]) * column_scale_(basic_[ix(i)]);
        return solve_transposed(cost).cwiseProduct(row_scale_);
    }

    /// Multipliers of the sum of infeasibilities: with the costs ∓1 of what is below or above its bounds and the
    /// reduced costs of a minimum, yᵀb exceeds the largest yᵀA x within the bounds by that sum.
    Vector farkas() const { return solve_transposed(phase_cost_).cwiseProduct(row_scale_); }

    Vector ray() const { return ray_.cwiseProduct(column_scale_); }

    SimplexBasis basis() const {
        SimplexBasis b;
        b.unknown = at_;
        for (const Index j : basic_) b.basic.push_back(static_cast<int>(j));
        return b;
    }

private:
    static constexpr double feasibility = 1e-12;

    void scale_row(Index i) {
        if (n_ == 0) return;
        const double s = power_of_two_near(A_.row(i).head(n_).cwiseAbs().maxCoeff());
        A_.row(i).head(n_) /= s;
        row_scale_(i) /= s;
    }
    void scale_column(Index j) {
        if (m_ == 0) return;
        const double s = power_of_two_near(A_.col(j).cwiseAbs().maxCoeff());
        A_.col(j) /= s;
        column_scale_(j) /= s;
    }

    At resting_place(Index j) const {
        if (!std::isfinite(lower_(j)) && !std::isfinite(upper_(j))) return At::zero;
        return std::abs(lower_(j)) <= std::abs(upper_(j)) ? At::lower : At::upper;
    }
    double place(Index j) const {
        switch (at_[ix(j)]) {
            case At::lower: return lower_(j);
            case At::upper: return upper_(j);
            case At::zero:
            case At::basic: break;
        }
        return 0.0;
    }

    /// The inverse of the basis and the values of its variables, from the program; false when the basis is singular.
    bool factorise() {
        Matrix B(m_, m_);
        for (Index i = 0; i < m_; ++i) B.col(i) = A_.col(basic_[ix(i)]);
        if (m_ > 0) {
            const Eigen::PartialPivLU<Matrix> lu(B);
            if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 1e-14)) return false;
            inverse_ = lu.inverse();
        } else {
            inverse_.resize(0, 0);
        }
        Vector rest = b_;
        for (Index j = 0; j < n_ + m_; ++j)
            if (const double value = place(j); value != 0.0) rest -= value * A_.col(j);
        x_basic_ = inverse_ * rest;
        x_basic_ += inverse_ * (rest - B * x_basic_);
        basis_ = std::move(B);
        since_factorised_ = 0;
        return x_basic_.allFinite();
    }

    Vector solve_transposed(const Vector& cost) const {
        Vector y = inverse_.transpose() * cost;
        if (since_factorised_ == 0) y += inverse_.transpose() * (cost - basis_.transpose() * y);
        return y;
    }

    /// Costs of the basic variables: of their infeasibilities while there are any, else the program's.
    bool phase_costs() {
        bool feasible = true;
        phase_cost_ = Vector::Zero(m_);
        for (Index i = 0; i < m_; ++i) {
            const Index j = basic_[ix(i)];
            if (x_basic_(i) < lower_(j) - slack_) phase_cost_(i) = -1.0, feasible = false;
            if (x_basic_(i) > upper_(j) + slack_) phase_cost_(i) = 1.0, feasible = false;
        }
        if (feasible)
            for (Index i = 0; i < m_; ++i) phase_cost_(i) = c_(basic_[ix(i)]);
        return feasible;
    }

    /// The unknown whose reduced cost promises most, or by Bland the first that promises anything; -1: none does.
    Index price(bool feasible, bool bland) {
        const Vector y = solve_transposed(phase_cost_);
        const double enough = 1e-11 * (1.0 + largest(y));
        Vector reduced = -(A_.leftCols(n_).transpose() * y);
        if (feasible) reduced += c_.head(n_);
        Index best = -1;
        double most = enough;
        for (Index j = 0; j < n_; ++j) {
            const At at = at_[ix(j)];
            if (at == At::basic || !(lower_(j) < upper_(j))) continue;
            const double d = reduced(j);
            const double gain = at == At::lower ? -d : at == At::upper ? d : std::abs(d);
            if (!(gain > most)) continue;
            best = j;
            rises_ = d < 0.0;
            if (bland) break;
            most = gain;
        }
        return best;
    }

    struct Step {
        double length = infinity;
        Index row = -1;  ///< -1: the entering unknown goes to its other bound
        bool to_upper = false;
    };

    /// How far a basic variable may go: to the bound ahead, or, when it is outside, to the one it comes back in
    /// through.
    double room(Index i, double rate, double slack, bool& to_upper) const {
        const Index j = basic_[ix(i)];
        const double x = x_basic_(i);
        const bool below = x<lower_(j) - slack_, above = x> upper_(j) + slack_;
        if (rate < 0.0) {
            to_upper = above;
            return below ? infinity : (x - (above ? upper_(j) : lower_(j)) + slack) / -rate;
        }
        to_upper = !below;
        return above ? infinity : ((below ? lower_(j) : upper_(j)) - x + slack) / rate;
    }

    /// First how far one may go if bounds could be passed by a little, then among the variables that stop it within
    /// that distance the one with the largest pivot (Harris). By Bland the first of those that stop it first.
    Step ratio_test(Index entering, double direction, bool bland) const {
        const double size = std::max(1.0, largest(column_));
        double reach = infinity;
        bool to_upper = false;
        for (Index i = 0; i < m_; ++i) {
            const double rate = -direction * column_(i);
            if (std::abs(rate) <= smallest_pivot_ * size) continue;
            reach = std::min(reach, std::max(0.0, room(i, rate, bland ? 0.0 : slack_, to_upper)));
        }
        Step step;
        double pivot = 0.0;
        for (Index i = 0; i < m_ && std::isfinite(reach); ++i) {
            const double rate = -direction * column_(i);
            if (std::abs(rate) <= smallest_pivot_ * size) continue;
            const double length = std::max(0.0, room(i, rate, 0.0, to_upper));
            if (length > reach) continue;
            const bool better = bland ? step.row < 0 || basic_[ix(i)] < basic_[ix(step.row)] : std::abs(rate) > pivot;
            if (!better) continue;
            pivot = std::abs(rate);
            step = {length, i, to_upper};
        }
        const double own = upper_(entering) - lower_(entering);
        if (own <= step.length) step = {own, -1, false};
        return step;
    }

    void move(Index entering, double direction, const Step& step) {
        x_basic_ -= direction * step.length * column_;
        const double value = place(entering) + direction * step.length;
        if (step.row < 0) {
            at_[ix(entering)] = at_[ix(entering)] == At::lower ? At::upper : At::lower;
            return;
        }
        const Index leaving = basic_[ix(step.row)];
        at_[ix(leaving)] = step.to_upper ? At::upper : At::lower;
        at_[ix(entering)] = At::basic;
        basic_[ix(step.row)] = entering;
        x_basic_(step.row) = value;
        const double pivot = column_(step.row);
        const Eigen::RowVectorXd row = inverse_.row(step.row) / pivot;
        column_(step.row) = 0.0;
        inverse_.noalias() -= column_ * row;
        inverse_.row(step.row) = row;
        ++since_factorised_;
    }

    void ray_of(Index entering, double direction) {
        ray_ = Vector::Zero(n_);
        ray_(entering) = direction;
        for (Index i = 0; i < m_; ++i)
            if (basic_[ix(i)] < n_) ray_(basic_[ix(i)]) = -direction * column_(i);
    }

    Index m_, n_;
    Matrix A_, inverse_, basis_;
    Vector b_, c_, lower_, upper_, row_scale_, column_scale_;
    double size_ = 1.0, slack_ = 0.0;
    std::vector<At> at_;
    std::vector<Index> basic_;
    Vector x_basic_, phase_cost_, column_, ray_;
    bool rises_ = true;
    int since_factorised_ = 0;
    double smallest_pivot_ = 1e-9;
};

bool finite(const LinearProgram& p) {
    if (!p.A.allFinite() || !p.b.allFinite() || !p.c.allFinite()) return false;
    return !p.lower.hasNaN() && !p.upper.hasNaN();
}

bool bounds_cross(const LinearProgram& p, Index& where) {
    for (where = 0; where < p.A.cols(); ++where)
        if (p.lower_of(where) > p.upper_of(where)) return true;
    return false;
}

}  // namespace

ProgramSolution solve(const LinearProgram& p, const Simplex& method, SimplexBasis& basis) {
    const Index m = p.A.rows(), n = p.A.cols();
    SALTUS_EXPECT(p.b.size() == m && p.c.size() == n);
    SALTUS_EXPECT((p.lower.size() == 0 || p.lower.size() == n) && (p.upper.size() == 0 || p.upper.size() == n));
    ProgramSolution s;
    s.x = Vector::Zero(n);
    s.y = Vector::Zero(m);
    Index crossing = 0;
    if (!finite(p) || bounds_cross(p, crossing)) {
        s.status = finite(p) ? ProgramStatus::infeasible : ProgramStatus::non_finite;
        s.primal_residual = s.dual_residual = s.gap = infinity;
        return s;
    }
    Tableau tableau(p);
    tableau.start(basis);
    const int most = method.max_pivots > 0 ? method.max_pivots : 50 * static_cast<int>(m + n + 10);
    Tableau::End end = tableau.run(most, s.iterations);
    if (end == Tableau::End::singular) {
        tableau.start_carefully();
        end = tableau.run(most, s.iterations);
    }
    s.x = tableau.x();
    s.y = tableau.y(p);
    basis = tableau.basis();
    examine(p, s);
    switch (end) {
        case Tableau::End::optimal:
            if (worst(s) <= method.tolerance) s.status = ProgramStatus::optimal;
            break;
        case Tableau::End::infeasible:
            s.certificate = tableau.farkas();
            if (excludes(p, s.certificate) > noise) s.status = ProgramStatus::infeasible;
            break;
        case Tableau::End::unbounded:
            s.certificate = tableau.ray();
            if (falls(p, s.certificate) > noise && s.primal_residual <= method.tolerance)
                s.status = ProgramStatus::unbounded;
            break;
        case Tableau::End::singular:
        case Tableau::End::limit: break;
    }
    if (s.status == ProgramStatus::stalled || s.status == ProgramStatus::optimal) s.certificate.resize(0);
    return s;
}

ProgramSolution solve(const LinearProgram& program, const Simplex& method) {
    SimplexBasis none;
    return solve(program, method, none);
}

}  // namespace saltus::solvers
