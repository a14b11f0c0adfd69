// SPDX-License-Identifier: Apache-2.0
// The examples of [Alscher] and small systems with closed-form solutions, against tests/reference/alscher.json;
// tests/reference/hydrostatic-skeleton.md describes all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "physics/motion.hpp"
#include "reference/reference.hpp"

namespace saltus::alscher_test {
namespace {

using namespace saltus::test;
using reference::Value;

Value analytic(const char* name) { return reference::file("alscher")["analytic"][name]; }

const EventDriven tight{.rtol = 1e-11, .atol = 1e-13};
constexpr double closed_form = 1e-10;

/// "(h0 + h1·t + h2·t²/2)" as an expression.
std::string parabola(const std::array<double, 3>& c) {
    return number_text(c[0]) + " + (" + number_text(c[1]) + ")*t + (" + number_text(c[2]) + ")/2*t^2";
}

// --- C1: a bead on an inclined line collides; L1: it lifts off
// --------------------------------------------------------

struct Bump {  // perturbations of start, force, constraint and obstacle
    double dx0 = 0.0, du0 = 0.0;
    std::array<double, 2> delta{};
    std::array<double, 3> eta{}, theta{};
};

std::string bead(const std::string& force, const std::string& start, const std::string& velocity, const Bump& bump) {
    std::string text = R"toml(
[system]
name = "bead on a line"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
f = { x = "FORCE" }
[parameters]
m = 1.0
beta = 0.5
[[constraint]]
name = "line"
g = "y - beta*x"
[[contact]]
name = "wall"
gN = "x"
)toml";
    text.replace(text.find("FORCE"), 5, force);
    text += "[initial]\nq = { x = \"" + start + "\", y = \"beta*(" + start + ")\" }\n";
    text += "u = { x = \"" + velocity + "\", y = \"beta*(" + velocity + ")\" }\n";
    text += "[perturbation]\ndelta = { x = " + number_text(bump.delta[0]) + ", y = " + number_text(bump.delta[1]) +
            " }\neta = { line = \"" + parabola(bump.eta) + "\" }\ntheta = { wall = \"" + parabola(bump.theta) +
            "\" }\ninitial = { q = { x = " + number_text(bump.dx0) + ", y = \"beta*(" + number_text(bump.dx0) + ") + " +
            number_text(bump.eta[0]) + "\" }, u = { x = " + number_text(bump.du0) + ", y = \"beta*(" +
            number_text(bump.du0) + ") + " + number_text(bump.eta[1]) + "\" } }\n";
    return text;
}

/// The differences of the perturbed and the nominal motion at the times of `rows`: positions, then velocities.
void expect_difference(const Trajectory& nominal, const Trajectory& perturbed, const Value& rows) {
    for (const Value& row : rows.items()) {
        const double t = row["t"];
        const State a = nominal.right(t), b = perturbed.right(t);
        const std::array<double, 4> w{b.q[0] - a.q[0], b.q[1] - a.q[1], b.u[0] - a.u[0], b.u[1] - a.u[1]};
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(w[i], row["w"][i], closed_form) << "t = " << t << ", " << i;
    }
}

/// The perturbation of a sample. A bead that starts on the obstacle has no start of its own: it follows the obstacle.
Bump bump_of(const Value& given) {
    Bump b;
    for (std::size_t i = 0; i < 2; ++i) b.delta[i] = given["delta"][i];
    for (std::size_t i = 0; i < 3; ++i) b.eta[i] = given["eta"][i], b.theta[i] = given["theta"][i];
    b.dx0 = given.has("dx0") ? given["dx0"].number() : b.theta[0];
    b.du0 = given.has("du0") ? given["du0"].number() : b.theta[1];
    return b;
}

TEST(AlscherC1, CollidesAsTheClosedFormSays) {
    const Value expected = analytic("C1");
    const Trajectory motion = motion_of(from_text(bead("-3", "1", "-2", {})), expected["T"], tight);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    const Event& e = motion.events[0];
    EXPECT_TRUE(matches(e.t, expected["cbar"], closed_form));
    EXPECT_TRUE(matches(e.u_minus[0], expected["u_minus"], closed_form));
    EXPECT_TRUE(matches(normal_impulse(e, 0), expected["I_p"], closed_form));
    EXPECT_TRUE(matches(normal_impulse(e, 1), expected["I_nu"], closed_form));
    EXPECT_TRUE(matches(motion.forces.at(0).N, expected["lambda_after"], closed_form));
}

TEST(AlscherC1, PerturbedCollidesAsTheClosedFormSays) {
    const Value expected = analytic("C1");
    const Trajectory nominal = motion_of(from_text(bead("-3", "1", "-2", {})), expected["T"], tight);
    for (const Value& sample : expected["samples"].items()) {
        const double size = sample["eps"];
        const std::string text = bead("-3", "1", "-2", bump_of(sample["pert"]));
        const Trajectory motion = motion_of(from_text(text, {}, true), expected["T"], tight);
        ASSERT_EQ(motion.events.size(), 1U) << story(motion);
        const Event& e = motion.events[0];
        EXPECT_TRUE(matches(e.t, sample["chat"], closed_form)) << size;
        EXPECT_TRUE(matches(e.u_minus[0], sample["imp"]["u_minus"], closed_form)) << size;
        EXPECT_TRUE(matches(e.u_plus[0], sample["imp"]["u_plus"], closed_form)) << size;
        EXPECT_TRUE(matches(normal_impulse(e, 0), sample["imp"]["I_p"], closed_form)) << size;
        EXPECT_TRUE(matches(normal_impulse(e, 1), sample["imp"]["I_nu"], closed_form)) << size;
        EXPECT_TRUE(matches(motion.forces.at(0).N, sample["lam"], closed_form)) << size;
        expect_difference(nominal, motion, sample["at"]);
    }
}

TEST(AlscherL1, LiftsOffAsTheClosedFormSays) {
    const Value expected = analytic("L1");
    const std::string force = "-4*(1 - t/0.8)";
    const Trajectory nominal = motion_of(from_text(bead(force, "0", "0", {})), expected["T"], tight);
    ASSERT_EQ(nominal.events.size(), 1U) << story(nominal);
    EXPECT_EQ(nominal.events[0].kind, EventKind::lift_off);
    EXPECT_TRUE(matches(nominal.events[0].t, expected["cbar"], closed_form));
    EXPECT_TRUE(matches(nominal.end.q[0], expected["x_T"], closed_form));
    EXPECT_TRUE(matches(nominal.end.u[0], expected["u_T"], closed_form));
    for (const Value& sample : expected["samples"].items()) {
        const std::string text = bead(force, "0", "0", bump_of(sample["pert"]));
        const Trajectory motion = motion_of(from_text(text, {}, true), expected["T"], tight);
        ASSERT_EQ(motion.events.size(), 1U) << story(motion);
        EXPECT_EQ(motion.events[0].kind, EventKind::lift_off);
        EXPECT_TRUE(matches(motion.events[0].t, sample["chat"], closed_form)) << sample["eps"].number();
        expect_difference(nominal, motion, sample["at"]);
    }
}

// --- (23): rates of forces jump at a lift-off
// -------------------------------------------------------------------------

/// The jump of the rate of an element's force at the only lift-off of a motion.
double rate_jump(const Trajectory& motion, const std::string& element) {
    double jump = std::numeric_limits<double>::quiet_NaN();
    int lift_offs = 0;
    for (const trajectory::Event& e : motion.events) {
        if (e.kind != trajectory::EventKind::lift_off) continue;
        ++lift_offs;
        for (const trajectory::Reaction& r : e.rate_jumps)
            if (motion.elements[static_cast<std::size_t>(r.element)].name == element) jump = r.N;
    }
    EXPECT_EQ(lift_offs, 1);
    return jump;
}

integrate::Options with_rate_jumps(double t_end) {
    integrate::Options o;
    o.t_end = t_end;
    o.rate_jumps = true;
    return o;
}

TEST(AlscherEquation23, TheConstraintTakesOverWhatTheContactGivesUp) {
    // Before: ν = 0 and λ = F0 (1 − t/c0). After: μ ẍ = f, ν = m β ẍ. Hence λ̇ jumps by +F0/c0 and ν̇ by
    // +β F0/(c0 (1 + β²)); the sign printed in the paper is the opposite one.
    const double F0 = 4.0, c0 = 0.8, beta = 0.5;
    const Model m = from_text(bead("-4*(1 - t/0.8)", "0", "0", {}));
    for (const bool series : {true, false}) {
        EventDriven method = tight;
        method.series = series;
        const Trajectory motion = integrate::simulate(m, method, with_rate_jumps(1.6));
        EXPECT_NEAR(rate_jump(motion, "wall"), F0 / c0, 1e-8) << series;
        EXPECT_NEAR(rate_jump(motion, "line"), beta * F0 / (c0 * (1.0 + beta * beta)), 1e-8) << series;
    }
    integrate::Options without = with_rate_jumps(1.6);
    without.rate_jumps = false;
    EXPECT_TRUE(integrate::simulate(m, tight, without).events.back().rate_jumps.empty());
}

TEST(AlscherEquation23, TheOtherSupportOfABarTakesOver) {
    // A bar on two supports at ±a, pressed by F and turned by the moment −k t: λ_left = (F − k t/a)/2 falls to zero.
    // D⁺ Δλ̇_right = w_rightᵀ M⁻¹ w_left λ̇_left⁻ with w = (1, ±a): Δλ̇_right = (1/m − a²/J)/(1/m + a²/J) λ̇_left⁻.
    const std::string text = R"toml(
[system]
name = "bar on two supports"
q = ["y", "phi"]
T = "m/2*y'^2 + J/2*phi'^2"
f = { y = "-F", phi = "-k*t" }
[parameters]
m = 2.0
J = 0.3
a = 0.7
F = 5.0
k = 9.0
[[contact]]
name = "left"
gN = "y - a*phi"
[[contact]]
name = "right"
gN = "y + a*phi"
)toml";
    const double m = 2.0, J = 0.3, a = 0.7, F = 5.0, k = 9.0;
    const Model model = from_text(text);
    const Trajectory motion = integrate::simulate(model, tight, with_rate_jumps(F * a / k + 0.05));
    const double falling = -k / (2.0 * a);
    EXPECT_NEAR(motion.events.front().t, F * a / k, closed_form);
    EXPECT_NEAR(rate_jump(motion, "left"), -falling, 1e-8);
    EXPECT_NEAR(rate_jump(motion, "right"), (1.0 / m - a * a / J) / (1.0 / m + a * a / J) * falling, 1e-8);
}

TEST(AlscherEquation23, NothingIsRecordedWhereForcesThemselvesJump) {
    // The force that presses the bead is switched off: λ jumps to zero, and (23) does not apply.
    const Model m = from_text(bead("if(t < 0.5, -1, 1)", "0", "0", {}));
    const Trajectory motion = integrate::simulate(m, tight, with_rate_jumps(1.0));
    ASSERT_FALSE(motion.events.empty());
    EXPECT_EQ(motion.events.front().kind, trajectory::EventKind::lift_off);
    EXPECT_TRUE(motion.events.front().rate_jumps.empty());
}

// --- L2: two masses and a spring, the first leaves the wall ----------------------------------------------------------

/// The perturbation θ = a cos(b t + ph) of the wall, forces δ, and the start of the second mass.
struct Shaken {
    double a = 0.0, b = 0.0, ph = 0.0;
    std::array<double, 2> delta{};
    double dx2 = 0.0, du2 = 0.0;
};

Shaken shaken_of(const Value& given) {
    return {given["a"], given["b"], given["ph"], {given["delta"][0], given["delta"][1]}, given["dx2"], given["du2"]};
}

std::string two_masses(const Shaken& s) {
    std::string text = R"toml(
[system]
name = "two masses at a wall"
q = ["x1", "x2"]
T = "m1/2*x1'^2 + m2/2*x2'^2"
U = "k/2*(x2 - x1 - l0)^2"
[parameters]
m1 = 1.0
m2 = 3.0
k = 48.0
l0 = 1.0
A = 0.25
[[contact]]
name = "wall"
gN = "x1"
[initial]
q = { x1 = 0.0, x2 = "l0 - A" }
)toml";
    const std::string a = number_text(s.a), b = number_text(s.b), ph = number_text(s.ph);
    text += "[perturbation]\ndelta = { x1 = " + number_text(s.delta[0]) + ", x2 = " + number_text(s.delta[1]) +
            " }\ntheta = { wall = \"" + a + "*cos(" + b + "*t + " + ph + ")\" }\n";
    text += "initial = { q = { x1 = \"" + a + "*cos(" + ph + ")\", x2 = " + number_text(s.dx2) + " }, u = { x1 = \"-" +
            a + "*" + b + "*sin(" + ph + ")\", x2 = " + number_text(s.du2) + " } }\n";
    return text;
}

TEST(AlscherL2, LiftsOffAsTheClosedFormSays) {
    const Value expected = analytic("L2");
    const double T = expected["T"];
    const Trajectory nominal = motion_of(from_text(two_masses({})), T, tight);
    ASSERT_EQ(nominal.events.size(), 1U) << story(nominal);
    EXPECT_TRUE(matches(nominal.events[0].t, expected["cbar"], closed_form));
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_TRUE(matches(nominal.end.q[k], expected["state_T"][k], closed_form));
        EXPECT_TRUE(matches(nominal.end.u[k], expected["state_T"][2 + k], closed_form));
    }
    for (const Value& sample : expected["samples"].items()) {
        const Trajectory motion = motion_of(from_text(two_masses(shaken_of(sample["pert"])), {}, true), T, tight);
        const std::vector<Event> off = events_of(motion, EventKind::lift_off);
        ASSERT_EQ(off.size(), 1U) << story(motion);
        EXPECT_TRUE(matches(off[0].t, sample["chat"], closed_form)) << sample["pert"]["a"].number();
        expect_difference(nominal, motion, sample["at"]);
    }
}

// --- R: one end of a rod hits the wall -------------------------------------------------------------------------------

TEST(AlscherR, ARodsEndHitsTheWallAndItsConstraintCarriesTheImpulseOn) {
    const std::string rod = R"toml(
[system]
name = "rod"
q = ["x1", "y1", "x2", "y2"]
T = "1/2*(x1'^2 + y1'^2) + 1*(x2'^2 + y2'^2)"
[parameters]
phi = "pi/3"
thetadot = 0.0
[[constraint]]
name = "rod"
g = "((x2 - x1)^2 + (y2 - y1)^2 - 1)/2"
[[contact]]
name = "wall"
gN = "x1 - thetadot*t"
[initial]
q = { x1 = 0.0, y1 = 0.0, x2 = "cos(phi)", y2 = "sin(phi)" }
u = { x1 = -2.0, x2 = -2.0 }
)toml";
    const Value rows = analytic("R");
    for (const Value& row : {rows[0], rows[1]}) {  // the wall at rest, and moving
        const Trajectory motion = motion_of(from_text(rod, {{"thetadot", row["theta_dot"]}}), 0.5);
        ASSERT_GE(motion.events.size(), 1U);
        const Event& e = motion.events[0];
        EXPECT_TRUE(matches(normal_impulse(e, 0), row["I_p"], closed_form));
        EXPECT_TRUE(matches(normal_impulse(e, 1), row["I_nu"], closed_form));
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_TRUE(matches(e.u_plus[i], row["u1"][i], closed_form)) << i;
            EXPECT_TRUE(matches(e.u_plus[2 + i], row["u2"][i], closed_form)) << i;
        }
    }
}

// --- the hydrostatic skeleton
// -----------------------------------------------------------------------------------------

/// One motion of the table: the parameter set of the reference, and the number of the case in it.
struct SkeletonCase {
    const char *set, *model;
    int number;
};

const SkeletonCase skeletons[] = {
    {"A_braced", "hydrostatic-skeleton", 0},        {"A_braced", "hydrostatic-skeleton", 1},
    {"A_braced", "hydrostatic-skeleton", 2},        {"A", "hydrostatic-skeleton-edges", 0},
    {"A", "hydrostatic-skeleton-edges", 1},         {"A", "hydrostatic-skeleton-edges", 2},
    {"A_braced_tilted", "hydrostatic-skeleton", 0}, {"A_braced_tilted", "hydrostatic-skeleton", 1}};

/// Corners that leave within the tolerance of each other do so together: without bracing rounding tells them apart
/// (hydrostatic-skeleton.md, "Conditioning").
std::vector<Event> joined(const std::vector<Event>& events, double within) {
    std::vector<Event> list;
    for (const Event& e : events) {
        if (list.empty() || list.back().kind != e.kind || e.t - list.back().t > within)
            list.push_back(e);
        else
            list.back().elements.insert(list.back().elements.end(), e.elements.begin(), e.elements.end());
    }
    return list;
}

class AlscherSkeleton : public ::testing::TestWithParam<SkeletonCase> {};

/// Whether steps are implicit from the start. Otherwise they are if the motion turns out to be stiff.
void expect_reference_times(const SkeletonCase& skeleton, bool implicit) {
    const auto [set_name, model_name, number] = skeleton;
    SCOPED_TRACE(std::string(set_name) + ", case " + std::to_string(number) + (implicit ? ", implicit" : ""));
    const Value file = reference::file("alscher"), set = file["skeleton"][set_name], row = set["cases"][number];
    const Value tolerances = file["suggested_tolerances"];
    const double a = row["a"], impulse_tolerance = tolerances["impulse_rel"];
    const bool unbraced_at_rest = std::string(set_name) == "A" && a == 0.0;
    const double time_tolerance = tolerances[unbraced_at_rest ? "event_time_unperturbed_liftoff_set_A" : "event_time"];
    model::Description d = description_of(model_name);
    if (set.has("tilt_y"))
        for (const char* tilt : {"tilt_y", "tilt_z"}) d.points->shear.emplace_back(set[tilt].number());
    const Model model = built(d, {{"a", a}, {"b", row["b"]}});
    const Trajectory motion = motion_of(model, 0.6, EventDriven{.rtol = 1e-9, .atol = 1e-12, .implicit = implicit});
    const std::vector<Event> events = joined(motion.events, 0.1 * time_tolerance);
    const std::vector<Value> expected = row["events"].items();
    ASSERT_EQ(events.size(), expected.size()) << story(motion, 20);
    const auto contacts = static_cast<int>(model.contacts.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Event& e = events[i];
        const bool impact = expected[i]["type"].text() == "collision";
        const double I_lambda = impact ? expected[i]["I_lambda_each"].number() : 0.0;
        const double I_nu = impact ? expected[i]["I_nu"].number() : 0.0;
        EXPECT_EQ(e.kind, impact ? EventKind::impact : EventKind::lift_off) << story(motion, 20);
        EXPECT_NEAR(e.t, expected[i]["t"], time_tolerance);
        for (int corner = 0; corner < 4; ++corner) {  // one corner if the row names it, else all four of the front
            if (expected[i].has("corner") && expected[i]["corner"] != corner) continue;
            EXPECT_NE(std::find(e.elements.begin(), e.elements.end(), corner), e.elements.end()) << i << " " << corner;
            EXPECT_NEAR(normal_impulse(e, corner), I_lambda, impulse_tolerance * std::max(1.0, I_lambda)) << i;
        }
        EXPECT_NEAR(normal_impulse(e, contacts), I_nu, impulse_tolerance * std::max(1.0, -I_nu)) << i;
    }
    double momentum = 0.0;
    for (std::size_t p = 0; p < motion.end.u.size(); p += 3) momentum += motion.end.u[p];  // every mass is 1
    EXPECT_NEAR(momentum, row["final"]["momentum_x"], tolerances["momentum_abs"]);
    if (row["final"].has("energy")) {
        EXPECT_NEAR(motion.energy.final, row["final"]["energy"], 1e-5);
    }
}

TEST_P(AlscherSkeleton, CollidesAndLiftsOffAtTheReferenceTimes) { expect_reference_times(GetParam(), false); }

TEST_P(AlscherSkeleton, CollidesAndLiftsOffAtTheReferenceTimesInImplicitSteps) {
    expect_reference_times(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(Case, AlscherSkeleton, ::testing::ValuesIn(skeletons), [](const auto& skeleton) {
    return std::string(skeleton.param.set) + "_" + std::to_string(skeleton.param.number);
});

}  // namespace
}  // namespace saltus::alscher_test
