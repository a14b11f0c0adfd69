// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/sensitivity/pair/bounds.hpp"
#include "saltus/sensitivity/pair/pair_events.hpp"

namespace saltus::sensitivity {

struct PairOptions {
    std::vector<std::pair<std::string, std::string>> set;  ///< parameter values, for both motions
    bool project_initial = false;                          ///< see model::BuildOptions
    double t_end = 1.0;                                    ///< in s
    integrate::EventDriven method;
    int points = 400;                   ///< points of the time grid, besides the events
    std::vector<double> times;          ///< further times of the grid
    int threads = 0;                    ///< 0: as many as the machine has
    std::function<bool()> interrupted;  ///< asked by any thread; true ends the simulations early
};

/// One assumption of a theorem, and the number that decides whether it holds.
struct Hypothesis {
    std::string name;  ///< name of the assumption, for example "(a1) approach"
    std::string text;  ///< what is assumed, and what `value` is
    bool holds = false;
    double value = std::numeric_limits<double>::quiet_NaN();
};

/// The two motions at one time. At an event there are two points, before and after it.
struct PairPoint {
    double t = 0.0;
    int piece = 0;  ///< index in Pair::pieces
    Region region = Region::beyond;
    double error_q = 0.0, error_u = 0.0;  ///< Σ|q̂ − q̄|, Σ|û − ū|
    /// Σ|λ̂ − λ̄| of the contacts and Σ|ν̂ − ν̄| of the constraints; NaN if a force is not unique or there is friction.
    double error_lambda = std::numeric_limits<double>::quiet_NaN();
    double error_nu = std::numeric_limits<double>::quiet_NaN();
    /// Bound of each component of λ̂ − λ̄ and ν̂ − ν̄, without C: error_q + error_u + h. NaN if the motions have different
    /// closed contacts. [Alscher] (42)
    double bound_reactions = std::numeric_limits<double>::quiet_NaN();
    double h = std::numeric_limits<double>::quiet_NaN(), phi = std::numeric_limits<double>::quiet_NaN();  ///< see Bound
    BoundTerms terms;
    /// The error that the theorem bounds: error_q + error_u, but error_q alone in a collision's critical interval.
    double error = 0.0;
    double bound = std::numeric_limits<double>::quiet_NaN();  ///< sum of the terms, without C; NaN if there is no bound
};

/// The largest ratio of error to bound, and the time at which it occurs. 0 if no error exceeds the accuracy of the
/// simulation.
struct ObservedConstant {
    double value = 0.0;
    double t = std::numeric_limits<double>::quiet_NaN();
};

/// One of the paper's estimates besides those of its theorems: error ≤ C · bound. Error and bound are those of the time
/// at which their ratio, the observed constant, is largest.
struct PairEstimate {
    std::string equation;  ///< its number in [Alscher], for example "(42)"
    std::string text;      ///< what is bounded, where, and by what
    ObservedConstant constant;
    double error = 0.0, bound = std::numeric_limits<double>::quiet_NaN();
};

/// The comparison of the motions between two cuts: with one event of both, with none, or the rest without a comparison
/// of events.
struct PairPiece {
    double begin = 0.0, end = 0.0;
    std::optional<EventPair> event;
    std::string theorem;  ///< "3.1" (no event), "3.3" (collision), "3.5" (lift-off); "" if none applies
    std::string reason;   ///< why no theorem applies
    std::vector<Hypothesis> hypotheses;
    std::vector<int> closed_before, closed_after;  ///< closed contacts of the nominal motion
    bool bounded = false;                          ///< the terms of a bound were computed, even if no theorem applies
    ObservedConstant constant;                     ///< largest of the three below
    ObservedConstant before, critical, after;      ///< constants of the three regions
    double critical_velocity = 0.0;  ///< largest Σ|û − ū| in the critical interval; of order 1 at a collision
    /// |ĉ − c̄|, and its bound without C: |q̂_p − q̄_p| + |θ_p| (collision) or |λ̂_p − λ̄_p| (lift-off) at c_min.
    /// [Alscher] (49), (63)
    double event_shift = 0.0, event_bound = std::numeric_limits<double>::quiet_NaN();
    double initial_norm = 0.0;  ///< ‖q̂ − q̄‖ + ‖û − ū‖ at the beginning, in the maximum norm. [Alscher] (35)
    /// K: the largest of the initial error, |θ|, |η|, |δ| and of the derivatives of θ and η up to order 2, on the
    /// piece. For a lift-off up to order 3, and with |δ̇|. [Alscher] (34), (46), (61)
    double size = std::numeric_limits<double>::quiet_NaN();
    std::vector<PairEstimate> estimates;
};

/// A nominal and a perturbed motion of one model, and what the theorems of [Alscher] say about their difference.
struct Pair {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    trajectory::Trajectory nominal, perturbed;
    std::vector<double> c_bar, c_hat;  ///< times of all events of the nominal and of the perturbed motion
    std::vector<PairPiece> pieces;
    std::vector<PairPoint> points;
    ObservedConstant constant;  ///< over all pieces to which a theorem applies; if there are none, over all bounds
    std::string theorem;        ///< theorems of the pieces, for example "3.3, 3.5"; "" if some piece has none
    std::string reason;         ///< reason of the first piece that has none

    bool applies() const { return reason.empty() && !pieces.empty(); }
};

/// Simulates both motions and compares them. Throws Error if the description has no perturbation or cannot be built. If
/// a motion ends early then both are compared up to this time.
Pair perturbed_pair(const model::Description& description, const PairOptions& options);

}  // namespace saltus::sensitivity
