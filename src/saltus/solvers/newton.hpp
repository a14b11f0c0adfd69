// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "saltus/solvers/friction.hpp"
#include "saltus/solvers/shape.hpp"

namespace saltus::solvers {

/// Semismooth Newton on the Alart–Curnier functions. With y_N = r_N − ρ_N v_N and y_T = r_T − ρ_T v_T of a block,
///     F_N = r_N − max(0, y_N),   F_T = r_T − P_{‖·‖ <= μ max(0, y_N)}(y_T),
/// whose zeros are the solutions. Its pieces: open (r = 0), stick (v = 0), slip. Keeps the factorisation's pattern
/// between runs.
class NewtonSolver {
public:
    explicit NewtonSolver(const FrictionProblem& problem);
    ~NewtonSolver();

    /// Improves r; returns the number of iterations. On return r is the iterate with the smallest residual.
    int run(const Newton& method, std::vector<double>& r);

    /// The proximal point method with Newton inside: solves the regular problem v + ε (r − c) for r, moves the centre c
    /// there, and so on; ε falls as long as that works and rises when it does not.
    int run(const Proximal& method, std::vector<double>& r);

private:
    struct Linear;
    void velocities(const std::vector<double>& r, std::vector<double>& v) const;
    /// F, and where `jacobian` the rows of its generalised derivative in the pattern of the linear solver.
    double evaluate(const std::vector<double>& r, std::vector<double>& F, bool jacobian, double proximal);
    /// One step with line search against the merits so far; the new merit joins them. False when there is none.
    bool step(std::vector<double>& r, double regularisation, std::deque<double>& history);
    /// Newton steps until the merit has fallen to `target`; false when it does not get there.
    bool descend(std::vector<double>& r, double regularisation, double target, int most, int& iterations);

    const FrictionProblem& p_;
    std::vector<Shape> shapes_;
    std::vector<double> rho_;  // one a row
    std::vector<double> v_;
    std::vector<double> centre_;  // with weight_: the proximal term weight_ (r − centre_) in v
    double weight_ = 0.0;
    std::unique_ptr<Linear> linear_;
};

}  // namespace saltus::solvers
