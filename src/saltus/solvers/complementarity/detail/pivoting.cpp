// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-14;
constexpr int few_unknowns = 6;

double lower_of(const BoxView& p, int i) { return p.lower == nullptr ? 0.0 : p.lower[i]; }
double upper_of(const BoxView& p, int i) { return p.upper == nullptr ? infinity : p.upper[i]; }

void add_column(int n, const double* __restrict column, double factor, double* __restrict w) {
    for (int k = 0; k < n; ++k) w[k] += column[k] * factor;
}

/// The tableau of a problem in standard form in which the inner unknowns are exchanged with their w. Its last column,
/// the right side, is y of inner unknowns and w of the others.
class Exchanged {
public:
    static constexpr std::size_t numbers(std::size_t n) { return (n + 3) * (n + 1); }

    Exchanged(const BoxView& p, double* T, int* wrong, Place* place)
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
        w_none_ = rounding * size;
        nothing_ = smallest_exchange * diagonal;
    }

    /// Puts the unknowns to their places; false when an exchange is impossible.
    bool start() {
        for (int i = 0; i < n_; ++i) {
            if (place_[i] == at_upper) shift(i, upper_of(p_, i));
            if (place_[i] == between && !swap(i)) return false;
        }
        return true;
    }

    /// How many unknowns are in a wrong place.
    int wrong() {
        double largest = 0.0;
        for (int i = 0; i < n_; ++i)
            if (place_[i] == between) largest = std::max(largest, std::abs(right_[i]));
        const double y_none = rounding * largest;
        count_ = 0;
        for (int i = 0; i < n_; ++i) {
            const double x = right_[i];
            const bool right = place_[i] == between    ? x >= -y_none && x <= upper_of(p_, i) + y_none
                               : place_[i] == at_lower ? x >= -w_none_
                                                       : x <= w_none_;
            if (!right) wrong_[count_++] = i;
        }
        return count_;
    }

    /// Moves them, all that were counted; false when an exchange is impossible.
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
        if (!(std::abs(column(i)[i]) > nothing_)) return false;
        exchange(T_, stride_, n_ + 1, i, i);
        return true;
    }
    void shift(int i, double by) { add_column(n_, column(i), by, right_); }

    static constexpr double smallest_exchange = 1e-11;  // of the largest entry on the diagonal of M

    const BoxView& p_;
    int n_, stride_;
    double *T_, *right_;
    int* wrong_;
    Place* place_;
    double w_none_, nothing_;
    int count_ = 0;
};

/// Whether to go on moving unknowns: as long as fewer and fewer are wrong, but for a few times.
class Progress {
public:
    bool made(int wrong) {
        patience_ = wrong < fewest_ ? 3 : patience_ - 1;
        fewest_ = std::min(fewest_, wrong);
        return patience_ > 0;
    }

private:
    int fewest_ = std::numeric_limits<int>::max(), patience_ = 3;
};

bool by_exchange(const BoxView& p, double* numbers, int* integers, Place* place, double* y, int& changes) {
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

/// The same by elimination, which needs no diagonal that can be exchanged.
bool by_elimination(const BoxView& p, double* numbers, int* integers, Place* place, double* y, int& changes) {
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

void Pivoting::sweep(const BoxView& p, double* z) {
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
        for (int k = i + 1; k < n; ++k) w[k] += column[k] * step;  // the rows above are not looked at again
    }
}

void Pivoting::place(const BoxView& p, const double* z, const double* w) {
    const double* own = p.M;
    for (int i = 0; i < p.n; ++i, own += p.n + 1) {
        const double wanted = *own > 0.0 ? z[i] - w[i] / *own : w[i] < 0.0 ? infinity : -infinity;
        const double high = upper_of(p, i);
        place_[i] = wanted <= lower_of(p, i) ? at_lower : wanted < high || high == infinity ? between : at_upper;
    }
}

bool Pivoting::solve(const BoxView& problem, double* z, bool placed) {
    const auto n = static_cast<std::size_t>(problem.n), extra = static_cast<std::size_t>(problem.extra);
    double* numbers = numbers_;
    int* integers = integers_;
    StandardForm form;
    if (!form.reduce(problem, numbers, integers)) return false;
    const BoxView& p = form.box();
    numbers += StandardForm::numbers(n, extra);
    integers += StandardForm::integers(n, extra);
    double* const y = numbers;
    numbers += n;
    if (!placed || p.n < problem.n) guess(p, y, numbers);
    const bool few = p.n <= few_unknowns;  // then elimination is quicker than a tableau
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

/// Places by a sweep over a problem in standard form.
void Pivoting::guess(const BoxView& p, double* y, double* numbers) {
    Pivoting self(numbers, nullptr, place_);
    self.sweep(p, y);
    std::copy_n(p.q, p.n, numbers);
    for (int j = 0; j < p.n; ++j)
        if (y[j] != 0.0) add_column(p.n, p.M + static_cast<std::ptrdiff_t>(j) * p.n, y[j], numbers);
    place(p, y, numbers);
    ++changes_;
}

}  // namespace saltus::solvers
