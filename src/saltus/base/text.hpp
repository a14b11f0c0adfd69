// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

/// The shortest decimal text that reads back as the same double. Every NaN is written "nan".
std::string number_text(double value);

/// Number of single-character edits (insertion, deletion, replacement, exchange of neighbours) that turn one text into
/// the other, in half edits: each edit counts 2, a replacement that changes only the case counts 1. So `Phi` is nearer
/// to `phi` than `psi` is. The cost is proportional to the product of both lengths.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance to `name`, if about a third of the characters or less differ.
/// Otherwise "".
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// An enumeration such as "a, b and c". `last` is the word before the last item, `quote` stands before and after each
/// item. At most `limit` items are written; the rest is counted: "a, b and 5 more".
std::string listing(std::span<const std::string> items, std::string_view last = "and", std::string_view quote = "",
                    std::size_t limit = 12);

/// A remedy for an unknown name: "did you mean 'phi'?" if a candidate is near, otherwise "known are x, y and phi".
/// Empty if there are no candidates.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// A count with its noun: "1 contact", "2 contacts". The plural is formed with -s.
std::string counted(std::size_t n, std::string_view noun);

}  // namespace saltus
