// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/orbit/section_report.hpp"

#include <utility>

#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

std::string with_section(const std::string& document, const std::vector<std::string>& coordinates,
                         const std::vector<trajectory::State>& points) {
    json::Json j = json::Json::parse(document);
    j["section"] = json::Json::array();
    for (const trajectory::State& s : points)
        j["section"].push_back(
            {{"t", json::number(s.t)}, {"q", json::by_name(coordinates, s.q)}, {"u", json::by_name(coordinates, s.u)}});
    return json::document(j);
}

std::string section_csv(const std::vector<std::string>& coordinates, const std::vector<trajectory::State>& points) {
    Csv csv;
    csv.cell(std::string("t"));
    for (const std::string& name : coordinates) csv.cell(name);
    for (const std::string& name : coordinates) csv.cell(name + "'");
    csv.end_line();
    for (const trajectory::State& s : points) {
        csv.cell(s.t);
        for (const double q : s.q) csv.cell(q);
        for (const double u : s.u) csv.cell(u);
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
