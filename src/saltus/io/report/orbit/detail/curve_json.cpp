// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/orbit/detail/curve_json.hpp"

namespace saltus::io {

json::Json curve_json(const std::vector<std::string>& coordinates, const orbit::OrbitCurve& curve) {
    using json::Json;
    Json x = Json::object(), events = Json::array();
    for (std::size_t i = 0; i < 2 * coordinates.size(); ++i) {
        const std::string name = i < coordinates.size() ? coordinates[i] : coordinates[i - coordinates.size()] + "'";
        Json column = Json::array();
        for (const std::vector<double>& state : curve.x) column.push_back(json::number(state[i]));
        x[name] = std::move(column);
    }
    for (const orbit::OrbitCurve::Mark& m : curve.events)
        events.push_back({{"index", m.index}, {"kind", m.kind}, {"contacts", m.elements}});
    return {{"t", json::numbers(curve.t)}, {"x", std::move(x)}, {"events", std::move(events)}};
}

}  // namespace saltus::io
