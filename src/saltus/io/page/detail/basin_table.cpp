// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/basin_table.hpp"
#include "saltus/base/plain_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <vector>

namespace saltus::io {

using json::Json;

namespace {

constexpr std::size_t max_cells = 160000;  // 400 × 400: more than a page can show

/// The cells of a line of a CSV table.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            cells.emplace_back();
        else if (c != '\r')
            cells.back() += c;
    }
    return cells;
}

/// An axis of the grid: n equidistant values.
struct Axis {
    double from, to;
    long n;
    long index(double x) const {
        return n < 2 ? 0 : std::lround((x - from) / (to - from) * static_cast<double>(n - 1));
    }
};

}  // namespace

void add_basin_image(Json& basin, const std::string& csv) {
    const Json grid = basin.value("grid", Json::object());
    if (!grid.contains("n")) return;
    std::vector<std::size_t> wide;  // axes with more than one value
    for (std::size_t k = 0; k < grid.at("n").size(); ++k) {
        const Json& n = grid.at("n").at(k);
        if (!n.is_number_integer() || n.get<long>() < 0 || static_cast<std::size_t>(n.get<long>()) > max_cells) return;
        if (n.get<long>() > 1) wide.push_back(k);
    }
    if (wide.size() != 2) return;
    Axis axes[2];
    for (std::size_t k = 0; k < 2; ++k)
        axes[k] = {grid.at("from").at(wide[k]).get<double>(), grid.at("to").at(wide[k]).get<double>(),
                   grid.at("n").at(wide[k]).get<long>()};
    const auto cells = static_cast<std::size_t>(axes[0].n) * static_cast<std::size_t>(axes[1].n);
    if (cells > max_cells) return;
    std::istringstream in(csv);
    std::string line;
    if (!std::getline(in, line)) return;
    const std::vector<std::string> head = cells_of(line);
    const auto column = [&](const std::string& name) {
        return static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
    };
    const std::size_t label = column("label"), V = column("V");
    if (label >= head.size() || wide[1] >= head.size()) return;
    std::vector<int> image(cells, -1);
    std::vector<double> values(cells, std::numeric_limits<double>::quiet_NaN());
    while (std::getline(in, line)) {
        const std::vector<std::string> row = cells_of(line);
        if (row.size() != head.size()) return;
        const long i = axes[0].index(number_in(row[wide[0]])), j = axes[1].index(number_in(row[wide[1]]));
        if (i < 0 || j < 0 || i >= axes[0].n || j >= axes[1].n) return;
        const auto at = static_cast<std::size_t>(j * axes[0].n + i);
        image[at] = std::atoi(row[label].c_str());
        if (V < head.size()) values[at] = number_in(row[V]);
    }
    if (std::find(image.begin(), image.end(), -1) != image.end()) return;
    basin["image_axes"] = wide;
    basin["image"] = image;
    if (std::none_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) return;
    Json& list = basin["V"] = Json::array();
    for (const double v : values) list.push_back(std::isfinite(v) ? Json(v) : Json(nullptr));
}

}  // namespace saltus::io
