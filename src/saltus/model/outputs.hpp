// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/elements.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::model {

/// A quantity of a contact or another element that is not a function of the state: its value comes from a motion.
struct ElementQuantity {
    enum class What {
        gap,       ///< gap(contact): g_N, in the unit of the gap
        force,     ///< lambda(element), lambdaN(element): normal force λ_N
        friction,  ///< lambdaT(element), lambdaT(element, 2): component of the friction force
        impulse,   ///< Lambda(element), LambdaN(element): normal impulse since the start, ∫ λ_N dt + Σ Λ_N
    };
    What what = What::gap;
    int element = 0;    ///< number among contacts, constraints, sliders, clutches, in this order
    int component = 0;  ///< of friction, counted from 1

    bool operator==(const ElementQuantity&) const = default;
};

/// The meaning of `function(argument)`, such as lambda(floor). Nothing: the function is none of the above. Throws Error
/// with `place` if the model has no such element, or the element no such quantity.
std::optional<ElementQuantity> element_quantity(const Model& model, std::string_view function,
                                                std::string_view argument, const Place& place);

/// A call in a text whose argument is a plain name, such as lambda(vertical groove).
struct NamedCall {
    std::string function, argument;
    Place place;
    std::string symbol;  ///< the name that stands for the call in `WithoutCalls::source`
};
struct WithoutCalls {
    expr::Source source;
    std::vector<NamedCall> calls;
};
/// Replaces every call of one of the `functions` by a name of its own. The name and the spaces behind it are as long as
/// the call, so that places in messages stay right. Equal calls get the same name. Names are numbered from `first` on,
/// so that several texts can be read together.
WithoutCalls replace_calls(const expr::Source& source, std::span<const std::string_view> functions,
                           std::size_t first = 0);
/// The functions of `element_quantity`.
std::span<const std::string_view> quantity_functions();

/// A feedback law that is evaluated at the times 0, T, 2T, ... and held in between (zero-order hold). The held force of
/// an actuated coordinate is the position of a coordinate of its own, whose velocity is 0 and on which nothing acts. It
/// jumps at each sample.
class SampledLaw {
public:
    double period = 0.0;                      ///< T, in s
    std::vector<int> held;                    ///< coordinates of the held forces
    std::vector<ElementQuantity> quantities;  ///< measured quantities that the law mentions

    /// Writes the force of each entry of `held`, from the state just before the sample. `values` are those of
    /// `quantities`.
    void evaluate(double t, std::span<const double> q, std::span<const double> u, std::span<const double> values,
                  std::span<double> out) const;
    /// The time of sample k, and the number of the first sample after a time. Times within a rounding error of a
    /// sample count as the sample.
    double time(long k) const { return static_cast<double>(k) * period; }
    long first_after(double t) const;

private:
    friend class Builder;
    expr::Tape tape_;  // variables: t, coordinates, velocities, quantities
    std::vector<double> p_;
};

/// A derived quantity of [output].
struct Output {
    std::string name;
    std::string unit;  ///< as written; may be empty
    expr::Source source;
};

/// The friction of a slider whose normal force depends on the friction itself (detail/reaction_loads.cpp). The smooth
/// forces contain the mean force, and the slider's law gives the rest: λ = mean + λ', where Slider::normal_force is not
/// F_N but the half width of the interval of λ' divided by μ. Whoever reports λ or F_N uses this.
struct MeanFriction {
    std::size_t slider = 0;               ///< index in Model::sliders
    Coefficient mean = no_coefficient;    ///< mean force
    std::array<Coefficient, 3> square{};  ///< c₀, c₁, c₂ of F_N² = c₀ + 2c₁λ + c₂λ²
};

/// The derived quantities of a model, and what else is read off a motion. Only `sampled` influences the motion.
class Outputs {
public:
    std::vector<Output> list;                   ///< may be empty
    std::shared_ptr<const SampledLaw> sampled;  ///< the control, if it samples; otherwise null
    std::vector<MeanFriction> mean_friction;    ///< of sliders that change their own normal force
    bool damping_left_out = false;              ///< [penalty] has D or D_hat, and the model was built without them
    std::vector<ElementQuantity> quantities;    ///< those that the expressions mention

    /// Writes all values. q and u are those of the whole model; `values` are those of `quantities`.
    void evaluate(double t, std::span<const double> q, std::span<const double> u, std::span<const double> values,
                  std::span<double> out) const;

    /// A coordinate that follows a reference r(t) of [control]; the error y − r is an output.
    struct Tracked {
        std::string coordinate;
        std::size_t output;  ///< index in `list`
    };
    std::vector<Tracked> tracked;

private:
    friend class Builder;
    expr::Tape tape_;                      // variables: t, coordinates, velocities, quantities
    std::vector<int> positions_, speeds_;  // indices of the coordinates and velocities that are mentioned
};

/// The sampled control of a model, or null.
const SampledLaw* sampled_law(const Model& model);
/// Sliders that change their own normal force.
std::span<const MeanFriction> mean_frictions(const Model& model);
/// Whether the model has derived quantities.
bool has_outputs(const Model& model);

}  // namespace saltus::model
