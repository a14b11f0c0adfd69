// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/ode/step.hpp"

// The choice of step lengths that all methods share.

namespace saltus::ode {

/// The length and the end of an attempted step; t_new − t equals h exactly.
struct Stride {
    double h, t_new;
    bool shortened;  ///< t_limit made the step shorter than the method wished
};

/// Whether an attempt is the first of its step, or repeats the step with a shorter length.
enum class Attempt { first, repeated };

/// The next step from t, at most h and not beyond t_limit. If the rest t_limit − t is at most 1 % longer than h, it is
/// taken in one step. If it is shorter than two steps, it is halved, so that no tiny last step remains.
Stride stride_towards(double t, double h, double t_limit);

/// The shortest step from t that is tried; h is the length that was tried first.
double shortest_step(double t, double h);

/// Checks the tolerances for n components (negative values or a wrong number of scales are a misuse), and raises
/// `relative` to 16 eps.
Tolerances checked(Tolerances tolerances, int n);

/// scale_i = absolute·scale_i + relative·max(|x_i|, |y_i|), and never 0.
void error_scale(const Tolerances& tolerances, const Vector& x, const Vector& y, Vector& scale);

/// √(1/n Σ (v_i/scale_i)²)
double scaled_norm(const Vector& v, const Vector& scale);

/// The first step of a method whose error estimate has the given order ([Hairer] II.4): such that an explicit Euler
/// step of this length would have an error of about 1 % of the tolerance. At most `largest`. `x1` and `f1` are scratch.
/// It evaluates f once.
double first_step(const Problem& problem, double t, const Vector& x, const Vector& f, const Vector& scale, int order,
                  double largest, Vector& x1, Vector& f1, Statistics& statistics);

}  // namespace saltus::ode
