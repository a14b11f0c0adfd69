// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/check_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "support.hpp"

namespace saltus::check_report_test {

namespace {

using Json = nlohmann::ordered_json;

const std::string everything = R"([system]
name = "everything"
q = ["x", "y"]
T = "m/2*x'^2 + m*x'*y'/2 + m*y'^2"
U = "m*g*y"

[parameters]
m = 2.0
g = 10.0
w = "m*g"
spare = 1.0

[[contact]]
name = "floor"
gN = "y - x"
gammaT = ["x'", "y'"]
mu = [0.1, 0.2]
eN = 0.5

[[contact]]
name = "ceiling"
gN = "9 - y"
impact = "energy"
c = 0.25

[[constraint]]
name = "rail"
g = "x - 1"
gammaT = "y'"
mu = 0.3

[[constraint]]
name = "second rail"
g = "3*x - 3"

[[slider]]
gammaT = "x' + y'"
mu = 0.4
FN = "w"

[[clutch]]
name = "freewheel"
gamma = "y' + 2"

[initial]
q = { x = 1.0, y = 1.0 }
u = { y = -1.0 }
)";

struct Checked {
    model::Model model;
    model::Inspection inspection;
};

Checked check(const std::string& text) {
    model::Model m = model::build(io::parse_model(text, "everything.toml"));
    model::Inspection i = model::inspect(m);
    return {std::move(m), std::move(i)};
}

std::string text_of(const std::string& text) {
    const Checked c = check(text);
    return io::check_text(c.model, c.inspection, "everything.toml");
}

Json json_of(const std::string& text) {
    const Checked c = check(text);
    return Json::parse(io::check_json(c.model, c.inspection, "everything.toml"));
}

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> list;
    for (const auto& [key, value] : object.items()) list.push_back(key);
    return list;
}

using Keys = std::vector<std::string>;

}  // namespace

/// Friction that holds up to another coefficient than that of slip, on each kind of element.
TEST(CheckText, NamesStaticCoefficients) {
    const auto with_static = [](std::string text, const std::string& mu, const std::string& more) {
        return text.replace(text.find(mu), mu.size(), mu + "\nmu_static = " + more);
    };
    const std::string text = with_static(with_static(everything, "mu = 0.3", "0.35"), "mu = 0.4", "0.5");
    EXPECT_NE(text_of(text).find("mu 0.3  mu_static 0.35, scaled"), std::string::npos) << text_of(text);
    EXPECT_NE(text_of(text).find("mu 0.4  mu_static 0.5  FN 20"), std::string::npos) << text_of(text);
    const Json j = json_of(text);
    EXPECT_EQ(j["constraints"][0]["mu_static"], 0.35);
    EXPECT_EQ(j["sliders"][0]["mu_static"], 0.5);
    EXPECT_FALSE(j["contacts"][0].contains("mu_static"));
}

TEST(CheckText, SummarisesTheModel) {
    EXPECT_EQ(text_of(everything), R"(everything  (everything.toml)
  2 coordinates (x, y), 1 degree of freedom, scleronomic, autonomous
  parameters  m = 2   g = 10   w = 20 (derived)   spare = 1
  mass matrix constant, coupled, condition 2.784, smallest eigenvalue 1.58579
  start       x = 1, x' = 0   y = 1, y' = -1
  energy      kinetic 2, potential 20
  contacts    2, 1 closed at the start
    floor              gap 0            closed  gammaN -1  gammaT (0, -1)  mu (0.1, 0.2)  orthotropic  eN 0.5  eT 0  newton
    ceiling            gap 8            open    gammaN 1  e = 1 - 0.25*v  energy
  constraints 2, rank 1
    rail               g 0            dg/dt 0  gammaT -1  mu 0.3, scaled by |reaction|
    second rail        g 0            dg/dt 0
  slider      slider             gammaT -1  mu 0.4  FN 20
  clutch      freewheel          gamma 1
  active      3 rows (constraints and closed contacts), rank 2
    redundant: 'second rail' = 3 'rail'
  index       perturbation index 3 (second derivatives of errors in constraints and gaps enter)
  warning     parameter 'spare' is not used
  warning     closed and approaching at the start: 'floor'; the motion begins with an impact
)");
}

TEST(CheckText, SaysWhatDependsOnTime) {
    const std::string forced = test::replaced(everything, "U = \"m*g*y\"", "U = \"m*g*y\"\nf = { x = \"sin(t)\" }");
    EXPECT_NE(text_of(forced).find("1 degree of freedom, scleronomic, forces depend on the time\n"), std::string::npos);
    const std::string moving = test::replaced(everything, "gN = \"9 - y\"", "gN = \"9 - y - t\"");
    EXPECT_NE(text_of(moving).find("1 degree of freedom, rheonomic\n"), std::string::npos);
}

TEST(CheckText, SaysWhenTheMassDependsOnTheState) {
    EXPECT_NE(text_of(test::replaced(everything, "m*y'^2", "m*y'^2*(1 + x^2)"))
                  .find("  mass matrix depends on the state, coupled, "),
              std::string::npos);
    EXPECT_NE(text_of(test::replaced(everything, " + m*x'*y'/2", ""))
                  .find("  mass matrix constant, diagonal, condition 2, smallest eigenvalue 2\n"),
              std::string::npos);
}

TEST(CheckText, ShowsManyContactsOfAnObstacleInOneLine) {
    const std::string row = R"([points]
generate = { kind = "hexahedra-row", segments = 3, length = 0.5, width = [1, 1], origin = [1, 0, 0] }
mass = { total = 16, distribution = "equal" }
[[obstacle]]
name = "wall"
normal = [1, 0, 0]
offset = 1
)";
    const std::string text = text_of(row);
    EXPECT_NE(text.find("    wall               16 contacts, 4 closed, nearest:\n      wall.p0            gap 0 "),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("wall.p5"), std::string::npos);
    EXPECT_NE(text.find("48 coordinates (p0.x, p0.y, p0.z, p1.x, p1.y, p1.z, p2.x, p2.y, p2.z, p3.x, p3.y, p3.z, ... "
                        "p15.z), 48 degrees of freedom"),
              std::string::npos)
        << text;
}

TEST(CheckText, WrapsLongListsOfParameters) {
    std::string more = "spare = 1.0\n";
    for (int k = 0; k < 40; ++k) more += "parameter_number_" + std::to_string(k) + " = 0.5\n";
    std::istringstream lines(text_of(test::replaced(everything, "spare = 1.0\n", more)));
    int continued = 0;
    for (std::string line; std::getline(lines, line) && !line.starts_with("  mass matrix");) {
        EXPECT_LE(line.size(), 100U) << line;
        continued += line.starts_with("              parameter_number_") ? 1 : 0;
    }
    EXPECT_GE(continued, 8);
}

TEST(CheckJson, HasItsKeysInOrder) {
    const Json j = json_of(everything);
    EXPECT_EQ(keys(j), (Keys{"model",       "file",
                             "coordinates", "degrees_of_freedom",
                             "parameters",  "derived_parameters",
                             "initial",     "scleronomic",
                             "autonomous",  "mass",
                             "energy",      "contacts",
                             "closed",      "constraints",
                             "sliders",     "clutches",
                             "active",      "perturbation_index",
                             "simulate",    "start_moved",
                             "warnings"}));
    EXPECT_EQ(keys(j["initial"]), (Keys{"t", "q", "u"}));
    EXPECT_EQ(keys(j["mass"]), (Keys{"constant", "diagonal", "positive_definite", "smallest_eigenvalue",
                                     "largest_eigenvalue", "condition"}));
    EXPECT_EQ(keys(j["contacts"][0]),
              (Keys{"name", "gN", "closed", "gammaN", "gammaT", "mu", "friction", "impact", "eN", "eT"}));
    EXPECT_EQ(keys(j["contacts"][1]),
              (Keys{"name", "gN", "closed", "gammaN", "gammaT", "mu", "friction", "impact", "c", "eT"}));
    EXPECT_EQ(keys(j["constraints"][0]), (Keys{"name", "g", "rate", "gammaT", "mu"}));
    EXPECT_EQ(keys(j["sliders"][0]), (Keys{"name", "gammaT", "mu", "FN"}));
    EXPECT_EQ(keys(j["clutches"][0]), (Keys{"name", "gamma"}));
    EXPECT_EQ(keys(j["active"]), (Keys{"rows", "rank", "redundant"}));
}

TEST(CheckJson, HasTheRightValues) {
    const Json j = json_of(everything);
    EXPECT_EQ(j["model"], "everything");
    EXPECT_EQ(j["file"], "everything.toml");
    EXPECT_EQ(j["coordinates"], (Json{"x", "y"}));
    EXPECT_EQ(j["degrees_of_freedom"], 1);
    EXPECT_EQ(j["parameters"].dump(), R"({"m":2.0,"g":10.0,"w":20.0,"spare":1.0})");
    EXPECT_EQ(j["derived_parameters"], Json::array({"w"}));
    EXPECT_EQ(j["initial"].dump(), R"({"t":0.0,"q":{"x":1.0,"y":1.0},"u":{"x":0.0,"y":-1.0}})");
    EXPECT_EQ(j["scleronomic"], true);
    EXPECT_EQ(j["autonomous"], true);
    EXPECT_EQ(j["mass"]["constant"], true);
    EXPECT_EQ(j["mass"]["diagonal"], false);
    EXPECT_EQ(j["mass"]["positive_definite"], true);
    // M = [2 1; 1 4]: 3 ± √2
    EXPECT_DOUBLE_EQ(j["mass"]["smallest_eigenvalue"].get<double>(), 3 - std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(j["mass"]["largest_eigenvalue"].get<double>(), 3 + std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(j["mass"]["condition"].get<double>(), (3 + std::sqrt(2.0)) / (3 - std::sqrt(2.0)));
    EXPECT_EQ(j["energy"].dump(), R"({"kinetic":2.0,"potential":20.0})");
    EXPECT_EQ(
        j["contacts"][0].dump(),
        R"({"name":"floor","gN":0.0,"closed":true,"gammaN":-1.0,"gammaT":[0.0,-1.0],"mu":[0.1,0.2],"friction":"orthotropic","impact":"newton","eN":0.5,"eT":0.0})");
    EXPECT_EQ(
        j["contacts"][1].dump(),
        R"({"name":"ceiling","gN":8.0,"closed":false,"gammaN":1.0,"gammaT":[],"mu":[],"friction":"none","impact":"energy","c":0.25,"eT":0.0})");
    EXPECT_EQ(j["closed"], 1);
    EXPECT_EQ(j["constraints"][0].dump(), R"({"name":"rail","g":0.0,"rate":0.0,"gammaT":[-1.0],"mu":[0.3]})");
    EXPECT_EQ(j["sliders"][0].dump(), R"({"name":"slider","gammaT":[-1.0],"mu":[0.4],"FN":20.0})");
    EXPECT_EQ(j["clutches"][0].dump(), R"({"name":"freewheel","gamma":1.0})");
    EXPECT_EQ(j["active"]["rows"], 3);
    EXPECT_EQ(j["active"]["rank"], 2);
    ASSERT_EQ(j["active"]["redundant"].size(), 1U);
    EXPECT_EQ(j["active"]["redundant"][0]["name"], "second rail");
    EXPECT_NEAR(j["active"]["redundant"][0]["combination"]["rail"].get<double>(), 3.0, 1e-14);
    EXPECT_EQ(j["warnings"], (Json{"parameter 'spare' is not used",
                                   "closed and approaching at the start: 'floor'; the motion begins with an impact"}));
}

TEST(CheckJson, TellsThePerturbationIndex) {
    const auto index = [](const std::string& elements) {
        const Json j = json_of("[system]\nname = \"m\"\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\n" + elements);
        return std::pair(j["perturbation_index"]["free"].get<int>(), j["perturbation_index"]["largest"].get<int>());
    };
    EXPECT_EQ(index(""), std::pair(0, 0));
    EXPECT_EQ(index("[[contact]]\nname = \"c\"\ngN = \"x\"\n"), std::pair(0, 3));
    EXPECT_EQ(index("[[constraint]]\nname = \"c\"\ng = \"x - y\"\n"), std::pair(3, 3));
    EXPECT_EQ(index("[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = 0.3\nFN = 1\n"), std::pair(0, 2));
    EXPECT_EQ(index("[[clutch]]\nname = \"s\"\ngamma = \"x' - y'\"\n"), std::pair(0, 2));
}

TEST(CheckJson, EndsWithOneNewline) {
    const Checked c = check(everything);
    const std::string text = io::check_json(c.model, c.inspection, "everything.toml");
    EXPECT_TRUE(text.starts_with("{\n"));
    EXPECT_TRUE(text.ends_with("\n}\n"));
}

TEST(CheckJson, EscapesNames) {
    EXPECT_EQ(
        json_of(test::replaced(everything, "name = \"everything\"", "name = 'a \"quoted\" \\ name \u00fc'"))["model"],
        "a \"quoted\" \\ name \u00fc");
}

}  // namespace saltus::check_report_test
