// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/integrate/mode/active.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/stability/equilibria/equilibrium_friction.hpp"

namespace saltus::stability {

/// One element (contact, constraint, slider or clutch) and the forces that it can exert at rest.
struct RestingElement {
    int element = 0;  ///< index among the elements of the model, as in integrate::elements_of
    trajectory::ElementKind kind = trajectory::ElementKind::contact;
    int normal = -1;    ///< column of W of its normal force λ_N, reaction ν or clutch force; −1 for a slider
    int slip = -1;      ///< first column of W of its friction force λ_T; −1 without friction
    FrictionBody body;  ///< friction that can stick; empty if the friction slides or there is none
    double load = 0.0;  ///< normal force F_N of a slider, >= 0; 0 for other elements
    /// A moving surface (χ_T ≠ 0, for example a belt) slides although the coordinates rest. For a constraint this is
    /// then its friction force under |ν| = 1; otherwise the vector is empty. For a contact the sliding friction is part
    /// of the column of the normal force, for a slider it is part of h.
    Vector sliding;

    /// A constraint without friction: its reaction ν has any sign and size.
    bool free() const { return kind == trajectory::ElementKind::constraint && body.empty(); }
    /// A constraint with friction: λ_T ∈ |ν| C is a union of two convex cones, one for each sign of ν.
    bool two_signed() const { return kind == trajectory::ElementKind::constraint && !body.empty(); }
};

/// The forces at rest in one position q: (q, 0) is an equilibrium if h + Wλ = 0 for some λ that the laws allow.
struct Statics {
    Vector h;      ///< h(t, q, 0), plus the known friction of sliders that slide
    Matrix W;      ///< one column for each force that can act
    Vector scale;  ///< √M_ii, so that all h_i/scale_i have the same unit
    /// Reference size of forces, ‖h/scale‖ in units of `scale`: |h| plus the change of h for displacements of 1 +
    /// |q_i|. Residuals of the balance of forces are compared with it.
    double size = 0.0;
    std::vector<RestingElement> elements;  ///< elements that can act, in the order of the model
    struct Share {
        int row;        ///< row of the model
        double factor;  ///< part of the force of this column that acts along this row
    };
    std::vector<std::vector<Share>> columns;  ///< W.col(c) = Σ factor · rowᵀ
    struct Fixed {
        int element, row;
        double per_load;  ///< friction force under the load 1
        double force;     ///< friction force under the load of the slider
    };
    std::vector<Fixed> fixed;  ///< friction of sliders that slide; its force is part of h
    std::string moves;         ///< if not empty: the element that moves by itself, so that no position can be at rest
};

/// A model at rest at a fixed time. `move_to` sets the position; all other functions refer to that position. An object
/// must not be used by two threads at once.
class RestingModel {
public:
    /// The model must outlive this object.
    explicit RestingModel(const model::Mechanics& model, double t = 0.0);

    const model::Mechanics& model() const { return model_; }
    double time() const { return t_; }
    int size() const { return n_; }  ///< number of coordinates
    const std::vector<integrate::ElementRows>& elements() const { return elements_; }

    /// Evaluates the model at (t, q, 0). Must be called before the functions below.
    void move_to(const Vector& q);

    const Vector& q() const { return q_; }
    /// Value of a constraint g or a gap g_N, by row of the model.
    double position(int row) const { return terms_.positions[static_cast<std::size_t>(row)]; }
    /// Size that such a value is compared with: 1 + Σ |∂g/∂q_i q_i| (model::row_scale).
    double position_scale(int row) const;
    /// A row of Wᵀ or G as a dense vector.
    Eigen::RowVectorXd row(int row) const;
    double chi(int row) const { return terms_.chi[static_cast<std::size_t>(row)]; }
    /// |g_N| <= tolerance · position_scale.
    bool closed(std::size_t contact, double tolerance = 1e-10) const;
    double gap(std::size_t contact) const;
    double coefficient(int number) const;  ///< value of a model::Coefficient; 0 for model::no_coefficient
    double potential();                    ///< U(t, q)
    /// Largest |g| of the constraints and largest −g_N of the contacts, each divided by its position_scale; >= 0.
    double violation() const;

    /// The forces that can act when the given contacts are closed. `closed` has one flag for each contact.
    Statics statics(const std::vector<char>& closed);

    /// ∂(h + Wλ)/∂q at constant λ, n × n. It includes the change of the loads of sliders that slide, and of μ of
    /// contacts that slide along one direction. Needs derivatives.
    Matrix stiffness(const Statics& statics, const Vector& lambda);
    /// ∂(h + Wλ)/∂u at constant λ and u = 0, n × n. It includes the change of μ of contacts that slide along one
    /// direction. Needs derivatives.
    Matrix velocity_slopes(const Statics& statics, const Vector& lambda);
    /// All contacts that slide on moving surfaces have one slip direction with Coulomb friction. Only then `stiffness`
    /// and `velocity_slopes` contain the whole change of their friction.
    bool planar_sliding(const Statics& statics) const;
    /// Whether a formula has a kink or a jump at this position, at rest: the derivatives then do not describe the
    /// motion nearby. Needs has_derivatives().
    bool at_switch();
    Matrix mass() const;  ///< M
    /// Whether the system provides derivatives; `stiffness` and `load_slopes` need them.
    bool has_derivatives();
    /// ∂F_N/∂q of the sliders, one row for each element of the statics, zero for elements that are no sliders.
    Matrix load_slopes(const Statics& statics);
    /// ∂ln μ/∂q of the friction that bounds each force of the statics, one row for each column of W; 0 for other forces
    /// and where μ = 0.
    Matrix friction_slopes(const Statics& statics);

private:
    /// ∂(h + Wλ) by the n variables from column `first` of [t, q, u, p] on, without the change of slider loads.
    Matrix force_slopes(const Statics& statics, const Vector& lambda, int first);
    Eigen::RowVectorXd load_slope(int element);
    /// The derivative of a coefficient by the n variables from column `first` of [t, q, u, p] on.
    Eigen::RowVectorXd coefficient_slope(int coefficient, int first);
    double size_of(const Statics& statics);
    /// Adds the columns of one element to `s`; does nothing if the element cannot act.
    void add_element(Statics& s, std::size_t index) const;

    const model::Mechanics& model_;
    const double t_;
    const int n_;
    std::vector<integrate::ElementRows> elements_;
    model::Workspace workspace_;
    model::Terms terms_;
    std::vector<double> coefficients_, rest_;
    std::unique_ptr<model::Jacobians> jacobians_;
    bool jacobians_requested_ = false;
    std::vector<double> values_;  ///< entries of the Jacobian evaluated last
    Vector q_;
};

/// The same statics without any friction: normal forces, reactions and clutch forces only. The model must be at the
/// position of `statics`.
Statics without_friction(RestingModel& model, const Statics& statics);

}  // namespace saltus::stability
