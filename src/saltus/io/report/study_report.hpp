// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/study/event_study.hpp"

/// A study of event times over parameters, a part of `saltus sensitivity`.
namespace saltus::io {

/// For a terminal: the fitted power laws |Δt| ~ p^a, then the event times of every run.
std::string study_text(const sensitivity::EventStudy& study);

/// The JSON object under the key "study", without a line break at its end.
std::string study_json(const sensitivity::EventStudy& study);

/// A line for each event of each run: parameters, event, its time, the change from the nominal motion, local exponents.
std::string study_csv(const sensitivity::EventStudy& study);

/// A line for each run of a model with a perturbation: parameters, size K of the perturbation, error of the pair, and
/// the observed constants of the theorem and of each estimate.
std::string study_constants_csv(const sensitivity::EventStudy& study);

}  // namespace saltus::io
