// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/ode/function_ref.hpp"

namespace saltus::integrate {

/// Bounds of gaps, velocities and formulas over parts of a step, for methods that look at a few times of each step only
/// (implicit and explicit steps). On a step the state is a polynomial of time. On a part of the step each coordinate
/// lies in an interval, and interval arithmetic bounds every formula of the model there. The part is halved until the
/// bounds decide, or until the evaluations of the step are used up. What stays open is left to the samples.
///
/// It answers two questions:
/// - Is there a time at which a watched quantity is negative although it is positive at all samples? (first_dip)
/// - Does a formula change on the step in a way that the method cannot have seen? (resolved_part)
///
/// It exists for systems that are given by formulas. Nothing is remembered from one step to the next.
class StepEnclosure {
public:
    /// A method is supposed to have seen the formulas at this number of equidistant times of a step, both ends
    /// included.
    static constexpr int samples_of_a_step = 9;

    explicit StepEnclosure(const model::Mechanics& model);

    /// Whether the system is given by formulas. The other functions need that.
    bool available() const { return available_; }

    /// Takes up a step. Its state is (q, u, …). The step must outlive the questions about it.
    void begin(const ode::Dense& step);

    /// A quantity that is positive as long as the mode holds.
    struct Quantity {
        enum class What {
            position,     ///< gap of a row
            velocity,     ///< relative velocity of a row without a position
            coefficient,  ///< a coefficient of the model
        };
        What what;
        int number;           ///< of the row, or of the coefficient
        double sign;          ///< the quantity is sign · value
        double noise;         ///< the quantity is negative only below −noise; >= 0
        bool starts_at_zero;  ///< it is near zero at the start of the step, where bounds cannot decide
    };
    /// A time at which a quantity is negative.
    struct Dip {
        int quantity;  ///< number in the list
        double after;  ///< a time before it, at which a part of the step begins that the bounds did not exclude
        double at;     ///< the time, in s
    };
    /// The first dip of any quantity on the step before the time `until`, as far as bounds find it. `value(k, t)` is
    /// the quantity k at a time of the step.
    std::optional<Dip> first_dip(std::span<const Quantity> quantities, double until,
                                 ode::FunctionRef<double(std::size_t k, double t)> value);

    /// Up to which part of the step, in (0, 1], its method can have seen all formulas: 1 if nothing is known against
    /// the step. A shorter step is needed if
    /// - a function such as exp or a quotient leaves the range of its values at nine times of the step by more than
    ///   half of that range: a narrow bump between the samples;
    /// - two quantities that `if`, `abs`, `min`, `max`, `sign` or comparisons depend on pass through zero on the step,
    ///   or one of them twice: a pulse between the samples. One such zero cannot be missed, because the methods look at
    ///   the end of the step.
    double resolved_part();

    /// Number of quantities that `if`, `abs`, `min`, `max`, `sign` and comparisons depend on.
    int switch_count() const { return static_cast<int>(first_bump_ - first_switch_); }
    /// Whether one of them has different signs at two states (q, u, …).
    bool switches_between(double t_a, const double* a, double t_b, const double* b);

private:
    /// A part of the step in units of its length, 0 <= from < to <= 1.
    struct Part {
        double from, to;
        double middle() const { return 0.5 * (from + to); }
    };
    enum class Rates { no, yes };
    void enclose(const Part& part, Rates rates);
    void sample(double theta);
    void sample_at(double t, const double* state);
    expr::Interval bounds(const Quantity& q) const;
    bool monotone(const Quantity& q) const;
    bool takes_another();
    double time(double theta) const;
    double unseen_bump();
    double second_switch();

    bool available_ = false;
    std::size_t n_ = 0;                                                      // coordinates
    int constraints_ = 0, gaps_ = 0, slips_ = 0;                             // rows
    std::size_t first_coefficient_ = 0, first_switch_ = 0, first_bump_ = 0;  // places among the outputs of formulas_
    expr::Tape formulas_;  // gaps, velocities of the other rows, coefficients, switching functions, possible bumps
    expr::Tape rates_;     // dg/dt of the gaps
    std::vector<expr::Interval> scratch_, rate_scratch_, box_, rate_box_, values_, rate_values_;
    std::vector<double> sample_scratch_, sample_variables_, sample_values_;
    const ode::Dense* step_ = nullptr;
    std::vector<double> polynomials_;  // q and u as Σ c_k θ^k, `terms_` numbers each
    std::vector<double> size_;         // Σ|c_k| of each
    int terms_ = 0;
    int evaluations_ = 0;  // of bounds, since the step or the question began
};

}  // namespace saltus::integrate
