// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/model/build.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// Central differences of whole motions, extrapolated: (4 D(h/2) − D(h))/3, with the step made smaller until that and
/// D(h/2) agree, or as far as it gets. At the edge of what is allowed, e = 1 for example, differences on one side.
struct Differenced {
    bool possible = false;
    std::string why_not;     ///< the model refuses the value, a motion ends early
    bool times = true;       ///< otherwise other events happen beside the motion, and the final state is compared alone
    double step = 0.0;       ///< h
    Vector state;            ///< ∂(q, u) at the end
    std::vector<double> dt;  ///< of the events, where they are the same
    double uncertainty = 0.0;  ///< of the extrapolation, relative as `error` is
    double error =
        0.0;  ///< of the derivative against it: q, u and event times each in terms of the largest of the kind

    /// Differences of motions that part quickly say little: the derivative is inside what they leave open.
    bool unsure() const { return uncertainty > 1e-6 && error <= uncertainty; }
};

struct Differences {
    std::vector<Differenced> variables;  ///< those of the sensitivity
    double max_relative_error = 0.0;     ///< of all that have a derivative and sure differences
    int compared = 0;                    ///< so many
    double seconds = 0.0;
};

/// `build` must be the options of the model that the sensitivity belongs to.
Differences differences(const model::Description& description, const model::BuildOptions& build,
                        const Sensitivity& sensitivity, const Options& options);

}  // namespace saltus::sensitivity
