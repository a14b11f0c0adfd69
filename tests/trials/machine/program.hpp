// SPDX-License-Identifier: Apache-2.0
//
// Runs the program that is judged, by its command line, and reads what it writes.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trials {

struct Run {
    int code = -1;           ///< exit code, or −signal if a signal ended the program
    bool timed_out = false;  ///< the program was ended because it used too much computing time
    std::string out, err;
};

class Program {
public:
    /// `folder`: for the files of this judge; nobody else uses it.
    Program(std::filesystem::path executable, std::filesystem::path folder);

    /// Runs `saltus WORDS...` with at most this computing time.
    Run run(const std::vector<std::string>& words, int cpu_seconds) const;
    std::filesystem::path write(const std::string& name, const std::string& text) const;
    const std::filesystem::path& folder() const { return folder_; }
    /// Computing time of all runs so far, in s.
    double cpu_seconds() const { return cpu_seconds_; }

private:
    std::filesystem::path executable_, folder_;
    mutable double cpu_seconds_ = 0.0;
};

/// A CSV file with a line of names. Empty cells are NaN, and so are cells that are no number.
struct Table {
    std::map<std::string, std::size_t> columns;
    std::vector<std::vector<double>> rows;
    double at(std::size_t row, const std::string& column) const { return rows[row][columns.at(column)]; }
};

Table read_csv(const std::filesystem::path& file);

/// A number of a JSON document; NaN for null, infinity for "inf".
double number(const nlohmann::json& value);

}  // namespace trials
