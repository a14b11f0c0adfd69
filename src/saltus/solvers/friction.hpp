// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// Block Gauss–Seidel: each block solved exactly with the others held, in turn. Cheap sweeps, never far off; slow where
/// contacts hold each other.
struct GaussSeidel {
    int max_sweeps = 20000;
    double tolerance = 1e-10;
    int check_every = 20;  ///< sweeps between two computations of the residual
};

/// Semismooth Newton on the Alart–Curnier functions with a proximal term for singular W, a nonmonotone line search, and
/// sparse LU. Fast near a solution.
struct Newton {
    int max_iterations = 200;
    double tolerance = 1e-10;
    double proximal = 1e-9;  ///< of the mean diagonal, added to W and taken back by iteration
};

/// Proximal point method: a sequence of regular problems, each solved by Newton. For rigid, hyperstatic problems where
/// W is singular and Newton by itself loses its way.
struct Proximal {
    int max_outer = 300;
    int max_inner = 40;
    double tolerance = 1e-10;
    double weight = 1.0;  ///< ε at the start, of the mean diagonal
};

/// Tries the methods in an order that suits the problem, checks every result by the independent residual, and goes on
/// until the tolerance is met or nothing helps any more.
struct Automatic {
    double tolerance = 1e-10;
    double seconds = 60.0;  ///< after which no new attempt is begun; 0: no limit
};

using FrictionMethod = std::variant<Automatic, GaussSeidel, Newton, Proximal>;

/// `guess` is where to begin; empty: zero.
Solution solve(const FrictionProblem& problem, const FrictionMethod& method = Automatic{},
               std::span<const double> guess = {});

}  // namespace saltus::solvers
