// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/control/gains/gain_solve.hpp"

/// The results of `saltus simulate --vary` and `--solve-for` as text, JSON and CSV.
namespace saltus::io {

/// What all runs of a study share.
struct GainHead {
    std::string model, method;          ///< names
    double t_end = 0.0;                 ///< in s
    std::string options;                ///< the options that counted, as they are written on a command line
    double band = 0.02;                 ///< settled: the distance to the end stays ≤ this × the initial distance
    std::vector<std::string> warnings;  ///< about options that were given and did not count
};

/// For a terminal: a line for each run. A long list is cut and says so.
std::string gain_study_text(const control::GainStudy& study, const GainHead& head);

/// One JSON document (docs/control.md). Numbers that are not finite are null.
std::string gain_study_json(const control::GainStudy& study, const GainHead& head);

/// A line for each run. A quantity that a run does not have is an empty cell.
std::string gain_study_csv(const control::GainStudy& study);

/// For a terminal: the parameter value that was found, or the nearest one, and what the motion does with it.
std::string gain_solution_text(const control::GainSolution& solution, const GainHead& head);

/// One JSON document (docs/control.md), with all trials in the order in which they were made.
std::string gain_solution_json(const control::GainSolution& solution, const GainHead& head);

}  // namespace saltus::io
