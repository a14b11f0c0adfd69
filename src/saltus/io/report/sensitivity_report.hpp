// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/sensitivity/differences.hpp"
#include "saltus/sensitivity/pair/pair.hpp"
#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::io {

/// All that `saltus sensitivity` found out.
struct SensitivityReport {
    std::string model;
    std::optional<sensitivity::Sensitivity> result;  ///< none: a study alone
    std::optional<sensitivity::Differences> check;
    std::string output;  ///< the expression
    bool adjoint = false;
    std::vector<std::string> warnings;
    std::optional<sensitivity::Pair> pair;    ///< where the model has a perturbation
    std::optional<sensitivity::Study> study;  ///< where parameters vary
};

/// For people, and as one JSON document; derivatives that do not exist are null there.
std::string sensitivity_text(const SensitivityReport& report);
std::string sensitivity_json(const SensitivityReport& report);

/// Event times with their derivatives; the derivatives of the state at the ends of all steps ("" where not kept).
std::string sensitivity_events_csv(const SensitivityReport& report);
std::string sensitivity_course_csv(const SensitivityReport& report);

}  // namespace saltus::io
