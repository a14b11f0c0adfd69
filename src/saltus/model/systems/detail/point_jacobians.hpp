// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/model/jacobians.hpp"
#include "saltus/model/systems/detail/point_system.hpp"

namespace saltus::model {

/// Exact derivatives of the equations of a PointSystem. They are sparse: a point depends on its neighbours along
/// springs and faces.
class PointJacobians final : public Jacobians {
public:
    PointJacobians(const PointFormulas& formulas, const std::vector<std::vector<int>>& volume_points,
                   std::span<const int> parameters);

    const Pattern& pattern(Function f) const override { return patterns_[static_cast<std::size_t>(f)]; }
    void evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                  std::span<double> values) override;
    bool residual_along(const At& at, std::span<const double> a, std::span<const double> lambda,
                        const Matrix& directions, Matrix& out) override;
    bool all_switches() const override { return smooth_; }

private:
    /// Derivatives of one expression by the parameters: indices of the tape's outputs, or −1 if structurally zero.
    struct Derived {
        std::vector<int> by_parameter;
    };
    /// A function of time, with its derivatives: indices of the tape's outputs, or −1.
    struct Signal {
        std::array<int, 4> value;        // s, ṡ, s̈ and the third derivative
        std::array<Derived, 3> derived;  // of s, ṡ, s̈ by the parameters
    };

    /// The state of a spring.
    struct SpringState {
        std::size_t i, j;  // first coordinate of each of its points, counted from the first point
        std::size_t group;
        double k, c;
        double length, stretch;      // l and l − l₀
        double rate, tension;        // l̇ and k(l − l₀) + c l̇
        std::array<double, 3> e, w;  // unit vector from i to j, relative velocity u_j − u_i
    };

    int output(expr::Expr e);
    Derived derived(expr::Expr e);
    Signal signal(expr::Expr e);
    void build_residual_pattern();
    void find_blocks();
    void evaluate_expressions(const At& at);
    SpringState spring_state(std::size_t number, const double* q, const double* u) const;
    double tension_by_parameter(const SpringState& s, std::size_t parameter) const;
    double tension_by_time(const SpringState& s) const;
    void evaluate_residual(const At& at, std::span<const double> a, std::span<const double> lambda,
                           std::span<double> values);
    void add_spring_derivatives(const double* q, const double* u, std::span<double> values) const;
    void add_volume_derivatives(const double* q, std::span<const double> lambda, std::span<double> values) const;
    void add_mass_derivatives(std::span<const double> a, std::span<double> values) const;
    double* parameter_entries(std::span<double> values, int point, std::size_t row) const;
    template <class Sink>
    void write_rows(Function f, const At& at, std::span<const double> a, Sink&& sink);
    template <class Sink>
    void write_parameters(const Derived& d, double factor, Sink&& sink) const;
    double value(int slot) const { return slot < 0 ? 0.0 : outputs_[static_cast<std::size_t>(slot)]; }

    PointFormulas f_;
    std::vector<expr::Expr> by_;  // parameters that have a column
    std::vector<std::vector<int>> volume_points_;
    std::array<Pattern, function_count> patterns_;
    expr::Tape tape_;
    std::vector<expr::Expr> expressions_;
    bool smooth_ = true;  // no expression has a kink that depends on the time
    std::vector<double> scratch_, outputs_, parameters_;
    bool prepared_ = false;
    int mass_ = 0;
    Derived mass_derived_;
    std::vector<std::array<int, 3>> groups_;  // k, c, rest
    std::vector<std::array<Derived, 3>> group_derived_;
    std::vector<std::array<int, 2>> group_rates_;  // dk/dt, drest/dt; −1 for springs that do not depend on the time
    int time_columns_ = 0;                         // 1 if some spring depends on the time: the first column of a row
    std::vector<Signal> offsets_, etas_;
    std::vector<int> coefficient_rate_;
    std::vector<Derived> coefficient_derived_;
    std::vector<std::vector<int>> near_q_, near_u_;  // points on whose positions, velocities the force on a point
                                                     // depends, ascending
    std::vector<int> residual_parameters_;           // parameters on which some force depends
    // Places of the 3 × 3 blocks of derivatives: index of their first entry among the values of the residual.
    std::vector<int> row_length_;                    // number of entries in each of the three rows of a point
    std::vector<std::array<int, 8>> spring_blocks_;  // force on i by x_j, x_i; on j by x_j, x_i; the same by velocities
    std::vector<std::vector<std::array<int, 2>>>
        volume_blocks_;                         // of each volume: blocks (i, j) and (j, i), by corners
    std::vector<double> form1_, form2_, part_;  // three numbers per point
};

}  // namespace saltus::model
