// SPDX-License-Identifier: Apache-2.0
//
// The machine as a whole: the program accepts the models, failures become smaller, and a short run finds nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "machine/campaign.hpp"
#include "machine/reduce.hpp"

using namespace trials;

namespace {

std::filesystem::path folder(const std::string& name) {
    return std::filesystem::temp_directory_path() / ("saltus-trials-" + name + std::to_string(::getpid()));
}

/// Kinds and numbers of models of the short run: about ten seconds.
const std::vector<std::pair<std::string, long>>& short_run() {
    static const std::vector<std::pair<std::string, long>> list = {
        {"motion-walls", 4},        {"motion-rough-floor", 3},  {"motion-spatial", 3},
        {"motion-moving-table", 3}, {"motion-pendulums", 3},    {"motion-rocking", 3},
        {"motion-divided", 3},      {"equilibria-line", 3},     {"equilibria-surface", 2},
        {"certify-line", 1},        {"sensitivity-walls", 2},   {"impact-frictionless", 8},
        {"impact-frictional", 8},   {"motion-wire", 2},         {"motion-plates", 2},
        {"motion-clutches", 2},     {"motion-rolling", 1},      {"motion-corners", 3},
        {"moreau-walls", 1},        {"solve-planar", 6},        {"solve-spatial", 6},
        {"solve-arbitrary", 6},     {"motion-poisson", 2},      {"motion-energy", 2},
        {"motion-mass-points", 1},  {"penalty-springs", 2},     {"basin-line", 1},
        {"belts-block", 2},         {"belts-conveyor", 2},      {"motion-belt-feet", 1},
        {"motion-belt-block", 2},   {"flow-kicks", 2},          {"flow-wheels", 2},
        {"flow-sprung", 2},         {"motion-hoppers", 2},      {"flow-static-block", 2},
        {"motion-static-plane", 2}, {"moreau-static-belts", 1}, {"motion-static-redundant", 2},
        {"motion-stacks", 2},       {"motion-flutter", 2},      {"orbit-impacts", 1},
        {"orbit-belt", 1},          {"orbit-walker", 1},        {"continue-kicked", 1},
        {"motion-blades", 1},       {"motion-rollers", 1},      {"motion-ledges", 1},
        {"motion-windows", 1},
    };
    return list;
}

}  // namespace

TEST(Generators, MakeModelsThatTheProgramAccepts) {
    const auto place = folder("check");
    const Program program(SALTUS_EXE, place);
    for (const Kind& kind : kinds()) {
        const std::string question = kind.name.substr(0, kind.name.find('-'));
        if (question == "sensitivity" || question == "moreau" || question == "flow") continue;  // those of "motion"
        if (question == "continue" || question == "diagram" || question == "device") continue;  // of "orbit", "basin"
        if (question == "solve") continue;                                                      // no models
        const auto file = program.write("model.toml", trial_model(kind, 11, 0).toml());
        const auto run = program.run({"check", file.string()}, 20);
        EXPECT_EQ(run.code, 0) << kind.name << ": " << run.err;
    }
    std::filesystem::remove_all(place);
}

TEST(Generators, RepeatTheSameModel) {
    for (const Kind& kind : kinds()) {
        EXPECT_EQ(trial_model(kind, 3, 5).toml(), trial_model(kind, 3, 5).toml());
        EXPECT_NE(trial_model(kind, 3, 5).toml(), trial_model(kind, 3, 6).toml());
    }
}

TEST(Reduction, KeepsOnlyWhatTheFailureNeeds) {
    const auto& all = kinds();
    const auto kind = std::find_if(all.begin(), all.end(), [](const Kind& k) { return k.name == "motion-redundant"; });
    ASSERT_NE(kind, all.end());
    const Model model = trial_model(*kind, 1, 0);
    std::string text = "too many";
    // The invented failure needs a contact with friction.
    const Model smallest = reduce(
        model,
        [](const Model& m) -> std::string {
            for (const Contact& contact : m.contacts)
                if (contact.friction.kind != FrictionLaw::Kind::none) return "a contact with friction";
            return "";
        },
        text);
    EXPECT_EQ(text, "a contact with friction");
    EXPECT_EQ(smallest.contacts.size(), 1U);
    EXPECT_TRUE(smallest.sliders.empty());
    EXPECT_TRUE(smallest.potential.empty());
    EXPECT_TRUE(smallest.dissipation.empty());
}

TEST(Campaign, AShortRunFindsNoFalseStatement) {
    CampaignOptions options;
    options.saltus = SALTUS_EXE;
    options.out = folder("campaign");
    options.seed = 1;
    options.minutes = 5.0;
    options.reduce = false;
    for (const auto& [kind, models] : short_run()) {
        options.kind = kind;
        options.models = models;
        const auto tallies = run_campaign(options);
        ASSERT_EQ(tallies.size(), 1U) << kind;
        EXPECT_GT(tallies.at(kind).findings.statements, 0) << kind;
        for (const Violation& violation : tallies.at(kind).findings.violations)
            ADD_FAILURE() << kind << ": " << violation.text;
    }
    std::filesystem::remove_all(options.out);
}
