// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact {

/// Recognises special cases of an audited collision and adds them to its remarks. Also sets `common_velocity`.
void add_remarks(const FrictionlessCollision& collision, const KineticFrame& frame, Audit& audit);

/// A work as it is printed: 0 if it is rounding residue of the kinetic energies from which it was computed.
inline double printed_work(double work, double energies) {
    constexpr double rounding = 1e-13;
    return std::abs(work) <= rounding * energies ? 0.0 : work;
}

/// The interval of a work one end of which is infinite, in words.
std::string work_without_bound(std::string_view what, double least, double greatest);

/// The verdict in words, with its numbers.
std::string sentence_of(const FrictionlessCollision& collision, const Audit& audit, double alpha);

/// The two ends of the interval of the contact work.
enum class IntervalEnd { least, greatest };

/// Why the work has no finite least or greatest value. `ray` is an unbounded direction of the impulses.
std::string unbounded_sentence(const FrictionlessCollision& collision, const Vector& ray, IntervalEnd end);

}  // namespace saltus::impact
