// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/starts.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"

namespace saltus::ensemble {

namespace {

/// The finaliser of the generator SplitMix64: a bijection of 64 bits in which every bit of the argument influences
/// every bit of the value.
std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace

double Axis::value(long k, int level) const {
    if (n == 1) return from;
    const long last = (n - 1) << level;
    if (k == last) return to;
    return from + (to - from) * static_cast<double>(k) / static_cast<double>(last);
}

std::size_t Grid::size(int level) const {
    std::size_t total = 1;
    for (const Axis& a : axes) total *= static_cast<std::size_t>(a.count(level));
    return total;
}

std::vector<long> Grid::indices(std::size_t point, int level) const {
    std::vector<long> k;
    for (const Axis& a : axes) {
        const auto n = static_cast<std::size_t>(a.count(level));
        k.push_back(static_cast<long>(point % n));
        point /= n;
    }
    return k;
}

std::size_t Grid::point(std::span<const long> indices, int level) const {
    SALTUS_EXPECT(indices.size() == axes.size());
    std::size_t p = 0;
    for (std::size_t d = axes.size(); d-- > 0;)
        p = p * static_cast<std::size_t>(axes[d].count(level)) + static_cast<std::size_t>(indices[d]);
    return p;
}

void Grid::values(std::size_t point, int level, std::span<double> x) const {
    const std::vector<long> k = indices(point, level);
    for (std::size_t d = 0; d < axes.size(); ++d) x[d] = axes[d].value(k[d], level);
}

/// A counter-based generator: the bits are a hash of (seed, k, d). The upper 53 of them give a number in [0, 1).
void sample(std::span<const Axis> box, std::uint64_t seed, std::uint64_t k, std::span<double> x) {
    for (std::size_t d = 0; d < box.size(); ++d) {
        const std::uint64_t bits = mix(mix(mix(seed + 0x9e3779b97f4a7c15U) ^ k) + 0x9e3779b97f4a7c15U * (d + 1));
        const double share = static_cast<double>(bits >> 11) * 0x1p-53;
        x[d] = box[d].from + (box[d].to - box[d].from) * share;
    }
}

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

}  // namespace saltus::ensemble
