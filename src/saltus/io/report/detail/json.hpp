// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// How results become JSON, the same in every report. Objects keep the order in which their keys were written, so that
/// equal results give equal bytes. The included library is slow to compile: include this header in .cpp files only.
namespace saltus::io {
struct WrittenCertificate;  // certificate_file.hpp
}

namespace saltus::io::json {

using Json = nlohmann::ordered_json;

/// A number; null if it is not finite, because JSON has no such numbers. −0 becomes 0.
Json number(double x);

/// The same; null if there is no value.
Json number(const std::optional<double>& x);

/// A level, which may be unbounded: a number, "inf" or "-inf"; null if it is not a number (NaN).
Json level(double x);

/// A list of numbers, each as `number` writes it.
Json numbers(std::span<const double> values);

/// An object {name: number}. The shorter of both lists decides how many members it has.
Json by_name(const std::vector<std::string>& names, std::span<const double> values);

/// The key `certificate` of the commands that write certificate files.
Json written_certificate(const WrittenCertificate& written);

/// A whole document: indented by two blanks, with a line break at its end. Bytes that are not valid UTF-8 are replaced
/// by U+FFFD, so that a name in another encoding does not make the document unreadable.
std::string document(const Json& j);

/// The same without the line break, for a document inside another one.
std::string fragment(const Json& j);

/// The same in one line without blanks, for lists of many entries.
std::string line(const Json& j);

/// The number in a value; `otherwise` if the value is not a number. The inverse of `number`.
double value_or(const Json& j, double otherwise);

/// What an exception of the library says, without its number.
std::string reason(const Json::exception& e);

}  // namespace saltus::io::json
