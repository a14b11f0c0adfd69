// SPDX-License-Identifier: Apache-2.0
//
// Axes of the plots of static pages.
#include "saltus/io/page/detail/svg_plot.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace saltus::io::svg_plot_test {
namespace {

/// The numbers at the ordinate of a curve over 0, 1, 2, ….
std::vector<std::string> ordinate_of(const std::vector<double>& values) {
    SvgPlot::Points points;
    for (const double v : values) points.emplace_back(static_cast<double>(points.size()), v);
    const std::string svg = SvgPlot("title", "", "").curve("c", points).svg();
    const std::string before =
        "text-anchor=\"end\">";  // of the numbers at the ordinate, and of the name of the abscissa
    std::vector<std::string> numbers;
    for (std::size_t at = svg.find(before); at != std::string::npos; at = svg.find(before, at + 1)) {
        const std::size_t first = at + before.size(), last = svg.find('<', first);
        if (last > first) numbers.push_back(svg.substr(first, last - first));
    }
    return numbers;
}

}  // namespace

TEST(SvgPlotAxes, OfRoundingNoiseHaveDifferentNumbers) {
    for (const std::vector<double>& values :
         {std::vector{1.0, 1.0 + 2.3e-16}, {1e5, 1e5 + 3e-11}, {1e-17, -3e-17}, {0.0, 0.0}, {2.0, 2.0}}) {
        const std::vector<std::string> numbers = ordinate_of(values);
        EXPECT_GE(numbers.size(), 3u) << values[0];
        EXPECT_LE(numbers.size(), 12u) << values[0];
        EXPECT_EQ(std::set<std::string>(numbers.begin(), numbers.end()).size(), numbers.size()) << values[0];
    }
}

TEST(SvgPlotAxes, OfSmallQuantitiesHaveTheirNumbers) {
    EXPECT_EQ(ordinate_of({0.0, 4e-13}), (std::vector<std::string>{"0", "1e-13", "2e-13", "3e-13", "4e-13"}));
}

}  // namespace saltus::io::svg_plot_test
