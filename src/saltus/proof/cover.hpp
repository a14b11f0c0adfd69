// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/proof/level_search.hpp"
#include "saltus/proof/separation.hpp"

namespace saltus::proof {

/// The side of the box to split next. `spread` measures the uncertainty of a result over a box. The chosen side is the
/// one for which `spread` falls most if the side is replaced by its centre. If no side lowers it, the widest side
/// relative to `scale` is chosen. Sides that cannot be split are not considered.
std::size_t decisive_side(const Box& box, const std::vector<double>& scale,
                          const std::function<double(const Box&)>& spread);

/// Σ w/(1 + w) over the intervals, w the width of an interval. An unbounded interval counts 1. This is a measure of
/// uncertainty for `decisive_side`, in [0, number of intervals].
double spread_of(const IntervalVector& v);
double spread_of(const IntervalMatrix& A);
double spread_of(const ForceSet& forces);

/// A measure of uncertainty larger than every sum of `spread_of`. It stands for a result that could not be computed.
constexpr double unknown_spread = 1e300;

/// A cover stops if all sides of a box are narrower than this fraction of the coordinate's scale.
constexpr double default_resolution = 1e-9;
/// A minimum is settled if upper − lower <= default_minimum_tolerance · lower.
constexpr double default_minimum_tolerance = 1e-13;

/// The result of `prove_on`.
struct CoverProof {
    bool proved = false;
    Box box;               ///< if not proved: the box at which the cover stopped
    int failed_item = -1;  ///< if not proved: BoxTest::failed_item of that box
    long boxes = 0;        ///< number of tested boxes
};

/// Proves a property at all admissible points with Q <= cap in the union of `boxes` at which the gaps in `closed`
/// (position rows) are zero. Every box is contracted to these points and tested. If the test fails, the box is split.
/// The proof is given up if `max_boxes` boxes were tested, if a box that failed is narrower than
/// resolution · scale[k] on every side k, or if it cannot be split.
CoverProof prove_on(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<int>& closed, double cap,
                    const std::vector<double>& scale, const std::function<BoxTest(const Box&)>& test, long max_boxes,
                    double resolution = default_resolution);

/// The result of `least_over`.
struct CoverMinimum {
    double lower = Interval::infinity;  ///< proved lower bound of the infimum; +∞: there are no such points
    double upper = Interval::infinity;  ///< estimate from above, in `box`; not proved
    Box box;                            ///< where `lower` is reached
    long boxes = 0;                     ///< number of split boxes
    bool settled = false;               ///< upper − lower <= tolerance · lower
};

/// The infimum of a function over the same points as in `prove_on`, by branch and bound. `bound` gives a lower bound
/// of the function over a box and `value` an estimate from above. `lower` depends on `bound` alone. `spread` chooses
/// the side to split.
CoverMinimum least_over(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<int>& closed,
                        double cap, const std::vector<double>& scale, const std::function<double(const Box&)>& bound,
                        const std::function<double(const Box&)>& value, const std::function<double(const Box&)>& spread,
                        long max_boxes, double tolerance = default_minimum_tolerance);

/// The least level Q of the admissible points in the boxes. A positive level is settled to the relative tolerance. If
/// the lower bound is not positive, the result is settled once the level over `box` is known to about 1e-9.
CoverMinimum least_level(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<double>& scale,
                         long max_boxes, double tolerance = default_minimum_tolerance);

}  // namespace saltus::proof
