// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/text.hpp"
#include "saltus/base/plain_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace saltus {

std::string number_text(double value) {
    if (std::isnan(value)) return "nan";  // its sign means nothing and differs between machines
    std::array<char, 32> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), result.ptr};
}

int edit_distance(std::string_view a, std::string_view b) {
    constexpr int edit = 2;
    const auto same_letter = [](char x, char y) { return lower_case(x) == lower_case(y); };
    std::vector<int> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = edit * static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = edit * static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int replace = a[i - 1] == b[j - 1] ? 0 : (same_letter(a[i - 1], b[j - 1]) ? 1 : edit);
            current[j] = std::min({last[j] + edit, current[j - 1] + edit, last[j - 1] + replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], before_last[j - 2] + edit);
        }
        std::swap(before_last, last);
        std::swap(last, current);
    }
    return last[b.size()];
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
    constexpr std::size_t longest = 64;  // a longer text is not a misspelt name, and the distance costs O(length²)
    if (name.size() > longest) return {};
    // In half edits: a third of the letters may differ, at least one, but never all letters of a short name.
    const int limit =
        std::min(static_cast<int>(name.size()) * 2 - 1, std::max(2, static_cast<int>(name.size()) * 2 / 3));
    const std::string* best = nullptr;
    int best_distance = limit + 1;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > longest) continue;
        const int distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = &candidate;
        }
    }
    return best == nullptr ? std::string{} : *best;
}

std::string listing(std::span<const std::string> items, std::string_view last, std::string_view quote,
                    std::size_t limit) {
    std::string text;
    const std::size_t shown = std::min(items.size(), limit);
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0) text += (i + 1 == items.size()) ? " " + std::string(last) + " " : std::string(", ");
        text += std::string(quote) + items[i] + std::string(quote);
    }
    if (shown < items.size()) text += " and " + std::to_string(items.size() - shown) + " more";
    return text;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
    const std::string guess = nearest(name, candidates);
    if (!guess.empty()) return "did you mean '" + guess + "'?";
    if (candidates.empty()) return {};
    return (candidates.size() == 1 ? "known is " : "known are ") + listing(candidates);
}

std::string counted(std::size_t n, std::string_view noun) {
    return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

}  // namespace saltus
