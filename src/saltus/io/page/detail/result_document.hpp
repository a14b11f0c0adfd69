// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "saltus/io/page/report_page.hpp"

namespace saltus::io {

/// A JSON document that a command wrote, as a part of a report. The command is recognised by the keys of the document.
/// Nothing if `text` is not a result. `path` names the document; `basin_table` gives the content of the file basin.csv
/// beside it, and is called for basins only. Throws Error if a basin is incomplete.
std::optional<ReportPart> document_part(const std::string& text, const std::string& path,
                                        const std::function<std::optional<std::string>()>& basin_table);

}  // namespace saltus::io
