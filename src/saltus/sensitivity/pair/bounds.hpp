// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "saltus/sensitivity/pair/pair_events.hpp"
#include "saltus/sensitivity/pair/pair_functions.hpp"

namespace saltus::sensitivity {

/// Where a time lies: before c_min, in the critical interval, after c_max; `beyond`: where no theorem has a bound.
enum class Region { before, critical, after, beyond };

/// The terms of the right-hand side at one time, without the factor C. Those that a theorem does not have, or not
/// yet, are 0. [Alscher] (53), (54), (56), (67)
struct BoundTerms {
    double initial = 0.0;          ///< Σ |q̂ − q̄| + |û − ū| where the piece begins
    double h_before = 0.0;         ///< ∫ h up to c_min
    double theta = 0.0;            ///< |θ_p(c_min)|, collisions
    double theta_rate = 0.0;       ///< |θ̇_p(c_min)|, collisions
    double eta_rate = 0.0;         ///< Σ |η̇(c_min)|, collisions
    double h_event = 0.0;          ///< h(c_min), lift-offs
    double theta_critical = 0.0;   ///< Σ ∫ |θ̈| over the critical interval, contacts that stay closed
    double delta_critical = 0.0;   ///< Σ ∫ |δ| over it, coordinates of the other contacts
    double delta_uncovered = 0.0;  ///< the same of the coordinates that the printed sum leaves out
    double h_after = 0.0;          ///< ∫ h from c_max on

    double sum() const {
        return initial + h_before + theta + theta_rate + eta_rate + h_event + theta_critical + delta_critical +
               delta_uncovered + h_after;
    }
};

/// What the bound on one piece of the motions needs to know.
struct BoundSetting {
    double begin = 0.0, end = 0.0;
    std::optional<EventPair> event;        ///< none: the smooth case, before the event all the time
    std::vector<int> closed_before;        ///< J_A⁰
    std::vector<int> closed_after;         ///< of the nominal motion
    std::vector<int> contact_coordinates;  ///< of contacts that do not stay closed
    std::vector<int> free_coordinates;     ///< the others, but for those that a contact holds throughout
    double initial = 0.0;
};

/// The terms of the bound along one piece, times in ascending order. θ, η, δ and their derivatives are exact, the
/// integrals are accurate to rounding or so.
class Bound {
public:
    Bound(PairFunctions& functions, BoundSetting setting);

    /// h with the contacts that are closed in a region: those before, those that stay, those after.
    double h(double t, Region region);
    /// Φ(t) = initial + ∫ h, up to c_min.
    double phi(double t);
    BoundTerms at(double t, Region region);

private:
    double sum_h(double t, const std::vector<double>& weights);
    double sum_theta(double t, const std::vector<double>& weights);
    double sum_delta(double t, const std::vector<double>& weights);
    std::vector<double> weights_of(const std::vector<int>& contacts) const;
    std::vector<double> delta_weights(const std::vector<int>& coordinates) const;

    /// ∫ from a fixed time on, kept up as t grows.
    struct Running {
        double t = 0.0, value = 0.0;
    };
    template <class F>
    double advance(Running& running, double t, const F& f);

    PairFunctions& functions_;
    BoundSetting setting_;
    std::vector<double> before_, stay_, after_, own_delta_, other_delta_;
    double c_min_ = 0.0, c_max_ = 0.0;
    std::optional<double> whole_;  // ∫ h up to c_min
    Running until_, since_, theta_, delta_, uncovered_;
};

/// ∫ f from a to b by Gauss–Kronrod rules on so many panels, each halved until the estimate of its error is below 1e-13
/// of it.
double integral(const std::function<double(double)>& f, double a, double b, int panels = 1);

}  // namespace saltus::sensitivity
