// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/axis_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/base/error.hpp"

namespace saltus::ensemble::axis_text_test {
namespace {

std::string refusal(const std::string& text, AxisUse use) {
    try {
        axis_from_text(text, use, "--grid");
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

TEST(AxisText, OfAGridHasEndsACountAListOrEqualRatios) {
    const Axis range = axis_from_text("x'=-1:1:5", AxisUse::grid, "--grid");
    EXPECT_EQ(range.name, "x'");
    EXPECT_EQ(range.values(), (std::vector<double>{-1.0, -0.5, 0.0, 0.5, 1.0}));
    EXPECT_EQ(axis_from_text("mu=0.1,0.2,0.5", AxisUse::grid, "--grid").values(), (std::vector<double>{0.1, 0.2, 0.5}));
    EXPECT_EQ(axis_from_text("mu=0.25", AxisUse::grid, "--grid").values(), (std::vector<double>{0.25}));
    const std::vector<double> ratios = axis_from_text("k=1:16:5:log", AxisUse::grid, "--grid").values();
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(ratios[k], std::pow(2.0, k), 1e-14 * ratios[k]);
    EXPECT_EQ(axis_from_text("a=3,0.01,-4", AxisUse::values, "--vary").values(),
              (std::vector<double>{3.0, 0.01, -4.0}));
    EXPECT_EQ(axis_from_text("a=2:1:3", AxisUse::values, "--over").values(), (std::vector<double>{2.0, 1.5, 1.0}));
}

TEST(AxisText, OfABoxHasEndsOrMeanAndDeviation) {
    const Axis uniform = axis_from_text("x=-1:+2", AxisUse::box, "--box");
    EXPECT_EQ(uniform.from, -1.0);
    EXPECT_EQ(uniform.to, 2.0);
    const Axis normal = axis_from_text("mu=normal:0.3:0.05", AxisUse::box, "--box");
    ASSERT_TRUE(normal.normal);
    EXPECT_EQ(normal.normal->mean, 0.3);
    EXPECT_EQ(normal.normal->deviation, 0.05);
}

TEST(AxisText, IsReadBackToTheBit) {
    for (const char* const text :
         {"x=-1:1:5", "k=1:16:5:log", "mu=0.1,0.2,0.5", "mu=0.25", "x=-0.30000000000000004:1:7"})
        EXPECT_EQ(to_text(axis_from_text(text, AxisUse::grid, "--grid"), AxisUse::grid), text);
    for (const char* const text : {"x=-1:1", "x=normal:0:0.1", "x=0.5"})
        EXPECT_EQ(to_text(axis_from_text(text, AxisUse::box, "--box"), AxisUse::box), text);
}

TEST(AxisText, ThatMakesNoSenseIsRefusedWithAForm) {
    const auto expect = [](const std::string& text, AxisUse use, const std::string& part) {
        EXPECT_NE(refusal(text, use).find(part), std::string::npos) << text << ": " << refusal(text, use);
    };
    for (const AxisUse use : {AxisUse::grid, AxisUse::box, AxisUse::values}) {
        expect("x=1:y", use, use == AxisUse::box ? "'y' is not a number" : "is not a range");
        expect("x=nan", use, "not a number");
        expect("x=", use, "x=");
        expect("=1:2:3", use, "=1:2:3");
        expect("x=1:2:3:4:5", use, "is not a range");
    }
    expect("x=1:1:3", AxisUse::grid, "smaller end first");
    expect("x=0:1:1", AxisUse::grid, "at least 2");
    expect("x=0:1:1e10", AxisUse::grid, "not a number of values");
    expect("x=0.5,0.1", AxisUse::grid, "do not ascend");
    expect("x=-1:1:3:log", AxisUse::grid, "positive ends");
    expect("x=0:1:3:lag", AxisUse::grid, "is not a range");
    expect("x=-1e308:1e308:3", AxisUse::grid, "too long");
    expect("x=normal:0:0", AxisUse::box, "must be > 0");
    expect("x=normal:0:-1", AxisUse::box, "must be > 0");
    expect("x=1:2:3", AxisUse::box, "is not a range");
    expect("x=0:1:0", AxisUse::values, "whole number");
}

}  // namespace
}  // namespace saltus::ensemble::axis_text_test
