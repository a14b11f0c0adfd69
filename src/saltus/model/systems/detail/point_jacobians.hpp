// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/model/systems/detail/point_system.hpp"

namespace saltus::model {

/// Exact derivatives of a PointSystem's equations, sparse: each point sees its neighbours along springs and faces.
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
    /// Where the values of one expression's derivatives stand among the tape's outputs; −1: structurally zero.
    struct Derived {
        std::vector<int> by_parameter;
    };
    struct Signal {
        std::array<int, 4> value;        // s, ṡ, s̈, and the third derivative
        std::array<Derived, 3> derived;  // of s, ṡ, s̈
    };

    /// A spring as it is drawn out.
    struct Drawn {
        std::size_t i, j, group;  // numbers of the points' coordinates
        double k, c, length, stretch, rate, tension;
        std::array<double, 3> e, w;  // direction from i to j, relative velocity
    };

    int output(expr::Expr e);
    Derived derived(expr::Expr e);
    Signal signal(expr::Expr e);
    void build_residual_pattern();
    void find_blocks();
    void evaluate_expressions(const At& at);
    Drawn drawn(std::size_t number, const double* q, const double* u) const;
    double tension_by_parameter(const Drawn& s, std::size_t parameter) const;
    void evaluate_residual(const At& at, std::span<const double> a, std::span<const double> lambda,
                           std::span<double> values);
    template <class Sink>
    void write_rows(Function f, const At& at, std::span<const double> a, Sink&& sink);
    template <class Sink>
    void write_parameters(const Derived& d, double factor, Sink&& sink) const;
    double value(int slot) const { return slot < 0 ? 0.0 : outputs_[static_cast<std::size_t>(slot)]; }

    PointFormulas f_;
    std::vector<expr::Expr> by_;  // parameters with a column
    std::vector<std::vector<int>> volume_points_;
    std::array<Pattern, 5> patterns_;
    expr::Tape tape_;
    std::vector<expr::Expr> expressions_;
    bool smooth_ = true;  // none of them has a kink in time
    std::vector<double> scratch_, outputs_, parameters_;
    bool prepared_ = false;
    int mass_ = 0;
    Derived mass_derived_;
    std::vector<std::array<int, 3>> groups_;  // k, c, rest
    std::vector<std::array<Derived, 3>> group_derived_;
    std::vector<Signal> offsets_, etas_;
    std::vector<int> coefficient_rate_;
    std::vector<Derived> coefficient_derived_;
    std::vector<std::vector<int>> near_q_, near_u_;  // neighbours of each point, itself included, ascending
    std::vector<int> residual_parameters_;           // columns that any row of the residual may have
    // Where the blocks of 3 × 3 derivatives begin among the residual's values, in the first of a point's three rows.
    std::vector<int> row_length_;                                 // of a point
    std::vector<std::array<int, 8>> spring_blocks_;               // (i, j) by (j, i): by positions, then by velocities
    std::vector<std::vector<std::array<int, 2>>> volume_blocks_;  // of each volume: (i, j) and (j, i), corner by corner
    std::vector<double> form1_, form2_, part_;
};

}  // namespace saltus::model
