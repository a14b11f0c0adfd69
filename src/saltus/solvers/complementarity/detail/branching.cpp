// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/branching.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/solvers/complementarity/detail/exclusion.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr double violation_threshold = 1e-12;  // `distance` above this: an unknown violates its law
constexpr double smallest_size = 1e-300;       // replaces a size of 0 in a denominator; below every number of a problem

/// The tree of states. The linear program of a node has the unknowns x = (w, z), the equations w − M z = q, and for
/// each pair (w_i, z_j) the smallest intervals that contain its allowed states:
///     lower  w >= 0, z = lower       inner  w = 0, lower <= z <= upper       upper  w <= 0, z = upper
/// With all three states, w has no sign and lower <= z <= upper. The program has no objective: any feasible point will
/// do.
class StateTree {
public:
    StateTree(const BoundedForm& form, int max_nodes, const std::function<bool(std::span<const double>)>& accept)
        : form_(form), max_nodes_(max_nodes), accept_(accept), rows_(form.q.size()), columns_(form.lower.size()) {
        program_.A.resize(rows_, rows_ + columns_);
        program_.A.leftCols(rows_).setIdentity();
        program_.A.rightCols(columns_) = -form.M;
        program_.b = form.q;
        program_.c = Vector::Zero(rows_ + columns_);
    }

    BranchingResult run() {
        std::vector<char> states = states_of(form_);
        const bool decided = visit(states);
        result_.end = !result_.certificate.empty() && decided ? BranchingResult::End::excluded
                      : solved_                               ? BranchingResult::End::solved
                                                              : BranchingResult::End::undecided;
        if (result_.end != BranchingResult::End::excluded) result_.certificate.clear();
        return std::move(result_);
    }

private:
    /// True if it is proved that the branch contains no solution.
    bool visit(std::vector<char>& states) {
        if (known_to_be_empty(states)) return true;
        if (++result_.nodes > max_nodes_) return false;
        set_bounds(states);
        const ProgramSolution s = solve(program_);
        if (s.status == ProgramStatus::infeasible) return store(s.certificate, states);
        if (s.status != ProgramStatus::optimal) return false;
        const Index j = most_violated(s.x, states);
        if (j < 0) {
            show(s.x, states);
            return false;
        }
        return visit_children(s.x, j, states);
    }

    /// Restricts unknown j to one state after the other, beginning with the one nearest to the program's solution x.
    bool visit_children(const Vector& x, Index j, std::vector<char>& states) {
        const auto at = static_cast<std::size_t>(j);
        const char all = states[at];
        bool empty = true;
        for (char open = all; open != 0 && !solved_ && result_.nodes <= max_nodes_;) {
            states[at] = nearest(x, j, open);
            open = static_cast<char>(open & ~states[at]);
            empty = visit(states) && empty;
        }
        states[at] = all;
        return empty && !solved_ && result_.nodes <= max_nodes_;
    }

    /// True if a proof that was found in another branch excludes this one too.
    bool known_to_be_empty(const std::vector<char>& states) const {
        const auto rows = static_cast<std::size_t>(rows_);
        for (std::size_t at = result_.certificate.size(); at > 0; at -= rows)
            if (excludes(form_, std::span(result_.certificate).subspan(at - rows, rows), states)) return true;
        return false;
    }

    /// Stores the certificate y of an infeasible program as a proof in the sense of exclusion.hpp. Farkas: bᵀy = yᵀq
    /// exceeds yᵀA x = yᵀw − (Mᵀy)ᵀz for all x within the bounds. A proof wants the opposite inequality, so it is −y.
    /// If rounding in small entries spoils the check, these are set to zero. False if the proof fails within rounding.
    bool store(const Vector& y, const std::vector<char>& states) {
        constexpr double small_entries[] = {0.0, 1e-14, 1e-11};  // relative to the largest entry, tried in turn
        const double size = y.cwiseAbs().maxCoeff();
        for (const double smallest : small_entries) {
            std::vector<double> cleaned(static_cast<std::size_t>(y.size()));
            for (Index i = 0; i < y.size(); ++i)
                cleaned[static_cast<std::size_t>(i)] = std::abs(y(i)) > smallest * size ? -y(i) : 0.0;
            if (!excludes(form_, cleaned, states)) continue;
            result_.certificate.insert(result_.certificate.end(), cleaned.begin(), cleaned.end());
            return true;
        }
        return false;
    }

    void set_bounds(const std::vector<char>& states) {
        program_.lower = Vector::Zero(rows_ + columns_);
        program_.upper = Vector::Zero(rows_ + columns_);
        for (Index j = 0; j < columns_; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const char s = states[at];
            program_.lower(rows_ + j) = s == state::upper ? form_.upper(j) : form_.lower(j);
            program_.upper(rows_ + j) = s == state::lower ? form_.lower(j) : form_.upper(j);
            if (form_.row[at] < 0) continue;
            if ((s & state::lower) != 0) program_.upper(form_.row[at]) = infinity;
            if ((s & state::upper) != 0) program_.lower(form_.row[at]) = -infinity;
        }
    }

    /// Distance of (w_i, z_j) from a state, with w and z measured by their largest absolute values.
    double distance(const Vector& x, Index j, char s) const {
        const double z_size = std::max(x.tail(columns_).cwiseAbs().maxCoeff(), smallest_size);
        const double w_size = std::max(x.head(rows_).cwiseAbs().maxCoeff(), smallest_size);
        const double z = x(rows_ + j), w = x(form_.row[static_cast<std::size_t>(j)]) / w_size;
        if (s == state::inner) return std::abs(w);
        if (s == state::lower) return std::max((z - form_.lower(j)) / z_size, -w);
        return std::max((form_.upper(j) - z) / z_size, w);
    }

    /// The nearest of the allowed states `open`.
    char nearest(const Vector& x, Index j, char open) const {
        char best = 0;
        double least = infinity;
        for (const char s : {state::lower, state::inner, state::upper})
            if ((open & s) != 0)
                if (const double d = distance(x, j, s); d < least || best == 0) least = d, best = s;
        return best;
    }

    /// The undecided unknown that is farthest from all its states; -1 if none violates its law.
    Index most_violated(const Vector& x, const std::vector<char>& states) const {
        Index worst = -1;
        double largest = violation_threshold;
        for (Index j = 0; j < columns_; ++j) {
            const char open = states[static_cast<std::size_t>(j)];
            if (form_.row[static_cast<std::size_t>(j)] < 0 || (open & (open - 1)) == 0) continue;
            if (const double d = distance(x, j, nearest(x, j, open)); d > largest) largest = d, worst = j;
        }
        return worst;
    }

    /// Shows z of the program to `accept`. If it is refused, unknowns at bounds are set exactly, the inner ones are
    /// solved for again by least squares from the data, and the result is shown.
    void show(const Vector& x, const std::vector<char>& states) {
        std::vector<double> z(x.data() + rows_, x.data() + rows_ + columns_);
        solved_ = accept_(z);
        if (solved_) return;
        std::vector<Index> inner, rows;
        std::vector<char> equation(static_cast<std::size_t>(rows_), 1);
        for (Index j = 0; j < columns_; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const char s = form_.row[at] < 0 ? state::inner : nearest(x, j, states[at]);
            if (s == state::inner) inner.push_back(j);
            if (s == state::lower) z[at] = form_.lower(j);
            if (s == state::upper) z[at] = form_.upper(j);
            if (s != state::inner) equation[static_cast<std::size_t>(form_.row[at])] = 0;
        }
        for (Index i = 0; i < rows_; ++i)
            if (equation[static_cast<std::size_t>(i)] != 0) rows.push_back(i);
        if (inner.empty() || rows.empty()) return;
        const Vector w = form_.M * Eigen::Map<const Vector>(z.data(), columns_) + form_.q;
        const Vector step = least_squares(form_.M(rows, inner), -w(rows));
        for (std::size_t b = 0; b < inner.size(); ++b)
            z[static_cast<std::size_t>(inner[b])] += step(static_cast<Index>(b));
        solved_ = accept_(z);
    }

    const BoundedForm& form_;
    int max_nodes_;
    const std::function<bool(std::span<const double>)>& accept_;
    Index rows_, columns_;
    LinearProgram program_;
    BranchingResult result_;
    bool solved_ = false;
};

}  // namespace

BranchingResult branch(const BoundedForm& form, int max_nodes,
                       const std::function<bool(std::span<const double>)>& accept) {
    return StateTree(form, max_nodes, accept).run();
}

}  // namespace saltus::solvers
