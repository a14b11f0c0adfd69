// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// Solves by whatever works, in an order that suits: pivoting (`pivoting.hpp`), Lemke's path with other beginnings, a
/// search through all combinations of states (`branching.hpp`), which also decides that there is no solution, and the
/// methods for friction. Every result is judged by the independent residual.
struct AutomaticComplementarity {
    double tolerance = 1e-10;
    double work = 2e9;  ///< multiplications, about, of the search: enough for some thirty unknowns of any matrix
};

/// Memory that solves of similar problems share: what pivoting alone solves, as nearly all problems of mechanics, then
/// allocates nothing. One for each thread.
class ComplementarityWorkspace {
public:
    ComplementarityWorkspace();
    ~ComplementarityWorkspace();
    ComplementarityWorkspace(ComplementarityWorkspace&&) noexcept;
    ComplementarityWorkspace& operator=(ComplementarityWorkspace&&) noexcept;

    struct State;
    State& state() { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// With status infeasible the certificate is one y or several, each as long as q, one after the other, such that each
/// combination of states is excluded by one of them (`exclusion.hpp`). For a linear problem a single y is
///     y >= 0,   yᵀM <= 0,   yᵀq < 0;
/// of several, one excludes the z with z_i = 0 where (yᵀM)_i > 0 and w_i = 0 where y_i < 0. A relay whose bounds cross
/// is excluded by y = 0.
void solve(const LinearComplementarity& problem, const AutomaticComplementarity& method,
           ComplementarityWorkspace& workspace, Solution& solution);
void solve(const MixedComplementarity& problem, const AutomaticComplementarity& method,
           ComplementarityWorkspace& workspace, Solution& solution);
void solve(const Relay& problem, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace,
           Solution& solution);

Solution solve(const LinearComplementarity& problem, const AutomaticComplementarity& method = {});
Solution solve(const MixedComplementarity& problem, const AutomaticComplementarity& method = {});
Solution solve(const Relay& problem, const AutomaticComplementarity& method = {});

}  // namespace saltus::solvers
