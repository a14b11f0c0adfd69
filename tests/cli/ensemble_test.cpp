// SPDX-License-Identifier: Apache-2.0
//
// Many runs as a person makes them: threads, parts, processes, kills. The files must have the same bytes.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "saltus/ensemble/table.hpp"
#include "support.hpp"

namespace saltus::ensemble_test {
namespace {

using Json = nlohmann::ordered_json;
using test::Outcome;

std::string model(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml "; }

/// Commands of each kind, short ones and longer ones of the same kind. Basins are in basin_test.cpp.
struct Ensemble {
    std::string name, line;
};
std::vector<Ensemble> ensembles() {
    return {{"asked of a grid over a parameter and an initial value",
             "simulate " + model("bouncing-ball") +
                 "--vary e=0.5:0.9:9 --vary y=0.5:1:5 --t-end 3 --ask \"end, count(impact), highest(y)\""},
            {"asked of random values", "simulate " + model("bouncing-ball") +
                                           "--samples 40 --box e=normal:0.8:0.2 --box \"y'=-1:1\" --t-end 2 --ask end "
                                           "--ask \"section(y = 0.2)\""},
            {"all measures", "simulate " + model("single-link-arm") + "--vary Kp=0.5:4:6 --vary Kv=0.1,0.2 --t-end 2"},
            {"diagram", "diagram " + model("ball-on-moving-plane") +
                            "--over Gamma=1.2:1.9:12 --period \"2*pi/w\" --transient 60 --keep 10"},
            {"search for orbits", "orbit " + model("shaken-box") + "--period \"2*pi/w\" --search 24"},
            {"event times", "sensitivity " + model("bouncing-ball") + "--vary e=0.5:0.8:5 --vary g=9:10:4 --t-end 1"},
            {"basin with parameters",
             "basin " + model("rocking-bar") + "--grid mu=0.2,0.4 --grid phi=-1:1:9 --t-max 5 --no-certify"}};
}

void expect_same_files(const test::Folder& a, const test::Folder& b, const std::string& what) {
    EXPECT_EQ(a.names(), b.names()) << what;
    for (const std::string& name : b.names())
        EXPECT_TRUE(test::content_of(a.file(name)) == test::content_of(b.file(name))) << what << ": " << name;
}

std::string out(const test::Folder& folder) { return " --quiet --out " + folder.path().string() + " "; }

TEST(Ensemble, HasTheSameFilesForAnyNumberOfThreadsAndParts) {
    for (const Ensemble& e : ensembles()) {
        const test::Folder one, eight, parts;
        ASSERT_EQ(test::command(e.line + out(one) + "--threads 1").code, 0) << e.name;
        ASSERT_EQ(test::command(e.line + out(eight) + "--threads 8").code, 0) << e.name;
        expect_same_files(eight, one, e.name);
        for (const char* const part : {"2/3", "1/3"})
            ASSERT_EQ(test::command(e.line + out(parts) + "--shard " + part).code, 0) << e.name;
        const Outcome early = test::command("merge " + parts.path().string());
        EXPECT_EQ(early.code, 2);
        EXPECT_NE(early.out.find("runs are in none of the 2 parts"), std::string::npos) << early.out;
        ASSERT_EQ(test::command(e.line + out(parts) + "--shard 3/3").code, 0) << e.name;
        ASSERT_EQ(test::command("merge --quiet " + parts.path().string()).code, 0) << e.name;
        expect_same_files(parts, one, e.name);
    }
}

TEST(Ensemble, OnRanksOfMpiHasTheFilesOfOneProcess) {
    if (test::shell("command -v mpirun").code != 0) GTEST_SKIP() << "there is no mpirun (Debian: openmpi-bin)";
    if (!std::filesystem::exists(std::string(SALTUS_BUILD_DIR) + "/libsaltus_mpi.so"))
        GTEST_SKIP() << "Saltus was built without MPI (Debian: libopenmpi-dev)";
    const auto mpirun = [](int ranks, const std::string& line) {
        return test::shell(
            "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
            "OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -n " +
            std::to_string(ranks) + " " + SALTUS_EXE + " " + line);
    };
    int ranks = 2;
    for (const Ensemble& e : ensembles()) {
        const test::Folder one, several;
        ASSERT_EQ(test::command(e.line + out(one)).code, 0) << e.name;
        const Outcome r = mpirun(ranks, e.line + out(several));
        ASSERT_EQ(r.code, 0) << e.name << r.out << r.err;
        expect_same_files(several, one, e.name);
        ranks = 6 - ranks;  // 2 and 4 in turns
    }
    // An error of one run ends all processes with its message.
    const Outcome bad =
        mpirun(3, "simulate " + model("bouncing-ball") + "--vary e=0.1:1.3:9 --t-end 1 --ask end --quiet");
    EXPECT_NE(bad.code, 0);
    EXPECT_NE(bad.err.find("with e = 1.1"), std::string::npos) << bad.err;
    const Outcome folder = mpirun(2, ensembles()[0].line + " --quiet --out /dev/null/x");
    EXPECT_NE(folder.code, 0);
}

/// Number of runs in the files of a folder.
std::size_t saved_runs(const test::Folder& folder) {
    const auto found = ensemble::find_tables(folder.path().string());
    return found ? found->done : 0;
}

/// Starts a command and kills it as soon as it has saved runs. Whether the kill has ended it.
bool killed(const std::string& line, const test::Folder& folder) {
    constexpr useconds_t poll_pause = 500;  // microseconds
    constexpr int max_polls = 100000;
    const test::Process child({"/bin/sh", "-c", "exec " + std::string(SALTUS_EXE) + " " + line});
    int polls = 0;
    while (saved_runs(folder) == 0 && ++polls < max_polls) ::usleep(poll_pause);
    EXPECT_LT(polls, max_polls) << "no runs were saved";
    child.send(SIGKILL);
    return child.wait().code == -SIGKILL;
}

/// A kill comes after some runs were saved and before all are known; on a busy machine this is tried again.
TEST(Ensemble, KilledAndResumedEndsWithTheSameFiles) {
    const std::vector<Ensemble> longer{
        {"asked", "simulate " + model("woodpecker") + "--vary g=9.5:10:40 --t-end 2 --ask \"end, count(impact)\""},
        {"all measures", "simulate " + model("woodpecker") + "--vary g=9.5:10:40 --t-end 2"},
        {"diagram", "diagram " + model("ball-on-moving-plane") +
                        "--over Gamma=1.2:1.9:40 --period \"2*pi/w\" --transient 1000 --keep 10"},
        {"search for orbits", "orbit " + model("shaken-box") + "--period \"2*pi/w\" --multiple 3 --search 40"}};
    for (const Ensemble& e : longer) {
        const test::Folder whole;
        const Outcome all = test::command(e.line + out(whole));
        ASSERT_TRUE(all.code == 0 || all.code == 3) << e.name << all.out;
        for (int attempt = 0;; ++attempt) {
            const test::Folder cut;
            const bool ended = killed(e.line + out(cut) + "--threads 1", cut);
            const std::size_t saved = saved_runs(cut);
            const bool part = ended && saved > 0 && saved < 40;
            if (!part && attempt < 10) continue;
            ASSERT_TRUE(part) << e.name << ": " << saved << " runs were saved";
            EXPECT_FALSE(std::filesystem::exists(cut.file("contents.json"))) << "no results before all runs are there";
            const Outcome rest = test::command(e.line + out(cut) + "--resume");
            ASSERT_EQ(rest.code, all.code) << e.name << rest.out;
            expect_same_files(cut, whole, e.name);
            break;
        }
    }
}

// --- what is asked ---------------------------------------------------------------------------------------------------

/// A ball that falls from y0 and bounces: first impact at sqrt(2 y0/g), rest after (1 + e)/(1 - e) times this, and the
/// mean height until rest follows from the parabolas: Σ over all flights of (2/3) h_k t_k, with t_k the duration.
TEST(AskedMotions, OfTheBouncingBallHaveTheirClosedForms) {
    const test::Folder folder;
    const Outcome r =
        test::command("simulate " + model("bouncing-ball") +
                      "--set g=10 --vary e=0.5,0.6 --vary y=0.2,0.8 --t-end 4 --json --out " + folder.path().string() +
                      " --ask \"first(impact), rest, mean(y), highest(y), lowest(y'), end\" --ask "
                      "\"count(accumulation), first(slip), section(y = 0.1)\"");
    ASSERT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out);
    ASSERT_EQ(j["runs"].size(), 4U);
    for (const Json& run : j["runs"]) {
        const double e = run["parameters"]["e"], y = run["parameters"]["y"], g = 10.0;
        const Json& a = run["answers"];
        const double fall = std::sqrt(2.0 * y / g);
        EXPECT_NEAR(a["first(impact)"].get<double>(), fall, 1e-10);
        EXPECT_NEAR(a["rest"].get<double>(), fall * (1.0 + e) / (1.0 - e), 1e-7);
        // Flight k takes 2 fall e^k up to the height y e^(2k), and a parabola fills two thirds of its box.
        const double area = 2.0 / 3.0 * y * fall * (1.0 + 2.0 * std::pow(e, 3) / (1.0 - std::pow(e, 3)));
        EXPECT_NEAR(a["mean(y)"].get<double>(), area / 4.0, 1e-9);
        EXPECT_NEAR(a["highest(y)"].get<double>(), y, 1e-12);
        EXPECT_NEAR(a["lowest(y')"].get<double>(), -g * fall, 1e-9);
        EXPECT_EQ(a["end y'"], 0.0);
        EXPECT_EQ(a["count(accumulation)"], 1.0);
        EXPECT_TRUE(a["first(slip)"].is_null());
        // Upwards through 0.1 after each impact whose next flight is higher.
        int expected = 0;
        for (double h = y * e * e; h > 0.1; h *= e * e) ++expected;
        EXPECT_EQ(a["section(y = 0.1)"], expected);
        EXPECT_EQ(run["sections"][0].size(), static_cast<std::size_t>(expected));
        if (expected > 0) {
            EXPECT_NEAR(run["sections"][0][0][1].get<double>(), 0.1, 1e-12);
        }
    }
    EXPECT_EQ(j["summary"]["first(impact)"]["count"], 4);
    EXPECT_NEAR(j["summary"]["highest(y)"]["mean"].get<double>(), 0.5, 1e-12);
    EXPECT_EQ(j["fraction"]["first(slip)"]["value"], 0.0);
    EXPECT_EQ(j["fraction"]["rest"]["value"], 1.0);
    EXPECT_NE(test::content_of(folder.file("study.csv")).find("e,y,status,first(impact),rest,mean(y)"),
              std::string::npos);
    EXPECT_NE(test::content_of(folder.file("study-points.csv")).find("run,e,y,section,t,y,y'"), std::string::npos);
}

/// The value of a column in all runs of a document.
std::vector<double> column(const Json& document, const std::string& name) {
    std::vector<double> list;
    for (const Json& run : document["runs"]) list.push_back(run["answers"][name].get<double>());
    return list;
}

/// Parameters and initial values vary. The event-driven kernel has other steps than the CPU, within the same tolerance;
/// Moreau's kernel has the arithmetic of the lanes, which differs from that of single motions by rounding.
TEST(AskedMotions, OnADeviceAreThoseOfTheCpu) {
    const Json found = Json::parse(test::command("devices --json").out);
    const bool opencl = std::any_of(found["devices"].begin(), found["devices"].end(),
                                    [](const Json& d) { return d["kind"] == "opencl"; });
    if (!opencl) GTEST_SKIP() << "there is no device of OpenCL (Debian: pocl-opencl-icd)";
    struct Case {
        std::string line;
        std::vector<std::string> columns;
        double tolerance;
    };
    const std::string bar =
        "simulate " + model("rocking-bar") + "--vary mu=0.2,0.5 --vary phi=0.1:0.4:4 --project-initial ";
    for (const Case& c :
         {Case{"simulate " + model("bouncing-ball") +
                   "--vary e=0.3:0.6:4 --vary \"y'=-1,2\" --t-end 1 --ask \"end, count(impact)\" ",
               {"end y", "end y'", "count(impact)"},
               1e-8},
          Case{bar + "--t-end 0.3 --ask end ", {"end x", "end phi", "end phi'"}, 1e-7},
          Case{bar + "--t-end 0.3 --method moreau --h 1e-3 --ask end ", {"end x", "end phi", "end phi'"}, 1e-7}}) {
        const Outcome cpu = test::command(c.line + "--json --device cpu"),
                      device = test::command(c.line + "--json --device opencl");
        ASSERT_EQ(cpu.code, 0) << cpu.out;
        ASSERT_EQ(device.code, 0) << device.out;
        const Json there = Json::parse(device.out), here = Json::parse(cpu.out);
        EXPECT_EQ(there["device"].get<std::string>().substr(0, 7), "opencl:") << there["warnings"];
        ASSERT_EQ(there["runs"].size(), 8U);
        for (const std::string& name : c.columns) {
            const std::vector<double> a = column(here, name), b = column(there, name);
            for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], c.tolerance) << c.line << name << k;
        }
    }
    // What a kernel does not tell is answered by the CPU, and a warning says so.
    const Json other =
        Json::parse(test::command("simulate " + model("bouncing-ball") +
                                  "--vary e=0.5,0.6 --t-end 1 --ask \"highest(y)\" --device opencl --json")
                        .out);
    EXPECT_EQ(other["device"], "cpu");
    EXPECT_NE(other["warnings"].dump().find("kernels do not answer 'highest(y)'"), std::string::npos) << other;
    // A value that the model refuses is the same error as on the CPU.
    const Outcome bad =
        test::command("simulate " + model("bouncing-ball") + "--vary e=0.5,1.2 --t-end 1 --ask end --device opencl");
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.out.find("with e = 1.2"), std::string::npos) << bad.out;
}

/// Points at multiples of the period by a device, for values of Gamma whose motions repeat after one and two points.
TEST(Diagram, OnADeviceHasThePointsOfTheCpu) {
    const Json found = Json::parse(test::command("devices --json").out, nullptr, false);
    bool opencl = false;
    for (const Json& d : found["devices"]) opencl = opencl || d["kind"] == "opencl";
    if (!opencl) GTEST_SKIP() << "there is no device of OpenCL (Debian: pocl-opencl-icd)";
    const std::string line = "diagram " + model("ball-on-moving-plane") +
                             "--over Gamma=1.2:1.6:5 --period \"2*pi/w\" --transient 150 --keep 12 --exponents --json ";
    const Json cpu = Json::parse(test::command(line + "--device cpu").out);
    const Json device = Json::parse(test::command(line + "--device opencl").out);
    EXPECT_EQ(cpu["device"], "cpu");
    EXPECT_TRUE(device["device"].get<std::string>().starts_with("opencl: ")) << device["device"];
    EXPECT_EQ(device["periods"], cpu["periods"]);
    EXPECT_EQ(device["times"], cpu["times"]);
    EXPECT_EQ(device["remarks"], cpu["remarks"]);
    EXPECT_EQ(cpu["periods"], Json::parse("[1, 1, 1, 1, 2]"));
    for (std::size_t k = 0; k < 5; ++k) {
        const Json &a = device["section"][k], &b = cpu["section"][k];
        ASSERT_EQ(a.size(), 12U);
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t c = 0; c < a[i].size(); ++c)
                EXPECT_NEAR(a[i][c].get<double>(), b[i][c].get<double>(),
                            1e-6 * (1.0 + std::abs(b[i][c].get<double>())))
                    << "value " << k << ", point " << i;
    }
    const Json sweep = Json::parse(test::command(line + "--sweep up --device opencl").out);
    EXPECT_EQ(sweep["device"], "cpu");
    EXPECT_NE(sweep["warnings"].dump().find("a sweep goes from value to value"), std::string::npos);
}

TEST(AskedMotions, OfSamplesCountThoseThatTheModelRefuses) {
    const Outcome r = test::command("simulate " + model("bouncing-ball") +
                                    "--samples 300 --box e=normal:0.9:0.1 --t-end 1 --ask \"first(impact)\" --json");
    ASSERT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out);
    const auto refused = j["counts"]["refused"].get<double>();
    EXPECT_NEAR(refused / 300.0, 0.5 * std::erfc(1.0 / std::sqrt(2.0)), 4.0 * std::sqrt(0.16 * 0.84 / 300.0));
    EXPECT_EQ(j["counts"]["completed"].get<double>() + refused, 300.0);
    EXPECT_NE(j["first_failure"].get<std::string>().find("must lie in [0, 1]"), std::string::npos);
}

TEST(AskedMotions, RefuseWhatMakesNoSense) {
    const auto refused = [](const std::string& options, const std::string& part) {
        const Outcome r = test::command("simulate " + model("bouncing-ball") + options);
        EXPECT_EQ(r.code, 2) << options;
        EXPECT_NE(r.out.find(part), std::string::npos) << r.out;
    };
    refused("--ask end", "is for many runs");
    refused("--shard 1/2 --out x", "is for many runs");
    refused("--resume", "is for many runs");
    refused("--box e=0.1:0.2", "needs a number of samples");
    refused("--samples 5 --box e=0.1:0.2 --vary y=1,2", "cannot be combined");
    refused("--vary e=0.1,0.2 --ask ends", "did you mean 'end'?");
    refused("--vary e=0.1,0.2 --ask \"first(impacts)\"", "did you mean 'impact'?");
    refused("--vary e=0.1,0.2 --ask \"first(impact, flor)\"", "did you mean 'floor'?");
    refused("--vary e=0.1,0.2 --ask \"mean(z)\"", "--ask");
    refused("--vary e=0.1,0.2 --ask \"mean(y\"", "parentheses");
    refused("--vary e=0.1,0.2 --ask \"section(y)\"", "not an equation");
    refused("--vary e=0.1,0.2 --ask end,end", "asked twice");
    refused("--vary e=0.1,0.2 --ask label", "saltus basin");
    refused("--vary e=0.1,0.2 --ask \"end(y)\"", "nothing in parentheses");
    refused("--vary e=0.1,1.2 --ask end", "with e = 1.2");
    refused("--vary ee=0.1,0.2 --ask end", "did you mean 'e'?");
    refused("--vary e=0.1,0.2 --set e=0.3", "both set and varied");
    refused("--vary y=1:2:100000000 --ask end --out /dev/null/x", "");
}

}  // namespace
}  // namespace saltus::ensemble_test
