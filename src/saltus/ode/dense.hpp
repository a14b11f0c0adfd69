// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace saltus::ode {

/// One step as a polynomial in time, whichever method made it: a value to copy and to keep. With θ = (t − t_old)/h,
///     x(t) = x_old + θ (x_new − x_old) + θ(1−θ) r_2 + θ²(1−θ) r_3 + θ²(1−θ)² r_4 + …
/// exact to the bit at both ends. Promised on [t_old, t_new]; outside it is extrapolation.
class Dense {
public:
    static constexpr int most_terms = 8;  ///< x_old, x_new, r_2 … r_7: degree 7

    Dense() = default;

    double t_old() const { return t_old_; }
    double t_new() const { return t_new_; }
    int size() const { return n_; }  ///< components
    int terms() const { return terms_; }

    void evaluate(double t, double* x) const { evaluate(t, x, n_); }
    void evaluate(double t, double* x, int first) const;  ///< the first components alone
    void derivative(double t, double* dx) const;
    double component(int i, double t) const;
    double component_derivative(int i, double t) const;

    /// terms × n numbers, one term after the other. `reset` gives room for them; whoever makes a step fills them in.
    void reset(double t_old, double t_new, int n, int terms);
    std::span<double> term(int k);
    std::span<const double> coefficients() const { return coefficients_; }

private:
    double t_old_ = 0.0, t_new_ = 0.0;
    int n_ = 0, terms_ = 0;
    std::vector<double> coefficients_;
};

}  // namespace saltus::ode
