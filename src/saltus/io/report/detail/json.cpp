// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/detail/json.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::io::json {

namespace {

constexpr int indent = 2;
constexpr int one_line = -1;  // how nlohmann::json is told not to break lines

std::string text_of(const Json& j, int indentation) {
    constexpr bool ascii_only = false;
    return j.dump(indentation, ' ', ascii_only, Json::error_handler_t::replace);
}

}  // namespace

Json number(double x) { return std::isfinite(x) ? Json(x + 0.0) : Json(nullptr); }  // −0 + 0 = 0

Json number(const std::optional<double>& x) { return x ? number(*x) : Json(nullptr); }

Json level(double x) {
    if (std::isinf(x)) return x > 0.0 ? "inf" : "-inf";
    return number(x);
}

Json numbers(std::span<const double> values) {
    Json j = Json::array();
    for (const double x : values) j.push_back(number(x));
    return j;
}

Json by_name(const std::vector<std::string>& names, std::span<const double> values) {
    Json j = Json::object();
    for (std::size_t k = 0; k < std::min(names.size(), values.size()); ++k) j[names[k]] = number(values[k]);
    return j;
}

std::string document(const Json& j) { return fragment(j) + "\n"; }

std::string fragment(const Json& j) { return text_of(j, indent); }

std::string line(const Json& j) { return text_of(j, one_line); }

double value_or(const Json& j, double otherwise) { return j.is_number() ? j.get<double>() : otherwise; }

}  // namespace saltus::io::json
