// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

struct Options {
    integrate::Method method = integrate::EventDriven{};  ///< event-driven or penalty
    double t_end = 1.0;
    double tolerance = 1e-11;  ///< of the linear equations on an arc, relative to the largest derivative so far
    std::string output;        ///< an expression of the final state, or nothing
    bool adjoint = false;      ///< the derivatives of the output alone, backwards: for many variables
    bool keep_course = false;  ///< the derivatives of the state at the ends of all steps
    int threads = 0;           ///< of differences
    std::function<bool()> interrupted;
    std::function<void(double t)> progress;
};

/// Something without a derivative, and why.
struct Remark {
    double t = 0.0;
    std::string variable;  ///< or "" for all
    std::string text;
};

/// The derivatives of one event of the motion. NaN: there is none, and a remark says why.
struct EventSensitivity {
    std::size_t event = 0;  ///< of the trajectory
    std::vector<double> dt;
    double transversality = 1.0;  ///< of the worst condition; NaN for events without one of their own
    Matrix saltation;  ///< ∂x⁺/∂x⁻ at fixed time, 2n × 2n; where several events fall together, the first one's, or all
                       ///< of them where their order does not matter
};

struct Course {
    double t = 0.0;
    Matrix state;  ///< 2n × variables
};

struct Sensitivity {
    trajectory::Trajectory motion;
    std::vector<Variable> with_respect_to;
    bool available = true;  ///< otherwise `reason`: time-stepping, a system without derivatives, a motion that failed
    std::string reason;
    Matrix final;                ///< ∂(q, u) at the end, 2n × variables; empty in adjoint mode
    std::vector<int> one_sided;  ///< variables whose derivative holds for larger (1) or smaller (−1) values alone
    std::vector<EventSensitivity> events;
    std::vector<Course> course;
    std::optional<double> output;
    std::vector<double> output_derivative;
    Vector output_gradient;  ///< of the expression at the end: t, q, u, parameters
    std::vector<Remark> remarks;
    double simulation_seconds = 0.0, derivative_seconds = 0.0;
    long evaluations = 0;  ///< of the linearised equations
};

/// A motion and its derivatives with respect to the variables, through all events.
Sensitivity sensitivity(const model::Model& model, const std::vector<Variable>& with_respect_to,
                        const Options& options);

}  // namespace saltus::sensitivity
