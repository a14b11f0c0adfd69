// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

/// How the motion is simulated and which of its derivatives are computed.
struct Options {
    /// The simulation method. Only the event-driven method and the penalty method resolve their events; Moreau's
    /// time-stepping gives a result with `available = false`.
    integrate::Method method = integrate::EventDriven{};
    double t_end = 1.0;                      ///< end of the motion, in s
    std::optional<trajectory::State> start;  ///< default: the model's initial state at t = 0
    /// Tolerance of the linearised equations on one arc. The local error of a derivative is kept below
    /// tolerance · (largest derivative of the same kind so far on the arc).
    double tolerance = 1e-11;
    std::string output;         ///< an expression of the final state whose derivatives are wanted; "" for none
    bool adjoint = false;       ///< compute the derivatives of `output` alone, backwards: cheaper for many variables
    bool keep_history = false;  ///< fill Sensitivity::history (forward mode only)
    int threads = 0;            ///< threads that differences() uses; 0: as many as the machine has
    std::function<bool()> interrupted;       ///< asked now and then; true ends the simulation early
    std::function<void(double t)> progress;  ///< told the time that the simulation has reached
};

/// A statement about a derivative that does not exist, or that holds on one side only.
struct Remark {
    double t = 0.0;        ///< time of the event that causes it, in s
    std::string variable;  ///< name of the variable; "" if the remark is about all variables
    std::string text;
};

/// The derivatives of one event of the motion. NaN means that the derivative does not exist; a remark says why.
struct EventSensitivity {
    std::size_t event = 0;   ///< index in Sensitivity::motion.events
    std::vector<double> dt;  ///< ∂t_event/∂variable, one per variable
    /// |ṡ| of the event condition s = 0 relative to its largest possible value, in [0, 1]; the smallest one if several
    /// conditions become zero together. NaN for events that have no condition of their own.
    double transversality = 1.0;
    /// Ξ = ∂x⁺/∂x⁻ at a fixed time, 2n × 2n. If several events happen together and their order does not matter then Ξ
    /// contains all of them; otherwise it is that of the first. Empty for large systems.
    Matrix saltation;
};

/// The derivatives of the state at one time of the motion.
struct DerivativeSample {
    double t = 0.0;
    Matrix state;  ///< ∂(q, u)/∂variables, 2n × variables
};

/// A motion and its first-order derivatives.
struct Sensitivity {
    trajectory::Trajectory motion;
    std::vector<Variable> with_respect_to;
    bool available = true;  ///< false: there are no derivatives at all, see `reason`
    std::string reason;     ///< time-stepping method, system without derivatives, or motion that ended early
    Matrix final;           ///< ∂(q, u)/∂variables at the end, 2n × variables; empty in adjoint mode
    /// One per variable: 1 (−1) if the derivative holds for larger (smaller) values of the variable only, otherwise 0.
    std::vector<int> one_sided;
    std::vector<EventSensitivity> events;  ///< empty in adjoint mode
    std::vector<DerivativeSample>
        history;                   ///< derivatives at the ends of all integration steps, if Options::keep_history
    std::optional<double> output;  ///< value of Options::output at the end
    std::vector<double> output_derivative;  ///< total derivative of the output, one per variable
    Vector output_gradient;                 ///< partial derivatives of the output by (t, q, u, all parameters)
    std::vector<Remark> remarks;
    double simulation_seconds = 0.0, derivative_seconds = 0.0;  ///< wall-clock times
    long evaluations = 0;                                       ///< evaluations of the linearised equations
};

/// Simulates a motion and differentiates it with respect to the variables, through all events. A derivative that does
/// not exist is NaN and has a remark. Throws Error if Options::output cannot be parsed.
Sensitivity sensitivity(const model::Model& model, const std::vector<Variable>& with_respect_to,
                        const Options& options);

}  // namespace saltus::sensitivity
