// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/svg_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "saltus/io/page/detail/svg_plot.hpp"

namespace saltus::io {

namespace {

constexpr double degree = std::numbers::pi / 180.0;
constexpr double eye_azimuth = 35.0 * degree,
                 eye_elevation = 24.0 * degree;           // of the eye, from the first axis and the plane
constexpr double scene_margin = 46.0;                     // pixels between the scene and the edge of the picture
constexpr double title_height = 24.0, legend_row = 15.0;  // in pixels
constexpr std::size_t legend_columns = 3, color_count = 8;
/// A face is drawn by its colour with an opacity between these, by the angle between its normal and the light.
constexpr double darkest = 0.95, brightest = 0.35;
constexpr int shades = 24;

using Point = SvgSpace::Point;

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point cross(const Point& a, const Point& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

const Point to_eye{std::cos(eye_elevation) * std::cos(eye_azimuth), std::cos(eye_elevation) * std::sin(eye_azimuth),
                   std::sin(eye_elevation)};
const Point to_right{-std::sin(eye_azimuth), std::cos(eye_azimuth), 0.0};
const Point upwards{-std::sin(eye_elevation) * std::cos(eye_azimuth), -std::sin(eye_elevation) * std::sin(eye_azimuth),
                    std::cos(eye_elevation)};
/// The light comes from above, a little from the left of the eye.
const Point to_light = [] {
    Point l;
    for (std::size_t k = 0; k < 3; ++k) l[k] = 0.6 * to_eye[k] - 0.45 * to_right[k] + 0.66 * upwards[k];
    const double length = std::sqrt(dot(l, l));
    for (double& x : l) x /= length;
    return l;
}();

}  // namespace

/// From the space of the scene to pixels.
struct SvgSpace::View {
    Point centre{}, scale{};
    double zoom = 1.0, x = 0.0, y = 0.0;

    Point scaled(const Point& p) const {
        Point out;
        for (std::size_t k = 0; k < 3; ++k) out[k] = (p[k] - centre[k]) * scale[k];
        return out;
    }
    std::pair<double, double> at(const Point& p) const {
        const Point s = scaled(p);
        return {x + zoom * dot(s, to_right), y - zoom * dot(s, upwards)};
    }
};

SvgSpace::SvgSpace(std::string title, std::array<std::string, 3> axes, Point low, Point high, Point scale)
    : title_(std::move(title)), axes_(std::move(axes)), low_(low), high_(high), scale_(scale) {}

SvgSpace& SvgSpace::polygons(std::string name, std::vector<std::vector<Point>> list, const Point& inside) {
    layers_.push_back({Kind::polygons, std::move(name), std::move(list), {}, {}, inside});
    return *this;
}
SvgSpace& SvgSpace::body(std::string name, const std::vector<Point>& points,
                         std::vector<std::array<std::size_t, 3>> triangles) {
    layers_.push_back({Kind::body, std::move(name), {points}, std::move(triangles)});
    return *this;
}
SvgSpace& SvgSpace::lines(std::string name, std::vector<std::vector<Point>> list) {
    layers_.push_back({Kind::lines, std::move(name), std::move(list)});
    return *this;
}
SvgSpace& SvgSpace::marks(std::string name, std::vector<Point> points, std::vector<std::string> labels) {
    layers_.push_back({Kind::marks, std::move(name), {std::move(points)}, {}, std::move(labels)});
    return *this;
}

std::string SvgSpace::svg(int width, int height) const {
    View view;
    view.scale = scale_;
    for (std::size_t k = 0; k < 3; ++k) view.centre[k] = 0.5 * (low_[k] + high_[k]);
    // The eight corners of the box fill the picture.
    double wide = 0.0, tall = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
        Point p;
        for (std::size_t k = 0; k < 3; ++k) p[k] = (corner >> k & 1) != 0 ? high_[k] : low_[k];
        const auto [x, y] = view.at(p);
        wide = std::max(wide, std::abs(x));
        tall = std::max(tall, std::abs(y));
    }
    view.zoom = std::min((0.5 * width - scene_margin) / std::max(wide, 1e-300),
                         (0.5 * (height - title_height) - scene_margin) / std::max(tall, 1e-300));
    view.x = 0.5 * width;
    view.y = title_height + 0.5 * (height - title_height);

    const auto path = [&](const std::vector<Point>& points, bool closed) {
        std::string d;
        for (const Point& p : points) {
            const auto [x, y] = view.at(p);
            d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? 'M' : 'L', x, y);
        }
        return closed ? d + 'Z' : d;
    };
    // A polygon faces the eye if the eye is on its outer side.
    const auto faces_eye = [&](const std::vector<Point>& polygon, const Point& inside) {
        const Point a = view.scaled(polygon[0]);
        const Point n = cross(minus(view.scaled(polygon[1]), a), minus(view.scaled(polygon[2]), a));
        const double inner = dot(n, minus(view.scaled(inside), a));
        return dot(n, to_eye) * inner < 0.0;
    };
    const double legend = std::ceil(static_cast<double>(layers_.size()) / legend_columns) * legend_row;
    std::string text = fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{}</title><text class=\"title\" x=\"6\" "
        "y=\"16\">{}</text>\n",
        width, height + legend, escaped(title_), escaped(title_));
    // The axes from the lowest corner of the box, with their names and the values at their ends.
    for (std::size_t k = 0; k < 3; ++k) {
        Point end = low_;
        end[k] = high_[k];
        text += fmt::format("<path class=\"grid\" d=\"{}\"/>\n", path({low_, end}, false));
        const auto [x, y] = view.at(end);
        text += fmt::format(
            "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{} {:.3g} … {:.3g}</text>\n", x,
            y + (k == 2 ? -6.0 : 14.0), escaped(axes_[k]), low_[k], high_[k]);
    }
    const auto draw_polygons = [&](bool front) {
        for (std::size_t k = 0; k < layers_.size(); ++k)
            for (const std::vector<Point>& polygon : layers_[k].paths)
                if (layers_[k].kind == Kind::polygons && polygon.size() > 2 &&
                    faces_eye(polygon, layers_[k].inside) == front)
                    text += fmt::format("<path class=\"area c{}\" style=\"fill-opacity:.06\" d=\"{}\"/>\n",
                                        k % color_count, path(polygon, true));
    };
    draw_polygons(false);
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        const Layer& l = layers_[k];
        if (l.kind != Kind::body) continue;
        // The triangles of a convex body that face the eye do not overlap, so that they need no order. Those of one
        // shade are one path.
        std::map<int, std::string> by_shade;
        for (const auto& [i, j, m] : l.triangles) {
            const Point a = view.scaled(l.paths[0].at(i)), b = view.scaled(l.paths[0].at(j)),
                        c = view.scaled(l.paths[0].at(m));
            const Point n = cross(minus(b, a), minus(c, a));
            const double length = std::sqrt(dot(n, n));
            if (!(dot(n, to_eye) > 0.0) || !(length > 0.0)) continue;
            const double light = std::max(0.0, dot(n, to_light) / length);
            by_shade[static_cast<int>(std::lround(light * shades))] +=
                path({l.paths[0][i], l.paths[0][j], l.paths[0][m]}, true);
        }
        for (const auto& [shade, d] : by_shade)
            text += fmt::format(
                "<path class=\"area c{}\" style=\"fill-opacity:{:.2f};stroke:none;shape-rendering:crispEdges\" "
                "d=\"{}\"/>\n",
                k % color_count, darkest + (brightest - darkest) * shade / shades, d);
    }
    draw_polygons(true);
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        const Layer& l = layers_[k];
        if (l.kind == Kind::lines)
            for (const std::vector<Point>& line : l.paths)
                text +=
                    fmt::format("<path class=\"curve c{} dashed\" d=\"{}\"/>\n", k % color_count, path(line, false));
        if (l.kind != Kind::marks) continue;
        for (std::size_t i = 0; i < l.paths[0].size(); ++i) {
            const auto [x, y] = view.at(l.paths[0][i]);
            text += fmt::format(
                "<path class=\"curve c{}\" d=\"M{:.1f} {:.1f}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0\"/><text "
                "class=\"tick\" style=\"paint-order:stroke;stroke:var(--panel);stroke-width:3px\" x=\"{:.1f}\" "
                "y=\"{:.1f}\">{}</text>\n",
                k % color_count, x, y, x + 6.0, y - 5.0, i < l.labels.size() ? escaped(l.labels[i]) : std::string());
        }
    }
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        const double x = 12.0 + (width - 24.0) / legend_columns * static_cast<double>(k % legend_columns),
                     y = height + legend_row * std::floor(static_cast<double>(k) / legend_columns) + 8.0;
        text += fmt::format(
            "<path class=\"curve c{}\" d=\"M{:.0f} {:.0f}h14\"/><text class=\"tick\" x=\"{:.0f}\" "
            "y=\"{:.0f}\">{}</text>\n",
            k % color_count, x, y - 4.0, x + 18.0, y, escaped(layers_[k].name));
    }
    return text + "</svg>\n";
}

}  // namespace saltus::io
