// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "saltus/base/text.hpp"

namespace saltus::expr {

Place Source::place_of(std::size_t offset) const {
    Place p = place;
    if (offset < map.size()) {
        p.line = map[offset].first;
        p.column = map[offset].second;
    } else if (!map.empty()) {
        p.line = map.back().first;
        p.column = map.back().second + static_cast<int>(offset - (map.size() - 1));
    } else if (p.line > 0) {
        p.column += static_cast<int>(offset);
    } else {  // a text that is not in a file has one line
        p.column = static_cast<int>(offset) + 1;
        p.line = p.file.empty() ? 1 : 0;
    }
    return p;
}

namespace {

struct Function {
    std::string_view name;
    Op op;
    int arguments;
};

constexpr std::array<Function, 21> functions{{
    {"abs", Op::abs, 1},   {"min", Op::min, 2},   {"max", Op::max, 2},     {"sqrt", Op::sqrt, 1}, {"exp", Op::exp, 1},
    {"log", Op::log, 1},   {"sin", Op::sin, 1},   {"cos", Op::cos, 1},     {"tan", Op::tan, 1},   {"asin", Op::asin, 1},
    {"acos", Op::acos, 1}, {"atan", Op::atan, 1}, {"atan2", Op::atan2, 2}, {"sinh", Op::sinh, 1}, {"cosh", Op::cosh, 1},
    {"tanh", Op::tanh, 1}, {"sign", Op::sign, 1}, {"hypot", Op::hypot, 2}, {"pow", Op::pow, 2},   {"if", Op::select, 3},
    {"", Op::constant, 0},
}};

const Function* find_function(std::string_view name) {
    for (const Function& f : functions)
        if (!name.empty() && f.name == name) return &f;
    return nullptr;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string in_quotes(std::string_view s) { return "'" + std::string(s) + "'"; }

/// A recursive-descent parser: one function for each rule of the grammar in parse.hpp. It builds nodes as it reads.
class Parser {
public:
    Parser(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits)
        : graph_(graph), source_(source), text_(source.text), scope_(scope), limits_(limits) {
        if (text_.size() > limits_.characters)
            fail(0, scope_.what + " has " + std::to_string(text_.size()) + " characters",
                 "at most " + std::to_string(limits_.characters) + " are allowed");
    }

    enum class Expected { number, condition };

    /// Reads the whole text.
    Expr whole(Expected expected) {
        const bool condition = expected == Expected::condition;
        const Expr e = comparison();
        skip_space();
        if (at_ < text_.size()) fail_at_unexpected();
        if (condition && !graph_.is_truth(e))
            fail(0, scope_.what + " is not a condition", "compare two expressions, for example abs(x) < 1");
        if (!condition) demand_number(e, 0);
        return e;
    }

private:
    [[noreturn]] void fail(std::size_t offset, std::string message, std::string remedy = {}) const {
        throw Error(std::move(message), source_.place_of(offset), std::move(remedy));
    }

    [[noreturn]] void fail_at_unexpected() const {
        if (at_ >= text_.size()) {
            if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
                fail(0, scope_.what + " is empty", "write a number or an expression");
            fail(at_, scope_.what + " ends too early", "an operand is missing");
        }
        const char c = text_[at_];
        if (static_cast<unsigned char>(c) >= 0x80) fail_at_foreign();
        if (c == '\'') fail(at_, "a prime (') must follow the name of a coordinate directly");
        if (c == ')') fail(at_, "unexpected ')'", "there is no '(' that it closes, or an operand is missing before it");
        if (c == '=') fail(at_, "unexpected '='", "write == to compare");
        if (c == '*' && at_ > 0 && text_[at_ - 1] == '*') fail(at_, "unexpected '*'", "write ^ for a power");
        if (c == '&' || c == '|' || c == '!')
            fail(at_, "unexpected " + in_quotes(text_.substr(at_, 1)), "nest if(c, a, b) to combine conditions");
        const std::size_t before = at_ > 0 ? text_.find_last_not_of(" \t", at_ - 1) : std::string_view::npos;
        const bool behind_number = before != std::string_view::npos && is_digit(text_[before]);
        if (c == ',' && behind_number && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
            fail(at_, "unexpected ','", "write a decimal point");
        if (is_letter(c) && behind_number && !scope_.find(word_at(at_)))
            fail(at_, "unexpected " + in_quotes(word_at(at_)),
                 "write * for a product; units are not written, and angles are in rad (90 degrees: pi/2)");
        if (is_letter(c) || is_digit(c) || c == '(')
            fail(at_, "unexpected " + in_quotes(word_at(at_)), "write * for a product");
        fail(at_, "unexpected " + in_quotes(text_.substr(at_, 1)),
             "allowed are + - * / ^ ( ) < <= > >= == != numbers, names, functions and the commas between their "
             "arguments");
    }

    /// A character outside ASCII. Common ones (a typographic minus or apostrophe) get a remedy of their own.
    [[noreturn]] void fail_at_foreign() const {
        std::size_t end = at_ + 1;
        while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
        const std::string_view glyph = text_.substr(at_, end - at_);
        std::string remedy = "names and operators are plain ASCII";
        if (glyph == "\u2212" || glyph == "\u2013") remedy = "write - for minus";
        if (glyph == "\u00b7" || glyph == "\u00d7") remedy = "write * for a product";
        if (glyph == "\u2019" || glyph == "\u2032") remedy = "write ' (apostrophe) for a velocity";
        if (glyph == "\u00b2") remedy = "write ^2";
        fail(at_, "unexpected character " + in_quotes(glyph), remedy);
    }

    std::string_view word_at(std::size_t from) const {
        std::size_t end = from;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '\'')) ++end;
        return text_.substr(from, std::max<std::size_t>(end - from, 1));
    }

    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }
    /// Offset of the next operand.
    std::size_t start_here() {
        skip_space();
        return at_;
    }

    bool take(std::string_view token) {
        skip_space();
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }

    void demand_number(Expr e, std::size_t offset) const {
        if (graph_.is_truth(e)) fail(offset, "a comparison is a condition, not a number", "use if(condition, a, b)");
    }

    Expr comparison() {
        const std::size_t start = start_here();
        const Expr a = sum();
        skip_space();
        struct Sign {
            std::string_view text;
            Op op;
            bool swapped;
        };
        static constexpr std::array<Sign, 6> signs{{{"<=", Op::less_equal, false},
                                                    {">=", Op::less_equal, true},
                                                    {"==", Op::equal, false},
                                                    {"!=", Op::not_equal, false},
                                                    {"<", Op::less, false},
                                                    {">", Op::less, true}}};
        for (const Sign& sign : signs) {
            if (!take(sign.text)) continue;
            demand_number(a, start);
            const std::size_t right = start_here();
            const Expr b = sum();
            demand_number(b, right);
            skip_space();
            const std::string_view rest = text_.substr(at_);
            if (rest.starts_with('<') || rest.starts_with('>') || rest.starts_with("==") || rest.starts_with("!="))
                fail(at_, "comparisons cannot be chained", "nest if(c, a, b) to combine conditions");
            return sign.swapped ? graph_.binary(sign.op, b, a) : graph_.binary(sign.op, a, b);
        }
        return a;
    }

    Expr sum() {
        std::size_t start = start_here();
        Expr left = product();
        for (;;) {
            const bool plus = take("+");
            if (!plus && !take("-")) return left;
            demand_number(left, start);
            start = start_here();
            const Expr right = product();
            demand_number(right, start);
            left = plus ? graph_.add(left, right) : graph_.sub(left, right);
        }
    }

    Expr product() {
        std::size_t start = start_here();
        Expr left = signed_power();
        for (;;) {
            const bool times = take("*");
            if (!times && !take("/")) return left;
            skip_space();
            if (times && at_ < text_.size() && text_[at_] == '*') fail_at_unexpected();
            demand_number(left, start);
            start = start_here();
            const Expr right = signed_power();
            demand_number(right, start);
            left = times ? graph_.mul(left, right) : graph_.div(left, right);
        }
    }

    Expr signed_power() {
        const Depth depth(*this);
        const std::size_t start = start_here();
        if (take("-")) {
            const Expr e = signed_power();
            demand_number(e, start);
            return graph_.neg(e);
        }
        if (take("+")) {
            const Expr e = signed_power();
            demand_number(e, start);
            return e;
        }
        const Expr base = primary();
        if (!take("^")) return base;
        demand_number(base, start);
        const std::size_t right = start_here();
        const Expr exponent = signed_power();
        demand_number(exponent, right);
        return graph_.pow(base, exponent);
    }

    Expr primary() {
        skip_space();
        if (at_ >= text_.size()) fail_at_unexpected();
        const char c = text_[at_];
        if (c == '(') {
            const std::size_t open = at_++;
            const Expr e = comparison();
            if (!take(")")) unclosed(open);
            return e;
        }
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
        if (is_letter(c)) return named();
        fail_at_unexpected();
    }

    [[noreturn]] void unclosed(std::size_t open) {
        skip_space();
        if (at_ < text_.size() && text_[at_] != ')') fail_at_unexpected();
        fail(open, "'(' is not closed", "add ')'");
    }

    Expr number() {
        double value = 0.0;
        const char* begin = text_.data() + at_;
        const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
        const std::size_t length = static_cast<std::size_t>(result.ptr - begin);
        if (result.ec == std::errc::result_out_of_range || !std::isfinite(value))
            fail(at_, "the number " + std::string(text_.substr(at_, std::min<std::size_t>(length, 40))) +
                          " is out of range");
        at_ += length;
        return graph_.constant(value);
    }

    Expr named() {
        const std::size_t start = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        // p12.x, a coordinate of a mass point
        if (at_ + 1 < text_.size() && text_[at_] == '.' && is_letter(text_[at_ + 1])) {
            ++at_;
            while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        }
        if (at_ < text_.size() && text_[at_] == '\'') ++at_;
        const std::string_view name = text_.substr(start, at_ - start);

        std::size_t next = at_;
        while (next < text_.size() && is_space(text_[next])) ++next;
        const bool called = next < text_.size() && text_[next] == '(';
        if (const Function* function = find_function(name)) {
            if (!called) fail(start, in_quotes(name) + " is a function", "write " + std::string(name) + "(...)");
            at_ = next + 1;
            return call(*function, start);
        }
        if (name == "pi")
            return graph_.constant(std::numbers::pi,
                                   {std::numbers::pi, next_up(std::numbers::pi)});  // the double is just below pi
        const std::optional<Expr> meaning = scope_.find(name);
        if (called && meaning) fail(next, "unexpected '(' after " + in_quotes(name), "write * for a product");
        if (called) fail(start, "unknown function " + in_quotes(name), did_you_mean(name, function_names()));
        if (!meaning) unknown(name, start);
        return *meaning;
    }

    [[noreturn]] void unknown(std::string_view name, std::size_t start) const {
        if (const std::string why = scope_.refusal ? scope_.refusal(name) : std::string{}; !why.empty())
            fail(start, in_quotes(name) + " is not allowed in " + scope_.what, why);
        std::vector<std::string> known = scope_.names();
        known.emplace_back("pi");
        const std::string guess = nearest(name, known);
        fail(start, "undefined name " + in_quotes(name) + " in " + scope_.what,
             guess.empty() ? "known here are " + listing(known) : "did you mean '" + guess + "'?");
    }

    static std::vector<std::string> function_names() {
        std::vector<std::string> names;
        for (const Function& f : functions)
            if (!f.name.empty()) names.emplace_back(f.name);
        return names;
    }

    Expr call(const Function& function, std::size_t start) {
        std::array<Expr, 3> argument{};
        int count = 0;
        skip_space();
        if (!take(")")) {
            for (;;) {
                skip_space();
                const std::size_t here = at_;
                const Expr e = comparison();
                skip_space();
                if (at_ < text_.size() && text_[at_] == '=') fail_at_unexpected();
                const bool condition = function.op == Op::select && count == 0;
                if (condition && !graph_.is_truth(e))
                    fail(here, "the first argument of if must be a condition",
                         "compare two expressions, for example x > 0");
                if (!condition) demand_number(e, here);
                if (count < 3) argument[static_cast<std::size_t>(count)] = e;
                ++count;
                if (take(",")) continue;
                if (take(")")) break;
                skip_space();
                if (at_ >= text_.size())
                    fail(start, in_quotes(std::string(function.name) + "(") + " is not closed", "add ')'");
                fail_at_unexpected();
            }
        }
        if (count != function.arguments)
            fail(start, std::string(function.name) + " takes " +
                            counted(static_cast<std::size_t>(function.arguments), "argument") + ", not " +
                            std::to_string(count));
        if (function.arguments == 1) return graph_.unary(function.op, argument[0]);
        if (function.arguments == 2) return graph_.binary(function.op, argument[0], argument[1]);
        return graph_.select(argument[0], argument[1], argument[2]);
    }

    // Counts the nesting. Every recursion passes through signed_power, so this bounds the stack.
    struct Depth {
        explicit Depth(Parser& p) : parser(p) {
            if (++parser.depth_ > parser.limits_.depth)
                parser.fail(parser.at_, parser.scope_.what + " is nested too deeply",
                            "at most " + std::to_string(parser.limits_.depth) + " levels are allowed");
        }
        ~Depth() { --parser.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        Parser& parser;
    };

    Graph& graph_;
    const Source& source_;
    std::string_view text_;
    const Scope& scope_;
    ParseLimits limits_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

namespace {

/// Parses the text with the names that the source itself defines, which come before those of the scope.
Expr parse_as(Parser::Expected expected, Graph& graph, const Source& source, const Scope& scope,
              const ParseLimits& limits) {
    if (source.constants.empty()) return Parser(graph, source, scope, limits).whole(expected);
    Scope enlarged = scope;
    enlarged.find = [&](std::string_view name) -> std::optional<Expr> {
        for (const auto& [constant, value] : source.constants)
            if (constant == name) return graph.constant(value);
        return scope.find(name);
    };
    return Parser(graph, source, enlarged, limits).whole(expected);
}

}  // namespace

Expr parse(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits) {
    return parse_as(Parser::Expected::number, graph, source, scope, limits);
}

Expr parse_condition(Graph& graph, const Source& source, const Scope& scope, const ParseLimits& limits) {
    return parse_as(Parser::Expected::condition, graph, source, scope, limits);
}

bool is_function(std::string_view name) { return find_function(name) != nullptr; }

bool is_reserved(std::string_view name) { return name == "t" || name == "pi" || is_function(name); }

bool is_name(std::string_view text) {
    if (text.empty() || !is_letter(text[0])) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace saltus::expr
