// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/proof/box.hpp"
#include "saltus/proof/matrix.hpp"

namespace saltus::proof {

using IntervalVector = std::vector<Interval>;

/// The smooth forces over a box of positions, by powers of the velocity:
///     h_k(q, u) = constant_k + (linear u)_k + uᵀ quadratic_k u.
struct ForceTerms {
    IntervalVector constant;
    IntervalMatrix linear;
    std::vector<IntervalMatrix> quadratic;  ///< one symmetric matrix for each coordinate
};

/// The box of all velocities with kinetic energy ½uᵀMu <= `kinetic`: |u_k| <= √(2 · kinetic · (M⁻¹)_kk). ℝⁿ if M is not
/// proved to be regular or `kinetic` is infinite; the point 0 if kinetic <= 0.
Box velocities_below(double kinetic, const IntervalMatrix& M);

/// Lower bound of the kinetic energy τ at which a function of the velocity can reach 0. The function is at most
/// constant + slope s + curve s² with s = √(2τ). 0 if constant >= 0; +∞ if the function cannot reach 0.
double kinetic_to_vanish(double constant, double slope, double curve);

/// Bounds of the functions of a model over a whole box of positions (and of velocities, where u is an argument).
///
/// Guarantee: for every point of the box the exact value lies in the returned interval. If a function does not exist on
/// the whole box, its interval is the whole line with `defined == false`. The parameters have their values in the
/// model, as exact numbers. Derivatives are those of the model's expressions, not finite differences. The time is 0;
/// whether the model depends on the time is the caller's question (model::Mechanics::autonomous, scleronomic).
///
/// An object holds scratch memory: use one object for each thread. The model must outlive it.
class Enclosure {
public:
    /// nullptr if the model does not consist of expressions alone or has too many coordinates; `why` then says so.
    static std::unique_ptr<Enclosure> of(const model::Mechanics& model, std::string& why);

    const model::Mechanics& model() const { return model_; }
    int size() const { return n_; }                   ///< number of coordinates n
    int constraints() const { return constraints_; }  ///< number of bilateral constraints
    /// Number of position rows: the constraints first, then the gaps. A position row is also the row of W with the
    /// same number.
    int positions() const { return positions_; }
    int rows() const { return rows_; }  ///< number of rows of Wᵀ

    Interval potential(const Box& q) const;       ///< U
    IntervalVector gradient(const Box& q) const;  ///< ∇U
    IntervalMatrix hessian(const Box& q) const;   ///< ∇²U

    IntervalVector position_values(const Box& q) const;                 ///< g, then g_N
    IntervalMatrix row_matrix(const Box& q) const;                      ///< Wᵀ, rows() × n
    IntervalVector chi(const Box& q) const;                             ///< χ of γ = Wᵀu + χ
    std::vector<IntervalMatrix> position_hessians(const Box& q) const;  ///< ∇²g, then ∇²g_N
    /// D(i, j) = ∂w_i/∂q_j of one row w of Wᵀ. std::nullopt if some row has a kink.
    std::optional<IntervalMatrix> row_derivative(const Box& q, int row) const;

    IntervalMatrix mass(const Box& q) const;                     ///< M
    ForceTerms forces(const Box& q) const;                       ///< valid only if `quadratic_forces`
    std::vector<IntervalMatrix> curvatures(const Box& q) const;  ///< Z of ζ = uᵀZu, for each position row
    IntervalVector force(const Box& q, const Box& u) const;      ///< h
    IntervalVector curvature(const Box& q, const Box& u) const;  ///< ζ of the position rows

    /// The forces f^nc = f − ∂R/∂u at u = 0.
    IntervalVector forces_at_rest(const Box& q) const;
    /// C = −∂f^nc/∂u at u = 0.
    IntervalMatrix damping(const Box& q) const;
    Interval damping_power(const Box& q, const Box& u) const;  ///< D^nc = −u·f^nc, the power taken from the motion
    Interval dissipation(const Box& q, const Box& u) const;    ///< R
    /// D^nc as a sum of positively homogeneous functions of u, one for each of `power_degrees`:
    /// D^nc(q, s u) = Σ_p s^p D_p(q, u) for s > 0. Empty if D^nc is not of this form.
    IntervalVector power_terms(const Box& q, const Box& u) const;
    /// −∂f^nc/∂u over a box of states. Valid only if `smooth_damping`: then D^nc(q, u) = uᵀ C u with some C in this
    /// matrix for every u in the box, if f^nc(q, 0) = 0 and the box contains 0.
    IntervalMatrix damping_slopes(const Box& q, const Box& u) const;

    /// All coefficients of the model (μ, e_N, e_T, radii, normal forces), in the order of the model.
    IntervalVector coefficients(const Box& q, const Box& u) const;
    /// The slack of each region of the model file; positive inside the region.
    IntervalVector regions(const Box& q, const Box& u) const;
    /// The slack of one region by powers of u at u = 0: value, gradient, lower triangle of half the Hessian.
    IntervalVector region_terms(const Box& q, int region) const;
    /// Lower bound of the kinetic energy at which a velocity can leave the region, for all positions in the box.
    double region_kinetic(const Box& q, int region) const;

    /// The parts of T that are not quadratic in u: T(q, 0), then ∂T/∂u(q, 0).
    IntervalVector kinetic_rest(const Box& q) const;

    bool forces_vanish_at_rest = true;     ///< f^nc(q, 0) = 0 by the form of the expressions, so that h(q, 0) = −∇U
    bool quadratic_forces = true;          ///< h is at most quadratic in u
    bool linear_damping = true;            ///< f^nc is linear in u
    bool smooth_damping = true;            ///< f^nc has no kinks in u
    std::vector<double> power_degrees;     ///< degrees of `power_terms`, ascending
    bool quadratic_rayleigh = true;        ///< R is a quadratic form in u and f = 0, so that D^nc = 2R
    bool smooth = true;                    ///< T, U, g and g_N have no kinks: bounds of second derivatives are valid
    bool lipschitz = true;                 ///< T, U, g and g_N have no jumps: bounds of first derivatives are valid
    std::vector<bool> region_of_velocity;  ///< for each region: it depends on u
    std::vector<bool> quadratic_region;    ///< for each region: its slack is at most quadratic in u

private:
    explicit Enclosure(const model::Mechanics& model);

    /// The expressions of a model, prepared for the constructor's steps.
    struct Source;

    /// Several functions as one tape. If `slopes` is compiled, their derivatives with respect to q are used too, which
    /// narrows the bounds over small boxes.
    struct Group {
        expr::Tape tape, slopes;
        mutable std::vector<Interval> scratch, slope_scratch, in, out, slope, at_centre;
    };
    void compile_kinematics(Source& s);
    void compile_dynamics(Source& s);
    void compile_damping(Source& s);
    void compile_power_terms(Source& s);
    void compile_regions(Source& s);
    void find_kinks(Source& s);

    void compile(Group& group, expr::Graph& graph, const std::vector<expr::Expr>& outputs) const;
    void compile_slopes(Group& group, expr::Graph& graph, const std::vector<expr::Expr>& outputs,
                        const std::vector<expr::Expr>& q) const;
    void narrow(const Group& group, const Box& q) const;
    const std::vector<Interval>& evaluate(const Group& group, const Box& q, const Box* u = nullptr) const;

    const model::Mechanics& model_;
    int n_ = 0, constraints_ = 0, positions_ = 0, rows_ = 0;
    std::vector<expr::Expr> parameters_, variables_;
    Group potential_, gradient_, hessian_, positions_group_, rows_group_, chi_group_, position_hessians_, mass_,
        forces_, curvatures_, force_, curvature_, rest_forces_, damping_, damping_power_, dissipation_, coefficients_,
        power_terms_, damping_slopes_, regions_, region_terms_, kinetic_rest_;
};

}  // namespace saltus::proof
