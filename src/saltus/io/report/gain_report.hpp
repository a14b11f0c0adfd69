// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/control/gains/gain_solve.hpp"

namespace saltus::io {

/// What the runs of a study share, as it is printed.
struct GainHead {
    std::string model, method;
    double t_end = 0.0;
    std::string options;
    double band = 0.02;
    std::vector<std::string> warnings;
};

std::string gain_study_text(const control::GainStudy& study, const GainHead& head);
std::string gain_study_json(const control::GainStudy& study, const GainHead& head);
std::string gain_study_csv(const control::GainStudy& study);

std::string gain_solution_text(const control::GainSolution& solution, const GainHead& head);
std::string gain_solution_json(const control::GainSolution& solution, const GainHead& head);

}  // namespace saltus::io
