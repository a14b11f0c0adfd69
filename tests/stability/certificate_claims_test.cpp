// SPDX-License-Identifier: Apache-2.0
//
// The claims of certificate files. Whether they are true is decided by the independent checker (tests/cli); here it is
// tested that all conditions get claims where they should, and none where the statement is false.
#include "saltus/stability/certify/certificate_claims.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "physics/motion.hpp"
#include "saltus/control/regulation/regulation.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "support.hpp"

namespace saltus::stability::certificate_claims_test {
namespace {

using proof::CertifiedStatement;
using test::from_text;
using test::replaced;

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
    const CertifiedStatement s = certificate_claims(m, c);
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
    const CertifiedStatement s = certificate_claims(m, c, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_FALSE(condition(s, "2").certified);
    EXPECT_TRUE(condition(s, "2").claims.empty());
    EXPECT_TRUE(condition(s, "1").certified);
}

TEST(CertificateClaims, ALevelBelowTheEquilibriumSetIsNotCertified) {
    const model::Model m = shipped("constrained-beam");
    proof::Certificate c = certify_attractivity(m);
    c.rho_verified = 1.0;  // V on the equilibrium set reaches 1.65
    const CertifiedStatement s = certificate_claims(m, c, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_FALSE(condition(s, "8").certified);
    EXPECT_TRUE(condition(s, "2").certified);
}

TEST(CertificateClaims, AVerdictThatIsNotProvedHasNoClaims) {
    const model::Model m = shipped("falling-block");
    proof::Certificate c = certify_attractivity(m);
    c.grade = proof::Grade::numerical;
    const CertifiedStatement s = certificate_claims(m, c);
    EXPECT_FALSE(s.certified());
    for (const proof::CertifiedCondition& row : s.conditions) EXPECT_TRUE(row.claims.empty()) << row.id;
}

/// With e_N = 1 condition 6 of attractivity fails. The claims are those of stability, which does not need it.
TEST(CertificateClaims, ABlockThatBouncesForEverIsCertifiedAsStable) {
    model::BuildOptions build;
    build.set = {{"eN", "1"}, {"mu", "0"}};
    const model::Model m = shipped("falling-block", build);
    proof::Certificate c = certify_attractivity(m);
    ASSERT_EQ(c.outcome, proof::Outcome::stable);
    const CertifiedStatement s = certificate_claims(m, c);
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.verdict, "stable");
    EXPECT_TRUE(s.assumptions.empty());
    // The same claims do not show that it is attractive.
    c.outcome = proof::Outcome::attractive;
    c.rho_verified = 1.0;
    EXPECT_FALSE(condition(certificate_claims(m, c), "6").certified);
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

TEST(CertificateClaims, FeedbackIsCertifiedUnlessTheDescriptionHasAnObstacle) {
    const io::LoadedModel pair = io::load_model(std::string(SALTUS_SOURCE_DIR) + "/models/decoupled-pair.toml");
    EXPECT_EQ(certificate_obstacle(pair.file.description), "");
    const Equilibria found = equilibria(pair.model);
    EXPECT_TRUE(completeness_claims(pair.model, found).certified());
    ClaimOptions options;
    options.obstacle = "feedback with saturation is not certified";
    const CertifiedStatement s = completeness_claims(pair.model, found, options);
    EXPECT_FALSE(s.certified());
    EXPECT_EQ(condition(s, "complete").why, options.obstacle);
    // Saturation and observers are forces of the built model; only the description shows them.
    for (const char* const name : {"saturated-arm", "output-feedback-arm"})
        EXPECT_NE(certificate_obstacle(
                      io::load_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml").file.description),
                  "")
            << name;
}

/// The claim of this kind, or nullptr.
const proof::ClaimValue* claim(const proof::CertifiedCondition& c, const std::string& kind) {
    for (const proof::ClaimValue& value : c.claims)
        for (const auto& [key, part] : std::get<proof::ClaimValue::Record>(value.content()))
            if (key == "kind" && std::get<std::string>(part.content()) == kind) return &value;
    return nullptr;
}

CertifiedStatement claims_of_text(const std::string& text) {
    const model::Model m = from_text(text);
    return certificate_claims(m, certify(m, std::nullopt, {}));
}

TEST(CertificateClaims, APotentialThatIsNotStrictlyConvexIsClaimedByGrowthAndUniqueness) {
    const model::Model m = shipped("falling-block");
    proof::Certificate c = certify_attractivity(m);
    const CertifiedStatement s = certificate_claims(m, c);
    EXPECT_TRUE(s.certified());
    // U = k x²/2 + m g y is not strictly convex in y: the level set is bounded by the floor.
    EXPECT_EQ(claim(condition(s, "2"), "convex"), nullptr);
    EXPECT_NE(claim(condition(s, "2"), "unique"), nullptr);
    EXPECT_NE(claim(condition(s, "2"), "growth"), nullptr);
}

/// The quartic spring has one minimum, and its potential grows; it is not quadratic.
const std::string quartic = R"toml(
[system]
name = "quartic spring"
q = ["x"]
T = "1/2*x'^2"
U = "x^4/4 + x^2/2"
R = "1/2*x'^2"
[initial]
q = { x = 1.0 }
)toml";

TEST(CertificateClaims, GrowthAndUniquenessOfAQuarticSpringAreClaimed) {
    const CertifiedStatement s = claims_of_text(quartic);
    EXPECT_TRUE(s.certified()) << condition(s, "2").why;
    EXPECT_NE(claim(condition(s, "2"), "growth"), nullptr);
    EXPECT_NE(claim(condition(s, "2"), "unique"), nullptr);
}

/// The claims of a model with another potential, for the certificate of the quartic spring with a forged level.
CertifiedStatement claims_with_potential(const std::string& U, double level) {
    proof::Certificate c = certify_attractivity(from_text(quartic));
    c.rho_verified = level;
    return certificate_claims(from_text(replaced(quartic, "x^4/4 + x^2/2", U)), c, few_leaves());
}

TEST(CertificateClaims, APotentialThatDoesNotGrowHasNoClaimForAllLevels) {
    const CertifiedStatement s = claims_with_potential("x^2/(1 + x^2)", std::numeric_limits<double>::infinity());
    EXPECT_FALSE(condition(s, "2").certified);
    EXPECT_TRUE(condition(s, "4").certified);
}

/// U = x⁴/4 − x²/2 has minima at ±1 and a maximum of 0 between them.
TEST(CertificateClaims, TwoMinimaAreNotClaimedToBeOne) {
    const CertifiedStatement s = claims_with_potential("x^4/4 - x^2/2", 1.0);
    EXPECT_FALSE(condition(s, "2").certified);
    EXPECT_TRUE(condition(s, "4").certified);
}

// --- instability ----------------------------------------------------------------------------------------------------

const std::string inverted_pendulum = R"toml(
[system]
name = "inverted pendulum"
q = ["phi"]
T = "1/2*phi'^2"
U = "cos(phi)"
R = "1/10*phi'^2"
)toml";

TEST(CertificateClaims, InstabilityOfADampedInvertedPendulumIsCertified) {
    const CertifiedStatement s = claims_of_text(inverted_pendulum);
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.theorem, "one mode");
    EXPECT_TRUE(s.assumptions.empty());
    EXPECT_NE(claim(condition(s, "4"), "grows"), nullptr);
}

/// The verdict is forged: the hanging pendulum is stable.
TEST(CertificateClaims, InstabilityOfAHangingPendulumIsNotClaimed) {
    const std::string text = replaced(inverted_pendulum, "cos(phi)", "-cos(phi)");
    const model::Model m = from_text(text);
    proof::Certificate c = certify(m, proof::Theorem::instability, {});
    c.outcome = proof::Outcome::unstable;
    c.grade = proof::Grade::proved;
    c.q = {0.0};
    const CertifiedStatement s = certificate_claims(m, c, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_EQ(condition(s, "5").why, "the stationary point was not found again");
}

/// Without damping the pendulum may return to the upper position without loss, so that Theorem 2 does not apply. That
/// motions leave it is certified nevertheless, by the linearised motion.
TEST(CertificateClaims, InstabilityWithoutDampingIsCertifiedByOneMode) {
    const std::string text = replaced(inverted_pendulum, "R = \"1/10*phi'^2\"\n", "");
    const model::Model m = from_text(text);
    proof::Certificate c = certify(m, proof::Theorem::instability, {});
    c.outcome = proof::Outcome::unstable;
    c.grade = proof::Grade::proved;
    const CertifiedStatement s = certificate_claims(m, c, few_leaves());
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.theorem, "one mode");
}

TEST(CertificateClaims, InstabilityOfTheUprightBeamRestsOnTheAssumptionAboutLimitSets) {
    const model::Model m = shipped("constrained-beam");
    const proof::Certificate c = certify(m, proof::Theorem::instability, {});
    ASSERT_EQ(c.outcome, proof::Outcome::unstable);
    EXPECT_EQ(c.assumptions.size(), 1U);
    const CertifiedStatement s = certificate_claims(m, c);
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.assumptions.size(), 1U);
    EXPECT_EQ(condition(s, "10").verdict, proof::Verdict::assumed);
}

// --- linear systems -------------------------------------------------------------------------------------------------

/// Two masses on springs; the first is on a rough surface.
const std::string chain = R"toml(
[system]
name = "chain"
q = ["x", "y"]
T = "1/2*x'^2 + 1/2*y'^2"
U = "1/2*x^2 + 1/2*(x - y)^2"
R = "1/4*y'^2"
[[slider]]
name = "ground"
gammaT = "x'"
mu = 0.5
FN = 2.0
)toml";

/// A block on a belt of speed 0.2: friction 1/(1 + delta s) at the sliding speed s. Steady sliding attracts if
/// c > delta/(1 + 0.2 delta)² = 1.171875 for delta = 3.
const std::string belt = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "c/2*x'^2"
[parameters]
c = 0.0
delta = 3.0
[[slider]]
name = "belt"
gammaT = "x' - 0.2"
mu = 1.0
FN = "1/(1 + delta*abs(x' - 0.2))"
)toml";

TEST(CertificateClaims, UnstableSteadySlidingIsCertifiedInOneModeAndAttractiveSlidingWithALevel) {
    for (const double c : {0.0, 1.1, 1.25, 1.4}) {
        const model::Model m = from_text(belt, {{"c", c}});
        const CertifiedStatement s = certificate_claims(m, certify(m));
        EXPECT_TRUE(s.certified()) << c;
        EXPECT_EQ(s.verdict, c < 1.171875 ? "unstable" : "attractive");
        if (c < 1.171875) {
            EXPECT_EQ(s.theorem, "one mode");
            ASSERT_EQ(s.mode.size(), 1U);
            EXPECT_EQ(s.mode[0].second, "backwards");
            EXPECT_TRUE(s.assumptions.empty());
        } else {
            // The resistance of friction that weakens rises with the speed only below a speed, which limits the level.
            EXPECT_EQ(s.theorem, "attractivity");
            ASSERT_EQ(s.sliding.size(), 1U);
            EXPECT_EQ(s.sliding[0].second, "backwards");
            EXPECT_GT(s.level, 0.0);
            EXPECT_LT(s.level, 0.1);
        }
    }
}

TEST(CertificateClaims, AVerdictOfSteadySlidingThatIsFalseIsNotClaimed) {
    const model::Model m = from_text(belt, {{"c", 1.4}});
    proof::Certificate c = certify(m);
    ASSERT_EQ(c.outcome, proof::Outcome::attractive);
    c.outcome = proof::Outcome::unstable;
    EXPECT_FALSE(certificate_claims(m, c).certified());
    const model::Model moving = from_text(belt);
    proof::Certificate grows = certify(moving);
    ASSERT_EQ(grows.outcome, proof::Outcome::unstable);
    grows.outcome = proof::Outcome::attractive;
    EXPECT_FALSE(certificate_claims(moving, grows).certified());
}

TEST(CertificateClaims, ABarThatStandsOnOneEndIsCertifiedAsUnstable) {
    // With k = 10 the end sticks, with k = 200 it slips.
    for (const double k : {10.0, 200.0}) {
        model::BuildOptions build;
        build.set.emplace_back("k", std::to_string(k));
        const model::Model m = shipped("rocking-bar", build);
        CertifyOptions options;
        options.at = {0.0, 0.5, 1.5708};
        const proof::Certificate c = certify(m, Theorem::instability, options);
        const CertifiedStatement s = certificate_claims(m, c);
        EXPECT_TRUE(s.certified()) << k;
        ASSERT_EQ(s.mode.size(), 1U);
        EXPECT_EQ(s.mode[0].first, "left");
        EXPECT_EQ(s.mode[0].second == "sticks", k < 100.0);
    }
}

TEST(CertificateClaims, EnergiesAndFunctionsOfTheUserAreCertified) {
    const model::Model m = from_text(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
f = { x = "-2*x - x'/5" }
)toml");
    const auto statement = [&](const std::string& V) {
        CertifyOptions options;
        options.V = V;
        ClaimOptions claims;
        claims.V = V;
        const proof::Certificate c = certify(m, Theorem::attractivity, options);
        EXPECT_EQ(c.grade, proof::Grade::proved) << V;
        return certificate_claims(m, c, claims);
    };
    const CertifiedStatement s = statement("3*T + 3*x^2");
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.V, "3*T + 3*x^2");
    EXPECT_EQ(s.factor, 3.0);
    const CertifiedStatement other = statement("T + x^2 + x*x'/20");
    EXPECT_TRUE(other.certified());
    EXPECT_EQ(other.theorem, "function");
    EXPECT_EQ(other.point, std::vector<double>{0.0});
    EXPECT_NE(claim(condition(other, "3"), "decrease"), nullptr);
    // V = T + x² − x x'/20 grows for x' = 0.
    CertifyOptions options;
    options.V = "T + x^2 - x*x'/20";
    proof::Certificate grows = certify(m, Theorem::attractivity, options);
    EXPECT_NE(grows.outcome, proof::Outcome::attractive);
    grows.outcome = proof::Outcome::attractive;
    grows.grade = proof::Grade::proved;
    ClaimOptions claims = few_leaves();
    claims.V = options.V;
    EXPECT_FALSE(certificate_claims(m, grows, claims).certified());
}

/// Forces of two velocities have no claims: the rows that need them are numerical, and with them the certificate.
TEST(CertificateClaims, ProvedRowsWithoutClaimsAreGradedNumerical) {
    const model::Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "x^2 + y^2"
f = { x = "-abs(x' - y')*(x' - y') - x'", y = "abs(x' - y')*(x' - y') - y'" }
)toml");
    proof::Certificate c = certify_attractivity(m);
    ASSERT_EQ(c.grade, proof::Grade::proved);
    const CertifiedStatement s = grade_by_claims(m, c, few_leaves());
    EXPECT_FALSE(s.certified());
    EXPECT_EQ(c.outcome, proof::Outcome::attractive);
    EXPECT_EQ(c.grade, proof::Grade::numerical);
    EXPECT_EQ(c.find("2")->verdict, proof::Verdict::proved);
    EXPECT_EQ(c.find("3")->verdict, proof::Verdict::numerical);
    EXPECT_NE(c.find("3")->evidence.find("by intervals of this program alone"), std::string::npos);
}

TEST(CertificateClaims, DragIsCertifiedAsAFunctionOfTheSpeed) {
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2 + x^4"
f = { x = "-0.3*abs(x')*x'" }
)toml";
    const model::Model m = from_text(text);
    const CertifiedStatement s = certificate_claims(m, certify_attractivity(m));
    EXPECT_TRUE(s.certified());
    // A force of two velocities has no claims.
    const model::Model pair = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "x^2 + y^2"
f = { x = "-abs(x' - y')*(x' - y') - x'", y = "abs(x' - y')*(x' - y') - y'" }
)toml");
    EXPECT_FALSE(certificate_claims(pair, certify_attractivity(pair), few_leaves()).certified());
}

TEST(CertificateClaims, ALinearSystemWithFrictionAndDampingIsCertifiedByRank) {
    const CertifiedStatement s = claims_of_text(chain);
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.theorem, "attractivity");
    EXPECT_EQ(s.level, std::numeric_limits<double>::infinity());
    EXPECT_NE(claim(condition(s, "4"), "losses"), nullptr);
    EXPECT_TRUE(s.assumptions.empty());
}

/// The first mass sticks and the second one swings for ever.
TEST(CertificateClaims, AMassThatSwingsWithoutLossIsNotCertified) {
    const std::string text = replaced(chain, "R = \"1/4*y'^2\"\n", "");
    const model::Model m = from_text(text);
    proof::Certificate c = certify(m, proof::Theorem::attractivity, {});
    EXPECT_NE(c.outcome, proof::Outcome::attractive);
    c.outcome = proof::Outcome::attractive;
    c.grade = proof::Grade::proved;
    c.rho_verified = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(certificate_claims(m, c, few_leaves()).certified());
}

TEST(CertificateClaims, ModesThatDampingSeesAreCertifiedByObservability) {
    std::string text = chain;
    text.erase(text.find("[[slider]]"));
    const CertifiedStatement s = claims_of_text(text);
    EXPECT_TRUE(s.certified());
    EXPECT_NE(claim(condition(s, "4"), "observable"), nullptr);
}

TEST(CertificateClaims, FrictionAgainstNegativeDampingIsCertifiedBelowALevel) {
    const model::Model m = from_text(R"toml(
[system]
name = "negative damping"
q = ["x"]
T = "1/2*x'^2"
U = "2*x^2"
R = "-1/4*x'^2"
[[slider]]
name = "ground"
gammaT = "x'"
mu = 0.5
FN = 10.0
)toml");
    const proof::Certificate c = certify(m, std::nullopt, {});
    ASSERT_EQ(c.outcome, proof::Outcome::attractive);
    const CertifiedStatement s = certificate_claims(m, c);
    EXPECT_TRUE(s.certified());
    EXPECT_NE(claim(condition(s, "3"), "friction"), nullptr);
    EXPECT_NE(claim(condition(s, "4"), "friction"), nullptr);
    EXPECT_LT(s.level, c.rho_verified);
    EXPECT_GT(s.level, 3.125);  // the largest energy of an equilibrium, (μ FN)²/(2k)
}

TEST(CertificateClaims, NegativeStiffnessIsCertifiedAsUnstable) {
    const std::string text = replaced(chain, "1/2*x^2 +", "-2*x^2 +");
    const CertifiedStatement s = claims_of_text(text);
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.verdict, "unstable");
    EXPECT_EQ(s.theorem, "linear");
    EXPECT_NE(claim(condition(s, "5"), "linear saddle"), nullptr);
}

// --- regulation -----------------------------------------------------------------------------------------------------

TEST(CertificateClaims, RegulationOfTheUnderActuatedPairIsCertifiedByObservability) {
    const model::Model m = shipped("two-link-underactuated");
    const CertifiedStatement s = certificate_claims(m, control::certify_regulation(m).table);
    EXPECT_TRUE(s.certified());
    EXPECT_EQ(s.theorem, "regulation");
    EXPECT_NE(claim(condition(s, "3"), "convex"), nullptr);
    EXPECT_NE(claim(condition(s, "R6"), "observable"), nullptr);
    EXPECT_EQ(s.assumptions.size(), 1U);
}

/// The second mass of the decoupled pair swings where the feedback does not see it.
TEST(CertificateClaims, RegulationOfADecoupledPairIsNotClaimed) {
    const model::Model m = shipped("decoupled-pair");
    proof::Certificate c = control::certify_regulation(m).table;
    EXPECT_NE(c.outcome, proof::Outcome::attractive);
    c.outcome = proof::Outcome::attractive;
    c.grade = proof::Grade::proved;
    c.rho_verified = std::numeric_limits<double>::infinity();
    const CertifiedStatement s = certificate_claims(m, c, few_leaves());
    EXPECT_FALSE(condition(s, "R6").certified);
}

}  // namespace
}  // namespace saltus::stability::certificate_claims_test
