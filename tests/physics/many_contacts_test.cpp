// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "physics/motion.hpp"
#include "saltus/model/evaluate.hpp"

namespace saltus::many_contacts_test {
namespace {

using namespace saltus::test;

constexpr double g = 9.81;

std::string at(const std::string& name, int i) { return name + std::to_string(i); }

// --- a column of beads -----------------------------------------------------------------------------------------------

/// Beads of unit mass on a vertical line, numbered from the floor, each a gap above the one below.
model::Description column(int beads, double drop, double gap, double e) {
    model::Description d;
    d.name = "column of " + std::to_string(beads) + " beads";
    std::string T = "0", U = "0";
    for (int i = 0; i < beads; ++i) {
        d.q.push_back({at("y", i), {}});
        T += " + 1/2*" + at("y", i) + "'^2";
        U += " + 9.81*" + at("y", i);
        model::ContactDescription c;
        c.name = at("c", i);
        c.gN = i == 0 ? "y0" : at("y", i) + " - " + at("y", i - 1) + " - 1";
        c.eN = e;
        d.contacts.push_back(c);
        d.initial.q.push_back({at("y", i), drop + i * (1.0 + gap), {}});
    }
    d.T = T;
    d.U = U;
    return d;
}

TEST(Column, OfAHundredTouchingBeadsStopsInOneImpactThatGoesThroughAllOfThem) {
    const int n = 100;
    const double h = 0.5, v = std::sqrt(2.0 * g * h);
    const Trajectory motion = motion_of(built(column(n, h, 0.0, 0.0)), 1.0);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(impacts[0].t, std::sqrt(2.0 * h / g), 1e-10));
    for (int i = 0; i < n; ++i) {
        EXPECT_NEAR(normal_impulse(impacts[0], i), (n - i) * v, 1e-8 * n);
        EXPECT_NEAR(motion.end.u[static_cast<std::size_t>(i)], 0.0, 1e-12);
        EXPECT_NEAR(motion.forces.at(static_cast<std::size_t>(i)).N, (n - i) * g, 1e-8 * n);
    }
}

TEST(Column, OfAHundredSeparateBeadsLandsOneAfterTheOther) {
    const int n = 100;
    const double h = 0.5, gap = 1e-3;
    const Trajectory motion = motion_of(built(column(n, h, gap, 0.0)), 1.0);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), static_cast<std::size_t>(n)) << story(motion);
    for (int i = 0; i < n; ++i) {
        EXPECT_TRUE(matches(impacts[static_cast<std::size_t>(i)].t, std::sqrt(2.0 * (h + i * gap) / g), 1e-10));
        EXPECT_NEAR(motion.forces.at(static_cast<std::size_t>(i)).N, (n - i) * g, 1e-8 * n);
    }
}

TEST(Column, OfTouchingElasticBeadsKeepsItsEnergy) {
    const Trajectory motion = motion_of(built(column(20, 0.5, 0.0, 1.0)), 3.0);
    EXPECT_NEAR(motion.energy.final / motion.energy.initial, 1.0, 1e-10);
    for (const Event& e : events_of(motion, EventKind::impact)) EXPECT_NEAR(e.work / motion.energy.initial, 0.0, 1e-10);
}

TEST(Column, OfAHundredBeadsStopsInTheOtherMethodsToo) {
    const int n = 100;
    for (const double gap : {0.0, 1e-3}) {
        const Trajectory stepped = motion_of(built(column(n, 0.1, gap, 0.0)), 1.0, Moreau{.h = 1e-3});
        for (int i = 0; i < n; ++i) {
            EXPECT_NEAR(stepped.end.u[static_cast<std::size_t>(i)], 0.0, 1e-8) << i;
            EXPECT_NEAR(stepped.end.q[static_cast<std::size_t>(i)], i, 0.01 + 1e-3 * i) << i;
        }
        // Nothing is lost in springs without dampers, however the wave runs through them.
        model::Description d = column(n, 0.1, gap, 0.0);
        d.penalty.emplace();
        d.penalty->k = 1e5;
        const Trajectory sprung = motion_of(built(d), 0.5, Penalty{});
        EXPECT_GE(events_of(sprung, EventKind::contact).size(), gap == 0.0 ? 1U : 100U) << story(sprung);
    }
}

TEST(Column, OfBouncingBeadsComesToRest) {
    const int n = 5;
    const Trajectory motion = motion_of(built(column(n, 0.1, 0.01, 0.3)), 3.0);
    for (int i = 0; i < n; ++i) {
        EXPECT_NEAR(motion.end.q[static_cast<std::size_t>(i)], i, 1e-9) << story(motion);
        EXPECT_NEAR(motion.end.u[static_cast<std::size_t>(i)], 0.0, 1e-9);
        EXPECT_NEAR(motion.forces.at(static_cast<std::size_t>(i)).N, (n - i) * g, 1e-6);
    }
}

// --- a stack of blocks -----------------------------------------------------------------------------------------------

/// Planar blocks 1 wide and 0.4 high, the two lower corners of each on the top face of the one below, or on the floor.
/// With the frame (t, n) of the lower face, the corner p and the lower body's centre r:
///     g_N = n·(p − r) − b     γ_T = t·(ṗ − ṙ) + φ̇_l n·(p − r)
model::Description stack(int blocks, double gap, double tilt, double mu, double e) {
    model::Description d;
    d.name = "stack of " + std::to_string(blocks) + " blocks";
    d.parameters = {{"a", 0.5, {}}, {"b", 0.2, {}}, {"J", "(a^2 + b^2)/3", {}}};
    std::string T = "0", U = "0";
    for (int i = 0; i < blocks; ++i) {
        const std::string x = at("x", i), y = at("y", i), phi = at("p", i);
        for (const std::string& name : {x, y, phi}) d.q.push_back({name, {}});
        T += " + 1/2*(" + x + "'^2 + " + y + "'^2) + J/2*" + phi + "'^2";
        U += " + 9.81*" + y;
        for (const std::string side : {"-", "+"}) {
            // p = (x ± a cos φ + b sin φ, y ± a sin φ − b cos φ)
            const std::string px = "(" + x + " " + side + " a*cos(" + phi + ") + b*sin(" + phi + "))",
                              py = "(" + y + " " + side + " a*sin(" + phi + ") - b*cos(" + phi + "))";
            const std::string other = side == "-" ? "+" : "-";
            const std::string vx = "(" + x + "' + (" + other + "a*sin(" + phi + ") + b*cos(" + phi + "))*" + phi + "')",
                              vy = "(" + y + "' + (" + side + "a*cos(" + phi + ") + b*sin(" + phi + "))*" + phi + "')";
            model::ContactDescription c;
            c.name = at("c", i) + side;
            if (i == 0) {
                c.gN = py;
                c.gammaT = {model::Field(vx)};
            } else {
                const std::string lx = at("x", i - 1), ly = at("y", i - 1), lp = at("p", i - 1);
                const std::string height =
                    "(-sin(" + lp + ")*(" + px + " - " + lx + ") + cos(" + lp + ")*(" + py + " - " + ly + "))";
                c.gN = height + " - b";
                c.gammaT = {model::Field("cos(" + lp + ")*(" + vx + " - " + lx + "') + sin(" + lp + ")*(" + vy + " - " +
                                         ly + "') + " + lp + "'*" + height)};
            }
            c.mu = {mu};
            c.eN = e;
            d.contacts.push_back(c);
        }
        d.initial.q.push_back({y, 0.2 + 0.4 * i + gap * (i + 1), {}});
        if (tilt != 0.0) d.initial.q.push_back({phi, i % 2 == 0 ? tilt : -tilt, {}});
    }
    d.T = T;
    d.U = U;
    return d;
}

/// Every block lies flat in its place, and every interface carries the weight above it.
void expect_standing(const Trajectory& motion, int blocks, double place, double force) {
    for (int i = 0; i < blocks; ++i) {
        const auto k = static_cast<std::size_t>(i);
        EXPECT_NEAR(motion.end.q[3 * k + 1], 0.2 + 0.4 * i, place) << motion.model << " block " << i;
        EXPECT_NEAR(motion.end.q[3 * k + 2], 0.0, place) << motion.model << " block " << i;
        for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(motion.end.u[3 * k + j], 0.0, place) << motion.model;
        const double left = motion.forces.at(2 * k).N, right = motion.forces.at(2 * k + 1).N;
        EXPECT_NEAR(left + right, (blocks - i) * g, force) << motion.model << " interface " << i;
        EXPECT_GE(std::min(left, right), -force);
    }
}

TEST(Stack, OfTenBlocksAtRestStaysAtRest) {
    const Trajectory motion = motion_of(built(stack(10, 0.0, 0.0, 0.5, 0.0)), 10.0);
    EXPECT_TRUE(motion.events.empty()) << story(motion);
    expect_standing(motion, 10, 1e-12, 1e-8);
    for (int i = 0; i < 10; ++i) EXPECT_NEAR(motion.end.q[static_cast<std::size_t>(3 * i)], 0.0, 1e-12) << "no creep";
}

TEST(Stack, OfTenBlocksDroppedFlatStandsWithoutRebound) {
    const Trajectory motion = motion_of(built(stack(10, 1e-3, 0.0, 0.5, 0.0)), 2.0);
    expect_standing(motion, 10, 1e-10, 1e-8);
}

/// A limit of events that every correct run stays below; a run with endless impacts of rounding size must fail soon.
const EventDriven few_events{.max_events = 3000};

TEST(Stack, OfBlocksDroppedFlatStandsWithRebound) {
    for (const int blocks : {2, 3, 4, 10}) {
        const Trajectory motion = motion_of(built(stack(blocks, 1e-3, 0.0, 0.5, 0.2)), 2.0, few_events);
        ASSERT_EQ(status_of(motion), "completed");
        expect_standing(motion, blocks, 1e-8, 1e-6);
    }
}

TEST(Stack, OfBlocksDroppedAskewRocksItselfToRest) {
    for (const int blocks : {1, 2, 3, 5, 10}) {
        const Trajectory motion = motion_of(built(stack(blocks, 1e-3, 1e-3, 0.5, 0.0)), 2.0, few_events);
        ASSERT_EQ(status_of(motion), "completed");
        expect_standing(motion, blocks, 1e-6, 1e-4);
        for (const Event& e : events_of(motion, EventKind::impact)) EXPECT_LE(e.work, 1e-12);
    }
}

TEST(Stack, OfBlocksDroppedAskewWithReboundRocksItselfToRest) {
    for (const int blocks : {1, 2, 3, 5}) {
        const Trajectory motion = motion_of(built(stack(blocks, 1e-3, 1e-3, 0.5, 0.3)), 2.0, few_events);
        ASSERT_EQ(status_of(motion), "completed");
        expect_standing(motion, blocks, 1e-6, 1e-4);
    }
}

TEST(Stack, OfTenBlocksLandsInTheOtherMethodsToo) {
    // Moreau's steps leave the blocks as deep in each other as they fall in one, springs as deep as they are soft.
    const double h = 1e-3, fall = h * std::sqrt(2.0 * g * 1e-2);
    const Trajectory stepped = motion_of(built(stack(10, 1e-3, 0.0, 0.5, 0.0)), 1.0, Moreau{.h = h});
    expect_standing(stepped, 10, 10 * fall, 1e-6);
    model::Description d = stack(10, 1e-3, 0.0, 0.5, 0.0);
    const double k = 1e5;
    d.penalty.emplace();
    d.penalty->k = k;
    d.penalty->d = 300.0;
    const Trajectory sprung = motion_of(built(d), 3.0, Penalty{});
    double height = 0.2;
    for (std::size_t i = 0; i < 10; ++i) {
        height -= static_cast<double>(10 - i) * g / (2.0 * k);  // two springs carry what is above
        EXPECT_NEAR(sprung.end.q[3 * i + 1], height, 1e-5) << i;
        EXPECT_NEAR(sprung.end.q[3 * i + 2], 0.0, 1e-10) << i;
        height += 0.4;
    }
}

TEST(Stack, OnSpringsWithDampersGainsNoEnergyWhereCornersNearlyStickTogether) {
    // Two corners of a block that has sunk in askew can hardly stick both: what slips may reverse at once.
    const double k = 1e6;
    for (const int blocks : {1, 2}) {
        model::Description d = stack(blocks, 2e-2, 1e-2, 0.5, 0.0);
        d.penalty.emplace();
        d.penalty->k = k;
        d.penalty->d = 100.0;
        const Model model = built(d);
        // From 0.275 s on, two blocks reach states in which stick of both corners is so nearly singular that most runs
        // end there with a failure. Which of them do depends on rounding errors. What was computed must be right.
        const Trajectory motion = attempt(model, 0.5, Penalty{});
        const bool completed = motion.status == Status::completed;
        ASSERT_TRUE(completed || (blocks == 2 && motion.status == Status::failed && !motion.reason.empty())) << blocks;
        EXPECT_GE(motion.end.t, completed ? 0.5 : 0.27);
        // The springs alone determine the normal forces, so that the motion is unique.
        for (const std::string& warning : motion.warnings)
            EXPECT_EQ(warning.find("the motion is not unique"), std::string::npos) << warning;
        model::Workspace workspace(model);
        model::Terms terms(model.layout());
        double before = motion.energy.initial;
        for (const Event& e : motion.events) {
            const trajectory::State x = motion.left(e.t);
            double now = e.energy_before;  // kinetic and potential; then that of the springs
            model::evaluate(model, workspace, e.t, x.q, x.u, terms);
            for (const model::Contact& c : model.contacts)
                now += 0.5 * k * std::pow(std::min(0.0, terms.positions[static_cast<std::size_t>(c.row)]), 2);
            EXPECT_LE(now, before + 1e-7 * motion.energy.initial) << blocks << " blocks, t = " << e.t;
            before = now;
        }
        double rest = 0.0;
        for (int i = 0; i < blocks; ++i) rest += g * (0.2 + 0.4 * i);
        if (completed) {
            EXPECT_NEAR(motion.energy.final, rest, 1e-3);
        }
    }
}

TEST(Stack, OnAFloorThatIsPulledAwayGivesWay) {
    // The floor accelerates with more than μg: the stack as a whole slides back on it at μg.
    model::Description d = stack(5, 0.0, 0.0, 0.3, 0.0);
    for (std::size_t k = 0; k < 2; ++k)
        d.contacts[k].gammaT[0] = model::Field(d.contacts[k].gammaT[0].source.text + " - 4*t");
    const Trajectory motion = motion_of(built(d), 0.5);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(motion.end.u[3 * i], 0.3 * g * 0.5, 1e-9) << i;
        EXPECT_NEAR(motion.end.q[3 * i + 2], 0.0, 1e-10) << i;
    }
}

// --- points against an obstacle --------------------------------------------------------------------------------------

TEST(Points, ManyAtOnceHitAPlaneEachForItself) {
    model::Description d;
    d.name = "rain of points";
    d.points.emplace();
    const int n = 200;
    for (int i = 0; i < n; ++i)
        d.points->positions.push_back({model::Field(1.0 * i), model::Field(0.0), model::Field(1.0 + 0.5 * (i % 4))});
    d.points->total_mass = 1.0 * n;
    d.points->gravity = {0.0, 0.0, -g};
    model::ObstacleDescription floor;
    floor.name = "floor";
    floor.normal = {0.0, 0.0, 1.0};
    floor.offset = 0.0;
    floor.eN = 1.0;
    d.obstacles.push_back(floor);
    const Trajectory motion = motion_of(built(d), 3.0);
    for (int i = 0; i < n; ++i) {
        const double h = 1.0 + 0.5 * (i % 4), fall = std::sqrt(2.0 * h / g);
        const double phase = std::fmod(3.0 + fall, 2.0 * fall) - fall;  // time since the last highest point
        EXPECT_NEAR(motion.end.q[static_cast<std::size_t>(3 * i + 2)], h - 0.5 * g * phase * phase, 1e-8) << i;
    }
}

}  // namespace
}  // namespace saltus::many_contacts_test
