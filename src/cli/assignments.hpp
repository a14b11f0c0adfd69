// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::cli {

/// `text` without spaces at both ends.
std::string trimmed(const std::string& text);

/// One assignment of a command-line option: a name and one or more numbers.
struct Assigned {
    std::string name;
    std::vector<double> values;
};

/// Reads option texts like "x=1,y=2". A word without '=' is a further number of the name before it ("wall=1,0.2").
/// Throws an Error that names `option` if a text cannot be read.
std::vector<Assigned> assigned(const std::vector<std::string>& texts, const char* option);

/// Writes the assignments into `values`, one number per coordinate; a name is a coordinate, with or without a prime.
/// Entries without an assignment keep their value. `given`, if not nullptr, receives 1 for each assigned entry, else 0.
/// Returns false if there is no assignment at all. Throws an Error for an unknown or repeated name.
bool assign(const std::vector<std::string>& texts, const char* option, const std::vector<std::string>& coordinates,
            std::vector<double>& values, std::vector<char>* given = nullptr);

}  // namespace saltus::cli
