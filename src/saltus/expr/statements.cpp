// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/statements.hpp"

#include <charconv>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/plain_text.hpp"

namespace saltus::expr {

std::string exact_literal(double x) {
    if (std::isnan(x)) return "NAN";
    if (std::isinf(x)) return x > 0 ? "INFINITY" : "(-INFINITY)";
    return std::signbit(x) ? "(" + hexadecimal_text(x) + ")" : hexadecimal_text(x);
}

namespace {

constexpr std::string_view indent = "    ";

bool is_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Calls f(begin, end, slot) for each name of a slot, "s12", in a line.
template <class F>
void for_each_slot(std::string_view line, F f) {
    for (std::size_t k = 0; k < line.size();) {
        std::size_t end = k;
        while (end < line.size() && is_word(line[end])) ++end;
        if (end == k) {
            ++k;
            continue;
        }
        std::size_t slot = 0;
        const auto [rest, error] = std::from_chars(line.data() + k + 1, line.data() + end, slot);
        if (line[k] == 's' && error == std::errc() && rest == line.data() + end) f(k, end, slot);
        k = end;
    }
}

}  // namespace

/// `Tape::emit_cpp` writes one statement on a line: first declarations of all slots, then the instructions of `prepare`
/// and of `evaluate`, then the results. Slots in front of the variables have the values that `prepare` gives, unless
/// they depend on parameters that are not fixed.
Statements statements_of(const Tape& tape, std::string_view prefix, std::span<const double> parameters,
                         std::span<const std::string> variables, std::span<const std::string> varied) {
    SALTUS_EXPECT(variables.size() == tape.variable_count());
    std::vector<double> values(tape.slot_count());
    tape.prepare<double>(parameters, values);
    const auto first = static_cast<std::size_t>(tape.variables<double>(values).data() - values.data());
    const std::size_t temporary = first + variables.size();
    std::vector<std::string> name(tape.slot_count());
    for (std::size_t slot = 0; slot < name.size(); ++slot)
        name[slot] = slot < first       ? std::string()
                     : slot < temporary ? variables[slot - first]
                                        : std::string(prefix) + std::to_string(slot - temporary);
    const auto name_of = [&](std::size_t slot) {
        return name[slot].empty() ? exact_literal(values[slot]) : name[slot];
    };
    Statements s;
    for (std::size_t k = temporary; k < tape.slot_count(); ++k) s.text += "double " + name_of(k) + ";\n";
    const std::string whole = tape.emit_cpp("f");
    std::size_t parameter = 0;
    for (std::size_t begin = whole.find("{\n") + 2; begin < whole.size();) {
        const std::size_t end = whole.find('\n', begin);
        std::string_view line(whole.data() + begin, end - begin);
        begin = end + 1;
        if (!line.starts_with(indent)) break;
        line.remove_prefix(indent.size());
        if (line.starts_with("const double ") && line.find(" = parameters[") != std::string_view::npos) {
            for_each_slot(line, [&](std::size_t, std::size_t, std::size_t slot) {
                if (!varied.empty()) name[slot] = varied[parameter];
            });
            ++parameter;
        }
        if (line.starts_with("(void)") || line.starts_with("double ") || line.starts_with("const double ")) continue;
        // An instruction of `prepare` is needed if it reads something that is not fixed. Its results are not fixed
        // then.
        std::size_t largest = 0;
        bool reads_varied = false;
        std::vector<std::size_t> results;
        for_each_slot(line, [&](std::size_t, std::size_t to, std::size_t slot) {
            largest = std::max(largest, slot);
            if (line.substr(to).starts_with(" = "))
                results.push_back(slot);
            else
                reads_varied = reads_varied || (slot < first && !name[slot].empty());
        });
        const bool prepared = largest < first && !line.starts_with("out[");
        if (prepared && !reads_varied) continue;
        for (const std::size_t slot : results) {
            if (!prepared) continue;
            name[slot] = std::string(prefix) + "p" + std::to_string(slot);
            s.text += "double " + name[slot] + ";\n";
        }
        std::string renamed;
        std::size_t copied = 0;
        for_each_slot(line, [&](std::size_t from, std::size_t to, std::size_t slot) {
            renamed += std::string(line.substr(copied, from - copied)) + name_of(slot);
            copied = to;
        });
        renamed += line.substr(copied);
        if (renamed.starts_with("out[")) {
            const std::size_t equals = renamed.find(" = ");
            s.outputs.push_back(renamed.substr(equals + 3, renamed.size() - equals - 4));
        } else {
            s.text += renamed + "\n";
        }
    }
    return s;
}

}  // namespace saltus::expr
