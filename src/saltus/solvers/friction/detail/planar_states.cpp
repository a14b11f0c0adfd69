// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/planar_states.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saltus::solvers {

namespace {

constexpr int max_rows = 8;                      // rows of a problem; the arrays below are on the stack
constexpr double smallest_planar_pivot = 1e-13;  // absolute: the rows of a System are scaled to a diagonal of 1

/// State of a contact. slides_back: v_T <= 0 and r_T = μ r_N. slides_on: v_T >= 0 and r_T = −μ r_N. none: not yet set.
enum class State : char { open, sticks, slides_back, slides_on, none };

/// A system of at most `max_rows` equations with its right-hand side in the last column. It is solved by Gauss
/// elimination with row pivots. `solve_small` (small_system.hpp) is not used here, because it copies the matrix and
/// skips no zeros; this loop is the fast path of every small impact.
struct System {
    double A[max_rows][max_rows + 1];
    int n = 0;

    bool solve(double* x) {
        for (int k = 0; k < n; ++k) {
            int best = k;
            for (int i = k + 1; i < n; ++i)
                if (std::abs(A[i][k]) > std::abs(A[best][k])) best = i;
            if (!(std::abs(A[best][k]) > smallest_planar_pivot)) return false;
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

/// The active-set iteration: contact states and the reactions that belong to them.
class StateIteration {
public:
    explicit StateIteration(const FrictionProblem& p) : p_(p), rows_(p.W.rows()) {
        for (int a = 0; a < p.contacts(); ++a)
            for (int k = p.W.row_start[at(a)]; k < p.W.row_start[at(a) + 1]; ++k) {
                const int b = p.W.block_column[at(k)], m = p.W.block_size(a), n = p.W.block_size(b);
                const double* block = p.W.values.data() + p.W.offset[at(k)];
                for (int i = 0; i < m; ++i)
                    for (int j = 0; j < n; ++j) W_[p.W.start[at(a)] + i][p.W.start[at(b)] + j] = *block++;
            }
        std::fill_n(state_, max_rows, State::none);
    }

    /// True if the steps 1/W_ii are defined.
    bool usable() const {
        for (int i = 0; i < rows_; ++i)
            if (!(W_[i][i] > 0.0)) return false;
        return true;
    }

    /// Reads the states from r; false if none has changed.
    bool read_states(std::span<const double> r) {
        bool changed = false;
        for (int a = 0; a < p_.contacts(); ++a) {
            const int i = p_.W.start[at(a)];
            const State now = state_of(a, i, r);
            changed = changed || now != state_[a];
            state_[a] = now;
        }
        return changed;
    }

    /// Computes the reactions of the states; false if their system is singular. The unknowns are r_N of closed contacts
    /// and r_T of sticking ones, with the equations v_N = 0 and v_T = 0. A sliding contact has r_T = ±μ r_N, which adds
    /// ±μ times the tangential column to its normal one. Each row is divided by its diagonal element W_ii.
    bool reactions(std::span<double> r) {
        System system;
        int row_of[max_rows];
        double x[max_rows];
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

    /// r_T/(μ r_N) of a sliding contact, else 0.
    double side(int a) const {
        return state_[a] == State::slides_back ? 1.0 : state_[a] == State::slides_on ? -1.0 : 0.0;
    }

    /// The state of the reaction that the natural map proposes, y_i = r_i − v_i/W_ii: open if y_N <= 0, sliding if
    /// |y_T| > μ y_N, else sticking.
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
    double W_[max_rows][max_rows] = {};
    State state_[max_rows];
};

}  // namespace

bool few_planar_contacts(const FrictionProblem& p) {
    if (p.W.rows() > max_rows) return false;
    return std::all_of(p.laws.begin(), p.laws.end(), [](const Law& law) {
        return law.kind == LawKind::unilateral || law.kind == LawKind::friction2;
    });
}

bool settle_states(const FrictionProblem& p, std::span<double> r, int max_systems) {
    StateIteration iteration(p);
    if (!iteration.usable()) return false;
    for (int k = 0; iteration.read_states(r); ++k)
        if (k == max_systems || !iteration.reactions(r)) return false;
    return true;
}

}  // namespace saltus::solvers
