// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/theorem.hpp"

#include <array>

namespace saltus::proof {

namespace {

constexpr std::array all_theorems{Theorem::attractivity, Theorem::instability, Theorem::regulation};

}  // namespace

const char* to_string(Theorem theorem) {
    switch (theorem) {
        case Theorem::attractivity: return "attractivity";
        case Theorem::instability: return "instability";
        case Theorem::regulation: return "regulation";
    }
    return "";
}

std::vector<std::string> theorem_names() {
    std::vector<std::string> names;
    for (const Theorem theorem : all_theorems) names.emplace_back(to_string(theorem));
    return names;
}

std::optional<Theorem> theorem_named(std::string_view name) {
    for (const Theorem theorem : all_theorems)
        if (name == to_string(theorem)) return theorem;
    return std::nullopt;
}

}  // namespace saltus::proof
