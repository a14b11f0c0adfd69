// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::proof {

/// The statements that a certificate can be about. The names are those of `saltus certify --theorem` and of the key
/// "theorem" in its JSON.
enum class Theorem {
    attractivity,  ///< [Leine] Theorem 1, Corollaries 2 and 3: the equilibrium set is attractive
    instability,   ///< [Leine] Theorems 2 and 3: the equilibrium set is unstable
    regulation,    ///< [Tornambe] Theorems 5 and 6: the closed loop ends at the reference
};

/// "attractivity", "instability" or "regulation".
const char* to_string(Theorem theorem);

/// All names, in the order of the enumerators.
std::vector<std::string> theorem_names();

/// The theorem with this name; std::nullopt if there is none.
std::optional<Theorem> theorem_named(std::string_view name);

}  // namespace saltus::proof
