// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace saltus::ode {

/// One step as a polynomial in time: the dense output of every method. It is a value that can be copied and stored.
/// With θ = (t − t_old)/h
///     x(t) = x_old + θ (x_new − x_old) + θ(1−θ) r_2 + θ²(1−θ) r_3 + θ²(1−θ)² r_4 + …
/// At both ends x is exact to the bit. The accuracy of the method holds on [t_old, t_new]; outside the polynomial
/// extrapolates.
class Dense {
public:
    static constexpr int max_terms = 8;  ///< x_old, x_new, r_2 … r_7: degree 7

    Dense() = default;

    double t_old() const { return t_old_; }
    double t_new() const { return t_new_; }
    int size() const { return n_; }       ///< number of components of x
    int terms() const { return terms_; }  ///< number of terms: x_old, x_new, r_2, …

    void evaluate(double t, double* x) const { evaluate(t, x, n_); }
    void evaluate(double t, double* x, int first) const;  ///< evaluates only the first `first` components
    void derivative(double t, double* dx) const;          ///< dx/dt
    double component(int i, double t) const;
    double component_derivative(int i, double t) const;

    /// Starts a new polynomial with 2 <= terms <= max_terms; the method then fills all terms. t_new > t_old.
    void reset(double t_old, double t_new, int n, int terms);
    std::span<double> term(int k);
    /// All terms, one after the other, n numbers each.
    std::span<const double> coefficients() const { return coefficients_; }

private:
    double t_old_ = 0.0, t_new_ = 0.0;
    int n_ = 0, terms_ = 0;
    std::vector<double> coefficients_;
};

}  // namespace saltus::ode
