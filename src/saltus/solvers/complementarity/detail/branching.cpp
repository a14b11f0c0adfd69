// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/branching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/complementarity/detail/exclusion.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr double infinity = std::numeric_limits<double>::infinity();

class Search {
public:
    Search(const Box& box, int most_nodes, const std::function<bool(std::span<const double>)>& accept)
        : box_(box), most_nodes_(most_nodes), accept_(accept), rows_(box.q.size()), columns_(box.lower.size()) {
        // w − M z = q in the unknowns (w, z)
        program_.A.resize(rows_, rows_ + columns_);
        program_.A.leftCols(rows_).setIdentity();
        program_.A.rightCols(columns_) = -box.M;
        program_.b = box.q;
        program_.c = Vector::Zero(rows_ + columns_);
    }

    BranchingResult run() {
        std::vector<char> states = states_of(box_);
        const bool decided = visit(states);
        result_.end = !result_.certificate.empty() && decided ? BranchingResult::End::excluded
                      : solved_                               ? BranchingResult::End::solved
                                                              : BranchingResult::End::undecided;
        if (result_.end != BranchingResult::End::excluded) result_.certificate.clear();
        return std::move(result_);
    }

private:
    /// True when the branch holds no solution.
    bool visit(std::vector<char>& states) {
        if (known_to_be_empty(states)) return true;
        if (++result_.nodes > most_nodes_) return false;
        set_bounds(states);
        const ProgramSolution s = solve(program_);
        if (s.status == ProgramStatus::infeasible) return store(s.certificate, states);
        if (s.status != ProgramStatus::optimal) return false;
        const Index j = most_broken(s.x, states);
        if (j < 0) {
            show(s.x, states);
            return false;
        }
        return visit_children(s.x, j, states);
    }

    bool visit_children(const Vector& x, Index j, std::vector<char>& states) {
        const auto at = static_cast<std::size_t>(j);
        const char all = states[at];
        bool empty = true;
        for (char open = all; open != 0 && !solved_ && result_.nodes <= most_nodes_;) {
            states[at] = nearest(x, j, open);
            open = static_cast<char>(open & ~states[at]);
            empty = visit(states) && empty;
        }
        states[at] = all;
        return empty && !solved_ && result_.nodes <= most_nodes_;
    }

    bool known_to_be_empty(const std::vector<char>& states) const {
        const auto rows = static_cast<std::size_t>(rows_);
        for (std::size_t at = result_.certificate.size(); at > 0; at -= rows)
            if (excludes(box_, std::span(result_.certificate).subspan(at - rows, rows), states)) return true;
        return false;
    }

    /// The program's certificate has bᵀy above every yᵀA x; here the sign is the other one.
    bool store(const Vector& y, const std::vector<char>& states) {
        const double size = y.cwiseAbs().maxCoeff();
        for (const double smallest : {0.0, 1e-14, 1e-11}) {
            std::vector<double> cleaned(static_cast<std::size_t>(y.size()));
            for (Index i = 0; i < y.size(); ++i)
                cleaned[static_cast<std::size_t>(i)] = std::abs(y(i)) > smallest * size ? -y(i) : 0.0;
            if (!excludes(box_, cleaned, states)) continue;
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
            program_.lower(rows_ + j) = s == state::upper ? box_.upper(j) : box_.lower(j);
            program_.upper(rows_ + j) = s == state::lower ? box_.lower(j) : box_.upper(j);
            if (box_.row[at] < 0) continue;
            if ((s & state::lower) != 0) program_.upper(box_.row[at]) = infinity;
            if ((s & state::upper) != 0) program_.lower(box_.row[at]) = -infinity;
        }
    }

    /// How far (z_j, w_i) is from a state, each measured by the largest of its kind.
    double distance(const Vector& x, Index j, char s) const {
        const double z_size = std::max(x.tail(columns_).cwiseAbs().maxCoeff(), 1e-300);
        const double w_size = std::max(x.head(rows_).cwiseAbs().maxCoeff(), 1e-300);
        const double z = x(rows_ + j), w = x(box_.row[static_cast<std::size_t>(j)]) / w_size;
        if (s == state::inner) return std::abs(w);
        if (s == state::lower) return std::max((z - box_.lower(j)) / z_size, -w);
        return std::max((box_.upper(j) - z) / z_size, w);
    }

    /// The nearest of the states that are open to an unknown.
    char nearest(const Vector& x, Index j, char open) const {
        char best = 0;
        double least = infinity;
        for (const char s : {state::lower, state::inner, state::upper})
            if ((open & s) != 0)
                if (const double d = distance(x, j, s); d < least || best == 0) least = d, best = s;
        return best;
    }

    /// The unknown that is farthest from all its states; -1: none breaks its law.
    Index most_broken(const Vector& x, const std::vector<char>& states) const {
        Index worst = -1;
        double largest = 1e-12;
        for (Index j = 0; j < columns_; ++j) {
            const char open = states[static_cast<std::size_t>(j)];
            if (box_.row[static_cast<std::size_t>(j)] < 0 || (open & (open - 1)) == 0) continue;
            if (const double d = distance(x, j, nearest(x, j, open)); d > largest) largest = d, worst = j;
        }
        return worst;
    }

    /// z of the program, and where that is not good enough with the inner unknowns solved for once more.
    void show(const Vector& x, const std::vector<char>& states) {
        std::vector<double> z(x.data() + rows_, x.data() + rows_ + columns_);
        solved_ = accept_(z);
        if (solved_) return;
        std::vector<Index> inner, rows;
        std::vector<char> equation(static_cast<std::size_t>(rows_), 1);
        for (Index j = 0; j < columns_; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const char s = box_.row[at] < 0 ? state::inner : nearest(x, j, states[at]);
            if (s == state::inner) inner.push_back(j);
            if (s == state::lower) z[at] = box_.lower(j);
            if (s == state::upper) z[at] = box_.upper(j);
            if (s != state::inner) equation[static_cast<std::size_t>(box_.row[at])] = 0;
        }
        for (Index i = 0; i < rows_; ++i)
            if (equation[static_cast<std::size_t>(i)] != 0) rows.push_back(i);
        if (inner.empty() || rows.empty()) return;
        const Vector w = box_.M * Eigen::Map<const Vector>(z.data(), columns_) + box_.q;
        const Vector step = least_squares(box_.M(rows, inner), -w(rows));
        for (std::size_t b = 0; b < inner.size(); ++b)
            z[static_cast<std::size_t>(inner[b])] += step(static_cast<Index>(b));
        solved_ = accept_(z);
    }

    const Box& box_;
    int most_nodes_;
    const std::function<bool(std::span<const double>)>& accept_;
    Index rows_, columns_;
    LinearProgram program_;
    BranchingResult result_;
    bool solved_ = false;
};

}  // namespace

BranchingResult branch(const Box& box, int most_nodes, const std::function<bool(std::span<const double>)>& accept) {
    return Search(box, most_nodes, accept).run();
}

}  // namespace saltus::solvers
