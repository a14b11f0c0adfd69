// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::cli {

std::string trimmed(const std::string& text);

/// "x=1,y=2" and several of it; a word without '=' is a further number of the name before. Errors name the option.
struct Assigned {
    std::string name;
    std::vector<double> values;
};
std::vector<Assigned> assigned(const std::vector<std::string>& texts, const char* option);

/// Sets what is given of one number a coordinate, `x` or `x'`; false when nothing is. `given`: marks which.
bool assign(const std::vector<std::string>& texts, const char* option, const std::vector<std::string>& coordinates,
            std::vector<double>& values, std::vector<char>* given = nullptr);

}  // namespace saltus::cli
