// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/control/gains/measures.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::control {

/// The options that all runs of a study share.
struct RunOptions {
    model::BuildOptions build;
    integrate::Method method = integrate::EventDriven{};
    double t_end = 1.0;
    std::optional<trajectory::State> start;  ///< default: the initial state of the model
    integrate::EnergyRule energy = integrate::EnergyRule::report;
    MeasureOptions measure;
    int threads = 0;                                 ///< 0: one for each core
    std::function<bool()> interrupted;               ///< polled by any thread
    std::function<void(std::size_t done)> progress;  ///< called after each run
};

/// The contact model of an integration method: springs for the penalty method, otherwise rigid.
ContactModel contacts_of(const integrate::Method& method);
/// The factor on the stiffness k of the penalty method; 1 for other methods.
double stiffness_of(const integrate::Method& method);

/// The model with these values of parameters. Throws Error if it cannot be built; the message names the values.
model::Model built(const model::Description& description, const RunOptions& options,
                   const std::vector<std::string>& names, const std::vector<double>& values);

/// One run of a study.
struct StudiedRun {
    std::vector<double> values;  ///< values of the varied parameters
    bool done = false;           ///< false: the run was interrupted
    Measures measures;
};
/// Simulates a model and measures the motion. `values` are copied into the result.
StudiedRun studied_run(const model::Model& model, const RunOptions& options, const std::vector<double>& values);

struct GainStudy {
    std::string model;
    std::vector<std::string> coordinates, elements;
    std::vector<std::string> outputs;  ///< names of the derived quantities
    std::size_t constraints = 0;       ///< number of constraints; Rest::lambda lists their forces first
    std::vector<sensitivity::Vary> vary;
    std::vector<StudiedRun> runs;  ///< all combinations of the values, the last parameter varies fastest
    bool complete = false;         ///< false: the study was interrupted
};

/// Runs the model for all combinations of the values, in parallel. The result does not depend on the number of threads.
/// Throws Error for inconsistent parameters.
GainStudy study_gains(const model::Description& description, const std::vector<sensitivity::Vary>& vary,
                      const RunOptions& options);

/// The names of the elements in the order of the reactions of a trajectory: contacts, constraints, sliders, clutches.
std::vector<std::string> element_names(const model::Model& model);

}  // namespace saltus::control
