// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/ode/function_ref.hpp"

namespace saltus::sensitivity {

/// Linear differential equations with given coefficients, for several solutions at once, one a row: Ẏ = L(t, Y).
struct LinearProblem {
    ode::FunctionRef<bool(double t, const Matrix& Y, Matrix& rate)> rate;
    /// The same in full, ẏ = matrix·y + force for the solution in each row of Y (k × size); for implicit steps.
    ode::FunctionRef<bool(double t, Matrix& matrix, Matrix& force)> full;
};

/// Steps from one time to another, forwards or backwards, with its own control of the error: explicit of order 8, or
/// implicit of order 9 (Radau IIA with five stages, checked against three). [Hairer] II.5, IV.5
class LinearFlow {
public:
    /// The first n components are as positions, the next n as velocities (of an adjoint equation: the other way round
    /// in time); the error of each kind is measured by its largest value so far in the row, and by what the other kind
    /// makes of it over a step. What follows them are integrals of them, each measured by itself.
    LinearFlow(int n, bool adjoint, double tolerance) : n_(n), adjoint_(adjoint), tolerance_(tolerance) {}

    /// False where the coefficients cannot be evaluated, or no step is short enough.
    bool advance(const LinearProblem& problem, double from, double to, bool implicit, Matrix& Y);

    /// Sizes below which solutions are nothing, for those that stay zero but for rounding: solutions × 2, and one for
    /// each integral.
    void set_floor(Matrix floor, Matrix integrals = {}) {
        scale_ = std::move(floor);
        integrals_ = std::move(integrals);
    }

    long evaluations = 0;

private:
    bool explicit_step(const LinearProblem& problem, double t, double h, const Matrix& Y, double& error);
    bool implicit_step(const LinearProblem& problem, double t, double h, const Matrix& Y, double& error);
    bool collocate(const LinearProblem& problem, double t, double h, const Matrix& Y, const Matrix& A, const Vector& c,
                   Matrix& out);
    void grow_scale(const Matrix& Y);
    double measure(const Matrix& error) const;

    int n_;
    bool adjoint_;
    double tolerance_;
    double stride_ = 0.0;  // that was asked for
    Matrix scale_;         // solutions × 2
    Matrix integrals_;     // largest values so far of what follows
    std::vector<Matrix> k_;
    Matrix stage_, new_, sum_;
};

}  // namespace saltus::sensitivity
