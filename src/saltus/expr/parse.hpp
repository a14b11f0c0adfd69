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

/// A text with its place in the file it came from. `place_of(offset)` gives line and column of a character.
struct Source {
    std::string text;
    Place place;                           ///< of the first character
    std::vector<std::pair<int, int>> map;  ///< line and column of each character where it is not simply the next column

    Place place_of(std::size_t offset) const;
};

/// What the names in an expression mean.
struct Scope {
    std::function<std::optional<Expr>(std::string_view)> find;  ///< `x`, `x'`, `t`, a parameter; nothing if unknown
    std::function<std::vector<std::string>()> names;            ///< for "did you mean"
    std::function<std::string(std::string_view)> refusal;       ///< why a name that exists may not stand here, or ""
    std::string what = "the expression";                        ///< named in messages: "the gap gN of 'left'"
};

/// Hostile input ends with an error before it ends the stack or the memory.
struct ParseLimits {
    std::size_t characters = 100'000;
    int depth = 200;
};

/// The grammar, loosest binding first:
///     condition = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
///     sum       = product {("+" | "-") product}
///     product   = signed {("*" | "/") signed}
///     signed    = ("-" | "+") signed | power
///     power     = primary ["^" signed]                      (right associative; -x^2 is -(x^2))
///     primary   = number | name | name "'" | function "(" ... ")" | "(" sum ")"
/// A comparison is a condition: it may stand alone where a condition is asked for, or first in `if(c, a, b)`.
Expr parse(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits = {});
Expr parse_condition(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits = {});

/// Names that the grammar has taken: functions, `if`, `t`, `pi`.
bool is_reserved(std::string_view name);
bool is_function(std::string_view name);

/// A letter or underscore, then letters, digits, underscores.
bool is_name(std::string_view text);

}  // namespace saltus::expr
