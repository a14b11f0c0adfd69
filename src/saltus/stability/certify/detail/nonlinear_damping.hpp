// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/proof/enclosure.hpp"

namespace saltus::stability {

/// What `damping_takes_energy` has to prove.
enum class Loss {
    not_negative,  ///< D^nc >= 0
    positive,      ///< D^nc > 0 for u ≠ 0
};

/// Proves a bound of the power D^nc(q, u) = −u·f^nc that damping of any form takes, for all positions in `q` and all
/// velocities u in `velocities` with S u = 0 for the matrix S of `rows` (none: all velocities). `velocities` is
/// symmetric about 0 and may be unbounded. f^nc(q, 0) = 0 must be known. False: not proved.
bool damping_takes_energy(const proof::Enclosure& enclosure, const proof::Box& q, const proof::Box& velocities,
                          const proof::IntervalMatrix& rows, Loss loss);

}  // namespace saltus::stability
