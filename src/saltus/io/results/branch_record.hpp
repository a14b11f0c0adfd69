// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/orbit/branch.hpp"

namespace saltus::io {

/// The file that an interrupted `saltus continue` leaves for --resume.
inline constexpr const char* branch_record_name = "continue-state.json";

/// What an interrupted run has computed, as JSON. Every number reads back to the bit. `identity` names the model and
/// the options.
std::string branch_record_text(const orbit::BranchRecord& record, const std::string& identity);

/// Reads it back. Throws Error with the path if the text is damaged or belongs to another model or other options.
orbit::BranchRecord read_branch_record(const std::string& text, const std::string& identity, const std::string& path);

}  // namespace saltus::io
