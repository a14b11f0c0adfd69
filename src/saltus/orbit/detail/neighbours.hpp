// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/orbit/detail/shooting.hpp"

namespace saltus::orbit {

/// The orders of events on the other side of a point where a law is just fulfilled. At this point each of them has the
/// same motion, as a solution of its own equations: an impact that is added or left out has no impulse, phases that are
/// added or left out have no duration. So the branch goes on from here with one of them, if the laws allow it.
///
/// `at` is the solution at the point, `margin` the law whose margin is zero. The evaluations of the results are empty.
/// Empty if no such order is known.
std::vector<ShootingSolution> neighbouring_orders(const ShootingProblem& problem, const ShootingSolution& at,
                                                  const StageMargin& margin);

}  // namespace saltus::orbit
