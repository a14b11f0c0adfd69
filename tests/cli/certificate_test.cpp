// SPDX-License-Identifier: Apache-2.0
//
// Certificate files of the shipped models, checked by tools/check_certificate, which shares no code with the program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus::certificate_test {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const std::string models = std::string(SALTUS_SOURCE_DIR) + "/models/";

Json document(const test::Outcome& r) {
    EXPECT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << r.out;
    return j;
}

/// tests/certificate/test_shipped.py has the checker examine the certificates of all shipped models and theorems.
TEST(Certificates, OfAttractiveAndOfRegulatedModelsAreAccepted) {
    const test::Folder folder;
    for (const char* const question :
         {"rocking-bar.toml --theorem attractivity", "single-link-arm.toml --theorem regulation"}) {
        const std::string file = (folder.path() / "certificate.json").string();
        const Json j =
            document(test::command("certify " + models + question + " --json --quiet --check --certificate " + file));
        EXPECT_EQ(j["verdict"], "attractive") << question;
        EXPECT_EQ(j["grade"], "proved") << question;
        EXPECT_EQ(j["certificate"]["checked"], "accepted") << question << j["certificate"];
    }
}

TEST(Certificates, OfTheUnstableUprightBeamIsAccepted) {
    const test::Folder folder;
    const std::string file = (folder.path() / "beam.json").string();
    const Json j = document(test::command(
        "certify " + models +
        "constrained-beam.toml --theorem instability --seconds 300 --json --quiet --check --certificate " + file));
    EXPECT_EQ(j["verdict"], "unstable");
    EXPECT_EQ(j["certificate"]["checked"], "accepted") << j["certificate"];
}

TEST(Certificates, OfCompleteSearchesAreAccepted) {
    const test::Folder folder;
    for (const char* name : {"falling-block", "constrained-beam", "rough-double-pendulum", "painleve-rod"}) {
        const std::string file = (folder.path() / name).string() + ".json";
        const test::Outcome r =
            test::command("equilibria " + models + name + ".toml --certificate " + file + " --check");
        EXPECT_EQ(r.code, 0) << r.out;
        EXPECT_NE(r.out.find("independent checker: accepted"), std::string::npos) << r.out;
    }
}

TEST(Certificates, OfASearchAppearInItsDocument) {
    const test::Folder folder;
    const std::string file = (folder.path() / "block.json").string();
    const Json j = document(
        test::command("equilibria " + models + "falling-block.toml --json --quiet --check --certificate " + file));
    EXPECT_EQ(j["certificate"]["certified"], true);
    EXPECT_EQ(j["certificate"]["checked"], "accepted");
}

TEST(Certificates, OneModeAndAnEnergyOfTheUserAreAccepted) {
    const test::Folder folder;
    const std::string file = (folder.path() / "mode.json").string();
    for (const char* const command :
         {"friction-oscillator.toml", "rocking-bar.toml --theorem instability --at phi=1.5708",
          "rocking-bar.toml --theorem instability --at phi=1.5708 --set k=200", "falling-block.toml --V 2*T+2*U"}) {
        const Json j =
            document(test::command("certify " + models + command + " --json --quiet --check --certificate " + file));
        EXPECT_EQ(j["certificate"]["checked"], "accepted") << command << j["certificate"];
    }
}

TEST(Certificates, AnUnfinishedCertificateIsWrittenAndNotChecked) {
    const test::Folder folder;
    const std::string file = (folder.path() / "spring.json").string(), model = (folder.path() / "spring.toml").string();
    std::ofstream(model) << "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"x^2 + y^2\"\n"
                            "f = { x = \"-abs(x' - y')*(x' - y') - x'\", y = \"abs(x' - y')*(x' - y') - y'\" }\n";
    // The format has no claims for forces that are not linear and depend on two velocities.
    const Json j = document(test::command("certify " + model + " --json --quiet --check --certificate " + file));
    EXPECT_EQ(j["verdict"], "attractive");
    EXPECT_EQ(j["grade"], "numerical");
    EXPECT_EQ(j["certificate"]["certified"], false);
    EXPECT_EQ(j["certificate"]["checked"], "not checked");
    EXPECT_TRUE(fs::exists(file));
}

/// Saturated feedback is not in Model::control; the certificate must not claim anything all the same.
TEST(Certificates, OfSaturatedAndEstimatingFeedbackAreNotClaimed) {
    const test::Folder folder;
    for (const char* name : {"saturated-arm", "output-feedback-arm", "decoupled-pair"}) {
        const std::string file = (folder.path() / name).string() + ".json";
        const Json j = document(
            test::command("equilibria " + models + name + ".toml --json --quiet --check --certificate " + file));
        const bool plain = name == std::string("decoupled-pair");
        EXPECT_EQ(j["certificate"]["certified"], plain) << name;
        EXPECT_EQ(j["certificate"]["checked"], plain ? "accepted" : "not checked") << name;
    }
}

TEST(Certificates, OfAFunctionOfTheUserIsAccepted) {
    const test::Folder folder;
    const std::string file = (folder.path() / "spring.json").string(), model = (folder.path() / "spring.toml").string();
    std::ofstream(model) << "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2\"\nR = \"x'^2/10\"\n";
    const Json j = document(test::command("certify " + model + " --V \"T + U + x*x'/20\" --json --quiet --check" +
                                          " --certificate " + file));
    EXPECT_EQ(j["verdict"], "attractive");
    EXPECT_EQ(j["grade"], "proved");
    EXPECT_EQ(j["certificate"]["checked"], "accepted") << j["certificate"];
}

TEST(Certificates, AChangedCertificateIsRefusedByTheChecker) {
    const test::Folder folder;
    const std::string file = (folder.path() / "block.json").string();
    document(test::command("certify " + models + "falling-block.toml --json --quiet --certificate " + file));
    const auto answer = [&] {
        return test::shell("python3 '" + std::string(SALTUS_SOURCE_DIR) + "/tools/check_certificate' " + file).code;
    };
    EXPECT_EQ(answer(), 0);
    std::ifstream in(file);
    Json j = Json::parse(in);
    j["model"]["sha256"] = std::string(64, '0');
    std::ofstream(file) << j.dump();
    EXPECT_EQ(answer(), 1);
}

TEST(Certificates, CheckingWithoutAFileIsAnError) {
    const test::Outcome r = test::command("certify " + models + "falling-block.toml --check");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("add --certificate FILE.json"), std::string::npos) << r.out;
}

TEST(Certificates, AReportPageSaysThatTheCertificateWasChecked) {
    const test::Folder folder;
    const std::string file = (folder.path() / "block.json").string(), page = (folder.path() / "page.html").string();
    const test::Outcome r = test::command("certify " + models + "falling-block.toml --quiet --certificate " + file +
                                          " --check --report=" + page);
    ASSERT_EQ(r.code, 0) << r.out;
    std::ifstream in(page);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    EXPECT_NE(text.find("by the independent checker"), std::string::npos);
    EXPECT_NE(text.find("\"checked\":\"accepted\""), std::string::npos);
}

}  // namespace
}  // namespace saltus::certificate_test
