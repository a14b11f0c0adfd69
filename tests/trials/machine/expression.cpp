// SPDX-License-Identifier: Apache-2.0
#include "machine/expression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace trials {

struct Expression::Node {
    Operation operation = Operation::number;
    double number = 0.0;  ///< or value of the parameter
    Symbol symbol;
    int exponent = 0;  ///< of a power
    std::shared_ptr<const Node> left, right;
};

using Operation = Expression::Operation;

Expression::Expression(double value) {
    auto node = std::make_shared<Node>();
    node->number = value;
    node_ = std::move(node);
}

Expression Expression::of(Symbol symbol) {
    auto node = std::make_shared<Node>();
    node->operation = Operation::symbol;
    node->symbol = symbol;
    return Expression(std::shared_ptr<const Node>(std::move(node)));
}

Expression Expression::time() { return of({Symbol::Kind::time, 0}); }
Expression Expression::position(std::size_t index) { return of({Symbol::Kind::position, index}); }
Expression Expression::velocity(std::size_t index) { return of({Symbol::Kind::velocity, index}); }

Expression Expression::parameter(double value) {
    auto node = std::make_shared<Node>();
    node->operation = Operation::symbol;
    node->symbol = {Symbol::Kind::parameter, 0};
    node->number = value;
    return Expression(std::shared_ptr<const Node>(std::move(node)));
}

Expression Expression::make(Operation operation, const Expression& left, const Expression& right, int exponent) {
    auto node = std::make_shared<Node>();
    node->operation = operation;
    node->left = left.node_;
    node->right = right.node_;
    node->exponent = exponent;
    return Expression(std::shared_ptr<const Node>(std::move(node)));
}

bool Expression::is_number() const { return node_->operation == Operation::number; }
bool Expression::is_zero() const { return is_number() && node_->number == 0.0; }

// Sums and products with 0 and 1 are simplified, so that derivatives stay short.

Expression operator+(const Expression& a, const Expression& b) {
    if (a.is_number() && b.is_number()) return a.node_->number + b.node_->number;
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    return Expression::make(Operation::add, a, b);
}

Expression operator-(const Expression& a, const Expression& b) {
    if (a.is_number() && b.is_number()) return a.node_->number - b.node_->number;
    if (b.is_zero()) return a;
    return Expression::make(Operation::subtract, a, b);
}

Expression operator*(const Expression& a, const Expression& b) {
    if (a.is_number() && b.is_number()) return a.node_->number * b.node_->number;
    if (a.is_zero() || b.is_zero()) return 0.0;
    if (a.is_number() && a.node_->number == 1.0) return b;
    if (b.is_number() && b.node_->number == 1.0) return a;
    return Expression::make(Operation::multiply, a, b);
}

Expression operator/(const Expression& a, const Expression& b) {
    if (a.is_zero()) return 0.0;
    if (b.is_number() && b.node_->number == 1.0) return a;
    return Expression::make(Operation::divide, a, b);
}

Expression power(const Expression& a, int exponent) {
    if (exponent == 0) return 1.0;
    if (exponent == 1) return a;
    return Expression::make(Operation::power, a, 0.0, exponent);
}

Expression sine(const Expression& a) { return Expression::make(Operation::sine, a, 0.0); }
Expression cosine(const Expression& a) { return Expression::make(Operation::cosine, a, 0.0); }
Expression exponential(const Expression& a) { return Expression::make(Operation::exponential, a, 0.0); }
Expression square_root(const Expression& a) { return Expression::make(Operation::square_root, a, 0.0); }
Expression absolute(const Expression& a) { return Expression::make(Operation::absolute, a, 0.0); }

namespace {

double symbol_value(const Expression::Node& node, const Point& at) {
    const Symbol& symbol = node.symbol;
    switch (symbol.kind) {
        case Symbol::Kind::time: return at.t;
        case Symbol::Kind::position: return at.q[symbol.index];
        case Symbol::Kind::velocity: return at.u[symbol.index];
        case Symbol::Kind::parameter: return node.number;
    }
    std::abort();
}

/// a^n by repeated multiplication; exponents of random models are small.
double whole_power(double a, int exponent) {
    double result = 1.0;
    for (int i = 0; i < std::abs(exponent); ++i) result *= a;
    return exponent < 0 ? 1.0 / result : result;
}

/// Values of nodes, without shared pointers: their counters are slow if several threads judge at once.
double value_of(const Expression::Node& node, const Point& at) {
    switch (node.operation) {
        case Operation::number: return node.number;
        case Operation::symbol: return symbol_value(node, at);
        case Operation::add: return value_of(*node.left, at) + value_of(*node.right, at);
        case Operation::subtract: return value_of(*node.left, at) - value_of(*node.right, at);
        case Operation::multiply: return value_of(*node.left, at) * value_of(*node.right, at);
        case Operation::divide: return value_of(*node.left, at) / value_of(*node.right, at);
        case Operation::power: return whole_power(value_of(*node.left, at), node.exponent);
        case Operation::sine: return std::sin(value_of(*node.left, at));
        case Operation::cosine: return std::cos(value_of(*node.left, at));
        case Operation::exponential: return std::exp(value_of(*node.left, at));
        case Operation::square_root: return std::sqrt(value_of(*node.left, at));
        case Operation::absolute: return std::abs(value_of(*node.left, at));
        case Operation::sign: {
            const double value = value_of(*node.left, at);
            return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
        }
    }
    std::abort();
}

}  // namespace

double Expression::value(const Point& at) const { return value_of(*node_, at); }

Expression Expression::derivative(Symbol by) const {
    const Node& node = *node_;
    if (node.operation == Operation::number) return 0.0;
    if (node.operation == Operation::symbol) return node.symbol == by ? 1.0 : 0.0;
    const Expression a(node.left), b(node.right);
    const Expression da = a.derivative(by), db = b.derivative(by);
    switch (node.operation) {
        case Operation::add: return da + db;
        case Operation::subtract: return da - db;
        case Operation::multiply: return da * b + a * db;
        case Operation::divide: return db.is_zero() ? da / b : (da * b - a * db) / power(b, 2);
        case Operation::power: return Expression(node.exponent) * power(a, node.exponent - 1) * da;
        case Operation::sine: return cosine(a) * da;
        case Operation::cosine: return Expression(-1.0) * sine(a) * da;
        case Operation::exponential: return *this * da;
        case Operation::square_root: return da / (Expression(2.0) * *this);
        case Operation::absolute: return make(Operation::sign, a, 0.0) * da;
        case Operation::sign: return 0.0;
        default: std::abort();
    }
}

bool Expression::mentions(Symbol symbol) const {
    if (node_->operation == Operation::symbol) return node_->symbol == symbol;
    for (const auto& child : {node_->left, node_->right})
        if (child && Expression(child).mentions(symbol)) return true;
    return false;
}

std::string Expression::text(std::span<const std::string> names) const {
    const Node& node = *node_;
    if (node.operation == Operation::number)
        return node.number < 0 ? fmt::format("({})", node.number) : fmt::format("{}", node.number);
    if (node.operation == Operation::symbol) {
        if (node.symbol.kind == Symbol::Kind::time) return "t";
        if (node.symbol.kind == Symbol::Kind::parameter) return "p";
        return names[node.symbol.index] + (node.symbol.kind == Symbol::Kind::velocity ? "'" : "");
    }
    const std::string a = Expression(node.left).text(names), b = Expression(node.right).text(names);
    switch (node.operation) {
        case Operation::add: return fmt::format("({} + {})", a, b);
        case Operation::subtract: return fmt::format("({} - {})", a, b);
        case Operation::multiply: return fmt::format("{}*{}", a, b);
        case Operation::divide: return fmt::format("({}/({}))", a, b);
        case Operation::power: return fmt::format("({})^{}", a, node.exponent);
        case Operation::sine: return fmt::format("sin({})", a);
        case Operation::cosine: return fmt::format("cos({})", a);
        case Operation::exponential: return fmt::format("exp({})", a);
        case Operation::square_root: return fmt::format("sqrt({})", a);
        case Operation::absolute: return fmt::format("abs({})", a);
        case Operation::sign: return fmt::format("sign({})", a);
        default: std::abort();
    }
}

Expression Expression::rounded(int digits) const {
    const Node& node = *node_;
    if (node.operation == Operation::number) return std::stod(fmt::format("{:.{}g}", node.number, digits));
    if (node.operation == Operation::symbol) return *this;
    return make(node.operation, Expression(node.left).rounded(digits), Expression(node.right).rounded(digits),
                node.exponent);
}

Expression Expression::with_parameter(double value) const {
    const Node& node = *node_;
    if (node.operation == Operation::number) return *this;
    if (node.operation == Operation::symbol)
        return node.symbol.kind == Symbol::Kind::parameter ? parameter(value) : *this;
    return make(node.operation, Expression(node.left).with_parameter(value),
                Expression(node.right).with_parameter(value), node.exponent);
}

std::vector<Expression> Expression::operands() const {
    const Operation operation = node_->operation;
    if (operation != Operation::add && operation != Operation::subtract && operation != Operation::multiply) return {};
    return {Expression(node_->left), Expression(node_->right)};
}

Expression sum(std::span<const Expression> terms) {
    Expression result;
    for (const Expression& term : terms) result = result + term;
    return result;
}

}  // namespace trials
