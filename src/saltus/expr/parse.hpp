// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/expr/graph.hpp"

namespace saltus::expr {

/// The text of an expression with its place in the file it came from.
struct Source {
    std::string text;
    Place place;                           ///< place of the first character
    std::vector<std::pair<int, int>> map;  ///< line and column of each character; empty if the text stands on one line
    /// Names that are numbers in this text, such as the index of a repeated block. They come before those of the scope.
    std::vector<std::pair<std::string, double>> constants{};

    /// The place of the character with this index, for messages.
    Place place_of(std::size_t offset) const;
};

/// What the names in an expression mean.
struct Scope {
    std::function<std::optional<Expr>(std::string_view)> find;  ///< value of `x`, `x'`, `t` or a parameter, if known
    std::function<std::vector<std::string>()> names;            ///< all known names, for "did you mean"
    std::function<std::string(std::string_view)> refusal;       ///< why a known name is not allowed here, or ""
    std::string what = "the expression";                        ///< subject of messages: "the gap gN of 'left'"
};

/// Limits that make hostile input fail with an Error before it exhausts stack or memory.
struct ParseLimits {
    std::size_t characters = 100'000;
    int depth = 200;  ///< deepest nesting of parentheses, signs and powers
};

/// Reads an expression that is a number. Throws Error, with the place of the offending character, for anything that
/// does not follow the grammar. The grammar, loosest binding first:
///     condition = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
///     sum       = product {("+" | "-") product}
///     product   = signed {("*" | "/") signed}
///     signed    = ("-" | "+") signed | power
///     power     = primary ["^" signed]                      (right associative; -x^2 is -(x^2))
///     primary   = number | name | name "'" | function "(" ... ")" | "(" sum ")"
/// A comparison is a condition, not a number. It may only be the first argument of `if(c, a, b)`.
Expr parse(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits = {});
/// Reads a condition: a single comparison.
Expr parse_condition(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits = {});

/// Whether the grammar uses the name itself: functions, `if`, `t`, `pi`. Such a name cannot be given to a parameter.
bool is_reserved(std::string_view name);
bool is_function(std::string_view name);

/// Whether the text is a letter or underscore, followed by letters, digits and underscores.
bool is_name(std::string_view text);

}  // namespace saltus::expr
