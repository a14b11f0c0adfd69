// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "saltus/solvers/complementarity/lemke.hpp"
#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

// Methods for friction problems. A method is a value with its options. In all of them `tolerance` is the largest
// verdict (detail/residual.hpp) that counts as solved; it is unit-free, sensible from 1e-14 to 1e-4. A tolerance below
// the rounding of W r makes every solve end as stalled or limit.

/// Block Gauss–Seidel: solves each block exactly in turn while the others are held. A sweep is cheap and robust.
/// Convergence is slow if contacts are strongly coupled (stacks, wedges).
struct GaussSeidel {
    int max_sweeps = 20000;
    double tolerance = 1e-10;  ///< largest accepted verdict
    int check_every = 20;      ///< largest number of sweeps between two computations of the residual
};

/// Semismooth Newton method on the Alart–Curnier functions of all blocks, with a proximal term for singular W, a
/// nonmonotone line search and block LU. Fast near a solution. It handles all laws. If the factors would hold more than
/// 4e7 numbers, then the guess is returned unchanged with status limit.
struct Newton {
    int max_iterations = 200;
    double tolerance = 1e-10;  ///< largest accepted verdict
    /// Largest proximal term, relative to mean(diag W). It is added to W in the Jacobian only, so it does not change
    /// the solution; it falls with the residual.
    double proximal = 1e-3;
};

/// Proximal point method: a sequence of regularised problems v + ε (r − r_k), each solved by Newton's method. For rigid
/// hyperstatic problems, where W is singular and Newton's method alone fails.
struct Proximal {
    int max_outer = 300;       ///< largest number of regularised problems
    int max_inner = 40;        ///< largest number of Newton steps in each of them
    int max_steps = 20000;     ///< largest number of Newton steps in all
    double tolerance = 1e-10;  ///< largest accepted verdict
    double weight = 1.0;       ///< ε of the first problem, relative to mean(diag W)
};

/// Tries the methods in the order of solvers/README.md, checks each result by the independent residual, and stops when
/// the tolerance is met or no method improves the iterate. If the problem stays unsolved, it looks for a proof of
/// infeasibility: a certificate vector (detail/infeasibility.hpp) or, for small planar problems, the enumeration of all
/// modes (modes.hpp). A small problem without solution and without proof is restarted from many other points.
struct Automatic {
    double tolerance = 1e-10;  ///< largest accepted verdict
    double work = 1e11;    ///< estimated multiplications after which no new attempt begins; independent of the machine
    double seconds = 0.0;  ///< limit of the wall-clock time, in s; 0 means no limit
};

/// Lemke's method applies to planar friction, unilateral and bilateral rows and scalar sliders with known bounds. These
/// are linear complementarity problems (planar.hpp). For other problems it returns the guess with status stalled.
using FrictionMethod = std::variant<Automatic, GaussSeidel, Newton, Proximal, Lemke>;

/// Memory that repeated solves share. From the second solve with the same pattern of W on, nothing is analysed again
/// and nothing is allocated, except by Lemke's method and for the rare Jacobian that needs pivots over the whole
/// matrix. A workspace may be used by one thread at a time.
class Workspace {
public:
    Workspace();
    ~Workspace();
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;

    struct State;
    State& state();  ///< made by the first call

private:
    std::unique_ptr<State> state_;
};

/// Solves the problem; the result, with its status, is written to `solution`. `guess` is the start iterate; an empty
/// one, or one that is not finite, means zero. It may refer to `solution.r`. Never throws for numerical reasons; sizes
/// that do not match are a misuse.
void solve(const FrictionProblem& problem, const FrictionMethod& method, Workspace& workspace, Solution& solution,
           std::span<const double> guess = {});
Solution solve(const FrictionProblem& problem, const FrictionMethod& method = Automatic{},
               std::span<const double> guess = {});

}  // namespace saltus::solvers
