// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/control/gains/gain_solve.hpp"

/// The results of `saltus simulate --vary` and `--solve-for` as text, JSON and CSV.
namespace saltus::io {

/// What all runs of a study share.
struct GainHead {
    std::string model, method;  ///< names of the model and of the method of integration
    double t_end = 0.0;         ///< end time of all runs, in s
    std::string options;        ///< the options that had an effect, as they are written on a command line
    double band = 0.02;         ///< a run has settled if its distance to q_∞ stays ≤ band × the initial distance
    std::vector<std::string> warnings;  ///< warnings about options that were given and had no effect
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
