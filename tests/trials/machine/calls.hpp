// SPDX-License-Identifier: Apache-2.0
//
// One call of the program with --json, and what must hold for every call: no crash, an end in time, a documented exit
// code and a readable document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/findings.hpp"
#include "machine/program.hpp"

namespace trials {

/// Returns whether there is a document to judge. Exit codes 2 and 3 count as refused.
bool call(const Program& program, const std::vector<std::string>& words, int cpu_seconds, nlohmann::json& document,
          Findings& findings);

}  // namespace trials
