// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/pair_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "saltus/ensemble/axis_text.hpp"
#include "saltus/io/report/study_report.hpp"
#include "sensitivity/alscher_models.hpp"

namespace saltus::sensitivity::pair_report_test {
namespace {

using namespace saltus::test;
using Json = nlohmann::json;

Pair collision() { return pair_of(bead_text(falling_bead, collision_bump), tight_pair(0.6)); }

TEST(PairReport, JsonHasTheKeysThatOthersRead) {
    const Pair pair = collision();
    const Json j = Json::parse(io::pair_json(pair));
    EXPECT_EQ(j.at("c_bar").at(0).get<double>(), pair.c_bar[0]);
    EXPECT_EQ(j.at("c_hat").at(0).get<double>(), pair.c_hat[0]);
    EXPECT_EQ(j.at("theorem"), "3.3");
    EXPECT_EQ(j.at("bound_constant").get<double>(), pair.constant.value);
    EXPECT_EQ(j.at("bound_time").get<double>(), pair.constant.t);
    for (const Json& h : j.at("hypotheses")) {
        EXPECT_TRUE(h.at("name").is_string());
        EXPECT_TRUE(h.at("holds").get<bool>()) << h.dump();
        EXPECT_TRUE(h.contains("value"));
    }
    const std::size_t n = pair.points.size();
    for (const char* key : {"error", "bound", "times", "error_q", "error_u", "h", "phi", "piece", "region"})
        EXPECT_EQ(j.at(key).size(), n) << key;
    // The terms add up to the bound.
    for (std::size_t k = 0; k < n; k += 37) {
        double sum = 0.0;
        for (const auto& [name, list] : j.at("terms").items()) sum += list.at(k).get<double>();
        EXPECT_NEAR(sum, j.at("bound").at(k).get<double>(), 1e-15);
    }
    EXPECT_EQ(j.at("pieces").at(0).at("event").at("critical_interval").at(1).get<double>(), pair.c_hat[0]);
}

TEST(PairReport, JsonSaysNullWhereNoTheoremApplies) {
    Bump b;
    b.delta[0] = 30.0;
    const Json j = Json::parse(io::pair_json(pair_of(bead_text(falling_bead, b), tight_pair(0.6))));
    EXPECT_TRUE(j.at("theorem").is_null());
    EXPECT_TRUE(j.at("bound").back().is_null());
    EXPECT_TRUE(j.at("error").back().is_number());
    EXPECT_NE(j.at("reason").get<std::string>(), "");
}

TEST(PairReport, TextTellsTheVerdictAndTheTerms) {
    const std::string text = io::pair_text(collision());
    for (const char* part :
         {"Theorem 3.3 applies", "holds (a1) approach", "critical interval [0.402699747849, 0.402917542237]",
          "|theta_p'(c_min)|", "observed constant C", "int |delta| uncovered"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(text.find("FAILS"), std::string::npos);
}

TEST(PairReport, CsvHasBothCurvesAndBothSidesOfTheJump) {
    const Pair pair = collision();
    const std::string csv = io::pair_csv(pair);
    EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), pair.points.size() + 1);
    EXPECT_NE(csv.find("nominal x,nominal y,nominal x',nominal y',perturbed x"), std::string::npos);
    EXPECT_NE(csv.find("\n" + number_text(pair.c_bar[0]) + ",0,before,"), std::string::npos);
    EXPECT_NE(csv.find("\n" + number_text(pair.c_bar[0]) + ",0,critical,"), std::string::npos);
}

TEST(StudyReport, AllThreeFormsTellTheSame) {
    Bead bead = falling_bead;
    bead.theta = "a*cos(b*t)";
    EventStudyOptions o;
    o.t_end = 0.5;
    for (const char* const text : {"a=1e-4:1e-3:2", "b=10:30:2"})
        o.vary.push_back(ensemble::axis_from_text(text, ensemble::AxisUse::values, "--vary"));
    const EventStudy study = study_events(io::parse_model(bead_text(bead, {}), "test"), o);
    const Json j = Json::parse(io::study_json(study));
    EXPECT_EQ(j.at("runs").size(), 4U);
    EXPECT_EQ(j.at("runs").at(3).at("parameters").at("b"), 30.0);
    EXPECT_EQ(j.at("runs").at(3).at("changes").at(0).at("dt").get<double>(), study.runs[3].time_change[0]);
    EXPECT_EQ(j.at("events").at(0).at("fits").at(0).at("exponents").at("a").get<double>(),
              study.events[0].answers[0].law.exponents[0]);
    const std::string csv = io::study_csv(study), text = io::study_text(study);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
    EXPECT_EQ(csv.substr(0, csv.find('\n')), "a,b,event,kind,contacts,t_nominal,t,dt,dimpulse,exponent_a,exponent_b");
    EXPECT_NE(text.find("change of its time ~ a^"), std::string::npos) << text;
}

}  // namespace
}  // namespace saltus::sensitivity::pair_report_test
