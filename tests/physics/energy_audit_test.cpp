// SPDX-License-Identifier: Apache-2.0
//
// The audit of impacts: no alarm without fire, none missed, and what it costs.
#include <chrono>
#include <filesystem>
#include <numeric>

#include "motion.hpp"
#include "saltus/integrate/collision_at.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::test::energy_audit_test {
namespace {

using integrate::AuditedImpact;
using integrate::EnergyRule;

std::vector<std::string> shipped_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(SALTUS_SOURCE_DIR) + "/models"))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

Trajectory run(const Model& model, const integrate::Method& method, double t_end,
               EnergyRule rule = EnergyRule::report) {
    integrate::Options options;
    options.t_end = t_end;
    options.energy = rule;
    return integrate::simulate(model, method, options);
}

double created(const Trajectory& t) {
    double sum = 0.0;
    for (const Event& e : t.events) sum += e.audit.created;
    return sum;
}

TEST(EnergyAudit, OfTimeSteppingRaisesNoFalseAlarm) {
    for (const std::string& name : shipped_names()) {
        if (name.starts_with("hydrostatic")) continue;  // one impact, and a second of steps
        const Model m = shipped(name);
        const Trajectory t = run(m, Moreau{.h = m.settings->simulate.h.value_or(1e-3)}, *m.settings->simulate.t_end);
        if (name == "rough-double-pendulum")
            EXPECT_NEAR(created(t), 0.0407, 2e-4);
        else
            EXPECT_EQ(created(t), 0.0) << name;
    }
}

TEST(EnergyAudit, OfAFinishedMotionFindsTheSameAsDuringTheRun) {
    for (const char* const name : {"rocking-block", "slider-crank", "ball-on-moving-plane", "sphere-on-plane",
                                   "rough-double-pendulum", "newtons-cradle", "woodpecker"}) {
        SCOPED_TRACE(name);
        const Model m = shipped(name);
        const Trajectory t = run(m, EventDriven{}, *m.settings->simulate.t_end);
        const integrate::TrajectoryAudit audit = integrate::audit(t, &m);
        EXPECT_TRUE(audit.recomputed);
        ASSERT_GT(audit.impacts.size(), 0U);
        EXPECT_LT(audit.misfit, 1e-9);
        for (const AuditedImpact& a : audit.impacts) {
            const Event& e = t.events[a.event];
            const double scale = std::abs(e.energy_before) + std::abs(e.work) + 1e-12;
            EXPECT_NEAR(a.work, e.work, 1e-11 * scale);
            EXPECT_NEAR(a.audit.obstacle_work, e.audit.obstacle_work, 1e-11 * scale);
            EXPECT_NEAR(a.audit.tangential, e.audit.tangential, 1e-11 * scale);
            EXPECT_NEAR(a.audit.created, e.audit.created, 1e-11 * scale);
            // T+ - T- = contacts + obstacles
            EXPECT_NEAR(e.energy_after - e.energy_before, e.work + e.audit.obstacle_work, 1e-10 * scale);
        }
    }
}

/// Legs of a table on a floor that springs up: a rigid body on four spatial contacts, each with its own coefficients.
const std::string table = R"toml(
[system]
name = "table"
q = ["x", "y", "z", "a", "b", "c"]
T = "(x'^2 + y'^2 + z'^2)/2 + (0.2*a'^2 + 0.3*b'^2 + 0.4*c'^2)/2"
U = "9.81*z"
[parameters]
mu = 0.6
eT = 0.0
v = 0.5
[[contact]]
name = "leg 1"
gN = "z + a - b - v*t"
gammaT = ["x' - c' + b'", "y' + c' - a'"]
mu = "mu"
eN = 0.9
eT = "eT"
[[contact]]
name = "leg 2"
gN = "z - a - b - v*t"
gammaT = ["x' + c' + b'", "y' + c' - a'"]
mu = "mu"
eN = 0.2
eT = "eT"
[[contact]]
name = "leg 3"
gN = "z - a + b - v*t"
gammaT = ["x' + c' + b'", "y' - c' - a'"]
mu = "mu"
eN = 0.8
eT = "eT"
[initial]
q = { z = 0.3, a = 0.02, b = -0.05 }
u = { x = 1.0, y = -1.5, z = -1.0, a = 1.0, b = -2.0, c = 3.0 }
)toml";

TEST(EnergyAudit, OfSpatialFrictionIsRepairedToo) {
    const Model m = from_text(table);
    const Trajectory as_is = run(m, EventDriven{}, 1.0);
    const Trajectory repaired = run(m, EventDriven{}, 1.0, EnergyRule::repair);
    ASSERT_EQ(as_is.status, Status::completed) << as_is.reason;
    ASSERT_EQ(repaired.status, Status::completed) << repaired.reason;
    EXPECT_EQ(created(repaired), 0.0);
    EXPECT_LT(repaired.energy.balance_error, 1e-8);
    int repairs = 0;
    for (const Event& e : repaired.events) {
        if (e.impulses.empty()) continue;
        const double scale = std::abs(e.work) + e.energy_before;
        EXPECT_LE(e.work, 1e-9 * scale);
        EXPECT_NEAR(e.energy_after - e.energy_before, e.work + e.audit.obstacle_work, 1e-9 * scale);
        if (e.audit.prevented > 0.0) ++repairs;
    }
    EXPECT_EQ(repairs > 0, created(as_is) > 0.0);
    EXPECT_GT(created(as_is), 0.0);
}

TEST(EnergyAudit, EndsAStrictRunAtTheFirstCreationAndNowhereElse) {
    const Model m = from_text(table);
    const Trajectory as_is = run(m, EventDriven{}, 1.0), strict = run(m, EventDriven{}, 1.0, EnergyRule::stop);
    const auto first =
        std::find_if(as_is.events.begin(), as_is.events.end(), [](const Event& e) { return e.audit.created > 0.0; });
    ASSERT_NE(first, as_is.events.end());
    EXPECT_EQ(strict.status, Status::energy_created);
    EXPECT_EQ(strict.end.t, first->t);
    EXPECT_EQ(strict.events.size(), static_cast<std::size_t>(first - as_is.events.begin()) + 1);
    EXPECT_EQ(strict.events.back().u_plus, first->u_plus);
    EXPECT_EQ(strict.reason, as_is.warnings.front());
    EXPECT_EQ(strict.end.u, first->u_plus);
}

TEST(EnergyAudit, SeesThatTheEnergyLawIsBlindToMovingWalls) {
    // T⁺ = e²T⁻ with a wall that comes towards the mass: more than an elastic impact gives.
    const std::string wall = R"toml(
[system]
name = "wall that withdraws"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[parameters]
v = -1.0
[[contact]]
name = "wall"
gN = "x - v*t"
impact = "energy"
eN = 1.0
[initial]
q = { x = 0.1, y = 0.0 }
u = { x = -2.0, y = 1.0 }
)toml";
    const Trajectory t = run(from_text(wall), EventDriven{}, 0.5);
    ASSERT_EQ(t.events.size(), 1U);
    const Event& e = t.events[0];
    // γ⁻ = −1, γ⁺ = 3: Λ = 4, contact work 4, and the wall that withdraws takes as much.
    EXPECT_NEAR(e.work, 4.0, 1e-9);
    EXPECT_NEAR(e.audit.obstacle_work, -4.0, 1e-9);
    EXPECT_NEAR(e.audit.created, 4.0, 1e-9);
    EXPECT_EQ(e.audit.law, "energy, eN = 1");
    ASSERT_EQ(t.warnings.size(), 1U);
    EXPECT_NE(t.warnings[0].find("does not see that the obstacle moves"), std::string::npos) << t.warnings[0];
    const Trajectory repaired = run(from_text(wall), EventDriven{}, 0.5, EnergyRule::repair);
    EXPECT_NEAR(repaired.events[0].u_plus[0], 0.0, 1e-12);  // γ⁺ = 1 = −γ⁻
    EXPECT_EQ(repaired.events[0].u_plus[1], 1.0);
}

TEST(EnergyAudit, CostsLittleOfARunWithTenContacts) {
    // A column of ten balls that falls: 762 events. By counted instructions the audit is 0.05 % of the run.
    std::string q, T, U, contacts, start;
    for (int i = 0; i < 10; ++i) {
        const std::string y = "y" + std::to_string(i), comma = i == 0 ? "" : ", ", plus = i == 0 ? "" : " + ";
        q += comma + '"' + y + '"';
        T += plus + y + "'^2/2";
        U += plus + "9.81*" + y;
        start += comma + y + " = " + std::to_string(0.5 + 0.25 * i);
        contacts += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\neN = 0.8\ngN = \"" + y +
                    (i == 0 ? "" : " - y" + std::to_string(i - 1) + " - 0.1") + "\"\n";
    }
    const Model m = from_text("[system]\nname = \"ten balls\"\nq = [" + q + "]\nT = \"" + T + "\"\nU = \"" + U +
                              "\"\n" + contacts + "[initial]\nq = { " + start + " }\n");
    const auto clock = [] { return std::chrono::steady_clock::now(); };
    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    const auto begin = clock();
    const Trajectory t = run(m, EventDriven{.keep_arcs = false}, 0.9);
    const double of_run = seconds(begin, clock());
    ASSERT_EQ(t.status, Status::completed) << t.reason;
    long impacts = 0;
    for (const Event& e : t.events) impacts += e.impulses.empty() ? 0 : 1;
    EXPECT_GT(impacts, 300);
    EXPECT_EQ(created(t), 0.0);
    const std::vector<double> minus(10, -1.0), plus(10, 0.8), none(10, 0.0), Lambda(10, 1.8);
    std::vector<int> rows(11);
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<solvers::Law> laws(10);
    const auto before = clock();
    double sum = 0.0;
    for (long k = 0; k < impacts; ++k) sum += impact::audit({minus, plus, none, Lambda, rows, laws}).work;
    const double of_audit = seconds(before, clock());
    EXPECT_NEAR(sum, -0.1 * 1.8 * 10.0 * static_cast<double>(impacts), 1e-6 * static_cast<double>(impacts));
    EXPECT_LT(of_audit, 0.1 * of_run);
}

}  // namespace
}  // namespace saltus::test::energy_audit_test
