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

/// h(q, u) = constant + linear u + (uᵀ quadratic_k u)_k over a box of positions.
struct ForceTerms {
    IntervalVector constant;
    IntervalMatrix linear;
    std::vector<IntervalMatrix> quadratic;  ///< one a coordinate, symmetric
};

/// |u_k| <= √(2τ (M⁻¹)_kk): velocities with kinetic energy at most τ.
Box velocities_below(double kinetic, const IntervalMatrix& M);

/// Lower bound of the kinetic energy T = s²/2 that constant + slope s + curve s² needs to reach 0: s = −2c/(l + √(l² −
/// 4λc)).
double kinetic_to_vanish(double constant, double slope, double curve);

/// What the functions of a model may be over a whole box of positions, outward rounded; parameters have their values
/// exactly. Derivatives are exact ones of the model's expressions. Scratch is inside: one a thread.
///
/// Time stands at 0: a model that depends on it is outside of what certificates are about, and says so itself.
class Enclosure {
public:
    /// Nothing where the model is not one of expressions alone, or too large; `why` then says so.
    static std::unique_ptr<Enclosure> of(const model::Model& model, std::string& why);

    const model::Model& model() const { return model_; }
    int size() const { return n_; }
    int constraints() const { return constraints_; }
    int positions() const { return positions_; }  ///< constraints, then gaps
    int rows() const { return rows_; }

    Interval potential(const Box& q) const;
    IntervalVector gradient(const Box& q) const;
    IntervalMatrix hessian(const Box& q) const;

    IntervalVector position_values(const Box& q) const;  ///< g, then gN
    IntervalMatrix row_matrix(const Box& q) const;       ///< Wᵀ of every row
    IntervalVector chi(const Box& q) const;              ///< γ = Wᵀu + χ
    std::vector<IntervalMatrix> position_hessians(const Box& q) const;
    /// ∂W_i/∂q_j of one row; nothing where it has kinks.
    std::optional<IntervalMatrix> row_derivative(const Box& q, int row) const;

    IntervalMatrix mass(const Box& q) const;
    ForceTerms forces(const Box& q) const;                       ///< only where `quadratic_forces`
    std::vector<IntervalMatrix> curvatures(const Box& q) const;  ///< Z of ζ = uᵀZu, for each position row
    IntervalVector force(const Box& q, const Box& u) const;
    IntervalVector curvature(const Box& q, const Box& u) const;  ///< ζ of the position rows

    /// Of f^nc = f − ∂R/∂u: its value at u = 0 and C = −∂f^nc/∂u there.
    IntervalVector forces_at_rest(const Box& q) const;
    IntervalMatrix damping(const Box& q) const;
    Interval damping_power(const Box& q, const Box& u) const;  ///< D^nc = −u·f^nc
    Interval dissipation(const Box& q, const Box& u) const;    ///< R

    IntervalVector coefficients(const Box& q, const Box& u) const;
    IntervalVector regions(const Box& q, const Box& u) const;  ///< slacks, positive inside
    /// Of one slack as a function of u: its value, gradient and half its Hessian (lower triangle) at u = 0.
    IntervalVector region_terms(const Box& q, int region) const;
    /// Lower bound of the kinetic energy at which a velocity leaves the region, for positions in the box.
    double region_kinetic(const Box& q, int region) const;

    /// Parts of T that are not quadratic in u: T(q, 0), then ∂T/∂u(q, 0).
    IntervalVector kinetic_rest(const Box& q) const;

    bool restful = true;             ///< f^nc is 0 for u = 0 by its form: then h(q, 0) = −∇U
    bool quadratic_forces = true;    ///< h is at most quadratic in u
    bool linear_damping = true;      ///< f^nc is linear in u
    bool quadratic_rayleigh = true;  ///< R is a quadratic form in u, and f is 0: D^nc = 2R
    bool smooth = true;              ///< no kinks: second derivatives enclose
    bool lipschitz = true;           ///< no jumps: first derivatives enclose
    std::vector<bool> region_of_velocity, quadratic_region;  ///< one a region

private:
    explicit Enclosure(const model::Model& model);

    /// Functions with, for some, their derivatives with respect to q, which narrow the bounds over small boxes:
    /// f(q) ∈ f(c) + f'(box)(box − c).
    struct Group {
        expr::Tape tape, slopes;
        mutable std::vector<Interval> scratch, slope_scratch, in, out, slope, at_centre;
    };
    void compile(Group& group, expr::Graph& graph, const std::vector<expr::Expr>& outputs) const;
    void compile_slopes(Group& group, expr::Graph& graph, const std::vector<expr::Expr>& outputs,
                        const std::vector<expr::Expr>& q) const;
    void narrow(const Group& group, const Box& q) const;
    const std::vector<Interval>& evaluate(const Group& group, const Box& q, const Box* u = nullptr) const;

    const model::Model& model_;
    int n_ = 0, constraints_ = 0, positions_ = 0, rows_ = 0;
    std::vector<expr::Expr> parameters_, variables_;
    Group potential_, gradient_, hessian_, positions_group_, rows_group_, chi_group_, position_hessians_, mass_,
        forces_, curvatures_, force_, curvature_, rest_forces_, damping_, damping_power_, dissipation_, coefficients_,
        regions_, region_terms_, kinetic_rest_;
};

}  // namespace saltus::proof
