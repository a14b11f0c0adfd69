// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// The method for linear, mixed and relay complementarity problems. It tries, in this order: direct pivoting
/// (detail/pivoting.hpp); Lemke's path from several start directions; a search through all combinations of states
/// (detail/branching.hpp), which can also prove that there is no solution; and the methods for friction problems. For
/// large problems the friction methods come before the search. Every result is judged by the independent residual.
struct AutomaticComplementarity {
    double tolerance = 1e-10;  ///< largest verdict (detail/residual.hpp) that counts as solved; unit-free
    /// Estimated multiplications of paths and search. The value is enough for about thirty unknowns of any matrix.
    double work = 2e9;
};

/// Memory that repeated solves share. Problems that pivoting alone solves, which are nearly all problems of mechanics,
/// then allocate nothing. A workspace may be used by one thread at a time.
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

/// Solves the problem; the result, with its status, is written to `solution`. With status infeasible the certificate is
/// one vector y or several, each of the length of q, concatenated; each combination of states is excluded by one of
/// them (detail/exclusion.hpp). A single y for a linear problem satisfies
///     y >= 0,   yᵀM <= 0,   yᵀq < 0.
/// One of several excludes the z with z_i = 0 where (yᵀM)_i > 0 and w_i = 0 where y_i < 0. A relay whose bounds cross
/// is reported as infeasible with y = 0.
void solve(const LinearComplementarity& problem, const AutomaticComplementarity& method,
           ComplementarityWorkspace& workspace, Solution& solution);
void solve(const MixedComplementarity& problem, const AutomaticComplementarity& method,
           ComplementarityWorkspace& workspace, Solution& solution);
void solve(const Relay& problem, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace,
           Solution& solution);

/// The same with a workspace of their own.
Solution solve(const LinearComplementarity& problem, const AutomaticComplementarity& method = {});
Solution solve(const MixedComplementarity& problem, const AutomaticComplementarity& method = {});
Solution solve(const Relay& problem, const AutomaticComplementarity& method = {});

}  // namespace saltus::solvers
