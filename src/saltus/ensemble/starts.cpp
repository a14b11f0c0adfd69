// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/starts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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
    if (!listed.empty()) {  // finer levels divide the distance of two neighbours
        const auto i = static_cast<std::size_t>(k >> level);
        const long part = k - (static_cast<long>(i) << level);
        if (part == 0) return listed[i];
        return listed[i] + (listed[i + 1] - listed[i]) * std::ldexp(static_cast<double>(part), -level);
    }
    const long last = (n - 1) << level;
    if (k == last) return to;
    const double share = static_cast<double>(k) / static_cast<double>(last);
    if (logarithmic) return from * std::pow(to / from, share);
    return from + (to - from) * static_cast<double>(k) / static_cast<double>(last);
}

std::vector<double> Axis::values() const {
    std::vector<double> list;
    for (long k = 0; k < n; ++k) list.push_back(value(k));
    return list;
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
namespace {

/// Number `part` of sample k along axis d: uniform in [0, 1), from 53 bits.
double uniform_number(std::uint64_t seed, std::uint64_t k, std::size_t d, std::uint64_t part) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio, as in SplitMix64
    const std::uint64_t bits = mix(mix(mix(seed + golden) ^ k) + golden * (d + 1) + mix(part));
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

/// Normal numbers by Box and Muller: with independent uniform u, v the number sqrt(−2 ln(1 − u)) cos(2πv) has the
/// normal distribution with mean 0 and deviation 1. 1 − u is in (0, 1], so that the logarithm is finite.
void sample(std::span<const Axis> box, std::uint64_t seed, std::uint64_t k, std::span<double> x) {
    for (std::size_t d = 0; d < box.size(); ++d) {
        const double u = uniform_number(seed, k, d, 0);
        if (box[d].normal) {
            const double v = uniform_number(seed, k, d, 1);
            const double standard = std::sqrt(-2.0 * std::log1p(-u)) * std::cos(2.0 * std::numbers::pi * v);
            x[d] = box[d].normal->mean + box[d].normal->deviation * standard;
        } else {
            x[d] = box[d].from + (box[d].to - box[d].from) * u;
        }
    }
}

namespace {

/// Number k >= 1 of the sequence of van der Corput in a base, in (0, 1): the digits of k, mirrored at the point.
double van_der_corput(std::uint64_t k, std::uint64_t base) {
    double value = 0.0, digit = 1.0 / static_cast<double>(base);
    for (; k > 0; k /= base, digit /= static_cast<double>(base)) value += digit * static_cast<double>(k % base);
    return value;
}

std::uint64_t next_prime(std::uint64_t p) {
    const auto divided = [](std::uint64_t n) {
        for (std::uint64_t d = 2; d * d <= n; ++d)
            if (n % d == 0) return true;
        return false;
    };
    do ++p;
    while (divided(p));
    return p;
}

}  // namespace

void even_sample(std::span<const Axis> box, std::uint64_t k, std::span<double> x) {
    std::uint64_t base = 1;
    for (std::size_t d = 0; d < box.size(); ++d) {
        base = next_prime(base);
        x[d] = box[d].from + (box[d].to - box[d].from) * van_der_corput(k + 1, base);
    }
}

std::size_t Starts::size() const { return sampled() ? samples : Grid{axes}.size(); }

void Starts::values(std::size_t run, std::span<double> x) const {
    SALTUS_EXPECT(x.size() == axes.size());
    if (sampled()) return evenly ? even_sample(axes, run, x) : sample(axes, seed, run, x);
    for (std::size_t place = 0; place < axes.size(); ++place) {
        const std::size_t d = fastest == Fastest::first ? place : axes.size() - 1 - place;
        const auto n = static_cast<std::size_t>(axes[d].n);
        x[d] = axes[d].value(static_cast<long>(run % n));
        run /= n;
    }
}

}  // namespace saltus::ensemble
