// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Whether `settle_states` may be asked: a few contacts, each unilateral or with planar friction.
bool few_planar_contacts(const FrictionProblem& problem);

/// The states of the contacts (open, sticking, sliding one way or the other) are guessed from r, the reactions that
/// belong to them computed, and again from those until the guess repeats itself. True when it did: r then satisfies the
/// laws but for rounding. Otherwise r is of no use. At most `most` systems are solved.
bool settle_states(const FrictionProblem& problem, std::span<double> r, int most);

}  // namespace saltus::solvers
