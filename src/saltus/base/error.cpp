// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace saltus {

std::string to_string(const Place& place) {
    std::string text = place.file;
    if (place.line > 0) {
        text += (text.empty() ? "line " : ":") + std::to_string(place.line);
        if (place.column > 0) text += ":" + std::to_string(place.column);
    } else if (place.column > 0) {
        text += (text.empty() ? "column " : ", column ") + std::to_string(place.column);
    }
    return text;
}

namespace {

std::string whole_text(const std::string& message, const Place& place, const std::string& remedy) {
    std::string text = to_string(place);
    if (!text.empty()) text += ": ";
    text += message;
    if (!remedy.empty()) text += "; " + remedy;
    return text;
}

}  // namespace

Error::Error(std::string message, Place place, std::string remedy)
    : std::runtime_error(whole_text(message, place, remedy)),
      message_(std::move(message)),
      place_(std::move(place)),
      remedy_(std::move(remedy)) {}

void misuse(const char* expectation, const char* file, int line) {
    std::fprintf(stderr, "saltus: misuse: expected %s (%s:%d)\n", expectation, file, line);
    std::abort();
}

}  // namespace saltus
