// SPDX-License-Identifier: Apache-2.0
//
// Many trials: models of all kinds, on several threads, with a table at the end. Each failure is reduced and written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"
#include "machine/random.hpp"

namespace trials {

/// A class of trials: how a model is made, and who judges it.
struct Kind {
    std::string name;
    std::function<Model(Random&)> make;
    std::function<Findings(const Model&, const Program&)> judge;
};

const std::vector<Kind>& kinds();

struct CampaignOptions {
    std::filesystem::path saltus;
    std::filesystem::path out;  ///< for reduced failures and temporary files
    std::uint64_t seed = 1;
    double minutes = 1.0;
    long models = 0;   ///< at most this many; 0: no limit but the time
    long first = 0;    ///< number of the first model of each kind
    std::string kind;  ///< only kinds whose names contain this text
    int threads = 1;
    bool reduce = true;
    bool equal_time = false;  ///< all kinds get the same computing time, not the same number of models
};

struct Tally {
    long models = 0;
    Findings findings;
    std::vector<std::string> files;  ///< of failures
    double program_seconds = 0.0;    ///< computing time of the program
    double judge_seconds = 0.0;      ///< computing time of the judge
};

/// Model number `index` of a kind; the same for every number of threads.
Model trial_model(const Kind& kind, std::uint64_t seed, long index);

std::map<std::string, Tally> run_campaign(const CampaignOptions& options);

/// Kind, models, statements, not judged, refused, violations, and computing time for each model in ms, of the program
/// and of the judge: one line for each kind, and the sum.
std::string report(const std::map<std::string, Tally>& tallies);

}  // namespace trials
