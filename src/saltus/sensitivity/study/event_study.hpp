// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build.hpp"

namespace saltus::sensitivity {

/// The values that one parameter takes.
struct Vary {
    std::string name;
    std::vector<double> values;
};

/// "a=0.001:0.01:10" (from, to, how many; evenly), "a=1e-4:1e-2:5:log" (with even ratios), or "a=0.1,0.2,0.5".
/// Throws Error.
Vary vary_from_text(const std::string& text);

struct StudyOptions {
    std::vector<std::pair<std::string, std::string>> set;
    std::vector<Vary> vary;  ///< all combinations, the last one fastest
    bool project_initial = false;
    double t_end = 1.0;
    integrate::EventDriven method;
    double resolution = 1e-11;  ///< of event times: smaller differences are rounding, and not fitted
    int threads = 0;
    std::function<bool()> interrupted;               ///< asked by any thread
    std::function<void(std::size_t done)> progress;  ///< runs
};

/// Something that happens to contacts in a run.
struct StudyEvent {
    trajectory::EventKind kind = trajectory::EventKind::impact;
    std::vector<int> elements;  ///< ascending
    double t = 0.0;
    double impulse = 0.0;  ///< Σ Λ_N of the contacts
};

struct StudyRun {
    std::vector<double> values;  ///< of the parameters
    bool done = false;
    trajectory::Status status = trajectory::Status::interrupted;
    std::string reason;
    std::vector<StudyEvent> events;
    /// By event of the nominal motion; not numbers where this run has no such event.
    std::vector<double> time, time_change, impulse_change;
    /// θ, θ̇, θ̈ of the event's contacts: what the obstacle does more than in the nominal motion, with the body held
    /// where it is at the nominal event. Then, and the largest ones of the whole time.
    std::vector<std::array<double, 3>> theta, theta_largest;
};

enum class Quantity { time, impulse };

/// |change| ~ factor · Π xᵢ^exponentᵢ by least squares in the logarithms, over the runs in which all are there.
struct PowerLaw {
    std::vector<std::string> of;  ///< the parameters with more than one positive value
    std::vector<double> exponents;
    double rms = 0.0;  ///< of log |change|
    int runs = 0;      ///< fewer than the unknowns: no fit
};

/// The exponent between two runs that are neighbours in one parameter.
struct LocalExponent {
    int parameter = 0;
    std::size_t run = 0, next = 0;
    double exponent = 0.0;
};

/// How one event of the nominal motion answers.
struct EventStudy {
    StudyEvent nominal;
    struct Answer {
        Quantity quantity = Quantity::time;
        PowerLaw law;
        std::vector<LocalExponent> local;
        /// |change| against |θ|, |θ̇|, |θ̈|, one at a time; the one with the smallest rms is felt.
        struct Fits {
            std::vector<PowerLaw> laws;
            int felt = -1;
        };
        Fits at_event, largest;  ///< of their values at the event, and of the largest ones; empty where nothing moves
    };
    std::vector<Answer> answers;  ///< time, and of impacts the impulse
};

struct Study {
    std::string model;
    std::vector<std::string> elements;
    std::vector<Vary> vary;
    bool perturbation = false;  ///< the runs are perturbed ones; otherwise only their parameters differ
    trajectory::Status nominal_status = trajectory::Status::completed;
    std::vector<StudyEvent> nominal;
    std::vector<StudyRun> runs;
    std::vector<EventStudy> events;
    bool complete = false;  ///< false: interrupted
};

/// Runs the model for all combinations of the values. The nominal motion has the description's own values, and no
/// perturbation. Events answer to each other by kind and element, counted from the start. Throws Error for values that
/// no model can be built with.
Study study_events(const model::Description& description, const StudyOptions& options);

/// Least squares of log y against log x (a column an unknown); used by the study.
PowerLaw fit_power_law(const std::vector<std::vector<double>>& x, const std::vector<double>& y);

}  // namespace saltus::sensitivity
