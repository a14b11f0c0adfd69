// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/basin_report.hpp"

namespace saltus::io {

/// A page that shows a basin while its motions are being made, and loads itself again every two seconds: the picture
/// next to it, if there is one, and the shares of the labels with their 95 % intervals. `report` is a preview, `done`
/// of `of` motions are made. `picture` is the name of the file of the picture; empty: none.
std::string basin_live_page(const BasinReport& report, std::size_t seen, std::size_t done, std::size_t of,
                            const std::string& picture);

}  // namespace saltus::io
