// SPDX-License-Identifier: Apache-2.0
//
// Formulas of random models: they print themselves in the syntax of model files, and they have values and derivatives.
// This code shares nothing with the parser and the tapes of the program that it helps to judge.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trials {

/// Time, positions and velocities at which formulas are evaluated.
struct Point {
    double t = 0.0;
    std::vector<double> q, u;
};

/// A variable of a formula: the time, a position or a velocity; or the parameter of the model, which has a value of its
/// own.
struct Symbol {
    enum class Kind { time, position, velocity, parameter };
    Kind kind = Kind::time;
    std::size_t index = 0;  ///< of the coordinate; 0 for the time and the parameter
    bool operator==(const Symbol&) const = default;
};

class Expression {
public:
    enum class Operation {
        number,
        symbol,
        add,
        subtract,
        multiply,
        divide,
        power,
        sine,
        cosine,
        exponential,
        square_root,
        absolute,
        sign
    };
    struct Node;

    Expression(double value = 0.0);  // NOLINT: numbers are formulas
    static Expression time();
    static Expression position(std::size_t index);
    static Expression velocity(std::size_t index);
    static Expression parameter(double value);

    double value(const Point& at) const;
    Expression derivative(Symbol by) const;
    /// The formula in the syntax of model files; `names` are the names of the coordinates.
    std::string text(std::span<const std::string> names) const;
    bool is_number() const;
    /// Whether the formula is the number 0.
    bool is_zero() const;
    /// Whether the symbol occurs.
    bool mentions(Symbol symbol) const;
    /// The same formula with all its numbers rounded to `digits` significant digits.
    Expression rounded(int digits) const;
    /// The same formula with another value of the parameter.
    Expression with_parameter(double value) const;
    /// The operands of the outermost operation; fewer than two for numbers, symbols and functions.
    std::vector<Expression> operands() const;

    friend Expression operator+(const Expression& a, const Expression& b);
    friend Expression operator-(const Expression& a, const Expression& b);
    friend Expression operator*(const Expression& a, const Expression& b);
    friend Expression operator/(const Expression& a, const Expression& b);
    friend Expression power(const Expression& a, int exponent);
    friend Expression sine(const Expression& a);
    friend Expression cosine(const Expression& a);
    friend Expression exponential(const Expression& a);
    friend Expression square_root(const Expression& a);
    friend Expression absolute(const Expression& a);  ///< |a|, with the derivative sign(a) a'

private:
    explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
    static Expression make(Operation operation, const Expression& left, const Expression& right, int exponent = 0);
    static Expression of(Symbol symbol);

    std::shared_ptr<const Node> node_;
};

/// Sum of formulas; 0 if there are none.
Expression sum(std::span<const Expression> terms);

}  // namespace trials
