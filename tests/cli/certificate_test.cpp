// SPDX-License-Identifier: Apache-2.0
//
// Certificate files of the shipped models, checked by tools/check_certificate, which shares no code with the program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const std::string models = std::string(SALTUS_SOURCE_DIR) + "/models/";

/// A folder for the files of one test.
struct Folder {
    std::string path = (fs::temp_directory_path() / ("saltus-certificates-" + std::to_string(::getpid()))).string();
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

Json certified(const std::string& arguments) {
    const test::Outcome r = test::command("certify " + arguments + " --json --quiet");
    EXPECT_EQ(r.code, 0) << r.out;
    return Json::parse(r.out, nullptr, false);
}

/// Every shipped model whose verdict is "attractive, proved" by attractivity has a certificate that is accepted. The
/// list of these models is not given: a new one is tested too.
TEST(Certificates, OfAllShippedAttractiveModelsAreAccepted) {
    const Folder folder;
    int accepted = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(models)) {
        if (entry.path().extension() != ".toml") continue;
        const std::string file = folder.path + "/" + entry.path().stem().string() + ".json";
        const test::Outcome r = test::command("certify " + entry.path().string() + " --json --quiet --certificate " +
                                              file + " --check");
        if (r.code == 2) continue;  // the model has elements that the theorems do not treat
        ASSERT_EQ(r.code, 0) << entry.path() << "\n" << r.out;
        const Json j = Json::parse(r.out, nullptr, false);
        ASSERT_FALSE(j.is_discarded()) << entry.path();
        if (j["theorem"] != "attractivity" || j["verdict"] != "attractive" || j["grade"] != "proved") continue;
        EXPECT_EQ(j["certificate"]["certified"], true) << entry.path();
        EXPECT_EQ(j["certificate"]["checked"], "accepted") << entry.path() << j["certificate"];
        ++accepted;
    }
    EXPECT_GE(accepted, 5);
}

TEST(Certificates, OfCompleteSearchesAreAccepted) {
    const Folder folder;
    for (const char* name : {"falling-block", "constrained-beam", "rough-double-pendulum", "painleve-rod"}) {
        const std::string file = folder.path + "/" + name + ".json";
        const test::Outcome r =
            test::command("equilibria " + models + name + ".toml --certificate " + file + " --check 2>&1");
        EXPECT_EQ(r.code, 0) << r.out;
        EXPECT_NE(r.out.find("independent checker: accepted"), std::string::npos) << r.out;
    }
}

TEST(Certificates, AnUnfinishedCertificateIsWrittenAndNotChecked) {
    const Folder folder;
    const std::string file = folder.path + "/arm.json";
    const Json j = certified(models + "constrained-beam.toml --theorem instability --certificate " + file + " --check");
    EXPECT_EQ(j["certificate"]["certified"], false);
    EXPECT_EQ(j["certificate"]["checked"], "not checked");
    EXPECT_TRUE(fs::exists(file));
}

TEST(Certificates, AChangedCertificateIsRefusedByTheChecker) {
    const Folder folder;
    const std::string file = folder.path + "/block.json";
    certified(models + "falling-block.toml --certificate " + file);
    std::ifstream in(file);
    Json j = Json::parse(in);
    j["model"]["sha256"] = std::string(64, '0');
    std::ofstream(file) << j.dump();
    const std::string checker = std::string(SALTUS_SOURCE_DIR) + "/tools/check_certificate";
    EXPECT_EQ(WEXITSTATUS(std::system(("python3 " + checker + " " + file + " > /dev/null").c_str())), 1);
}

TEST(Certificates, CheckingWithoutAFileIsAnError) {
    const test::Outcome r = test::command("certify " + models + "falling-block.toml --check 2>&1");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("add --certificate FILE.json"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace saltus
