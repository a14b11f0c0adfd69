// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::sensitivity {

/// Fits the power laws of one nominal event's time or impulse over the runs of a study. Changes below
/// resolution · max(1, |nominal value|) are left out.
EventResponse::Answer answer_of(const EventStudy& study, std::size_t event, Quantity quantity, double resolution);

}  // namespace saltus::sensitivity
