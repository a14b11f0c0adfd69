// SPDX-License-Identifier: Apache-2.0
//
// `saltus basin` as a person runs it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "process.hpp"
#include "saltus/ensemble/table.hpp"
#include "support.hpp"

namespace saltus::basin_test {
namespace {

using Json = nlohmann::ordered_json;

using test::Outcome;

Outcome run(const std::string& arguments) { return test::command("basin " + arguments); }

std::string model(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml "; }

Json json_of(const std::string& arguments) {
    const Outcome r = run(arguments + " --json");
    EXPECT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << r.out;
    return j;
}

const std::string bar = model("rocking-bar");
const std::string bar_grid = bar + "--grid phi=-1.2:1.2:24 --grid \"phi'=-4:4:24\" --t-max 20 ";

TEST(Basin, OfTheRockingBarHasTheKeysThatOthersRead) {
    const Json j = json_of(bar_grid);
    EXPECT_EQ(j["grid"]["coordinates"], (Json{"phi", "phi'"}));
    EXPECT_EQ(j["grid"]["from"], (Json{-1.2, -4.0}));
    EXPECT_EQ(j["grid"]["to"], (Json{1.2, 4.0}));
    EXPECT_EQ(j["grid"]["n"], (Json{24, 24}));
    EXPECT_EQ(j["labels"]["0"], "undecided");
    EXPECT_EQ(j["labels"]["1"], "E1");
    long all = 0;
    for (const auto& [label, count] : j["counts"].items()) {
        EXPECT_TRUE(j["labels"].contains(label));
        all += count.get<long>();
    }
    EXPECT_EQ(all, 576);
    EXPECT_EQ(j["counts"]["0"], 0);
    EXPECT_GT(j["counts"]["1"].get<long>(), 550);
    EXPECT_NEAR(j["level_set"]["rho"].get<double>(), 0.8175, 1e-11);  // leine_rocking_bar_A
    EXPECT_EQ(j["level_set"]["grade"], "proved");
    EXPECT_EQ(j["level_set"]["label"], 1);
    EXPECT_GT(j["level_set"]["inside"].get<long>(), 5);
    EXPECT_EQ(j["level_set"]["violations"], 0);
    EXPECT_EQ(j["level_set"]["undecided"], 0);
    EXPECT_EQ(j["sets"][0]["contacts_closed"], (Json{"left", "right"}));
    EXPECT_GT(j["statistics"]["trajectory_steps_per_second"].get<double>(), 0.0);
}

/// The rod can rest at every x: the set has no middle in this direction.
TEST(Basin, NamesCoordinatesInWhichASetHasNoBounds) {
    const Outcome r = run(model("painleve-rod") + "--t-max 0.02 --no-certify --grid x=-2:2:3");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("x any, y = "), std::string::npos) << r.out;
    EXPECT_EQ(r.out.find("nan"), std::string::npos) << r.out;
}

TEST(Basin, SaysWhereThereIsNoLevelSet) {
    const std::string grid = "--grid phi=-0.4:0.4:3 --t-max 5 ";
    const Json without = json_of(bar + grid + "--no-certify");
    EXPECT_TRUE(without["level_set"]["rho"].is_null());
    EXPECT_TRUE(without["warnings"].empty());
    const Json failing = json_of(bar + grid + "--set k=3");  // leine_rocking_bar_C
    EXPECT_TRUE(failing["level_set"]["rho"].is_null());
    ASSERT_FALSE(failing["warnings"].empty());
    EXPECT_NE(failing["warnings"][0].get<std::string>().find("condition 8"), std::string::npos) << failing["warnings"];
    const Json global = json_of(model("falling-block") + "--grid x=-1:1:5 --t-max 20");
    EXPECT_EQ(global["level_set"]["rho"], "inf");
    EXPECT_EQ(global["level_set"]["inside"], 5);
    EXPECT_EQ(global["level_set"]["violations"], 0);
}

TEST(Basin, OfAClosedLoopHasTheLevelOfRegulationThatCertifyProves) {
    // Theorem 1 needs eN < 1, which restitution of the energy with e = 0.6 does not state: only regulation has a level.
    const std::string arm = model("single-link-arm") + "--set e=0.6 --set Kp=1.7 --set q0=0.3 ";
    const Json j = json_of(arm + "--grid q=0.3:2:4 --grid \"q'=-1:1:3\" --t-max 3");
    EXPECT_EQ(j["level_set"]["rho"], "inf") << j["warnings"];
    EXPECT_EQ(j["level_set"]["grade"], "proved");
    EXPECT_EQ(j["level_set"]["inside"], 12);
    EXPECT_EQ(j["level_set"]["violations"], 0);
    // Both theorems have a level here, 0.1029 and infinity.
    const Json two = json_of(model("two-link-underactuated") + "--grid q1=0.5:1:2 --t-max 0.1");
    EXPECT_EQ(two["level_set"]["rho"], "inf");
    EXPECT_EQ(two["level_set"]["grade"], "proved");
}

TEST(Basin, BySamplesIsAFunctionOfTheSeed) {
    const std::string box = bar + "--samples 50 --box phi=-3:3 --box \"phi'=-8:8\" --t-max 5 ";
    const Json one = json_of(box), again = json_of(box + "--threads 1"), other = json_of(box + "--seed 2");
    EXPECT_EQ(one["counts"], again["counts"]);
    EXPECT_EQ(one["time_to_reach"], again["time_to_reach"]);
    EXPECT_NE(one["time_to_reach"], other["time_to_reach"]);
    EXPECT_EQ(one["grid"]["samples"], 50);
    const Json& share = one["shares"]["1"];
    EXPECT_LT(share["low"], share["share"]);
    EXPECT_LT(share["share"], share["high"]);
}

void expect_same_files(const test::Folder& a, const test::Folder& b) {
    EXPECT_EQ(a.names(), b.names());
    for (const std::string& name : b.names())
        EXPECT_TRUE(test::content_of(a.file(name)) == test::content_of(b.file(name))) << name;
}

/// Number of motions in the checkpoints of a folder.
std::size_t saved_motions(const test::Folder& folder) {
    const auto found = ensemble::find_tables(folder.path().string());
    return found ? found->done : 0;
}

/// Starts a basin and sends it a signal as soon as further motions are in its folder. Returns whether the signal has
/// ended the run, so that these motions are all that it leaves.
bool kill_after_saving(const std::string& arguments, const test::Folder& folder, int signal) {
    constexpr useconds_t poll_pause = 1000;  // microseconds
    constexpr int max_polls = 60000;
    const std::size_t before = saved_motions(folder);
    const test::Process child(
        {"/bin/sh", "-c",
         "exec " + std::string(SALTUS_EXE) + " basin " + arguments + " --out " + folder.path().string()});
    int polls = 0;
    while (saved_motions(folder) <= before && ++polls < max_polls) ::usleep(poll_pause);
    EXPECT_LT(polls, max_polls) << "no motions were saved";
    child.send(signal);
    const int code = child.wait().code;
    return code == -signal || code == 130;
}

/// Kills happen after motions were saved and before all are known, so that the last run continues from a part. If the
/// machine is so busy that a run ends before its signal comes, then all is tried again.
TEST(Basin, KilledAndResumedEndsWithTheSameFiles) {
    const std::string options =
        bar + "--grid phi=-3:3:30 --grid \"phi'=-8:8:30\" --t-max 10 --refine 1 --h 1e-4 --no-certify ";
    const test::Folder whole;
    ASSERT_EQ(run(options + "--threads 2 --out " + whole.path().string()).code, 0);
    for (int attempt = 0;; ++attempt) {
        const test::Folder cut;
        std::size_t saved = 0;
        bool grows = true;
        for (const int signal : {SIGKILL, SIGTERM, SIGKILL}) {
            grows = grows && kill_after_saving(options + "--threads 1 --resume", cut, signal);
            const std::size_t now = saved_motions(cut);
            grows = grows && now > saved && now < 900;
            saved = now;
        }
        if (!grows && attempt < 5) continue;
        ASSERT_TRUE(grows) << saved << " motions were saved at last";
        const Outcome last = run(options + "--resume --out " + cut.path().string());
        ASSERT_EQ(last.code, 0);
        expect_same_files(cut, whole);
        return;
    }
}

TEST(Basin, InThreeMergedShardsHasTheFilesOfOneRun) {
    const std::string options = bar + "--grid phi=-3:3:20 --grid \"phi'=-8:8:20\" --t-max 5 --refine 1 --no-certify ";
    const test::Folder whole, parts;
    ASSERT_EQ(run(options + "--out " + whole.path().string()).code, 0);
    const std::string out = "--out " + parts.path().string();
    const auto merged = [&] { return test::command("merge " + parts.path().string()); };
    EXPECT_EQ(merged().code, 2);
    EXPECT_NE(merged().out.find("no parts of a run"), std::string::npos) << merged().out;
    const Json first = json_of(options + "--shard 1/3 " + out);
    EXPECT_EQ(first["shard"]["starts"], first["shard"]["done"]);
    EXPECT_EQ(first["shard"]["of"], 3);
    ASSERT_EQ(run(options + "--shard 3/3 " + out).code, 0);
    EXPECT_EQ(merged().code, 2);
    EXPECT_NE(merged().out.find("runs are in none of the 2 parts"), std::string::npos) << merged().out;
    ASSERT_EQ(run(options + "--shard 2/3 " + out).code, 0);
    EXPECT_EQ(merged().code, 0);
    expect_same_files(parts, whole);
}

TEST(Basin, KilledInOneDivisionIsContinuedInAnother) {
    const std::string options =
        model("falling-block") + "--grid x=-1:1:30 --grid \"x'=-3:3:30\" --t-max 10 --h 3e-5 --no-certify ";
    const test::Folder whole;
    ASSERT_EQ(run(options + "--out " + whole.path().string()).code, 0);
    for (int attempt = 0;; ++attempt) {
        const test::Folder parts;
        const std::string out = " --out " + parts.path().string();
        ASSERT_EQ(run(options + "--shard 3/3" + out).code, 0);
        const std::size_t third = saved_motions(parts);
        std::size_t saved = third;
        bool grows = true;
        for (const std::string part : {"1", "2"}) {
            grows = grows && kill_after_saving(options + "--threads 1 --shard " + part + "/3", parts, SIGKILL);
            const std::size_t now = saved_motions(parts);
            grows = grows && now > saved && now < saved + third;
            saved = now;
        }
        if (!grows && attempt < 5) continue;
        ASSERT_TRUE(grows) << saved << " motions were saved at last";
        std::size_t made = saved_motions(parts);
        for (const char* const part : {"1/2", "2/2"})
            made += json_of(options + "--resume --shard " + part + out)["statistics"]["runs"].get<std::size_t>();
        EXPECT_EQ(made, 900U) << "saved motions were computed again";
        ASSERT_EQ(test::command("merge " + parts.path().string()).code, 0);
        expect_same_files(parts, whole);
        return;
    }
}

/// Whether there is a device of this kind.
bool has_device(const std::string& kind) {
    const Json found = Json::parse(test::command("devices --json").out, nullptr, false);
    EXPECT_TRUE(found["devices"].is_array());
    for (const Json& d : found["devices"])
        if (d["kind"] == kind) return true;
    return false;
}

/// A model without elementary functions has the same bits on all devices. Of the rocking bar, whose sines may differ in
/// the last bit, the labels are the same.
TEST(Basin, OnADeviceIsThatOfTheCpu) {
    for (const std::string kind : {"opencl", "cuda"}) {
        if (!has_device(kind)) {
            const Outcome r = run(bar + "--grid phi=-1:1:3 --t-max 1 --device " + kind);
            EXPECT_EQ(r.code, 2) << r.out;
            EXPECT_NE(r.out.find("there is no such device"), std::string::npos) << r.out;
            if (kind == "opencl") GTEST_SKIP() << "there is no device of OpenCL (Debian: pocl-opencl-icd)";
            continue;
        }
        const test::Folder cpu, device;
        const std::string block = model("falling-block") + "--grid x=-1:1:40 --grid \"x'=-3:3:40\" --t-max 5 ";
        ASSERT_EQ(run(block + "--device cpu --out " + cpu.path().string()).code, 0);
        ASSERT_EQ(run(block + "--device " + kind + " --out " + device.path().string()).code, 0);
        EXPECT_EQ(test::content_of(cpu.file("basin.csv")), test::content_of(device.file("basin.csv")));
        // Friction in planes, with different coefficients along two axes, and Poisson's impact law.
        const test::Folder plane_cpu, plane_device;
        plane_cpu.write("plane.toml", R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "9.81*z + 4*x^2 + 6*y^2"
[[contact]]
name = "floor"
gN = "z"
gammaT = ["x'", "y'"]
mu = [0.2, 0.5]
eN = 0.3
impact = "poisson"
[[contact]]
name = "wall"
gN = "0.4 - x"
gammaT = ["y'", "z'"]
mu = 0.3
eN = 0.7
[initial]
q = { z = 0.1 }
)toml");
        const std::string plane = plane_cpu.file("plane.toml") + " --grid x=-0.5:0.3:6 --grid \"y'=-1:1:4\" --t-max 1 ";
        ASSERT_EQ(run(plane + "--no-certify --device cpu --out " + plane_cpu.file("out")).code, 0);
        ASSERT_EQ(run(plane + "--no-certify --device " + kind + " --out " + plane_device.file("out")).code, 0);
        EXPECT_EQ(test::content_of(plane_cpu.file("out/basin.csv")),
                  test::content_of(plane_device.file("out/basin.csv")));
        for (const char* const level : {"", "--no-certify", "--to-rest"}) {
            const Json on_cpu = json_of(bar_grid + "--device cpu " + level);
            const Json there = json_of(bar_grid + "--device " + kind + " " + level);
            EXPECT_EQ(on_cpu["device"], "cpu");
            EXPECT_TRUE(there["device"].get<std::string>().starts_with(kind + ": ")) << there["device"];
            EXPECT_EQ(there["counts"], on_cpu["counts"]);
            EXPECT_EQ(there["level_set"], on_cpu["level_set"]);
            EXPECT_NEAR(there["statistics"]["steps"].get<double>() / on_cpu["statistics"]["steps"].get<double>(), 1.0,
                        1e-3);
        }
        // Half of these motions have steps that only the general solvers can make.
        const std::string beam = model("constrained-beam") +
                                 "--grid theta=-1:4:12 --grid \"theta'=-6:14:12\" --t-max 10 --no-certify --device ";
        const Json by_cpu = json_of(beam + "cpu"), by_device = json_of(beam + kind);
        EXPECT_EQ(by_device["counts"], by_cpu["counts"]);
        EXPECT_EQ(by_device["statistics"]["device"]["motions_on_cpu"], 0);
        const Json refused = json_of(model("sphere-on-plane") +
                                     "--grid \"x'=0:1:2\" --method event --t-max 0.1 --no-certify --device " + kind);
        EXPECT_EQ(refused["device"], "cpu");
        EXPECT_NE(refused["warnings"].dump().find("run on the CPU"), std::string::npos) << refused["warnings"];
    }
}

/// The numbers of a column of basin.csv.
std::vector<double> column(const test::Folder& folder, const std::string& name) {
    std::istringstream in(test::content_of(folder.file("basin.csv")));
    std::vector<double> numbers;
    std::string line;
    std::size_t place = 0;
    for (bool first = true; std::getline(in, line); first = false) {
        std::istringstream fields(line);
        std::string field;
        for (std::size_t k = 0; std::getline(fields, field, ','); ++k) {
            if (first && field == name) place = k;
            if (!first && k == place) numbers.push_back(std::atof(field.c_str()));
        }
    }
    return numbers;
}

/// Every motion has parameters of its own: those of a grid, mixed with initial values, or of samples, some of which the
/// model refuses. This block has no elementary functions, so that Moreau's kernel has the bits of the CPU.
TEST(Basin, OverParametersOnADeviceIsThatOfTheCpu) {
    if (!has_device("opencl")) GTEST_SKIP() << "there is no device of OpenCL (Debian: pocl-opencl-icd)";
    const std::string block = model("falling-block");
    for (const std::string starts : {"--grid mu=0.1,0.3,0.5 --grid x=-1:1:6 --grid \"x'=-3:3:7\"",
                                     "--samples 40 --box mu=normal:0.3:0.2 --box \"x'=-3:3\""}) {
        const test::Folder cpu, device, parts;
        ASSERT_EQ(run(block + starts + " --t-max 5 --device cpu --out " + cpu.path().string()).code, 0);
        ASSERT_EQ(run(block + starts + " --t-max 5 --device opencl --out " + device.path().string()).code, 0);
        const Json there = Json::parse(test::content_of(device.file("basin.json")));
        EXPECT_TRUE(there["device"].get<std::string>().starts_with("opencl: ")) << there["device"];
        EXPECT_EQ(test::content_of(cpu.file("basin.csv")), test::content_of(device.file("basin.csv"))) << starts;
        for (const char* const part : {"1/2", "2/2"})
            ASSERT_EQ(
                run(block + starts + " --t-max 5 --device opencl --shard " + part + " --out " + parts.path().string())
                    .code,
                0);
        ASSERT_EQ(test::command("merge --quiet " + parts.path().string()).code, 0);
        expect_same_files(parts, device);
    }
    // By the event-driven kernel, with another mass: its end positions agree to the tolerances.
    const test::Folder cpu, device;
    const std::string grid = bar + "--grid mu=0.2,0.5 --grid m=1,2 --grid phi=-1:1:4 --t-max 8 --method event --json ";
    ASSERT_EQ(run(grid + "--device cpu --out " + cpu.path().string()).code, 0);
    const Outcome by_device = run(grid + "--device opencl --out " + device.path().string());
    ASSERT_EQ(by_device.code, 0) << by_device.out;
    EXPECT_LE(Json::parse(by_device.out)["statistics"]["device"]["motions_on_cpu"].get<int>(), 2) << "of 16";
    EXPECT_EQ(column(device, "label"), column(cpu, "label"));
    for (const char* const name : {"end x", "end y", "end phi"}) {
        const std::vector<double> a = column(device, name), b = column(cpu, name);
        ASSERT_EQ(a.size(), 16U);
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-7) << name << " of start " << k;
    }
    const Json computed = json_of(bar + "--grid JS=0.05,0.1 --grid phi=-1:1:3 --t-max 1 --device opencl");
    EXPECT_EQ(computed["device"], "cpu");
    EXPECT_NE(computed["warnings"].dump().find("computed from others"), std::string::npos) << computed["warnings"];
}

/// Steps, and so the last digits, are other ones; labels, times of capture and ends are those of the CPU.
TEST(Basin, OfEventDrivenMotionsOnADeviceIsThatOfTheCpu) {
    if (!has_device("opencl")) GTEST_SKIP() << "there is no device of OpenCL (Debian: pocl-opencl-icd)";
    const test::Folder cpu, device;
    const std::string grid = bar + "--grid phi=-1:1:6 --grid \"phi'=-3:3:5\" --t-max 10 --method event --json ";
    const Outcome by_cpu = run(grid + "--device cpu --out " + cpu.path().string());
    const Outcome by_device = run(grid + "--device opencl --out " + device.path().string());
    ASSERT_EQ(by_cpu.code, 0) << by_cpu.out;
    ASSERT_EQ(by_device.code, 0) << by_device.out;
    const Json expected = Json::parse(by_cpu.out), got = Json::parse(by_device.out);
    EXPECT_TRUE(got["device"].get<std::string>().starts_with("opencl: ")) << got["device"];
    EXPECT_EQ(got["counts"], expected["counts"]);
    EXPECT_EQ(got["level_set"], expected["level_set"]);
    EXPECT_LE(got["statistics"]["device"]["motions_on_cpu"].get<int>(), 3) << "of 30";
    EXPECT_EQ(column(device, "label"), column(cpu, "label"));
    for (const char* const name : {"end x", "end y", "end phi", "t"}) {
        const std::vector<double> a = column(device, name), b = column(cpu, name);
        ASSERT_EQ(a.size(), 30U);
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-7) << name << " of start " << k;
    }
}

/// A block on a belt with friction that falls with the sliding speed either slides steadily or sticks and slips for
/// ever. The share of [-2, 2] x [0, 2] that ends in steady sliding is 0.307126 (documentation of bSTAB, example of a
/// friction oscillator: belt speed 1.5, damping 0.05, friction 0.5 to 1, decay speed 0.5), here with set-valued
/// friction.
TEST(Basin, OfSteadySlidingOnABeltHasTheShareOfBstab) {
    const test::Folder folder;
    folder.write("belt.toml", R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "xi*x'^2"
[parameters]
vd = 1.5
xi = 0.05
mud = 0.5
mus = "2*mud"
v0 = 0.5
[[slider]]
name = "belt"
gammaT = "x' - vd"
mu = 1.0
FN = "mud + (mus - mud)*exp(-abs(x' - vd)/v0)"
[initial]
q = { x = 0.5 }
)toml");
    const double samples = 1000.0, share = 0.307126;
    const Json j = json_of(folder.file("belt.toml") +
                           " --samples 1000 --box x=-2:2 --box \"x'=0:2\" --t-max 800 --h 2e-2 --no-certify");
    EXPECT_EQ(j["labels"]["1"], "E1");  // x = mu(vd)
    EXPECT_NEAR(j["sets"][0]["extent"]["x"][0].get<double>(), 0.5 + 0.5 * std::exp(-3.0), 1e-9);
    EXPECT_EQ(j["counts"]["0"].get<long>() + j["counts"]["1"].get<long>(), 1000);
    const double deviation = std::sqrt(share * (1.0 - share) / samples);
    EXPECT_NEAR(j["fraction"]["1"]["value"].get<double>(), share, 3.0 * deviation);
}

/// `mpirun -n RANKS` before a command.
std::string mpirun(int ranks) {
    return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -n " +
           std::to_string(ranks) + " " + SALTUS_EXE + " basin ";
}

TEST(Basin, OnRanksOfMpiHasTheFilesOfOneProcess) {
    if (test::shell("command -v mpirun").code != 0) GTEST_SKIP() << "there is no mpirun (Debian: openmpi-bin)";
    if (!std::filesystem::exists(std::string(SALTUS_BUILD_DIR) + "/libsaltus_mpi.so"))
        GTEST_SKIP() << "Saltus was built without MPI (Debian: libopenmpi-dev)";
    const std::string options = bar + "--grid phi=-3:3:24 --grid \"phi'=-8:8:24\" --t-max 5 --refine 1 --no-certify ";
    const test::Folder whole;
    ASSERT_EQ(run(options + "--out " + whole.path().string()).code, 0);
    for (const int ranks : {2, 4}) {
        const test::Folder there;
        const Outcome r = test::shell(mpirun(ranks) + options + "--quiet --out " + there.path().string());
        ASSERT_EQ(r.code, 0) << r.out << r.err;
        expect_same_files(there, whole);
    }
    const test::Folder resumed;  // a rank that is killed ends the job; what was computed is kept
    const std::string out = "--out " + resumed.path().string();
    const Outcome killed =
        test::shell(mpirun(2) + options + "--h 2e-4 --quiet " + out +
                    " & job=$!; until [ -n \"$(pgrep -P $job)\" ] && [ -n \"$(ls -A " + resumed.path().string() +
                    ")\" ]; do sleep 0.02; done; sleep 0.2; kill -9 $(pgrep -n -P $job); wait $job");
    EXPECT_NE(killed.code, 0) << "the job ended before its rank was killed";
    const test::Folder fine;
    ASSERT_EQ(run(options + "--h 2e-4 --out " + fine.path().string()).code, 0);
    ASSERT_EQ(run(options + "--h 2e-4 --resume " + out).code, 0);
    expect_same_files(resumed, fine);
}

TEST(Basin, RefusesWhatItCannotDo) {
    const auto refusal = [](const std::string& arguments) {
        const Outcome r = run(arguments);
        EXPECT_EQ(r.code, 2) << arguments;
        return r.out;
    };
    const auto expect = [&](const std::string& arguments, const std::string& part) {
        EXPECT_NE(refusal(arguments).find(part), std::string::npos) << refusal(arguments);
    };
    expect(bar, "no starts are given");
    expect(bar + "--grid phy=-1:1:3", "did you mean 'phi'?");
    expect(bar + "--grid phi=-1:1", "is not a range");
    expect(bar + "--grid phi=-1:1:1", "at least 2");
    expect(bar + "--grid phi=-1:1:2.5", "an integer");
    expect(bar + "--grid phi=-1:x:3", "'x' is not a number");
    expect(bar + "--grid phi=1:-1:3", "smaller end first");
    expect(bar + "--grid phi=-1:1:3 --grid phi=-2:2:3", "is given twice");
    expect(bar + "--grid phi=-1:1:30000 --grid x=-1:1:40000", "more than 1e9");
    expect(bar + "--samples 10", "needs a box");
    expect(bar + "--box phi=-1:1", "number of samples");
    expect(bar + "--samples 10 --box phi=-1:1 --refine 2", "needs a grid");
    expect(bar + "--grid phi=-1:1:3 --resume", "--out DIR");
    expect(bar + "--grid phi=-1:1:3 --shard 1/2", "--out DIR");
    for (const char* const part : {"0/3", "4/3", "2", "x/3", "1/3/4", "1/0"})
        expect(bar + "--grid phi=-1:1:3 --out /dev/null/x --shard " + part, "is no part");
    expect(bar + "--grid phi=-1:1:3 --t-max 0", "must be a number > 0");
    expect(bar + "--grid phi=-1:1:3 --method penalty", "allowed are moreau and event");
    expect(bar + "--grid phi=-1:1:3 --device gpu", "allowed are auto, cpu, cuda and opencl");
    expect(bar + "--grid phi=-1:1:3 --out /dev/null/x", "Not a directory");
}

TEST(BasinCommand, RefusesMoreMotionsThanFitIntoMemory) {
    const std::string model = std::string(SALTUS_SOURCE_DIR) + "/models/rocking-bar.toml";
    for (const char* const starts : {"--grid phi=-1:1:900000000", "--samples 900000000 --box phi=-1:1"}) {
        const std::string line = "basin " + model + " --t-max 1 --seconds 2 " + starts;
        const test::Outcome r = test::shell("ulimit -v 4000000; " + std::string(SALTUS_EXE) + " " + line);
        EXPECT_EQ(r.code, 2) << r.err;
        EXPECT_NE(r.err.find("runs need 69.6 GiB of memory"), std::string::npos) << r.err;
        EXPECT_NE(r.err.find("give --out DIR, then they are kept on the disk"), std::string::npos) << r.err;
    }
}

}  // namespace
}  // namespace saltus::basin_test
