// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "saltus/base/linalg.hpp"

namespace saltus::orbit {

/// Where the correction of a step along a branch begins, and its condition row · (z' − z) = 0. The parameter is the
/// last component of z.
struct Prediction {
    Vector z, row;
    double h = 0.0;         ///< the length of the step, in units of the scales
    bool at_bound = false;  ///< the parameter is a bound of its range: the correction keeps it
};

/// A step of the length h along the tangent, to the bound of the range if it would lead beyond it. Point has z, tangent
/// and scale.
template <class Point>
Prediction predicted_step(const Point& p, double h, double from, double to) {
    const Eigen::Index last = p.z.size() - 1;
    Prediction out{p.z + h * p.tangent.cwiseProduct(p.scale), p.tangent, h, false};
    const double bound = std::clamp(out.z(last), from, to);
    if (bound == out.z(last)) return out;
    out.at_bound = true;
    out.h = h * (bound - p.z(last)) / (out.z(last) - p.z(last));
    out.z = p.z + out.h * p.tangent.cwiseProduct(p.scale);
    out.z(last) = bound;
    out.row = Vector::Unit(p.z.size(), last) * (p.tangent(last) > 0.0 ? 1.0 : -1.0);
    return out;
}

/// The point at the bound of the range between p and a point q of the branch beyond it.
template <class Point>
Prediction step_to_bound(const Point& p, const Point& q, double h, double from, double to) {
    const Eigen::Index last = p.z.size() - 1;
    const double end = std::clamp(q.z(last), from, to);
    Prediction out{p.z + (q.z - p.z) * ((end - p.z(last)) / (q.z(last) - p.z(last))), {}, h, true};
    out.z(last) = end;
    out.row = Vector::Unit(p.z.size(), last) * (end > p.z(last) ? 1.0 : -1.0);
    return out;
}

}  // namespace saltus::orbit
