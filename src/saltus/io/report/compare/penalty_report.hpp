// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/control/penalty/penalty_limit.hpp"

/// The result of `saltus compare --penalty` as text, JSON and CSV: contact springs of growing stiffness against rigid
/// contacts with e = 1.
namespace saltus::io {

/// For a terminal: steady states, distances of the motions, and the sequences of Theorem 1 of [Tornambe].
std::string penalty_text(const control::PenaltyLimit& limit);

/// One JSON document (docs/control.md). Numbers that are not finite are null.
std::string penalty_json(const control::PenaltyLimit& limit);

/// A line for each stiffness. A quantity that a run does not have is an empty cell.
std::string penalty_csv(const control::PenaltyLimit& limit);

}  // namespace saltus::io
