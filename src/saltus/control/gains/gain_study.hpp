// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/control/gains/measures.hpp"
#include "saltus/ensemble/engine.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::control {

/// The options that all runs of a study share.
struct RunOptions {
    model::BuildOptions build;
    integrate::Method method = integrate::EventDriven{};
    double t_end = 1.0;
    std::optional<trajectory::State> start;  ///< default: the initial state of the model
    integrate::EnergyRule energy = integrate::EnergyRule::report;
    MeasureOptions measure;
    std::function<bool()> interrupted;  ///< polled by any thread
};

/// The contact model of an integration method: springs for the penalty method, otherwise rigid.
ContactModel contacts_of(const integrate::Method& method);
/// The factor on the stiffness k of the penalty method; 1 for other methods.
double stiffness_of(const integrate::Method& method);

/// One run of a study.
struct StudiedRun {
    std::vector<double> values;  ///< values of the axes
    bool done = false;           ///< false: the run was interrupted
    std::string refused;         ///< why the model could not be built with these values; empty: it could
    Measures measures;
};
/// Simulates a model and measures the motion. `values` are copied into the result.
StudiedRun studied_run(const model::Model& model, const RunOptions& options, const std::vector<double>& values);

struct GainStudy {
    std::string model;
    std::vector<std::string> coordinates, elements;
    std::vector<std::string> outputs;  ///< names of the derived quantities
    std::size_t constraints = 0;       ///< number of constraints; Rest::lambda lists their forces first
    ensemble::Starts starts;
    std::vector<StudiedRun> runs;  ///< in the order of the starts
    bool complete = false;         ///< false: the study was interrupted, or it is a part
};

/// Where the runs of a study are made and kept.
struct StudyPlace {
    ensemble::EngineOptions engine;
    ensemble::Shard shard;             ///< only this part of the runs is made
    ensemble::Table* table = nullptr;  ///< of answers of different sizes; not owned. Null: in memory
    std::function<void(std::size_t done, std::size_t of)> progress;  ///< called after each run
};

/// Runs the model with all values of the starts: parameters, initial positions x and velocities x'. The result does not
/// depend on the number of threads and ranks. On ranks other than 0 it is empty. Throws Error for inconsistent names,
/// and for values of a grid with which the model cannot be built.
GainStudy study_gains(const model::Description& description, const ensemble::Starts& starts, const RunOptions& options,
                      const StudyPlace& place = {});

/// The names of the elements in the order of the reactions of a trajectory: contacts, constraints, sliders, clutches.
std::vector<std::string> element_names(const model::Model& model);

}  // namespace saltus::control
