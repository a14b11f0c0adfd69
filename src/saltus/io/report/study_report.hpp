// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::io {

/// A study of events over parameters, for people: the fitted exponents, then the event times run by run.
std::string study_text(const sensitivity::Study& study);

/// The object under the key "study", without a line break at its end.
std::string study_json(const sensitivity::Study& study);

/// A line an event and run: the parameters, the event, its time, the change from the nominal one, local exponents.
std::string study_csv(const sensitivity::Study& study);

}  // namespace saltus::io
