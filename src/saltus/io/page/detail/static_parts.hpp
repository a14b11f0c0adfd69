// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace saltus::io {

/// Pieces of pages with static plots.
std::string short_number(const nlohmann::ordered_json& value);
std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

/// What a command computed, as plots and tables.
std::string static_part(const std::string& kind, const nlohmann::ordered_json& data);

}  // namespace saltus::io
