// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/command_line.hpp"

namespace saltus::cli {

namespace {

constexpr std::size_t width = 80;

/// Wraps words into lines of at most `width` columns. The first line begins at column `at`, the others at `indent`.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent) {
    std::string out;
    std::size_t column = at, begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (column > indent && column + 1 + word.size() > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > at || (column == at && !out.empty() && out.back() != ' ' && column != indent)) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        begin = end + 1;
    }
    return out;
}

std::string head_of(const OptionHelp& o) {
    std::string head;
    for (const std::string& n : o.names) head += (head.empty() ? "" : ", ") + n;
    return o.value.empty() ? head : head + " " + o.value;
}

std::string usage_of(const CommandHelp& c) {
    std::string text = "saltus " + c.name;
    for (const OptionHelp& o : c.options)
        if (o.positional) text += o.required ? " " + o.value : " [" + o.value + "]";
    return text + " [options]";
}

}  // namespace

std::string help_text(const CommandHelp& c) {
    std::string text = usage_of(c) + "\n  " + wrapped(c.text, 2, 2) + "\n\n";
    std::size_t left = 0;
    for (const OptionHelp& o : c.options)
        if (!o.common && !o.of_many_runs && !o.positional) left = std::max(left, head_of(o).size());
    left = std::min<std::size_t>(left + 4, 26);
    for (const OptionHelp& o : c.options) {
        if (o.common || o.of_many_runs) continue;
        const std::string head = o.positional ? o.value : head_of(o);
        text += "  " + head;
        if (head.size() + 4 > left)
            text += "\n" + std::string(left, ' ');
        else
            text += std::string(left - 2 - head.size(), ' ');
        text += wrapped(o.text, left, left) + "\n";
    }
    std::string common, many;
    for (const OptionHelp& o : c.options) {
        if (o.common && !o.positional) common += (common.empty() ? "" : ", ") + head_of(o);
        if (o.of_many_runs) many += (many.empty() ? "" : ", ") + head_of(o);
    }
    if (!common.empty() || !many.empty()) text += "\n";
    if (!many.empty()) text += wrapped("Many runs (docs/ensemble.md): " + many, 0, 8) + "\n";
    if (!common.empty()) text += "Common: " + wrapped(common, 8, 8) + "\n";
    return text + "\n" + wrapped(c.example, 0, 10) + "\n";
}

std::string help_text(const CommandLine& line) {
    std::string text =
        line.text + "\n\nsaltus COMMAND MODEL [options]        saltus COMMAND --help        man saltus\n\n";
    std::size_t left = 0;
    for (const CommandHelp& c : line.commands) left = std::max(left, c.name.size());
    for (const CommandHelp& c : line.commands)
        text += "  " + c.name + std::string(left + 2 - c.name.size(), ' ') + wrapped(c.text, left + 4, left + 4) + "\n";
    text +=
        "\nOptions of every command: --set name=value changes a parameter, --out DIR keeps\n"
        "result files, --report writes a page to look at, --json prints one document.\n"
        "Exit codes: 0 done, 2 bad input, 3 numerical failure, 130 interrupted.\n\n";
    return text + line.example + "\n";
}

}  // namespace saltus::cli
