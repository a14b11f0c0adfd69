// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "saltus/proof/admissible.hpp"

namespace saltus::proof {

/// What is said of one box: that a property is proved at all its admissible points, or where it may fail.
struct BoxTest {
    bool proved = false;
    Box open;              ///< holds every point of the box at which the property may fail
    std::size_t side = 0;  ///< to be cut, so that more can be said
    int which = -1;        ///< what could not be shown, for the caller
};

struct LevelSearchOptions {
    long budget = 100'000;            ///< boxes
    double tolerance = 1e-13;         ///< of the level, relative to it
    double scale = 0.0;               ///< of levels: those below 1e-9 of it count as 0
    Box domain;                       ///< where to search; empty: everywhere
    double cap = Interval::infinity;  ///< levels from here on are of no interest
};

struct LevelSearch {
    enum class End {
        found,       ///< the property may fail at `level`, in `box`; below it is proved
        cap,         ///< proved below the cap
        everywhere,  ///< proved at every point that can be reached from the start
        budget,      ///< proved below `level`; then the boxes were used up
    };
    End end = End::budget;
    double level = 0.0;
    Box box;  ///< where it ended
    int which = -1;
    long boxes = 0;          ///< looked at
    std::vector<Box> cover;  ///< of the component of { Q < level }
    bool bounded = true;     ///< the cover is
};

/// The largest level below which a property is proved: on the component of the admissible set's { Q < level } that
/// contains `start`. Boxes grow from the start, lowest level first, like water that rises; a box joins when it touches
/// one that has joined. What it says is proved whatever the boxes are.
LevelSearch search_level(const AdmissibleSet& set, const Box& start, const std::vector<double>& scale,
                         const std::function<BoxTest(const Box&)>& test, const LevelSearchOptions& options);

}  // namespace saltus::proof
