// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/model/read_model.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "support.hpp"

namespace saltus::read_model_test {

namespace {

using model::Description;
using model::Entry;

std::string where(const Place& place) { return to_string(place); }

std::vector<std::string> names_of(const std::vector<Entry>& entries) {
    std::vector<std::string> names;
    for (const Entry& e : entries) names.push_back(e.name);
    return names;
}

/// The refusal of a model of one coordinate whose potential is written in the given way.
std::string refusal_of_potential(const std::string& line) {
    return test::refusal_of(
        [&] { model::build(io::parse_model("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n" + line + "\n", "m.toml")); });
}

}  // namespace

TEST(ReadModel, FindsEveryBlock) {
    const Description d = io::parse_model(R"([system]
name = "all"
q = ["x", "y"]
T = "x'^2"
U = "x"
R = "x'^2"
f = { x = 1 }
[parameters]
a = 1
[[contact]]
name = "c1"
gN = "x"
[[contact]]
name = "c2"
gN = "y"
friction = "rolling"
radii = [1, "a"]
[[constraint]]
name = "g1"
g = "x"
[[slider]]
FN = 2
[[clutch]]
gamma = "x'"
[control]
actuated = ["y", "x"]
Kp = [1, 2]
Kv = [[1, 2], [3, 4]]
[penalty]
k = { c1 = 1 }
d = 2
[perturbation]
delta = { x = 1 }
eta = { g1 = 2 }
theta = { c2 = 3 }
initial = { q = { x = 4 }, u = { y = 5 } }
[initial]
q = { x = 6 }
u = { y = 7 }
[simulate]
t_end = 8
method = "moreau"
[points]
positions = [[1, 2, 3]]
mass = [4]
[[springs]]
pairs = [[0, 1], [2, 3]]
[[volume]]
cells = [[0, 1, 2, 3, 4, 5, 6, 7]]
[[obstacle]]
name = "wall"
offset = 9
)",
                                          "all.toml");
    EXPECT_EQ(d.file, "all.toml");
    EXPECT_EQ(d.name, "all");
    ASSERT_EQ(d.q.size(), 2U);
    EXPECT_EQ(d.q[1].name, "y");
    EXPECT_EQ(d.T.source.text, "x'^2");
    EXPECT_TRUE(d.U.given);
    EXPECT_TRUE(d.R.given);
    EXPECT_EQ(d.f.at(0).value.number, 1.0);
    ASSERT_EQ(d.contacts.size(), 2U);
    EXPECT_EQ(d.contacts[1].name, "c2");
    EXPECT_EQ(d.contacts[1].friction.word, "rolling");
    EXPECT_EQ(d.contacts[0].friction.word, "coulomb");
    EXPECT_EQ(d.contacts[0].impact.word, "newton");
    ASSERT_EQ(d.contacts[1].radii.size(), 2U);
    EXPECT_EQ(d.contacts[1].radii[1].source.text, "a");
    EXPECT_FALSE(d.contacts[1].radius.given);
    EXPECT_EQ(d.constraints.at(0).g.source.text, "x");
    EXPECT_EQ(d.sliders.at(0).FN.number, 2.0);
    EXPECT_EQ(d.clutches.at(0).gamma.source.text, "x'");
    ASSERT_TRUE(d.control.has_value());
    EXPECT_EQ(d.control->actuated.at(0).name, "y");
    ASSERT_EQ(d.control->Kp.rows.size(), 1U);
    EXPECT_EQ(d.control->Kp.rows[0].size(), 2U);
    ASSERT_EQ(d.control->Kv.rows.size(), 2U);
    EXPECT_EQ(d.control->Kv.rows[1].at(0).number, 3.0);
    ASSERT_TRUE(d.penalty.has_value());
    EXPECT_FALSE(d.penalty->k.given);
    EXPECT_EQ(d.penalty->k_of.at(0).name, "c1");
    EXPECT_EQ(d.penalty->d.number, 2.0);
    ASSERT_TRUE(d.perturbation.has_value());
    EXPECT_EQ(d.perturbation->delta.at(0).value.number, 1.0);
    EXPECT_EQ(d.perturbation->eta.at(0).value.number, 2.0);
    EXPECT_EQ(d.perturbation->theta.at(0).value.number, 3.0);
    EXPECT_EQ(d.perturbation->initial_q.at(0).value.number, 4.0);
    EXPECT_EQ(d.perturbation->initial_u.at(0).value.number, 5.0);
    EXPECT_EQ(d.initial.q.at(0).value.number, 6.0);
    EXPECT_EQ(d.initial.u.at(0).value.number, 7.0);
    EXPECT_EQ(d.simulate.t_end.number, 8.0);
    EXPECT_EQ(d.simulate.method.word, "moreau");
    ASSERT_TRUE(d.points.has_value());
    EXPECT_EQ(d.points->positions.at(0).at(2).number, 3.0);
    EXPECT_EQ(d.points->masses.at(0).number, 4.0);
    EXPECT_EQ(d.springs.at(0).pairs.rows, (std::vector<std::vector<long long>>{{0, 1}, {2, 3}}));
    EXPECT_FALSE(d.volumes.at(0).all);
    EXPECT_EQ(d.volumes.at(0).cells.rows.at(0).size(), 8U);
    EXPECT_EQ(d.obstacles.at(0).offset.number, 9.0);
}

TEST(ReadModel, GivesAnEmptyDescriptionForAnEmptyText) {
    const Description d = io::parse_model("", "empty.toml");
    EXPECT_TRUE(d.q.empty());
    EXPECT_FALSE(d.T.given);
    EXPECT_FALSE(d.control || d.penalty || d.perturbation || d.points);
    EXPECT_EQ(d.simulate.method.word, "event");
}

TEST(ReadModel, KeepsEntriesInTheOrderOfTheFile) {
    const Description d = io::parse_model(
        "[parameters]\nzeta = 1\nalpha = 2\nmu = 3\n[initial]\nq = { y = 1, x = 2, a = 3 }\n", "m.toml");
    EXPECT_EQ(names_of(d.parameters), (std::vector<std::string>{"zeta", "alpha", "mu"}));
    EXPECT_EQ(names_of(d.initial.q), (std::vector<std::string>{"y", "x", "a"}));
}

TEST(ReadModel, KnowsThePlaceOfKeysValuesAndBlocks) {
    const Description d = io::parse_model(R"([system]
q = ["x",
     "y"]
T = "x'^2"
U = 3.5
[parameters]
  a   =   "2*b"
  b   =   1

[[contact]]
name = "c"
impact = "energy"
)",
                                          "m.toml");
    EXPECT_EQ(where(d.q.at(0).place), "m.toml:2:6");
    EXPECT_EQ(where(d.q.at(1).place), "m.toml:3:6");
    EXPECT_EQ(where(d.T.place()), "m.toml:4:6");  // of the text, behind the quote
    EXPECT_EQ(where(d.U.place()), "m.toml:5:5");  // of the number
    EXPECT_EQ(where(d.parameters.at(0).place), "m.toml:7:3");
    EXPECT_EQ(where(d.parameters.at(0).value.place()), "m.toml:7:12");
    EXPECT_EQ(where(d.parameters.at(1).value.place()), "m.toml:8:11");
    EXPECT_EQ(where(d.contacts.at(0).place), "m.toml:10:1");
    EXPECT_EQ(where(d.contacts.at(0).impact.place), "m.toml:12:10");
}

TEST(ReadModel, CountsColumnsInCharactersNotBytes) {
    const Description d = io::parse_model("[system]\nf = { \"\u00e4\u20ac\" = 1, x = \"2\" }\n", "m.toml");
    ASSERT_EQ(d.f.size(), 2U);
    EXPECT_EQ(where(d.f[0].place), "m.toml:2:7");
    EXPECT_EQ(where(d.f[1].place), "m.toml:2:17");
    EXPECT_EQ(where(d.f[1].value.place().line > 0 ? d.f[1].value.source.place_of(0) : Place{}), "m.toml:2:22");
}

TEST(ReadModel, FollowsAnExpressionThroughEveryKindOfString) {
    const std::string rest = ": undefined name 'k' in the potential energy U; known here are x, t and pi";
    EXPECT_EQ(refusal_of_potential(R"(U = "x + k")"), "m.toml:4:10" + rest);
    EXPECT_EQ(refusal_of_potential(R"(U = 'x + k')"), "m.toml:4:10" + rest);
    EXPECT_EQ(refusal_of_potential(R"(U = """x + k""")"), "m.toml:4:12" + rest);
    EXPECT_EQ(refusal_of_potential(R"(U = '''x + k''')"), "m.toml:4:12" + rest);
    EXPECT_EQ(refusal_of_potential("U = \"\"\"\n  x\n  + k\"\"\""), "m.toml:6:5" + rest);
    EXPECT_EQ(refusal_of_potential("U = '''\n  x\n  + k'''"), "m.toml:6:5" + rest);
    EXPECT_EQ(refusal_of_potential("U = \"\"\"x \\\n     + k\"\"\""), "m.toml:5:8" + rest);
    EXPECT_EQ(refusal_of_potential("U = \"\"\"x \\\n\n\n  + k\"\"\""), "m.toml:7:5" + rest);
    EXPECT_EQ(refusal_of_potential(R"(U = "x\t+ k")"), "m.toml:4:11" + rest);
    EXPECT_EQ(refusal_of_potential(R"(U = "\u0078 + k")"), "m.toml:4:15" + rest);
    EXPECT_EQ(refusal_of_potential(R"(U = "\U00000078 + \u006b")"), "m.toml:4:19" + rest);
    EXPECT_EQ(refusal_of_potential("  U\t=\t\"x + k\""), "m.toml:4:12" + rest);
}

TEST(ReadModel, ReadsLinesThatEndInCrLf) {
    const std::string text = "[system]\r\nq = [\"x\"]\r\nT = \"x'^2/2\"\r\nU = \"x + k\"\r\n";
    EXPECT_EQ(test::refusal_of([&] { model::build(io::parse_model(text, "m.toml")); }),
              "m.toml:4:10: undefined name 'k' in the potential energy U; known here are x, t and pi");
}

TEST(ReadModel, FollowsAnExpressionOfSeveralLinesThatEndInCrLf) {
    const std::string text = "[system]\r\nq = [\"x\"]\r\nT = \"x'^2/2\"\r\nU = \"\"\"\r\n  x\r\n  + k\"\"\"\r\n";
    EXPECT_EQ(test::refusal_of([&] { model::build(io::parse_model(text, "m.toml")); }),
              "m.toml:6:5: undefined name 'k' in the potential energy U; known here are x, t and pi");
}

TEST(ReadModel, IgnoresAByteOrderMark) {
    EXPECT_EQ(io::parse_model("\xef\xbb\xbf[system]\nname = \"bom\"\n", "m.toml").name, "bom");
}

TEST(ReadModel, ReadsDottedKeysAndInlineTablesLikeBlocks) {
    const Description d =
        io::parse_model("system.q = [\"x\"]\ninitial.q.x = 2\ncontact = [{ name = \"c\", gN = \"x\" }]\n", "m.toml");
    EXPECT_EQ(d.q.at(0).name, "x");
    EXPECT_EQ(d.initial.q.at(0).name, "x");
    EXPECT_EQ(where(d.initial.q.at(0).place), "m.toml:2:11");
    EXPECT_EQ(d.contacts.at(0).gN.source.text, "x");
}

TEST(ReadModel, AcceptsIntegersForNumbers) {
    const Description d = io::parse_model("[parameters]\na = 3\nb = 0x10\nc = 1_000\nd = -0.5e1\n", "m.toml");
    EXPECT_EQ(d.parameters.at(0).value.number, 3.0);
    EXPECT_EQ(d.parameters.at(1).value.number, 16.0);
    EXPECT_EQ(d.parameters.at(2).value.number, 1000.0);
    EXPECT_EQ(d.parameters.at(3).value.number, -5.0);
}

TEST(ReadModel, DistinguishesGivenAndAbsentKeys) {
    const Description d = io::parse_model("[[contact]]\nname = \"c\"\neN = 0\n", "m.toml");
    EXPECT_TRUE(d.contacts.at(0).eN.given);
    EXPECT_FALSE(d.contacts.at(0).eT.given);
    EXPECT_TRUE(d.contacts.at(0).mu.empty());
}

TEST(ReadModel, TreatsRestInitialAsAbsent) {
    const Description d = io::parse_model("[[springs]]\nrest = \"initial\"\n[[springs]]\nrest = 0\n", "m.toml");
    EXPECT_FALSE(d.springs.at(0).rest.given);
    EXPECT_TRUE(d.springs.at(1).rest.given);
}

TEST(ReadModel, ReadsAFileAndNamesItInMessages) {
    const test::Folder folder;
    const std::string good = folder.write("good.toml", "[system]\nname = \"from a file\"\n");
    EXPECT_EQ(io::read_model(good).name, "from a file");
    EXPECT_EQ(io::read_model(good).file, good);
    const std::string bad = folder.write("bad.toml", "[system]\nnme = \"x\"\n");
    EXPECT_EQ(test::refusal_of([&] { io::read_model(bad); }),
              bad + ":2:1: unknown key 'nme' in [system]; did you mean 'name'?");
}

TEST(ReadModel, RefusesMissingFilesAndFolders) {
    const test::Folder folder;
    const std::string nowhere = folder.file("nowhere.toml");
    EXPECT_EQ(test::refusal_of([&] { io::read_model(nowhere); }), nowhere + ": cannot be opened; check the path");
    const std::string itself = folder.path().string();
    EXPECT_EQ(test::refusal_of([&] { io::read_model(itself); }),
              itself + ": cannot be read: it is a folder; give a model file");
}

TEST(ReadModel, ReadsAnEmptyFileAsAnEmptyText) {
    const test::Folder folder;
    EXPECT_EQ(test::refusal_of([&] { io::read_model(folder.write("empty.toml", "")); }), "accepted");
}

TEST(ReadModel, RefusesNestingThatWouldOverflowTheStack) {
    const std::string deep = "U = " + std::string(300, '[') + std::string(300, ']');
    EXPECT_EQ(refusal_of_potential(deep),
              "m.toml:4:261: not valid TOML: Error while parsing value: exceeded maximum nested value depth of 256 "
              "(TOML_MAX_NESTED_VALUES)");
}

TEST(ReadModel, RefusesStringsThatAreNotClosed) {
    EXPECT_EQ(test::refusal_of([&] { io::parse_model("[system]\nname = \"a\nq = [\"x\"]\n", "m.toml"); }),
              "m.toml:2:10: the string does not end on its line; close it with a quotation mark");
}

TEST(ReadModel, RefusesBytesThatAreNotText) {
    std::string all;
    for (int k = 0; k < 256; ++k) all += static_cast<char>(k);
    EXPECT_EQ(test::refusal_of([&] { io::parse_model(all, "m.toml"); }).substr(0, 28), "m.toml:1:1: not valid TOML: ");
    const std::string foreign = test::refusal_of([&] { io::parse_model("[system]\nname = \"\xff\xfe\"\n", "m.toml"); });
    EXPECT_TRUE(foreign.starts_with("m.toml:2:") &&
                foreign.ends_with(": not valid TOML: Encountered invalid utf-8 sequence"))
        << foreign;
}

}  // namespace saltus::read_model_test
