// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/io/report/detail/json.hpp"

/// Parts of a page with static plots: HTML with SVG pictures, without JavaScript.
namespace saltus::io {

/// The number in a value; `no_point` (NaN) if the value is not a number, which breaks a curve there.
double number_of(const json::Json& value);

/// A value for a table: text as it is, "yes" or "no", a number with 8 significant digits, "–" for anything else.
std::string short_number(const json::Json& value);

/// A table. Cells are text, not markup.
std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

/// The result of a command as plots and tables. `kind` is the kind of the part (see `ReportPart`), any kind but
/// "motion". Kinds without a view of their own are shown as JSON.
std::string static_part(const std::string& kind, const json::Json& data);

}  // namespace saltus::io
