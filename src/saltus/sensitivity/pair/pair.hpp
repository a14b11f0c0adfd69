// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build.hpp"
#include "saltus/sensitivity/pair/bounds.hpp"
#include "saltus/sensitivity/pair/pair_events.hpp"

namespace saltus::sensitivity {

struct PairOptions {
    std::vector<std::pair<std::string, std::string>> set;  ///< parameters, of both motions
    bool project_initial = false;
    double t_end = 1.0;
    integrate::EventDriven method;
    int points = 400;           ///< of the time grid, besides the events
    std::vector<double> times;  ///< further ones
    int threads = 0;
    std::function<bool()> interrupted;  ///< asked by any thread
};

/// One thing that a theorem assumes, and the number that decides it.
struct Hypothesis {
    std::string name;  ///< "(a1) approach velocity"
    std::string text;
    bool holds = false;
    double value = std::numeric_limits<double>::quiet_NaN();
};

/// The two motions at one time. At an event there are two points, before and after it.
struct PairPoint {
    double t = 0.0;
    int piece = 0;
    Region region = Region::beyond;
    double error_q = 0.0, error_u = 0.0;  ///< Σ|q̂ − q̄|, Σ|û − ū|
    double h = std::numeric_limits<double>::quiet_NaN(), phi = std::numeric_limits<double>::quiet_NaN();
    BoundTerms terms;
    double error = 0.0;  ///< what the theorem bounds: both sums; positions alone inside a collision's critical interval
    double bound = std::numeric_limits<double>::quiet_NaN();  ///< without C; not a number where there is none
};

/// The largest ratio of error to bound, and its time; 0 where no error stands out of the integration's own.
struct ObservedConstant {
    double value = 0.0;
    double t = std::numeric_limits<double>::quiet_NaN();
};

/// The motions between two cuts, with one event of both, or none, or the rest.
struct PairPiece {
    double begin = 0.0, end = 0.0;
    std::optional<EventPair> event;
    std::string theorem;  ///< "3.1" (no event), "3.3" (collision), "3.5" (lift-off); empty: none applies
    std::string reason;   ///< why none does
    std::vector<Hypothesis> hypotheses;
    std::vector<int> closed_before, closed_after;  ///< contacts of the nominal motion
    bool bounded = false;  ///< the terms of a bound were computed, whether a theorem stands behind them or not
    ObservedConstant constant;
    ObservedConstant before, critical, after;  ///< by region
    double critical_velocity = 0.0;  ///< largest Σ|û − ū| inside the critical interval: of order 1 at a collision
    /// |ĉ − c̄| and what bounds it up to a factor: |q̂_p − q̄_p| + |θ_p|, or |λ̂_p − λ̄_p|, at c_min. (49), (63)
    double event_shift = 0.0, event_bound = std::numeric_limits<double>::quiet_NaN();
};

/// A nominal and a perturbed motion of one model, and what the theorems say about their difference.
struct Pair {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    trajectory::Trajectory nominal, perturbed;
    std::vector<double> c_bar, c_hat;  ///< times of all events of each
    std::vector<PairPiece> pieces;
    std::vector<PairPoint> points;
    ObservedConstant constant;  ///< over all pieces that a theorem covers; where there are none, over all bounds
    std::string theorem;        ///< "3.3", or of several pieces "3.3, 3.5"; empty where a piece has none
    std::string reason;         ///< of the first piece that has none

    bool applies() const { return reason.empty() && !pieces.empty(); }
};

/// Simulates both and compares them. Throws Error where the description has no perturbation or cannot be built;
/// motions that end early are compared as far as they go.
Pair perturbed_pair(const model::Description& description, const PairOptions& options);

}  // namespace saltus::sensitivity
