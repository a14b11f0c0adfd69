// SPDX-License-Identifier: Apache-2.0
// Which motions are known to be polynomials of the time, and of which degree.
#include "saltus/model/series.hpp"

#include <gtest/gtest.h>

#include <string>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model::series_test {
namespace {

enum class Rows { none, all };

/// The degree for a mass at (x, y) with a force along x, a contact with a gap, and all its rows or none.
int degree(const std::string& force, const std::string& gap = "y", const std::string& more = "",
           Rows rows = Rows::none) {
    const Model m =
        build(io::parse_model("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y\"\n" + more +
                                  "f = { x = \"" + force + "\" }\n[[contact]]\nname = \"c\"\ngN = \"" + gap + "\"\n",
                              "test"),
              {});
    const Layout& layout = m.layout();
    const char wanted = rows == Rows::all ? 1 : 0;
    const SeriesNeeds needs{std::vector<char>(static_cast<std::size_t>(layout.positions()), 1),
                            std::vector<char>(static_cast<std::size_t>(layout.row_count()), wanted),
                            std::vector<char>(static_cast<std::size_t>(layout.coefficients), 0)};
    return m.system->series(needs, m.p)->motion_degree();
}

constexpr int unlimited = SeriesEquations::unlimited_degree;

TEST(MotionDegree, OfForcesThatArePolynomialsOfTheTimeIsKnown) {
    EXPECT_EQ(degree("0"), 2);
    EXPECT_EQ(degree("3"), 2);             // x has degree 2, and so has the work 3 x
    EXPECT_EQ(degree("1 + t^2"), 6);       // x has degree 4, the power t² x' has 5, the work 6
    EXPECT_EQ(degree("0", "y - t^3"), 3);  // a floor that moves
    EXPECT_EQ(degree("0", "y - x^2"), 4);  // a parabola
    EXPECT_EQ(degree("0", "y", "", Rows::all), 2);
}

TEST(MotionDegree, OfOtherMotionsIsUnlimited) {
    for (const char* force :
         {"-x", "-x'", "sin(t)", "1/(1 + t)", "if(t < 1, 1, 0)", "abs(t)", "t^40", "(t + 1)^3000000"})
        EXPECT_EQ(degree(force), unlimited) << force;
    for (const char* gap : {"hypot(x, y + 2) - 1", "y - sin(x)", "y - x^20", "y - x^2000000000"})
        EXPECT_EQ(degree("0", gap), unlimited) << gap;
    EXPECT_EQ(degree("0", "y", "R = \"x'^4\"\n"), unlimited);
    EXPECT_EQ(degree("0", "y - x^2", "", Rows::all), unlimited);  // the row of the contact turns
}

}  // namespace
}  // namespace saltus::model::series_test
