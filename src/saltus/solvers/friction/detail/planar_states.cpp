// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/planar_states.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saltus::solvers {

namespace {

constexpr int largest = 8;  // rows

enum class State : char { open, sticks, slides_back, slides_on, none };

/// A system of at most `largest` equations, with its right side.
struct System {
    double A[largest][largest + 1];
    int n = 0;

    bool solve(double* x) {
        for (int k = 0; k < n; ++k) {
            int best = k;
            for (int i = k + 1; i < n; ++i)
                if (std::abs(A[i][k]) > std::abs(A[best][k])) best = i;
            if (!(std::abs(A[best][k]) > 1e-13)) return false;  // of rows about 1
            if (best != k) std::swap(A[best], A[k]);
            for (int i = k + 1; i < n; ++i) {
                const double f = A[i][k] / A[k][k];
                if (f == 0.0) continue;
                for (int j = k + 1; j <= n; ++j) A[i][j] -= f * A[k][j];
            }
        }
        for (int k = n - 1; k >= 0; --k) {
            double sum = A[k][n];
            for (int j = k + 1; j < n; ++j) sum -= A[k][j] * x[j];
            x[k] = sum / A[k][k];
        }
        return true;
    }
};

class Settling {
public:
    explicit Settling(const FrictionProblem& p) : p_(p), rows_(p.W.rows()) {
        for (int a = 0; a < p.contacts(); ++a)
            for (int k = p.W.row_start[at(a)]; k < p.W.row_start[at(a) + 1]; ++k) {
                const int b = p.W.block_column[at(k)], m = p.W.block_size(a), n = p.W.block_size(b);
                const double* block = p.W.values.data() + p.W.offset[at(k)];
                for (int i = 0; i < m; ++i)
                    for (int j = 0; j < n; ++j) W_[p.W.start[at(a)] + i][p.W.start[at(b)] + j] = *block++;
            }
        std::fill_n(state_, largest, State::none);
    }

    bool usable() const {
        for (int i = 0; i < rows_; ++i)
            if (!(W_[i][i] > 0.0)) return false;
        return true;
    }

    /// False when all states are as they were.
    bool guess(std::span<const double> r) {
        bool changed = false;
        for (int a = 0; a < p_.contacts(); ++a) {
            const int i = p_.W.start[at(a)];
            const State now = state_of(a, i, r);
            changed = changed || now != state_[a];
            state_[a] = now;
        }
        return changed;
    }

    bool reactions(std::span<double> r) {
        System system;
        int row_of[largest];
        double x[largest];
        for (int a = 0; a < p_.contacts(); ++a) {
            if (state_[a] == State::open) continue;
            row_of[system.n++] = p_.W.start[at(a)];
            if (state_[a] == State::sticks && p_.W.block_size(a) == 2) row_of[system.n++] = p_.W.start[at(a)] + 1;
        }
        int column = 0;
        for (int a = 0; a < p_.contacts(); ++a) {
            const int i = p_.W.start[at(a)];
            if (state_[a] == State::open) continue;
            const bool two = p_.W.block_size(a) == 2;
            const double along = two ? side(a) * p_.laws[at(a)].mu : 0.0;
            for (int k = 0; k < system.n; ++k) {
                const double* const row = W_[row_of[k]];
                system.A[k][column] = (row[i] + (along != 0.0 ? row[i + 1] * along : 0.0)) / row[row_of[k]];
                if (two && state_[a] == State::sticks) system.A[k][column + 1] = row[i + 1] / row[row_of[k]];
            }
            column += two && state_[a] == State::sticks ? 2 : 1;
        }
        for (int k = 0; k < system.n; ++k) system.A[k][system.n] = -p_.q[at(row_of[k])] / W_[row_of[k]][row_of[k]];
        if (!system.solve(x)) return false;
        std::fill(r.begin(), r.end(), 0.0);
        for (int k = 0; k < system.n; ++k) r[at(row_of[k])] = x[k];
        for (int a = 0; a < p_.contacts(); ++a)
            if (p_.W.block_size(a) == 2 && side(a) != 0.0)
                r[at(p_.W.start[at(a)] + 1)] = side(a) * p_.laws[at(a)].mu * r[at(p_.W.start[at(a)])];
        return true;
    }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    double side(int a) const {
        return state_[a] == State::slides_back ? 1.0 : state_[a] == State::slides_on ? -1.0 : 0.0;
    }

    /// Of the reaction that the row of the natural map proposes, with the step 1/W_ii.
    State state_of(int a, int i, std::span<const double> r) const {
        const double normal = proposed(i, r);
        if (!(normal > 0.0)) return State::open;
        if (p_.W.block_size(a) == 1) return State::sticks;
        const double tangential = proposed(i + 1, r), bound = p_.laws[at(a)].mu * normal;
        return tangential > bound ? State::slides_back : tangential < -bound ? State::slides_on : State::sticks;
    }
    double proposed(int i, std::span<const double> r) const {
        double v = p_.q[at(i)];
        for (int j = 0; j < rows_; ++j) v += W_[i][j] * r[at(j)];
        return r[at(i)] - v / W_[i][i];
    }

    const FrictionProblem& p_;
    int rows_;
    double W_[largest][largest] = {};
    State state_[largest];
};

}  // namespace

bool few_planar_contacts(const FrictionProblem& p) {
    if (p.W.rows() > largest) return false;
    return std::all_of(p.laws.begin(), p.laws.end(), [](const Law& law) {
        return law.kind == LawKind::unilateral || law.kind == LawKind::friction2;
    });
}

bool settle_states(const FrictionProblem& p, std::span<double> r, int most) {
    Settling settling(p);
    if (!settling.usable()) return false;
    for (int k = 0; settling.guess(r); ++k)
        if (k == most || !settling.reactions(r)) return false;
    return true;
}

}  // namespace saltus::solvers
