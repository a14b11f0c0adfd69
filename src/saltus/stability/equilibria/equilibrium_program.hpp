// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/program/program.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// A convex program over forces λ that the laws allow at rest, further unknowns x and a margin t:
///
///     minimise  c_x·x + c_λ·λ + c_t t
///     such that A x + B λ = b,   C x >= d,   lower <= x <= upper,   λ ∈ t f n + K, with
///       contact                    λ_N >= t f,  λ_T ∈ (λ_N − t f) C
///       constraint with friction   the same with σν in the place of λ_N, σ = ±1
///       constraint without         ν free
///       clutch                     λ >= t f
///       slider                     λ_T ∈ (F + F_x·x)(1 − t) C
///
/// Each f is a force of the size of the loads, so that t has no unit: t is the relative depth of λ inside its cones.
/// With planar friction this is a linear program. A curved body C is approximated from inside by the hull of corners,
/// and corners are added until none improves the value (column generation, see equilibrium_program.cpp). Forces that
/// come out therefore obey the true laws, and the dual point is tested against the true bodies.
struct ForceProgram {
    const std::vector<RestingElement>* elements = nullptr;  ///< not owned
    /// σ for each element that is two_signed(). If σ = 0 then its reaction and friction are left free (a relaxation of
    /// both signs). The entries of other elements are not read.
    std::vector<int> sign;
    Matrix B;
    Matrix A;  ///< without columns if there is no x
    Vector b;
    Vector lower, upper;  ///< bounds of x; empty: none
    Matrix C;
    Vector d;
    Matrix load_slope;   ///< F_x, one row for each element; empty: 0
    double size = 0.0;   ///< size of the forces f in units of b; 0: ‖b‖ is taken
    bool margin = true;  ///< true: t <= 1 is an unknown; false: t = 0
};

/// The cost of a ForceProgram. An empty vector stands for 0.
struct ForceCost {
    Vector x, lambda;
    double t = 0.0;
};

struct ForceSolution {
    solvers::ProgramStatus status = solvers::ProgramStatus::stalled;
    Vector x, lambda;
    double t = 0.0;
    double value = 0.0;  ///< the cost
    /// Multipliers of A x + B λ = b: the dual point of an optimal program, the certificate (Farkas) of an infeasible
    /// one.
    Vector y;
    int rounds = 0;  ///< linear programs that were solved
};

/// Corners of curved bodies that earlier programs of the same elements added. They make the next program start near
/// its solution; they never change what it converges to. Corners belong to one body: if the friction coefficients of an
/// element have changed since, because they depend on the position, then its corners are made anew.
struct ForceCorners {
    std::vector<std::vector<Vector>> of_element;
    std::vector<FrictionBody> bodies;  ///< to which the corners belong
};

/// Solves the program. If `corners` is given, it is used and extended.
ForceSolution solve(const ForceProgram& program, const ForceCost& cost, ForceCorners* corners = nullptr);

}  // namespace saltus::stability
