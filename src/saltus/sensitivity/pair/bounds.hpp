// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "saltus/sensitivity/pair/pair_events.hpp"
#include "saltus/sensitivity/pair/pair_functions.hpp"

namespace saltus::sensitivity {

/// Where a time lies relative to the event of a piece.
enum class Region {
    before,    ///< before c_min, the first of the two event times
    critical,  ///< between c_min and c_max: one motion has had the event, the other has not
    after,     ///< after c_max
    beyond     ///< no theorem gives a bound
};

/// The terms on the right-hand side of the bound at one time, without the factor C. A term that a theorem does not
/// have, or does not have in a region, is 0. [Alscher] (53), (54), (56), (67)
struct BoundTerms {
    double initial = 0.0;          ///< Σ |q̂ − q̄| + |û − ū| at the beginning of the piece
    double h_before = 0.0;         ///< ∫ h up to c_min
    double theta = 0.0;            ///< |θ_p(c_min)|, collisions only
    double theta_rate = 0.0;       ///< |θ̇_p(c_min)|, collisions only
    double eta_rate = 0.0;         ///< Σ |η̇(c_min)|, collisions only
    double h_event = 0.0;          ///< h(c_min), lift-offs only
    double theta_critical = 0.0;   ///< Σ ∫ |θ̈| over the critical interval, for contacts that stay closed
    double delta_critical = 0.0;   ///< Σ ∫ |δ| over the critical interval, for coordinates of the other contacts
    double delta_uncovered = 0.0;  ///< delta_critical of coordinates that the sum in the paper leaves out
    double h_after = 0.0;          ///< ∫ h from c_max on

    double sum() const {
        return initial + h_before + theta + theta_rate + eta_rate + h_event + theta_critical + delta_critical +
               delta_uncovered + h_after;
    }
};

/// The data of one piece of the motions that the bound depends on.
struct BoundSetting {
    double begin = 0.0, end = 0.0;
    std::optional<EventPair> event;        ///< none: both motions are smooth on the piece, and all times are `before`
    std::vector<int> closed_before;        ///< J_A⁰: contacts that are closed before the event
    std::vector<int> closed_after;         ///< contacts that are closed after the event, in the nominal motion
    std::vector<int> contact_coordinates;  ///< coordinates of contacts that do not stay closed
    std::vector<int> free_coordinates;     ///< other coordinates, except those that a contact holds throughout
    double initial = 0.0;                  ///< Σ |q̂ − q̄| + |û − ū| at `begin`
};

/// Evaluates the terms of the bound along one piece. θ, η, δ and their derivatives are exact; the integrals are
/// accurate to about 1e-13. Times must be given in ascending order, because integrals are continued from the last time.
class Bound {
public:
    Bound(PairFunctions& functions, BoundSetting setting);

    /// h(t) = Σ_active |θ̈| + Σ |η̈| + Σ |δ|, with the contacts that are active in a region. [Alscher] (51)
    double h(double t, Region region);
    /// Φ(t) = initial + ∫ h, up to c_min. [Alscher] (52)
    double phi(double t);
    /// The terms of the bound at t.
    BoundTerms at(double t, Region region);

private:
    double sum_h(double t, const std::vector<double>& weights);
    double sum_theta(double t, const std::vector<double>& weights);
    double sum_delta(double t, const std::vector<double>& weights);
    std::vector<double> weights_of(const std::vector<int>& contacts) const;
    std::vector<double> delta_weights(const std::vector<int>& coordinates) const;

    /// An integral from a fixed time to t, continued as t grows.
    struct Running {
        double t = 0.0, value = 0.0;
    };
    template <class F>
    double advance(Running& running, double t, const F& f);

    PairFunctions& functions_;
    BoundSetting setting_;
    std::vector<double> before_, stay_, after_;  // weights of the functions θ: number of active contacts per function
    std::vector<double> own_delta_, other_delta_;  // weights (0 or 1) of the functions δ
    double c_min_ = 0.0, c_max_ = 0.0;
    std::optional<double> h_integral_;   // ∫ h from the beginning to c_min, for lift-offs
    Running until_, since_;              // ∫ h from the beginning; ∫ h from c_max
    Running theta_, delta_, uncovered_;  // integrals over the critical interval
};

/// ∫ f from a to b (0 if b ≤ a) by the Gauss–Kronrod rule with 7 and 15 nodes on `panels` equal panels. A panel is
/// halved until the difference of the two rules is below 1e-13 of the panel's integral, at most 40 times.
double integral(const std::function<double(double)>& f, double a, double b, int panels = 1);

}  // namespace saltus::sensitivity
