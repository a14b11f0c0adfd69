// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/command_line.hpp"

namespace saltus::cli {

namespace {

bool has_choices(const OptionHelp& o) { return o.value.find('|') != std::string::npos; }

std::string choices(const OptionHelp& o) {
    std::string text = o.value;
    std::replace(text.begin(), text.end(), '|', ' ');
    return text;
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
        text.replace(at, old.size(), by);
    return text;
}

/// Escapes a text for single quotes of a shell.
std::string shell_quoted(const std::string& text) { return replaced(text, "'", "'\\''"); }

/// Escapes a text for roff: a line must not begin with a dot, and a hyphen is written as a minus.
std::string roff(const std::string& text) {
    std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
    return out;
}

}  // namespace

std::string bash_completion(const CommandLine& line) {
    std::string names;
    for (const CommandHelp& c : line.commands) names += (names.empty() ? "" : " ") + c.name;
    std::string text =
        "# bash completion of saltus, written by: saltus completion bash\n"
        "_saltus() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= choices=\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"" +
        names +
        " --help --version\" -- \"$current\"))\n"
        "        return\n"
        "    fi\n"
        "    case ${COMP_WORDS[1]} in\n";
    for (const CommandHelp& c : line.commands) {
        std::string words;
        for (const OptionHelp& o : c.options)
            for (const std::string& n : o.names)
                if (!o.positional) words += n + " ";
        text += "        " + c.name + ")\n            words=\"" + words + "--help\"\n            case $before in\n";
        for (const OptionHelp& o : c.options) {
            if (!o.positional && has_choices(o))
                text += "                " + o.names.back() + ") choices=\"" + choices(o) + "\" ;;\n";
            if (o.positional && has_choices(o))
                text += "                " + c.name + ") choices=\"" + choices(o) + "\" ;;\n";
        }
        text += "            esac ;;\n";
    }
    return text +
           "    esac\n"
           "    if [ -n \"$choices\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
           "    elif [[ $current == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "    else\n"
           "        compopt -o filenames 2>/dev/null\n"
           "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
           "    fi\n"
           "}\n"
           "complete -F _saltus saltus\n";
}

std::string zsh_completion(const CommandLine& line) {
    const auto description = [](const std::string& text) {
        return shell_quoted(replaced(replaced(replaced(text, "[", "("), "]", ")"), ":", "\\:"));
    };
    std::string text =
        "#compdef saltus\n# zsh completion of saltus, written by: saltus completion zsh\n_saltus() {\n"
        "    local -a commands\n    commands=(\n";
    for (const CommandHelp& c : line.commands) text += "        '" + c.name + ":" + description(c.text) + "'\n";
    text +=
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
        "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n";
    for (const CommandHelp& c : line.commands) {
        text += "        " + c.name + ")\n            _arguments";
        for (const OptionHelp& o : c.options) {
            const std::string action = has_choices(o) ? "(" + choices(o) + ")" : "_files";
            if (o.positional) {
                text += " \\\n                '*:" + description(o.names[0]) + ":" + action + "'";
                continue;
            }
            for (const std::string& n : o.names)
                text += " \\\n                '" + std::string(o.repeatable ? "*" : "") + n + "[" +
                        description(o.text) + "]" +
                        (o.value.empty() ? "" : ":" + description(has_choices(o) ? "value" : o.value) + ":" + action) +
                        "'";
        }
        text += " ;;\n";
    }
    return text + "    esac\n}\n_saltus \"$@\"\n";
}

std::string manual_page(const CommandLine& line) {
    std::string text = ".TH SALTUS 1 \"\" \"" + roff(line.version) +
                       "\" \"User commands\"\n.SH NAME\nsaltus \\- a workbench for nonsmooth mechanics\n"
                       ".SH SYNOPSIS\n.B saltus\n.I COMMAND MODEL\n[options]\n.SH DESCRIPTION\n" +
                       roff(line.text) +
                       "\nA model is a TOML file that reads like a paper: coordinates, energies, gaps, friction and "
                       "impact laws. Each command asks one question of it.\n.SH COMMON OPTIONS\n"
                       "Of every command that takes a model.\n";
    const auto option = [](const OptionHelp& o) {
        std::string head;
        for (const std::string& n : o.names) head += (head.empty() ? "\\fB" : ", \\fB") + roff(n) + "\\fR";
        if (!o.value.empty()) head += " \\fI" + roff(o.value) + "\\fR";
        return ".TP\n" + head + "\n" + roff(o.text) + "\n";
    };
    if (!line.commands.empty())
        for (const OptionHelp& o : line.commands[0].options)
            if (o.common && !o.positional) text += option(o);
    text += ".SH COMMANDS\n";
    for (const CommandHelp& c : line.commands) {
        text += ".SS \"saltus " + c.name;
        for (const OptionHelp& o : c.options)
            if (o.positional) text += " " + roff(o.value);
        text += "\"\n" + roff(c.text) + ".\n";
        for (const OptionHelp& o : c.options)
            if (!o.common && !o.positional) text += option(o);
        if (!c.example.empty()) text += ".PP\n" + roff(c.example) + "\n";
    }
    return text +
           ".SH EXIT STATUS\n.TP\n0\nDone, whatever the verdict says.\n.TP\n2\nBad input: the message names place and "
           "remedy; nothing was written.\n.TP\n3\nNumerical failure; what was computed is "
           "kept.\n.TP\n130\nInterrupted; "
           "what was computed is kept.\n.SH SEE ALSO\nThe documentation in docs/, and the pages that\n.B saltus "
           "gallery\nwrites.\n";
}

}  // namespace saltus::cli
