// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/integrate/compare.hpp"

/// The result of `saltus compare` as text and JSON. `saltus compare --penalty` has penalty_report.hpp.
namespace saltus::io {

/// For a terminal: the errors of each series of runs against the event-driven motion, with observed orders of
/// convergence, the times at which contacts close, and the final positions.
std::string compare_text(const integrate::Comparison& comparison);

/// One JSON document (docs/comparison.md). Numbers that are not finite are null.
std::string compare_json(const integrate::Comparison& comparison);

}  // namespace saltus::io
