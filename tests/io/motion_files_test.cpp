// SPDX-License-Identifier: Apache-2.0
//
// A motion that is written while it is computed has the files of a motion in memory, byte for byte.
#include "saltus/io/results/motion_files.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/model/load_model.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/stability/lyapunov_balance.hpp"
#include "support.hpp"

namespace saltus::motion_files_test {
namespace {

using integrate::MotionPart;
using integrate::Record;
using integrate::ResumableMotion;
using trajectory::LyapunovBalance;
using trajectory::OutputCurves;
using trajectory::Trajectory;

constexpr int samples = 37;

struct Case {
    std::string model;
    std::vector<std::pair<std::string, std::string>> set;
    integrate::Method method;
    double t_end;
    bool in_parts;  ///< it is so long that it comes in several parts
};

/// The derived quantities of a model that has some.
std::optional<OutputCurves> outputs_of(const model::Model& model, const Trajectory& motion) {
    if (model.outputs == nullptr) return std::nullopt;
    integrate::OutputCourse course(model, motion);
    return io::output_curves(motion, samples, course, model);
}

/// Runs a motion twice, in memory and in parts, and compares all files. With `earlier` the motion is continued.
void expect_same_files(const Case& c, const integrate::Continued* earlier = nullptr) {
    model::BuildOptions build;
    build.set = c.set;
    const io::LoadedModel loaded =
        io::load_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + c.model + ".toml", build);
    integrate::Options options;
    options.t_end = c.t_end;
    options.rate_jumps = true;
    const ResumableMotion whole = integrate::simulate_resumable(loaded.model, c.method, options, Record::yes, earlier);
    Trajectory in_memory = whole.motion.motion;
    const LyapunovBalance balance = stability::lyapunov_balance(loaded.model, in_memory, whole.motion.recording);
    const test::Folder folder;
    io::ResultFolder results(folder.file("run"), "simulate");
    io::MotionFiles files(loaded.model, &results, false);
    stability::LyapunovAccount account(loaded.model);
    std::size_t parts = 0;
    const ResumableMotion streamed = integrate::simulate_resumable(loaded.model, c.method, options, Record::yes,
                                                                   earlier, [&](const MotionPart& part) {
                                                                       ++parts;
                                                                       EXPECT_EQ(part.start.q, in_memory.start.q);
                                                                       files.add(part, account.add(part));
                                                                   });
    EXPECT_EQ(parts > 1, c.in_parts) << parts;
    Trajectory rest = streamed.motion.motion;
    EXPECT_TRUE(rest.events.empty());
    EXPECT_TRUE(streamed.motion.recording.pieces.empty());
    EXPECT_TRUE(streamed.motion.recording.steps.empty());
    rest.statistics.seconds = in_memory.statistics.seconds = 0.0;
    const trajectory::MotionSummary summary = integrate::summarise(loaded.model, in_memory);
    const std::optional<OutputCurves> outputs = outputs_of(loaded.model, in_memory);
    const OutputCurves* const curves = outputs ? &*outputs : nullptr;
    files.write(rest, c.t_end, account.ends(), summary, {}, samples, curves);
    results.publish();
    EXPECT_TRUE(test::content_of(folder.file("run/states.csv")) == io::states_csv(in_memory, samples, curves));
    EXPECT_TRUE(test::content_of(folder.file("run/events.csv")) == io::events_csv(in_memory));
    EXPECT_TRUE(test::content_of(folder.file("run/balance.csv")) == io::balance_csv(balance));
    EXPECT_TRUE(test::content_of(folder.file("run/simulate.json")) ==
                io::simulate_json(in_memory, c.t_end, &balance, io::Timing::left_out, &summary));
    EXPECT_EQ(io::simulate_text(rest, c.t_end, nullptr, &files.events()), io::simulate_text(in_memory, c.t_end));
    if (!io::has_hdf5()) return;
    io::write_trajectory(folder.file("whole.h5"), in_memory, &balance, curves);
    EXPECT_TRUE(test::content_of(folder.file("run/trajectory.h5")) == test::content_of(folder.file("whole.h5")));
}

TEST(MotionFiles, AreThoseOfAMotionInMemory) {
    integrate::Moreau stepping;
    stepping.h = 1e-3;
    for (const Case& c : {Case{"bouncing-ball", {}, integrate::EventDriven{}, 4.0, false},
                          Case{"bouncing-ball", {{"e", "1"}}, integrate::EventDriven{}, 3000.0, true},
                          // So long that the balance has no rows inside the later steps.
                          Case{"bouncing-ball", {{"e", "1"}}, integrate::EventDriven{}, 8000.0, true},
                          Case{"bouncing-ball", {}, stepping, 30.0, true},
                          Case{"rocking-bar", {}, integrate::EventDriven{}, 2.0, false},
                          Case{"friction-oscillator", {}, integrate::EventDriven{}, 2500.0, true},
                          Case{"hydrostatic-skeleton", {}, integrate::EventDriven{}, 0.3, true},
                          Case{"impact-oscillator", {}, integrate::EventDriven{}, 900.0, true},
                          Case{"woodpecker", {}, integrate::EventDriven{}, 1.0, false},
                          Case{"tracking-arm", {}, integrate::EventDriven{}, 3.0, false},
                          Case{"saturated-arm", {}, integrate::EventDriven{}, 2.0, false},
                          Case{"single-link-arm", {}, integrate::Penalty{}, 0.5, false}}) {
        SCOPED_TRACE(c.model + " to " + std::to_string(c.t_end));
        expect_same_files(c);
    }
}

TEST(MotionFiles, OfAContinuedMotionAreThoseOfOneInMemory) {
    const io::LoadedModel loaded =
        io::load_model(std::string(SALTUS_SOURCE_DIR) + "/models/bouncing-ball.toml", {.set = {{"e", "1"}}});
    integrate::Options options;
    options.t_end = 150.0;
    integrate::Moreau stepping;
    const std::vector<std::pair<integrate::Method, double>> long_motions{{integrate::EventDriven{}, 3000.0},
                                                                         {stepping, 200.0}};
    for (const auto& [method, t_end] : long_motions) {
        const ResumableMotion first = integrate::simulate_resumable(loaded.model, method, options, Record::yes);
        const integrate::Continued earlier{first.resume, first.motion.motion.end.t, first.motion.motion.events};
        expect_same_files({"bouncing-ball", {{"e", "1"}}, method, t_end, true}, &earlier);
        expect_same_files({"bouncing-ball", {{"e", "1"}}, method, 151.0, false}, &earlier);
    }
}

}  // namespace
}  // namespace saltus::motion_files_test
