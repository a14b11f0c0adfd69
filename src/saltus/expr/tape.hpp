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

/// Several expressions compiled to one flat list of instructions over numbered slots; what they share is computed
/// once. The inputs are of two speeds: parameters, for which `prepare` also computes all that depends on them alone,
/// and variables, which every `evaluate` takes anew. The tape is immutable; all that changes lives in the caller's
/// scratch, so that threads share a tape. Evaluation allocates nothing.
///
/// V is double (one state), Lanes (eight states side by side) or Interval (an enclosure of the range over a box).
class Tape {
public:
    Tape() = default;
    Tape(const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
         std::span<const Expr> variables);

    std::size_t parameter_count() const { return parameters_; }
    std::size_t variable_count() const { return variables_; }
    std::size_t output_count() const { return outputs_.size(); }
    std::size_t instruction_count() const { return main_.size(); }  ///< of one `evaluate`
    std::size_t slot_count() const { return slots_; }               ///< elements of V that the scratch must have

    template <class V>
    void prepare(std::span<const V> parameters, std::span<V> scratch) const;

    template <class V>
    void evaluate(std::span<const V> variables, std::span<V> scratch, std::span<V> out) const;

    /// The place of the variables in the scratch, for those who write them there themselves, and the evaluation of
    /// what was written.
    template <class V>
    std::span<V> variables(std::span<V> scratch) const {
        return scratch.subspan(first_variable_, variables_);
    }
    template <class V>
    void evaluate_in_place(std::span<V> scratch, std::span<V> out) const;

    /// The whole tape as the source of one C++ function without dependencies beyond <math.h>:
    ///     void name(const double* parameters, const double* variables, double* out)
    /// which gives the bits that `evaluate` gives when compiled with -ffp-contract=off -fno-builtin; otherwise
    /// compilers may fold library calls, to 2 units in the last place of each. It compiles for host and device.
    std::string emit_cpp(std::string_view name) const;

private:
    /// Values of Op, and what only a tape has: a sine and a cosine of the same angle, products with a sum.
    enum Code : std::uint8_t { sincos = 64, mul_add, mul_sub, sub_mul };

    struct Instruction {
        std::uint8_t code;
        std::uint32_t to, a, b, c;  // sincos: `c` takes the cosine; powi: `b` is the exponent's bits
    };

    template <class V>
    static void run(std::span<const Instruction> code, V* slot);
    static std::string emit_instruction(const Instruction& i);
    class Compiler;

    std::size_t parameters_ = 0, variables_ = 0, slots_ = 0;
    struct Constant {
        double value, low, high;
    };
    std::vector<Constant> constants_;  // slots [0, constants)
                                       // then parameters, prepared values, variables, temporaries
    std::size_t first_variable_ = 0;
    std::vector<Instruction> prepared_, main_;
    std::vector<std::uint32_t> outputs_;  // slots
};

}  // namespace saltus::expr
