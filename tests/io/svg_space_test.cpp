// SPDX-License-Identifier: Apache-2.0
//
// Pictures in space of static pages.
#include "saltus/io/page/detail/svg_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <regex>

#include "saltus/io/page/detail/static_velocity.hpp"

namespace saltus::io::svg_space_test {
namespace {

using Corners = std::vector<std::array<double, 2>>;

/// The corners of all triangles "Mx yLx yLx yZ" of the paths that belong to a body, which have no edges.
std::vector<Corners> triangles_of(const std::string& svg) {
    std::vector<Corners> list;
    const std::regex path("stroke:none[^\"]*\" d=\"([^\"]*)\""), point("([ML])(-?[0-9.]+) (-?[0-9.]+)");
    for (std::sregex_iterator p(svg.begin(), svg.end(), path), none; p != none; ++p) {
        const std::string d = (*p)[1];
        for (std::sregex_iterator c(d.begin(), d.end(), point); c != none; ++c) {
            if ((*c)[1] == "M") list.emplace_back();
            list.back().push_back({std::stod((*c)[2]), std::stod((*c)[3])});
        }
    }
    return list;
}

double area_of(const Corners& t) {
    return 0.5 * std::abs((t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) - (t[2][0] - t[0][0]) * (t[1][1] - t[0][1]));
}

/// The box from −1 to 1 with the given half sides, as twelve triangles that are counter-clockwise seen from outside.
SvgSpace box_scene(const SvgSpace::Point& half) {
    std::vector<SvgSpace::Point> corners;
    for (int k = 0; k < 8; ++k)
        corners.push_back(
            {(k & 1 ? 1.0 : -1.0) * half[0], (k & 2 ? 1.0 : -1.0) * half[1], (k & 4 ? 1.0 : -1.0) * half[2]});
    const std::vector<std::array<std::size_t, 3>> triangles{{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                                            {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                                            {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    SvgSpace scene("box", {"x", "y", "z"}, {-half[0], -half[1], -half[2]}, half, {1.0, 1.0, 1.0});
    scene.body("box", corners, triangles);
    return scene;
}

TEST(SvgSpace, DrawsTheFacesOfABoxThatTheEyeSeesWithTheirProjectedArea) {
    // The eye sees three faces, in the direction e from the azimuth 35 and the elevation 24 degrees. The projection of
    // the box has the area of its faces times |e_k|.
    const double a = 35.0 * std::numbers::pi / 180.0, b = 24.0 * std::numbers::pi / 180.0;
    const double e[3] = {std::cos(b) * std::cos(a), std::cos(b) * std::sin(a), std::sin(b)};
    const SvgSpace::Point half{1.0, 2.0, 0.5};
    const std::string svg = box_scene(half).svg(560, 460);
    const std::vector<Corners> seen = triangles_of(svg);
    ASSERT_EQ(seen.size(), 6U) << svg;
    double area = 0.0;
    for (const Corners& t : seen) area += area_of(t);
    const double expected = 4.0 * (half[1] * half[2] * e[0] + half[0] * half[2] * e[1] + half[0] * half[1] * e[2]);
    // The scale: the third axis, of length 2·0.5, is drawn with the length cos(elevation)·zoom.
    double lowest = 1e9, highest = -1e9;
    for (const Corners& t : seen)
        for (const auto& p : t) lowest = std::min(lowest, p[1]), highest = std::max(highest, p[1]);
    const double tall =
        2.0 * (half[0] * std::sin(b) * std::cos(a) + half[1] * std::sin(b) * std::sin(a) + half[2] * std::cos(b));
    const double zoom = (highest - lowest) / tall;
    EXPECT_NEAR(area / (zoom * zoom), expected, 0.005 * expected);  // coordinates have one decimal
    for (const Corners& t : seen)
        for (const auto& p : t) {
            EXPECT_GT(p[0], 0.0);
            EXPECT_LT(p[0], 560.0);
            EXPECT_GT(p[1], 0.0);
            EXPECT_LT(p[1], 460.0);
        }
}

TEST(SvgSpace, AWallBehindTheBodyIsDrawnBeforeItAndAWallInFrontAfterIt) {
    const double s = 1.5;
    const std::vector<SvgSpace::Point> behind{{-s, -s, -s}, {-s, s, -s}, {-s, s, s}, {-s, -s, s}},
        front{{s, -s, -s}, {s, s, -s}, {s, s, s}, {s, -s, s}};
    const std::string svg =
        box_scene({1.0, 1.0, 1.0}).polygons("walls", {front, behind}, {0.0, 0.0, 0.0}).svg(400, 400);
    const std::size_t first = svg.find("fill-opacity:.06"), body = svg.find("stroke:none"),
                      second = svg.find("fill-opacity:.06", first + 1);
    ASSERT_NE(second, std::string::npos) << svg;
    EXPECT_LT(first, body);
    EXPECT_LT(body, second);
}

TEST(SvgSpace, TheCollisionOfThreeVelocitiesHasAPicture) {
    // A cube of consistent velocities in the corner of P⁺ = { all components >= 0 }.
    json::Json j;
    j["u_minus"] = {{"x", 0.0}, {"y", -1.0}, {"z", 0.0}};
    j["u_plus"] = {{"x", 0.5}, {"y", 0.5}, {"z", 0.5}};
    j["corner_points"] = {{0.0, 0.0, 0.0}};
    j["work"] = {{"min", -1.0}, {"b0", {{"x", 0.0}, {"y", 0.0}, {"z", 0.0}}}};
    const json::Json unit = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    json::Json contacts = json::Json::array();
    for (const json::Json& n : unit) contacts.push_back({{"name", "c"}, {"normal", n}, {"distance", 0.0}});
    j["picture"] = {{"dimension", 3},
                    {"axes", {"x'", "y'", "z'"}},
                    {"map", unit},
                    {"metric", unit},
                    {"offset", {0, 0, 0}},
                    {"z_minus", {0, -1, 0}},
                    {"contacts", contacts},
                    {"jumps", unit},
                    {"balls", json::Json::array()}};
    json::Json points = json::Json::array();
    for (int k = 0; k < 8; ++k) points.push_back({k & 1, (k >> 1) & 1, (k >> 2) & 1});
    j["set"] = {{"points", points},
                {"triangles",
                 {{0, 2, 3},
                  {0, 3, 1},
                  {4, 5, 7},
                  {4, 7, 6},
                  {0, 1, 5},
                  {0, 5, 4},
                  {2, 6, 7},
                  {2, 7, 3},
                  {0, 4, 6},
                  {0, 6, 2},
                  {1, 3, 7},
                  {1, 7, 5}}},
                {"volume_bounds", {0.99, 1.01}}};
    const std::string svg = static_velocity_picture(j);
    EXPECT_EQ(triangles_of(svg).size(), 6U) << svg;
    for (const char* const text : {"volume 0.99 to 1.01", "P⁺", "u⁻", "u⁺", "b = b₀", "consistent u⁺"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    // The three faces of P⁺ face away from the eye or towards it; each is drawn once.
    std::size_t walls = 0;
    for (std::size_t at = svg.find("fill-opacity:.06"); at != std::string::npos;
         at = svg.find("fill-opacity:.06", at + 1))
        ++walls;
    EXPECT_EQ(walls, 3U);
    EXPECT_EQ(svg.find("No picture"), std::string::npos);
}

}  // namespace
}  // namespace saltus::io::svg_space_test
