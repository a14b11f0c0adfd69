// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "saltus/expr/graph.hpp"
#include "saltus/expr/interval/interval.hpp"

namespace saltus::expr {

template <class V>
class SeriesWorkspace;
class SeriesRemainders;

/// What is known when during an expansion, so that some instructions need not be evaluated order by order. An
/// instruction that is evaluated for many orders at once costs about a third.
struct SeriesStages {
    /// Variables before this index are given: all their coefficients are known before the expansion. Instructions that
    /// depend on given variables alone are evaluated by SeriesWorkspace::evaluate_given. No variable is given by
    /// default.
    int given = 0;
    /// Per output, or empty: 1 if its coefficients above order 0 are wanted after the expansion only. What such
    /// outputs and switching functions alone need is evaluated by SeriesWorkspace::evaluate_later.
    std::vector<char> later;
};

/// Several expressions compiled for evaluation on truncated power series in the time offset τ = t − t0.
///
/// Parameters are numbers. Variables are series; one of them is the time itself, whose series is t0 + τ. The evaluation
/// goes order by order: if the coefficients of order <= k of all variables are known, then one pass over the
/// instructions gives the coefficients of order k of all outputs. A Taylor stepper for x' = f(t, x) writes
/// x_(k+1) = f_k/(k+1) after each pass.
///
/// Each series has a bound of its polynomial degree that is known at compile time: 0 for values that do not change
/// with τ, 1 for the time, the maximum for sums, the sum for products, otherwise unlimited. Recurrences stop at that
/// degree. So sin(2*t) and t*x cost a fixed number of operations per order.
///
/// Piecewise operations (abs, sign, min, max, comparisons) keep one branch during the whole expansion. Each of them is
/// a switch: it has a switching function s, which is itself a series, and a side, which is the sign of s. It is not a
/// switch if its operands do not change with τ. Switching functions: the argument for abs and sign, a − b for
/// min(a, b), max(a, b), a == b and a != b, and b − a for a < b and a <= b. The condition of an `if` that is not a
/// comparison but a series x stands for x != 0.
///
/// The angle atan2(y, x) jumps by 2π where it crosses the negative x axis. It is a switch with the switching function
/// y: for x < 0 the angle is positive on the side +1 and negative on the side −1.
///
/// A tape is immutable, so threads can share it. All values live in a SeriesWorkspace.
class SeriesTape {
public:
    /// Degree of a series that is not known to be a polynomial.
    static constexpr int unlimited = std::numeric_limits<int>::max();

    SeriesTape() = default;
    /// `parameters` and `variables` are symbols of the graph, in the order in which their values will be passed. Every
    /// symbol that the outputs contain must be among them. `time` must be one of the variables.
    SeriesTape(const Graph& graph, std::span<const Expr> outputs, std::span<const Expr> parameters,
               std::span<const Expr> variables, Expr time, const SeriesStages& stages = {});

    int parameter_count() const { return static_cast<int>(parameters_.size()); }
    int variable_count() const { return static_cast<int>(variables_.size()); }
    int output_count() const { return static_cast<int>(outputs_.size()); }
    int switch_count() const { return static_cast<int>(switches_.size()); }
    int slot_count() const { return static_cast<int>(slots_.size()); }
    int time_index() const { return time_; }  ///< index of the time among the variables
    /// Number of instructions that a high order costs: those whose results have unlimited degree.
    int instruction_count() const { return static_cast<int>(given_.size() + unlimited_.size() + later_.size()); }

    int output_degree(int i) const { return slots_[outputs_[static_cast<std::size_t>(i)]].degree; }
    int switch_degree(int i) const { return slots_[switches_[static_cast<std::size_t>(i)].function].degree; }
    /// Whether a change of the side may make a value discontinuous (sign, comparisons, angles). Otherwise only
    /// derivatives may jump (abs, min, max).
    bool switch_jumps(int i) const { return switches_[static_cast<std::size_t>(i)].jumps; }

private:
    template <class V>
    friend class SeriesWorkspace;
    friend class SeriesText;  // series_statements.cpp
    friend class SeriesRemainders;
    class Compiler;

    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr int no_switch = -1;
    /// An exponent of `pow` that turns out to be an integer from 0 to this number is evaluated by products, so that the
    /// base may start at 0.
    static constexpr int highest_product_power = 8;

    /// What an instruction computes. `to` and `to2` are results, `a`, `b` and `c` operands. "Scalar" means a value that
    /// does not change with τ. The suffix _poly marks the variant of a recurrence whose loop stops at the finite degree
    /// `limit` of one operand.
    enum class Code : std::uint8_t {
        // Results are scalars.
        value,    ///< apply(op, a, b, c, number) on scalars
        compare,  ///< sign or a comparison `op`; a: its switching function; number: index of the switch
        // Results are series.
        row,          ///< the scalar a as a series of degree 0
        add,          ///< a + b
        sub,          ///< a − b
        neg,          ///< −a
        add_scalar,   ///< a + b, b scalar
        sub_scalar,   ///< a − b, b scalar
        scalar_sub,   ///< b − a, b scalar
        scale,        ///< a*b, b scalar
        scale_add,    ///< a*b + c, b scalar
        scale_sub,    ///< a*b − c, b scalar
        sub_scale,    ///< c − a*b, b scalar
        mul,          ///< a*b
        mul_add,      ///< a*b + c
        mul_sub,      ///< a*b − c
        sub_mul,      ///< c − a*b
        square,       ///< a*a
        mul_poly,     ///< a*b; limit: degree of a
        div,          ///< a/b; aux: 1/b_0
        div_poly,     ///< the same; limit: degree of b
        sqrt,         ///< √a; aux: 1/(2√a_0)
        hypot,        ///< √(a² + b²); c: a² + b²; aux: 1/(2√c_0)
        exp,          ///< exp(a)
        exp_poly,     ///< the same; limit: degree of a
        pow_varying,  ///< b^c = exp(a) with a = c*log(b)
        sincos,       ///< to: sin(a), to2: cos(a)
        sincos_poly,
        sinhcosh,  ///< to: sinh(a), to2: cosh(a)
        sinhcosh_poly,
        tan,  ///< to: tan(a), to2: 1 + tan²(a)
        tan_poly,
        tanh,  ///< to: tanh(a), to2: 1 − tanh²(a)
        tanh_poly,
        integral,       ///< log, asin, acos or atan (`op`): to' = ±a'/b; aux: 1/b_0
        integral_poly,  ///< the same; limit: degree of b
        atan2,          ///< atan2(a, b); c: a² + b²; aux: 1/c_0; number: index of the switch, or no_switch
        pow,            ///< a^b, b scalar; aux: 1/a_0; to2: first of the rows for products; number: index of the power
        pow_poly,       ///< the same; limit: degree of a
        abs,            ///< ±a; aux: the sign; number: index of the switch
        extremum,  ///< min or max (`op`) of a and b; c: a − b; number: index of the switch; aux: index of the choice
        choose,    ///< if a != 0 then b else c, a scalar; aux: index of the choice
        stop,      ///< end of a list of instructions
    };

    /// All operands and results are slots.
    struct Instruction {
        Code code = Code::value;
        Op op = Op::constant;
        std::uint8_t limit = 0;
        std::uint32_t to = none, to2 = none, a = none, b = none, c = none, aux = none;
        int number = 0;
    };

    struct Slot {
        int degree = 0;
        bool prepared = false;          ///< depends on parameters alone
        bool is_row = false;            ///< has coefficients; otherwise it is one number
        bool weighted = false;          ///< needs a copy with j times the coefficient of each order j
        std::uint8_t rows_for_pow = 0;  ///< number of extra rows behind the first
    };

    struct Constant {
        std::uint32_t slot;
        double value, low, high;
    };

    struct Switch {
        std::uint32_t function;
        Op op;
        bool jumps;
    };

    std::vector<Slot> slots_;
    std::vector<Constant> constants_;
    std::vector<Instruction> prepared_;       // scalars that depend on parameters alone
    std::vector<Instruction> values_;         // everything else, in an order of evaluation; executed for order 0
    std::vector<Instruction> polynomials_;    // results of finite degree >= 1, by increasing degree
    std::vector<Instruction> unlimited_;      // results of unlimited degree, grouped by code as far as possible
    std::vector<Instruction> given_, later_;  // other results of unlimited degree: see SeriesStages
    int given_variables_ = 0;
    std::vector<std::uint32_t> parameters_, variables_, outputs_;  // slots
    std::vector<Switch> switches_;
    int time_ = 0, choices_ = 0, powers_ = 0, highest_degree_ = 0;
};

/// The coefficients of all slots of a SeriesTape for one expansion. V is double, or Interval for an enclosure of the
/// coefficients for all starting values in a box. The workspace refers to the tape, which must outlive it and stay in
/// its place. After construction only the first calls of `bounds` and `remainders` allocate memory.
///
/// A coefficient that does not exist (square root of 0, division by 0) becomes infinite or NaN, for Interval undefined,
/// and so do all coefficients that depend on it. Nothing throws.
///
///     SeriesWorkspace<double> w(tape, 20);
///     w.prepare(parameters);
///     w.variable(0)[0] = x0;
///     w.begin(t0);
///     for (int k = 0; k < 20; ++k) {
///         w.evaluate_order(k);
///         w.variable(0)[k + 1] = w.output(0)[k] / (k + 1);
///     }
template <class V>
class SeriesWorkspace {
public:
    /// Series have coefficients of order 0 to `max_order`, which must not be negative.
    SeriesWorkspace(const SeriesTape& tape, int max_order);

    int max_order() const { return max_order_; }

    /// Stores the parameters and computes everything that depends on parameters alone. It must be called before the
    /// first expansion and after every change of a parameter.
    void prepare(std::span<const V> parameters);

    /// Coefficients by order, from 0 to max_order. The caller writes those of the variables, except the time.
    V* variable(int i) { return &data_[offset(tape_->variables_[static_cast<std::size_t>(i)])]; }
    /// Coefficients up to the last evaluated order; above the degree of a polynomial they are 0.
    const V* output(int i) const { return &data_[offset(tape_->outputs_[static_cast<std::size_t>(i)])]; }
    const V* switch_function(int i) const {
        return &data_[offset(tape_->switches_[static_cast<std::size_t>(i)].function)];
    }

    /// Bound of the degree of an output: 0 for a value that does not change with τ; max_order if it is unlimited.
    int degree(int i) const { return tape_->output_degree(i) < max_order_ ? tape_->output_degree(i) : max_order_; }

    /// Starts a new expansion at the time t0. Fixed sides stay fixed.
    void begin(V t0);

    /// Computes order k of all slots. The variables must be known up to order k. Orders must be evaluated one after the
    /// other from 0; an order may be evaluated again. With SeriesStages, k >= 1: only of slots that neither
    /// evaluate_given nor evaluate_later computes, and evaluate_given must have computed order k.
    void evaluate_order(int k);

    /// With SeriesStages::given: computes the orders `from` >= 1 to `to` of all slots that depend on given variables
    /// alone. These variables must be known up to the order `to`, and the orders below `from` computed.
    void evaluate_given(int from, int to);
    /// With SeriesStages::later: computes the orders `from` >= 1 to `to` of everything that outputs of later alone
    /// need. Order `to` must have been evaluated, and the orders below `from` computed here.
    void evaluate_later(int from, int to);

    /// The side of a switch, as the last evaluation of order 0 found it: the sign of its switching function s, +1 or
    /// −1. If s_0 = 0 and no side is fixed, then the side is that of the value at s = 0: −1 for a < b and +1 for
    /// a <= b, abs, min and max. For sign, == and != it is then 0, and so sign gives 0 and a == b gives 1.
    /// For intervals it is 0 if the sign is not the same for all numbers; then the result of the operation is
    /// undefined.
    int side(int i) const { return side_[static_cast<std::size_t>(i)]; }
    /// Fixes the side, +1 or −1, from the next evaluation of order 0 on, whatever the sign of s_0. This is needed just
    /// after the motion has crossed s = 0. a == b is then false.
    void set_side(int i, int side);
    void clear_sides();  ///< no side is fixed any more

    /// Bounds on a complex disk. For each output f it gives a radius ρ with |f(τ) − f_0| <= ρ for all complex
    /// |τ| <= R, if |x(τ) − x_0| <= variable_radius for each variable x (for the time the radius is R, whatever is
    /// passed). Switches keep their sides. If f is not proved to be analytic on the disk, then ρ is infinite; it is
    /// never NaN. `switch_radius` receives the same for the switching functions. Order 0 must have been evaluated. The
    /// rounding of the bound itself is covered; rounding errors of the coefficient f_0 are not.
    void bounds(double R, std::span<const double> variable_radius, std::span<double> output_bound,
                std::span<double> switch_radius) requires std::is_same_v<V, double>;

    /// Bounds of what the series leave out on a step. If the variables are exactly the polynomials of the last
    /// evaluated order N, then |f(τ) − Σ_(k<=N) f_k τ^k| <= `output` for each output f and all real 0 <= τ <= h.
    /// Switches keep their sides. Infinite if no bound is found; never NaN. `switches` receives the same for the
    /// switching functions. These bounds are much sharper than those that follow from `bounds`. The rounding of the
    /// bound itself is covered; rounding errors of the coefficients are not. The first call allocates memory. Only
    /// for numbers.
    void remainders(double h, std::span<double> output, std::span<double> switches);

private:
    friend class SeriesRemainders;
    using Code = SeriesTape::Code;
    using Instruction = SeriesTape::Instruction;

    /// An instruction with the places of its slots in `data_` instead of the slots. Compact, because the loop over the
    /// steps is the inner loop of a simulation.
    struct Step {
        Code code;
        bool weighted, weighted2;  // whether `to` and `to2` have weighted copies
        std::uint8_t limit;
        std::uint32_t to, to2, a, b, c, aux;
    };
    struct ValueStep {
        Step step;
        Op op;
        int number;
    };

    /// Everything that depends on the tape and on max_order alone. Copies of a workspace share it.
    struct Program {
        Program(const SeriesTape& tape, int max_order);

        const SeriesTape* tape;
        std::uint32_t stride;               // distance of the rows of one slot
        std::vector<std::uint32_t> offset;  // by slot: place of its number or of its coefficient of order 0
        std::uint32_t undefined_row;        // place of a row of undefined coefficients
        std::uint32_t size;                 // of the coefficients of all slots
        std::vector<ValueStep> prepared, values;
        std::vector<Step> polynomials, unlimited;     // each ends with a step `stop`
        std::vector<Step> given, later;               // see SeriesStages
        std::vector<std::uint32_t> first_polynomial;  // by order k: the first of `polynomials` with degree >= k
        /// Places of the variables that have weighted copies: those that are given, and the others.
        std::vector<std::uint32_t> weighted_given, weighted_variables;
        bool sums = false;  // some instruction sums products of coefficients, and the processor has wide registers
        /// For `remainders`, by slot: places of its term_sizes and term_sums in their memory; none if they are not
        /// needed.
        std::vector<std::uint32_t> size_place, sum_place;
        std::vector<Instruction> varying;  // those of the tape whose results change with τ, in an order of evaluation
        std::vector<std::uint32_t> measured;  // slots that have at least one of the two
        std::uint32_t measured_size = 0;      // of that memory

    private:
        std::uint32_t place(std::uint32_t slot) const { return slot == SeriesTape::none ? 0 : offset[slot]; }
        Step resolve(const Instruction& i) const;
        void plan_remainders();
    };

    void evaluate_values();
    void evaluate_steps(const Step* i, int k);
    void evaluate_rows(std::span<const Step> steps, int from, int to);
    V evaluate_compare(const V& s, Op op, int index);
    V evaluate_angle(const V& y, const V& x, int index);
    int decide(const V& s, Op op, int index);
    void start_power(const ValueStep& v);
    std::uint32_t offset(std::uint32_t slot) const { return program_->offset[slot]; }

    std::shared_ptr<const Program> program_;
    const SeriesTape* tape_;
    int max_order_, next_ = 0;
    std::uint32_t stride_;
    std::vector<V> data_;
    std::vector<std::int8_t> side_, fixed_;  // by switch; fixed_ is 0 if the side is not fixed
    std::vector<std::uint32_t> chosen_;      // by choice: place of the chosen row
    std::vector<std::int8_t> power_;         // by power: exponent if it is a small integer, otherwise −1
    std::vector<double> radius_;             // by slot, for bounds
    /// Memory of `remainders`, empty before its first call.
    struct RemainderMemory {
        std::vector<double> remainder, change;  // by slot; change: Σ_(k>=1) |c_k| h^k
        std::vector<double> measured;           // term_sizes and term_sums
        std::vector<double> power, scratch;     // by order; power: h^k
    } remainder_memory_;
};

template <>
void SeriesWorkspace<double>::remainders(double h, std::span<double> output, std::span<double> switches);

extern template class SeriesWorkspace<double>;
extern template class SeriesWorkspace<Interval>;

}  // namespace saltus::expr
