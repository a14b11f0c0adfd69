// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "sensitivity/derivatives.hpp"
#include "support.hpp"

namespace saltus::differences_test {
namespace {

using namespace saltus::test;

/// Every derivative that exists against differences of whole motions; names of variables that have none.
std::vector<std::string> compared(const model::Description& description, std::vector<std::string> wrt, double t_end,
                                  const integrate::Method& method = EventDriven{}, double allowed = 1e-6) {
    const Model m = built(description);
    sensitivity::Options options;
    options.t_end = t_end;
    options.method = method;
    const Sensitivity s = sensitivity::sensitivity(
        m, wrt.empty() ? sensitivity::all_variables(m) : sensitivity::variables(m, wrt), options);
    EXPECT_TRUE(s.available) << m.name << ": " << s.reason;
    EXPECT_FALSE(s.motion.events.empty()) << m.name;
    const Differences d = sensitivity::differences(description, {}, s, options);
    std::vector<std::string> none;
    std::size_t agreeing = 0;
    for (std::size_t j = 0; j < s.with_respect_to.size(); ++j) {
        const auto& v = d.variables[j];
        if (s.final.col(static_cast<Eigen::Index>(j)).hasNaN()) none.push_back(s.with_respect_to[j].name);
        if (!v.possible) continue;
        EXPECT_LE(v.error, allowed) << m.name << ", " << s.with_respect_to[j].name << ", step " << v.step << ", own "
                                    << v.uncertainty << story(s.motion) << remarks(s);
        ++agreeing;
    }
    EXPECT_GT(agreeing, 0U) << m.name << remarks(s);
    return none;
}

std::vector<std::string> shipped_compared(const std::string& name, double t_end,
                                          const std::vector<std::string>& wrt = {}) {
    return compared(description_of(name), wrt, t_end);
}

using Names = std::vector<std::string>;

TEST(Differences, ShippedModelsWithImpacts) {
    EXPECT_TRUE(shipped_compared("ball-on-moving-plane", 2.0).empty());
    EXPECT_TRUE(shipped_compared("bouncing-ball", 5.0).empty());
    EXPECT_TRUE(shipped_compared("falling-block", 5.0).empty());
    EXPECT_TRUE(shipped_compared("super-ball", 0.5).empty());
    EXPECT_TRUE(shipped_compared("single-link-arm", 2.0).empty());
    EXPECT_TRUE(shipped_compared("two-link-underactuated", 12.0).empty());
    EXPECT_TRUE(shipped_compared("impact-oscillator", 8.0).empty());
}

TEST(Differences, ShippedModelsWithSimultaneousImpacts) {
    EXPECT_EQ(shipped_compared("newtons-cradle", 1.0),
              (Names{"x2", "x2'", "x3", "x3'", "x4", "x4'", "x5", "x5'", "s"}));
    EXPECT_TRUE(shipped_compared("forklift", 1.0).empty());
    EXPECT_TRUE(shipped_compared("mass-and-lift", 1.0).empty());
    EXPECT_EQ(shipped_compared("moving-wall", 1.0), (Names{"e"}));
}

TEST(Differences, ShippedModelsWithStickAndSlip) {
    EXPECT_TRUE(shipped_compared("friction-oscillator", 50.0).empty());
    EXPECT_TRUE(shipped_compared("rocking-bar", 3.0).empty());
    EXPECT_TRUE(shipped_compared("rocking-block", 3.0).empty());
    EXPECT_TRUE(shipped_compared("rough-double-pendulum", 0.2).empty());
    EXPECT_EQ(shipped_compared("woodpecker", 0.3, {"phiM", "y", "phiS'", "mM", "cphi", "g", "rO", "mu", "eN1"}),
              (Names{"phiM"}));
    shipped_compared("slider-crank", 0.03, {"theta1", "theta2'", "l2", "m3", "c", "g", "mu", "omega0"});
}

TEST(Differences, ShippedModelsWithConstraintsAndSpatialFriction) {
    EXPECT_EQ(shipped_compared("constrained-beam", 10.0), (Names{"x", "x'", "y", "y'", "theta", "theta'"}));
    EXPECT_TRUE(
        shipped_compared("sphere-on-plane", 1.0, {"x'", "z", "alpha", "alpha'", "beta'", "m", "r", "g", "mu"}).empty());
}

/// A block thrown onto a floor, tumbling, with all laws of impact.
const std::string tumbling = R"toml(
[system]
name = "tumbling bar"
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
U = "m*g*y"
[parameters]
m = 1.0
J = 0.1
g = 9.81
mu = 0.3
e = 0.6
l = 0.5
d = 0.01
[[contact]]
name = "left"
gN = "y - l*sin(phi) - d*sin(3*t)"
gammaT = "x' + l*phi'*sin(phi)"
mu = "mu"
eN = "e"
eT = 0.1
LAW
[[contact]]
name = "right"
gN = "y + l*sin(phi) - d*sin(3*t)"
gammaT = "x' - l*phi'*sin(phi)"
mu = "mu"
eN = "e"
eT = 0.1
LAW
[initial]
q = { x = 0.0, y = 1.0, phi = 0.3 }
u = { x = 1.0, y = 0.0, phi = 1.0 }
)toml";

model::Description with_law(const std::string& law, const std::string& more = "") {
    std::string text = tumbling + more;
    for (std::size_t at; (at = text.find("LAW")) != std::string::npos;) text.replace(at, 3, law);
    return io::parse_model(text, "test");
}

TEST(Differences, AllImpactLawsWithFrictionAndAMovingFloor) {
    EXPECT_TRUE(compared(with_law(""), {}, 1.0).empty());
    EXPECT_TRUE(compared(with_law("impact = \"poisson\""), {}, 1.0).empty());
}

TEST(Differences, TheEnergyLawAndRestitutionThatFollowsTheSpeed) {
    const std::string text = R"toml(
[system]
name = "energy"
q = ["y", "z"]
T = "m/2*y'^2 + n/2*z'^2"
U = "m*g*y + n*g*z + k/2*(z - y - 1)^2"
[parameters]
m = 1.0
n = 0.3
k = 50.0
g = 9.81
c = 0.05
e = 0.95
[[contact]]
name = "floor"
gN = "y"
impact = "energy"
LAW
[initial]
q = { y = 0.5, z = 1.5 }
)toml";
    for (const std::string law : {"eN = \"e\"", "c = \"c\""}) {
        const model::Description d = io::parse_model(replaced(text, "LAW", law), "test");
        EXPECT_TRUE(compared(d, {}, 1.0).empty()) << law;
    }
}

TEST(Differences, PenaltyWithDampingAndFriction) {
    const model::Description d = with_law("", "[penalty]\nk = 2e3\nd = 5.0\n");
    EXPECT_TRUE(compared(d, {}, 1.0, Penalty{}).empty());
}

TEST(Differences, OrthotropicContensouAndRollingFriction) {
    const std::string head = R"toml(
[system]
name = "slides"
q = ["x", "y", "z", "a", "b", "c"]
T = "m/2*(x'^2 + y'^2 + z'^2) + J/2*(a'^2 + b'^2 + c'^2)"
U = "m*g*z"
[parameters]
m = 1.0
J = 0.2
g = 9.81
mu = 0.3
nu = 0.2
R = 0.1
S = 0.05
[[contact]]
name = "plane"
gN = "z"
eN = 0.4
)toml";
    const std::string tail = R"toml(
[initial]
q = { z = 0.1 }
u = { x = 1.0, y = 0.6, a = 0.5, b = 0.7, c = 2.0 }
)toml";
    const auto of = [&](const std::string& law) { return io::parse_model(head + law + tail, "test"); };
    const Names wrt{"x'", "y'", "z", "c'", "m", "J", "g", "mu"};
    const auto with = [&](Names more) {
        more.insert(more.end(), wrt.begin(), wrt.end());
        return more;
    };
    EXPECT_TRUE(compared(of("gammaT = [\"x'\", \"y'\"]\nmu = [\"mu\", \"nu\"]\n"), with({"nu"}), 0.3).empty());
    EXPECT_TRUE(
        compared(of("gammaT = [\"x'\", \"y'\", \"c'\"]\nmu = \"mu\"\nfriction = \"contensou\"\nradius = \"R\"\n"),
                 with({"R"}), 0.3, EventDriven{}, 1e-5)
            .empty());
    EXPECT_TRUE(compared(of("gammaT = [\"x'\", \"y'\", \"c'\", \"a'\", \"b'\"]\nmu = \"mu\"\nfriction = \"rolling\"\n"
                            "radii = [\"R\", \"S\"]\n"),
                         with({"R", "S"}), 0.3)
                    .empty());
}

/// Slip and spin of a round patch come to rest together. Implicit steps take over 5e-11 s before, where the direction
/// of slip consists of rounding errors. The time of the rest had the derivative 0.0132 by x instead of 0.1458.
TEST(Differences, TheTimeAtWhichAPatchComesToRestAfterImplicitStepsTakeOver) {
    const std::string text = R"toml(
[system]
name = "patch"
q = ["x", "y", "z", "w"]
T = "(1.42*x'^2 + 1.42*y'^2 + 1.42*z'^2 + 0.376*w'^2)/2"
U = "11.147*z + 1.28*x^2 + 0.874*y^2"
R = "0.853*x'^2 + 0.081*y'^2"
f = { x = "4.974*cos(8.491*t)", y = "0.405*cos(2.689*t)" }
[[contact]]
name = "patch"
gN = "z"
gammaT = ["x'", "y'", "w'"]
mu = 0.556
friction = "contensou"
radius = 0.216
[initial]
u = { x = -0.743, y = -0.525, w = 0.626 }
)toml";
    EXPECT_TRUE(compared(io::parse_model(text, "test"), {"x", "x'", "y", "w'"}, 1.356).empty());
}

/// A round patch breaks loose under a force and a moment. The first steps after it must follow the direction of slip:
/// the derivative of w' by x was wrong by up to 3e-5, and depended on the tolerance of the motion.
TEST(Differences, ARoundPatchThatBreaksLoose) {
    const std::string text = R"toml(
[system]
name = "patch"
q = ["x", "y", "z", "w"]
T = "(1.414*(x'^2 + y'^2 + z'^2) + 0.516*w'^2)/2"
U = "10*z + 2.735*x^2 + 1.427*(y + 0.043)^2"
f = { x = "1.469*cos(4.588*t + 3.116)", y = "1.941*cos(4.053*t + 4.184)", w = "1.161*cos(3.112*t + 2.243)" }
[[contact]]
name = "patch"
gN = "z"
gammaT = ["x'", "y'", "w'"]
mu = 0.346
friction = "contensou"
radius = 0.545
[initial]
u = { x = 0.542, y = -0.816, w = 1.378 }
)toml";
    const Model m = built(io::parse_model(text, "test"));
    // By central differences of motions with rtol = 1e-11, with four steps from 2e-4 to 2e-3 that agree to 1e-9.
    constexpr double of_w_rate = 0.383384289, of_time_of_slip = -0.22906394;
    for (const double rtol : {1e-9, 1e-10, 1e-11}) {
        sensitivity::Options options;
        options.t_end = 1.401;
        EventDriven method;
        method.rtol = rtol;
        method.atol *= 0.1;
        options.method = method;
        const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"x"}), options);
        ASSERT_TRUE(s.available);
        ASSERT_EQ(s.events.size(), 2U);
        EXPECT_NEAR(s.final(7, 0), of_w_rate, 2e-8) << rtol;
        EXPECT_NEAR(s.events[1].dt[0], of_time_of_slip, 2e-7) << rtol;
    }
}

/// With two coefficients of friction and two masses the direction of slip turns slowly on the way to rest, by |γ|^0.24
/// here. The time of rest had the derivative −0.098 instead of 0.061 by x'.
TEST(Differences, TheTimeAtWhichSlipThatTurnsSlowlyComesToRest) {
    const std::string text = R"toml(
[system]
name = "ellipse"
q = ["x", "y", "z"]
T = "(1.9*x'*x' + 1.653*y'*y' + 1.9*z'*z')/2"
U = "10.704*z + 1.719*(y + 0.216)^2"
[[contact]]
name = "plane"
gN = "z"
gammaT = ["x'", "y'"]
mu = [0.694, 0.582]
[initial]
q = { z = 0.465 }
u = { x = 0.6, y = -2 }
)toml";
    EXPECT_TRUE(compared(io::parse_model(text, "test"), {"y", "y'", "x'"}, 2.164, EventDriven{}, 1e-5).empty());
}

/// The force that changes with time turns the slip until it rests. What the other variables change in the last Euler
/// step was counted about twenty times: an error of 4e-4.
TEST(Differences, TheTimeOfRestUnderAForceThatChanges) {
    const std::string text = R"toml(
[system]
name = "ellipse"
q = ["x", "y", "z"]
T = "(1.71*x'*x' + 1.71*y'*y' + z'*z')/2"
U = "10*z + 3*(x - 0.8)^2"
f = { y = "6*cos(5*t)" }
[[contact]]
name = "plane"
gN = "z"
gammaT = ["x'", "y'"]
mu = [0.536, 0.518]
[initial]
u = { x = 0.8, y = 2 }
)toml";
    EXPECT_TRUE(compared(io::parse_model(text, "test"), {"x", "x'", "y'"}, 1.1, EventDriven{}, 2e-5).empty());
}

/// Slip in a plane with an ellipse of friction passes through rest and goes on in another direction. The first steps
/// after it lost a part of the derivatives: 9e-4 of those by y and y'.
TEST(Differences, SlipInAPlaneThatPassesThroughRest) {
    const std::string text = R"toml(
[system]
name = "plane"
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + 0.695*z'^2)/2"
U = "8.649*z + 3.785*(y + 0.535)^2"
R = "0.314*x'^2"
f = { x = "2.81*cos(5.952*t)", y = "6*cos(6*t)" }
[[contact]]
name = "plane"
gN = "z"
gammaT = ["x'", "y'"]
mu = [0.259, 0.785]
eN = 0.4
[initial]
q = { z = 0.253 }
)toml";
    // The direction of slip approaches its limit with the power 0.7 of the time that is left.
    constexpr double straight_end = 1e-5;
    // Whether the first step after the rest is accurate depends on the steps of the motion. If it is not then there is
    // no derivative, never a wrong one.
    const model::Description description = io::parse_model(text, "test");
    const Model m = built(description);
    std::size_t known = 0;
    for (const double rtol : {1e-9, 7e-10, 3e-10, 1e-10}) {
        sensitivity::Options options;
        options.t_end = 1.171;
        EventDriven method;
        method.rtol = rtol;
        method.atol *= 0.1;  // as `saltus sensitivity` does
        options.method = method;
        const Sensitivity s = sensitivity::sensitivity(m, sensitivity::variables(m, {"x", "y", "y'", "z"}), options);
        if (!s.available || s.final.hasNaN()) continue;
        ++known;
        for (const auto& v : sensitivity::differences(description, {}, s, options).variables)
            EXPECT_TRUE(!v.possible || v.error <= straight_end) << rtol << ' ' << v.error;
    }
    EXPECT_GE(known, 2U);
}

/// What an impact does not concern goes on slipping through it.
TEST(Differences, AnImpactBesideAContactThatSlides) {
    const std::string text = R"toml(
[system]
name = "against a wall"
q = ["x", "y", "c"]
T = "(x'^2 + y'^2 + c'^2)/2"
f = { y = "-5" }
[parameters]
w = -1.0
mu = 0.01
[[contact]]
name = "wall"
gN = "x - w"
eN = 0.5
LAW
[[contact]]
name = "floor"
gN = "y"
gammaT = "x' + c'"
mu = "mu"
LAW
[initial]
q = { x = 0.0, y = 0.0, c = 0.0 }
u = { x = -1.0, c = 0.3 }
)toml";
    for (const std::string law : {"", "impact = \"poisson\""}) {
        std::string own = text;
        for (std::size_t at; (at = own.find("LAW")) != std::string::npos;) own.replace(at, 3, law);
        EXPECT_TRUE(compared(io::parse_model(own, "test"), {"x", "x'", "c'", "w", "mu"}, 1.25).empty()) << law;
    }
}

TEST(Differences, AClutchThatAnImpactShuts) {
    const std::string text = R"toml(
[system]
name = "struck clutch"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
f = { x = "0.5" }
[parameters]
d = 0.0
[[contact]]
name = "c1"
gN = "y - x - d"
eN = 0.5
[[clutch]]
name = "c2"
gamma = "x'"
[initial]
q = { x = -1.0, y = 2.0 }
u = { x = 1.0, y = -2.0 }
)toml";
    EXPECT_TRUE(compared(io::parse_model(text, "test"), {}, 1.25).empty());
}

TEST(Differences, DrawAConclusionAboutEachDerivative) {
    using sensitivity::Differenced;
    Differenced d;
    EXPECT_EQ(d.verdict(), Differenced::Verdict::not_compared);
    d.possible = true;
    d.error = 1e-7;
    d.uncertainty = 1e-9;
    EXPECT_EQ(d.verdict(), Differenced::Verdict::agrees);
    d.error = 1e9;
    EXPECT_EQ(d.verdict(), Differenced::Verdict::disagrees);
    d.uncertainty = 1e10;
    EXPECT_EQ(d.verdict(), Differenced::Verdict::unsure);
    sensitivity::Differences all;
    EXPECT_FALSE(all.confirmed()) << "nothing was compared";
    all.compared = 2;
    EXPECT_TRUE(all.confirmed());
    all.disagreeing = 1;
    EXPECT_FALSE(all.confirmed());
}

TEST(Differences, OfEveryVariableSayThatTheTimeIsUpIfAnInterruptComesFirst) {
    const model::Description description = description_of("bouncing-ball");
    const Model m = built(description);
    sensitivity::Options options;
    options.t_end = 2.0;
    const Sensitivity s = sensitivity::sensitivity(m, sensitivity::all_variables(m), options);
    ASSERT_TRUE(s.available);
    for (const int allowed_calls : {0, 1}) {
        std::atomic<int> calls = 0;
        options.interrupted = [&] { return ++calls > allowed_calls; };
        const Differences d = sensitivity::differences(description, {}, s, options);
        ASSERT_EQ(d.variables.size(), s.with_respect_to.size());
        std::size_t stopped = 0;
        for (const sensitivity::Differenced& v : d.variables) {
            if (v.possible) continue;
            EXPECT_EQ(v.why_not, "the time limit or an interrupt came before the comparison");
            ++stopped;
        }
        EXPECT_GT(stopped, 0U);
    }
}

}  // namespace
}  // namespace saltus::differences_test
