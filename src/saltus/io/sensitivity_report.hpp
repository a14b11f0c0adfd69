// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/sensitivity/differences.hpp"

namespace saltus::io {

/// All that `saltus sensitivity` found out.
struct SensitivityReport {
    sensitivity::Sensitivity result;
    std::optional<sensitivity::Differences> check;
    std::string output;  ///< the expression
    bool adjoint = false;
    std::vector<std::string> warnings;
    std::string pair_text, pair_json;  ///< of the perturbed pair, where the model has a perturbation
};

/// For people, and as one JSON document; derivatives that do not exist are null there.
std::string sensitivity_text(const SensitivityReport& report);
std::string sensitivity_json(const SensitivityReport& report);

/// Event times with their derivatives; the derivatives of the state at the ends of all steps ("" where not kept).
std::string sensitivity_events_csv(const SensitivityReport& report);
std::string sensitivity_course_csv(const SensitivityReport& report);

}  // namespace saltus::io
