// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <span>

#include "saltus/ode/step.hpp"

namespace saltus::ode {

/// The linear systems (s − J) y = r of an implicit method, with J = ∂f/∂x, for one real shift s > 0 and some complex
/// ones. An implicit method solves them with dense matrices by itself. For a large problem the caller implements this
/// interface, because only the caller knows the structure of J.
class StageSystems {
public:
    virtual ~StageSystems() = default;

    /// Evaluates J at (t, x). Returns accepted, failed or non_finite.
    virtual StepStatus linearise(double t, const double* x) = 0;
    /// Factorises s − J for all shifts, with J of the last `linearise`. False if a matrix is singular or if its factors
    /// are too inaccurate; the method then tries a shorter step, which makes the shifts larger.
    virtual bool factorise(double real, std::span<const std::complex<double>> pairs) = 0;
    /// Solves the system of the real shift in place. All vectors have the size of x.
    virtual void solve(std::span<double> r) = 0;
    /// Solves the system of a complex shift, given by its number, for the right-hand side re + i·im in place.
    virtual void solve_pair(std::size_t pair, std::span<double> re, std::span<double> im) = 0;
};

}  // namespace saltus::ode
