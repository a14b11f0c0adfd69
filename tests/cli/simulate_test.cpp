// SPDX-License-Identifier: Apache-2.0
//
// `saltus simulate` as a person runs it: the executable, its output, its files, its exit code, and what signals do.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "process.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/results/trajectory_file.hpp"

namespace saltus::simulate_test {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;
using namespace std::chrono_literals;

using test::Outcome;
using test::Process;

/// Words of a command line that simulates.
std::vector<std::string> simulate_words(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {SALTUS_EXE, "simulate"});
    return arguments;
}

Outcome simulate_in(const test::Folder& folder, std::vector<std::string> arguments) {
    return Process(simulate_words(std::move(arguments)), folder.path()).wait();
}

Outcome simulate(std::vector<std::string> arguments) {
    const test::Folder empty;
    Outcome run = simulate_in(empty, std::move(arguments));
    EXPECT_EQ(empty.names(), Names{}) << "something was written without being asked for";
    return run;
}

const fs::path models = fs::path(SALTUS_SOURCE_DIR) / "models";

std::string model(const std::string& name) { return (models / (name + ".toml")).string(); }

Json simulated(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Outcome run = simulate(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return Json::parse(run.out);
}

/// Without the time it took.
Json untimed(Json j) {
    j["statistics"].erase("seconds");
    return j;
}

/// Bad input: exit code 2, a message, nothing on standard output.
std::string complaint(const Outcome& run) {
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
}

const std::string oscillator = R"([system]
name = "oscillator"
q = ["y"]
T = "y'^2/2"
U = "y^2/2"

[initial]
q = { y = 1.0 }
)";

/// y'' = y³ from y = 1 leaves every bound in finite time, at t = 1.854.
const std::string explosion = test::replaced(oscillator, "U = \"y^2/2\"", "f = { y = \"y^3\" }");

}  // namespace

// --- what comes out

TEST(Simulate, MovesEveryShippedModel) {
    for (const auto& entry : fs::directory_iterator(models)) {
        if (entry.path().extension() != ".toml") continue;
        const std::string path = entry.path().string();
        SCOPED_TRACE(path);
        std::vector<std::string> arguments{path};
        if (entry.path().filename().string().starts_with("hydrostatic"))  // hundreds of coordinates
            arguments.insert(arguments.end(), {"--t-end", "0.235"});
        const Json j = simulated(arguments);
        EXPECT_EQ(j["status"], "completed");
        EXPECT_EQ(j["t_end"], j["final"]["t"]);
        const bool rigid_events = j["method"] == "event";  // contact springs and time-stepping penetrate
        EXPECT_LT(j["energy"]["balance_error"].get<double>(), j["method"] == "moreau" ? 1e-3 : 1e-8);
        EXPECT_LT(j["violation"]["gap"].get<double>(), rigid_events ? 1e-10 : 1e-2);
        EXPECT_LT(j["violation"]["constraint"].get<double>(), 1e-10);
        // Every impact is audited, and one model alone has one that creates energy.
        const bool creates = entry.path().filename() == "rough-double-pendulum.toml";
        EXPECT_EQ(j["audit"]["creating"], creates ? 1 : 0) << j["audit"];
        double t = 0.0;
        for (const Json& e : j["events"]) {
            EXPECT_GE(e["t"].get<double>(), t);
            t = e["t"].get<double>();
        }
    }
}

TEST(Simulate, CallsAMotionWithTooLongStepsInaccurate) {
    const Outcome run = simulate({model("bouncing-ball"), "--method", "moreau", "--h", "1", "--json"});
    EXPECT_EQ(run.code, 3);
    const Json j = Json::parse(run.out);
    EXPECT_EQ(j["status"], "inaccurate");
    EXPECT_EQ(j["inaccuracy"]["what"], "the gap of contact 'floor'");
    EXPECT_GT(j["inaccuracy"]["error"].get<double>(), j["inaccuracy"]["allowed"].get<double>());
    EXPECT_EQ(j["inaccuracy"]["since"], 1.0);
    EXPECT_NE(j["inaccuracy"]["remedy"].get<std::string>().find("--h"), std::string::npos);
    EXPECT_EQ(j["final"]["t"], 5.0);
}

TEST(Simulate, RefusesAGapThatJumps) {
    const test::Folder folder;
    folder.write("a.toml",
                 test::replaced(oscillator, "[initial]",
                                "[[contact]]\nname = \"step\"\ngN = \"2 - y + if(y < 0.3, 0.1, 0)\"\n[initial]"));
    const std::string text = complaint(simulate_in(folder, {"a.toml", "--t-end", "1"}));
    EXPECT_NE(text.find("the gap of contact 'step' jumps"), std::string::npos) << text;
    EXPECT_NE(text.find("y = 0.3"), std::string::npos) << text;
}

TEST(Simulate, MeetsTheClosedFormOfTheBouncingBall) {
    const Json j = simulated({model("bouncing-ball")});
    const double g = 9.81, e = 0.8, fall = std::sqrt(2.0 / g);
    EXPECT_EQ(j["method"], "event");
    EXPECT_EQ(j["t_end"], 5.0);
    double t = fall, u = g * fall;
    for (std::size_t k = 0; k < 10; ++k, t += 2.0 * u / g) {  // u: after the impact before
        const Json& hit = j["events"][k];
        EXPECT_EQ(hit["kind"], "impact");
        EXPECT_EQ(hit["contacts"], Json{"floor"});
        EXPECT_NEAR(hit["t"].get<double>(), t, 1e-10 * t);
        EXPECT_NEAR(hit["u_minus"]["y"].get<double>(), -u, 1e-8 * u);
        EXPECT_NEAR(hit["Lambda"]["floor"]["N"].get<double>(), (1 + e) * u, 1e-8 * u);
        u *= e;
        EXPECT_NEAR(hit["u_plus"]["y"].get<double>(), u, 1e-8 * u);
    }
    EXPECT_NEAR(j["final"]["q"]["y"].get<double>(), 0.0, 1e-10);
    EXPECT_NEAR(j["forces"]["floor"]["N"].get<double>(), g, 1e-9);
    EXPECT_NEAR(j["energy"]["initial"].get<double>(), g, 1e-14);
    EXPECT_EQ(j["audit"]["energy_created"], 0.0);
}

TEST(Simulate, TellsAPersonAsMuch) {
    const Outcome run = simulate({model("bouncing-ball"), "--t-end", "1"});
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_TRUE(
        run.out.starts_with("bouncing ball\n"
                            "  method      event-driven  (--method event --t-end 1 --rtol 1e-09 --atol 1e-12)\n"
                            "  status      completed, t = 0 to 1\n"
                            "  events      1\n"
                            "    t               kind         contacts  velocity jumps\n"
                            "    0.45152364099   impact       floor     y': -4.42945 -> 3.54356\n"))
        << run.out;
    EXPECT_EQ(simulate({model("bouncing-ball"), "--quiet"}).out, "");
}

TEST(Simulate, GivesTheSameBytesForAnyNumberOfThreads) {
    for (const char* const method : {"event", "moreau"}) {
        const std::vector<std::string> arguments{model("rocking-bar"), "--method", method, "--t-end", "0.5"};
        auto with = [&](const std::string& threads) {
            std::vector<std::string> all = arguments;
            all.insert(all.end(), {"--threads", threads});
            return all;
        };
        const Json once = untimed(simulated(arguments));
        EXPECT_EQ(untimed(simulated(with("1"))).dump(), once.dump());
        EXPECT_EQ(untimed(simulated(with("4"))).dump(), once.dump());
        EXPECT_EQ(simulate(with("1")).out, simulate(with("4")).out);
    }
}

// --- files

TEST(Simulate, OutWritesItsFiles) {
    const test::Folder folder;
    const Outcome run =
        simulate_in(folder, {model("bouncing-ball"), "--t-end", "1", "--json", "--out", "a/run", "--samples", "11"});
    EXPECT_EQ(run.code, 0) << run.err;
    Names expected{"a",
                   "a/run",
                   "a/run/balance.csv",
                   "a/run/contents.json",
                   "a/run/events.csv",
                   "a/run/model.toml",
                   "a/run/simulate.json",
                   "a/run/states.csv"};
    if (io::has_hdf5()) expected.push_back("a/run/trajectory.h5");
    EXPECT_EQ(folder.names(), expected);
    EXPECT_EQ(Json::parse(test::content_of(folder.path() / "a/run/simulate.json")), untimed(Json::parse(run.out)));
    const std::string states = test::content_of(folder.path() / "a/run/states.csv");
    EXPECT_TRUE(states.starts_with("t,y,y'\n0,1,0\n0.1,"));
    EXPECT_EQ(std::count(states.begin(), states.end(), '\n'), 1 + 11 + 2);
    const std::string events = test::content_of(folder.path() / "a/run/events.csv");
    EXPECT_EQ(std::count(events.begin(), events.end(), '\n'), 1 + 1);
    if (!io::has_hdf5()) return;
    const trajectory::Trajectory t = io::read_trajectory(folder.file("a/run/trajectory.h5"));
    const Json j = Json::parse(run.out);
    EXPECT_EQ(t.end.t, 1.0);
    EXPECT_EQ(t.end.q[0], j["final"]["q"]["y"].get<double>());
    EXPECT_EQ(t.events.size(), 1U);
    EXPECT_EQ(t.left(t.events[0].t).u[0], j["events"][0]["u_minus"]["y"].get<double>());
}

TEST(Simulate, SaysWhereItsNumbersComeFrom) {
    if (!io::has_hdf5()) GTEST_SKIP();
    const test::Folder folder;
    const auto stored = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {model("bouncing-ball"), "--quiet", "--out", "run", "--t-end", "0.5"});
        EXPECT_EQ(simulate_in(folder, more).code, 0);
        return io::read_trajectory(folder.file("run/trajectory.h5"));
    };
    const auto fnv1a = [](const std::string& bytes) {
        std::uint64_t hash = 14695981039346656037U;
        for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
        std::string text(16, '0');
        for (std::size_t k = 16; k-- > 0; hash >>= 4U) text[k] = "0123456789abcdef"[hash & 15U];
        return text;
    };
    const std::string bytes = test::content_of(model("bouncing-ball"));
    const trajectory::Trajectory plain = stored({});
    EXPECT_EQ(plain.model, "bouncing ball");
    EXPECT_EQ(plain.method, "event");
    EXPECT_NE(plain.version, "");
    EXPECT_EQ(plain.options, "--method event --t-end 0.5 --rtol 1e-09 --atol 1e-12");
    EXPECT_EQ(plain.model_hash, fnv1a(bytes));
    const trajectory::Trajectory changed =
        stored({"--set", "e=0.5", "--set", "g = 2*5", "--rtol", "1e-6", "--implicit"});
    EXPECT_EQ(changed.options,
              "--method event --t-end 0.5 --rtol 1e-06 --atol 1e-12 --implicit --set e=0.5 --set 'g= 2*5'");
    EXPECT_EQ(changed.model_hash, fnv1a(bytes + '\0' + "e=0.5" + '\0' + "g= 2*5"));
    const trajectory::Trajectory stepped = stored({"--method", "moreau", "--perturbed", "--project-initial"});
    EXPECT_EQ(stepped.options, "--method moreau --t-end 0.5 --h 0.001 --theta 0.5 --perturbed --project-initial");
    EXPECT_TRUE(stepped.stepped);
}

TEST(Simulate, RefusesAFolderThatCannotBeBeforeItWorks) {
    const test::Folder folder;
    folder.write("taken", "x");
    folder.write("long.toml", oscillator);  // would go on for hours
    EXPECT_EQ(complaint(simulate_in(folder, {"long.toml", "--t-end", "1e9", "--out", "taken/run"})),
              "saltus: error: taken/run: cannot create the folder: Not a directory\n");
    EXPECT_EQ(complaint(simulate_in(folder, {"long.toml", "--t-end", "1e9", "--out", "taken"})),
              "saltus: error: taken: cannot create the folder: Not a directory\n");
    EXPECT_EQ(folder.names(), (Names{"long.toml", "taken"}));
}

// --- options

TEST(Simulate, TakesWhatIsNotSaidFromTheModel) {
    const test::Folder folder;
    const auto with = [&](const std::string& defaults) {
        return simulate({folder.write("a.toml", oscillator + "\n[simulate]\n" + defaults)}).out;
    };
    const auto options_in = [](const std::string& text) {
        const std::size_t begin = text.find('(') + 1;
        return text.substr(begin, text.find(")\n") - begin);
    };
    EXPECT_EQ(options_in(with("t_end = 2\nrtol = 1e-4\natol = 1e-5\n")),
              "--method event --t-end 2 --rtol 1e-04 --atol 1e-05");
    EXPECT_EQ(options_in(with("t_end = 0.25\nmethod = \"moreau\"\nh = 0.125\n")),
              "--method moreau --t-end 0.25 --h 0.125 --theta 0.5");
    const std::string path =
        folder.write("b.toml", oscillator + "\n[simulate]\nt_end = 2\nmethod = \"moreau\"\nh = 0.125\nrtol = 1e-3\n");
    EXPECT_EQ(options_in(simulate({path, "--t-end", "1", "--h", "0.5", "--theta", "1"}).out),
              "--method moreau --t-end 1 --h 0.5 --theta 1");
    EXPECT_EQ(options_in(simulate({path, "--method", "event", "--atol", "1e-3"}).out),
              "--method event --t-end 2 --rtol 0.001 --atol 0.001");
}

TEST(Simulate, AsksHowLongWhenNothingSaysSo) {
    const test::Folder folder;
    const std::string path = folder.write("a.toml", oscillator);
    EXPECT_EQ(complaint(simulate({path})), "saltus: error: " + path +
                                               ": no end time is given; give --t-end, or t_end in "
                                               "[simulate]\n");
}

TEST(Simulate, TheThreeMethodsAgreeOnTheOscillator) {
    const test::Folder folder;
    const std::string path = folder.write("a.toml", oscillator);
    const auto at_end = [&](const std::string& method) {
        const Json j = simulated({path, "--t-end", "1", "--method", method, "--h", "1e-3"});
        EXPECT_EQ(j["method"], method);
        EXPECT_EQ(j["warnings"], method == "moreau" ? Json::array() : Json{"--h is not used by method " + method});
        return j["final"]["q"]["y"].get<double>();
    };
    EXPECT_NEAR(at_end("event"), std::cos(1.0), 1e-9);
    EXPECT_NEAR(at_end("penalty"), std::cos(1.0), 1e-9);
    EXPECT_NEAR(at_end("moreau"), std::cos(1.0), 1e-6);  // second order
}

TEST(Simulate, SaysWhichOptionsTheMethodDoesNotUse) {
    const Json j = simulated({model("bouncing-ball"), "--t-end", "0.1", "--method", "moreau", "--rtol", "1e-3",
                              "--atol", "1e-3", "--implicit"});
    EXPECT_EQ(j["warnings"], (Json{"--rtol is not used by method moreau", "--atol is not used by method moreau"}));
    EXPECT_EQ(simulated({model("bouncing-ball"), "--t-end", "0.1", "--theta", "1"})["warnings"],
              Json{"--theta is not used by method event"});
}

TEST(Simulate, SetChangesTheMotion) {
    const Json j = simulated({model("bouncing-ball"), "--t-end", "0.6", "--set", "g=8", "--set", "e=0.5"});
    EXPECT_NEAR(j["events"][0]["t"].get<double>(), 0.5, 1e-12);
    EXPECT_NEAR(j["events"][0]["u_plus"]["y"].get<double>(), 2.0, 1e-10);
}

TEST(Simulate, PerturbedAppliesThePerturbation) {
    const double plain = simulated({model("bouncing-ball"), "--t-end", "0.5"})["events"][0]["t"].get<double>();
    const double other =
        simulated({model("bouncing-ball"), "--t-end", "0.5", "--perturbed"})["events"][0]["t"].get<double>();
    EXPECT_NE(plain, other);
    EXPECT_NEAR(plain, other, 1e-2);
    EXPECT_EQ(
        complaint(simulate({model("rocking-bar"), "--perturbed"})),
        "saltus: error: " + model("rocking-bar") + ": the model has no [perturbation]; add one, or omit --perturbed\n");
}

TEST(Simulate, RefusesBadValuesWithWhatIsAllowed) {
    const auto refusal = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), model("bouncing-ball"));
        const std::string text = complaint(simulate(arguments));
        const std::string lead = "saltus: error: ";
        return text.starts_with(lead) ? text.substr(lead.size()) : text;
    };
    EXPECT_EQ(refusal({"--method", "verlet"}),
              "--method: unknown method 'verlet'; allowed are event, moreau and penalty\n");
    EXPECT_EQ(refusal({"--method", "moreau", "--h", "-1"}), "--h: h is -1, it must be a number > 0\n");
    EXPECT_EQ(refusal({"--method", "moreau", "--h", "0"}), "--h: h is 0, it must be a number > 0\n");
    EXPECT_EQ(refusal({"--method", "moreau", "--h", "inf"}), "--h: h is inf, it must be a number > 0\n");
    EXPECT_EQ(refusal({"--rtol", "0"}), "--rtol: rtol is 0, it must be a number > 0\n");
    EXPECT_EQ(refusal({"--rtol", "nan"}), "--rtol: rtol is nan, it must be a number > 0\n");
    EXPECT_EQ(refusal({"--rtol", "1"}), "--rtol: rtol is 1, it must lie in (0, 1)\n");
    EXPECT_EQ(refusal({"--atol", "-1e-9"}), "--atol: atol is -1e-09, it must be a number > 0\n");
    EXPECT_EQ(refusal({"--method", "moreau", "--theta", "1.5"}),
              "--theta: theta is 1.5, it must lie in [0, 1]; 0.5 is the midpoint\n");
    EXPECT_EQ(refusal({"--t-end", "0"}), "--t-end: t_end is 0, it must be a time after the start at t = 0\n");
    EXPECT_EQ(refusal({"--t-end", "-2"}), "--t-end: t_end is -2, it must be a time after the start at t = 0\n");
    EXPECT_EQ(refusal({"--t-end", "nan"}), "--t-end: t_end is nan, it must be a time after the start at t = 0\n");
    EXPECT_EQ(refusal({"--samples", "1"}), "--samples: samples is 1, it must be at least 2\n");
    EXPECT_NE(refusal({"--h", "small"}).find("--h"), std::string::npos);
    EXPECT_NE(refusal({"--samples", "many"}).find("--samples"), std::string::npos);
    EXPECT_EQ(refusal({"--set", "e"}), "--set: 'e' is not an assignment; write --set name=value\n");
    EXPECT_EQ(
        complaint(simulate({model("rocking-bar"), "--method", "penalty"})),
        "saltus: error: " + model("rocking-bar") +
            ": method penalty does not support contacts without a stiffness k (contact 'left'): the contact force "
            "is k*depth + d*rate; give the model a [penalty] with k\n");
}

TEST(Simulate, BadInputLeavesNoFile) {
    const test::Folder folder;
    folder.write("a.toml", oscillator);
    complaint(simulate_in(folder, {"a.toml", "--t-end", "0", "--out", "run"}));
    complaint(simulate_in(folder, {"a.toml", "--method", "x", "--t-end", "1", "--out", "run"}));
    complaint(simulate_in(folder, {"nowhere.toml", "--out", "run"}));
    EXPECT_EQ(folder.names(), Names{"a.toml"});
}

// --- going on

class Restart : public testing::Test {
protected:
    void SetUp() override {
        if (!io::has_hdf5()) GTEST_SKIP();
        ASSERT_EQ(simulate_in(folder_, {model("bouncing-ball"), "--t-end", "1", "--out", "first", "--quiet"}).code, 0);
    }
    test::Folder folder_;
    const std::string ball_ = model("bouncing-ball");
};

TEST_F(Restart, GoesOnFromTheEndOfATrajectory) {
    const Outcome run =
        simulate_in(folder_, {ball_, "--t-end", "2", "--restart", "first/trajectory.h5", "--json", "--out", "second"});
    ASSERT_EQ(run.code, 0) << run.err;
    const Json part = Json::parse(run.out), whole = simulated({ball_, "--t-end", "2"});
    ASSERT_EQ(part["events"].size(), 2U);  // the first impact is in the first part
    ASSERT_EQ(whole["events"].size(), 3U);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(part["events"][k], whole["events"][k + 1]);
    EXPECT_EQ(part["final"], whole["final"]);
    const trajectory::Trajectory first = io::read_trajectory(folder_.file("first/trajectory.h5")),
                                 second = io::read_trajectory(folder_.file("second/trajectory.h5"));
    EXPECT_EQ(second.start.t, 1.0);
    EXPECT_NEAR(second.start.q[0], first.end.q[0], 1e-12);
    EXPECT_NEAR(second.start.u[0], first.end.u[0], 1e-12);
    EXPECT_EQ(second.options, "--method event --t-end 2 --rtol 1e-09 --atol 1e-12 --restart first/trajectory.h5");
}

/// The lines of a table from the first one whose first cell is a time after `from`.
std::string lines_after(const std::string& csv, double from) {
    std::string kept;
    std::istringstream in(csv);
    std::string line;
    std::getline(in, line);  // names
    while (std::getline(in, line))
        if (std::stod(line) > from) kept += line + "\n";
    return kept;
}

/// Stops motions at random times. The files of the continued motions have the lines of the motion without interruption.
TEST_F(Restart, GivesTheSameBytesAsARunWithoutInterruption) {
    std::mt19937 random(11);
    for (const std::string options :
         {"bouncing-ball 4", "impact-oscillator 30", "woodpecker 1", "rocking-bar 1", "friction-oscillator 20",
          "bouncing-ball 4 --method moreau", "decoupled-pair 1 --method penalty", "impact-oscillator 9 --implicit"}) {
        std::istringstream words(options);
        std::string name, t_end, rest;
        words >> name >> t_end;
        std::getline(words, rest);
        const std::string run = "simulate " + model(name) + rest + " --quiet --t-end ";
        ASSERT_EQ(test::command(run + t_end + " --out whole", folder_.path()).code, 0) << options;
        for (int k = 0; k < 3; ++k) {
            const double stop = std::stod(t_end) * std::generate_canonical<double, 53>(random);
            const std::string at = number_text(stop);
            ASSERT_EQ(test::command(run + at + " --out part", folder_.path()).code, 0) << options << " to " << at;
            const std::string again = run + t_end + " --restart part/trajectory.h5 --out rest";
            const Outcome second = test::command(again, folder_.path());
            ASSERT_EQ(second.code, 0) << options << " from " << at << "\n" << second.out;
            const auto file = [&](const char* folder, const char* file_name) {
                return test::content_of(folder_.path() / folder / file_name);
            };
            EXPECT_EQ(lines_after(file("rest", "events.csv"), stop), lines_after(file("whole", "events.csv"), stop))
                << options << " stopped at " << at;
            const trajectory::Trajectory whole = io::read_trajectory(folder_.file("whole/trajectory.h5")),
                                         part = io::read_trajectory(folder_.file("rest/trajectory.h5"));
            EXPECT_EQ(part.end.q, whole.end.q) << options << " stopped at " << at;
            EXPECT_EQ(part.end.u, whole.end.u) << options << " stopped at " << at;
        }
    }
}

/// With other options the motion goes on from the last state.
TEST_F(Restart, GoesOnFromTheEndIfTheOptionsDiffer) {
    const Outcome run = simulate_in(folder_, {ball_, "--t-end", "2", "--restart", "first/trajectory.h5", "--rtol",
                                              "1e-8", "--quiet", "--out", "second"});
    ASSERT_EQ(run.code, 0) << run.err;
    const trajectory::Trajectory first = io::read_trajectory(folder_.file("first/trajectory.h5")),
                                 second = io::read_trajectory(folder_.file("second/trajectory.h5"));
    EXPECT_EQ(second.start.q, first.end.q);
    EXPECT_EQ(second.start.u, first.end.u);
}

TEST_F(Restart, RefusesWhatItCannotGoOnFrom) {
    const auto refusal = [&](std::vector<std::string> arguments) {
        return complaint(simulate_in(folder_, std::move(arguments))).substr(std::string("saltus: error: ").size());
    };
    EXPECT_EQ(
        refusal({model("rocking-bar"), "--t-end", "2", "--restart", "first/trajectory.h5"}),
        "first/trajectory.h5: its coordinates are y, those of the model x, y and phi; restart from a trajectory of "
        "this model\n");
    EXPECT_EQ(refusal({ball_, "--t-end", "1", "--restart", "first/trajectory.h5"}),
              "--t-end: t_end is 1, it must be a time after the start at t = 1\n");
    EXPECT_EQ(refusal({ball_, "--restart", "first"}), "first: is a folder, not a file; give the trajectory.h5 in it\n");
    EXPECT_EQ(refusal({ball_, "--restart", "first/states.csv"}),
              "first/states.csv: is not HDF5; give a trajectory.h5 that saltus simulate --out wrote\n");
    EXPECT_EQ(refusal({ball_, "--restart", "nowhere.h5"}), "nowhere.h5: cannot be opened; check the path\n");
    EXPECT_EQ(refusal({ball_, "--restart", "first/trajectory.h5", "--out", "first"}),
              "first/trajectory.h5: is read by this command and would be replaced; give another folder to --out\n");
    const std::string whole = test::content_of(folder_.path() / "first/trajectory.h5");
    folder_.write("cut.h5", whole.substr(0, whole.size() / 2));
    EXPECT_EQ(refusal({ball_, "--restart", "cut.h5"}),
              "cut.h5: cannot be read; it may be cut short or damaged; run the simulation again\n");
}

// --- runs that do not complete

TEST(Simulate, AFailedRunKeepsWhatThereIs) {
    const test::Folder folder;
    folder.write("a.toml", explosion);
    const Outcome run = simulate_in(folder, {"a.toml", "--t-end", "3", "--json", "--out", "run"});
    EXPECT_EQ(run.code, 3);
    const Json j = Json::parse(run.out);
    EXPECT_EQ(j["status"], "failed");
    EXPECT_EQ(j["t_end"], 3.0);
    EXPECT_NEAR(j["final"]["t"].get<double>(), std::comp_ellint_1(std::sqrt(0.5)), 1e-6);  // K(1/√2)
    ASSERT_FALSE(j["warnings"].empty());
    EXPECT_EQ(Json::parse(test::content_of(folder.path() / "run/simulate.json")), untimed(j));
    EXPECT_TRUE(test::content_of(folder.path() / "run/states.csv").starts_with("t,y,y'\n0,1,0\n"));
    if (io::has_hdf5()) {
        const trajectory::Trajectory t = io::read_trajectory(folder.file("run/trajectory.h5"));
        EXPECT_EQ(t.status, trajectory::Status::failed);
        EXPECT_EQ(t.reason, j["warnings"][0].get<std::string>());
    }
    const Outcome told = simulate_in(folder, {"a.toml", "--t-end", "3"});
    EXPECT_EQ(told.code, 3);
    EXPECT_NE(told.out.find("  status      failed, t = 0 to 1.854074"), std::string::npos);
}

TEST(Simulate, AnInterruptKeepsWhatThereIs) {
    const test::Folder folder;
    folder.write("long.toml", oscillator);
    for (const int signal : {SIGINT, SIGTERM}) {
        const Process run(simulate_words({"long.toml", "--t-end", "1e9", "--json", "--out", "run"}), folder.path());
        run.wait_until_it_listens();
        std::this_thread::sleep_for(50ms);
        run.send(signal);
        const Outcome outcome = run.wait();
        EXPECT_EQ(outcome.code, 130);
        EXPECT_EQ(outcome.err.find(" left"), std::string::npos);  // no progress where there is no terminal
        const Json j = Json::parse(outcome.out);
        EXPECT_EQ(j["status"], "interrupted");
        EXPECT_EQ(j["t_end"], 1e9);
        EXPECT_LT(j["final"]["t"].get<double>(), 1e9);
        EXPECT_EQ(Json::parse(test::content_of(folder.path() / "run/simulate.json")), untimed(j));
        if (!io::has_hdf5()) continue;
        const trajectory::Trajectory t = io::read_trajectory(folder.file("run/trajectory.h5"));
        EXPECT_EQ(t.status, trajectory::Status::interrupted);
        EXPECT_EQ(t.end.t, j["final"]["t"].get<double>());
        EXPECT_EQ(t.right(0.0).q[0], 1.0);
    }
}

TEST(Simulate, AnInterruptedRunCanGoOn) {
    if (!io::has_hdf5()) GTEST_SKIP();
    const test::Folder folder;
    folder.write("long.toml", oscillator);
    const Process run(simulate_words({"long.toml", "--t-end", "1e9", "--quiet", "--out", "run"}), folder.path());
    run.wait_until_it_listens();
    run.send(SIGINT);
    EXPECT_EQ(run.wait().code, 130);
    const double reached = io::read_trajectory(folder.file("run/trajectory.h5")).end.t, t_end = reached + 1.0;
    const Outcome more = simulate_in(
        folder, {"long.toml", "--t-end", std::to_string(t_end), "--restart", "run/trajectory.h5", "--json"});
    ASSERT_EQ(more.code, 0) << more.err;
    EXPECT_NEAR(Json::parse(more.out)["final"]["t"].get<double>(), t_end, 1e-6);
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;  // its shadow memory exceeds every limit
#else
constexpr bool sanitized = false;
#endif

const std::string elastic_ball = " simulate " + (models / "bouncing-ball.toml").string() + " --set e=1 ";

/// Size of all files of a folder, in bytes.
double bytes_in(const fs::path& folder) {
    double sum = 0.0;
    for (const auto& entry : fs::directory_iterator(folder)) sum += static_cast<double>(entry.file_size());
    return sum;
}

/// The events and arcs of a long motion go to the disk while it runs.
TEST(Simulate, AMotionThatIsWrittenFitsIntoLittleMemory) {
    if (!io::has_hdf5() || sanitized) GTEST_SKIP();
    const test::Folder folder;
    const std::string limited = "ulimit -v 200000; '" + std::string(SALTUS_EXE) + "'" + elastic_ball;
    const Outcome run = test::shell(limited + "--t-end 100000 --out run --json > run.json", folder.path());
    ASSERT_EQ(run.code, 0) << run.err;
    const std::string exe = "'" + std::string(SALTUS_EXE) + "'";
    const Outcome shown = test::shell("ulimit -v 200000; " + exe + " report run -o a.html", folder.path());
    EXPECT_EQ(shown.code, 2);
    EXPECT_NE(shown.err.find("run/trajectory.h5: needs about 0."), std::string::npos) << shown.err;
    // Continuing and auditing need the events, not the arcs. What a continued run repeats of the earlier one is not
    // kept.
    const Outcome restarted =
        test::shell("ulimit -v 250000; " + exe + elastic_ball + "--restart run/trajectory.h5 --t-end 100001 --out next",
                    folder.path());
    EXPECT_EQ(restarted.code, 0) << restarted.err;
    const Outcome audited =
        test::shell("ulimit -v 250000; " + exe + " impact --trajectory run/trajectory.h5", folder.path());
    EXPECT_EQ(audited.code, 0) << audited.err;
    const trajectory::Trajectory motion = io::read_trajectory(folder.file("run/trajectory.h5"));
    EXPECT_EQ(motion.status, trajectory::Status::completed);
    EXPECT_GT(motion.events.size(), 100000U);
    EXPECT_EQ(motion.arcs.size(), motion.events.size() + 1);
    const std::string events = test::content_of(folder.file("run/events.csv"));
    EXPECT_EQ(static_cast<std::size_t>(std::count(events.begin(), events.end(), '\n')), motion.events.size() + 1);
    EXPECT_EQ(Json::parse(test::content_of(folder.file("run.json")))["events"].size(), motion.events.size());
    // The stored summary lists the first events only, so that an impact of a long motion needs less than a kilobyte.
    constexpr std::size_t listed = 100'000;
    const std::string summary = test::content_of(folder.file("run/simulate.json"));
    const Json j = Json::parse(summary);
    EXPECT_EQ(j["events"].size(), listed);
    EXPECT_EQ(j["events_left_out"], motion.events.size() - listed);
    EXPECT_EQ(j["audit"]["impacts"], motion.events.size());
    const double others = bytes_in(folder.path() / "run") - static_cast<double>(summary.size());
    EXPECT_LT(others / static_cast<double>(motion.events.size()), 1000.0);
}

/// Outputs need the whole motion. One that does not fit into memory ends with what there is, and can be continued.
TEST(Simulate, AMotionWithOutputsThatDoesNotFitIntoMemoryIsKeptAsFarAsItGoes) {
    if (!io::has_hdf5() || sanitized) GTEST_SKIP();
    const test::Folder folder;
    folder.write("a.toml", test::content_of(models / "bouncing-ball.toml") + "\n[output]\nheight = \"y\"\n");
    const std::string ball = "'" + std::string(SALTUS_EXE) + "' simulate a.toml --set e=1 ";
    const Outcome run = test::shell("ulimit -v 300000; " + ball + "--t-end 1e6 --out run --json", folder.path());
    EXPECT_EQ(run.code, 3);
    EXPECT_NE(run.err.find("the memory is nearly used up at t = "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("what exists is written"), std::string::npos) << run.err;
    const trajectory::Trajectory first = io::read_trajectory(folder.file("run/trajectory.h5"));
    EXPECT_EQ(first.status, trajectory::Status::interrupted);
    EXPECT_GT(first.events.size(), 1000U);
    EXPECT_EQ(Json::parse(run.out)["events"].size(), first.events.size());
    const trajectory::OutputCurves curves = io::read_outputs(folder.file("run/trajectory.h5"));
    ASSERT_EQ(curves.names, std::vector<std::string>{"height"});
    EXPECT_EQ(curves.values[0].back(), first.end.q[0]);
    const std::string t_end = number_text(first.end.t + 10.0);
    ASSERT_EQ(test::shell(ball + "--restart run/trajectory.h5 --out rest --t-end " + t_end, folder.path()).code, 0);
    ASSERT_EQ(test::shell(ball + "--out whole --t-end " + t_end, folder.path()).code, 0);
    const trajectory::Trajectory rest = io::read_trajectory(folder.file("rest/trajectory.h5")),
                                 whole = io::read_trajectory(folder.file("whole/trajectory.h5"));
    EXPECT_EQ(rest.end.q, whole.end.q);
    EXPECT_EQ(rest.end.u, whole.end.u);
}

/// Mean forces need all arcs in memory: a long motion has none.
TEST(Simulate, ReportsMeanForcesOfShortMotions) {
    const std::string ball = "'" + std::string(SALTUS_EXE) + "'" + elastic_ball + "--json --t-end ";
    const Outcome brief = test::shell(ball + "3000"), lengthy = test::shell(ball + "60000");
    ASSERT_EQ(brief.code, 0) << brief.err;
    ASSERT_EQ(lengthy.code, 0) << lengthy.err;
    const Json rates = Json::parse(brief.out).value("impulse_rates", Json::object());
    ASSERT_TRUE(rates.contains("floor")) << rates;
    constexpr double weight = 9.81;  // m g
    EXPECT_NEAR(rates.at("floor").at("mean").get<double>(), weight, 1e-6 * weight);
    EXPECT_FALSE(Json::parse(lengthy.out).contains("impulse_rates"));
}

TEST(Simulate, RefusesMoreSamplesThanATableCanHave) {
    const Outcome r = test::shell("'" + std::string(SALTUS_EXE) + "'" + elastic_ball + "--samples 2000000000");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find("it must be at most 10000000"), std::string::npos) << r.err;
}

/// If the disk is full while a motion runs then it ends there. What is known is printed, and no file remains.
TEST(Simulate, AMotionThatDoesNotFitOntoTheDiskIsPrinted) {
    const test::Folder folder;
    const std::string limited = "ulimit -f 2000; '" + std::string(SALTUS_EXE) + "'" + elastic_ball;
    const Outcome run = test::shell(limited + "--t-end 1e7 --out run", folder.path());
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find("cannot be written: File too large"), std::string::npos) << run.err;
    EXPECT_NE(run.out.find("because its files cannot be written"), std::string::npos) << run.out;
    EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

/// If the files come near the room that there is then the motion ends, is written and can be continued.
TEST(Simulate, AMotionThatNearlyFillsTheDiskIsKeptAsFarAsItGoes) {
    if (!io::has_hdf5()) GTEST_SKIP();
    const test::Folder folder;
    const std::string ball = "'" + std::string(SALTUS_EXE) + "'" + elastic_ball;
    const Outcome run = test::shell("ulimit -f 30000; " + ball + "--t-end 1e7 --out run", folder.path());
    EXPECT_EQ(run.code, 3);
    EXPECT_NE(run.err.find("the disk is nearly used up at t = "), std::string::npos) << run.err;
    const trajectory::Trajectory motion = io::read_trajectory(folder.file("run/trajectory.h5"));
    EXPECT_EQ(motion.status, trajectory::Status::interrupted);
    EXPECT_GT(motion.events.size(), 5000U);
    EXPECT_GT(fs::file_size(folder.path() / "run/trajectory.h5"), 5'000'000U);  // of 15 MB
    const std::string t_end = number_text(motion.end.t + 5.0);
    EXPECT_EQ(test::shell(ball + "--restart run/trajectory.h5 --t-end " + t_end, folder.path()).code, 0);
}

/// Without --out a motion keeps what is printed: its memory does not grow with the number of its events.
TEST(Simulate, AMotionOfAMillionImpactsFitsIntoLittleMemory) {
    if (sanitized) GTEST_SKIP();
    const std::string limited = "ulimit -v 150000; '" + std::string(SALTUS_EXE) + "'" + elastic_ball;
    const Outcome run = test::shell(limited + "--t-end 903100");
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("  events      1000058\n"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("    ... 1000033 more ...\n"), std::string::npos) << run.out;
}

/// Whenever it is killed, what has a name is whole.
TEST(Simulate, AKilledRunLeavesNothingOrReadableFiles) {
    const test::Folder folder;
    folder.write("a.toml", oscillator);
    for (int k = 0; k < 12; ++k) {
        const std::string out = "run" + std::to_string(k);
        const Process run(simulate_words({"a.toml", "--t-end", "4e3", "--quiet", "--out", out}), folder.path());
        run.wait_until_it_listens();
        std::this_thread::sleep_for(k * 15ms);
        run.send(SIGKILL);
        run.wait();
        const fs::path files = folder.path() / out;
        if (fs::exists(files / "trajectory.h5")) {
            EXPECT_EQ(io::read_trajectory((files / "trajectory.h5").string()).end.t, 4e3);
        }
        if (fs::exists(files / "states.csv")) {
            const std::string states = test::content_of(files / "states.csv");
            EXPECT_EQ(std::count(states.begin(), states.end(), '\n'), 1002);
        }
        if (fs::exists(files / "simulate.json")) {
            EXPECT_TRUE(Json::accept(test::content_of(files / "simulate.json")));
        }
    }
}

TEST(Simulate, ShowsProgressOnATerminalAfterTwoSeconds) {
    const test::Folder folder;
    const std::string path = folder.write("long.toml", oscillator);
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::execl(SALTUS_EXE, SALTUS_EXE, "simulate", path.c_str(), "--t-end", "1e11", nullptr);
        ::_exit(99);
    }
    const auto start = std::chrono::steady_clock::now();
    std::string seen;
    double first = 0.0;
    bool stopped = false;
    for (char buffer[4096];;) {
        pollfd waiting{terminal, POLLIN, 0};
        if (::poll(&waiting, 1, 20000) <= 0) break;
        const ssize_t got = ::read(terminal, buffer, sizeof buffer);
        if (got <= 0) break;
        if (seen.empty()) first = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        seen.append(buffer, static_cast<std::size_t>(got));
        if (!stopped && seen.find(" left") != std::string::npos) stopped = ::kill(child, SIGINT) == 0;
    }
    int status = 0;
    ::kill(child, SIGKILL);  // where it should still be there
    ::waitpid(child, &status, 0);
    ::close(terminal);
    EXPECT_GE(first, 2.0);
    EXPECT_EQ(seen.rfind("\r  0 %  t = ", 0), 0U) << seen;
    EXPECT_NE(seen.find(" of 1e+11  "), std::string::npos);
    EXPECT_NE(seen.find(" h left"), std::string::npos);
    EXPECT_NE(seen.find("\r\033[Koscillator"), std::string::npos) << "the line is not taken away";
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130);
}

TEST(Simulate, HelpNamesItsOptions) {
    const Outcome run = simulate({"--help"});
    EXPECT_EQ(run.code, 0);
    for (const char* const option :
         {"--t-end", "--method", "--h", "--theta", "--rtol", "--atol", "--implicit", "--samples", "--out", "--restart",
          "--perturbed", "--set", "--json", "--quiet", "--threads", "--project-initial"})
        EXPECT_NE(run.out.find(option), std::string::npos) << option;
    EXPECT_NE(run.out.find("Example:  saltus simulate models/bouncing-ball.toml"), std::string::npos);
}

}  // namespace saltus::simulate_test
