// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/pair/pair.hpp"

namespace saltus::io {

/// The pair of `saltus sensitivity`, for people: events, the theorem with its hypotheses, the bound and its terms.
std::string pair_text(const sensitivity::Pair& pair);

/// The object under the key "pair": {"c_bar", "c_hat", "theorem", "hypotheses", "bound_constant", "bound_time",
/// "error", "bound", …}, without a line break at its end.
std::string pair_json(const sensitivity::Pair& pair);

/// Both curves: t, piece, region, errors, bound and its terms, then q and u of the nominal and of the perturbed motion.
std::string pair_csv(const sensitivity::Pair& pair);

}  // namespace saltus::io
