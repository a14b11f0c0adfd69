// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Solves contact problems v = D r + q with few rows, as time-stepping has one in every step and most impacts are. Here
/// r are reactions (impulses), v relative velocities, and D is the Delassus matrix.
///
/// With friction along lines only, each block is in one of finitely many modes: open, stick, or slip to one of two
/// sides. In given modes all laws are linear equations:
///     open: r_N = 0      stick: v = 0      slip: v_N = 0, r_T = ±μ r_N (or ± the bound of a slider)
/// The modes of a guess, such as the reactions of the step before, are almost always right, so one small linear system
/// solves the problem. Otherwise violated inequalities tell which modes to change, and the next system is solved.
class FewRows {
public:
    static constexpr int max_rows = 12;  ///< the arrays have this size; larger problems are for the other methods

    /// Whether there are at most max_rows rows, and all laws are bilateral, unilateral, planar friction or sliders with
    /// one row. `first` has the first row of each block and, at its end, the number of rows.
    static bool fits(std::span<const Law> laws, std::span<const int> first);

    /// Solves one problem. D is row-major. `guess` are reactions of a similar problem (empty: none). The search starts
    /// in their modes; if the solution is not unique, the result stays near them. False if no modes were found that
    /// fulfil all laws to `tolerance` (the relative residual); then other methods must be used.
    bool solve(std::span<const Law> laws, std::span<const int> first, std::span<const double> D,
               std::span<const double> q, std::span<const double> guess, double tolerance);

    std::span<const double> r() const { return {r_, static_cast<std::size_t>(rows_)}; }
    std::span<const double> v() const { return {v_, static_cast<std::size_t>(rows_)}; }
    double residual() const { return residual_; }  ///< relative, of the last solution

private:
    /// The reaction of a row in the current modes: r_i = factor·z_unknown + offset; without an unknown (−1) r_i =
    /// offset.
    struct Row {
        int unknown;
        double factor, offset;
    };

    void modes_of_guess(std::span<const Law> laws, std::span<const int> first, bool guessed);
    void set_up(std::span<const Law> laws, std::span<const int> first);
    bool factorise();
    void improve();
    void update_velocities();
    bool change_modes(std::span<const Law> laws, std::span<const int> first, int round);
    void measure_residual(std::span<const Law> laws, std::span<const int> first);

    int rows_ = 0, unknowns_ = 0;
    const double* D_ = nullptr;
    const double* q_ = nullptr;
    double rho_ = 1.0;     // 1/(mean diagonal of D): turns velocities into reactions
    double q_norm_ = 0.0;  // ‖q‖
    double scale_ = 0.0;   // size of the reactions, max(ρ‖q‖, max|r|)
    double defect_ = 0.0;  // largest ρ|v| among the equations
    double residual_ = 0.0;
    bool fine_ = false;             // the proximal term is the small one
    bool closed_[max_rows];         // of each block: its normal has a reaction
    signed char slip_[max_rows];    // of each block: sign of its friction at the bound; 0: it sticks
    double sign_[max_rows];         // of each block: sign of the reaction that bounds a scaled slider
    Row row_[max_rows];             // of each row
    int equation_[max_rows];        // of each unknown: the row whose velocity is zero
    double A_[max_rows][max_rows];  // matrix of the equations, then its LU factors
    int pivot_[max_rows];
    double r_[max_rows], v_[max_rows];
};

}  // namespace saltus::solvers
