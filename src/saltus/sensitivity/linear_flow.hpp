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
    /// `parts`: first columns of the groups of components that are measured together; each has its own scale, the
    /// largest value so far in its row.
    LinearFlow(std::vector<int> parts, double tolerance) : parts_(std::move(parts)), tolerance_(tolerance) {}

    /// False where the coefficients cannot be evaluated, or no step is short enough.
    bool advance(const LinearProblem& problem, double from, double to, bool implicit, Matrix& Y);

    long evaluations = 0;

private:
    bool explicit_step(const LinearProblem& problem, double t, double h, const Matrix& Y, double& error);
    bool implicit_step(const LinearProblem& problem, double t, double h, const Matrix& Y, double& error);
    bool collocate(const LinearProblem& problem, double t, double h, const Matrix& Y, const Matrix& A, const Vector& c,
                   Matrix& out);
    void grow_scale(const Matrix& Y);
    double measure(const Matrix& error) const;

    std::vector<int> parts_;
    double tolerance_;
    Matrix scale_;  // solutions × parts
    std::vector<Matrix> k_;
    Matrix stage_, new_, sum_;
};

}  // namespace saltus::sensitivity
