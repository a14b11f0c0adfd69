// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "saltus/expr/interval/interval.hpp"

namespace saltus::proof {

using expr::Interval;

/// A product of closed intervals, one for each coordinate. A side may be a half line or the whole line. A box is never
/// empty: functions that can have an empty result return std::optional.
using Box = std::vector<Interval>;

/// ℝⁿ.
Box whole_space(std::size_t n);
/// The box that contains x only.
Box point_box(std::span<const double> x);

/// A point inside the box. A bounded side gives its midpoint. A half line gives the point at the distance scale[k]
/// from its end (1 if no scale is given for this side). The whole line gives 0.
std::vector<double> centre(const Box& box, std::span<const double> scale = {});

bool contains(const Box& box, std::span<const double> x);
/// Every point of `inner` is a point of `outer`.
bool inside(const Box& inner, const Box& outer);
/// The boxes have a common point. A common boundary point counts.
bool touch(const Box& a, const Box& b);
/// All sides have finite ends.
bool bounded(const Box& box);

/// The common points, or std::nullopt if there are none.
std::optional<Interval> intersection(const Interval& a, const Interval& b);
std::optional<Box> intersection(const Box& a, const Box& b);
/// The smallest box that contains both boxes.
Box hull(const Box& a, const Box& b);

/// Cuts one side of the box in two. The parts share the cut, so that together they cover the box.
/// A bounded side is cut at its midpoint and the whole line at `origin`. A half line is cut at `origin` if it contains
/// `origin` in its interior; otherwise at twice the distance of its end from `origin`, but at least at the distance
/// `scale`.
std::pair<Box, Box> split(const Box& box, std::size_t side, double origin, double scale);

/// False if the side has no double strictly between its ends, or is a half line that begins extremely far from 0.
bool can_split(const Box& box, std::size_t side);

}  // namespace saltus::proof
