// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support.hpp"

namespace saltus::regulation_test {
namespace {

using Json = nlohmann::ordered_json;

using test::Outcome;

Outcome certify(const std::string& arguments) { return test::command("certify " + arguments); }

std::string shipped(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml "; }

TEST(RegulationCommand, GivesBothModelsOfContactInJson) {
    const test::Folder folder;
    const Outcome r =
        certify(shipped("single-link-arm") + "--set Kp=2 --set q0=0.4 --set k2=1e4 --json --out " + folder.file("run"));
    ASSERT_EQ(r.code, 0) << r.out;
    const Json j = Json::parse(r.out);
    EXPECT_EQ(j["theorem"], "regulation") << "the default for a closed loop";
    EXPECT_EQ(j["verdict"], "attractive");
    EXPECT_EQ(j["scope"], "global");
    EXPECT_EQ(j["grade"], "proved");
    EXPECT_NEAR(j["equilibrium"]["q"]["q"].get<double>(), 0.4, 1e-14);
    EXPECT_NEAR(j["equilibrium"]["forces"]["lower"]["N"].get<double>(), 0.8, 1e-13);
    EXPECT_NEAR(j["penalty"]["q"]["q"].get<double>(), 1e4 / (1e4 + 2.0) * 0.4, 1e-13);
    EXPECT_NEAR(j["penalty"]["forces"]["lower"]["N"].get<double>(), 2e4 / (1e4 + 2.0) * 0.4, 1e-11);
    EXPECT_EQ(j["penalty"]["scope"], "global");
    EXPECT_EQ(j["solutions"].size(), 2U);
    EXPECT_EQ(j["solutions"][1]["nonnegative"], false);
    for (const Json& row : j["conditions"])
        for (const char* const key : {"id", "text", "verdict", "evidence"})
            EXPECT_FALSE(row.at(key).get<std::string>().empty());
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"run", "run/certify.json", "run/contents.json"}));
    EXPECT_EQ(Json::parse(test::content_of(folder.path() / "run/certify.json")), j);
    EXPECT_EQ(certify(shipped("single-link-arm") + "--set Kp=2 --set q0=0.4 --set k2=1e4 --json --threads 2").out,
              r.out);
}

TEST(RegulationCommand, NamesTheRowThatFails) {
    const Json j = Json::parse(certify(shipped("decoupled-pair") + "--theorem regulation --json").out);
    EXPECT_EQ(j["verdict"], "inconclusive");
    for (const Json& row : j["conditions"]) {
        const std::string id = row["id"];
        EXPECT_EQ(row["verdict"] == "fails", id == "R6" || id == "R13") << id;
        EXPECT_EQ(row["witness"].is_null(), id != "R6" && id != "R13") << id;
    }
    const Json joined = Json::parse(certify(shipped("decoupled-pair") + "--theorem regulation --set ks=20 --json").out);
    EXPECT_EQ(joined["scope"], "global");
}

TEST(RegulationCommand, RefusesWhatMakesNoSense) {
    const Outcome none = certify(shipped("bouncing-ball") + "--theorem regulation");
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.out.find("add a [control]"), std::string::npos) << none.out;
    const Outcome typo = certify(shipped("single-link-arm") + "--theorem regulaton");
    EXPECT_EQ(typo.code, 2);
    EXPECT_NE(typo.out.find("did you mean 'regulation'"), std::string::npos) << typo.out;
    EXPECT_EQ(certify(shipped("single-link-arm") + "--theorem regulation --at phi=1").code, 2);
    EXPECT_EQ(certify(shipped("single-link-arm") + "--theorem regulation --budget 0").code, 2);
}

}  // namespace
}  // namespace saltus::regulation_test
