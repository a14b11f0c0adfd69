// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// The answer of `holding_reactions`.
enum class Holding {
    found,    ///< there are reactions that hold
    none,     ///< no reactions were found; if the problem is not degenerate, there are none
    unknown,  ///< the problem has a law that the method does not know (contensou4), or is too large
};

/// Looks for admissible reactions that hold everything: v = W r + q = 0 with r in the sets of all laws. Friction that
/// may stick is a convex condition, ‖r_T‖ <= μ r_N, so that these reactions are found by a cone program if they exist.
/// A solution of the contact problem itself need not hold, even if others do: if redundant contacts can share a load in
/// several ways, then sliding and sticking can both be solutions.
///
/// `signs` gives the sign of the reaction that scales each scaled_slider, by the sign of signs[row]: |r_row| is not
/// convex. The size of `signs` is the number of rows. `r` becomes the reactions if they are found; `tolerance` is the
/// largest |v_i| that counts as zero, relative to the largest |q_i|.
Holding holding_reactions(const FrictionProblem& problem, std::span<const double> signs, double tolerance,
                          std::vector<double>& r);

/// The same; of all reactions that hold, `r` becomes those of least norm. They are unique, and change continuously with
/// W and q. If the answer is `none` then there may be some all the same, which holding_reactions finds: the program
/// with a least norm is harder to solve.
Holding least_holding_reactions(const FrictionProblem& problem, std::span<const double> signs, double tolerance,
                                std::vector<double>& r);

/// How far the best reactions that hold everything are inside the sets of all laws: the largest s with r_N >= s for
/// every normal reaction and ‖r_T/μ‖ <= r_N − s for every friction that may stick (the load in the place of r_N for
/// sliders), in the unit of the reactions. It is at most as large as the reactions that q asks for, about
/// max|q|/‖W‖. Negative: nothing holds. s changes continuously with W and q, unlike the answer of holding_reactions.
/// Empty for a law that the method does not know, for a problem that is too large, and if no reactions fulfil W r + q =
/// 0 whatever the laws say.
std::optional<double> holding_reserve(const FrictionProblem& problem, std::span<const double> signs);

}  // namespace saltus::solvers
