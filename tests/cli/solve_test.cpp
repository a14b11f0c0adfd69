// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "process.hpp"

namespace saltus::solve_test {
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
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
    ASSERT_EQ(j.size(), 2U);
    EXPECT_EQ(j[0]["kind"], "fc");
    EXPECT_EQ(j[0]["contacts"], 1);
    EXPECT_EQ(j[0]["status"], "converged");
    EXPECT_LE(j[0]["residual"].get<double>(), 1e-8);
    EXPECT_EQ(j[1]["kind"], "lcp");
    for (const char* key : {"file", "method", "iterations", "seconds"}) EXPECT_TRUE(j[1].contains(key)) << key;
}

/// The law of Coulomb friction for one spatial contact, checked without any code of the solvers: v = W r + q, the
/// reaction lies in its cone, the contact is closed or carries nothing, and slip is opposed by the largest friction.
void expect_coulomb(const double (&W)[3][3], const double (&q)[3], double mu, const std::vector<double>& r,
                    const std::vector<double>& v) {
    ASSERT_EQ(r.size(), 3U);
    ASSERT_EQ(v.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(v[i], W[i][0] * r[0] + W[i][1] * r[1] + W[i][2] * r[2] + q[i], 1e-9);
    const double friction = std::hypot(r[1], r[2]), slip = std::hypot(v[1], v[2]);
    EXPECT_GE(r[0], 0.0);
    EXPECT_GE(v[0], -1e-9);
    EXPECT_NEAR(r[0] * v[0], 0.0, 1e-9);
    EXPECT_LE(friction, mu * r[0] + 1e-9);
    EXPECT_NEAR(r[1] * v[1] + r[2] * v[2], -mu * r[0] * slip, 1e-9) << "slip takes out the largest power";
}

TEST_F(Solve, ReturnsReactionsAndVelocitiesThatOthersCanCheck) {
    const double W[3][3] = {{15, -1, -2}, {-1, 14, 1}, {-2, 1, 16}}, q[3] = {-1, 2, 3};
    const std::string out = (folder_.path() / "out").string();
    for (const char* const mu : {"0.1", "0.4", "3"}) {
        const std::string path =
            file("a.dat", std::string("3 1 0 3 3 3 3  15 -1 -2  -1 14 1  -2 1 16  -1 2 3 ") + mu + "\n");
        const Outcome r = run("solve " + path + " --json --tolerance 1e-12 --out " + out);
        ASSERT_EQ(r.code, 0);
        const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out)[0];
        expect_coulomb(W, q, std::stod(mu), j["r"].get<std::vector<double>>(), j["v"].get<std::vector<double>>());
        std::ifstream written(out + "/solve.json");
        EXPECT_EQ(nlohmann::ordered_json::parse(written)[0]["r"], j["r"]);
    }
}

TEST_F(Solve, ReturnsBothSidesOfAComplementarityProblem) {
    const nlohmann::ordered_json j =
        nlohmann::ordered_json::parse(run("solve " + file("b.dat", lcp) + " --json").out)[0];
    const auto z = j["z"].get<std::vector<double>>(), w = j["w"].get<std::vector<double>>();
    ASSERT_EQ(z.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {  // M = [2 1; 1 2], q = (-1, -1)
        EXPECT_NEAR(w[i], z[0] + z[1] + z[i] - 1.0, 1e-12);
        EXPECT_GE(z[i], 0.0);
        EXPECT_GE(w[i], -1e-12);
        EXPECT_NEAR(z[i] * w[i], 0.0, 1e-12);
    }
}

TEST_F(Solve, FindsTheEmptySolutionOfAProblemWithoutContacts) {
    const std::string none = file("none.dat", "3 0  0 2 2 2 2 1 0 0 1  0 2 0 2 0  0.5 -1\n");
    const Outcome r = run("solve --kind gfc --all --json " + none);
    ASSERT_EQ(r.code, 0) << r.err;
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out)[0];
    EXPECT_EQ(j["status"], "converged");
    EXPECT_TRUE(j["r"].empty());
    EXPECT_TRUE(j["solutions"]["complete"]);
    EXPECT_EQ(j["solutions"]["r"].size(), 1U);
}

// The numbers of W differ by 300 orders of magnitude, so that one contact cannot be solved alone: sweeps change
// nothing.
TEST_F(Solve, EndsIfSweepsChangeNothing) {
    const std::string path = file("hard.dat",
                                  "5 1 0 5 5 5 5  1 0 0 0 0  0 1e-320 0 0 -0.1  0 0 1.01 0.0774 0 "
                                  "-2147483648 0 0.0774 1 0  0 -0.1 0 0 1  -8.92357 0.19 0 0 -1  0.6  0.5\n");
    const Outcome r = run("solve --method gauss-seidel --json " + path + " --kind rfc");
    EXPECT_TRUE(r.code == 0 || r.code == 3) << r.code;
    EXPECT_LT(nlohmann::ordered_json::parse(r.out)[0]["iterations"].get<int>(), 2000);
}

TEST_F(Solve, SolvesTheOthersBesideABadFile) {
    const Outcome r =
        run("solve " + file("bad.dat", "3 1 0 3 3 3 3 15 -1") + " " + file("b.dat", lcp) + " --json 2>/dev/null");
    EXPECT_EQ(r.code, 2);
    EXPECT_EQ(nlohmann::ordered_json::parse(r.out).size(), 1U);
}

TEST_F(Solve, CallsAProblemWithoutSolutionInfeasibleWithItsCertificate) {
    const Outcome r = run("solve " + file("a.dat", hopeless) + " --json");
    EXPECT_EQ(r.code, 0);
    const nlohmann::ordered_json j = nlohmann::ordered_json::parse(r.out);
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
        const nlohmann::ordered_json j = nlohmann::ordered_json::parse(
            run("solve " + file("a.dat", contact) + " --json --tolerance 1e-12 --method " + method).out);
        EXPECT_EQ(j[0]["status"], "converged") << method;
        EXPECT_LE(j[0]["residual"].get<double>(), 1e-12) << method;
    }
}

}  // namespace
}  // namespace saltus::solve_test
