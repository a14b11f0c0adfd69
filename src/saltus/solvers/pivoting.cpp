// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-14;

double upper_of(const BoxView& p, int i) { return p.upper == nullptr ? infinity : p.upper[i]; }

/// y after one projected Gauss–Seidel sweep from zero, and the places that a second one would lead to. True when that
/// one would change nothing.
bool sweep(const BoxView& p, double* y, double* w, Place* place) {
    const int n = p.n;
    std::copy_n(p.q, n, w);
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        const double* const column = p.M + static_cast<std::ptrdiff_t>(i) * n;
        y[i] = w[i] < 0.0 && column[i] > 0.0 ? std::min(-w[i] / column[i], upper_of(p, i)) : 0.0;
        if (y[i] == 0.0) continue;
        largest = std::max(largest, y[i]);
        for (int k = 0; k < n; ++k) w[k] += column[k] * y[i];
    }
    bool settled = true;
    for (int i = 0; i < n; ++i) {
        const double own = p.M[static_cast<std::ptrdiff_t>(i) * n + i], upper = upper_of(p, i);
        const double next = own > 0.0 ? y[i] - w[i] / own : w[i] < 0.0 ? infinity : 0.0;
        place[i] = next <= 0.0 ? at_lower : next < upper || upper == infinity ? between : at_upper;
        settled = settled && std::abs(std::clamp(next, 0.0, upper) - y[i]) <= rounding * largest;
    }
    return settled;
}

/// The tableau of a problem in standard form in which the inner unknowns are exchanged with their w. Its last column,
/// the right side, is y of inner unknowns and w of the others.
class Exchanged {
public:
    Exchanged(const BoxView& p, double* T, int* wrong, Place* place)
        : p_(p), n_(p.n), T_(T), right_(T + static_cast<std::ptrdiff_t>(p.n) * p.n), wrong_(wrong), place_(place) {
        std::copy_n(p.M, static_cast<std::ptrdiff_t>(n_) * n_, T_);
        std::copy_n(p.q, n_, right_);
        const double size = largest_of(p.q, n_);
        w_none_ = rounding * size;
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
    bool swap(int i) {
        const double* const column = T_ + static_cast<std::ptrdiff_t>(i) * n_;
        if (!(std::abs(column[i]) > smallest_exchange * largest_of(column, n_))) return false;
        exchange(T_, n_, n_ + 1, i, i);
        return true;
    }
    void shift(int i, double by) {
        const double* const column = T_ + static_cast<std::ptrdiff_t>(i) * n_;
        for (int k = 0; k < n_; ++k) right_[k] += column[k] * by;
    }

    static constexpr double smallest_exchange = 1e-10;  // of its column

    const BoxView& p_;
    int n_;
    double *T_, *right_;
    int* wrong_;
    Place* place_;
    double w_none_;
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

bool by_exchange(Exchanged& tableau, double* y, int& changes) {
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

/// The same by elimination, for matrices whose diagonal cannot be exchanged.
bool by_elimination(Guess& guess, Place* place, double* y, int& changes) {
    Progress progress;
    while (guess.solve(place, y)) {
        ++changes;
        const int wrong = guess.move(y, place);
        if (wrong == 0) return true;
        if (!progress.made(wrong)) return false;
    }
    return false;
}

}  // namespace

bool Pivoting::solve(const BoxView& problem, double* z) {
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
    bool found = sweep(p, y, numbers, place_);
    ++changes_;
    if (!found) {
        Exchanged tableau(p, numbers, integers, place_);
        found = by_exchange(tableau, y, changes_);
    }
    if (!found) {
        LemkeTableau path({p.n, p.M, p.q, p.upper}, numbers, integers);
        found = path.run(20 * (p.n + 10)) == LemkeTableau::End::solution;
        changes_ += path.pivots();
        if (found) path.solution(y);
    }
    if (!found) {
        sweep(p, y, numbers, place_);
        Guess guess(p, numbers, integers);
        found = by_elimination(guess, place_, y, changes_);
        for (int i = 0; i < p.n; ++i) y[i] = std::clamp(y[i], 0.0, upper_of(p, i));
    }
    if (found) form.expand(y, z);
    return found;
}

}  // namespace saltus::solvers
