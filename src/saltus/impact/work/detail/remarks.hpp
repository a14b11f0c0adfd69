// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact {

/// Recognises the special cases of an audited collision and says them; sets `common_velocity`.
void add_remarks(const FrictionlessCollision& collision, const KineticFrame& frame, Audit& audit);

/// The verdict in words, with the numbers it rests on.
std::string sentence_of(const FrictionlessCollision& collision, const Audit& audit, double alpha);

/// Why the work has no finite least or greatest value, with the contacts that press against each other.
std::string unbounded_sentence(const FrictionlessCollision& collision, const Vector& ray, bool least);

}  // namespace saltus::impact
