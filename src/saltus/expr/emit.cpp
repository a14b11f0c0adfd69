// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "saltus/base/plain_text.hpp"
#include "saltus/expr/detail/operation_text.hpp"
#include "saltus/expr/tape.hpp"

namespace saltus::expr {

namespace {

std::string slot_name(std::size_t k) { return "s" + std::to_string(k); }

/// A literal that reads back with all its bits.
std::string literal(double x) {
    if (std::isnan(x)) return "NAN";
    if (std::isinf(x)) return x > 0 ? "INFINITY" : "-INFINITY";
    return hexadecimal_text(x);
}

/// The multiplications of power(), in its order.
std::string power_text(const std::string& to, const std::string& base, int n) {
    const bool inverse = n < 0;
    unsigned left = inverse ? 0U - static_cast<unsigned>(n) : static_cast<unsigned>(n);
    std::string text = "{ double p = 1.0, b = " + base + ";";
    bool started = false;
    while (left != 0) {
        if ((left & 1U) != 0) {
            text += started ? " p = p * b;" : " p = b;";
            started = true;
        }
        left >>= 1U;
        if (left != 0) text += " b = b * b;";
    }
    return text + " " + to + " = " + (inverse ? "1.0 / p" : "p") + "; }";
}

}  // namespace

std::string operation_text(Op op, const std::string& to, const std::string& a, const std::string& b,
                           const std::string& c, int number) {
    const auto infix = [&](const char* sign) { return to + " = " + a + " " + sign + " " + b + ";"; };
    const auto truth = [&](const char* sign) { return to + " = " + a + " " + sign + " " + b + " ? 1.0 : 0.0;"; };
    switch (op) {
        case Op::add: return infix("+");
        case Op::sub: return infix("-");
        case Op::mul: return infix("*");
        case Op::div: return infix("/");
        case Op::neg: return to + " = -" + a + ";";
        case Op::powi: return power_text(to, a, number);
        case Op::atan2: return to + " = atan2(" + a + " + 0.0, " + b + " + 0.0);";
        case Op::abs: return to + " = fabs(" + a + ");";
        case Op::sign: return to + " = " + a + " > 0.0 ? 1.0 : (" + a + " < 0.0 ? -1.0 : " + a + ");";
        case Op::min: return to + " = " + b + " < " + a + " ? " + b + " : " + a + ";";
        case Op::max: return to + " = " + a + " < " + b + " ? " + b + " : " + a + ";";
        case Op::less: return truth("<");
        case Op::less_equal: return truth("<=");
        case Op::equal: return truth("==");
        case Op::not_equal: return truth("!=");
        case Op::select: return to + " = " + a + " != 0.0 ? " + b + " : " + c + ";";
        default: break;
    }
    const std::string name(op_name(op) == "^" ? "pow" : op_name(op));
    return to + " = " + name + "(" + a + (operand_count(op) == 2 ? ", " + b : "") + ");";
}

std::string Tape::emit_instruction(const Instruction& i) {
    const std::string to = slot_name(i.to), a = slot_name(i.a), b = slot_name(i.b), c = slot_name(i.c);
    switch (i.code) {
        case sincos: return "{ const double x = " + a + "; " + to + " = sin(x); " + c + " = cos(x); }";
        case mul_add: return to + " = " + a + " * " + b + " + " + c + ";";
        case mul_sub: return to + " = " + a + " * " + b + " - " + c + ";";
        case sub_mul: return to + " = " + c + " - " + a + " * " + b + ";";
        default: return operation_text(static_cast<Op>(i.code), to, a, b, c, static_cast<int>(i.b));
    }
}

std::string Tape::emit_cpp(std::string_view name) const {
    std::string text =
        "// Generated from a Saltus model. For the tape's own bits compile with -ffp-contract=off -fno-builtin.\n"
        "#include <math.h>\n\n"
        "#ifdef __CUDACC__\n__host__ __device__\n#endif\n"
        "void " +
        std::string(name) +
        "(const double* parameters, const double* variables, double* out) {\n"
        "    (void)parameters; (void)variables; (void)out;\n";
    std::size_t slot = 0;
    for (const Constant& c : constants_)
        text += "    const double " + slot_name(slot++) + " = " + literal(c.value) + ";\n";
    for (std::size_t k = 0; k < parameters_; ++k)
        text += "    const double " + slot_name(slot++) + " = parameters[" + std::to_string(k) + "];\n";
    for (; slot < first_variable_; ++slot) text += "    double " + slot_name(slot) + ";\n";
    for (std::size_t k = 0; k < variables_; ++k)
        text += "    const double " + slot_name(slot++) + " = variables[" + std::to_string(k) + "];\n";
    for (; slot < slots_; ++slot) text += "    double " + slot_name(slot) + ";\n";
    for (const auto* code : {&prepared_, &main_})
        for (const Instruction& i : *code) text += "    " + emit_instruction(i) + "\n";
    for (std::size_t k = 0; k < outputs_.size(); ++k)
        text += "    out[" + std::to_string(k) + "] = " + slot_name(outputs_[k]) + ";\n";
    for (std::size_t k = 0; k < slots_; ++k) text += "    (void)" + slot_name(k) + ";\n";
    return text + "}\n";
}

}  // namespace saltus::expr
