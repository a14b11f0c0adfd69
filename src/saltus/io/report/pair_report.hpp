// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/pair/pair.hpp"

/// A nominal and a perturbed motion side by side (docs/perturbed-pairs.md), a part of `saltus sensitivity`.
namespace saltus::io {

/// For a terminal: the events of both motions; for each piece of time the theorem with its hypotheses, the observed
/// constant C, and the terms of the bound.
std::string pair_text(const sensitivity::Pair& pair);

/// The JSON object under the key "pair", without a line break at its end.
std::string pair_json(const sensitivity::Pair& pair);

/// A line for each time: errors, bound and its terms, then q and u of the nominal and of the perturbed motion. At the
/// time of an event there are two lines, the left limit first.
std::string pair_csv(const sensitivity::Pair& pair);

}  // namespace saltus::io
