// SPDX-License-Identifier: Apache-2.0
//
// Warnings of single motions, such as that of a motion that is not unique, are counted by every command that makes
// many.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus::warnings_test {
namespace {

using nlohmann::ordered_json;
using test::Outcome;

/// Two feet at one place that slip with different friction: how they share their load decides how the block moves. A
/// force lets the block oscillate, so that it passes a section.
constexpr const char* two_feet = R"toml(
[system]
name = "two feet at one place"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*y + 50*x^2"
[[contact]]
name = "a"
gN = "y"
gammaT = "0.5*x'"
mu = 0.05
[[contact]]
name = "b"
gN = "y"
gammaT = "x'"
mu = 0.1
[initial]
u = { x = 2 }
[simulate]
t_end = 0.3
)toml";

/// The warnings of the JSON document of a command line that ends with code 0 or 3.
std::vector<std::string> warnings_of(const std::string& command, const std::string& model, const std::string& options) {
    const test::Folder folder;
    const std::filesystem::path file = folder.path() / "model.toml";
    folder.write("model.toml", model);
    const Outcome r = test::command(command + " " + file.string() + " " + options + " --json");
    EXPECT_TRUE(r.code == 0 || r.code == 3) << r.code << r.err << r.out;
    const ordered_json j = ordered_json::parse(r.out, nullptr, false);
    if (j.is_discarded() || !j.contains("warnings")) {
        ADD_FAILURE() << r.out << r.err;
        return {};
    }
    return j["warnings"].get<std::vector<std::string>>();
}

std::string all_of(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& t : texts) all += t + "\n";
    return all;
}

bool one_says(const std::vector<std::string>& warnings, const std::string& count, const std::string& what) {
    for (const std::string& w : warnings)
        if (w.find(count) != std::string::npos && w.find(what) != std::string::npos) return true;
    return false;
}

constexpr const char* not_unique = "the motion is not unique: a and b slip and can share their load";

TEST(WarningsOfManyMotions, AreCountedByAStudy) {
    const auto warnings = warnings_of("simulate", two_feet, "--vary \"x'=0:2:5\"");
    EXPECT_TRUE(one_says(warnings, "4 of 5 runs (the first: x' = 0.5)", not_unique)) << all_of(warnings);
}

TEST(WarningsOfManyMotions, AreCountedWhereNumbersAreAsked) {
    const auto warnings = warnings_of("simulate", two_feet, "--vary \"x'=1:2:40\" --ask end");
    EXPECT_TRUE(one_says(warnings, "2 of 2 motions that were examined", not_unique)) << all_of(warnings);
}

TEST(WarningsOfManyMotions, AreCountedByAComparison) {
    const auto warnings = warnings_of("compare", two_feet, "--refinements 1");
    EXPECT_TRUE(one_says(warnings, "event-driven: ", "the motion is not unique at t = 0")) << all_of(warnings);
    EXPECT_FALSE(one_says(warnings, "Moreau", "at the end are not unique")) << "no forces are shown";
}

TEST(WarningsOfManyMotions, AreCountedByABasin) {
    const auto warnings =
        warnings_of("basin", two_feet, "--grid x=0.1:1:5 --grid \"x'=1:2:3\" --t-max 0.5 --method event");
    EXPECT_TRUE(one_says(warnings, "1 of 1 motions that were examined", not_unique)) << all_of(warnings);
}

TEST(WarningsOfManyMotions, AreCountedByADiagram) {
    const auto warnings =
        warnings_of("diagram", two_feet, "--over \"x'=1:2:3\" --section \"x = 0\" --transient 0 --keep 1 --t-max 2");
    EXPECT_TRUE(one_says(warnings, "3 of 3 values (the first: x' = 1)", not_unique)) << all_of(warnings);
}

TEST(WarningsOfManyMotions, AreNotGivenWithoutAReason) {
    // One foot: its force is unique.
    std::string one_foot = two_feet;
    one_foot = test::replaced(one_foot, "[[contact]]\nname = \"b\"\ngN = \"y\"\ngammaT = \"x'\"\nmu = 0.1\n", "");
    const auto warnings = warnings_of("simulate", one_foot, "--vary \"x'=0:2:5\"");
    EXPECT_FALSE(one_says(warnings, "of 5 runs", "not unique")) << all_of(warnings);
}

}  // namespace
}  // namespace saltus::warnings_test
