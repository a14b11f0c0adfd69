// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "saltus/integrate/mode/elements.hpp"
#include "saltus/integrate/mode/mode.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::integrate {

/// The smooth motion of a model in one mode. Closed contacts, sticking friction and constraints are equations on the
/// accelerations. Slipping friction and contacts with springs are forces that follow the state:
///     M u̇ = h + F λ,   A u̇ + ζ = 0,   F = W_N − W_T ∇σ(γ_T) for contacts that slip.
/// [Alscher] (15)–(17), [Leine] (52)–(57). Eliminating u̇ gives K λ = −(A M⁻¹ h + ζ) with K = A M⁻¹ F.
///
/// The state is x = (q, u, work) with n + n + 1 components; `work` is what applied forces, damping and reactions have
/// done. Many functions use the state of the last evaluate_terms or evaluate; their comments say which.
class Dynamics {
public:
    /// With `compliant`, contacts are springs (the model's penalty, its k times `stiffness`) and never equations.
    Dynamics(const model::Mechanics& model, bool compliant, double stiffness);
    /// Becomes as it was made: no state was evaluated, the mode is initial_mode.
    void reset();

    const model::Mechanics& model() const { return model_; }
    int size() const { return n_; }                ///< number n of coordinates
    int state_size() const { return 2 * n_ + 1; }  ///< q, u, and the work done on the system
    bool compliant() const { return compliant_; }
    double stiffness() const { return stiffness_; }  ///< factor on the springs of compliant contacts

    // --- the mode ---

    const std::vector<ElementLayout>& elements() const { return layout_.elements; }
    /// Friction parts, with the coefficients of the last evaluated state.
    const std::vector<FrictionPart>& parts() const { return layout_.parts; }

    /// The mode before anything is decided (initial_mode), with the side 1 for every jump of the model.
    SystemMode undecided_mode() const;
    /// Sets the sign that `when` of a jump has in the mode in force. The equations of motion do not depend on it.
    void set_side(int jump, int side) { mode_.sides[static_cast<std::size_t>(jump)] = side > 0 ? 1 : -1; }
    /// The mode in force. Directions of slip are those last set by set_mode or turn_slip.
    const SystemMode& mode() const { return mode_; }
    /// Puts a mode in force: collects its equations and finds their rank at the state x = (q, u, …) at t.
    void set_mode(const SystemMode& mode, double t, const double* x);
    /// Replaces the directions of slip by those of `turned`, which must equal the mode in force otherwise. The
    /// equations do not depend on the directions: their rank is not found again.
    void turn_slip(const SystemMode& turned);
    /// Gives orthotropic friction the rows and shape of its coefficients at the last evaluate_terms
    /// (FrictionPart). True if some changed: directions of slip in these parts are then void. set_mode does the same.
    bool shape_friction();
    /// Whether shape_friction would change something, at the last evaluate_terms.
    bool friction_changes_shape() const;
    /// Whether no state changes the shape of friction: all coefficients of orthotropic friction are constant.
    bool friction_keeps_shape() const;
    /// The mode in force with the directions of slip in planes as the velocities of the last evaluate_terms have them.
    /// Directions of parts with one row, and of parts that hardly move, stay.
    SystemMode followed_mode() const;

    // --- evaluation at a state ---

    /// Terms of the model, row velocities and coefficients alone. Costs nothing if the state is that of the last call.
    void evaluate_terms(double t, const double* x);
    /// The same without h and ζ, which may then belong to other velocities. Positions, M, W and χ depend on q and t
    /// alone: after an impact this costs little.
    void evaluate_velocities(double t, const double* x);
    /// Everything: terms, accelerations, reactions. False if M or the equations are singular. Costs nothing if state
    /// and mode are those of the last call.
    bool evaluate(double t, const double* x);
    /// The same, then ẋ = (u, u̇, power).
    bool derivative(double t, const double* x, double* dx);
    /// Factorises M of the last evaluate_terms; only once if M is constant. False if M is not positive definite.
    bool factorise_mass();
    /// Gaps and constraint functions alone. `q` points to (q, u).
    std::span<const double> positions(double t, const double* q);
    model::Energy energy(double t, const double* x);

    // --- results of evaluate_terms ---

    const model::Terms& terms() const { return terms_; }
    const model::MassFactor& mass() const { return mass_; }
    std::span<const double> coefficients() const { return coefficients_; }
    double row_velocity(int row) const { return gamma_[static_cast<std::size_t>(row)]; }  ///< γ of a row
    /// Size that rounding errors of a gap are relative to: 1 + Σ|W_i q_i|.
    double position_scale(int row, const double* q) const;
    /// The slip velocity of a part, `size` numbers.
    const double* slip_velocity(int part) const { return gamma_.data() + part_at(part).row; }
    double slip_speed(int part) const;  ///< length of the slip velocity of a part, >= 0
    double slip_along(int part) const;  ///< component of the slip velocity along the mode's direction of slip
    /// Force of a contact's spring and damper, k·depth + d·rate. It is negative where they pull.
    double spring_force(int element) const;
    /// The same for a contact that can only push: 0 if the mode says that they would pull.
    double penalty_force(int element, const ElementMode& mode) const {
        return mode.pulls ? 0.0 : spring_force(element);
    }
    bool damped(int element) const;  ///< the contact's damper is not zero

    // --- results of evaluate ---

    std::span<const double> acceleration() const { return acceleration_; }
    /// The largest single contribution to an acceleration, in the unit of u̇: rounding errors are relative to it.
    double acceleration_scale() const { return acceleration_scale_; }
    std::span<const double> free_acceleration() const { return free_; }  ///< without the multipliers
    std::span<const double> reactions() const { return lambda_; }        ///< λ of each row of the model
    double load(int element) const { return load_[static_cast<std::size_t>(element)]; }  ///< |normal force| >= 0
    /// Replaces a reaction; if the equations are redundant, then their reactions are not unique.
    void set_reaction(int element, int row, double value);
    /// How much the force of a sticking part can still grow, in units of force; >= 0 inside its set.
    double reserve(int part) const;

    // --- redundant equations ---

    /// Rows of equations at an angle below it, in rad, count as dependent (Thresholds::least_redundancy).
    double redundancy() const { return redundancy_; }
    void set_redundancy(double angle) {
        redundancy_ = angle;
        evaluated_ = false;
    }
    bool coarse() const { return redundancy_ > Thresholds::least_redundancy; }  ///< the angle is larger than usual
    bool redundant() const { return redundant_; }  ///< the equations of the mode were dependent at set_mode
    /// What the equations of a redundant mode leave open.
    struct Ambiguity {
        std::vector<int> elements;  ///< numbers of the elements whose reactions are not unique, rising
        bool motion = false;        ///< the accelerations depend on how the reactions are distributed
    };
    /// After evaluate. If the mode is not redundant, then nothing is left open. Slipping friction grows with the normal
    /// forces: if these are not unique, then the motion need not be unique either.
    Ambiguity ambiguity() const;
    /// Whether the equations were independent at set_mode and are dependent at the last evaluate.
    bool degenerating() const { return degenerating_; }
    /// Whether sliding friction has nearly cancelled what holds some contact: w_N·M⁻¹(w_N − w_T ∇σ) is near zero or
    /// negative. The contact force then grows without bound (Painlevé).
    bool nearly_singular(double t, const double* x);

    // --- projection ---

    /// Moves q onto the constraints and closed contacts, and u onto the equations, on the shortest way in the metric of
    /// M; x is (q, u, …). False if that does not succeed.
    bool project(double t, double* x);
    /// Brings the velocities onto the equations by impulses along F, the directions in which forces act, so that
    /// slipping friction acts on the other velocities. False if the equations are singular.
    bool project_along_forces(double t, double* x);

    // --- friction laws, and derivatives for linearised.hpp ---

    /// ∇σ of the set of a slipping part for the load 1, at the slip velocity `gamma`: the friction force is −load·∇σ.
    /// `direction` decides the sign, and the direction too if the velocity has none (FrictionMode::direction).
    void slip_gradient(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                       double* gradient) const;
    /// Derivative of slip_gradient, size × columns; `velocity` is the derivative of `gamma`, `coefficient` that of the
    /// coefficients.
    Matrix slip_gradient_derivative(const FrictionPart& part, const SlipDirection& direction, const double* gamma,
                                    const Matrix& velocity, const Matrix& coefficient) const;
    /// Derivative of spring_force, from the derivatives of positions, velocities and coefficients.
    Eigen::RowVectorXd spring_derivative(int element, const Matrix& position, const Matrix& velocity,
                                         const Matrix& coefficient) const;
    /// Derivative of penalty_force in the mode in force.
    Eigen::RowVectorXd penalty_derivative(int element, const Matrix& position, const Matrix& velocity,
                                          const Matrix& coefficient) const;
    const std::vector<int>& equation_rows() const { return equations_; }  ///< rows of A
    /// The element whose normal an equation is; -1 for friction rows.
    int equation_owner(int equation) const { return equation_element_[static_cast<std::size_t>(equation)]; }
    /// The column of F of an equation, at the state of the last evaluate_terms: `column` must be zero, and gets its
    /// n numbers. The column of a normal whose friction slips is w_N − sign·W_T ∇σ: friction grows with the force.
    void force_column(int equation, std::span<double> column) const;
    Eigen::Map<const Matrix> equation_columns() const;    ///< M⁻¹F of the last evaluate, n × equations
    Matrix multiplier_inverse() const;                    ///< K⁻¹, or its pseudo-inverse if redundant
    Matrix solve_multipliers(const Matrix& right) const;  ///< K⁻¹ · right

    long evaluations = 0;  ///< calls of evaluate so far

private:
    const FrictionPart& part_at(int part) const { return layout_.parts[static_cast<std::size_t>(part)]; }
    void settle(double t, const double* x);
    bool is_evaluated(double t, const double* x, int count) const;
    void update_velocities(const double* x);
    void update_coefficients(double t, const double* x);
    void update_parts();
    bool solve_equations();
    bool correct_independent(const std::vector<int>& rows, const std::vector<double>& defect, double* target);
    Matrix multiplier_matrix() const;

    const model::Mechanics& model_;
    const int n_;
    const bool compliant_;
    const double stiffness_;
    ElementsAndParts layout_;
    SystemMode mode_;
    model::Workspace workspace_;
    model::Terms terms_;
    double terms_t_ = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> terms_x_;  // (q, u) of terms_ at terms_t_; empty if there is none
    bool rates_stale_ = false;     // h and ζ belong to other velocities
    model::MassFactor mass_;
    solvers::DenseLU lu_;
    std::vector<double> coefficients_, gamma_, lambda_, load_, acceleration_, positions_;
    std::vector<int> equations_;         // rows of A
    std::vector<int> equation_element_;  // the element whose normal it is, -1 for slip rows
    std::vector<double> columns_;        // M⁻¹ F, a column of n an equation
    std::vector<double> free_, right_, multiplier_;
    std::vector<int> projected_positions_;  // of `project`, as the following
    std::vector<double> defect_, projection_columns_, projection_force_;
    solvers::DenseLU projection_lu_;
    double acceleration_scale_ = 0.0, redundancy_ = Thresholds::least_redundancy;
    bool redundant_ = false, degenerating_ = false;
    bool needs_coefficients_ = false;
    bool orthotropic_ = false;   // some friction is
    bool shape_varies_ = false;  // some orthotropic friction has coefficients that vary: one of them may become zero
    bool factorised_ = false;
    bool evaluated_ = false;  // accelerations and reactions belong to the terms and to the mode in force
};

}  // namespace saltus::integrate
