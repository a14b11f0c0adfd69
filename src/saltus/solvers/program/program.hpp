// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "saltus/base/linalg.hpp"

namespace saltus::solvers {

/// What the vectors of a `ProgramSolution` prove.
enum class ProgramStatus {
    optimal,     ///< x and y are feasible and their values meet, all within the tolerance
    infeasible,  ///< no x is feasible; `certificate` has one number a row and proves it
    unbounded,   ///< x is feasible and the value falls for ever along the ray `certificate`, one number an unknown
    stalled,     ///< nothing of this was reached; x and y are the best found, with their residuals
    non_finite,  ///< the program holds a NaN or an infinity where none may be
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

/// Of a linear or second-order cone program min cᵀx, A x = b. The residuals and the gap are those that a computation of
/// its own gives to the vectors, whatever made them; they are unit-free.
struct ProgramSolution {
    ProgramStatus status = ProgramStatus::stalled;
    Vector x;                      ///< primal point
    Vector y;                      ///< dual point, one number a row
    double value = 0.0;            ///< cᵀx
    double dual_value = 0.0;       ///< of y: no feasible x has less, if y is feasible
    double gap = 0.0;              ///< |value − dual_value| over the sizes of their terms
    double primal_residual = 0.0;  ///< of A x = b and of the bounds or cones
    double dual_residual = 0.0;    ///< of c − Aᵀy
    Vector certificate;            ///< see ProgramStatus
    int iterations = 0;
};

/// The worst of the residuals and the gap.
inline double worst(const ProgramSolution& s) { return std::max({s.gap, s.primal_residual, s.dual_residual}); }

}  // namespace saltus::solvers
