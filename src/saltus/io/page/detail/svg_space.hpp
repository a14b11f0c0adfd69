// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

namespace saltus::io {

/// A scene in space as an SVG picture, seen from a fixed direction without perspective: polygons, the surface of a
/// convex body, lines, marks, and the three axes. It has a legend. Colours come from the style of the page, as for
/// SvgPlot.
class SvgSpace {
public:
    using Point = std::array<double, 3>;

    /// The scene shows the box from `low` to `high`. Lengths along axis k are multiplied by scale[k].
    SvgSpace(std::string title, std::array<std::string, 3> axes, Point low, Point high, Point scale);

    /// Translucent polygons with their edges. Those that face away from the eye are drawn behind the body, the others
    /// in front of it. `inside` is a point on the inner side of all of them.
    SvgSpace& polygons(std::string name, std::vector<std::vector<Point>> list, const Point& inside);
    /// The surface of a convex body, shaded by the direction of its triangles. Corners are counter-clockwise seen from
    /// outside.
    SvgSpace& body(std::string name, const std::vector<Point>& points,
                   std::vector<std::array<std::size_t, 3>> triangles);
    /// Lines through the points of each list.
    SvgSpace& lines(std::string name, std::vector<std::vector<Point>> list);
    /// Single points, each with its label.
    SvgSpace& marks(std::string name, std::vector<Point> points, std::vector<std::string> labels);

    /// The picture as an SVG element of this size in pixels.
    std::string svg(int width = 560, int height = 460) const;

private:
    enum class Kind { polygons, body, lines, marks };
    struct Layer {
        Kind kind;
        std::string name;
        std::vector<std::vector<Point>> paths;  ///< polygons, lines, or one list of points
        std::vector<std::array<std::size_t, 3>> triangles = {};
        std::vector<std::string> labels = {};
        Point inside = {};  ///< of polygons: a point on the inner side of all of them
    };
    struct View;

    std::string title_;
    std::array<std::string, 3> axes_;
    Point low_, high_, scale_;
    std::vector<Layer> layers_;
};

}  // namespace saltus::io
