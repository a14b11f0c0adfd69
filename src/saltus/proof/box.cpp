// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/box.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"

namespace saltus::proof {

namespace {

/// The coordinate at which split() cuts the side.
double cut(const Interval& side, double origin, double scale) {
    if (std::isfinite(side.lo) && std::isfinite(side.hi)) return expr::midpoint(side);
    if (!std::isfinite(side.lo) && !std::isfinite(side.hi)) return origin;
    const bool right = std::isfinite(side.lo);  // the half line [lo, ∞)
    const double end = right ? side.lo : side.hi;
    const double distance = right ? end - origin : origin - end;  // of the end from the origin, along the half line
    if (distance < 0.0) return origin;
    const double step = std::max(2.0 * distance, scale);
    return right ? origin + step : origin - step;
}

}  // namespace

Box whole_space(std::size_t n) { return Box(n, expr::entire()); }

Box point_box(std::span<const double> x) {
    Box box;
    for (const double v : x) box.emplace_back(v);
    return box;
}

std::vector<double> centre(const Box& box, std::span<const double> scale) {
    std::vector<double> x;
    for (std::size_t k = 0; k < box.size(); ++k) {
        const double step = k < scale.size() ? scale[k] : 1.0;
        const bool low = std::isfinite(box[k].lo), high = std::isfinite(box[k].hi);
        x.push_back(low && high ? expr::midpoint(box[k]) : (low ? box[k].lo + step : (high ? box[k].hi - step : 0.0)));
    }
    return x;
}

bool contains(const Box& box, std::span<const double> x) {
    for (std::size_t k = 0; k < box.size(); ++k)
        if (!expr::contains(box[k], x[k])) return false;
    return true;
}

bool inside(const Box& inner, const Box& outer) {
    for (std::size_t k = 0; k < inner.size(); ++k)
        if (inner[k].lo < outer[k].lo || inner[k].hi > outer[k].hi) return false;
    return true;
}

bool touch(const Box& a, const Box& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k].hi < b[k].lo || b[k].hi < a[k].lo) return false;
    return true;
}

bool bounded(const Box& box) {
    return std::all_of(box.begin(), box.end(),
                       [](const Interval& x) { return std::isfinite(x.lo) && std::isfinite(x.hi); });
}

std::optional<Interval> intersection(const Interval& a, const Interval& b) {
    const double lo = std::max(a.lo, b.lo), hi = std::min(a.hi, b.hi);
    if (!(lo <= hi) || lo == infinity || hi == -infinity) return std::nullopt;
    return Interval(lo, hi);
}

std::optional<Box> intersection(const Box& a, const Box& b) {
    Box box;
    for (std::size_t k = 0; k < a.size(); ++k) {
        const std::optional<Interval> side = intersection(a[k], b[k]);
        if (!side) return std::nullopt;
        box.push_back(*side);
    }
    return box;
}

Box hull(const Box& a, const Box& b) {
    Box box;
    for (std::size_t k = 0; k < a.size(); ++k) box.push_back(expr::hull(a[k], b[k]));
    return box;
}

std::pair<Box, Box> split(const Box& box, std::size_t side, double origin, double scale) {
    const double at = cut(box[side], origin, scale);
    std::pair<Box, Box> halves{box, box};
    halves.first[side].hi = at;
    halves.second[side].lo = at;
    return halves;
}

bool can_split(const Box& box, std::size_t side) {
    const Interval& x = box[side];
    // A half line that begins beyond this distance from 0 is not cut further. Repeated doubling reaches it after about
    // 100 cuts, far outside every model.
    constexpr double largest_cut = 1e30;
    if (!std::isfinite(x.lo) || !std::isfinite(x.hi)) return !(x.lo > largest_cut) && !(x.hi < -largest_cut);
    const double at = expr::midpoint(x);
    return x.lo < at && at < x.hi;
}

}  // namespace saltus::proof
