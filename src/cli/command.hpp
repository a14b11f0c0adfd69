// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/model/build.hpp"

/// What the commands share.
namespace saltus::cli {

enum Exit { done = 0, bad_input = 2, failed = 3, interrupted = 130 };

/// Options of every command that takes a model.
struct Common {
    std::string model;
    std::vector<std::string> set;
    std::string out;
    std::string report;  ///< a page of the results; see report_option.hpp
    bool json = false;
    bool quiet = false;
    bool project_initial = false;
    int threads = 0;
};

/// The assignments of --set: names and values.
std::vector<std::pair<std::string, std::string>> assignments(const Common& options);

model::Model load(const Common& options, bool perturbed = false);

/// A command line without the program's name: the command, its options, its files. Returns the exit code.
int run(const std::vector<std::string>& words);

/// Standard output may be a full disk or a closed pipe; nothing is done before it has arrived.
void print(const std::string& text);

/// An error on standard error, with the line of the file it is about and a mark under the column.
void report(const Error& e);

}  // namespace saltus::cli
