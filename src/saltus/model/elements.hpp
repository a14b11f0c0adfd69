// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

namespace saltus::model {

// The elements of a model: contacts, constraints, sliders, clutches and jumps. An element does not hold numbers. It
// names its rows (numbers in the order of Layout) and its coefficients (numbers in System::coefficients), because
// friction and restitution may depend on time and state.

/// The set C_T of admissible friction forces, scaled by the normal force.
enum class FrictionLaw {
    none,         ///< no friction: the element has no slip rows
    coulomb,      ///< an interval [−μ, μ] (1 row) or a disk of radius μ (2 rows)
    orthotropic,  ///< an ellipse with the semi-axes μ₁, μ₂ (2 rows)
    contensou,    ///< sliding and drilling friction combined (3 rows: two slips, one spin)
    rolling,      ///< a disk, a drilling moment and a disk of rolling moments, each by itself (5 rows)
};

/// Newton: γ⁺ + e γ⁻ complementary to Λ. Poisson: expansion impulse = e · compression impulse. Energy: T⁺ = e² T⁻.
enum class ImpactLaw { newton, poisson, energy };

/// Index of a value in System::coefficients, or `no_coefficient`.
using Coefficient = int;
inline constexpr Coefficient no_coefficient = -1;

/// A friction law on the slip rows [first_row, first_row + dimension).
struct Friction {
    FrictionLaw law = FrictionLaw::none;
    int first_row = 0;
    int dimension = 0;                                              ///< number of slip rows: 0 (law none), 1, 2, 3 or 5
    std::array<Coefficient, 2> mu{no_coefficient, no_coefficient};  ///< the second one for orthotropic friction
    std::array<Coefficient, 2> radius{no_coefficient, no_coefficient};  ///< effective radii: drilling, rolling
    /// Stick holds up to this coefficient, slip has μ; none: both have μ. Coulomb friction only.
    Coefficient mu_static = no_coefficient;

    /// Whether the element can transmit friction forces at all. The value of μ may still be 0.
    bool present() const { return law != FrictionLaw::none; }
};

/// A unilateral contact g_N(t,q) >= 0 with its friction and impact laws.
struct Contact {
    std::string name;
    int row = 0;  ///< row of the gap and the normal velocity
    Friction friction;
    ImpactLaw impact = ImpactLaw::newton;
    Coefficient e_n = no_coefficient, e_t = no_coefficient;  ///< restitution, normal and tangential; none means 0
    Coefficient c = no_coefficient;                          ///< energy law: e = 1 − c · (approach speed), c in s/m
    Coefficient penalty_k = no_coefficient, penalty_d = no_coefficient;  ///< penalty method: force k·depth + d·rate
    Coefficient condition = no_coefficient;  ///< the contact exists only while this is > 0; none: it always exists
};

/// A bilateral constraint g(t,q) = 0, or γ(t,q,u) = 0 if it is one of velocities alone (nonholonomic). Its friction
/// forces are scaled by the magnitude |ν| of its own reaction.
struct Constraint {
    std::string name;
    int row = 0;
    bool on_velocity = false;  ///< γ is given and not g: the row has a velocity and no position
    Friction friction;
};

/// A friction element whose normal force F_N(t,q,u) >= 0 is known.
struct Slider {
    std::string name;
    Friction friction;
    Coefficient normal_force = no_coefficient;
    Coefficient e_t = no_coefficient;  ///< tangential restitution at impacts; none means 0
};

/// A one-way clutch: γ >= 0, λ >= 0, γ λ = 0 for the velocity of its row.
struct Clutch {
    std::string name;
    int row = 0;
};

/// A new value of a position or velocity: the number of the coordinate, and the coefficient that is its value.
struct JumpValue {
    int coordinate = 0;
    Coefficient value = no_coefficient;
};

/// A reset of the state: when the quantity `when` passes through zero, q and u take new values, which are functions of
/// the time and of the state just before. Coordinates and velocities that are not named stay. All of its functions are
/// coefficients of the system, so that values, derivatives and Taylor series are at hand.
struct Jump {
    enum class Direction {
        down,  ///< triggers where `when` falls through zero
        up,    ///< where it rises through zero
        both,
    };
    std::string name;
    Direction direction = Direction::both;
    Coefficient when = no_coefficient;
    Coefficient guard = no_coefficient;  ///< it triggers only if this is > 0; none: always
    std::vector<JumpValue> q, u;
};

/// The friction of a slider whose normal force depends on the friction itself (detail/reaction_loads.cpp). The smooth
/// forces contain the mean force, and the slider's law gives the rest: λ = mean + λ', where Slider::normal_force is not
/// F_N but the half width of the interval of λ' divided by μ. Whoever reports λ or F_N uses this.
struct MeanFriction {
    std::size_t slider = 0;               ///< index in Model::sliders
    Coefficient mean = no_coefficient;    ///< mean force
    std::array<Coefficient, 3> square{};  ///< c₀, c₁, c₂ of F_N² = c₀ + 2c₁λ + c₂λ²
};

}  // namespace saltus::model
