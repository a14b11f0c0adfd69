// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/control/gains/measures.hpp"
#include "saltus/model/build.hpp"
#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::control {

/// What all runs of a study share.
struct RunOptions {
    model::BuildOptions build;
    integrate::Method method = integrate::EventDriven{};
    double t_end = 1.0;
    std::optional<trajectory::State> start;
    integrate::EnergyRule energy = integrate::EnergyRule::report;
    MeasureOptions measure;
    int threads = 0;
    std::function<bool()> interrupted;               ///< asked by any thread
    std::function<void(std::size_t done)> progress;  ///< runs
};

/// The model with these values of parameters. Throws Error where it cannot be built, and says for which values.
model::Model built(const model::Description& description, const RunOptions& options,
                   const std::vector<std::string>& names, const std::vector<double>& values);

/// A motion in numbers.
struct StudiedRun {
    std::vector<double> values;  ///< of the parameters
    bool done = false;
    Measures measures;
};
StudiedRun studied_run(const model::Model& model, const RunOptions& options, const std::vector<double>& values);

struct GainStudy {
    std::string model;
    std::vector<std::string> coordinates, elements;
    std::size_t constraints = 0;  ///< of the model; a rest lists their forces first
    std::vector<sensitivity::Vary> vary;
    std::vector<StudiedRun> runs;  ///< all combinations, the last parameter fastest
    bool complete = false;         ///< false: interrupted
};

/// Runs the model for all combinations of the values, side by side; one answer for any number of threads.
GainStudy study_gains(const model::Description& description, const std::vector<sensitivity::Vary>& vary,
                      const RunOptions& options);

/// Whose reactions a trajectory lists, by name: contacts, constraints, sliders, clutches.
std::vector<std::string> element_names(const model::Model& model);

}  // namespace saltus::control
