// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
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

/// The file `continue.checkpoint` that a running `saltus continue` writes again and again: a later run continues from
/// it if this one is killed. It has the same content under a checksum, and replaces the earlier one at once.
void write_branch_checkpoint(const std::string& folder, const orbit::BranchRecord& record, const std::string& identity);
/// No value if there is none. Throws Error as `read_branch_record`.
std::optional<orbit::BranchRecord> read_branch_checkpoint(const std::string& folder, const std::string& identity);
/// Does nothing if there is none.
void remove_branch_checkpoint(const std::string& folder);

}  // namespace saltus::io
