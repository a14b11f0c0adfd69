// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/result_document.hpp"

#include <algorithm>
#include <initializer_list>

#include "saltus/base/error.hpp"
#include "saltus/io/page/detail/basin_table.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using json::Json;

namespace {

/// The kind of a document, by the keys that only this command writes. Empty if it is not a result. If a
/// document has the keys of several lines then the first line counts.
std::string kind_of(const Json& j) {
    const auto has = [](const Json& object, std::initializer_list<const char*> keys) {
        return object.is_object() &&
               std::all_of(keys.begin(), keys.end(), [&](const char* k) { return object.contains(k); });
    };
    if (j.is_array()) return !j.empty() && has(j[0], {"file", "residual", "status"}) ? "solve" : "";
    if (has(j, {"file", "residual", "status"})) return "solve";
    if (has(j, {"with_respect_to", "final"}) || has(j, {"pair"}) || has(j, {"c_bar", "c_hat"}) || has(j, {"study"}))
        return "sensitivity";
    if (has(j, {"grid", "labels"})) return "basin";
    if (has(j, {"conditions", "verdict"})) return "certify";
    if (has(j, {"sets"})) return "equilibria";
    if (has(j, {"moreau", "penalty"})) return "compare";
    if (has(j, {"rigid", "penalty"})) return "springs";
    if (has(j, {"u_minus", "u_plus", "work"})) return "impact";
    if (has(j, {"status", "multiple", "iterations"})) return "orbit";
    if (has(j, {"parameter", "section", "periods"})) return "diagram";
    if (has(j, {"over", "points", "special"})) return "continue";
    if (has(j, {"degrees_of_freedom", "mass"})) return "check";
    if (has(j, {"events", "final", "energy"})) return "simulate";
    if (has(j, {"audit", "impacts", "recomputed"})) return "audit";
    if (has(j, {"vary", "runs"})) return "gains";
    return "";
}

}  // namespace

std::optional<ReportPart> document_part(const std::string& text, const std::string& path,
                                        const std::function<std::optional<std::string>()>& basin_table) {
    Json j = Json::parse(text, nullptr, false);
    const std::string kind = j.is_discarded() ? "" : kind_of(j);
    if (kind.empty()) return {};
    try {
        if (kind == "basin")
            if (const std::optional<std::string> table = basin_table()) add_basin_image(j, *table);
    } catch (const Json::exception& e) {  // a key is missing or has another type
        throw Error("is incomplete or damaged: " + json::reason(e), {path, 0, 0}, "run the command again");
    }
    ReportPart part{kind, path, {}, json::line(j), {}, {}};
    if (j.is_object() && j.contains("model") && j["model"].is_string()) part.title = j["model"].get<std::string>();
    return part;
}

}  // namespace saltus::io
