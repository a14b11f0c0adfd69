// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The commands and options of the program as values. Help texts, shell completion and the manual page are written from
/// them.
namespace saltus::cli {

struct OptionHelp {
    std::vector<std::string> names;  ///< "--out", or "-o" and "--output"; the plain name of a positional argument
    std::string value;               ///< placeholder of its value, "" for a flag; "a|b|c" lists choices
    std::string text;                ///< description in one sentence
    bool positional = false, required = false, repeatable = false;
    bool common = false;        ///< every command that takes a model has this option
    bool of_many_runs = false;  ///< says how and where many runs are made; docs/ensemble.md explains it
};

struct CommandHelp {
    std::string name, text, example;
    std::vector<OptionHelp> options;
};

struct CommandLine {
    std::string text, version, example;
    std::vector<CommandHelp> commands;
};

/// What `saltus --help` and `saltus COMMAND --help` print: at most 80 columns, on one screen.
std::string help_text(const CommandLine& line);
std::string help_text(const CommandHelp& command);

std::string bash_completion(const CommandLine& line);
std::string zsh_completion(const CommandLine& line);
std::string manual_page(const CommandLine& line);

}  // namespace saltus::cli
