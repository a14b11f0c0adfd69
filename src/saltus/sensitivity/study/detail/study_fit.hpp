// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::sensitivity {

/// The power laws of one event's time or impulse over the runs of a study.
EventStudy::Answer answer_of(const Study& study, std::size_t event, Quantity quantity, double resolution);

}  // namespace saltus::sensitivity
