// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/proof/level_search.hpp"
#include "saltus/proof/separation.hpp"

namespace saltus::proof {

/// The side whose middle narrows a measure of uncertainty most when it takes the place of the whole side; the widest of
/// those that can be cut where none does.
std::size_t decisive_side(const Box& box, const std::vector<double>& scale,
                          const std::function<double(const Box&)>& spread);

/// w/(1 + w) summed over intervals: widths as they count, unbounded ones as 1.
double spread_of(const IntervalVector& v);
double spread_of(const IntervalMatrix& A);
double spread_of(const ForceSet& forces);

struct CoverProof {
    bool proved = false;
    Box box;         ///< where it was given up
    int which = -1;  ///< what could not be shown there
    long boxes = 0;
};

/// A property at all admissible points with Q <= cap in the boxes at which the gaps in `closed` are zero. `most` boxes
/// are looked at, and none is cut below `resolution` of the scale on every side.
CoverProof prove_on(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<int>& closed, double cap,
                    const std::vector<double>& scale, const std::function<BoxTest(const Box&)>& test, long most,
                    double resolution = 1e-9);

struct CoverMinimum {
    double lower = Interval::infinity;  ///< proved
    double upper = Interval::infinity;  ///< as computed, in `box`
    Box box;
    long boxes = 0;
    bool settled = false;  ///< lower and upper agree to the tolerance
};

/// The infimum of a function over those points, from bounds below it over boxes. `value` estimates it over a box from
/// above; what is proved does not rest on it.
CoverMinimum least_over(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<int>& closed,
                        double cap, const std::vector<double>& scale, const std::function<double(const Box&)>& bound,
                        const std::function<double(const Box&)>& value, const std::function<double(const Box&)>& spread,
                        long most, double tolerance = 1e-13);

/// The least level of admissible points in the boxes, which must not be 0 for it to settle.
CoverMinimum least_level(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<double>& scale,
                         long most, double tolerance = 1e-13);

}  // namespace saltus::proof
