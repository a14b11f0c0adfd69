// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/model/jacobians.hpp"

namespace saltus::integrate {

/// Exact derivatives of the accelerations and reactions of a Dynamics in its mode, with respect to t, q, u and
/// independent parameters of the model. Differentiates
///     M u̇ = h + F λ,   A u̇ + ζ = 0
/// with the forces of slip and of springs following the state.
class Linearised {
public:
    /// By t, q, u and all parameters, or these.
    explicit Linearised(Dynamics& dynamics);
    Linearised(Dynamics& dynamics, std::vector<int> parameters);

    /// Whether the system gives derivatives; they are made when they are first asked for.
    bool available();
    int columns() const { return columns_; }  ///< 1 + 2n + parameters, in the order t, q, u, p

    /// At a state; false where the motion itself cannot be evaluated there. Evaluates the dynamics too.
    bool evaluate(double t, const double* x);

    const Matrix& acceleration() const { return acceleration_; }  ///< ∂u̇, n × columns
    const Matrix& reactions() const { return reactions_; }        ///< ∂λ, rows of the model × columns

    /// The same ∂u̇ as a linear map, without its matrix: what sparse systems of many coordinates need.
    bool prepare(double t, const double* x);
    /// Which of the first `count` columns of ∂u̇ are not plainly zero.
    void touched(int count, std::vector<char>& columns);
    /// rates = ∂u̇ · directions; one direction a row (k × columns), one acceleration a row (k × n).
    void along(const Matrix& directions, Matrix& rates);
    /// gradient = ∂u̇ᵀ · y; `y` of n, `gradient` of all columns.
    void against(const Vector& y, Vector& gradient);

    /// ∂ of one of the system's functions in full, rows × columns; a and λ as in model::Jacobians.
    void gather(model::Function f, double t, const double* x, std::span<const double> a, std::span<const double> lambda,
                Matrix& out);

    /// Where expressions jump or have a kink (model::Jacobians): how many functions, their values, derivatives in full.
    int switches() { return available() ? jacobians_->switches() : 0; }
    bool all_switches() { return available() && jacobians_->all_switches(); }
    void switches(double t, const double* x, std::span<double> values);
    void switch_derivatives(double t, const double* x, Matrix& out);

private:
    /// A force that follows the state: the row it acts on, and its derivative.
    struct Following {
        int row;
        Eigen::RowVectorXd change;
    };
    void collect_following();
    struct Sparse {
        const model::Pattern* pattern = nullptr;
        std::vector<double> values;
    };
    void fetch(model::Function f, Sparse& out);
    const Sparse& residual();
    model::At held() const;

    Dynamics& d_;
    const std::vector<int> parameters_;
    std::vector<Following> following_;
    double held_t_ = 0.0;
    std::vector<double> held_x_, held_acceleration_, held_reactions_;
    bool residual_fetched_ = false;
    Sparse sparse_residual_, sparse_curvature_;
    Matrix inverse_, multipliers_, right_;
    std::unique_ptr<model::Jacobians> jacobians_;
    bool made_ = false;
    int columns_ = 0;
    std::vector<double> values_;
    Matrix residual_, velocity_, position_, curvature_, coefficient_;
    Matrix acceleration_, reactions_;
};

}  // namespace saltus::integrate
