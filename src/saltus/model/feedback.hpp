// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/expr/tape.hpp"

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

/// The feedback law that is closed in a model, for reports. y are the actuated coordinates:
///     u = −Kp (y − reference) − Kv ẏ,   or with potential shaping   u = ∂U/∂q − ∂Ũ/∂q − Kv ẏ.   [Tornambe] section III
/// The system of the model contains its forces already.
struct ControlLoop {
    std::vector<std::string> actuated;  ///< names of the coordinates y
    Matrix Kp, Kv;
    std::vector<double> reference;
    std::string shaping;  ///< Ũ as written; empty without shaping
};

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

}  // namespace saltus::model
