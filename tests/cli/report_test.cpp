// SPDX-License-Identifier: Apache-2.0
//
// `saltus report`, and --report on the other commands.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "saltus/io/problem/fclib.hpp"

namespace saltus::report_test {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

using test::Outcome;

Outcome run(const std::string& arguments, const fs::path& folder = ".") { return test::command(arguments, folder); }

std::string model(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"; }

/// The document inside an interactive page; null in a static one.
Json document(const std::string& html) {
    const std::string open = "<script id=\"saltus-report\" type=\"application/json\">";
    const std::size_t at = html.find(open);
    if (at == std::string::npos) return nullptr;
    const std::size_t begin = at + open.size();
    return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(ReportCommand, ShowsAMotionWithItsModel) {
    if (!io::has_hdf5()) GTEST_SKIP();
    const test::Folder folder;
    ASSERT_EQ(
        run("simulate " + model("bouncing-ball") + " --set e=0.7 --t-end 2 --out run --quiet", folder.path()).code, 0);
    const Outcome r = run("report run -o page.html", folder.path());
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_EQ(r.out, "page.html\n");
    const Json j = document(test::content_of(folder.file("page.html")));
    if (j.is_null()) GTEST_SKIP() << "built without Node: pages are static";
    ASSERT_EQ(j["parts"].size(), 1U);
    const Json& motion = j["parts"][0]["data"];
    EXPECT_EQ(motion["gaps"][0]["name"], "floor");
    EXPECT_TRUE(motion.contains("drawing"));
    // From the trajectory alone there are curves, and a word about what is missing.
    ASSERT_EQ(run("report run/trajectory.h5 -o again.html", folder.path()).code, 0);
    fs::remove(folder.path() / "run" / "model.toml");
    const Outcome alone = run("report run/trajectory.h5 -o alone.html", folder.path());
    EXPECT_EQ(alone.code, 0);
    EXPECT_NE(alone.out.find("its model is not in the same folder"), std::string::npos) << alone.out;
    const Json bare = document(test::content_of(folder.file("alone.html")));
    EXPECT_TRUE(bare["parts"][0]["data"]["gaps"].empty());
    EXPECT_EQ(bare["parts"][0]["data"]["u"][0]["name"], "y");
    // Another model beside it is not taken for its own.
    std::ofstream(folder.path() / "run" / "model.toml") << test::content_of(model("bouncing-ball")) << "\n# changed\n";
    EXPECT_EQ(run("report run -o other.html", folder.path()).code, 2);
    fs::remove(folder.path() / "run" / "contents.json");
    EXPECT_NE(run("report run -o other.html", folder.path()).out.find("is not the model that it was computed with"),
              std::string::npos);
}

TEST(ReportCommand, IsAnOptionOfEveryCommand) {
    const test::Folder folder;
    const std::vector<std::pair<std::string, std::string>> commands{
        {"check " + model("bouncing-ball"), "check"},
        {"simulate " + model("bouncing-ball") + " --t-end 1", io::has_hdf5() ? "motion" : "simulate"},
        {"compare " + model("bouncing-ball") + " --t-end 0.6 --h 0.01 --refinements 1", "compare"},
        {"impact " + model("forklift") + " --u-plus y=1.9,phi=0.2", "impact"},
        {"sensitivity " + model("bouncing-ball") + " --t-end 1 --wrt y", "sensitivity"}};
    for (const auto& [command, kind] : commands) {
        const Outcome r = run(command + " --quiet --report " + kind + ".html", folder.path());
        EXPECT_EQ(r.code, 0) << r.out;
        EXPECT_EQ(r.out, "");
        const std::string html = test::content_of(folder.file(kind + ".html"));
        EXPECT_LT(html.size(), 2000000U);
        EXPECT_EQ(html.find("src=\"http"), std::string::npos);
        if (const Json j = document(html); !j.is_null()) {
            ASSERT_EQ(j["parts"].size(), 1U) << kind;
            EXPECT_EQ(j["parts"][0]["kind"], kind);
        }
        EXPECT_EQ(run("report " + kind + ".html", folder.path()).code, 2);
    }
    EXPECT_EQ(folder.names().size(), commands.size());  // no result files but the pages
}

TEST(ReportCommand, StandsInTheFolderOfTheResults) {
    const test::Folder folder;
    const Outcome r =
        run("simulate --report " + model("bouncing-ball") + " --t-end 1 --out run --json --quiet", folder.path());
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(Json::accept(r.out)) << r.out;
    EXPECT_TRUE(fs::exists(folder.path() / "run" / "report.html"));
    // Bad input leaves nothing.
    EXPECT_EQ(run("simulate nothing.toml --report page.html", folder.path()).code, 2);
    EXPECT_FALSE(fs::exists(folder.path() / "page.html"));
}

/// A FIFO to which nobody writes would let the program wait for ever.
TEST(ReportCommand, RefusesWhatIsNoFile) {
    const test::Folder folder;
    for (const char* const name : {"fifo.h5", "fifo.json"}) {
        ASSERT_EQ(::mkfifo(folder.file(name).c_str(), 0600), 0);
        for (const std::string& line :
             {std::string("report ") + name,
              "simulate " + model("bouncing-ball") + " --t-end 9 --restart " + folder.file(name),
              "impact " + model("bouncing-ball") + " --trajectory " + folder.file(name)}) {
            if (line.ends_with("json") && !line.starts_with("report")) continue;
            const Outcome r =
                test::shell("timeout -s KILL 60 " + std::string(SALTUS_EXE) + " " + line + " 2>&1", folder.path());
            EXPECT_EQ(r.code, 2) << line << r.out;
            EXPECT_NE(r.out.find("is neither a file nor a folder"), std::string::npos) << line << r.out;
        }
    }
    EXPECT_NE(run("report /dev/null", folder.path()).out.find("is neither a file nor a folder"), std::string::npos);
}

TEST(ReportCommand, RefusesWhatIsNoResult) {
    const test::Folder folder;
    folder.write("a.json", "{\"what\": 1}");
    fs::create_directory(folder.path() / "empty");
    EXPECT_NE(run("report a.json", folder.path()).out.find("a.json: is not a result of saltus"), std::string::npos);
    EXPECT_NE(run("report empty", folder.path()).out.find("empty: contains no results"), std::string::npos);
    EXPECT_NE(run("report missing", folder.path()).out.find("there is no such file or folder"), std::string::npos);
    EXPECT_EQ(run("report a.json", folder.path()).code, 2);
    EXPECT_FALSE(fs::exists(folder.path() / "report.html"));
}

TEST(ReportCommand, StaticPageOfAnImpactShowsTheAdmissibleVelocities) {
    const test::Folder folder;
    ASSERT_EQ(run("impact " + model("forklift") + " --out run --quiet", folder.path()).code, 0);
    ASSERT_EQ(run("report run --static -o page.html", folder.path()).code, 0);
    const std::string html = test::content_of(folder.file("page.html"));
    for (const char* const part : {"P⁺, admissible u⁺", "P⁻, approaching u⁻", "u⁻ plus impulses", "consistent u⁺",
                                   "ball left, fork", "ball fork, right", ">b1 = b₀<", ">b2<", ">u⁻<", ">u⁺<"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    EXPECT_EQ(html.find("<script"), std::string::npos);
    // One velocity is drawn on a line.
    ASSERT_EQ(
        run("impact " + model("bouncing-ball") + " --q y=0 --u-minus y=-1 --out ball --quiet", folder.path()).code, 0);
    ASSERT_EQ(run("report ball --static -o ball.html", folder.path()).code, 0);
    EXPECT_NE(test::content_of(folder.file("ball.html")).find("P⁻, approaching u⁻"), std::string::npos);
}

TEST(ReportCommand, StaticPlotsHaveNamesAndUnitsAtTheirAxes) {
    if (!io::has_hdf5()) GTEST_SKIP();
    const test::Folder folder;
    ASSERT_EQ(run("simulate " + model("flexible-arm") + " --t-end 0.3 --out run --quiet", folder.path()).code, 0);
    ASSERT_EQ(run("report run --static -o page.html", folder.path()).code, 0);
    const std::string html = test::content_of(folder.file("page.html"));
    // Quantities of one unit share an axis; outputs are drawn.
    for (const char* const label :
         {">t in s<", ">q in rad<", ">q' in rad/s<", ">w1, w2, w3 in m<", ">w1', w2', w3' in m/s<",
          ">strain1 [mm/m], strain2 [mm/m]<", ">gap gN in m<", ">force in N<", ">impulse in N s<", ">energy in J<"})
        EXPECT_NE(html.find(label), std::string::npos) << label;
}

/// Removes or replaces one value after the other in results of several commands. No page may be made by an abort, and a
/// refusal names the file.
TEST(ReportCommand, RefusesDamagedDocuments) {
    const test::Folder folder;
    const std::array<std::string, 3> commands{
        "compare " + model("bouncing-ball") + " --t-end 0.5 --refinements 1", "impact " + model("forklift"),
        "basin " + model("rocking-bar") + " --no-certify --t-max 0.1 --grid phi=-1:1:2"};
    for (const std::string& command : commands) {
        const Json whole = Json::parse(run(command + " --json", folder.path()).out).flatten();
        int seen = 0;
        for (const auto& [key, value] : whole.items()) {
            if (++seen % 7 != 0) continue;  // a sample of the keys, because every page is a process
            Json damaged = whole;
            if (seen % 2 == 0)
                damaged.erase(key);
            else
                damaged[key] = value.is_string() ? Json(1.5) : Json("text");
            folder.write("damaged.json", damaged.unflatten().dump());
            const Outcome r = run("report damaged.json --static -o page.html", folder.path());
            EXPECT_TRUE(r.code == 0 || r.code == 2) << key << "\n" << r.out;
            EXPECT_EQ(r.code == 2, r.out.find("damaged.json") != std::string::npos) << r.out;
        }
    }
}

}  // namespace
}  // namespace saltus::report_test
