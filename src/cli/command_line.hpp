// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The command line as a value: what help, completion and the manual page are written from.
namespace saltus::cli {

struct OptionHelp {
    std::vector<std::string> names;  ///< --out, or -o and --output; of a positional its name
    std::string value;               ///< what stands behind it, "" for a flag; a|b|c are choices
    std::string text;
    bool positional = false, required = false, repeatable = false;
    bool common = false;  ///< of every command that takes a model
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
