// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// The values of Q = Ũ − Ũ(q_R) (with springs: including their energy) at many admissible points: scattered around q_R
/// at all distances, at the other solutions, and far out along rays. It decides Assumptions 4 and 7 numerically:
///     ½ a r² <= Q <= ½ A r²,   r = |q − q_R|.
struct PotentialSurvey {
    double lower, upper;        ///< least and largest 2Q/r²: estimates of a and A
    std::vector<double> below;  ///< a point other than q_R with the least Q <= 0; empty if none was found
    double below_value;         ///< Q at `below`
    std::vector<double> far;    ///< a distant point towards which Q stops growing; empty if none was found
    double far_value;           ///< Q at `far`
    double pass;                ///< least Q > 0 at another equilibrium; +∞ if there is none
};
/// Leaves `statics` at q_R.
PotentialSurvey survey_potential(const Domain& domain, Statics& statics, const Rest& rest,
                                 const std::vector<EquilibriumSolution>& solutions);

}  // namespace saltus::control
