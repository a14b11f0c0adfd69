// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/gains/measures.hpp"

namespace saltus::control {

/// Where the state and the forces of a target are taken: at the end of the motion, or at the rest it leads to.
enum class TargetAt { end, steady };

/// An equation such as "lambda(stop) = 5" between numbers of a run: coordinates x, velocities x', t, parameters,
/// normal forces lambda(contact) and friction lambdaT(contact), lambdaT(contact, 2) of contacts and constraints, and
/// settling_time, impacts, peak_impulse, peak_force.
class Target {
public:
    /// Throws Error for what is not one; `model` says which names there are.
    Target(const std::string& text, const model::Model& model);
    ~Target();
    Target(Target&&) noexcept;
    Target& operator=(Target&&) noexcept;

    const std::string& text() const { return text_; }
    /// Steady where forces are asked for, and nothing that only a moment of the motion has.
    TargetAt natural() const;

    /// Left side minus right side, with the left side alone; nothing where a number that it needs does not exist.
    struct Value {
        double left = 0.0, difference = 0.0;
    };
    std::optional<Value> value(const model::Model& model, const Measures& run, TargetAt at) const;

    /// d(difference)/d(parameter) at the steady rest, exactly; nothing where that is not to be had.
    std::optional<double> steady_derivative(const model::Model& model, const Measures& run, Statics& statics,
                                            const std::string& parameter) const;

private:
    struct Inside;
    std::string text_;
    std::unique_ptr<Inside> inside_;
};

}  // namespace saltus::control
