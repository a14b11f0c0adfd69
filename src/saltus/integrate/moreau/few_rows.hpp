// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/problem.hpp"

namespace saltus::integrate {

/// Contact problems v = D r + q of few rows, as time-stepping has one in every step. With friction along lines alone a
/// mode (open, stick, slip to one side or the other, for each block) makes the problem linear, and the mode of the step
/// before is almost always right: one small linear system, then as many as modes change.
class FewRows {
public:
    static constexpr int most = 12;

    /// Whether all laws are bilateral, unilateral, planar friction, or sliders along a line.
    static bool fits(std::span<const solvers::Law> laws, int rows);

    /// `first` is the first row of each block and, at the end, their number; D is row-major. Starts in the mode of
    /// `guess`, reactions of a similar problem (empty: none), and, where the solution is not unique, stays near it.
    /// False where no mode was found to fulfil all laws to `tolerance` (the relative residual of `solvers`): then it is
    /// a matter for those.
    bool solve(std::span<const solvers::Law> laws, std::span<const int> first, std::span<const double> D,
               std::span<const double> q, std::span<const double> guess, double tolerance);

    std::span<const double> r() const { return {r_, static_cast<std::size_t>(rows_)}; }
    std::span<const double> v() const { return {v_, static_cast<std::size_t>(rows_)}; }
    double residual() const { return residual_; }

private:
    /// r_i = factor·z_unknown + offset
    struct Row {
        int unknown;
        double factor, offset;
    };

    void set_up(std::span<const solvers::Law> laws, std::span<const int> first);
    bool factorise();
    void improve();
    void follow();
    bool change_modes(std::span<const solvers::Law> laws, std::span<const int> first);
    void judge(std::span<const solvers::Law> laws, std::span<const int> first);

    int rows_ = 0, unknowns_ = 0;
    const double* D_ = nullptr;
    const double* q_ = nullptr;
    double rho_ = 1.0, q_norm_ = 0.0;  // 1/mean diagonal
    double scale_ = 0.0, defect_ = 0.0;
    double residual_ = 0.0;
    bool closed_[most];       // of each block: its normal has a reaction
    signed char slip_[most];  // of each block: sign of its friction at the bound, 0: sticks
    double sign_[most];       // of the reaction that bounds a scaled slider
    Row row_[most];
    int equation_[most];  // the row that is zero in place of each unknown
    double A_[most][most];
    int pivot_[most];
    double r_[most], v_[most];
};

}  // namespace saltus::integrate
