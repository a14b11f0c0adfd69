// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "saltus/base/text.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::test {

/// A block on a floor, as in falling-block.toml, in which single lines are changed.
inline const std::string block = R"toml(
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "k/2*x^2 + m*g*y"
[parameters]
m = 1.0
k = 10.0
g = 9.81
mu = 0.3
eN = 0.5
eT = 0.0
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
eN = "eN"
eT = "eT"
[initial]
q = { x = 0.1, y = 0.2 }
)toml";

/// The whole table, for messages.
inline std::string story(const proof::Certificate& c) {
    std::string text =
        std::string(to_string(c.outcome)) + ", " + to_string(c.grade) + ", rho " + number_text(c.rho) + "\n";
    for (const proof::Condition& row : c.conditions)
        text += row.id + " " + to_string(row.verdict) + ": " + row.evidence + "\n";
    return text;
}

/// The number of that name, or NaN.
inline double named(const std::vector<std::pair<std::string, double>>& list, const std::string& name) {
    for (const auto& [key, x] : list)
        if (key == name) return x;
    return std::nan("");
}
inline double value(const proof::Certificate& c, const std::string& name) { return named(c.values, name); }
inline double of_witness(const proof::Condition& row, const std::string& name) {
    return named(row.witness.values, name);
}

}  // namespace saltus::test
