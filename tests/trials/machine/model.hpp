// SPDX-License-Identifier: Apache-2.0
//
// A random model as a value: lists that can be shortened, so that a failure can be reduced. It writes itself as a model
// file, and `Mechanics` evaluates its equations of motion for the judges.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "machine/contact_problem.hpp"
#include "machine/expression.hpp"
#include "machine/friction.hpp"

namespace trials {

struct Contact {
    std::string name;
    Expression gap;
    std::vector<Expression> slip;  ///< slip velocities, affine in the velocities; one for each direction of friction
    FrictionLaw friction;
    std::optional<Expression> coefficient =
        std::nullopt;  ///< of planar friction, if it depends on the state; replaces friction.mu
    double e_n = 0.0, e_t = 0.0;
    std::string impact = "newton";
    double loss = 0.0;  ///< c of the energy law e = 1 − c·(approach speed), in s/m; 0: e is e_n
    std::optional<Expression> condition = std::nullopt;  ///< the contact exists only while this is positive
};

struct Slider {
    std::string name;
    std::vector<Expression> slip;
    FrictionLaw friction;
    Expression normal_force;
    std::optional<Expression> coefficient = std::nullopt;  ///< as for contacts
};

/// A bilateral constraint g = 0, perhaps with friction that is proportional to the size of its reaction.
struct Constraint {
    std::string name;
    Expression gap;                ///< g(t, q)
    std::vector<Expression> slip;  ///< as for contacts
    FrictionLaw friction;
    std::optional<Expression> velocity = std::nullopt;  ///< stays 0 in the place of g; affine in the velocities
};

/// A one-way clutch: its velocity stays >= 0.
struct Clutch {
    std::string name;
    Expression velocity;  ///< affine in the velocities
};

/// A reset of the state where `when` passes through zero.
struct Jump {
    std::string name;
    Expression when;
    int direction = 0;                            ///< of the passage: −1 down, 1 up, 0 both
    std::optional<Expression> guard = {};         ///< the jump happens only if this is positive
    std::vector<std::optional<Expression>> q, u;  ///< new values, one for each coordinate; nothing: the value stays

    Point after(const Point& before) const;
};

/// Springs and dampers in the place of rigid contacts: the force max(0, k·depth + d·rate) while a gap is negative.
struct Penalty {
    double k = 0.0, d = 0.0;
};

/// Mass points with springs above planes. The formulas of a model of points are derived from this.
struct Points {
    using Triple = std::array<double, 3>;
    struct Spring {
        std::size_t i = 0, j = 0;  ///< points
        double k = 0.0, c = 0.0;   ///< stiffness and damping along the line
        double rest = 0.0;         ///< length without force; 0: the initial length
    };
    struct Obstacle {
        std::string name;
        Triple normal{};    ///< of any length; normal·x/|normal| >= offset
        Expression offset;  ///< of the time
        double mu = -1.0;   ///< negative: frictionless
        double e_n = 0.0;
    };
    std::vector<double> masses;
    Triple gravity{};
    std::vector<Spring> springs;
    std::vector<Obstacle> obstacles;
};

/// Proportional and derivative feedback on coordinates.
struct Control {
    std::vector<std::size_t> actuated;
    double k_p = 0.0, k_v = 0.0;
    std::vector<double> reference;  ///< one for each actuated coordinate
};

struct Model {
    std::string name;
    std::vector<std::string> coordinates;
    std::vector<std::vector<Expression>> mass;    ///< symmetric; T = uᵀ mass u / 2
    std::vector<Expression> potential;            ///< terms of U
    std::vector<Expression> dissipation;          ///< terms of R
    std::vector<std::vector<Expression>> forces;  ///< terms of f, by coordinate
    std::vector<Contact> contacts;
    std::vector<Slider> sliders;
    std::vector<Constraint> constraints;
    std::vector<Clutch> clutches;
    std::vector<Jump> jumps;
    std::vector<Control> control;     ///< none or one
    std::vector<std::string> region;  ///< inequalities of [certify]
    std::vector<double> q0, u0;
    double t_end = 1.0;
    std::optional<double> parameter;  ///< value of the parameter p that formulas mention
    std::string period = {};          ///< of the excitation, for orbits
    bool has_pulses = false;          ///< pulses or bumps that long steps jump over
    std::optional<Penalty> penalty;
    std::optional<Points> points;  ///< the file then has [points], and `q0`, `u0` are their positions and velocities
    std::optional<ContactProblem> problem;  ///< for `solve`: a contact problem, and nothing else

    std::size_t size() const { return coordinates.size(); }
    /// The model file, or problem file. Every line of `remark` becomes a comment at its beginning.
    std::string toml(const std::string& remark = "") const;
    /// The same model with another value of its parameter.
    Model with_parameter(double value) const;
};

/// A model with n <= 6 coordinates of mass `m`, named x, y, z, w, v, s, at rest at 0.
Model point_masses(std::size_t n, double m);

/// Coordinates, masses, potential, dissipation and contacts of a model of points, from its `points`, `q0` and `u0`.
void derive_formulas_of_points(Model& model);

/// The equations of motion M u̇ = h + Σ wᵀλ of a model, from formulas differentiated once.
class Mechanics {
public:
    explicit Mechanics(const Model& model);

    Matrix mass(const Point& at) const;
    /// All smooth forces: gyroscopic ones, those of U, R, f and the control.
    Vector force(const Point& at) const;
    double energy(const Point& at) const;  ///< T + U, with the potential of the control
    double potential_energy(const Point& at) const;

    /// Elements in this order: contacts, sliders, constraints, clutches.
    enum class Sort { contact, slider, constraint, clutch };
    std::size_t elements() const;
    Sort sort(std::size_t element) const;
    std::size_t number(std::size_t element) const;  ///< among the elements of its sort
    const std::string& name(std::size_t element) const;

    /// Gap of a contact, or value of a constraint. A contact that does not exist at this state has the gap 1.
    double gap(std::size_t element, const Point& at) const;
    /// The direction of the normal force: of a contact, a constraint or a clutch; zero for sliders.
    Vector gap_gradient(std::size_t element, const Point& at) const;
    /// Velocity along the normal: of a contact, a constraint or a clutch.
    double gap_rate(std::size_t element, const Point& at) const;

    /// Slip velocities and their gradients.
    Vector slip(std::size_t element, const Point& at) const;
    std::vector<Vector> slip_gradients(std::size_t element, const Point& at) const;
    double slider_force(std::size_t slider, const Point& at) const;

    const Model& model() const { return model_; }
    /// The friction law; coefficients that depend on the state are not set.
    const FrictionLaw& friction(std::size_t element) const;
    FrictionLaw friction(std::size_t element, const Point& at) const;

private:
    const std::vector<Expression>& slip_formulas(std::size_t element) const;
    /// Formula of the gap of a contact or constraint; number in gap_by_q_.
    const Expression& gap_formula(std::size_t element) const;
    /// The velocity that stays zero, or nothing if the element is no constraint on velocities.
    const Expression* velocity_formula(std::size_t element) const;
    std::size_t gap_number(std::size_t element) const;

    Model model_;
    Expression potential_;
    std::vector<std::vector<std::vector<Expression>>> mass_by_q_;  ///< [k][i][j] = ∂M_ij/∂q_k
    std::vector<Expression> smooth_force_;                         ///< of U, R, f
    std::vector<std::vector<Expression>> gap_by_q_;                ///< contacts, then constraints
    std::vector<Expression> gap_by_t_;
    std::vector<std::vector<Expression>> clutch_by_u_;
    std::vector<std::vector<Expression>> constraint_by_u_;         ///< of constraints on velocities; empty for others
    std::vector<std::vector<std::vector<Expression>>> slip_by_u_;  ///< [element][direction][coordinate]
};

}  // namespace trials
