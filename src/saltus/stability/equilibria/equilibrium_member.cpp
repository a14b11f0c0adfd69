// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

using Index = Eigen::Index;

namespace {

/// The allowance for the distance between a set and its samples, as a multiple of what the samples show.
constexpr double sample_allowance = 1.5;

/// Distance of a position from the samples of a set, less what the set may bulge between samples; in 1 + |q_i|. Along a
/// curve this bulge is estimated by the sagitta of neighbouring chords, otherwise by the spacing of the samples.
double off_samples(const std::vector<double>& periods, const EquilibriumSet& set, const Vector& q) {
    const auto count = static_cast<Index>(set.samples.size());
    if (count == 0 || set.spacing <= 0.0) return 0.0;
    const Vector unit = q.cwiseAbs() + Vector::Ones(q.size());
    const auto from = [&](Index k) {
        Vector d = set.samples[static_cast<std::size_t>(k)] - q;
        for (Index i = 0; i < d.size(); ++i) {
            const auto c = static_cast<std::size_t>(i);
            if (set.around[c] != 0) d(i) -= periods[c] * std::round(d(i) / periods[c]);
            if (std::isinf(set.lower(i)) || std::isinf(set.upper(i))) d(i) = 0.0;  // unbounded: any value fits
        }
        return Vector(d.cwiseQuotient(unit));
    };
    Index nearest = 0;
    double distance = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < count; ++k)
        if (const double d = from(k).norm(); d < distance) {
            distance = d;
            nearest = k;
        }
    if (set.dimension != 1 || set.unbounded || count < 3)
        return std::max(0.0, distance - sample_allowance * set.spacing);
    // Distance of a point c from the chord a b.
    const auto off_chord = [](const Vector& a, const Vector& b, const Vector& c) {
        const Vector chord = b - a;
        const double length = chord.squaredNorm();
        const double along = length > 0.0 ? std::clamp((c - a).dot(chord) / length, 0.0, 1.0) : 0.0;
        return (a + along * chord - c).norm();
    };
    // The last sample of a closed curve repeats the first one.
    const bool loop = std::any_of(set.around.begin(), set.around.end(), [](char c) { return c != 0; }) ||
                      set.samples.front() == set.samples.back();
    const Index ring = count - 1;
    double bend = 0.0;  // the largest of three, because the samples need not be equidistant
    for (const Index k : {nearest - 1, nearest, nearest + 1}) {
        const Index middle = loop ? (k + ring) % ring : std::clamp<Index>(k, 1, count - 2);
        const Index before = loop ? (middle + ring - 1) % ring : middle - 1,
                    after = loop ? (middle + 1) % ring : middle + 1;
        bend = std::max(bend, off_chord(from(before), from(after), from(middle)));
    }
    double off = distance;
    for (const Index k : {nearest - 1, nearest}) {
        if (!loop && (k < 0 || k + 1 >= count)) continue;
        const Index a = loop ? (k + ring) % ring : k, b = loop ? (k + 1) % ring : k + 1;
        off = std::min(off, off_chord(from(a), from(b), Vector::Zero(q.size())));
    }
    return std::max(0.0, off - sample_allowance * bend);
}

}  // namespace

SetDistance distance_from(const std::vector<double>& periods, const EquilibriumSet& set, const Vector& q,
                          double cutoff) {
    const Vector unit = q.cwiseAbs() + Vector::Ones(q.size());
    SetDistance out;
    out.turns.assign(periods.size(), 0);
    Vector copy = q;
    for (std::size_t i = 0; i < periods.size(); ++i) {
        const auto c = static_cast<Index>(i);
        if (periods[i] > 0.0) {
            const double middle = 0.5 * (set.lower(c) + set.upper(c));
            out.turns[i] = static_cast<int>(std::round((q(c) - middle) / periods[i]));
            copy(c) -= periods[i] * out.turns[i];
        }
        const double off = std::max({0.0, set.lower(c) - copy(c), copy(c) - set.upper(c)});
        out.value = std::max(out.value, off / unit(c));
    }
    if (out.value > cutoff) return out;
    if (set.exact && set.directions.cols() > 0) {
        Vector off = copy - set.origin;
        off -= set.directions * least_squares(set.directions, off);
        for (Index i = 0; i < off.size(); ++i)
            if (set.around[static_cast<std::size_t>(i)] == 0)
                out.value = std::max(out.value, std::abs(off(i)) / unit(i));
    }
    if (!set.exact) out.value = std::max(out.value, off_samples(periods, set, copy));
    return out;
}

std::optional<Membership> member(const Equilibria& e, std::span<const double> position, double tolerance) {
    const Vector q = Eigen::Map<const Vector>(position.data(), static_cast<Index>(position.size()));
    std::optional<Membership> best;
    for (std::size_t k = 0; k < e.sets.size(); ++k) {
        SetDistance d = distance_from(e.periods, e.sets[k], q, tolerance);
        if (d.value > tolerance) continue;
        if (!best || d.value < best->distance) best = Membership{static_cast<int>(k), std::move(d.turns), d.value};
    }
    return best;
}

}  // namespace saltus::stability
