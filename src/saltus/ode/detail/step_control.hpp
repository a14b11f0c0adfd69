// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/ode/step.hpp"

// What the methods share of choosing step lengths. For steppers, not for their callers.

namespace saltus::ode {

/// Where an attempt goes: t_new − t is h to the bit.
struct Stride {
    double h, t_new;
    bool shortened;  ///< by t_limit
};

/// At most h, and never past t_limit. A rest shorter than two steps is halved rather than left as a crumb, and one that
/// is hardly longer than h is taken whole.
Stride stride_towards(double t, double h, double t_limit);

/// The shortest step from t worth trying, when h was tried at first.
double shortest_step(double t, double h);

/// Tolerances that make sense for n components; anything else is a misuse. `relative` is raised to what rounding
/// allows.
Tolerances checked(Tolerances tolerances, int n);

/// scale_i = absolute·scale_i + relative·max(|x_i|, |y_i|), never 0.
void error_scale(const Tolerances& tolerances, const Vector& x, const Vector& y, Vector& scale);

/// √(1/n Σ (v_i/scale_i)²)
double scaled_norm(const Vector& v, const Vector& scale);

/// First step of a method whose error estimate has `order`, so that an Euler step of its length would be off by about
/// 1 % of the tolerance ([Hairer] II.4). `x1` and `f1` are scratch. Evaluates f once.
double first_step(const Problem& problem, double t, const Vector& x, const Vector& f, const Vector& scale, int order,
                  double largest, Vector& x1, Vector& f1, Statistics& statistics);

}  // namespace saltus::ode
