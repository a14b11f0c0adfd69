// SPDX-License-Identifier: Apache-2.0
//
// The claims of certificate files. Whether they are true is decided by the independent checker (tests/cli); here it is
// tested that all conditions get claims where they should, and none where the statement is false.
#include "saltus/stability/certify/claims.hpp"

#include <gtest/gtest.h>

#include "saltus/io/model/load_model.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability::claims_test {
namespace {

using proof::CertifiedStatement;

model::Model shipped(const std::string& name, const model::BuildOptions& build = {}) {
    return io::load_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml", build).model;
}

const proof::CertifiedCondition& condition(const CertifiedStatement& s, const std::string& id) {
    for (const proof::CertifiedCondition& c : s.conditions)
        if (c.id == id) return c;
    ADD_FAILURE() << "no condition " << id;
    return s.conditions.front();
}

ClaimOptions few_leaves() {
    ClaimOptions options;
    options.budget = 500;
    return options;
}

TEST(CertificateClaims, AllConditionsOfTheRockingBarAreCertifiedJustBelowItsLevel) {
    const model::Model m = shipped("rocking-bar");
    const proof::Certificate c = certify_attractivity(m);
    const CertifiedStatement s = attractivity_claims(m, c);
    EXPECT_TRUE(s.certified());
    EXPECT_LT(s.level, c.rho_verified);
    EXPECT_GT(s.level, 0.98 * c.rho_verified);
    EXPECT_EQ(s.I_C, (std::vector<std::string>{"left", "right"}));
}

/// The level is raised above the energy of the beam that stands upright, which is a second stationary point on the
/// boundary of the domain.
TEST(CertificateClaims, AFalseLevelIsNotCertified) {
    const model::Model m = shipped("constrained-beam");
    proof::Certificate c = certify_attractivity(m);
    c.rho_verified = 20.5;  // 2 m g l = 20
    const CertifiedStatement s = attractivity_claims(m, c, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_FALSE(condition(s, "2").certified);
    EXPECT_TRUE(condition(s, "2").claims.empty());
    EXPECT_TRUE(condition(s, "1").certified);
}

TEST(CertificateClaims, ALevelBelowTheEquilibriumSetIsNotCertified) {
    const model::Model m = shipped("constrained-beam");
    proof::Certificate c = certify_attractivity(m);
    c.rho_verified = 1.0;  // V on the equilibrium set reaches 1.65
    const CertifiedStatement s = attractivity_claims(m, c, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_FALSE(condition(s, "8").certified);
    EXPECT_TRUE(condition(s, "2").certified);
}

TEST(CertificateClaims, AVerdictThatIsNotProvedHasNoClaims) {
    model::BuildOptions build;
    build.set = {{"eN", "1"}};  // condition 6 fails
    const model::Model m = shipped("falling-block", build);
    const CertifiedStatement s = attractivity_claims(m, certify_attractivity(m));
    EXPECT_FALSE(s.certified());
    for (const proof::CertifiedCondition& c : s.conditions) EXPECT_TRUE(c.claims.empty()) << c.id;
}

TEST(CertificateClaims, ACompleteSearchIsCertifiedWithBoxesAroundItsSets) {
    const model::Model m = shipped("falling-block");
    const Equilibria found = equilibria(m);
    const CertifiedStatement s = completeness_claims(m, found);
    EXPECT_TRUE(s.certified());
    ASSERT_EQ(s.sets->size(), 1U);
    EXPECT_LT((*s.sets)[0][0].lo, -0.2943);
    EXPECT_GT((*s.sets)[0][0].lo, -0.32);
}

TEST(CertificateClaims, AListWithAMissingSetIsNotCertified) {
    const model::Model m = shipped("constrained-beam");
    Equilibria found = equilibria(m);
    ASSERT_EQ(found.sets.size(), 2U);
    found.sets.pop_back();
    const CertifiedStatement s = completeness_claims(m, found, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_FALSE(condition(s, "complete").certified);
}

TEST(CertificateClaims, FeedbackIsNotCertified) {
    const model::Model m = shipped("decoupled-pair");
    const CertifiedStatement s = completeness_claims(m, equilibria(m));
    EXPECT_FALSE(s.certified());
    EXPECT_EQ(condition(s, "complete").why, "feedback is not certified");
}

}  // namespace
}  // namespace saltus::stability::claims_test
