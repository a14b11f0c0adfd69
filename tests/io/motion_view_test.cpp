// SPDX-License-Identifier: Apache-2.0
//
// Motions for pages: what the curves must show, and how models are drawn.
#include "saltus/io/page/motion_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "saltus/integrate/mode/active.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/io/page/report_page.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/drawing.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "support.hpp"

namespace saltus::motion_view_test {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string path_of(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"; }

struct Motion {
    model::Model model;
    trajectory::Trajectory trajectory;
    io::MotionView view;

    explicit Motion(const std::string& name, const std::vector<std::pair<std::string, std::string>>& set = {},
                    integrate::Method method = integrate::EventDriven{}, double t_end = 0.0) {
        model::BuildOptions options;
        options.set = set;
        options.penalty = std::holds_alternative<integrate::Penalty>(method);
        model = model::build(io::read_model(path_of(name)), options);
        integrate::Options run;
        run.t_end = t_end > 0.0 ? t_end : *model.settings->simulate.t_end;
        trajectory = integrate::simulate(model, method, run);
        view = io::motion_view(trajectory, &model);
    }
};

double highest(const io::Curve& c) { return *std::max_element(c.values.begin(), c.values.end()); }
double lowest(const io::Curve& c) { return *std::min_element(c.values.begin(), c.values.end()); }

std::size_t jumps(const Motion& m, const io::Curve& c) {
    return static_cast<std::size_t>(std::count_if(m.view.breaks.begin(), m.view.breaks.end(), [&](std::size_t k) {
        return std::abs(c.values[k + 1] - c.values[k]) > 1e-12;
    }));
}

TEST(MotionView, ShowsTheExtremesAndTheJumpsOfABouncingBall) {
    const Motion m("bouncing-ball", {}, integrate::EventDriven{}, 2.0);
    const double v = std::sqrt(2.0 * 9.81);
    EXPECT_EQ(highest(m.view.q[0]), 1.0);
    EXPECT_NEAR(lowest(m.view.u[0]), -v, 1e-9);
    EXPECT_NEAR(highest(m.view.u[0]), 0.8 * v, 1e-9);
    ASSERT_EQ(m.trajectory.events.size(), 3U);
    EXPECT_EQ(jumps(m, m.view.u[0]), 3U);
    EXPECT_EQ(jumps(m, m.view.q[0]), 0U);
    EXPECT_NEAR(lowest(m.view.gaps[0]), 0.0, 1e-12);
    for (std::size_t k = 0; k + 1 < m.view.t.size(); ++k) EXPECT_LE(m.view.t[k], m.view.t[k + 1]);
}

/// Straight lines between the kept samples differ from the motion by at most the tolerance.
TEST(MotionView, StraightLinesBetweenSamplesFollowTheMotion) {
    const Motion m("rocking-bar");
    EXPECT_LT(m.view.t.size(), 2000U);
    double worst = 0.0;
    std::size_t k = 0;
    for (int s = 1; s < 4000; ++s) {
        const double t = 3.0 * s / 4000.0;
        while (k + 2 < m.view.t.size() && m.view.t[k + 1] <= t) ++k;
        const double share = (t - m.view.t[k]) / (m.view.t[k + 1] - m.view.t[k]);
        const trajectory::State x = m.trajectory.right(t);
        for (std::size_t i = 0; i < 3; ++i) {
            const std::vector<double>& q = m.view.q[i].values;
            const double range = highest(m.view.q[i]) - lowest(m.view.q[i]);
            worst = std::max(worst, std::abs(q[k] + share * (q[k + 1] - q[k]) - x.q[i]) / range);
        }
    }
    EXPECT_LT(worst, 2e-3);
    EXPECT_GT(worst, 0.0);
}

/// While a slider moves the page gets fewer samples, whose straight lines still follow the motion to a part of a pixel.
TEST(MotionView, LiveViewsHaveFewerSamplesAndFollowTheMotion) {
    const Motion m("rocking-bar");
    const io::MotionView live = io::motion_view(m.trajectory, &m.model, io::ViewDetail::live);
    EXPECT_LT(live.t.size(), m.view.t.size());
    EXPECT_EQ(live.breaks.size(), m.view.breaks.size());
    EXPECT_TRUE(live.planes.empty());
    const double range = highest(m.view.q[2]) - lowest(m.view.q[2]);
    std::size_t k = 0;
    for (std::size_t i = 0; i < m.view.t.size(); ++i) {
        const double t = m.view.t[i];
        while (k + 2 < live.t.size() && live.t[k + 1] < t) ++k;
        const double length = live.t[k + 1] - live.t[k], s = length > 0.0 ? (t - live.t[k]) / length : 0.0;
        const double between = live.q[2].values[k] + s * (live.q[2].values[k + 1] - live.q[2].values[k]);
        EXPECT_NEAR(between, m.view.q[2].values[i], 2e-3 * range) << t;
    }
}

/// Both ends of the bar are ends of a segment and places of contacts.
TEST(MotionJson, NumbersOfADrawingThatAgreeAreWrittenOnce) {
    const Motion m("rocking-bar");
    const Json d = Json::parse(io::motion_json(m.view, &m.model))["drawing"];
    EXPECT_LT(d["values"].size(), m.view.drawing.size());
    for (std::size_t i = 0; i < d["values"].size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (d["values"][i].is_array()) {
                EXPECT_NE(d["values"][i], d["values"][k]) << i << " and " << k;
            }
    const auto expected = [&](int number) {
        const io::Curve& c = m.view.drawing[static_cast<std::size_t>(number)];
        return c.values.back();
    };
    const auto written = [&](const Json& index) {
        const Json& v = d["values"][index.get<std::size_t>()];
        return v.is_array() ? v.back().get<double>() : v.get<double>();
    };
    for (std::size_t s = 0; s < m.model.drawing->shapes.size(); ++s)
        for (std::size_t k = 0; k < m.model.drawing->shapes[s].values.size(); ++k)
            EXPECT_NEAR(written(d["shapes"][s]["values"][k]), expected(m.model.drawing->shapes[s].values[k]), 1e-5);
    for (std::size_t c = 0; c < m.model.drawing->contacts.size(); ++c)
        for (std::size_t k = 0; k < 2; ++k)
            EXPECT_NEAR(written(d["contacts"][c]["at"][k]), expected(m.model.drawing->contacts[c].at[k]), 1e-5);
}

/// The works explain every change of T + U: through impacts, friction, damping, drives and moving obstacles.
TEST(MotionView, WorksExplainTheEnergy) {
    for (const char* const name :
         {"rocking-bar", "impact-oscillator", "friction-oscillator", "ball-on-moving-plane", "constrained-beam",
          "sphere-on-plane", "mass-and-lift", "woodpecker", "damped-contact", "sampled-arm"}) {
        // Springs with damping that begins and ends with the contact: its power jumps at both ends of an arc.
        const bool springs = std::string(name) == "damped-contact";
        const Motion m(name, {},
                       springs ? integrate::Method(integrate::Penalty{}) : integrate::Method(integrate::EventDriven{}),
                       std::string(name) == "impact-oscillator" ? 10.0 : 0.0);
        double scale = 1e-12, worst = 0.0;
        const double start = m.view.energy[0].values[0] + m.view.energy[1].values[0];
        for (std::size_t k = 0; k < m.view.t.size(); ++k) {
            const double energy = m.view.energy[0].values[k] + m.view.energy[1].values[k];
            double work = 0.0;
            for (const io::Curve& c : m.view.work) work += c.values[k], scale = std::max(scale, std::abs(c.values[k]));
            scale = std::max({scale, m.view.energy[0].values[k], std::abs(energy - start)});
            worst = std::max(worst, std::abs(energy - start - work));
        }
        EXPECT_LT(worst / scale, 1e-5) << name;
    }
}

/// The reactions at the end of the curves act on the coordinates like the reactions that the simulation computed for
/// its end. The reactions themselves need not be unique.
TEST(MotionView, ForcesAgreeWithTheSimulationAtTheEnd) {
    for (const char* const name : {"rocking-bar", "constrained-beam", "sphere-on-plane", "friction-oscillator",
                                   "two-link-underactuated", "forklift"}) {
        const Motion m(name);
        ASSERT_EQ(m.view.forces.size(), m.trajectory.forces.size()) << name;
        model::Workspace workspace(m.model);
        model::Terms terms(m.model.layout());
        model::evaluate(m.model, workspace, m.trajectory.end.t, m.trajectory.end.q, m.trajectory.end.u, terms);
        const std::vector<integrate::ElementRows> rows = integrate::element_rows(m.model);
        std::vector<double> difference(m.model.coordinates.size(), 0.0);
        double scale = 1e-12;
        const auto add = [&](int row, double value) {
            const model::Pattern& W = m.model.layout().rows;
            for (int k = W.start[static_cast<std::size_t>(row)]; k < W.start[static_cast<std::size_t>(row) + 1]; ++k) {
                const double force = value * terms.W[static_cast<std::size_t>(k)];
                difference[static_cast<std::size_t>(W.column[static_cast<std::size_t>(k)])] += force;
                scale = std::max(scale, std::abs(force));
            }
        };
        for (std::size_t i = 0; i < m.view.forces.size(); ++i) {
            const trajectory::Reaction& r = m.trajectory.forces[i];
            if (rows[i].normal >= 0) {
                add(rows[i].normal, m.view.forces[i].N.values.back());
                add(rows[i].normal, -r.N);
            }
            for (std::size_t k = 0; k < r.T.size(); ++k) {
                add(rows[i].first_slip + static_cast<int>(k), m.view.forces[i].T[k].values.back());
                add(rows[i].first_slip + static_cast<int>(k), -r.T[k]);
            }
        }
        for (const double d : difference) EXPECT_NEAR(d, 0.0, 1e-9 * scale) << name;
    }
}

TEST(MotionView, PenaltyForcesAreThoseOfTheSprings) {
    const Motion m("bouncing-ball", {{"e", "1"}}, integrate::Penalty{}, 0.6);
    // ½ k d² = m g (h + d): the largest force is k d.
    const double k = 1e6, mg = 9.81, d = (mg + std::sqrt(mg * mg + 2.0 * k * mg)) / k;
    EXPECT_NEAR(highest(m.view.forces[0].N), k * d, 1e-3 * k * d);
    EXPECT_NEAR(lowest(m.view.gaps[0]), -d, 1e-3 * d);
}

TEST(MotionView, TimeSteppingHasNoForcesBetweenItsSteps) {
    integrate::Moreau moreau;
    moreau.h = 1e-3;
    const Motion m("bouncing-ball", {}, moreau, 1.0);
    EXPECT_TRUE(m.view.forces.empty());
    const Json j = Json::parse(io::motion_json(m.view, &m.model));
    EXPECT_TRUE(j["work"].empty());
    EXPECT_TRUE(j["stepped"].get<bool>());
}

TEST(MotionView, ManyEventsAreShownByTheirExtremes) {
    const Motion m("impact-oscillator", {{"s", "0"}}, integrate::EventDriven{}, 2500.0);
    ASSERT_GT(m.trajectory.events.size(), 1000U);
    EXPECT_TRUE(m.view.decimated);
    EXPECT_LT(m.view.t.size(), 6000U);
    double high = -1e300;
    for (const trajectory::Event& e : m.trajectory.events) high = std::max(high, e.u_minus[0]);
    EXPECT_GE(highest(m.view.u[0]), high - 1e-9);
    EXPECT_LT(io::motion_json(m.view, &m.model).size(), 1500000U);
}

TEST(MotionView, CountsAllEventsAlsoThoseItDoesNotList) {
    const Motion m("impact-oscillator", {{"s", "0"}}, integrate::EventDriven{}, 2500.0);
    const Json j = Json::parse(io::motion_json(m.view, &m.model));
    ASSERT_LT(j["events"].size(), m.trajectory.events.size());
    std::size_t sum = 0;
    for (const auto& [kind, count] : j["event_kinds"].items()) {
        const auto own = std::count_if(m.trajectory.events.begin(), m.trajectory.events.end(),
                                       [&](const trajectory::Event& e) { return to_string(e.kind) == kind; });
        EXPECT_EQ(count.get<long>(), own) << kind;
        sum += count.get<std::size_t>();
    }
    EXPECT_EQ(sum, m.trajectory.events.size());
    EXPECT_EQ(j["event_count"].get<std::size_t>(), sum);
}

// ---- drawings

const io::EnergyPlane& plane_of(const Motion& m, int coordinate) {
    const auto at = std::find_if(m.view.planes.begin(), m.view.planes.end(),
                                 [&](const io::EnergyPlane& p) { return p.coordinate == coordinate; });
    if (at == m.view.planes.end()) throw std::runtime_error("there is no such plane");
    return *at;
}

TEST(EnergyPlane, OfTheRockingBarHasTheLeastEnergyOfAnInclination) {
    const Motion m("rocking-bar", {}, integrate::EventDriven{}, 0.3);
    const io::EnergyPlane& p = plane_of(m, 2);
    ASSERT_TRUE(p.least);
    // The lower end touches the floor, the spring is relaxed, and only the rotation has kinetic energy.
    const double mass = 1.0, g = 9.81, a = 0.5, JS = mass * a * a / 3.0;
    for (int b = 0; b < p.nu; ++b)
        for (int k = 0; k < p.nq; ++k) {
            const double phi = p.q[0] + (p.q[1] - p.q[0]) * k / (p.nq - 1);
            const double u = p.u[0] + (p.u[1] - p.u[0]) * b / (p.nu - 1);
            EXPECT_NEAR(p.values[static_cast<std::size_t>(b * p.nq + k)],
                        mass * g * a * std::abs(std::sin(phi)) + 0.5 * JS * u * u, 1e-4)
                << "phi = " << phi << ", phi' = " << u;
        }
}

TEST(EnergyPlane, OfABouncingBallEndsAtTheFloor) {
    const Motion m("bouncing-ball", {}, integrate::EventDriven{}, 1.0);
    const io::EnergyPlane& p = plane_of(m, 0);
    ASSERT_TRUE(p.least);
    for (int k = 0; k < p.nq; ++k) {
        const double y = p.q[0] + (p.q[1] - p.q[0]) * k / (p.nq - 1), u = p.u[0];
        const double value = p.values[static_cast<std::size_t>(k)];
        if (y < -1e-6) {
            EXPECT_TRUE(std::isnan(value)) << y;
        } else if (y > 1e-6) {
            EXPECT_NEAR(value, 9.81 * y + 0.5 * u * u, 1e-9) << y;
        }
    }
}

TEST(EnergyPlane, OfAConstrainedCoordinateMovesTheOthersWithIt) {
    const Motion m("constrained-beam", {}, integrate::EventDriven{}, 2.0);
    const io::EnergyPlane& p = plane_of(m, 2);
    ASSERT_TRUE(p.least);
    // [Leine] 7.4: T = ½(m l² + J_S) θ'², U = m g l (1 − cos θ).
    for (int k = 0; k < p.nq; ++k) {
        const double theta = p.q[0] + (p.q[1] - p.q[0]) * k / (p.nq - 1), u = p.u[0];
        EXPECT_NEAR(p.values[static_cast<std::size_t>(k)], 0.5 * (4.0 / 3.0) * u * u + 10.0 * (1.0 - std::cos(theta)),
                    1e-6)
            << theta;
    }
}

TEST(Units, OfAModelAreThoseThatItGivesAndSiOtherwise) {
    const std::string text = "[system]\nq = [\"x\", \"phi\"]\nT = \"x'^2 + phi'^2\"\n";
    const auto units = [](const std::string& model) {
        return io::units_of(io::parse_model(model, "m.toml"), {"x", "phi"});
    };
    EXPECT_EQ(units(text).time, "");
    const io::Units given = units(text + "unit = { x = \"mm\", force = \"kN\" }\n");
    EXPECT_EQ(given.time, "s");
    EXPECT_EQ(given.force, "kN");
    EXPECT_EQ(given.energy, "J");
    EXPECT_EQ(given.q, (std::vector<std::string>{"mm", ""}));
    EXPECT_EQ(io::units_json(io::parse_model(text, "m.toml")), "");
    EXPECT_EQ(io::units_json(io::parse_model(text + "unit = { x = \"mm\", force = \"kN\" }\n", "m.toml")),
              R"({"time":"s","length":"m","force":"kN","energy":"J","q":{"x":"mm","phi":""}})");
    EXPECT_EQ(test::refusal_of([&] { units(text + "unit = { y = \"m\" }\n"); }),
              "m.toml:4:10: unit of [system] names 'y', which is no coordinate; known are time, length, force, energy, "
              "x and phi");
    EXPECT_EQ(test::refusal_of([&] { units(text + "unit = { x = 1 }\n"); }),
              "m.toml:4:14: the unit of 'x' is a number, not a text such as \"m\"");
}

TEST(Drawing, EveryShippedModelHasADrawing) {
    std::size_t models = 0;
    for (const fs::directory_entry& file : fs::directory_iterator(std::string(SALTUS_SOURCE_DIR) + "/models")) {
        if (file.path().extension() != ".toml") continue;
        ++models;
        const model::Description d = io::read_model(file.path().string());
        EXPECT_TRUE(d.draw.has_value()) << file.path();
        const model::Model m = model::build(d);
        ASSERT_NE(m.drawing, nullptr) << file.path();
        std::vector<double> numbers(m.drawing->size());
        m.drawing->evaluate(0.0, m.q0, numbers);
        for (const double x : numbers) EXPECT_TRUE(std::isfinite(x)) << file.path();
        EXPECT_TRUE(!m.drawing->shapes.empty() || m.drawing->points > 0) << file.path();
    }
    EXPECT_GE(models, 22U);
}

/// Contacts are marked at their points: the height of the marks of a bar is the gap.
TEST(Drawing, ExpressionsAreThoseOfTheCoordinates) {
    const model::Model m = model::build(io::read_model(path_of("rocking-bar")));
    const std::vector<double> q{0.3, 0.5, 0.4};
    std::vector<double> numbers(m.drawing->size());
    m.drawing->evaluate(0.0, q, numbers);
    ASSERT_EQ(m.drawing->contacts.size(), 2U);
    const auto height = [&](std::size_t k) { return numbers[static_cast<std::size_t>(m.drawing->contacts[k].at[1])]; };
    EXPECT_NEAR(height(0), 0.5 - 0.5 * std::sin(0.4), 1e-15);
    EXPECT_NEAR(height(1), 0.5 + 0.5 * std::sin(0.4), 1e-15);
}

TEST(Drawing, ErrorsNameLineAndColumn) {
    const std::string base = R"(
[system]
q = ["x"]
T = "x'^2/2"
[[contact]]
name = "floor"
gN = "x"
[initial]
q = { x = 1.0 }
[draw]
)";
    const auto refusal = [&](const std::string& draw) {
        return test::refusal_of([&] { model::build(io::parse_model(base + draw, "m.toml")); });
    };
    EXPECT_EQ(refusal("circles = [{ at = [0, \"x\"], radius = 0.1 }]"), "accepted");
    EXPECT_NE(refusal("circles = [{ at = [0, \"z\"], radius = 0.1 }]").find("m.toml:11:24: undefined name 'z'"),
              std::string::npos);
    EXPECT_NE(refusal("circles = [{ at = [0, \"x'\"], radius = 0.1 }]").find("it may depend on t, coordinates"),
              std::string::npos);
    EXPECT_NE(refusal("circles = [{ at = [0, 1], radius = 0.1, colour = 3 }]").find("unknown key 'colour'"),
              std::string::npos);
    EXPECT_NE(refusal("circles = [{ at = [0, 1] }]").find("has no radius"), std::string::npos);
    EXPECT_NE(refusal("circels = []").find("did you mean 'circles'?"), std::string::npos);
    EXPECT_NE(refusal("segments = [{ from = [0, 1], to = [0, 1, 2] }]").find("3 components, points before it have 2"),
              std::string::npos);
    EXPECT_NE(refusal("contacts = { flor = { at = [0, 0] } }").find("did you mean 'floor'?"), std::string::npos);
    EXPECT_NE(refusal("view = [0, 0, 0, 1]").find("view of [draw] is empty"), std::string::npos);
    EXPECT_NE(refusal("polygons = [{ points = [[0, 0], [1, 1]] }]").find("at least three"), std::string::npos);
    EXPECT_NE(refusal("segments = [{ from = [0, 1], to = [0, 2], style = \"fat\" }]").find("unknown style 'fat'"),
              std::string::npos);
}

TEST(Provenance, QuotedWordsAreSplitAgain) {
    const std::vector<std::string> words{"--set", "a=1", "--set", "b='x y'", "it's", "", "\\"};
    std::string line;
    for (const std::string& w : words) line += (line.empty() ? "" : " ") + io::quoted_word(w);
    EXPECT_EQ(io::split_words(line), words);
    EXPECT_EQ(io::split_words("a \"b c'\" d\\ e"), (std::vector<std::string>{"a", "b c'", "d e"}));
}

// ---- pages

io::Report report_of(const Motion& m) {
    io::Report report;
    report.title = "a <title> & more </script>";
    report.parts.push_back({"motion", "run", "", io::motion_json(m.view, &m.model), m.trajectory.model});
    return report;
}

TEST(Report, TheDocumentIsJsonAndCannotEndItsScript) {
    const Motion m("bouncing-ball", {}, integrate::EventDriven{}, 1.0);
    const io::Report report = report_of(m);
    const Json j = Json::parse(io::report_json(report));
    EXPECT_EQ(j["title"], "a <title> & more </script>");
    EXPECT_EQ(j["parts"][0]["data"]["q"][0]["name"], "y");
    const std::string html = io::report_html(report);
    const std::size_t title = html.find("a \\u003ctitle> & more \\u003c/script>");
    EXPECT_EQ(title != std::string::npos, io::has_interactive_page());
    EXPECT_LT(html.size(), 2000000U);
}

TEST(Report, StaticPagesHavePicturesAndSaySo) {
    const Motion m("rocking-bar");
    const std::string html = io::static_report_html(report_of(m));
    EXPECT_NE(html.find("Static plots: this Saltus was built without Node"), std::string::npos);
    EXPECT_NE(html.find("a &lt;title&gt; &amp; more &lt;/script&gt;"), std::string::npos);
    std::size_t plots = 0;
    for (std::size_t at = html.find("<svg class=\"plot\""); at != std::string::npos;
         at = html.find("<svg class=\"plot\"", at + 1))
        ++plots;
    EXPECT_EQ(plots, 7U);  // coordinates, velocities, gaps, forces, impulses, energy, work
    EXPECT_NE(html.find("<svg class=\"scene\""), std::string::npos);
    EXPECT_EQ(html.find("<script"), std::string::npos);
}

}  // namespace

}  // namespace saltus::motion_view_test
