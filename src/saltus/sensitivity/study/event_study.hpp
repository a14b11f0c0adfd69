// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/ensemble/engine.hpp"
#include "saltus/ensemble/shard.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/ensemble/table.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/sensitivity/pair/pair.hpp"

namespace saltus::sensitivity {

struct EventStudyOptions {
    std::vector<std::pair<std::string, std::string>> set;  ///< parameter values of all motions
    /// Parameters, at least one; all combinations of their values are run, the last parameter varies fastest.
    std::vector<ensemble::Axis> vary;
    bool project_initial = false;  ///< see model::BuildOptions
    double t_end = 1.0;            ///< in s
    integrate::EventDriven method;
    /// Changes of event times (or impulses) below resolution · max(1, |value|) are rounding, and are not fitted.
    double resolution = 1e-11;
    ensemble::EngineOptions engine;    ///< true from `interrupted` ends the study early
    ensemble::Shard shard;             ///< only the runs of this part
    ensemble::Table* table = nullptr;  ///< answers, of an earlier study too; null: in memory
    std::function<void(std::size_t done, std::size_t of)> progress;
};

/// One event of a run.
struct StudiedEvent {
    trajectory::EventKind kind = trajectory::EventKind::impact;
    std::vector<int> elements;  ///< ascending
    double t = 0.0;
    double impulse = 0.0;  ///< Σ Λ_N of the contacts
};

/// The perturbed pair of one run, reduced to what shows whether the constants of the theorems stay bounded.
struct StudiedPair {
    std::string theorem, reason;  ///< see Pair
    double size = 0.0;            ///< K: the largest PairPiece::size
    double error = 0.0;           ///< largest Σ|q̂ − q̄| + |û − ū| outside critical intervals
    ObservedConstant constant;    ///< see Pair
    /// For each equation of PairPiece::estimates the one with the largest constant, in the order of first appearance.
    std::vector<PairEstimate> estimates;
};

/// One combination of parameter values, and its motion.
struct EventStudyRun {
    std::vector<double> values;  ///< in the order of EventStudyOptions::vary
    bool done = false;           ///< false: the run was interrupted
    trajectory::Status status = trajectory::Status::interrupted;
    std::string reason;
    std::vector<StudiedEvent> events;
    /// One entry per event of the nominal motion; NaN if this run has no such event.
    std::vector<double> time, time_change, impulse_change;
    /// θ, θ̇, θ̈ of each nominal event's contact: the gap of the nominal model minus that of this run, with the body held
    /// at its position of the nominal event. `theta`: at the time of the event; `theta_largest`: largest absolute
    /// values over the whole time.
    std::vector<std::array<double, 3>> theta, theta_largest;
    /// With a perturbation: the motions with and without it, both with the parameters of this run.
    std::optional<StudiedPair> pair;
};

enum class Quantity { time, impulse };

/// |change| ≈ factor · Π xᵢ^exponentᵢ, by least squares of the logarithms over the runs in which all numbers are
/// positive.
struct PowerLaw {
    std::vector<std::string> of;    ///< names of the xᵢ
    std::vector<double> exponents;  ///< NaN if there is no fit
    double rms = 0.0;               ///< root mean square deviation of log |change|; NaN if there is no fit
    int runs = 0;                   ///< number of runs in the fit; fewer than the unknowns: no fit
};

/// The exponent between two runs that are neighbours in one parameter.
struct LocalExponent {
    int parameter = 0;              ///< index in EventStudy::vary
    std::size_t run = 0, next = 0;  ///< indices in EventStudy::runs
    double exponent = 0.0;          ///< log(change ratio)/log(parameter ratio)
};

/// How one event of the nominal motion responds to the parameters.
struct EventResponse {
    StudiedEvent nominal;
    /// The fits of one quantity.
    struct Answer {
        Quantity quantity = Quantity::time;
        PowerLaw law;  ///< in the varied parameters
        std::vector<LocalExponent> local;
        /// |change| against |θ|, |θ̇| and |θ̈|, one at a time.
        struct Fits {
            std::vector<PowerLaw> laws;
            int felt = -1;  ///< index of the law with the smallest rms; −1 if there is no fit
        };
        Fits at_event, largest;  ///< fits with `theta` and with `theta_largest` of the runs; empty if no obstacle moves
    };
    std::vector<Answer> answers;  ///< fits of the event time, and for impacts also of the impulse
};

/// The observed constants of one estimate over the runs of a study, against the size K of the perturbation.
struct ConstantRange {
    std::string equation;  ///< "theorem" for the bounds of Theorems 3.1, 3.3 and 3.5; otherwise see PairEstimate
    int runs = 0;          ///< runs with a constant
    double smallest = 0.0, largest = 0.0;  ///< constant
    /// Constant ~ K^exponent by least squares of the logarithms. It stays bounded as K → 0 if the exponent is not
    /// negative. NaN if there are fewer than two runs, or if all have the same K.
    double exponent = std::numeric_limits<double>::quiet_NaN();
};

/// The events of a motion over ranges of parameters.
struct EventStudy {
    std::string model;
    std::vector<std::string> elements;
    std::vector<ensemble::Axis> vary;
    bool perturbation = false;  ///< the runs contain the perturbation of the description; the nominal motion does not
    trajectory::Status nominal_status = trajectory::Status::completed;
    std::vector<StudiedEvent> nominal;
    std::vector<EventStudyRun> runs;
    std::vector<EventResponse> events;     ///< one per nominal event
    std::vector<ConstantRange> constants;  ///< with a perturbation; runs to which no theorem applies are left out
    bool complete = false;                 ///< false: interrupted, a part, or a rank other than 0
};

/// Runs the model for all combinations of the parameter values. The nominal motion has the values of the description
/// and no perturbation. An event of a run corresponds to a nominal event if both have the same kind and element and the
/// same number, counted from the start. Throws Error if a name is unknown, or if no model can be built for some values.
EventStudy study_events(const model::Description& description, const EventStudyOptions& options);

/// Fits log y = c + Σ exponentᵢ log xᵢ by least squares; x has one column per unknown.
PowerLaw fit_power_law(const std::vector<std::vector<double>>& x, const std::vector<double>& y);

}  // namespace saltus::sensitivity
