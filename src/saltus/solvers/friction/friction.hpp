// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "saltus/solvers/complementarity/lemke.hpp"
#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// Block Gauss–Seidel: each block solved exactly with the others held, in turn. Cheap sweeps, never far off; slow where
/// contacts hold each other.
struct GaussSeidel {
    int max_sweeps = 20000;
    double tolerance = 1e-10;
    int check_every = 20;  ///< most sweeps between two computations of the residual
};

/// Semismooth Newton on the Alart–Curnier functions with a proximal term for singular W, a nonmonotone line search, and
/// block LU. Fast near a solution. For all laws; a problem whose factors would hold more than 4e7 numbers is returned
/// as it came, with status limit.
struct Newton {
    int max_iterations = 200;
    double tolerance = 1e-10;
    /// Added to W in the Jacobian alone, of the mean diagonal, far from a solution; it falls with the residual.
    double proximal = 1e-3;
};

/// Proximal point method: a sequence of regular problems, each solved by Newton. For rigid, hyperstatic problems where
/// W is singular and Newton by itself loses its way.
struct Proximal {
    int max_outer = 300;
    int max_inner = 40;
    int max_steps = 20000;  ///< of Newton in all
    double tolerance = 1e-10;
    double weight = 1.0;  ///< ε at the start, of the mean diagonal
};

/// Tries the methods in an order that suits the problem, checks every result by the independent residual, and goes on
/// until the tolerance is met or nothing helps any more. What it could not solve it tries to prove insoluble: by a
/// certificate (`certificate.hpp`) or, for small planar problems, by going through all modes (`modes.hpp`). Small
/// problems without a proof are begun anew from many other places.
struct Automatic {
    double tolerance = 1e-10;
    double work = 1e11;    ///< multiplications, about, after which no new attempt is begun: the same on every machine
    double seconds = 0.0;  ///< the same by the clock, where that is wanted; 0: no limit
};

/// Lemke's method is for planar friction, unilateral and bilateral rows and scalar sliders with known bounds, which are
/// linear complementarity problems (`planar.hpp`); other problems are returned as they came, with status stalled.
using FrictionMethod = std::variant<Automatic, GaussSeidel, Newton, Proximal, Lemke>;

/// Memory that solves of similar problems share: the second one of a pattern analyses nothing and, but for Lemke and
/// for the rare Jacobian that needs pivots over its whole, allocates nothing. One for each thread.
class Workspace {
public:
    Workspace();
    ~Workspace();
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;

    struct State;
    State& state() { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// `guess` is where to begin; empty: zero. It may be the reactions of the solution that is overwritten.
void solve(const FrictionProblem& problem, const FrictionMethod& method, Workspace& workspace, Solution& solution,
           std::span<const double> guess = {});
Solution solve(const FrictionProblem& problem, const FrictionMethod& method = Automatic{},
               std::span<const double> guess = {});

}  // namespace saltus::solvers
