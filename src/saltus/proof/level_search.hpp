// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "saltus/proof/admissible.hpp"

namespace saltus::proof {

/// The answer of a test about one box: either a property is proved at all admissible points of the box, or it is
/// undecided.
struct BoxTest {
    bool proved = false;
    Box undecided;         ///< if not proved: contains every point of the box at which the property may fail
    std::size_t side = 0;  ///< if not proved: the side to split next
    int failed_item = -1;  ///< if not proved: what could not be shown, numbered by the test (for example a gap)
};

/// Levels below this fraction of LevelSearchOptions::scale count as 0.
constexpr double zero_level_ratio = 1e-9;

struct LevelSearchOptions {
    long budget = 100'000;     ///< largest number of tested boxes
    double tolerance = 1e-13;  ///< a box is not split further if its levels differ by less, relative to the level
    double scale = 0.0;        ///< typical level; levels below zero_level_ratio · scale count as 0
    Box domain;                ///< where to search; empty: everywhere
    double cap = Interval::infinity;  ///< the search ends at this level
    /// Whether boxes that are not connected to the start are tested too. The result is then about all admissible points
    /// of the domain below the level, not about one connected component.
    bool all_components = false;
};

/// The result of `search_level`.
struct LevelSearch {
    enum class End {
        found,       ///< proved below `level`; the property may fail at `level`, in `box`
        cap,         ///< proved below the cap
        everywhere,  ///< proved at every point that is connected to the start
        budget,      ///< proved below `level`; then the budget was used up
    };
    End end = End::budget;
    double level = 0.0;
    Box box;                 ///< with End::found: where the property may fail
    int failed_item = -1;    ///< with End::found: BoxTest::failed_item there
    long boxes = 0;          ///< number of tested boxes
    std::vector<Box> cover;  ///< boxes whose union contains the component of { Q < level }
    bool bounded = true;     ///< this component is proved to be bounded
};

/// The largest level below which a property can be proved, on the connected component of { admissible, Q < level } that
/// contains `start`.
///
/// The search works like a flood: boxes are visited in the order of their least level. A box is reached if it touches
/// `start` or a box on which the property is proved. A reached box is tested, and split if the test fails. Boxes that
/// are not reached wait. The result is proved for every choice of the splits. With `all_components` every box counts as
/// reached.
LevelSearch search_level(const AdmissibleSet& set, const Box& start, const std::vector<double>& scale,
                         const std::function<BoxTest(const Box&)>& test, const LevelSearchOptions& options);

}  // namespace saltus::proof
