// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// Q = Ũ − Ũ(q_R), with the springs' energy where there are springs, at many admissible points: scattered around q_R at
/// all distances, at the other solutions, and far out along rays.
struct PotentialSurvey {
    double lower, upper;        ///< least and largest 2Q/r²
    std::vector<double> below;  ///< Q <= 0 here, and not q_R; empty: nowhere
    double below_value;
    std::vector<double> far;  ///< Q stops growing towards here; empty: nowhere
    double far_value;
    double pass;  ///< least Q > 0 at another equilibrium; +∞: there is none
};
PotentialSurvey survey_potential(const Domain& domain, Statics& statics, const Rest& rest,
                                 const std::vector<EquilibriumSolution>& solutions);

}  // namespace saltus::control
