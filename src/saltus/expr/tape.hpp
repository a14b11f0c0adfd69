// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/expr/graph.hpp"
#include "saltus/expr/interval/interval.hpp"
#include "saltus/expr/lanes.hpp"

namespace saltus::expr {

/// Several expressions compiled to one flat list of instructions over numbered slots. Common subexpressions are
/// computed once. There are two kinds of inputs. Parameters change rarely: `prepare` stores them and computes
/// everything that depends on parameters alone. Variables change with every `evaluate`.
///
/// A tape is immutable. All changing values live in the caller's scratch, so threads can share a tape; each thread
/// needs its own scratch. Evaluation allocates nothing.
///
/// V is the type of the values: double (one state), Lanes (eight states side by side) or Interval (an enclosure of the
/// range over a box).
class Tape {
public:
    Tape() = default;
    /// `parameters` and `variables` are symbols of the graph, in the order in which their values will be passed. Every
    /// symbol that the outputs contain must be among them.
    Tape(const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
         std::span<const Expr> variables);

    std::size_t parameter_count() const { return parameters_; }
    std::size_t variable_count() const { return variables_; }
    std::size_t output_count() const { return outputs_.size(); }
    std::size_t instruction_count() const { return main_.size(); }  ///< instructions of one `evaluate`
    std::size_t slot_count() const { return slots_; }               ///< required size of the scratch

    /// Stores parameter values in the scratch. It must be called before the first `evaluate` with that scratch and
    /// after every change of a parameter.
    template <class V>
    void prepare(std::span<const V> parameters, std::span<V> scratch) const;

    /// Writes the values of the outputs at these variables to `out`.
    template <class V>
    void evaluate(std::span<const V> variables, std::span<V> scratch, std::span<V> out) const;

    /// The part of the scratch that holds the variables. A caller that writes the variables there directly then calls
    /// `evaluate_in_place` and saves a copy.
    template <class V>
    std::span<V> variables(std::span<V> scratch) const {
        return scratch.subspan(first_variable_, variables_);
    }
    template <class V>
    void evaluate_in_place(std::span<V> scratch, std::span<V> out) const;

    /// The whole tape as the source of one C++ function that needs only <math.h>:
    ///     void name(const double* parameters, const double* variables, double* out)
    /// It gives the same bits as `evaluate` if it is compiled with -ffp-contract=off -fno-builtin. Otherwise the
    /// compiler may evaluate library calls itself, which differ by up to 2 units in the last place each. The source
    /// compiles for host and device.
    std::string emit_cpp(std::string_view name) const;

private:
    // Instructions beyond those of Op: sine and cosine of one angle, a*b + c, a*b − c, c − a*b (each product and sum is
    // rounded by itself). They are numbered from 64, beyond every Op.
    enum Code : std::uint8_t { sincos = 64, mul_add, mul_sub, sub_mul };

    // All numbers are slots. sincos writes the sine to `to` and the cosine to `c`. powi keeps the bits of its exponent
    // in `b`.
    struct Instruction {
        std::uint8_t code;  // an Op or a Code
        std::uint32_t to, a, b, c;
    };

    template <class V>
    static void run(std::span<const Instruction> code, V* slot);
    static std::string emit_instruction(const Instruction& i);
    class Compiler;

    std::size_t parameters_ = 0, variables_ = 0, slots_ = 0;
    struct Constant {
        double value, low, high;
    };
    // Order of the slots: constants, parameters, values prepared from parameters, variables, temporaries.
    std::vector<Constant> constants_;
    std::size_t first_variable_ = 0;
    std::vector<Instruction> prepared_, main_;  // executed by `prepare` and by `evaluate`
    std::vector<std::uint32_t> outputs_;        // slots of the results
};

}  // namespace saltus::expr
