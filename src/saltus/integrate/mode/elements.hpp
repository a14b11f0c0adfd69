// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "saltus/integrate/mode/mode.hpp"
#include "saltus/model/elements.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/solvers/friction/friction.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// The rows of the model that belong to one element (contact, constraint, slider or clutch).
struct ElementRows {
    trajectory::ElementKind kind;
    int index;            ///< number of the element within its kind
    int normal = -1;      ///< row of the contact normal, of the constraint or of the clutch; -1 for sliders
    int first_slip = -1;  ///< first row of friction; -1 without friction
    int slips = 0;        ///< number of rows of friction
};

/// The rows of all elements, in the order of trajectory::Trajectory::elements.
std::vector<ElementRows> element_rows(const model::Mechanics& model);
/// The same elements as a trajectory names them.
std::vector<trajectory::Element> elements_of(const model::Mechanics& model);

/// The numbers first, first + 1, ..., first + count − 1, to loop over.
struct NumberRange {
    struct Iterator {
        int number;
        int operator*() const { return number; }
        Iterator& operator++() {
            ++number;
            return *this;
        }
        bool operator==(const Iterator&) const = default;
    };
    int first, count;

    Iterator begin() const { return {first}; }
    Iterator end() const { return {first + count}; }
};

/// An element with its rows and its friction parts. Fixed for a model.
struct ElementLayout {
    ElementRows rows;
    int first_part = 0;  ///< number of its first friction part
    int parts = 0;       ///< number of its friction parts

    /// The numbers of its friction parts, to loop over.
    NumberRange part_numbers() const { return {first_part, parts}; }
};

/// A group of friction rows that sticks or slips as a whole: sliding, drilling or rolling friction of one element.
///
/// Orthotropic friction with one zero coefficient acts along one axis alone. Its part then has the row of that axis
/// only and is an interval: it sticks along the axis while the element moves freely across it (shape_orthotropic).
struct FrictionPart {
    enum class Shape {
        disk,     ///< |λ_T| <= μ λ_N; an interval if the part has one row
        ellipse,  ///< (λ₁/μ)² + (λ₂/μ_second)² <= λ_N²
        patch,    ///< Contensou: sliding and drilling friction of a round contact patch, coupled
    };
    Shape shape = Shape::disk;
    int element = 0;  ///< number of the element that it belongs to
    int row = 0;      ///< first row in the model
    int size = 1;     ///< number of rows: 1, 2 or 3
    double mu = 0.0;  ///< friction coefficient at the last evaluated state; for drilling and rolling times radius
    double mu_second = 0.0;  ///< second semi-axis of an ellipse
    /// Coefficients of the model whose values are the semi-axes along the first two rows of the part; for drilling and
    /// rolling without the factor of the radius.
    std::array<model::Coefficient, 2> axes{model::no_coefficient, model::no_coefficient};
    double radius = 0.0;     ///< radius of a patch, in the unit of length
    double mu_static = 0.0;  ///< bound of stick; equal to `mu` if the friction has no coefficient of its own for it
    model::Coefficient static_axis = model::no_coefficient;  ///< its coefficient; none: stick and slip have μ

    /// No force is possible, whatever the load.
    bool frictionless() const { return mu == 0.0 && mu_second == 0.0 && mu_static == 0.0; }
};

struct ElementsAndParts {
    std::vector<ElementLayout> elements;
    std::vector<FrictionPart> parts;
};
/// All elements of a model and their friction parts; the coefficients of the parts are not set.
ElementsAndParts elements_and_parts(const model::Mechanics& model);

/// Sets rows and shape of the part of an orthotropic law from the values of the coefficients: an ellipse, or the row of
/// one axis if the other coefficient is at most Thresholds::flat_ellipse times the larger one. True if they changed.
bool shape_orthotropic(FrictionPart& part, const model::Friction& friction, std::span<const double> coefficients);

/// The mode before anything is decided: constraints and sliders are active, contacts are open, clutches are free, all
/// friction sticks.
SystemMode initial_mode(const ElementsAndParts& layout);

/// Whether some friction part of the element slips.
bool any_part_slips(const ElementLayout& element, const SystemMode& mode);

/// The friction of an element, or nullptr for clutches, which have none.
const model::Friction* friction_of(const model::Mechanics& model, const ElementRows& element);

/// Sets the coefficients of sliding friction in a law: `mu`, and `mu_second` if the friction is orthotropic.
void set_sliding(solvers::Law& law, const model::Friction& friction, std::span<const double> coefficients);

/// Law of a contact with its friction, as one block of a normal row and the slip rows, from coefficient values.
solvers::Law contact_law(const model::Contact& contact, std::span<const double> coefficients);

/// The names of elements by their numbers: "a, b and c".
std::string names_of(const std::vector<int>& numbers, const std::vector<trajectory::Element>& elements);
/// The warning that the forces of these elements at the end of a motion are not unique.
std::string ambiguous_forces_text(const std::vector<int>& numbers, const std::vector<trajectory::Element>& elements);

/// Value of a coefficient, or `otherwise` if the model does not give it.
double coefficient(std::span<const double> values, model::Coefficient c, double otherwise = 0.0);

}  // namespace saltus::integrate
