// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/gains/measures.hpp"

namespace saltus::control {

/// The state and the forces with which a target is evaluated: those at the end of the motion, or those of the
/// equilibrium to which it leads.
enum class TargetAt { end, steady };

/// An equation between numbers of a run, such as "lambda(stop) = 5". Its names are coordinates x, velocities x', t,
/// parameters, normal forces lambda(contact) and friction forces lambdaT(contact), lambdaT(contact, 2) of contacts and
/// constraints, gaps gap(contact), the outputs of the model and their extreme values lowest(output), highest(output),
/// and settling_time, impacts, peak_impulse, peak_force.
class Target {
public:
    /// Parses an equation with the names of `model`. Throws Error.
    Target(const std::string& text, const model::Model& model);
    ~Target();
    Target(Target&&) noexcept;
    Target& operator=(Target&&) noexcept;

    const std::string& text() const { return text_; }
    /// The default: `steady` if the target contains forces but neither the time nor velocities, otherwise `end`.
    TargetAt natural() const;

    struct Value {
        double left = 0.0;        ///< value of the left side
        double difference = 0.0;  ///< left side minus right side
    };
    /// The value of a run; nothing if the run is not complete or a number that the target needs does not exist.
    std::optional<Value> value(const model::Model& model, const Measures& run, TargetAt at) const;

    /// The exact derivative of the difference by a parameter at the equilibrium; nothing if it is not available
    /// (structural parameter, no strict equilibrium, a number that depends on the motion).
    std::optional<double> steady_derivative(const model::Model& model, const Measures& run, Statics& statics,
                                            const std::string& parameter) const;

private:
    struct Parsed;
    /// Left side, difference and the derivatives of the difference by the symbols, in this order.
    std::optional<std::vector<double>> evaluate(const model::Model& model, const Measures& run, TargetAt at) const;

    std::string text_;
    std::unique_ptr<Parsed> parsed_;
};

}  // namespace saltus::control
