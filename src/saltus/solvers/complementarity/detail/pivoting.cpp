// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/numbers.hpp"
#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double rounding = 1e-14;  // violations up to this share of max|y| or max|q| are rounding
constexpr int few_unknowns = 6;     // up to this number elimination is faster than a tableau

double lower_of(const BoundedView& p, int i) { return p.lower == nullptr ? 0.0 : p.lower[i]; }
double upper_of(const BoundedView& p, int i) { return p.upper == nullptr ? infinity : p.upper[i]; }

/// w += factor · column.
void add_column(int n, const double* __restrict column, double factor, double* __restrict w) {
    for (int k = 0; k < n; ++k) w[k] += column[k] * factor;
}

/// The tableau of a problem in standard form in which the inner unknowns y_i are exchanged with their w_i. Its last
/// column, the right-hand side, holds y of the inner unknowns and w of the others.
class Exchanged {
public:
    static constexpr std::size_t numbers(std::size_t n) { return (n + 3) * (n + 1); }

    Exchanged(const BoundedView& p, double* T, int* wrong, Place* place)
        : p_(p), n_(p.n), stride_(padded(p.n)), T_(T), right_(T + p.n * stride_), wrong_(wrong), place_(place) {
        const double* from = p.M;
        double* to = T;
        double diagonal = 0.0, size = 0.0;
        for (int j = 0; j <= n_; ++j, to += stride_, from += n_) {
            if (j == n_) from = p.q;
            copy_padded(from, to);
            if (j < n_) diagonal = std::max(diagonal, std::abs(to[j]));
        }
        for (int i = 0; i < n_; ++i) size = std::max(size, std::abs(p.q[i]));
        negligible_w_ = rounding * size;
        smallest_pivot_ = pivot_threshold * diagonal;
    }

    /// Exchanges and shifts the unknowns to their places; false if a diagonal pivot is too small.
    bool start() {
        for (int i = 0; i < n_; ++i) {
            if (place_[i] == at_upper) shift(i, upper_of(p_, i));
            if (place_[i] == between && !swap(i)) return false;
        }
        return true;
    }

    /// Finds the unknowns in a wrong place (y outside its bounds, or w of the wrong sign); returns their number.
    int wrong() {
        double largest = 0.0;
        for (int i = 0; i < n_; ++i)
            if (place_[i] == between) largest = std::max(largest, std::abs(right_[i]));
        const double negligible_y = rounding * largest;
        count_ = 0;
        for (int i = 0; i < n_; ++i) {
            const double x = right_[i];
            const bool right = place_[i] == between    ? x >= -negligible_y && x <= upper_of(p_, i) + negligible_y
                               : place_[i] == at_lower ? x >= -negligible_w_
                                                       : x <= negligible_w_;
            if (!right) wrong_[count_++] = i;
        }
        return count_;
    }

    /// Moves all unknowns that `wrong` found; false if a diagonal pivot is too small.
    bool move() {
        for (int k = 0; k < count_; ++k) {
            const int i = wrong_[k];
            const bool low = right_[i] < 0.0;
            if (place_[i] == at_upper) shift(i, -upper_of(p_, i));
            if (!swap(i)) return false;
            place_[i] = place_[i] != between ? between : low ? at_lower : at_upper;
            if (place_[i] == at_upper) shift(i, upper_of(p_, i));
        }
        return true;
    }

    void solution(double* y) const {
        for (int i = 0; i < n_; ++i) {
            const double upper = upper_of(p_, i);
            y[i] = place_[i] == at_lower ? 0.0 : place_[i] == at_upper ? upper : std::clamp(right_[i], 0.0, upper);
        }
    }

private:
    /// Copies n numbers and fills up with zeros to a multiple of four.
    void copy_padded(const double* from, double* to) const {
        int k = 0;
        for (; k + 4 <= n_; k += 4)
            for (int l = 0; l < 4; ++l) to[k + l] = from[k + l];
        if (k == n_) return;
        to[k] = from[k];
        to[k + 1] = k + 1 < n_ ? from[k + 1] : 0.0;
        to[k + 2] = k + 2 < n_ ? from[k + 2] : 0.0;
        to[k + 3] = 0.0;
    }
    double* column(int i) const { return T_ + static_cast<std::ptrdiff_t>(i) * stride_; }
    bool swap(int i) {
        if (!(std::abs(column(i)[i]) > smallest_pivot_)) return false;
        exchange(T_, stride_, n_ + 1, i, i);
        return true;
    }
    void shift(int i, double by) { add_column(n_, column(i), by, right_); }

    static constexpr double pivot_threshold = 1e-11;  // smallest pivot, relative to the largest |M_ii|

    const BoundedView& p_;
    int n_, stride_;
    double *T_, *right_;
    int* wrong_;
    Place* place_;
    double negligible_w_, smallest_pivot_;
    int count_ = 0;  // number of unknowns in wrong_
};

/// Stopping rule of block principal pivoting: the number of wrong unknowns must reach a new minimum at least every
/// third time; otherwise the method may cycle.
class Progress {
public:
    bool made(int wrong) {
        patience_ = wrong < fewest_ ? full_patience : patience_ - 1;
        fewest_ = std::min(fewest_, wrong);
        return patience_ > 0;
    }

private:
    static constexpr int full_patience = 3;  // this number of rounds in a row without a new minimum ends it
    int fewest_ = std::numeric_limits<int>::max(), patience_ = full_patience;
};

/// Block principal pivoting in a tableau, from the given places; `changes` counts the rounds. True if y is a solution.
bool by_exchange(const BoundedView& p, double* numbers, int* integers, Place* place, double* y, int& changes) {
    Exchanged tableau(p, numbers, integers, place);
    Progress progress;
    for (bool possible = tableau.start(); possible; possible = tableau.move()) {
        ++changes;
        const int wrong = tableau.wrong();
        if (wrong == 0) {
            tableau.solution(y);
            return true;
        }
        if (!progress.made(wrong)) return false;
    }
    return false;
}

/// The same with a new elimination in each round. It needs no diagonal pivots.
bool by_elimination(const BoundedView& p, double* numbers, int* integers, Place* place, double* y, int& changes) {
    Guess guess(p, numbers, integers);
    Progress progress;
    while (guess.solve(place, y)) {
        ++changes;
        const int wrong = guess.move(y, place);
        if (wrong == 0) {
            for (int i = 0; i < p.n; ++i) y[i] = std::clamp(y[i], 0.0, upper_of(p, i));
            return true;
        }
        if (!progress.made(wrong)) return false;
    }
    return false;
}

}  // namespace

void Pivoting::sweep(const BoundedView& p, double* z) {
    ++changes_;
    const int n = p.n;
    double* const w = numbers_;
    std::copy_n(p.q, n, w);
    const double* column = p.M;
    for (int i = 0; i < n; ++i, column += n) {
        z[i] = p.lower == nullptr ? 0.0 : std::clamp(0.0, p.lower[i], p.upper[i]);
        if (z[i] != 0.0) add_column(n, column, z[i], w);
    }
    column = p.M;
    for (int i = 0; i < n; ++i, column += n) {
        if (!(column[i] > 0.0)) continue;
        const double low = lower_of(p, i), high = upper_of(p, i), wanted = z[i] - w[i] / column[i];
        const double next = wanted < low ? low : wanted > high ? high : wanted, step = next - z[i];
        if (step == 0.0) continue;
        z[i] = next;
        for (int k = i + 1; k < n; ++k) w[k] += column[k] * step;  // rows above i are not used again in this sweep
    }
}

// The place of the Gauss–Seidel update z_i − w_i/M_ii. Without a positive diagonal the sign of w_i decides.
void Pivoting::place(const BoundedView& p, const double* z, const double* w) {
    const double* own = p.M;
    for (int i = 0; i < p.n; ++i, own += p.n + 1) {
        const double wanted = *own > 0.0 ? z[i] - w[i] / *own : w[i] < 0.0 ? infinity : -infinity;
        const double high = upper_of(p, i);
        place_[i] = wanted <= lower_of(p, i) ? at_lower : wanted < high || high == infinity ? between : at_upper;
    }
}

bool Pivoting::solve(const BoundedView& problem, double* z, Places places) {
    const auto n = static_cast<std::size_t>(problem.n), extra = static_cast<std::size_t>(problem.extra);
    double* numbers = numbers_;
    int* integers = integers_;
    StandardForm form;
    if (!form.reduce(problem, numbers, integers)) return false;
    const BoundedView& p = form.reduced();
    numbers += StandardForm::numbers(n, extra);
    integers += StandardForm::integers(n, extra);
    double* const y = numbers;
    numbers += n;
    if (places == Places::guess || p.n < problem.n) guess(p, y, numbers);
    const bool few = p.n <= few_unknowns;
    bool found = few ? by_elimination(p, numbers, integers, place_, y, changes_)
                     : by_exchange(p, numbers, integers, place_, y, changes_);
    if (!found) {
        LemkeTableau path({p.n, p.M, p.q, p.upper}, numbers, integers);
        found = path.run(20 * (p.n + 10)) == LemkeTableau::End::solution;
        changes_ += path.pivots();
        if (found) path.solution(y);
    }
    if (!found && !few) {
        guess(p, y, numbers);
        found = by_elimination(p, numbers, integers, place_, y, changes_);
    }
    if (found) form.expand(y, z);
    return found;
}

/// Guesses the places of a problem in standard form by a sweep. The memory of the sweep is `numbers`.
void Pivoting::guess(const BoundedView& p, double* y, double* numbers) {
    Pivoting self(numbers, nullptr, place_);
    self.sweep(p, y);
    std::copy_n(p.q, p.n, numbers);
    for (int j = 0; j < p.n; ++j)
        if (y[j] != 0.0) add_column(p.n, p.M + static_cast<std::ptrdiff_t>(j) * p.n, y[j], numbers);
    place(p, y, numbers);
    ++changes_;
}

}  // namespace saltus::solvers
