// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/model/model.hpp"

namespace saltus::bench {

/// The right-hand side dx = f(t, x) of x = (q, u), written by hand.
template <class Real>
using Rates = void (*)(Real t, const Real* x, Real* dx);

/// A motion without events: the model for Saltus, the same equations written by hand for its peers, and its end.
struct SmoothProblem {
    std::string name;
    model::Model model;
    Rates<double> rates;
    double t_end = 0.0;           ///< in s
    std::vector<double> start{};  ///< x = (q, u) at t = 0
    std::vector<double> end{};    ///< x at t_end, correct to rounding of a double
    /// An estimate of the error of `end` before it was rounded: the largest difference of x to a second computation,
    /// relative to 1 + |x_i|. The second one has half the steps, or it is the reference by steps if `end` is a formula.
    double end_uncertainty = 0.0;
};

/// Forced oscillator, pendulum, double pendulum, three masses with springs, eccentric orbit.
std::vector<SmoothProblem> smooth_problems();

/// The largest difference of two states, component by component relative to 1 + |exact_i|.
double error_of(const std::vector<double>& x, const std::vector<double>& exact);

}  // namespace saltus::bench
