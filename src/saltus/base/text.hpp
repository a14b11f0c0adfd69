// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

/// Shortest decimal text that reads back as the same double.
std::string number_text(double value);

/// Number of single-character edits (insert, delete, replace, swap of neighbours) from one text to the other;
/// a change of case counts half, so that `Phi` is nearer to `phi` than `psi` is. In units of half edits.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name` when it is near enough to be meant, otherwise "".
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// "a, b and c" (or "or"), each in the given quote; at most `most` of them, then "and n more".
std::string listing(std::span<const std::string> items, std::string_view last = "and", std::string_view quote = "",
                    std::size_t most = 12);

/// A remedy sentence for an unknown name: "did you mean `phi`?" or "known: x, y, phi".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "1 contact", "2 contacts".
std::string counted(std::size_t n, std::string_view noun);

}  // namespace saltus
