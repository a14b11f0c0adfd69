// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/static_velocity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "saltus/io/page/detail/static_parts.hpp"
#include "saltus/io/page/detail/svg_plot.hpp"
#include "saltus/io/page/detail/svg_space.hpp"

// The interactive page draws the same picture (web/src/velocity_picture.ts). The space of the picture is `picture` of
// the JSON: a velocity u is drawn at p = map·u + offset, and lengths are measured by `metric`.

namespace saltus::io {

using json::Json;

namespace {

using Velocity = std::vector<double>;
using Points = SvgPlot::Points;

/// The first n entries of a list. A list that is shorter throws Json::exception, as every damaged document does.
Velocity numbers(const Json& list, std::size_t n) {
    Velocity out;
    for (std::size_t k = 0; k < n; ++k) out.push_back(number_of(list.at(k)));
    return out;
}

/// All p with normal·p + distance >= 0.
struct HalfSpace {
    Velocity normal;
    double distance = 0.0;

    double at(const std::pair<double, double>& p) const {
        return normal[0] * p.first + normal[1] * p.second + distance;
    }
    double at(const SvgSpace::Point& p) const {
        return normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2] + distance;
    }
};

/// A mark with its name.
struct Mark {
    std::string name;
    Velocity p;
};

/// The numbers of a picture.
struct Picture {
    std::size_t dimension, velocities;  // of the picture, and of the system
    std::vector<std::string> axes;
    std::vector<Velocity> map, metric;
    Velocity offset, z;
    std::vector<HalfSpace> plus, minus;  // γ >= 0 and γ <= 0 of the contacts
    std::vector<Velocity> jumps;
    std::vector<Mark> marks;

    explicit Picture(const Json& j);
    Velocity at(const Velocity& u) const {
        Velocity p(offset);
        for (std::size_t i = 0; i < p.size(); ++i)
            for (std::size_t k = 0; k < u.size(); ++k) p[i] += map[i][k] * u[k];
        return p;
    }
};

Picture::Picture(const Json& j)
    : dimension(j.at("picture").at("dimension").get<std::size_t>()), velocities(j.at("u_minus").size()) {
    const Json& picture = j.at("picture");
    for (std::size_t k = 0; k < dimension; ++k) {
        std::string name = picture.at("axes").at(k).get<std::string>();
        for (const auto& [from, to] : {std::pair("gammaN ", "γN "), std::pair("gammaT ", "γT ")})
            if (name.starts_with(from)) name = to + name.substr(std::string(from).size());
        axes.push_back(std::move(name));
    }
    for (std::size_t k = 0; k < dimension; ++k) {
        map.push_back(numbers(picture.at("map").at(k), velocities));
        metric.push_back(numbers(picture.at("metric").at(k), dimension));
    }
    offset = numbers(picture.at("offset"), dimension);
    z = numbers(picture.at("z_minus"), dimension);
    for (const Json& c : picture.at("contacts")) {
        plus.push_back({numbers(c.at("normal"), dimension), number_of(c.at("distance"))});
        HalfSpace opposite = plus.back();
        for (double& x : opposite.normal) x = -x;
        opposite.distance = -opposite.distance;
        minus.push_back(std::move(opposite));
    }
    for (const Json& jump : picture.at("jumps")) jumps.push_back(numbers(jump, dimension));
    const auto mark = [&](const std::string& name, const Json& by_coordinate) {
        if (!by_coordinate.is_object()) return;
        Velocity u;
        for (const auto& [coordinate, value] : j.at("u_minus").items()) {
            if (!by_coordinate.contains(coordinate) || !by_coordinate.at(coordinate).is_number()) return;
            u.push_back(number_of(by_coordinate.at(coordinate)));
        }
        marks.push_back({name, at(u)});
    };
    const Json corners = j.value("corner_points", Json::array());
    for (std::size_t k = 0; k < corners.size(); ++k)
        marks.push_back(
            {corners.size() > 1 ? "b" + std::to_string(k + 1) : "b", at(numbers(corners.at(k), velocities))});
    mark("u⁻", j.at("u_minus"));
    const Json& work = j.at("work");
    if (work.contains("min") && work.at("min").is_number() && work.contains("b0")) {
        mark("b₀", work.at("b0"));
        // b₀ is often one of the corner points; then both share a mark.
        constexpr double same_place = 1e-9;
        if (!marks.empty() && marks.back().name == "b₀")
            for (std::size_t k = 0; k < corners.size(); ++k) {
                double away = 0.0;
                for (std::size_t i = 0; i < z.size(); ++i)
                    away = std::max(away, std::abs(marks[k].p[i] - marks.back().p[i]));
                if (away > same_place) continue;
                marks[k].name += " = b₀";
                marks.pop_back();
                break;
            }
    }
    mark("u⁺", j.at("u_plus"));
}

/// The part of a convex polygon in a half plane (Sutherland and Hodgman). Empty if nothing of it is left.
Points clip(const Points& polygon, const HalfSpace& h) {
    Points out;
    for (std::size_t k = 0; k < polygon.size(); ++k) {
        const auto &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
        const double a = h.at(p), b = h.at(q);
        if (a >= 0.0) out.push_back(p);
        if (a * b < 0.0)
            out.emplace_back(p.first + a / (a - b) * (q.first - p.first),
                             p.second + a / (a - b) * (q.second - p.second));
    }
    return out.size() > 2 ? out : Points();
}

/// The half planes of the cone z + cone(jumps). The clockwise extreme generator has all others on its left, the
/// counter-clockwise one on its right. A cone without such generators is the whole plane.
std::vector<HalfSpace> cone(const Picture& d) {
    const auto turn = [](const Velocity& a, const Velocity& b) { return a[0] * b[1] - a[1] * b[0]; };
    const auto size = [](const Velocity& a) { return std::hypot(a[0], a[1]); };
    constexpr double tolerance = 1e-9;  // of the sine of an angle
    const auto turns_left = [&](const Velocity& a, const Velocity& b) {
        return turn(a, b) >= -tolerance * size(a) * size(b);
    };
    std::vector<HalfSpace> list;
    const auto half = [&](double x, double y) { list.push_back({{x, y}, -(x * d.z[0] + y * d.z[1])}); };
    for (const bool clockwise : {true, false})
        for (const Velocity& a : d.jumps) {
            if (!(size(a) > 0.0) || !std::all_of(d.jumps.begin(), d.jumps.end(), [&](const Velocity& b) {
                    return clockwise ? turns_left(a, b) : turns_left(b, a);
                }))
                continue;
            if (clockwise)
                half(-a[1], a[0]);
            else
                half(a[1], -a[0]);
            break;
        }
    return list;
}

/// Points on the boundary of the consistency set: ends of segments, and points centre + cos φ first + sin φ second of
/// elliptic arcs.
Points outline(const Json& set, const Picture& d) {
    Points points;
    const auto add = [&](const Velocity& u) {
        const Velocity p = d.at(u);
        points.emplace_back(p[0], p[1]);
    };
    for (const Json& piece : set.value("pieces", Json::array())) {
        if (piece.at("kind") != "arc") {
            add(numbers(piece.at("from"), d.velocities));
            continue;
        }
        const double from = number_of(piece.at("phi").at(0)), to = number_of(piece.at("phi").at(1));
        const Velocity centre = numbers(piece.at("centre"), d.velocities),
                       first = numbers(piece.at("first"), d.velocities),
                       second = numbers(piece.at("second"), d.velocities);
        constexpr int arc_points = 40;
        for (int k = 0; k < arc_points; ++k) {
            const double phi = from + (to - from) * k / static_cast<double>(arc_points);
            Velocity u(centre);
            for (std::size_t i = 0; i < u.size(); ++i) u[i] += std::cos(phi) * first[i] + std::sin(phi) * second[i];
            add(u);
        }
    }
    return points;
}

/// The ellipse (p − centre)·metric (p − centre) = radius². With metric = L Lᵀ its points are centre + L⁻ᵀ e·radius for
/// the unit vectors e.
Points ellipse(const Picture& d, const Velocity& centre, double radius) {
    const double l11 = std::sqrt(d.metric[0][0]), l21 = d.metric[1][0] / l11,
                 l22 = std::sqrt(std::max(0.0, d.metric[1][1] - l21 * l21));
    Points points;
    constexpr int count = 97;
    for (int k = 0; k < count; ++k) {
        const double phi = 2.0 * std::numbers::pi * k / (count - 1);
        const double y = radius * std::sin(phi) / l22, x = (radius * std::cos(phi) - l21 * y) / l11;
        points.emplace_back(centre[0] + x, centre[1] + y);
    }
    return points;
}

/// Two velocities.
std::string plane(const Json& j, const Picture& d) {
    Points consistent;
    if (j.contains("set") && j.at("set").is_object()) consistent = outline(j.at("set"), d);
    Points important = consistent;
    for (const Mark& m : d.marks) important.emplace_back(m.p[0], m.p[1]);
    important.emplace_back(d.z[0], d.z[1]);
    std::pair<double, double> low = important[0], high = important[0];
    for (const auto& [x, y] : important) {
        low = {std::min(low.first, x), std::min(low.second, y)};
        high = {std::max(high.first, x), std::max(high.second, y)};
    }
    // A margin around all points; then the shorter side grows, so that balls of the metric have equal scales.
    constexpr double margin = 0.25, aspect = 1.15;  // width of the picture by its height
    const double sx = std::sqrt(d.metric[0][0]), sy = std::sqrt(d.metric[1][1]);
    double wide = std::max((1.0 + 2.0 * margin) * (high.first - low.first) * sx, 1e-12);
    double tall = std::max((1.0 + 2.0 * margin) * (high.second - low.second) * sy, 1e-12);
    wide = std::max(wide, aspect * tall);
    tall = wide / aspect;
    const double x = 0.5 * (low.first + high.first), y = 0.5 * (low.second + high.second);
    low = {x - 0.5 * wide / sx, y - 0.5 * tall / sy};
    high = {x + 0.5 * wide / sx, y + 0.5 * tall / sy};
    SvgPlot plot("Velocities after the impact that supply no energy", d.axes[0], d.axes[1]);
    plot.range(low, high);
    const auto add_area = [&](const char* name, const std::vector<HalfSpace>& list) {
        const double dx = high.first - low.first, dy = high.second - low.second;  // beyond the frame: no edges show
        Points polygon{{low.first - dx, low.second - dy},
                       {high.first + dx, low.second - dy},
                       {high.first + dx, high.second + dy},
                       {low.first - dx, high.second + dy}};
        for (const HalfSpace& h : list) polygon = polygon.empty() ? polygon : clip(polygon, h);
        if (!polygon.empty()) plot.area(name, polygon);
    };
    if (!d.plus.empty()) {
        add_area("P⁺, admissible u⁺", d.plus);
        add_area("P⁻, approaching u⁻", d.minus);
    }
    if (!d.jumps.empty()) add_area("u⁻ plus impulses", cone(d));
    if (consistent.size() > 2) plot.area("consistent u⁺", consistent);
    for (const Json& ball : j.at("picture").at("balls")) {
        const double squared = number_of(ball.at("radius_squared"));
        std::string contacts;
        for (const Json& c : ball.value("contacts", Json::array()))
            contacts += (contacts.empty() ? "" : ", ") + c.get<std::string>();
        if (squared > 0.0)
            plot.curve("ball " + contacts, ellipse(d, numbers(ball.at("centre"), 2), std::sqrt(squared)), true);
    }
    Points places;
    std::vector<std::string> names;
    for (const Mark& m : d.marks) {
        places.emplace_back(m.p[0], m.p[1]);
        names.push_back(m.name);
    }
    plot.marks("velocities", places, names);
    return plot.svg(560, 500);
}

/// One velocity: intervals above each other.
std::string line(const Json& j, const Picture& d) {
    std::vector<double> set;
    if (j.contains("set") && j.at("set").is_object())
        for (const Json& u : j.at("set").value("vertices", Json::array()))
            set.push_back(d.at(numbers(u, d.velocities))[0]);
    double low = d.z[0], high = d.z[0];
    for (const double x : set) low = std::min(low, x), high = std::max(high, x);
    for (const Mark& m : d.marks) low = std::min(low, m.p[0]), high = std::max(high, m.p[0]);
    const double margin = high > low ? 0.2 * (high - low) : 1.0;
    using Interval = std::optional<std::pair<double, double>>;
    const auto interval = [&](const std::vector<HalfSpace>& list) -> Interval {
        double a = low - 2.0 * margin, b = high + 2.0 * margin;
        for (const HalfSpace& h : list) {
            const double n = h.normal[0];
            if (n > 0.0)
                a = std::max(a, -h.distance / n);
            else if (n < 0.0)
                b = std::min(b, -h.distance / n);
            else if (h.distance < 0.0)
                return {};
        }
        return a <= b ? Interval({a, b}) : Interval();
    };
    std::vector<HalfSpace> reach;
    const auto all = [&](double sign) {
        return std::all_of(d.jumps.begin(), d.jumps.end(), [&](const Velocity& p) { return sign * p[0] >= 0.0; });
    };
    for (const double sign : {1.0, -1.0})
        if (!d.jumps.empty() && all(sign)) reach.push_back({{sign}, -sign * d.z[0]});
    const Interval consistent =
        set.empty() ? Interval()
                    : Interval({*std::min_element(set.begin(), set.end()), *std::max_element(set.begin(), set.end())});
    const std::vector<std::pair<std::string, Interval>> rows{{"consistent u⁺", consistent},
                                                             {"u⁻ plus impulses", interval(reach)},
                                                             {"P⁺, admissible u⁺", interval(d.plus)},
                                                             {"P⁻, approaching u⁻", interval(d.minus)}};
    SvgPlot plot("Velocities after the impact that supply no energy", d.axes[0], "");
    plot.range({low - margin, -0.7}, {high + margin, static_cast<double>(rows.size()) + 0.6});
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const double y = static_cast<double>(k + 1);
        const Interval& range = rows[k].second;
        plot.curve(rows[k].first + (range ? "" : ": empty"),
                   range ? Points{{range->first, y}, {range->second, y}} : Points());
    }
    Points places;
    std::vector<std::string> names;
    for (const Mark& m : d.marks) {
        places.emplace_back(m.p[0], 0.0);
        names.push_back(m.name);
    }
    plot.marks("velocities", places, names);
    return plot.svg(560, 220);
}

using Polygon = std::vector<SvgSpace::Point>;

/// The part of a convex polygon in space in a half space.
Polygon clip(const Polygon& polygon, const HalfSpace& h) {
    Polygon out;
    for (std::size_t k = 0; k < polygon.size(); ++k) {
        const SvgSpace::Point &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
        const double a = h.at(p), b = h.at(q);
        if (a >= 0.0) out.push_back(p);
        if (a * b >= 0.0) continue;
        SvgSpace::Point between;
        for (std::size_t i = 0; i < 3; ++i) between[i] = p[i] + a / (a - b) * (q[i] - p[i]);
        out.push_back(between);
    }
    return out.size() > 2 ? out : Polygon();
}

/// The faces of the polyhedron of the half spaces inside a box: for each half space the part of its plane that
/// satisfies all others. A square of the plane that is larger than the box is cut down to it.
std::vector<Polygon> faces(const std::vector<HalfSpace>& list, const SvgSpace::Point& low,
                           const SvgSpace::Point& high) {
    std::vector<HalfSpace> box;
    double reach = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        Velocity up(3, 0.0), down(3, 0.0);
        up[k] = 1.0;
        down[k] = -1.0;
        box.push_back({up, -low[k]});
        box.push_back({down, high[k]});
        reach += 4.0 * (high[k] - low[k]);
    }
    std::vector<Polygon> out;
    for (std::size_t h = 0; h < list.size(); ++h) {
        const Velocity& n = list[h].normal;
        const double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        if (!(square > 0.0)) continue;
        // The plane is solved for the axis along which its normal is largest.
        std::size_t a = 0;
        for (std::size_t k = 1; k < 3; ++k)
            if (std::abs(n[k]) > std::abs(n[a])) a = k;
        const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
        Polygon face;
        for (const auto& [sb, sc] : {std::pair(1.0, 1.0), {-1.0, 1.0}, {-1.0, -1.0}, {1.0, -1.0}}) {
            SvgSpace::Point p;
            p[b] = 0.5 * (low[b] + high[b]) + sb * reach;
            p[c] = 0.5 * (low[c] + high[c]) + sc * reach;
            p[a] = -(list[h].distance + n[b] * p[b] + n[c] * p[c]) / n[a];
            face.push_back(p);
        }
        for (std::size_t other = 0; other < list.size(); ++other)
            if (other != h) face = clip(face, list[other]);
        for (const HalfSpace& side : box) face = clip(face, side);
        if (!face.empty()) out.push_back(std::move(face));
    }
    return out;
}

/// Three velocities: the consistency set as a body between the faces of P⁺, and the directions of the impulses.
std::string space(const Json& j, const Picture& d) {
    const auto point = [](const Velocity& p) { return SvgSpace::Point{p[0], p[1], p[2]}; };
    std::vector<SvgSpace::Point> body;
    std::vector<std::array<std::size_t, 3>> triangles;
    const Json set = j.contains("set") && j.at("set").is_object() ? j.at("set") : Json::object();
    for (const Json& u : set.value("points", Json::array())) body.push_back(point(d.at(numbers(u, d.velocities))));
    for (const Json& t : set.value("triangles", Json::array())) {
        std::array<std::size_t, 3> corners;
        for (std::size_t k = 0; k < 3; ++k) corners[k] = t.at(k).get<std::size_t>();
        if (std::all_of(corners.begin(), corners.end(), [&](std::size_t k) { return k < body.size(); }))
            triangles.push_back(corners);
    }
    SvgSpace::Point low = point(d.z), high = low, scale;
    const auto see = [&](const SvgSpace::Point& p) {
        for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
    };
    for (const SvgSpace::Point& p : body) see(p);
    for (const Mark& m : d.marks) see(point(m.p));
    double longest = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        scale[k] = std::sqrt(d.metric[k][k]);
        longest = std::max(longest, (high[k] - low[k]) * scale[k]);
    }
    // A margin on all sides, the same in the lengths of the picture.
    for (std::size_t k = 0; k < 3; ++k) {
        const double margin = (longest > 0.0 ? 0.12 * longest : 1.0) / scale[k];
        low[k] -= margin;
        high[k] += margin;
    }
    std::string title = "Velocities that supply no energy";
    if (set.contains("volume_bounds") && !j.at("picture").value("relative", false))
        title += fmt::format(", volume {:.5g} to {:.5g}", number_of(set.at("volume_bounds").at(0)),
                             number_of(set.at("volume_bounds").at(1)));
    SvgSpace scene(title, {d.axes[0], d.axes[1], d.axes[2]}, low, high, scale);
    if (!body.empty()) scene.body("consistent u⁺", body, triangles);
    // A point on the inner side of all faces: the middle of the set, or of the faces themselves.
    SvgSpace::Point inside = point(d.z);
    const std::vector<Polygon> walls = faces(d.plus, low, high);
    Polygon around = body;
    if (around.empty())
        for (const Polygon& wall : walls) around.insert(around.end(), wall.begin(), wall.end());
    if (!around.empty()) {
        inside = {0.0, 0.0, 0.0};
        for (const SvgSpace::Point& p : around)
            for (std::size_t k = 0; k < 3; ++k) inside[k] += p[k] / static_cast<double>(around.size());
    }
    if (!walls.empty()) scene.polygons("P⁺, admissible u⁺", walls, inside);
    std::vector<Polygon> impulses;
    for (const Velocity& jump : d.jumps) {
        double length = 0.0;
        for (std::size_t k = 0; k < 3; ++k) length = std::hypot(length, jump[k] * scale[k]);
        if (!(length > 0.0)) continue;
        SvgSpace::Point end = point(d.z);
        for (std::size_t k = 0; k < 3; ++k) end[k] += 0.8 * longest / length * jump[k];
        impulses.push_back({point(d.z), end});
    }
    if (!impulses.empty()) scene.lines("impulses of each contact", impulses);
    std::vector<SvgSpace::Point> places;
    std::vector<std::string> names;
    for (const Mark& m : d.marks) {
        places.push_back(point(m.p));
        names.push_back(m.name);
    }
    scene.marks("velocities", places, names);
    return scene.svg();
}

}  // namespace

std::string static_velocity_picture(const Json& j) {
    const int dimension = j.contains("picture") ? j.at("picture").value("dimension", 0) : 0;
    if (dimension == 1) return line(j, Picture(j));
    if (dimension == 2) return plane(j, Picture(j));
    if (dimension == 3) return space(j, Picture(j));
    if (dimension > 3) return "<p>No picture: the set has more than three dimensions.</p>";
    const std::string why = j.contains("picture") ? j.at("picture").value("why", "") : std::string();
    return why.empty() ? std::string() : "<p>No picture: " + escaped(why) + ".</p>";
}

}  // namespace saltus::io
