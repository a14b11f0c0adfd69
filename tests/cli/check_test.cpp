// SPDX-License-Identifier: Apache-2.0
//
// `saltus check` as a person runs it: the executable, its output, its files and its exit code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.hpp"

namespace saltus::check_test {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

using test::Outcome;

/// Runs the program in the folder (which stays the only place it may write to by a relative path).
Outcome saltus_in(const fs::path& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SALTUS_EXE);
    return test::Process(std::move(arguments), folder).wait();
}

Outcome saltus(std::vector<std::string> arguments) {
    const test::Folder empty;
    Outcome run = saltus_in(empty.path(), std::move(arguments));
    EXPECT_EQ(empty.names(), Names{}) << "something was written without being asked for";
    return run;
}

const fs::path models = fs::path(SALTUS_SOURCE_DIR) / "models";

std::string model(const std::string& name) { return (models / (name + ".toml")).string(); }

Json checked(const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"check", model(name), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome run = saltus(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return Json::parse(run.out);
}

/// Bad input: exit code 2, a message, nothing on standard output.
std::string complaint(const Outcome& run) {
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
}

const std::string ball = R"([system]
name = "ball"
q = ["y"]
T = "m/2*y'^2"
U = "m*g*y"

[parameters]
m = 1.0
g = 9.81

[[contact]]
name = "floor"
gN = "y"
eN = 0.5

[initial]
q = { y = 1.0 }
)";

}  // namespace

// --- every shipped model

TEST(Check, AcceptsEveryShippedModel) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(models)) {
        if (entry.path().extension() != ".toml") continue;
        ++count;
        const std::string path = entry.path().string();
        SCOPED_TRACE(path);
        const Outcome text = saltus({"check", path});
        EXPECT_EQ(text.code, 0) << text.err;
        EXPECT_EQ(text.err, "");

        const Outcome json = saltus({"check", path, "--json"});
        ASSERT_EQ(json.code, 0) << json.err;
        const Json j = Json::parse(json.out);
        EXPECT_TRUE(text.out.starts_with(j["model"].get<std::string>() + "  (" + path + ")\n"));
        EXPECT_EQ(j["file"], path);
        EXPECT_NE(j["model"], path) << "a shipped model has a name";
        EXPECT_GE(j["coordinates"].size(), 1U);
        EXPECT_GE(j["degrees_of_freedom"].get<int>(), 1);
        EXPECT_LE(j["degrees_of_freedom"].get<std::size_t>(), j["coordinates"].size());
        EXPECT_EQ(j["initial"]["q"].size(), j["coordinates"].size());
        EXPECT_TRUE(j["mass"]["positive_definite"].get<bool>());
        EXPECT_GE(j["mass"]["condition"].get<double>(), 1.0);
        const std::size_t jumps = j.contains("jumps") ? j["jumps"].size() : 0;
        EXPECT_GT(j["contacts"].size() + j["constraints"].size() + j["sliders"].size() + j["clutches"].size() + jumps,
                  0U)
            << "nothing nonsmooth";
        std::size_t closed = 0;
        for (const Json& c : j["contacts"]) {
            EXPECT_GE(c["gN"].get<double>(), -1e-9) << c["name"];
            closed += c["closed"].get<bool>() ? 1U : 0U;
        }
        EXPECT_EQ(j["closed"], closed);
        EXPECT_EQ(j["active"]["rows"], closed + j["constraints"].size());
        EXPECT_LE(j["active"]["rank"], j["active"]["rows"]);
        EXPECT_EQ(j["active"]["rank"].get<std::size_t>() + j["active"]["redundant"].size(),
                  j["active"]["rows"].get<std::size_t>());
        for (const Json& c : j["constraints"]) {
            EXPECT_NE(c.contains("g"), c.contains("gamma")) << c["name"];
            for (const char* const key : {"g", "rate", "gamma"})
                if (c.contains(key)) {
                    EXPECT_LE(std::abs(c[key].get<double>()), 1e-9) << c["name"];
                }
        }
        for (const Json& w : j["warnings"]) EXPECT_EQ(w.get<std::string>().find("is not used"), std::string::npos) << w;
    }
    EXPECT_GE(count, 21);
}

TEST(Check, UnderstandsTheRockingBar) {
    const Json j = checked("rocking-bar");
    EXPECT_EQ(j["model"], "rocking bar");
    EXPECT_EQ(j["coordinates"], (Json{"x", "y", "phi"}));
    EXPECT_EQ(j["degrees_of_freedom"], 3);
    EXPECT_EQ(j["parameters"]["k"], 10.0);
    EXPECT_DOUBLE_EQ(j["parameters"]["JS"].get<double>(), 1.0 / 12);
    EXPECT_EQ(j["derived_parameters"], (Json{"JS", "eN", "eT"}));
    EXPECT_EQ(j["scleronomic"], true);
    EXPECT_EQ(j["mass"]["constant"], true);
    EXPECT_NEAR(j["mass"]["condition"].get<double>(), 12.0, 1e-12);
    EXPECT_NEAR(j["energy"]["potential"].get<double>(), 0.5 * 10 * 0.04 + 9.81 * 0.06, 1e-15);
    ASSERT_EQ(j["contacts"].size(), 2U);
    EXPECT_EQ(j["contacts"][0]["name"], "left");
    EXPECT_NEAR(j["contacts"][0]["gN"].get<double>(), 0.06 - 0.5 * std::sin(0.1), 1e-16);
    EXPECT_NEAR(j["contacts"][1]["gN"].get<double>(), 0.06 + 0.5 * std::sin(0.1), 1e-16);
    EXPECT_EQ(j["contacts"][1]["mu"], Json::array({0.3}));
    EXPECT_EQ(j["contacts"][1]["friction"], "coulomb");
    EXPECT_EQ(j["contacts"][1]["eN"], 0.5);
    EXPECT_EQ(j["closed"], 0);
    EXPECT_EQ(j["active"]["rows"], 0);
    EXPECT_EQ(j["warnings"], Json::array());
}

TEST(Check, NamesTheRedundantContactOfTheForklift) {
    const Json j = checked("forklift");
    EXPECT_EQ(j["degrees_of_freedom"], 2);
    EXPECT_EQ(j["scleronomic"], false);
    EXPECT_EQ(j["closed"], 3);
    EXPECT_EQ(j["active"]["rows"], 3);
    EXPECT_EQ(j["active"]["rank"], 2);
    ASSERT_EQ(j["active"]["redundant"].size(), 1U);
    const Json& redundant = j["active"]["redundant"][0];
    EXPECT_EQ(redundant["name"], "right");
    ASSERT_EQ(redundant["combination"].size(), 2U);
    EXPECT_NEAR(redundant["combination"]["left"].get<double>(), -1.0, 1e-14);
    EXPECT_NEAR(redundant["combination"]["fork"].get<double>(), 2.0, 1e-14);
    EXPECT_EQ(j["contacts"][1]["gammaN"], -1.3);
    EXPECT_EQ(j["warnings"],
              Json::array({"closed and approaching at the start: 'fork'; the motion begins with an impact"}));
    EXPECT_NE(saltus({"check", model("forklift")}).out.find("    redundant: 'right' = -'left' + 2 'fork'\n"),
              std::string::npos);
}

TEST(Check, CountsTheFreedomOfTheConstrainedBeam) {
    const Json j = checked("constrained-beam");
    EXPECT_EQ(j["degrees_of_freedom"], 1);
    EXPECT_EQ(j["coordinates"].size(), 3U);
    EXPECT_EQ(j["contacts"], Json::array());
    ASSERT_EQ(j["constraints"].size(), 2U);
    EXPECT_EQ(j["constraints"][0]["name"], "vertical groove");
    EXPECT_EQ(j["constraints"][0]["mu"], Json::array({0.3}));
    EXPECT_NEAR(j["constraints"][0]["g"].get<double>(), 0.0, 1e-15);
    EXPECT_EQ(j["active"]["rank"], 2);
    EXPECT_EQ(j["active"]["redundant"], Json::array());
    EXPECT_NEAR(j["initial"]["q"]["x"].get<double>(), -std::sin(1.5), 1e-15);
    EXPECT_NEAR(checked("constrained-beam", {"--set", "omega0=2"})["constraints"][0]["gammaT"][0].get<double>(),
                4 * std::sin(1.5), 1e-14);
}

TEST(Check, CountsThePointsOfTheSkeleton) {
    const Json j = checked("hydrostatic-skeleton");
    EXPECT_EQ(j["coordinates"].size(), 264U);
    EXPECT_EQ(j["coordinates"][263], "p87.z");
    EXPECT_EQ(j["degrees_of_freedom"], 263);  // less one for the volume
    EXPECT_EQ(j["contacts"].size(), 88U);
    EXPECT_EQ(j["contacts"][0]["name"], "wall.p0");
    EXPECT_NEAR(j["contacts"][0]["gN"].get<double>(), 2.3, 1e-14);
    EXPECT_EQ(j["contacts"][87]["gammaN"], -10.0);
    EXPECT_EQ(j["constraints"].size(), 1U);
    EXPECT_EQ(j["constraints"][0]["name"], "volume");
    EXPECT_DOUBLE_EQ(j["energy"]["kinetic"].get<double>(), 0.5 * 88 * 100);
    EXPECT_EQ(j["mass"]["condition"], 1.0);
    EXPECT_EQ(j["scleronomic"], true);  // a = b = 0
    EXPECT_EQ(checked("hydrostatic-skeleton", {"--set", "a=0.01", "--set", "b=120"})["scleronomic"], false);
}

// --- options

TEST(Check, SetChangesAParameterAndWhatDependsOnIt) {
    const Json j = checked("rocking-bar", {"--set", "a=0.25", "--set", "e=0.25", "--set", "mu=2*e"});
    EXPECT_EQ(j["parameters"]["a"], 0.25);
    EXPECT_DOUBLE_EQ(j["parameters"]["JS"].get<double>(), 1.0 / 48);
    EXPECT_EQ(j["contacts"][0]["eN"], 0.25);
    EXPECT_EQ(j["contacts"][0]["mu"], Json::array({0.5}));
    EXPECT_EQ(j["derived_parameters"], (Json{"mu", "JS", "eN", "eT"}));
}

TEST(Check, JsonIsOneDocumentAndNothingElse) {
    const Outcome run = saltus({"check", model("rocking-bar"), "--json"});
    EXPECT_EQ(run.code, 0);
    EXPECT_TRUE(run.out.starts_with("{"));
    EXPECT_TRUE(run.out.ends_with("}\n"));
    EXPECT_TRUE(Json::accept(run.out));
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(saltus({"check", model("rocking-bar"), "--json", "--quiet"}).out, run.out);
}

TEST(Check, QuietPrintsNothing) {
    const Outcome run = saltus({"check", model("rocking-bar"), "--quiet"});
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.out + run.err, "");
}

TEST(Check, GivesTheSameBytesEveryTime) {
    for (const char* name : {"forklift", "hydrostatic-skeleton", "slider-crank"}) {
        const Outcome json = saltus({"check", model(name), "--json"}), text = saltus({"check", model(name)});
        EXPECT_FALSE(json.out.empty() || text.out.empty());
        for (int k = 0; k < 3; ++k) {
            EXPECT_EQ(saltus({"check", model(name), "--json"}).out, json.out);
            EXPECT_EQ(saltus({"check", model(name)}).out, text.out);
        }
    }
}

TEST(Check, OutWritesTheJsonAndNothingElse) {
    const test::Folder folder;
    const Outcome run = saltus_in(folder.path(), {"check", model("rocking-bar"), "--out", "results/here"});
    EXPECT_EQ(run.code, 0);
    EXPECT_TRUE(run.out.starts_with("rocking bar  ("));  // still told to the person
    EXPECT_EQ(folder.names(),
              (Names{"results", "results/here", "results/here/check.json", "results/here/contents.json"}));
    EXPECT_EQ(test::content_of(folder.path() / "results/here/check.json"),
              saltus({"check", model("rocking-bar"), "--json"}).out);
    saltus_in(folder.path(),
              {"check", model("forklift"), "--out", "results/here", "--quiet"});  // replaced, not added to
    EXPECT_EQ(folder.names(),
              (Names{"results", "results/here", "results/here/check.json", "results/here/contents.json"}));
    EXPECT_EQ(Json::parse(test::content_of(folder.path() / "results/here/check.json"))["model"], "forklift");
}

TEST(Check, RefusesAnOutputFolderThatIsAFile) {
    const test::Folder folder;
    folder.write("taken", "x");
    const Outcome run = saltus_in(folder.path(), {"check", model("rocking-bar"), "--out", "taken"});
    EXPECT_EQ(complaint(run), "saltus: error: taken: cannot create the folder: Not a directory\n");
    EXPECT_EQ(folder.names(), Names{"taken"});
    EXPECT_EQ(test::content_of(folder.path() / "taken"), "x");
}

TEST(Check, ProjectInitialRepairsWhatIsRefusedWithoutIt) {
    const test::Folder folder;
    const std::string file = folder.write("ball.toml", test::replaced(ball, "y = 1.0", "y = -1.0"));
    EXPECT_EQ(complaint(saltus({"check", file})), "saltus: error: " + file +
                                                      ":16:1: the initial state penetrates contact 'floor': gN = -1; "
                                                      "change [initial], or let --project-initial repair it\n"
                                                      "  [initial]\n  ^\n");
    const Outcome run = saltus({"check", file, "--project-initial", "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    const Json j = Json::parse(run.out);
    EXPECT_EQ(j["initial"]["q"]["y"], 0.0);
    EXPECT_EQ(j["closed"], 1);
}

// --- bad input

TEST(Check, ShowsTheLineOfAMistakeWithAMarkUnderIt) {
    const test::Folder folder;
    folder.write("ball.toml", test::replaced(ball, "U = \"m*g*y\"", "U = \"m*g*yy\""));
    EXPECT_EQ(complaint(saltus_in(folder.path(), {"check", "ball.toml"})),
              "saltus: error: ball.toml:5:10: undefined name 'yy' in the potential energy U; did you mean 'y'?\n"
              "  U = \"m*g*yy\"\n"
              "           ^\n");
}

TEST(Check, PutsTheMarkRightBehindTabsAndForeignLetters) {
    const test::Folder folder;
    folder.write("ball.toml", test::replaced(ball, "U = \"m*g*y\"", "\tU\t= \"m*g*y\u00b7y\""));
    EXPECT_EQ(complaint(saltus_in(folder.path(), {"check", "ball.toml"})),
              "saltus: error: ball.toml:5:12: unexpected character '\u00b7'; write * for a product\n"
              "  \tU\t= \"m*g*y\u00b7y\"\n"
              "  \t \t        ^\n");
    folder.write("ball.toml", test::replaced(ball, "q = { y = 1.0 }", "q = { \"\u00e4\u00f6\" = 1.0 } # \u00fc\r"));
    EXPECT_EQ(complaint(saltus_in(folder.path(), {"check", "ball.toml"})),
              "saltus: error: ball.toml:17:7: unknown coordinate '\u00e4\u00f6' in [initial] q; known is y\n"
              "  q = { \"\u00e4\u00f6\" = 1.0 } # \u00fc\n"
              "        ^\n");
}

TEST(Check, LeavesNoFileForBadInput) {
    const test::Folder folder;
    folder.write("ball.toml", test::replaced(ball, "eN = 0.5", "eN = 2"));
    const Outcome run = saltus_in(folder.path(), {"check", "ball.toml", "--json", "--out", "results"});
    EXPECT_EQ(complaint(run),
              "saltus: error: ball.toml:14:6: eN of contact 'floor' is 2, it must lie in [0, 1]; change it, or the "
              "parameters in it\n  eN = 2\n       ^\n");
    EXPECT_EQ(folder.names(), Names{"ball.toml"});
}

TEST(Check, RefusesSetsThatItCannotFollow) {
    const std::string bar = model("rocking-bar");
    EXPECT_EQ(complaint(saltus({"check", bar, "--set", "mue=1"})),
              "saltus: error: --set mue: the model has no parameter 'mue'; did you mean 'mu'?\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "--set", "mu"})),
              "saltus: error: --set: 'mu' is not an assignment; write --set name=value\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "--set", "=1"})),
              "saltus: error: --set: '=1' is not an assignment; write --set name=value\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "--set", "mu="})),
              "saltus: error: --set mu, column 1: parameter 'mu' is empty; write a number or an expression\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "--set", "mu=1/0"})),
              "saltus: error: --set mu: parameter 'mu' is not finite: inf; look for a division by zero, or a root or "
              "logarithm of a negative number\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "--set", "mu=0.1*"})),
              "saltus: error: --set mu, column 5: parameter 'mu' ends too early; an operand is missing\n");
    EXPECT_NE(complaint(saltus({"check", bar, "--set", "mu=-1"}))
                  .find(": mu of contact 'left' is -1, it must be >= 0; change it, or the parameters in it\n"),
              std::string::npos);
}

TEST(Check, RefusesWhatIsNoModelFile) {
    const test::Folder folder;
    const std::string nowhere = folder.file("nowhere.toml"), itself = folder.path().string();
    EXPECT_EQ(complaint(saltus({"check", nowhere})),
              "saltus: error: " + nowhere + ": cannot be opened; check the path\n");
    EXPECT_EQ(complaint(saltus({"check", itself})),
              "saltus: error: " + itself + ": cannot be read: it is a folder; give a model file\n");
    const std::string empty = folder.write("empty.toml", "");
    EXPECT_TRUE(complaint(saltus({"check", empty})).starts_with("saltus: error: " + empty + ": "));
    const std::string blank = folder.write("blank.toml", "# nothing yet\n");
    EXPECT_EQ(complaint(saltus({"check", blank})),
              "saltus: error: " + blank + ": the model has no coordinates; give [system] q and T, or [points]\n");
    std::string garbage;
    for (unsigned k = 0; k < 4096; ++k) garbage += static_cast<char>((k * 2654435761U) >> 13U);
    const std::string binary = folder.write("binary.toml", garbage);
    EXPECT_TRUE(complaint(saltus({"check", binary})).starts_with("saltus: error: " + binary + ":1:"))
        << complaint(saltus({"check", binary}));
}

TEST(Check, SaysThatAnEmptyFileHasNoCoordinates) {
    const test::Folder folder;
    const std::string empty = folder.write("empty.toml", "");
    EXPECT_EQ(complaint(saltus({"check", empty})),
              "saltus: error: " + empty + ": the model has no coordinates; give [system] q and T, or [points]\n");
}

TEST(Check, RefusesHostileSizesQuickly) {
    const test::Folder folder;
    const auto refuse = [&](const std::string& text) {
        const Outcome run = saltus({"check", folder.write("hostile.toml", text)});
        EXPECT_LT(run.seconds, 5.0);
        return complaint(run).substr(0, 400);
    };
    const std::string at = "saltus: error: " + folder.file("hostile.toml");
    const auto potential = [&](const std::string& value) {
        return refuse(test::replaced(ball, "U = \"m*g*y\"", "U = " + value));
    };

    const std::string points =
        "[points]\nmass = { total = 1 }\ngenerate = { kind = \"hexahedra-row\", length = 1, width = [1, 1], origin = "
        "[0, 0, 0], segments = ";
    EXPECT_EQ(refuse(points + "1e12 }\n")
                  .find(at + ":3:97: the number of segments is 1e+12; give a whole number from 1 to 499999\n"),
              0U);
    EXPECT_EQ(refuse(points + "1000000000000 }\n")
                  .find(at + ":3:97: the number of segments is 1e+12; give a whole number from 1 to 499999\n"),
              0U);

    EXPECT_EQ(potential(std::string(300, '[') + std::string(300, ']')).find(at + ":5:261: not valid TOML: "), 0U);
    EXPECT_EQ(potential(std::string(100'000, '[')).find(at + ":5:261: not valid TOML: "), 0U);

    std::string long_sum = "\"y";
    while (long_sum.size() < 200'000) long_sum += "+y";
    EXPECT_EQ(potential(long_sum + "\""),
              at + ":5:6: the potential energy U has 199999 characters; at most 100000 are allowed\n");
    EXPECT_EQ(potential("\"" + std::string(40'000, '(') + "y" + std::string(40'000, ')') + "\""),
              at + ":5:206: the potential energy U is nested too deeply; at most 200 levels are allowed\n");
    EXPECT_EQ(potential("\"" + std::string(90'000, '-') + "y\"").find(": the potential energy U is nested too deeply"),
              at.size() + 6);
}

TEST(Check, TakesALongExpressionThatIsWithinTheLimits) {
    const test::Folder folder;
    std::string sum = "0";
    for (int k = 1; k <= 5000; ++k) sum += "+sin(" + std::to_string(k) + "*y)";
    const Outcome run =
        saltus({"check", folder.write("long.toml", test::replaced(ball, "m*g*y", "m*g*y+" + sum)), "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_LT(run.seconds, 5.0);
    double expected = 9.81;
    for (int k = 1; k <= 5000; ++k) expected += std::sin(k * 1.0);
    EXPECT_NEAR(Json::parse(run.out)["energy"]["potential"].get<double>(), expected, 1e-11);
}

TEST(Check, RefusesDeepDottedKeysInsteadOfEndingTheStack) {
    const test::Folder folder;
    std::string key = "a";
    for (int k = 0; k < 100'000; ++k) key += ".a";
    EXPECT_EQ(saltus({"check", folder.write("deep.toml", key + " = 1\n")}).code, 2);
    EXPECT_EQ(saltus({"check", folder.write("deep.toml", "[" + key + "]\n")}).code, 2);
}

TEST(Check, TakesAPathThatIsNotUtf8) {
    const test::Folder folder;
    EXPECT_EQ(saltus({"check", folder.write("\xff.toml", ball), "--json"}).code, 0);
}

// --- the command line itself

TEST(CommandLine, HelpAndVersionAreNoErrors) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--help"}, {"-h"}, {"check", "--help"}}) {
        const Outcome run = saltus(arguments);
        EXPECT_EQ(run.code, 0);
        EXPECT_EQ(run.err, "");
        EXPECT_NE(run.out.find("MODEL [options]"), std::string::npos);
        EXPECT_NE(run.out.find("Example:  saltus check models/rocking-bar.toml"), std::string::npos);
    }
    const Outcome version = saltus({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_TRUE(version.out.starts_with("saltus "));
    EXPECT_EQ(version.err, "");
    EXPECT_NE(saltus({"--help"}).out.find("check"), std::string::npos);
    for (const char* option : {"--set", "--json", "--out", "--quiet", "--project-initial"})
        EXPECT_NE(saltus({"check", "--help"}).out.find(option), std::string::npos) << option;
}

TEST(CommandLine, MisuseIsBadInput) {
    const std::string bar = model("rocking-bar");
    EXPECT_NE(complaint(saltus({"chekc", bar})), "");
    EXPECT_EQ(complaint(saltus({"check"})),
              "saltus: error: saltus check needs a model file; write saltus check MODEL.toml\n");
    EXPECT_EQ(complaint(saltus({})), "saltus: error: a command is missing; saltus --help lists the commands\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "another"})),
              "saltus: error: the word 'another' is not expected here; saltus check --help lists the options\n");
    EXPECT_EQ(
        complaint(saltus({"simulate", bar, "--t-end", "abc"})),
        "saltus: error: --t-end: 'abc' is not a number of the kind that is expected; saltus simulate --help lists "
        "the options\n");
    EXPECT_NE(complaint(saltus({"check", bar, "--wat"})).find("--wat"), std::string::npos);
    EXPECT_NE(complaint(saltus({"check", bar, "another.toml"})).find("another.toml"), std::string::npos);
    EXPECT_NE(complaint(saltus({"check", bar, "--set"})).find("--set"), std::string::npos);
    EXPECT_NE(complaint(saltus({"check", bar, "--out"})).find("--out"), std::string::npos);
}

TEST(CommandLine, NamesTheUnknownOptionAndTheNearestOne) {
    const std::string bar = model("rocking-bar");
    EXPECT_EQ(complaint(saltus({"simulate", bar, "--tend", "3"})),
              "saltus: error: unknown option '--tend' of saltus simulate; did you mean '--t-end'?\n");
    EXPECT_EQ(complaint(saltus({"basin", bar, "--quite", "--jsno"})),
              "saltus: error: unknown option '--quite' of saltus basin; did you mean '--quiet'?\n");
    EXPECT_EQ(complaint(saltus({"simulate", bar, "--t-ned=3"})),
              "saltus: error: unknown option '--t-ned' of saltus simulate; did you mean '--t-end'?\n");
    EXPECT_EQ(complaint(saltus({"check", bar, "--wat"})),
              "saltus: error: unknown option '--wat' of saltus check; saltus check --help lists the options\n");
}

/// An option that a shell gives an empty word, as in `--out "$FOLDER"`, is not left out silently.
TEST(CommandLine, RefusesValuesThatNoRunCanHave) {
    const std::string bar = model("rocking-bar");
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"check", bar, "--out", ""}, {"check", bar, "--report="}, {"check", bar, "--out="}})
        EXPECT_NE(complaint(saltus(arguments)).find("has an empty value"), std::string::npos) << arguments.back();
    for (const char* const seed : {"-1", "18446744073709551616", "1e3", "0x10", "nan"})
        EXPECT_NE(complaint(saltus({"basin", bar, "--samples", "1", "--box", "phi=-1:1", "--seed", seed}))
                      .find("is not a whole number from 0 to 2^64 - 1"),
                  std::string::npos)
            << seed;
    // Every command with this option.
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"check", bar}, {"merge", "folder"}, {"gallery", "-o", "folder"}}) {
        std::vector<std::string> words = arguments;
        words.insert(words.end(), {"--threads", "-3"});
        EXPECT_NE(complaint(saltus(words)).find("--threads: Value -3 is negative"), std::string::npos) << words[0];
    }
}

TEST(CommandLine, NamesTheUnknownCommand) {
    EXPECT_NE(complaint(saltus({"chekc", model("rocking-bar")})).find("chekc"), std::string::npos);
}

}  // namespace saltus::check_test
