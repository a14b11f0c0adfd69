// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

namespace saltus::sensitivity {

/// x⁺ = R(t, x⁻, p) of a change of mode at a fixed time: impacts one after the other, then rest where friction holds or
/// impacts accumulate.
struct Reset {
    bool exists = true;
    std::string why_not;
    Matrix map;  ///< 2n × columns
    std::vector<Condition> conditions;
};

/// Leaves the tangent in the mode after the change. `arrests`: velocities that closed contacts and sticking friction do
/// not let last are gone at once, as after impacts; otherwise only where it cannot be told by the change's time.
Reset reset(Tangent& tangent, const integrate::RecordedChange& change, bool arrests = false);

/// Columns that are nothing beside the terms they come from: what is left of those is not theirs.
Eigen::RowVectorXd without_rounding(const Eigen::RowVectorXd& sum, const Eigen::RowVectorXd& terms);

}  // namespace saltus::sensitivity
