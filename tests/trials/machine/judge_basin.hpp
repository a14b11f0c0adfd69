// SPDX-License-Identifier: Apache-2.0
//
// Judges basins of attraction: the motion from each start is repeated by plain time-stepping, and must come to rest in
// the set that the label names.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

/// `table`: the rows of basin.csv.
Findings judge_labels(const Model& model, const nlohmann::json& document, const Table& table);

/// `basin --device opencl`: the positions at which the kernel ends, against plain time-stepping. Nothing is judged if
/// there is no such device.
Findings judge_device(const Model& model, const Program& program);
/// The same of the event-driven kernel.
Findings judge_event_device(const Model& model, const Program& program);

Findings judge_basin(const Model& model, const Program& program);

}  // namespace trials
