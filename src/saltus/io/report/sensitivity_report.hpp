// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/report/timing.hpp"
#include "saltus/sensitivity/differences.hpp"
#include "saltus/sensitivity/pair/pair.hpp"
#include "saltus/sensitivity/study/event_study.hpp"

/// The result of `saltus sensitivity` as text, JSON and CSV. It has up to three parts: derivatives, a perturbed pair
/// (pair_report.hpp) and a study of event times (study_report.hpp).
namespace saltus::io {

/// Everything that `saltus sensitivity` computed.
struct SensitivityReport {
    std::string model;
    std::optional<sensitivity::Sensitivity> result;  ///< derivatives; absent if only a study was asked for
    std::optional<sensitivity::Differences> check;   ///< comparison with central differences, if asked for
    std::string output;                              ///< the expression of the final state that was differentiated
    bool adjoint = false;                            ///< the derivatives come from adjoint equations
    std::vector<std::string> warnings;
    std::optional<sensitivity::Pair> pair;  ///< comparison with a perturbed motion; set if the model has [perturbation]
    std::optional<sensitivity::EventStudy> study;  ///< event times over varied parameters; set if parameters vary
};

/// For a terminal. Long tables are cut and say so.
std::string sensitivity_text(const SensitivityReport& report);

/// One JSON document (docs/sensitivity.md). Derivatives that do not exist are null.
std::string sensitivity_json(const SensitivityReport& report, Timing timing = Timing::included);

/// A line for each event: its time and the derivatives of this time. Needs `report.result`.
std::string sensitivity_events_csv(const SensitivityReport& report);

/// The derivatives of q and u at the end of every integration step. Needs `report.result`. Empty if the steps were not
/// kept.
std::string sensitivity_course_csv(const SensitivityReport& report);

}  // namespace saltus::io
