// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "saltus/base/error.hpp"

namespace saltus::ensemble {

/// The p with |hits/n − p| <= z √(p(1 − p)/n): the roots of a quadratic equation.
Interval wilson(std::size_t hits, std::size_t n, double z) {
    SALTUS_EXPECT(hits <= n);
    if (n == 0) return {};
    const double m = static_cast<double>(n), p = static_cast<double>(hits) / m, w = z * z / m;
    const double centre = (p + 0.5 * w) / (1.0 + w);
    const double half = std::sqrt(w * (p * (1.0 - p) + 0.25 * w)) / (1.0 + w);
    // For hits = 0 and hits = n one bound is exactly 0 or 1, which rounding would miss.
    return {hits == 0 ? 0.0 : std::max(0.0, centre - half), hits == n ? 1.0 : std::min(1.0, centre + half)};
}

/// Welford's recurrence: it loses no digits if the mean is much larger than the deviation.
void Moments::add(double x) {
    if (std::isnan(x)) return;
    ++count_;
    const double before = x - mean_;
    mean_ += before / static_cast<double>(count_);
    square_ += before * (x - mean_);
    lowest_ = count_ == 1 ? x : std::min(lowest_, x);
    highest_ = count_ == 1 ? x : std::max(highest_, x);
}

double Moments::deviation() const { return count_ < 2 ? 0.0 : std::sqrt(square_ / static_cast<double>(count_ - 1)); }

namespace {

/// A bijection of numbers to integers that keeps their order. The bits of positive doubles ascend with their values;
/// those of negative ones descend.
std::uint64_t ordered(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // −0 is 0
    const std::uint64_t sign = std::uint64_t{1} << 63U;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

double from_ordered(std::uint64_t key) {
    const std::uint64_t sign = std::uint64_t{1} << 63U;
    return std::bit_cast<double>((key & sign) != 0 ? key & ~sign : ~key);
}

}  // namespace

/// Each scan fixes `digit` further bits of the numbers, the highest first: it counts the numbers whose higher bits are
/// those found so far, by their next digit, and goes to the digit that contains the place.
std::vector<double> select(const std::vector<std::size_t>& place,
                           const std::function<void(const std::function<void(std::size_t, double)>&)>& scan) {
    constexpr std::size_t many_lists = 64;  // with 16 bits their counts need 32 MiB
    constexpr unsigned bits = 64;
    const unsigned digit = place.size() <= many_lists ? 16 : 8;
    const std::size_t digits = std::size_t{1} << digit;
    std::vector<std::uint64_t> prefix(place.size(), 0);
    std::vector<std::size_t> left = place;  // place among the numbers with the prefix
    for (unsigned shift = bits - digit;; shift -= digit) {
        std::vector<std::vector<std::size_t>> counts(place.size());
        for (std::size_t k = 0; k < place.size(); ++k)
            if (place[k] != no_place) counts[k].resize(digits, 0);
        scan([&](std::size_t list, double x) {
            if (place[list] == no_place) return;
            const std::uint64_t key = ordered(x);
            if (shift + digit < bits && key >> (shift + digit) != prefix[list]) return;
            ++counts[list][key >> shift & (digits - 1)];
        });
        for (std::size_t k = 0; k < place.size(); ++k) {
            if (place[k] == no_place) continue;
            std::size_t d = 0;
            while (d < digits && counts[k][d] <= left[k]) left[k] -= counts[k][d++];
            SALTUS_EXPECT(d < digits);
            prefix[k] = prefix[k] << digit | d;
        }
        if (shift == 0) break;
    }
    std::vector<double> found(place.size(), 0.0);
    for (std::size_t k = 0; k < place.size(); ++k)
        if (place[k] != no_place) found[k] = from_ordered(prefix[k]);
    return found;
}

}  // namespace saltus::ensemble
