// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/simulate_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "io/trajectories.hpp"

namespace saltus::simulate_report_test {

namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;
using trajectory::EventKind;
using trajectory::Status;
using trajectory::Trajectory;

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

Lines keys_of(const Json& j) {
    Lines keys;
    for (const auto& [key, value] : j.items()) keys.push_back(key);
    return keys;
}

Json json_of(const Trajectory& t, double t_end = 2.0) { return Json::parse(io::simulate_json(t, t_end)); }

bool has_line(const std::string& text, const std::string& line) {
    const Lines lines = lines_of(text);
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

/// The ball with as many impacts as asked for, at t = 1, 2, …
Trajectory with_impacts(int count) {
    Trajectory t = test::ball();
    const trajectory::Event hit = t.events[0];
    t.events.assign(static_cast<std::size_t>(count), hit);
    for (int k = 0; k < count; ++k) t.events[static_cast<std::size_t>(k)].t = k + 1.0;
    return t;
}

}  // namespace

// --- JSON

TEST(SimulateJson, HasTheDocumentedKeys) {
    const Json j = json_of(test::ball());
    EXPECT_EQ(keys_of(j), (Lines{"model", "method", "t_end", "status", "events", "final", "forces", "forces_unique",
                                 "energy", "guarantee", "violation", "audit", "warnings", "statistics"}));
    EXPECT_EQ(keys_of(j["events"][0]), (Lines{"t", "kind", "contacts", "u_minus", "u_plus", "Lambda", "work",
                                              "energy_before", "energy_after", "audit"}));
    EXPECT_EQ(keys_of(j["events"][0]["audit"]),
              (Lines{"work", "tangential", "obstacle_work", "energy_created", "contact", "law"}));
    EXPECT_EQ(keys_of(j["final"]), (Lines{"t", "q", "u"}));
    EXPECT_EQ(keys_of(j["energy"]), (Lines{"initial", "final", "balance_error"}));
    EXPECT_EQ(keys_of(j["violation"]), (Lines{"gap", "constraint"}));
    EXPECT_EQ(keys_of(j["audit"]), (Lines{"impacts", "creating", "energy_created", "energy_prevented", "worst"}));
}

TEST(SimulateJson, AJumpOfTheModelHasPositionsBeforeAndAfterItAndAnEnergy) {
    Trajectory t = test::ball();
    t.energy.jumps = -0.5;
    t.events[0].kind = trajectory::EventKind::jump;
    t.events[0].note = "reset";
    t.events[0].q_plus = {3.0};
    const Json j = json_of(t);
    EXPECT_EQ(j["events"][0]["kind"], "jump");
    EXPECT_EQ(j["events"][0]["note"], "reset");
    EXPECT_EQ(j["events"][0]["q_plus"], (Json{{"y", 3.0}}));
    EXPECT_EQ(j["events"][0]["q_minus"]["y"], t.events[0].q[0]);
    EXPECT_EQ(j["energy"]["jumps"], -0.5);
}

TEST(SimulateJson, DescribesTheMotionOfTheBall) {
    const Json j = json_of(test::ball(), 7.5);
    EXPECT_EQ(j["model"], "ball");
    EXPECT_EQ(j["method"], "event");
    EXPECT_EQ(j["t_end"], 7.5);  // asked for, not reached
    EXPECT_EQ(j["status"], "completed");
    ASSERT_EQ(j["events"].size(), 3U);
    EXPECT_EQ(j["events"][0], (Json{{"t", 0.5},
                                    {"kind", "impact"},
                                    {"contacts", {"floor"}},
                                    {"u_minus", {{"y", -4.0}}},
                                    {"u_plus", {{"y", 2.0}}},
                                    {"Lambda", {{"floor", {{"N", 6.0}, {"T", Json::array()}}}}},
                                    {"work", -6.0},
                                    {"energy_before", 8.0},
                                    {"energy_after", 2.0},
                                    {"audit",
                                     {{"work", -6.0},
                                      {"tangential", 0.0},
                                      {"obstacle_work", 0.0},
                                      {"energy_created", 0.0},
                                      {"contact", nullptr},
                                      {"law", nullptr}}}}));
    EXPECT_EQ(j["final"]["t"], 1.375);
    EXPECT_EQ(j["final"]["q"], (Json{{"y", 0.0}}));
    EXPECT_EQ(j["final"]["u"], (Json{{"y", -0.5}}));
    EXPECT_EQ(j["forces"], Json::object());
    EXPECT_EQ(j["energy"]["initial"], 8.0);
    EXPECT_EQ(j["audit"]["impacts"], 3);
    EXPECT_EQ(j["audit"]["energy_created"], 0.0);
    EXPECT_EQ(j["audit"]["worst"]["t"], 1.25);
    EXPECT_EQ(j["audit"]["worst"]["contacts"], Json{"floor"});
    EXPECT_EQ(j["audit"]["worst"]["work"], -0.375);
    EXPECT_EQ(j["warnings"], Json::array());
    EXPECT_EQ(j["statistics"]["steps"], 4);
}

TEST(SimulateJson, NamesElementsAndGivesFriction) {
    const Json j = json_of(test::rich());
    EXPECT_EQ(j["events"][0]["contacts"], (Json{"floor", "a,b", ""}));
    EXPECT_EQ(j["events"][0]["Lambda"]["floor"], (Json{{"N", 1.5}, {"T", {0.25, -0.0}}}));
    EXPECT_EQ(j["forces"]["vertical groove"], (Json{{"N", -3.0}, {"T", {0.5}}}));
    EXPECT_EQ(j["events"][0]["note"], "two solutions; the one nearest to the last was taken");
    EXPECT_FALSE(j["events"][0].contains("impacts"));
    EXPECT_EQ(j["events"][1]["kind"], "accumulation");
    EXPECT_EQ(j["events"][1]["impacts"], 41);
    EXPECT_EQ(j["events"][2]["kind"], "lift-off");
    EXPECT_EQ(j["events"][2]["u_plus"], Json::object());
}

TEST(SimulateJson, NumbersThatAreNotFiniteAreNull) {
    const Json j = json_of(test::rich(), HUGE_VAL);
    EXPECT_TRUE(j["t_end"].is_null());
    EXPECT_TRUE(j["final"]["u"]["y"].is_null());
    EXPECT_TRUE(j["events"][0]["Lambda"]["a,b"]["T"][0].is_null());
    EXPECT_TRUE(j["events"][2]["energy_after"].is_null());
}

TEST(SimulateJson, InvalidUtf8IsReplaced) {
    Trajectory t = test::ball();
    t.model = "\xff\xfe";
    t.elements[0].name = "\x80";
    t.events[0].note = "a\x01\"b\\";
    EXPECT_TRUE(Json::accept(io::simulate_json(t, 1.0)));
}

TEST(SimulateJson, AnEmptyTrajectoryGivesAValidDocument) {
    const Json j = json_of({});
    EXPECT_EQ(j["events"], Json::array());
    EXPECT_EQ(j["final"]["q"], Json::object());
    EXPECT_TRUE(j["audit"]["worst"].is_null());
}

TEST(SimulateJson, AuditSumsCreatedEnergyAndNamesTheWorstImpact) {
    Trajectory t = test::ball();
    t.events[0].audit.created = 0.5;
    t.events[1].work = 2.5;  // of which other impulses would have spared something
    t.events[1].audit = {0.75, -0.25, 2.0, 0.0, 0, "newton, eN = 2"};
    t.events[2].work = -3.0;
    t.events[2].audit.prevented = 0.125;
    Json audit = json_of(t)["audit"];
    EXPECT_EQ(audit["creating"], 2);
    EXPECT_EQ(audit["energy_created"], 2.5);
    EXPECT_EQ(audit["energy_prevented"], 0.125);
    EXPECT_EQ(audit["worst"], (Json{{"t", 1.0},
                                    {"contacts", {"floor"}},
                                    {"work", 2.5},
                                    {"tangential", 0.75},
                                    {"obstacle_work", -0.25},
                                    {"energy_created", 2.0},
                                    {"contact", "floor"},
                                    {"law", "newton, eN = 2"}}));
    t.events[1].kind = EventKind::stick;  // without impulses it is none of the audit's business
    t.events[1].impulses.clear();
    t.events[2].kind = EventKind::painleve;
    audit = json_of(t)["audit"];
    EXPECT_EQ(audit["impacts"], 2);
    EXPECT_EQ(audit["energy_created"], 0.5);
}

TEST(SimulateJson, AuditReportsAWorkThatIsNaNAsTheWorst) {
    for (std::size_t k = 0; k < 3; ++k) {
        Trajectory t = test::ball();
        t.events[k].work = t.events[k].audit.created = NAN;
        const Json audit = json_of(t)["audit"];
        EXPECT_TRUE(audit["energy_created"].is_null());
        EXPECT_TRUE(audit["worst"]["work"].is_null()) << k;
    }
}

TEST(SimulateJson, BeginsTheWarningsWithTheReason) {
    Trajectory t = test::ball();
    t.status = Status::failed;
    t.reason = "no solution at t = 1";
    t.warnings = {"another"};
    EXPECT_EQ(json_of(t)["status"], "failed");
    EXPECT_EQ(json_of(t)["warnings"], (Json{"no solution at t = 1", "another"}));
}

// --- text

TEST(SimulateText, SummarisesTheMotion) {
    EXPECT_EQ(io::simulate_text(test::ball(), 1.375),
              "ball\n"
              "  method      event-driven  (--t-end 2 --method event)\n"
              "  status      completed, t = 0 to 1.375\n"
              "  events      3\n"
              "    t               kind         contacts  velocity jumps\n"
              "    0.5             impact       floor     y': -4 -> 2\n"
              "    1               impact       floor     y': -2 -> 1\n"
              "    1.25            impact       floor     y': -1 -> 0.5\n"
              "  energy      initial 8, final 0.125, balance error 0\n"
              "  guarantee   events sampled\n"
              "  violation   gap 0, constraint 0\n"
              "  audit       3 impacts, no energy created by contacts\n"
              "  final       t = 1.375\n"
              "    y = 0                  y' = -0.5\n");
}

TEST(SimulateText, SaysWhyAndWhenARunEnded) {
    Trajectory t = test::ball();
    t.status = Status::failed;
    t.reason = "the step is too small";
    t.warnings = {"look at this"};
    const std::string text = io::simulate_text(t, 9.0);
    EXPECT_NE(text.find("  status      failed, t = 0 to 1.375 of 9\n              the step is too small\n"),
              std::string::npos);
    EXPECT_TRUE(text.ends_with("  warning     look at this\n"));
    t.status = Status::interrupted;
    EXPECT_TRUE(has_line(io::simulate_text(t, 9.0), "  status      interrupted, t = 0 to 1.375 of 9"));
}

TEST(SimulateText, ShowsTheFirstAndTheLastOfManyEvents) {
    const auto shown = [](int count) {
        int rows = 0;
        for (const std::string& line : lines_of(io::simulate_text(with_impacts(count), 99.0)))
            rows += line.find(" impact  ") != std::string::npos ? 1 : 0;
        return rows;
    };
    EXPECT_EQ(shown(0), 0);
    EXPECT_EQ(shown(25), 25);
    EXPECT_EQ(shown(26), 25);
    EXPECT_EQ(shown(1000), 25);
    const std::string text = io::simulate_text(with_impacts(1000), 99.0);
    EXPECT_TRUE(has_line(text, "  events      1000"));
    EXPECT_TRUE(has_line(text, "    ... 975 more ..."));
    EXPECT_NE(text.find("\n    20              impact"), std::string::npos);
    EXPECT_EQ(text.find("\n    21              impact"), std::string::npos);
    EXPECT_NE(text.find("\n    996             impact"), std::string::npos);
    EXPECT_EQ(io::simulate_text(with_impacts(25), 99.0).find("more"), std::string::npos);
}

TEST(SimulateText, ATimeBelowTheRoundingOfTheEndIsZero) {
    Trajectory t = test::ball();
    t.events[0].t = 1e-15;
    EXPECT_TRUE(has_line(io::simulate_text(t, 2.0), "    0               impact       floor     y': -4 -> 2"));
    t.events[0].t = 1e-12;
    EXPECT_TRUE(has_line(io::simulate_text(t, 2.0), "    1e-12           impact       floor     y': -4 -> 2"));
}

TEST(SimulateText, ShowsTheLargestJumpsAndCountsTheOthers) {
    Trajectory t = test::ball();
    t.coordinates = {"a", "b", "c", "d", "e"};
    t.events.resize(1);
    t.events[0].u_minus = {0.0, 1.0, 0.0, -3.0, 7.0};
    t.events[0].u_plus = {0.5, 3.0, 1.0, 1.0, 7.0 + 1e-15};
    EXPECT_NE(io::simulate_text(t, 2.0).find("  d': -3 -> 1, b': 1 -> 3, c': 0 -> 1 and 1 more\n"), std::string::npos);
}

TEST(SimulateText, ShowsAccumulationsAndNotes) {
    const std::string text = io::simulate_text(test::rich(), 2.0);
    EXPECT_NE(text.find("y': -2 -> 1; 41 impacts before\n"), std::string::npos);
    EXPECT_NE(
        text.find(
            "lift-off                   force rate jumps: floor 2.5, vertical groove -0.75; \u03bb_N crosses zero\n"),
        std::string::npos)
        << text;
    EXPECT_TRUE(has_line(text, "  forces      floor              N 9.81 T 0.1, -0.2"));
    EXPECT_TRUE(has_line(text, "              vertical groove    N -3 T 0.5"));
}

TEST(SimulateText, ShowsTheJumpsOfForceRatesAtALiftOff) {
    const std::string text = io::simulate_text(test::rich(), 2.0);
    EXPECT_NE(text.find("force rate jumps: floor 2.5, vertical groove -0.75"), std::string::npos) << text;
    const Json lift_off = json_of(test::rich()).at("events").at(2);
    EXPECT_EQ(lift_off.at("rate_jumps").at("floor").at("N"), 2.5);
    EXPECT_EQ(lift_off.at("rate_jumps").at("vertical groove").at("T").at(0), 0.0);
    EXPECT_FALSE(json_of(test::rich()).at("events").at(0).contains("rate_jumps"));
}

TEST(SimulateText, SaysWhichContactCreatesEnergy) {
    Trajectory t = test::ball();
    t.events[0].audit = {0.0, 0.0, 1.0, 0.0, 0, "newton, eN = 2"};
    t.events[1].audit.created = 0.25;
    EXPECT_TRUE(has_line(io::simulate_text(t, 2.0),
                         "  audit       3 impacts, 2 of them created energy: 1.25 in all, most at t = 0.5 (floor: "
                         "newton, eN = 2): 1"));
    t.events[0].audit = {};
    t.events[0].work = 1e-16;  // rounding
    t.events[1].audit = {};
    t.events[2].audit.prevented = 0.5;
    EXPECT_TRUE(has_line(io::simulate_text(t, 2.0),
                         "  audit       3 impacts, no energy created by contacts; 0.5 was prevented by repairs"));
    t.events[2].audit = {};
    EXPECT_TRUE(has_line(io::simulate_text(t, 2.0), "  audit       3 impacts, no energy created by contacts"));
    t.events[1].work = t.events[1].audit.created = NAN;
    EXPECT_NE(io::simulate_text(t, 2.0).find("created energy: nan"), std::string::npos);
    t.events.clear();
    EXPECT_TRUE(has_line(io::simulate_text(t, 2.0), "  audit       no impacts"));
}

TEST(SimulateText, ShowsTwelveCoordinatesOfMany) {
    Trajectory t = test::ball();
    t.coordinates.clear();
    t.events.clear();
    for (int k = 0; k < 264; ++k) t.coordinates.push_back("p" + std::to_string(k));
    t.end.q.assign(264, 1.0);
    t.end.u.assign(264, -0.0);
    const std::string text = io::simulate_text(t, 2.0);
    EXPECT_TRUE(has_line(text, "    p11 = 1                  p11' = 0"));
    EXPECT_EQ(text.find("p12"), std::string::npos);
    EXPECT_TRUE(has_line(text, "    and 252 more coordinates"));
}

TEST(SimulateText, ContainsNoComputingTimes) {
    Trajectory slow = test::ball();
    slow.statistics.seconds = 1e6;
    EXPECT_EQ(io::simulate_text(slow, 2.0), io::simulate_text(test::ball(), 2.0));
}

// --- tables

TEST(EventsCsv, HasALineForEachEvent) {
    EXPECT_EQ(io::events_csv(test::ball()),
              "t,kind,contacts,work,energy_before,energy_after,impacts,note,y,y'-,y'+,LambdaN floor\n"
              "0.5,impact,floor,-6,8,2,0,,0,-4,2,6\n"
              "1,impact,floor,-1.5,2,0.5,0,,0,-2,1,3\n"
              "1.25,impact,floor,-0.375,0.5,0.125,0,,0,-1,0.5,1.5\n");
}

/// A jump of the model changes positions; events without a jump keep theirs.
TEST(EventsCsv, HasPositionsAfterAJump) {
    Trajectory t = test::ball();
    t.events[1].kind = trajectory::EventKind::jump;
    t.events[1].q_plus = {0.75};
    const Lines lines = lines_of(io::events_csv(t));
    EXPECT_TRUE(lines[0].ends_with(",LambdaN floor,y+"));
    EXPECT_EQ(lines[1], "0.5,impact,floor,-6,8,2,0,,0,-4,2,6,0");
    EXPECT_EQ(lines[2], "1,jump,floor,-1.5,2,0.5,0,,0,-2,1,3,0.75");
}

TEST(EventsCsv, QuotesNamesAndLeavesMissingNumbersEmpty) {
    const Lines lines = lines_of(io::events_csv(test::rich()));
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_TRUE(lines[0].ends_with(
        ",y,y'-,y'+,LambdaN floor,LambdaT1 floor,LambdaT2 floor,LambdaN vertical groove,"
        "LambdaT vertical groove,\"LambdaT a,b\",LambdaN ,rate jump lambdaN floor,rate jump lambdaT1 "
        "floor,rate jump lambdaT2 floor,rate jump lambdaN vertical groove,"
        "rate jump lambdaT vertical groove"));
    EXPECT_EQ(lines[1],
              "0.5,impact,\"floor;a,b;\",-6,8,2,0,two solutions; the one nearest to the last was taken,0,-4,2,1.5,0.25,"
              "0,0,0,nan,5e-324,0,0,0,0,0");
    EXPECT_TRUE(lines[2].starts_with("1,accumulation,floor,-1.5,2,0.5,41,,0,-2,1,0,"));
    EXPECT_EQ(lines[3],
              "1.25,lift-off,,-0.375,0.5,inf,0,\u03bb_N crosses zero,0,-1,,1.5,0,0,0,0,0,0,2.5,0.5,-1,-0.75,0");
}

TEST(EventsCsv, DoublesQuotes) {
    Trajectory t = test::ball();
    t.elements[0].name = "5\" nail";
    EXPECT_NE(io::events_csv(t).find("\n0.5,impact,\"5\"\" nail\",-6,"), std::string::npos);
}

TEST(StatesCsv, HasEquidistantTimesAndBothSidesOfEveryEvent) {
    EXPECT_EQ(io::states_csv(test::ball(), 12),  // every 1/8
              "t,y,y'\n"
              "0,1,0\n"
              "0.125,0.9375,-1\n"
              "0.25,0.75,-2\n"
              "0.375,0.4375,-3\n"
              "0.5,0,-4\n"
              "0.5,0,2\n"
              "0.625,0.1875,1\n"
              "0.75,0.25,0\n"
              "0.875,0.1875,-1\n"
              "1,0,-2\n"
              "1,0,1\n"
              "1.125,0.0625,0\n"
              "1.25,0,-1\n"
              "1.25,0,0.5\n"
              "1.375,0,-0.5\n");
}

// A ball falls with g = 8 in steps of 1/4: u_k = -2k, and q follows the mean velocity. Every line pairs the position
// and the velocity of the same time, also where rounding puts a sample shortly after the end of a step.
TEST(StatesCsv, OfTimeSteppingHasPositionsAndVelocitiesOfTheSameTime) {
    for (const double middle : {0.5, std::nextafter(0.5, 0.0)}) {
        Trajectory t = test::ball();
        t.stepped = true;
        t.arcs.assign(1, trajectory::Arc{});
        const double ends[] = {0.0, 0.25, middle, 0.75, 1.0};
        for (int k = 0; k < 4; ++k) {
            ode::Dense& step = t.arcs[0].steps.emplace_back();
            step.reset(ends[k], ends[k + 1], 2, 2);
            step.term(0)[0] = 1.0 - 0.25 * k * k;
            step.term(1)[0] = 1.0 - 0.25 * (k + 1) * (k + 1);
            step.term(0)[1] = step.term(1)[1] = -2.0 * (k + 1);
        }
        t.arcs[0].t_end = 1.0;
        t.end = {1.0, {-3.0}, {-8.0}};
        t.events[0].t = 0.5;  // has no lines of its own: time-stepping does not resolve events
        EXPECT_EQ(io::states_csv(t, 5), "t,y,y'\n0,1,0\n0.25,0.75,-2\n0.5,0,-4\n0.75,-1.25,-6\n1,-3,-8\n");
    }
}

TEST(StatesCsv, TwoSamplesAreTheEnds) {
    const Lines lines = lines_of(io::states_csv(test::ball(), 2));
    ASSERT_EQ(lines.size(), 9U);  // header, two ends, six sides
    EXPECT_EQ(lines[1], "0,1,0");
    EXPECT_EQ(lines[2], "0.5,0,-4");
    EXPECT_EQ(lines[8], "1.375,0,-0.5");
}

TEST(StatesCsv, ShowsAnImpactAtTheStartAndAtTheEnd) {
    Trajectory t = test::ball();
    t.events[0].t = 0.0;
    t.events[2].t = 1.375;
    const Lines lines = lines_of(io::states_csv(t, 2));
    EXPECT_EQ(lines[1], "0,0,-4");
    EXPECT_EQ(lines[2], "0,0,2");
    EXPECT_EQ(lines[lines.size() - 2], "1.375,0,-1");
    EXPECT_EQ(lines.back(), "1.375,0,0.5");
}

TEST(StatesCsv, HasOnlyEventsAndEndsIfNoArcsWereKept) {
    Trajectory t = test::ball();
    t.arcs.clear();
    EXPECT_EQ(io::states_csv(t, 100), io::states_csv(test::ball(), 2));
}

TEST(StatesCsv, AMotionOfNoLengthHasOnlyItsStart) {
    Trajectory t = test::ball();
    t.end = t.start;
    t.arcs.clear();
    t.events.clear();
    EXPECT_EQ(io::states_csv(t, 100), "t,y,y'\n0,1,0\n");
}

TEST(StatesCsv, NumbersReadBackBitByBit) {
    Trajectory t = test::ball();
    t.start.q[0] = 0.1 + 0.2;
    t.start.u[0] = -1.0 / 3.0;
    const std::string line = lines_of(io::states_csv(t, 2))[1];
    const std::size_t comma = line.find(',', 2);
    EXPECT_EQ(std::stod(line.substr(2, comma - 2)), 0.1 + 0.2);
    EXPECT_EQ(std::stod(line.substr(comma + 1)), -1.0 / 3.0);
}

}  // namespace saltus::simulate_report_test
