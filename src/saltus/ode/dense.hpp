// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace saltus::ode {

/// One step as a polynomial in time: the dense output of every method. It is a value that can be copied and stored.
/// There are two forms, with θ = (t − t_old)/h:
///     ends:   x(t) = x_old + θ (x_new − x_old) + θ(1−θ) r_2 + θ²(1−θ) r_3 + θ²(1−θ)² r_4 + …
///     series: x(t) = c_0 + c_1 θ + c_2 θ² + …, the Taylor series of the motion at t_old
/// At both ends x is exact to the bit. The accuracy of the method holds on [t_old, t_new]; outside the polynomial
/// extrapolates.
class Dense {
public:
    enum class Form {
        ends,    ///< terms: x_old, x_new, r_2, …
        series,  ///< terms: c_0, …, c_order, x_new
    };
    static constexpr int max_terms = 8;          ///< of the form `ends`: x_old, x_new, r_2 … r_7, degree 7
    static constexpr int max_series_order = 30;  ///< largest degree of the form `series`

    Dense() = default;

    double t_old() const { return t_old_; }
    double t_new() const { return t_new_; }
    Form form() const { return form_; }
    int size() const { return n_; }       ///< number of components of x
    int terms() const { return terms_; }  ///< number of terms, x_old and x_new included

    void evaluate(double t, double* x) const { evaluate(t, x, n_); }
    void evaluate(double t, double* x, int first) const;  ///< evaluates only the first `first` components
    void derivative(double t, double* dx) const;          ///< dx/dt
    double component(int i, double t) const;
    double component_derivative(int i, double t) const;

    /// Starts a new polynomial in the form `ends` with 2 <= terms <= max_terms; the method then fills all terms. t_new
    /// > t_old.
    void reset(double t_old, double t_new, int n, int terms);
    /// Starts a new polynomial in the form `series`, 1 <= order <= max_series_order. The method fills the terms 0 to
    /// `order`, and then calls set_end.
    void reset_series(double t_old, double t_new, int n, int order);
    std::span<double> term(int k);
    /// Lets the polynomial end at x_new. In the form `series` the linear term takes up the difference, which is small.
    void set_end(std::span<const double> x_new);
    /// All terms, one after the other, n numbers each.
    std::span<const double> coefficients() const { return coefficients_; }

private:
    double series_value(int i, double theta) const;
    double series_slope(int i, double theta) const;

    double t_old_ = 0.0, t_new_ = 0.0;
    Form form_ = Form::ends;
    int n_ = 0, terms_ = 0;
    std::vector<double> coefficients_;
};

/// A part of a step.
struct StepPart {
    double from, to;
};

/// The parts of a step, to loop over. The steps of Taylor series are long. Quadratures and searches that visit a few
/// times of each step visit them in each part, which is about as short as a step of the other methods.
class StepParts {
public:
    /// The parts of the step between t_old and min(t_new, until); none if until <= t_old.
    StepParts(const Dense& step, double until);

    class Iterator {
    public:
        Iterator(const StepParts& parts, int number) : parts_(parts), number_(number) {}
        StepPart operator*() const { return {parts_.at(number_), parts_.at(number_ + 1)}; }
        Iterator& operator++() {
            ++number_;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return number_ != other.number_; }

    private:
        const StepParts& parts_;
        int number_;
    };
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, count_}; }

private:
    double at(int k) const { return k == count_ ? to_ : from_ + (to_ - from_) * k / count_; }

    double from_, to_;
    int count_;
};

}  // namespace saltus::ode
