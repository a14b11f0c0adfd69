// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/program/program.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// A program over forces λ that the laws allow at rest, further unknowns x and a margin t:
///     min  c_x·x + c_λ·λ + c_t t
///     A x + B λ = b,   C x >= d,   lower <= x <= upper,
///     λ ∈ t f n + K:  contacts λ_N >= t f, λ_T ∈ (λ_N − t f) C;  constraints with friction the same with σν for λ_N;
///                     constraints without: free;  clutches λ >= t f;  sliders λ_T ∈ (F + F_x·x)(1 − t) C
/// f are sizes of forces, so that t has no unit. Planar friction is a linear program; other bodies C are approached
/// from inside by corners, to which those are added that the dual point says would help: the forces that come out are
/// allowed by the true laws, and the dual point is checked against the true bodies.
struct ForceProgram {
    const std::vector<RestingElement>* elements = nullptr;
    std::vector<int> sign;  ///< σ of each element that is two-signed; 0: reaction and friction are left free
    Matrix B;
    Matrix A;  ///< may have no columns
    Vector b;
    Vector lower, upper;  ///< of x; empty: free
    Matrix C;
    Vector d;
    Matrix load_slope;   ///< F_x, one row an element; empty: 0
    double size = 0.0;   ///< of forces, for f; 0: that of b
    bool margin = true;  ///< t is unknown, at most 1; otherwise it is 0
};

struct ForceCost {
    Vector x, lambda;  ///< empty: 0
    double t = 0.0;
};

struct ForceSolution {
    solvers::ProgramStatus status = solvers::ProgramStatus::stalled;
    Vector x, lambda;
    double t = 0.0, value = 0.0;
    Vector y;  ///< of A x + B λ = b: dual point, or of an infeasible program its certificate
    int rounds = 0;
};

/// Corners found for curved bodies, to begin the next program of the same elements with.
struct ForceCorners {
    std::vector<std::vector<Vector>> of_element;
};

ForceSolution solve(const ForceProgram& program, const ForceCost& cost, ForceCorners* corners = nullptr);

}  // namespace saltus::stability
