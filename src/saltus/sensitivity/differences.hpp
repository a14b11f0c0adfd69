// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/model/fwd.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// The derivatives with respect to one variable by finite differences of whole simulations: the independent check of
/// the exact ones. Central differences D of step h are extrapolated by Richardson, (4 D(h/2) − D(h))/3. The step is
/// reduced until the extrapolations agree, or as long as they improve. If the model refuses values on one side (for
/// example e > 1) then one-sided differences of second order are used.
struct Differenced {
    bool possible = false;
    std::string why_not;     ///< if not possible: the model refuses the value, a motion ends early, or the time is up
    bool times = true;       ///< false: the neighbouring motions have other events, so only the final state is compared
    double step = 0.0;       ///< h, in units of the variable
    Vector state;            ///< ∂(q, u) at the end
    std::vector<double> dt;  ///< ∂t of the events; empty if the events differ
    /// Estimated error of the extrapolation. Both `uncertainty` and `error` are relative: q, u and event times are each
    /// measured by the largest derivative of their kind.
    double uncertainty = 0.0;
    double error = 0.0;  ///< difference between the exact derivative and the differences, relative

    /// True if the differences are too inaccurate for a verdict (motions that diverge quickly), and the exact
    /// derivative lies inside their uncertainty.
    bool unsure() const {
        constexpr double largest_trusted_uncertainty = 1e-6;  // relative; what a comparison claims to show
        return uncertainty > largest_trusted_uncertainty && error <= uncertainty;
    }

    /// What the comparison says about the exact derivative.
    enum class Verdict {
        agrees,
        disagrees,     ///< the difference exceeds what the uncertainty explains: one of both is wrong
        unsure,        ///< the differences are too inaccurate
        not_compared,  ///< there is no derivative, or there are no differences
    };
    Verdict verdict() const {
        constexpr double largest_agreeing_error = 1e-5;  // relative; the uncertainty is an estimate, often too small
        if (!possible) return Verdict::not_compared;
        if (unsure()) return Verdict::unsure;
        return error <= largest_agreeing_error ? Verdict::agrees : Verdict::disagrees;
    }
};

/// The comparison of all variables.
struct Differences {
    std::vector<Differenced> variables;  ///< in the order of Sensitivity::with_respect_to
    double max_relative_error = 0.0;     ///< over the variables that are compared
    int compared = 0;      ///< number of variables that have a derivative and sufficiently accurate differences
    int disagreeing = 0;   ///< number of those whose derivative disagrees with the differences
    double seconds = 0.0;  ///< wall-clock time

    /// True if some derivative was compared and none disagrees.
    bool confirmed() const { return compared > 0 && disagreeing == 0; }
};

/// Differentiates by finite differences and compares with `sensitivity`. `build` must contain the options that the
/// model of the sensitivity was built with. Runs variables in parallel (Options::threads).
Differences differences(const model::Description& description, const model::BuildOptions& build,
                        const Sensitivity& sensitivity, const Options& options);

}  // namespace saltus::sensitivity
