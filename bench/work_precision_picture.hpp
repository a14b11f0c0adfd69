// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measured_work.hpp"

namespace saltus::bench {

/// All runs of one method on one problem, from the loosest tolerance to the tightest.
struct WorkCurve {
    std::string method;
    std::vector<Work> runs;
};

/// The curves of one problem, in the same order of methods for all problems.
struct WorkDiagram {
    std::string title;
    std::vector<WorkCurve> curves;
};

/// An SVG picture with one diagram for each problem: seconds against error, both logarithmic, the error decreasing to
/// the right. A curve joins the runs that no run of its method beats in both error and time.
std::string work_precision_picture(const std::vector<WorkDiagram>& diagrams);

}  // namespace saltus::bench
