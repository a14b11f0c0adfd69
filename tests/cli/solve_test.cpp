// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "process.hpp"

namespace saltus {
namespace {

const char* const contact = "3 1 0 3 3 3 3  15 -1 -2  -1 14 1  -2 1 16  -1 2 3  0.1\n";
const char* const lcp = "2 0 2 2 2 2  2 1 1 2  -1 -1\n";
const char* const hopeless = "1 0 1 1 1 1  -1  -1\n";

using test::Outcome;

/// `saltus ARGUMENTS`; redirections are part of the arguments.
Outcome run(const std::string& arguments) { return test::shell(std::string(SALTUS_EXE) + " " + arguments); }

class Solve : public testing::Test {
protected:
    std::string file(const std::string& name, const std::string& content) {
        const std::string path = (folder_.path() / name).string();
        std::ofstream(path) << content;
        return path;
    }
    test::Folder folder_;
};

TEST_F(Solve, GivesOneObjectAFile) {
    const Outcome r = run("solve " + file("a.dat", contact) + " " + file("b.dat", lcp) + " --json");
    EXPECT_EQ(r.code, 0);
    const nlohmann::json j = nlohmann::json::parse(r.out);
    ASSERT_EQ(j.size(), 2U);
    EXPECT_EQ(j[0]["kind"], "fc");
    EXPECT_EQ(j[0]["contacts"], 1);
    EXPECT_EQ(j[0]["status"], "converged");
    EXPECT_LE(j[0]["residual"].get<double>(), 1e-8);
    EXPECT_EQ(j[1]["kind"], "lcp");
    for (const char* key : {"file", "method", "iterations", "seconds"}) EXPECT_TRUE(j[1].contains(key)) << key;
}

TEST_F(Solve, SolvesTheOthersBesideABadFile) {
    const Outcome r =
        run("solve " + file("bad.dat", "3 1 0 3 3 3 3 15 -1") + " " + file("b.dat", lcp) + " --json 2>/dev/null");
    EXPECT_EQ(r.code, 2);
    EXPECT_EQ(nlohmann::json::parse(r.out).size(), 1U);
}

TEST_F(Solve, CallsAProblemWithoutSolutionInfeasibleWithItsCertificate) {
    const Outcome r = run("solve " + file("a.dat", hopeless) + " --json");
    EXPECT_EQ(r.code, 0);
    const nlohmann::json j = nlohmann::json::parse(r.out);
    EXPECT_EQ(j[0]["status"], "infeasible");
    EXPECT_EQ(j[0]["certificate"].size(), 1U);
}

TEST_F(Solve, SaysWhatIsWrongAndWhere) {
    const std::string path = file("a.dat", "3 1 0 3 3 3 3  15 -1 -2  -1 14 1  -2 1 16  -1 2 3  -0.1\n");
    const Outcome r = run("solve " + path + " 2>&1 >/dev/null");
    EXPECT_EQ(r.code, 2);
    EXPECT_EQ(r.out.substr(0, r.out.find('\n')).rfind("saltus: error: " + path + ":1:", 0), 0U) << r.out;
    EXPECT_EQ(run("solve " + path + " --kind fcc 2>/dev/null").code, 2);
    EXPECT_EQ(run("solve " + file("b.dat", lcp) + " --method newton 2>/dev/null").code, 2);
    EXPECT_EQ(run("solve " + file("b.dat", lcp) + " --tolerance 0 2>/dev/null").code, 2);
    EXPECT_EQ(run("solve 2>/dev/null").code, 2);
}

TEST_F(Solve, TakesTheMethodAndTheTolerance) {
    for (const char* method : {"automatic", "gauss-seidel", "newton", "proximal"}) {
        const nlohmann::json j = nlohmann::json::parse(
            run("solve " + file("a.dat", contact) + " --json --tolerance 1e-12 --method " + method).out);
        EXPECT_EQ(j[0]["status"], "converged") << method;
        EXPECT_LE(j[0]["residual"].get<double>(), 1e-12) << method;
    }
}

}  // namespace
}  // namespace saltus
