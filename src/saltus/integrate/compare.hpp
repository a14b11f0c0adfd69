// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// One run of time-stepping or of the penalty method, compared with the event-driven motion.
struct ComparedRun {
    double parameter = 0.0;       ///< step h in s, or the factor on the penalty's stiffness k
    double position_error = 0.0;  ///< largest |q − q_event| over the samples, divided by 1 + largest |q_event|
    /// Largest differences at the end, absolute. No value if one of the motions ended early.
    std::optional<double> end_error_q, end_error_u;
    /// Observed order with respect to the previous run: log(ratio of errors)/log(ratio of parameters).
    std::optional<double> order;
    trajectory::Trajectory trajectory;
};

/// The three methods on one model. The steps of time-stepping are h, h/2, h/4, …; the stiffnesses of the penalty method
/// are k, 10 k, 100 k, ….
struct Comparison {
    trajectory::Trajectory event;
    std::vector<ComparedRun> moreau, penalty;
    /// Slopes of log(error) over the whole series: positive if the error falls with h, or with 1/k. Empty if fewer than
    /// two runs have an error other than zero.
    std::optional<double> moreau_order, penalty_order;
    std::string penalty_left_out;  ///< why there is no penalty series; "" if there is one
    std::string penalty_note;      ///< what else than k changes along the penalty series; "" if nothing does
};

struct CompareOptions {
    Options options;
    EventDriven event;
    double h = 1e-3;      ///< largest step, in s
    int refinements = 3;  ///< how often h is halved and k multiplied by 10; each series has one run more than this
    int samples = 400;    ///< intervals between the times at which positions are compared
    /// The model of the penalty method with the factor on every k as argument, if it differs from the rigid model: D
    /// and D_hat of [penalty] act only there. Default: the same model.
    std::function<model::Model(double stiffness)> springs;
    std::string springs_note;  ///< Comparison::penalty_note
};

/// Simulates with all three methods. Throws what `simulate` throws.
Comparison compare(const model::Model& model, const CompareOptions& options);

}  // namespace saltus::integrate
