// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;
using At = SimplexBasis::At;

constexpr double noise = 64 * std::numeric_limits<double>::epsilon();  // rounding of a proof, relative to its terms

// Tolerances of the tableau, whose rows, columns, b and bounds are scaled to a size of about 1.
constexpr double feasibility = 1e-12;      // a variable outside its bounds by more than this is infeasible
constexpr double reduced_cost = 1e-11;     // a smaller reduced cost, relative to 1 + max|y|, is zero
constexpr double degenerate_step = 1e-13;  // a pivot with a shorter step is degenerate
constexpr double singular_pivot = 1e-14;   // a smaller pivot of the basis matrix: the basis is singular
constexpr double usual_pivot = 1e-9;       // smallest pivot of an exchange, relative to the largest entry of its column
constexpr double careful_pivot = 1e-6;     // the same after a singular basis
constexpr int refactorise_every = 64;      // exchanges between two factorisations of the basis

/// How the entering and the leaving unknown are chosen.
enum class PivotRule {
    largest,  ///< largest reduced cost, largest pivot: few steps
    bland,    ///< the first unknown: no cycles at degenerate vertices
};

/// What the cost of the current basis is.
enum class Phase {
    infeasible,  ///< some basic variable is outside its bounds; the cost is the sum of these violations
    feasible,    ///< the cost is cᵀx
};

double power_of_two_near(double x) { return x > 0.0 && std::isfinite(x) ? std::exp2(std::round(std::log2(x))) : 1.0; }

double largest(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// The scaled program with one slack variable per row, and its current basis.
///
/// Slack variables turn the rows into A x + s = b with the bounds s = 0. The first basis consists of all slacks, with
/// the values b − A x, which violate their bounds. As long as a basic variable violates its bounds, the cost is the sum
/// of the violations (phase 1); after that it is cᵀx (phase 2). Hence the method can start from any basis. It returns
/// to phase 1 by itself if a new factorisation shows that rounding had hidden a violation.
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

    /// Starts from the given basis if it fits and is regular, else from the slacks.
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

    /// Starts again from the slacks and avoids small pivots, after these led to a singular basis.
    void start_carefully() {
        smallest_pivot_ = careful_pivot;
        start({});
    }

    int pivots() const { return pivots_; }  ///< of all runs

    /// Pivots until an end is reached or `max_pivots` pivots have been made in all runs.
    End run(int max_pivots) {
        int degenerate = 0;
        for (; pivots_ < max_pivots; ++pivots_) {
            count_work(static_cast<double>(m_) * static_cast<double>(m_ + A_.cols()));
            if (since_factorised_ >= refactorise_every && !factorise()) return End::singular;
            const Phase phase = phase_costs();
            const bool feasible = phase == Phase::feasible;
            const PivotRule rule = degenerate > 20 + m_ / 4 ? PivotRule::bland : PivotRule::largest;
            const auto [entering, direction] = price(phase, rule);
            if (entering < 0) {
                // The updated inverse contains rounding: an end is believed only after a new factorisation.
                if (since_factorised_ == 0) return feasible ? End::optimal : End::infeasible;
                if (!factorise()) return End::singular;
                continue;
            }
            column_ = inverse_ * A_.col(entering);
            const Step step = ratio_test(entering, direction, rule);
            if (!std::isfinite(step.length)) {
                if (since_factorised_ > 0) {
                    if (!factorise()) return End::singular;
                    continue;
                }
                ray_of(entering, direction);
                return feasible ? End::unbounded : End::limit;
            }
            degenerate = step.length > degenerate_step ? 0 : degenerate + 1;
            move(entering, direction, step);
        }
        return End::limit;
    }

    /// The primal point in the units of the program.
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

    /// The multipliers y of the program's costs: Bᵀy = c_B for this basis.
    Vector y(const LinearProgram& p) const {
        Vector cost = Vector::Zero(m_);
        for (Index i = 0; i < m_; ++i)
            if (basic_[ix(i)] < n_) cost(i) = p.c(basic_[ix(i)]) * column_scale_(basic_[ix(i)]);
        return solve_transposed(cost).cwiseProduct(row_scale_);
    }

    /// The proof of infeasibility: multipliers y of phase 1. The costs are −1 below and +1 above the bounds. At the
    /// minimum of phase 1 all reduced costs have the right sign, so yᵀA x within the bounds is largest at the current
    /// nonbasic point, and yᵀb exceeds that maximum by the sum of the violations.
    Vector farkas() const { return solve_transposed(phase_cost_).cwiseProduct(row_scale_); }

    /// The direction of an unbounded program.
    Vector ray() const { return ray_.cwiseProduct(column_scale_); }

    SimplexBasis basis() const {
        SimplexBasis b;
        b.unknown = at_;
        for (const Index j : basic_) b.basic.push_back(static_cast<int>(j));
        return b;
    }

private:
    // Rows and columns are divided by powers of two near their largest entries, so nothing is rounded.
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

    /// The bound at which a nonbasic unknown starts: the one nearer to zero.
    At resting_place(Index j) const {
        if (!std::isfinite(lower_(j)) && !std::isfinite(upper_(j))) return At::zero;
        return std::abs(lower_(j)) <= std::abs(upper_(j)) ? At::lower : At::upper;
    }
    /// The value of a nonbasic unknown; 0 for a basic one.
    double place(Index j) const {
        switch (at_[ix(j)]) {
            case At::lower: return lower_(j);
            case At::upper: return upper_(j);
            case At::zero:
            case At::basic: break;
        }
        return 0.0;
    }

    /// Computes the inverse of the basis matrix and the basic values from the program; false if the basis is singular.
    bool factorise() {
        count_work(std::pow(static_cast<double>(m_), 3));
        Matrix B(m_, m_);
        for (Index i = 0; i < m_; ++i) B.col(i) = A_.col(basic_[ix(i)]);
        if (m_ > 0) {
            const Eigen::PartialPivLU<Matrix> lu(B);
            if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > singular_pivot)) return false;
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

    /// y with Bᵀy = cost; refined if the basis matrix is that of the inverse.
    Vector solve_transposed(const Vector& cost) const {
        Vector y = inverse_.transpose() * cost;
        if (since_factorised_ == 0) y += inverse_.transpose() * (cost - basis_.transpose() * y);
        return y;
    }

    /// Sets the costs of the basic variables: derivatives of their violations if there are any, else the program's
    /// costs.
    Phase phase_costs() {
        bool feasible = true;
        phase_cost_ = Vector::Zero(m_);
        for (Index i = 0; i < m_; ++i) {
            const Index j = basic_[ix(i)];
            if (x_basic_(i) < lower_(j) - slack_) phase_cost_(i) = -1.0, feasible = false;
            if (x_basic_(i) > upper_(j) + slack_) phase_cost_(i) = 1.0, feasible = false;
        }
        if (feasible)
            for (Index i = 0; i < m_; ++i) phase_cost_(i) = c_(basic_[ix(i)]);
        return feasible ? Phase::feasible : Phase::infeasible;
    }

    struct Entering {
        Index unknown = -1;      // -1: no unknown improves the cost
        double direction = 1.0;  // +1: it rises, −1: it falls
    };

    /// The entering unknown: the one with the largest reduced cost d_j = c_j − A_jᵀy of the right sign, or by Bland's
    /// rule the first one.
    Entering price(Phase phase, PivotRule rule) const {
        const Vector y = solve_transposed(phase_cost_);
        Vector reduced = -(A_.leftCols(n_).transpose() * y);
        if (phase == Phase::feasible) reduced += c_.head(n_);
        Entering best;
        double largest_gain = reduced_cost * (1.0 + largest(y));
        for (Index j = 0; j < n_; ++j) {
            const At at = at_[ix(j)];
            if (at == At::basic || !(lower_(j) < upper_(j))) continue;
            const double d = reduced(j);
            const double gain = at == At::lower ? -d : at == At::upper ? d : std::abs(d);
            if (!(gain > largest_gain)) continue;
            best = {j, d < 0.0 ? 1.0 : -1.0};
            if (rule == PivotRule::bland) break;
            largest_gain = gain;
        }
        return best;
    }

    struct Step {
        double length = infinity;  ///< change of the entering unknown; infinite: nothing blocks
        Index row = -1;            ///< row of the leaving variable; -1: the entering unknown goes to its other bound
        At bound = At::lower;      ///< the bound that the leaving variable reaches
    };

    struct Room {
        double length;  ///< change of the entering unknown until the bound is reached
        At bound;       ///< that bound
    };

    /// How far the basic variable of row i may move with the given rate. A variable within its bounds stops at the
    /// bound ahead. A variable outside stops at the bound through which it becomes feasible; moving away from its
    /// bounds it does not stop. The bound is relaxed by `slack`.
    Room room(Index i, double rate, double slack) const {
        const Index j = basic_[ix(i)];
        const double x = x_basic_(i);
        const bool below = x < lower_(j) - slack_;
        const bool above = x > upper_(j) + slack_;
        if (rate < 0.0) {
            const double length = below ? infinity : (x - (above ? upper_(j) : lower_(j)) + slack) / -rate;
            return {length, above ? At::upper : At::lower};
        }
        const double length = above ? infinity : ((below ? lower_(j) : upper_(j)) - x + slack) / rate;
        return {length, below ? At::lower : At::upper};
    }

    /// Harris's ratio test: first the longest step if all bounds were relaxed by slack_, then, among the variables that
    /// block within that length, the one with the largest pivot. By Bland's rule: among those that block first, the
    /// unknown with the smallest number.
    Step ratio_test(Index entering, double direction, PivotRule rule) const {
        const bool bland = rule == PivotRule::bland;
        const double size = std::max(1.0, largest(column_));
        double reach = infinity;
        for (Index i = 0; i < m_; ++i) {
            const double rate = -direction * column_(i);
            if (std::abs(rate) <= smallest_pivot_ * size) continue;
            reach = std::min(reach, std::max(0.0, room(i, rate, bland ? 0.0 : slack_).length));
        }
        Step step;
        double pivot = 0.0;
        for (Index i = 0; i < m_ && std::isfinite(reach); ++i) {
            const double rate = -direction * column_(i);
            if (std::abs(rate) <= smallest_pivot_ * size) continue;
            const Room exact = room(i, rate, 0.0);
            const double length = std::max(0.0, exact.length);
            if (length > reach) continue;
            const bool better = bland ? step.row < 0 || basic_[ix(i)] < basic_[ix(step.row)] : std::abs(rate) > pivot;
            if (!better) continue;
            pivot = std::abs(rate);
            step = {length, i, exact.bound};
        }
        const double own = upper_(entering) - lower_(entering);
        if (own <= step.length) step = {own, -1, At::lower};
        return step;
    }

    /// Carries out the step. With the pivot column B⁻¹A_e the new inverse is B⁻¹ − (column − e_r)(row r of B⁻¹)/pivot.
    void move(Index entering, double direction, const Step& step) {
        x_basic_ -= direction * step.length * column_;
        const double value = place(entering) + direction * step.length;
        if (step.row < 0) {
            at_[ix(entering)] = at_[ix(entering)] == At::lower ? At::upper : At::lower;
            return;
        }
        const Index leaving = basic_[ix(step.row)];
        at_[ix(leaving)] = step.bound;
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
    double size_ = 1.0;         // unit of x: b and the bounds are divided by it
    double slack_ = 0.0;        // violations of bounds up to this are rounding
    std::vector<At> at_;        // position of each unknown
    std::vector<Index> basic_;  // basic unknown of each row
    Vector x_basic_, phase_cost_, column_, ray_;
    int since_factorised_ = 0;  // exchanges since the last factorisation
    int pivots_ = 0;
    double smallest_pivot_ = usual_pivot;
};

bool finite(const LinearProgram& p) {
    if (!p.A.allFinite() || !p.b.allFinite() || !p.c.allFinite()) return false;
    return !p.lower.hasNaN() && !p.upper.hasNaN();
}

bool bounds_cross(const LinearProgram& p) {
    for (Index j = 0; j < p.A.cols(); ++j)
        if (p.lower_of(j) > p.upper_of(j)) return true;
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
    if (!finite(p) || bounds_cross(p)) {
        s.status = finite(p) ? ProgramStatus::infeasible : ProgramStatus::non_finite;
        s.primal_residual = s.dual_residual = s.gap = infinity;
        return s;
    }
    Tableau tableau(p);
    tableau.start(basis);
    const int max_pivots = method.max_pivots > 0 ? method.max_pivots : 50 * static_cast<int>(m + n + 10);
    Tableau::End end = tableau.run(max_pivots);
    if (end == Tableau::End::singular) {
        tableau.start_carefully();
        end = tableau.run(max_pivots);
    }
    s.iterations = tableau.pivots();
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
