// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/detail/json.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <cmath>

#include "saltus/io/results/certificate_file.hpp"

namespace saltus::io::json {

namespace {

/// JSON requires escapes for U+0000 to U+001F only. A terminal executes U+007F to U+009F too, so they become escapes as
/// well. Such characters occur in strings only, and the value of the document stays the same.
std::string with_escaped_controls(const std::string& text) {
    if (text.find_first_of("\x7f\xc2") == std::string::npos) return text;
    std::string out;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const auto byte = static_cast<unsigned char>(text[k]);
        const auto next = static_cast<unsigned char>(k + 1 < text.size() ? text[k + 1] : 0);
        if (byte == 0x7F) {
            out += "\\u007f";
        } else if (byte == 0xC2 && next >= 0x80 && next <= 0x9F) {  // U+0080 to U+009F in UTF-8
            out += fmt::format("\\u00{:02x}", next);
            ++k;
        } else {
            out += text[k];
        }
    }
    return out;
}

constexpr int indent = 2;
constexpr int one_line = -1;  // how nlohmann::json is told not to break lines

std::string text_of(const Json& j, int indentation) {
    constexpr bool ascii_only = false;
    return with_escaped_controls(j.dump(indentation, ' ', ascii_only, Json::error_handler_t::replace));
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

Json written_certificate(const WrittenCertificate& written) {
    return {{"file", written.file},
            {"certified", written.certified},
            {"checked", written.checked},
            {"answer", written.answer}};
}

std::string document(const Json& j) { return fragment(j) + "\n"; }

std::string fragment(const Json& j) { return text_of(j, indent); }

std::string line(const Json& j) { return text_of(j, one_line); }

std::string reason(const Json::exception& e) {
    const std::string text = e.what();  // "[json.exception.type_error.302] type must be ..."
    const std::size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
}

double value_or(const Json& j, double otherwise) { return j.is_number() ? j.get<double>() : otherwise; }

}  // namespace saltus::io::json
