// SPDX-License-Identifier: Apache-2.0
#include "cli/assignments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"

namespace saltus::cli {

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

namespace {

double number_of(const std::string& text, const char* option) {
    const std::string word = trimmed(text);
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0' || !std::isfinite(value))
        throw Error("'" + word + "' is not a number", {option, 0, 0}, "write name=number, several with commas between");
    return value;
}

}  // namespace

std::vector<Assigned> assigned(const std::vector<std::string>& texts, const char* option) {
    std::vector<Assigned> list;
    for (const std::string& text : texts) {
        bool first = true;
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t comma = std::min(text.find(',', at), text.size());
            const std::string word = text.substr(at, comma - at);
            const std::size_t equals = word.rfind('=');
            if (equals != std::string::npos)
                list.push_back({trimmed(word.substr(0, equals)), {}});
            else if (first)
                throw Error("'" + trimmed(word) + "' is not an assignment", {option, 0, 0}, "write name=number");
            list.back().values.push_back(
                number_of(equals == std::string::npos ? word : word.substr(equals + 1), option));
            first = false;
            at = comma + 1;
        }
    }
    return list;
}

bool assign(const std::vector<std::string>& texts, const char* option, const std::vector<std::string>& coordinates,
            std::vector<double>& values, std::vector<char>* given) {
    std::vector<char> set(coordinates.size(), 0);
    for (const Assigned& a : assigned(texts, option)) {
        std::string name = a.name;
        if (!name.empty() && name.back() == '\'') name.pop_back();
        const auto at = std::find(coordinates.begin(), coordinates.end(), name);
        if (at == coordinates.end())
            throw Error("unknown coordinate '" + name + "'", {option, 0, 0}, did_you_mean(name, coordinates));
        if (set[static_cast<std::size_t>(at - coordinates.begin())]++ != 0)
            throw Error("'" + name + "' is given twice", {option, 0, 0}, "give each coordinate once");
        if (a.values.size() != 1)
            throw Error("'" + name + "' has " + std::to_string(a.values.size()) + " numbers", {option, 0, 0},
                        "give one, and each coordinate by its name");
        values[static_cast<std::size_t>(at - coordinates.begin())] = a.values[0];
        if (given != nullptr) (*given)[static_cast<std::size_t>(at - coordinates.begin())] = 1;
    }
    return !texts.empty();
}

}  // namespace saltus::cli
