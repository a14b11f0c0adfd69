// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/integrate/mode/elements.hpp"
#include "saltus/integrate/mode/mode.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::integrate {

/// The smooth motion of a model in one mode: closed contacts, sticking friction and constraints are equations on the
/// accelerations, slipping friction is a force that follows them.
///     M u̇ = h + F λ,   A u̇ + ζ = 0,   F = W_N − W_T ∇σ(γ_T) for contacts that slip
/// [Alscher] (15)–(17), [Leine] (52)–(57)
class Dynamics {
public:
    /// With `compliant`, contacts are springs (the model's penalty, times `stiffness`) and never equations.
    Dynamics(const model::Model& model, bool compliant, double stiffness);

    const model::Model& model() const { return model_; }
    int size() const { return n_; }
    int state_size() const { return 2 * n_ + 1; }  ///< q, u, and the work done on the system
    bool compliant() const { return compliant_; }

    const std::vector<ElementLayout>& elements() const { return layout_.elements; }
    /// Friction parts, with the coefficients of the last evaluated state.
    const std::vector<FrictionPart>& parts() const { return layout_.parts; }

    /// The mode in force. Directions of slip are those last set by set_mode or turn_slip.
    const SystemMode& mode() const { return mode_; }
    /// Puts a mode in force: collects its equations and finds their rank at the state x = (q, u, …) at t.
    void set_mode(SystemMode mode, double t, const double* x);
    /// Replaces the directions of slip by those of `turned`, which must equal the mode in force otherwise. The
    /// equations do not depend on the directions: their rank is not found again.
    void turn_slip(const SystemMode& turned);
    /// The mode in force with the directions of slip in planes as the velocities of the last evaluate_terms have them.
    /// Directions of parts with one row, and of parts that hardly move, stay.
    SystemMode followed_mode() const;

    /// Everything at a state: accelerations, reactions. False when M or the equations are singular there.
    bool evaluate(double t, const double* x);
    /// The same, then ẋ.
    bool derivative(double t, const double* x, double* dx);

    std::span<const double> acceleration() const { return acceleration_; }
    /// The largest single contribution to an acceleration: what its rounding is a part of.
    double acceleration_scale() const { return acceleration_scale_; }
    std::span<const double> reactions() const { return lambda_; }                        ///< one a row of the model
    double load(int element) const { return load_[static_cast<std::size_t>(element)]; }  ///< |normal force|
    double row_velocity(int row) const { return gamma_[static_cast<std::size_t>(row)]; }
    /// Rows of equations whose angle is less say the same. K, where it comes in squared, cannot tell 1e-7 from
    /// rounding; more where modes change without end, because what sticks can only stick nearly.
    double redundancy() const { return redundancy_; }
    void set_redundancy(double angle) { redundancy_ = angle; }
    bool coarse() const { return redundancy_ > least_redundancy; }
    static constexpr double least_redundancy = 1e-7;
    bool redundant() const { return redundant_; }        ///< the equations of the mode depend on each other
    bool degenerating() const { return degenerating_; }  ///< they did not, and by the last evaluate they do
    std::span<const double> free_acceleration() const { return free_; }  ///< by all forces but the multipliers
    /// Force of a contact's spring and damper, k·depth + d·rate, after evaluate_terms. It is negative where they pull.
    double spring_force(int element) const;
    /// The same where the contact can only push: 0 if the mode says that they would pull.
    double penalty_force(int element, const ElementMode& mode) const {
        return mode.pulls ? 0.0 : spring_force(element);
    }
    bool damped(int element) const;  ///< d ≠ 0
    /// Reactions in place of those of the equations, which need not be unique.
    void set_reaction(int row, double value) { lambda_[static_cast<std::size_t>(row)] = value; }
    /// How much the force of a sticking part can still grow, in units of force; >= 0 inside its set.
    double reserve(int part) const;
    /// The velocity of a part along its direction of slip.
    double slip_along(int part) const;
    double slip_speed(int part) const;
    /// The velocity of a part, `size` numbers.
    const double* slip_velocity(int part) const {
        return gamma_.data() + layout_.parts[static_cast<std::size_t>(part)].row;
    }

    /// Whether sliding friction has all but cancelled what holds a contact: w_N·M⁻¹(w_N − w_T ∇σ) near or below zero.
    bool nearly_singular(double t, const double* x);

    /// Terms and row velocities alone.
    void evaluate_terms(double t, const double* x);
    const model::Terms& terms() const { return terms_; }
    const model::MassFactor& mass() const { return mass_; }
    /// M of the last evaluate_terms; once for all where M is constant.
    bool factorise_mass();
    std::span<const double> coefficients() const { return coefficients_; }
    /// Gaps and constraint functions alone.
    std::span<const double> positions(double t, const double* q);
    model::Energy energy(double t, const double* x);

    /// Moves q onto the constraints and closed contacts, u onto the equations; x is (q, u, …). Returns false when that
    /// does not succeed to rounding.
    bool project(double t, double* x);
    /// Brings the velocities onto the equations by impulses along F, the directions in which forces act: what friction
    /// that slips does to the others is not lost.
    bool project_along_forces(double t, double* x);
    double position_scale(int row, const double* q) const;

    /// ∇σ of the set of a slipping part for the load 1, at the slip velocity `gamma`: the friction force is −load·∇σ.
    /// `direction` decides the sign, and the direction too where the velocity has none (FrictionMode::direction).
    void slip_gradient(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                       double* gradient) const;

    /// For derivatives (linearised.hpp), after evaluate: the equations, M⁻¹F, K⁻¹ times something, and the derivatives
    /// of the forces that follow the state, from those of positions, velocities and coefficients.
    const std::vector<int>& equation_rows() const { return equations_; }
    int equation_owner(int equation) const { return equation_element_[static_cast<std::size_t>(equation)]; }
    Eigen::Map<const Matrix> equation_columns() const;
    Matrix multiplier_inverse() const;
    Matrix solve_multipliers(const Matrix& right) const;
    /// Derivative of spring_force.
    Eigen::RowVectorXd spring_derivative(int element, const Matrix& position, const Matrix& velocity,
                                         const Matrix& coefficient) const;
    /// Derivative of penalty_force in the mode in force.
    Eigen::RowVectorXd penalty_derivative(int element, const Matrix& position, const Matrix& velocity,
                                          const Matrix& coefficient) const;
    /// Derivative of slip_gradient; `velocity` is the derivative of `gamma`.
    Matrix slip_gradient_derivative(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                                    const Matrix& velocity, const Matrix& coefficient) const;

    long evaluations = 0;

private:
    void settle(double t, const double* x);
    void update_coefficients(double t, const double* x);
    bool solve_equations();

    const model::Model& model_;
    const int n_;
    const bool compliant_;
    const double stiffness_;
    ElementsAndParts layout_;
    SystemMode mode_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    solvers::DenseLU lu_;
    std::vector<double> coefficients_, gamma_, lambda_, load_, acceleration_, positions_;
    std::vector<int> equations_;         // rows of A
    std::vector<int> equation_element_;  // whose normal it is, -1 for slip rows
    std::vector<double> columns_;        // M⁻¹ F, a column of n an equation
    std::vector<double> free_, right_, multiplier_;
    double acceleration_scale_ = 0.0, redundancy_ = least_redundancy;
    bool redundant_ = false, degenerating_ = false;
    bool needs_coefficients_ = false;
    bool factorised_ = false;
};

}  // namespace saltus::integrate
