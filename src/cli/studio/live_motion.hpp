// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/commands/simulate.hpp"
#include "cli/studio/watched_model.hpp"
#include "saltus/io/page/report_page.hpp"

namespace saltus::cli {

/// A motion that the page asks for.
struct LiveMotion {
    std::vector<std::pair<std::string, std::string>> set;  ///< parameters and initial values
    SimulateCommand command;                               ///< end time, method, step
    bool planes = false;               ///< in full detail, with the energy over phase planes, which takes longer
    double seconds = 10.0;             ///< computing time after which the motion ends, with the status interrupted
    std::function<bool()> superseded;  ///< a newer request makes this one useless
};

/// The answer for the page (io/page/studio_documents.hpp): the motion, or an error with its place.
std::string live_motion_json(const GoodVersion& version, const LiveMotion& wanted);

/// The same motion as the part of a report, with the command line that computes it. Throws Error.
io::ReportPart live_motion_part(const GoodVersion& version, const LiveMotion& wanted);

}  // namespace saltus::cli
