// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// True if `settle_states` applies: at most 8 rows, and each contact is unilateral or has planar friction.
bool few_planar_contacts(const FrictionProblem& problem);

/// Active-set iteration on the contact states open, stick, slip forward, slip backward. The states are read from r, the
/// reactions of these states are computed from a linear system, and so on until the states repeat. Returns true if they
/// did: then r satisfies the laws up to rounding. Otherwise r is undefined. At most `max_systems` systems are solved.
bool settle_states(const FrictionProblem& problem, std::span<double> r, int max_systems);

}  // namespace saltus::solvers
