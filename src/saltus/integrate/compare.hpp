// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// One run of a series against the event-driven motion.
struct ComparedRun {
    double parameter = 0.0;       ///< step h, or factor on the penalty's k
    double position_error = 0.0;  ///< sup over the samples of |q − q_event|, relative to the largest |q| + 1
    double end_error_q = 0.0, end_error_u = 0.0;  ///< at the end
    std::optional<double> order;  ///< observed against the run before: log(error ratio)/log(parameter ratio)
    trajectory::Trajectory trajectory;
};

/// The three methods on one model. Moreau's steps are h, h/2, h/4, …, the penalty's k, 10 k, 100 k, ….
struct Comparison {
    trajectory::Trajectory event;
    std::vector<ComparedRun> moreau, penalty;
    std::optional<double> moreau_order, penalty_order;  ///< slope over the whole series
    std::string penalty_left_out;                       ///< why there is no penalty series
};

struct CompareOptions {
    Options options;
    EventDriven event;
    double h = 1e-3;      ///< largest step
    int refinements = 3;  ///< of h and of k
    int samples = 400;    ///< times at which positions are compared
};

Comparison compare(const model::Model& model, const CompareOptions& options);

}  // namespace saltus::integrate
