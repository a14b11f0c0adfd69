// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "saltus/expr/interval/interval.hpp"

namespace saltus::proof {

using expr::Interval;

/// A product of intervals, one a coordinate; sides may be unbounded.
using Box = std::vector<Interval>;

Box whole_space(std::size_t n);
Box point_box(std::span<const double> x);

/// A point inside: the middle of bounded sides; on half lines a step of `scale` beyond the end.
std::vector<double> centre(const Box& box, std::span<const double> scale = {});

bool contains(const Box& box, std::span<const double> x);
bool inside(const Box& inner, const Box& outer);
bool touch(const Box& a, const Box& b);  ///< they have a point in common, boundaries included
bool bounded(const Box& box);

std::optional<Interval> intersection(const Interval& a, const Interval& b);
std::optional<Box> intersection(const Box& a, const Box& b);
Box hull(const Box& a, const Box& b);

/// The halves of one side. A whole line is cut at `origin`; a half line where its end lies twice as far from `origin`,
/// or `scale` from it when it begins there.
std::pair<Box, Box> split(const Box& box, std::size_t side, double origin, double scale);

/// False when the side is too narrow to be cut.
bool can_split(const Box& box, std::size_t side);

}  // namespace saltus::proof
