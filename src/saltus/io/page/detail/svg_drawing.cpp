// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/svg_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace saltus::io {

using json::Json;

namespace {

// Direction from which space is seen, in rad: the same as the first view of web/src/projection.ts.
constexpr double azimuth = -0.6, elevation = 0.35;

constexpr double least_extent = 1e-300;  // of the drawing, against division by 0
constexpr int box_times = 20;            // the common box of all pictures is that of the drawing at 21 times
using Place = std::array<double, 2>;

double number_or_zero(const Json& v) { return json::value_or(v, 0.0); }

/// A drawing at one time, projected to the plane of the picture. Numbers between two samples are interpolated linearly.
class Scene {
public:
    Scene(const Json& motion, double t) : d_(motion.at("drawing")), space_(d_.at("dimension").get<int>() > 2) {
        std::tie(k_, s_) = between(motion.at("t"), t);
        if (d_.contains("frames")) std::tie(frame_, frame_share_) = between(d_.at("frames"), t);
    }

    double value(const Json& index) const {
        const Json& v = d_.at("values").at(index.get<std::size_t>());
        if (v.is_number()) return v.get<double>();
        const double a = number_or_zero(v.at(k_)), b = number_or_zero(v.at(std::min(k_ + 1, v.size() - 1)));
        return a + s_ * (b - a);
    }
    Place point(const Json& indices, std::size_t first) const {
        return seen(value(indices.at(first)), value(indices.at(first + 1)),
                    space_ ? value(indices.at(first + 2)) : 0.0);
    }
    std::vector<Place> mass_points() const {
        std::vector<Place> list;
        if (!d_.contains("points")) return list;
        const Json &a = d_["points"].at(frame_), &b = d_["points"].at(std::min(frame_ + 1, d_["points"].size() - 1));
        for (std::size_t i = 0; i + 2 < a.size(); i += 3) {
            std::array<double, 3> x{};
            for (std::size_t c = 0; c < 3; ++c)
                x[c] = number_or_zero(a[i + c]) + frame_share_ * (number_or_zero(b[i + c]) - number_or_zero(a[i + c]));
            list.push_back(seen(x[0], x[1], x[2]));
        }
        return list;
    }
    std::size_t dimension() const { return space_ ? 3 : 2; }
    const Json& drawing() const { return d_; }

    /// The projection of a point of the model: itself in a plane; in space a parallel projection.
    Place seen(double x, double y, double z) const {
        if (!space_) return {x, y};
        const double ca = std::cos(azimuth), sa = std::sin(azimuth);
        return {x * ca - y * sa, z * std::cos(elevation) + (x * sa + y * ca) * std::sin(elevation)};
    }

private:
    /// The sample before t and the fraction of the way to the next one.
    static std::pair<std::size_t, double> between(const Json& times, double t) {
        std::size_t k = 0;
        while (k + 2 < times.size() && number_or_zero(times[k + 1]) <= t) ++k;
        if (times.size() < 2) return {0, 0.0};
        const double a = number_or_zero(times[k]), b = number_or_zero(times[k + 1]);
        return {k, b > a ? std::clamp((t - a) / (b - a), 0.0, 1.0) : 1.0};
    }

    const Json& d_;
    bool space_;
    std::size_t k_ = 0, frame_ = 0;
    double s_ = 0.0, frame_share_ = 0.0;
};

/// A shape to draw, projected, in units of the model.
struct Outline {
    std::string kind, style;
    std::vector<Place> points;
    double radius = 0.0;
};

/// All shapes of a scene in the order of drawing: ground, lines, bodies.
std::vector<Outline> outlines(const Scene& scene) {
    std::vector<Outline> list;
    const std::size_t n = scene.dimension();
    for (const Json& s : scene.drawing().at("shapes")) {
        Outline o{s.at("kind").get<std::string>(), s.at("style").get<std::string>(), {}, 0.0};
        if (o.kind == "trace") continue;
        const Json& values = s.at("values");
        const std::size_t count = o.kind == "circle" ? 1 : values.size() / n;
        for (std::size_t k = 0; k < count; ++k) o.points.push_back(scene.point(values, k * n));
        if (o.kind == "circle") o.radius = scene.value(values.at(n));
        list.push_back(std::move(o));
    }
    const std::vector<Place> points = scene.mass_points();
    if (!points.empty()) {
        for (const Json& line : scene.drawing().at("lines"))
            list.push_back({"segment",
                            "line",
                            {points.at(line.at(0).get<std::size_t>()), points.at(line.at(1).get<std::size_t>())},
                            0.0});
        for (const Place& p : points) list.push_back({"point", "body", {p}, 0.0});
    }
    const auto rank = [](const Outline& o) { return o.style == "ground" ? 0 : o.style == "line" ? 1 : 2; };
    std::stable_sort(list.begin(), list.end(), [&](const Outline& a, const Outline& b) { return rank(a) < rank(b); });
    return list;
}

/// A zigzag from a to b: straight ends of 12 % of the length, 12 half coils between them, 4 pixels to each side.
std::string spring_path(const Place& a, const Place& b) {
    constexpr int coils = 12;
    constexpr double half_width = 4.0, least_length = 1e-9;  // pixels
    const double length = std::max(least_length, std::hypot(b[0] - a[0], b[1] - a[1]));
    const double ux = (b[0] - a[0]) / length, uy = (b[1] - a[1]) / length;
    std::string path = fmt::format("M{:.1f} {:.1f}", a[0], a[1]);
    for (int k = 0; k <= coils; ++k) {
        const double s = length * (0.12 + 0.76 * k / coils),
                     w = k == 0 || k == coils ? 0.0 : (k % 2 != 0 ? half_width : -half_width);
        path += fmt::format("L{:.1f} {:.1f}", a[0] + ux * s - uy * w, a[1] + uy * s + ux * w);
    }
    return path + fmt::format("L{:.1f} {:.1f}", b[0], b[1]);
}

/// The part of the plane that all pictures of a motion show: xmin, ymin, xmax, ymax.
std::array<double, 4> box_of(const Json& motion) {
    std::array<double, 4> box{1e300, 1e300, -1e300, -1e300};  // empty
    if (motion.at("drawing").contains("view")) {
        for (std::size_t k = 0; k < 4; ++k) box[k] = motion.at("drawing")["view"].at(k).get<double>();
        return box;
    }
    const auto see = [&](double x, double y) {
        box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x), std::max(box[3], y)};
    };
    const double from = motion.at("t_begin").get<double>(), to = motion.at("t_end").get<double>();
    for (int k = 0; k <= box_times; ++k)
        for (const Outline& o : outlines(Scene(motion, from + (to - from) * k / static_cast<double>(box_times))))
            for (const Place& p : o.points) {
                see(p[0] - o.radius, p[1] - o.radius);
                see(p[0] + o.radius, p[1] + o.radius);
            }
    return box;
}

}  // namespace

std::string drawing_svg(const Json& motion, double t, int width, int height) {
    if (!motion.contains("drawing")) return {};
    const Scene scene(motion, t);
    const std::array<double, 4> box = box_of(motion);
    constexpr double filled = 0.92;  // part of the picture that the box takes
    const double unit = filled * std::min(width / std::max(box[2] - box[0], least_extent),
                                          height / std::max(box[3] - box[1], least_extent));
    const auto at = [&](const Place& p) {
        return Place{width / 2.0 + unit * (p[0] - 0.5 * (box[0] + box[2])),
                     height / 2.0 - unit * (p[1] - 0.5 * (box[1] + box[3]))};
    };
    std::string text = fmt::format("<svg class=\"scene\" viewBox=\"0 0 {} {}\" role=\"img\">", width, height);
    for (const Outline& o : outlines(scene)) {
        std::string path;
        if (o.kind == "circle" || o.kind == "point") {
            const Place p = at(o.points[0]);
            text += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", o.style, p[0], p[1],
                                o.kind == "point" ? 1.5 : std::max(1.5, unit * o.radius));
            continue;
        }
        if (o.kind == "spring") {
            path = spring_path(at(o.points[0]), at(o.points[1]));
        } else {
            for (std::size_t k = 0; k < o.points.size(); ++k) {
                const Place p = at(o.points[k]);
                path += fmt::format("{}{:.1f} {:.1f}", k == 0 ? 'M' : 'L', p[0], p[1]);
            }
            if (o.kind == "polygon") path += 'Z';
        }
        text += fmt::format("<path class=\"{} {}\" d=\"{}\"/>", o.kind, o.style, path);
    }
    return text + "</svg>\n";
}

}  // namespace saltus::io
