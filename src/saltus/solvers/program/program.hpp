// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "saltus/base/linalg.hpp"

namespace saltus::solvers {

/// How the solution of a program ended, and what the vectors of the `ProgramSolution` prove.
enum class ProgramStatus {
    optimal,     ///< x and y are feasible and their values agree, all within the tolerance.
    infeasible,  ///< No x is feasible; `certificate`, one number per row, proves it.
    unbounded,   ///< x is feasible and the value falls without bound along the ray `certificate`, one number per
                 ///< unknown.
    stalled,     ///< None of these was reached; x and y are the best points found.
    non_finite,  ///< The program contains a NaN, or an infinity where none is allowed.
};

constexpr std::string_view to_string(ProgramStatus status) {
    switch (status) {
        case ProgramStatus::optimal: return "optimal";
        case ProgramStatus::infeasible: return "infeasible";
        case ProgramStatus::unbounded: return "unbounded";
        case ProgramStatus::stalled: return "stalled";
        case ProgramStatus::non_finite: return "non-finite";
    }
    return "";
}
constexpr bool usable(ProgramStatus status) { return status == ProgramStatus::optimal; }

/// The solution of a linear or second-order cone program min cᵀx, A x = b. Residuals and gap are recomputed from the
/// program by `examine`, independently of the method that found the vectors. They are unit-free.
struct ProgramSolution {
    ProgramStatus status = ProgramStatus::stalled;
    Vector x;                      ///< primal point
    Vector y;                      ///< dual point (multipliers), one number per row
    double value = 0.0;            ///< cᵀx
    double dual_value = 0.0;       ///< dual value of y: if y is feasible, no feasible x has a smaller value
    double gap = 0.0;              ///< |value − dual_value| relative to the sum of the absolute terms
    double primal_residual = 0.0;  ///< violation of A x = b and of the bounds or cones by x
    double dual_residual = 0.0;    ///< violation of the dual constraints by the reduced costs c − Aᵀy
    Vector certificate;            ///< proof of `infeasible` or `unbounded`; else empty
    int iterations = 0;            ///< pivots, interior-point steps, or their sum
};

/// The largest of the residuals and the gap.
inline double worst(const ProgramSolution& s) { return std::max({s.gap, s.primal_residual, s.dual_residual}); }

}  // namespace saltus::solvers
