// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/basin_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/page/detail/basin_png.hpp"
#include "saltus/io/page/detail/pixel_font.hpp"
#include "saltus/io/page/detail/svg_plot.hpp"

namespace saltus::io {

using stability::Basin;
using stability::BasinLabel;
using stability::RestSet;

namespace {

constexpr int wanted_pixels = 600;  // of the longer side; a start becomes a square of several pixels
constexpr Colour grey{200, 200, 200}, dark{90, 90, 90}, white{255, 255, 255}, black{0, 0, 0};
constexpr Colour set_colours[] = {{70, 130, 180},  {222, 143, 60}, {96, 160, 96},  {178, 88, 120},
                                  {140, 110, 180}, {150, 125, 85}, {75, 160, 165}, {190, 170, 60}};

/// A segment in values of the two axes.
struct Segment {
    double x0, y0, x1, y1;
};

/// Number k of `drawn` points that are spread over `all` points, both ends included.
std::size_t spread(int k, int drawn, long all) {
    return drawn == all ? ix(k) : ix(std::lround(static_cast<double>(k) * static_cast<double>(all - 1) / (drawn - 1)));
}

/// The two axes with more than one value, and the labels of the starts on them. Of a very fine grid some starts are
/// drawn.
struct Plane {
    static constexpr int max_drawn = 2400;  // points along an axis: more than a page or a screen shows

    std::size_t axis[2] = {0, 0};
    long all[2] = {0, 0};  // points of the grid
    int n[2] = {0, 0};     // those that are drawn
    double from[2] = {0.0, 0.0}, to[2] = {0.0, 0.0};
    std::vector<int> label;  // of the points that are drawn; the first axis is the faster one

    explicit Plane(const BasinReport& r) {
        const Basin& b = r.basin;
        const bool refined = !b.refined.empty();
        int found = 0;
        for (std::size_t d = 0; d < r.options.starts.axes.size(); ++d) {
            const ensemble::Axis& a = r.options.starts.axes[d];
            if (a.n == 1) continue;
            axis[found] = d;
            all[found] = a.count(refined ? b.level : 0);
            n[found] = static_cast<int>(std::min<long>(all[found], max_drawn));
            from[found] = a.from;
            to[found++] = a.to;
        }
        ensemble::Labels::Reader reader(b.label);
        for (int k = 0; k < n[1]; ++k)
            for (int i = 0; i < n[0]; ++i) {
                const std::size_t point = number(i, k);
                label.push_back(refined ? b.refined[point] : reader.at(point));
            }
    }
    /// Number of a point that is drawn in the grid.
    std::size_t number(int i, int k) const { return spread(k, n[1], all[1]) * ix(all[0]) + spread(i, n[0], all[0]); }
    int label_at(int i, int k) const { return label[ix(k) * ix(n[0]) + ix(i)]; }
};

/// The colour of each label. Labels of one equilibrium set have shades of one colour: the further away the copy of the
/// set (turn 0, 1, −1, 2, …), the lighter. Orbits have the colours after those of the sets. Label 0 (undecided) is
/// light grey, other labels without a set are dark grey.
std::vector<Colour> label_colours(const Basin& b) {
    std::vector<Colour> colours;
    for (const BasinLabel& l : b.labels) {
        if (l.set < 0 && l.orbit < 0) {
            colours.push_back(colours.empty() ? grey : dark);
            continue;
        }
        const std::size_t number = l.set >= 0 ? ix(l.set) : b.sets.size() + ix(l.orbit);
        Colour c = set_colours[number % std::size(set_colours)];
        long away = 0;
        for (const long t : l.turn) away = std::max(away, 2 * std::abs(t) - (t > 0 ? 1 : 0));
        constexpr double fading = 0.72, lightest = 245.0;  // each step goes 28 % of the way to the lightest grey
        const double share = 1.0 - std::pow(fading, static_cast<double>(away));
        for (std::uint8_t& x : c) x = static_cast<std::uint8_t>(std::lround(x + share * (lightest - x)));
        colours.push_back(c);
    }
    return colours;
}

/// The boundary of the level set { V < rho } as straight segments between points of the base grid (marching squares).
/// V − rho is interpolated linearly on the sides of a cell. Other components of { V < rho }, whose starts are not
/// marked as inside, do not count: f is kept positive there.
std::vector<Segment> level_edge(const BasinReport& r, const Plane& p) {
    std::vector<Segment> edge;
    if (!r.options.level || !std::isfinite(r.options.level->rho)) return edge;
    const long all[2] = {r.options.starts.axes[p.axis[0]].n, r.options.starts.axes[p.axis[1]].n};
    const int nx = static_cast<int>(std::min<long>(all[0], Plane::max_drawn));
    const int ny = static_cast<int>(std::min<long>(all[1], Plane::max_drawn));
    const double rho = r.options.level->rho;
    const double least = 1e-9 * (1.0 + std::abs(rho));  // |f| ≥ least, so that the sign of f is that of `inside`
    std::vector<double> values;                         // f at the points that are drawn
    r.basin.record.scan(0, r.basin.base, [&](std::size_t m, const stability::BasinMotion& motion) {
        // The points that are drawn come in this order.
        const int i = static_cast<int>(values.size() % ix(nx)), k = static_cast<int>(values.size() / ix(nx));
        if (k >= ny || m != spread(k, ny, all[1]) * ix(all[0]) + spread(i, nx, all[0])) return;
        const double above = motion.V - rho;
        values.push_back(motion.inside ? std::min(above, -least) : std::max(above, least));
    });
    const auto f = [&](int i, int k) { return values[ix(k) * ix(nx) + ix(i)]; };
    const auto x = [&](double i) { return p.from[0] + (p.to[0] - p.from[0]) * i / (nx - 1); };
    const auto y = [&](double k) { return p.from[1] + (p.to[1] - p.from[1]) * k / (ny - 1); };
    for (int k = 0; k + 1 < ny; ++k)
        for (int i = 0; i + 1 < nx; ++i) {
            // The corners of a cell go counter-clockwise. Crossings of its sides are joined in pairs.
            const int ci[] = {i, i + 1, i + 1, i}, ck[] = {k, k, k + 1, k + 1};
            std::vector<std::pair<double, double>> crossings;
            for (int c = 0; c < 4; ++c) {
                const int d = (c + 1) % 4;
                const double a = f(ci[c], ck[c]), b = f(ci[d], ck[d]);
                if ((a < 0.0) == (b < 0.0)) continue;
                const double s = a / (a - b);
                crossings.emplace_back(x(ci[c] + s * (ci[d] - ci[c])), y(ck[c] + s * (ck[d] - ck[c])));
            }
            for (std::size_t c = 0; c + 1 < crossings.size(); c += 2)
                edge.push_back(
                    {crossings[c].first, crossings[c].second, crossings[c + 1].first, crossings[c + 1].second});
        }
    return edge;
}

/// The equilibrium sets inside the picture, each as the diagonal of its extent. If a coordinate is periodic then all
/// copies of a set are drawn.
std::vector<Segment> equilibria(const BasinReport& r, const Plane& p) {
    std::vector<Segment> list;
    if (r.options.varies_parameters()) return list;  // the sets depend on them
    const auto n = static_cast<int>(r.coordinates.size());
    using Extents = std::vector<std::pair<double, double>>;
    const auto extents = [&](const RestSet& s, int a) -> Extents {
        const int c = r.options.components[p.axis[a]];
        if (c >= n) return {{0.0, 0.0}};
        const auto i = static_cast<std::size_t>(c);
        const std::vector<double>&lower = s.known ? s.lower : s.low, &upper = s.known ? s.upper : s.high;
        if (lower.empty()) return {};
        const double period = r.basin.periods[i], low = lower[i], high = upper[i];
        if (period == 0.0 || !std::isfinite(low) || !std::isfinite(high)) return {{low, high}};
        Extents copies;
        for (double t = std::ceil((p.from[a] - high) / period); low + t * period <= p.to[a]; ++t)
            copies.emplace_back(low + t * period, high + t * period);
        return copies;
    };
    for (const RestSet& s : r.basin.sets)
        for (const auto& [x0, x1] : extents(s, 0))
            for (const auto& [y0, y1] : extents(s, 1))
                if (x1 >= p.from[0] && x0 <= p.to[0] && y1 >= p.from[1] && y0 <= p.to[1])
                    list.push_back({std::max(x0, p.from[0]), std::max(y0, p.from[1]), std::min(x1, p.to[0]),
                                    std::min(y1, p.to[1])});
    return list;
}

/// The labels as an image with `enlarge` × `enlarge` pixels for each start.
IndexedImage points(const BasinReport& r, const Plane& p, int enlarge) {
    IndexedImage image;
    image.width = p.n[0] * enlarge;
    image.height = p.n[1] * enlarge;
    image.pixel.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
    const std::vector<Colour> colours = label_colours(r.basin);
    // A palette has room for 256 colours, two of which are for lines. Further labels share colours.
    const int max_labels = 254;
    for (std::size_t k = 0; k < colours.size() && static_cast<int>(k) < max_labels; ++k)
        image.palette.push_back(colours[k]);
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            image.at(x, y) = static_cast<std::uint8_t>(p.label_at(x / enlarge, p.n[1] - 1 - y / enlarge) % max_labels);
    return image;
}

/// Draws a segment with a pen of 2·radius + 1 pixels.
void draw(IndexedImage& image, const Plane& p, const Segment& s, std::uint8_t colour, int radius) {
    const auto px = [&](double x) {
        return (x - p.from[0]) / (p.to[0] - p.from[0]) * (image.width - 1.0 * image.width / p.n[0]) +
               0.5 * image.width / p.n[0];
    };
    const auto py = [&](double y) {
        return (p.to[1] - y) / (p.to[1] - p.from[1]) * (image.height - 1.0 * image.height / p.n[1]) +
               0.5 * image.height / p.n[1];
    };
    const double x0 = px(s.x0), y0 = py(s.y0), x1 = px(s.x1), y1 = py(s.y1);
    const int steps = 1 + static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0))));
    for (int k = 0; k <= steps; ++k) {
        const int x = static_cast<int>(x0 + (x1 - x0) * k / steps), y = static_cast<int>(y0 + (y1 - y0) * k / steps);
        for (int dx = -radius; dx <= radius; ++dx)
            for (int dy = -radius; dy <= radius; ++dy)
                if (x + dx >= 0 && x + dx < image.width && y + dy >= 0 && y + dy < image.height)
                    image.at(x + dx, y + dy) = colour;
    }
}

/// A line of the legend: a colour of the palette and what it means. Without a colour it is text alone.
struct LegendLine {
    int colour;  ///< −1: none
    std::string text;
};

/// The picture with a legend to its right, on white. `ink` is the colour of the text, `paper` that of the ground.
IndexedImage with_legend(const IndexedImage& picture, const std::vector<LegendLine>& lines, std::uint8_t ink,
                         std::uint8_t paper) {
    constexpr int scale = 2, margin = 12, swatch = 14, line = 24;  // in pixels
    int widest = 0;
    for (const LegendLine& l : lines)
        widest = std::max(widest, text_width(l.text, scale) + (l.colour < 0 ? 0 : swatch + margin));
    IndexedImage image;
    image.palette = picture.palette;
    image.width = picture.width + widest + 2 * margin;
    image.height = std::max(picture.height, line * static_cast<int>(lines.size()) + 2 * margin);
    image.pixel.assign(ix(image.width) * ix(image.height), paper);
    for (int y = 0; y < picture.height; ++y)
        std::copy_n(picture.pixel.begin() + static_cast<std::ptrdiff_t>(y) * picture.width, picture.width,
                    image.pixel.begin() + static_cast<std::ptrdiff_t>(y) * image.width);
    int y = margin;
    for (const LegendLine& l : lines) {
        int x = picture.width + margin;
        if (l.colour >= 0) {
            for (int v = 0; v < swatch; ++v)
                for (int u = 0; u < swatch; ++u) {
                    const bool edge = u == 0 || v == 0 || u == swatch - 1 || v == swatch - 1;
                    image.at(x + u, y + v) = edge ? ink : static_cast<std::uint8_t>(l.colour);
                }
            x += swatch + margin;
        }
        draw_text(image, x, y, l.text, ink, scale);
        y += line;
    }
    return image;
}

/// What the colours and lines of a picture mean: labels that occur, level set, equilibrium sets, axes.
std::vector<LegendLine> legend_lines(const BasinReport& r, const Plane& p, bool level, bool sets, int line) {
    constexpr std::size_t max_lines = 24;  // of labels; the rest is counted
    std::vector<LegendLine> lines;
    std::size_t more = 0;
    const std::vector<BasinLabel>& labels = r.basin.labels;
    for (std::size_t k = 0; k < labels.size(); ++k) {
        const bool occurs = std::find(p.label.begin(), p.label.end(), static_cast<int>(k)) != p.label.end();
        if (!occurs) continue;
        if (lines.size() < max_lines && static_cast<int>(k) < line)
            lines.push_back(
                {static_cast<int>(k), labels[k].text.empty() ? "label " + std::to_string(k) : labels[k].text});
        else
            ++more;
    }
    if (more > 0) lines.push_back({-1, "and " + counted(more, "further label")});
    if (level)
        lines.push_back({line, fmt::format("V = {:.6g}, {}", r.options.level->rho,
                                           r.options.level->proved ? "proved" : "numerical")});
    if (sets) lines.push_back({line + 1, "equilibria"});
    lines.push_back({-1, ""});
    const char* const directions[] = {"right", "up"};
    for (const int a : {0, 1})
        lines.push_back({-1, fmt::format("{}: {}, {:.6g} to {:.6g}", directions[a],
                                         r.options.starts.axes[p.axis[a]].name, p.from[a], p.to[a])});
    return lines;
}

// --- svg

// Places in the picture, in units of the SVG: corner and size of the plane, left edge of the legend.
constexpr double left = 70.0, top = 40.0, width = 600.0, height = 480.0, legend = 690.0;
constexpr double legend_bottom = 560.0;              // entries below it are left out
constexpr std::size_t level_legend_characters = 24;  // room for "V = ..., numerical"

/// Places of values of the two axes. A start lies in the middle of its pixel.
struct Frame {
    const Plane& p;
    double x(double value) const {
        return left + width * ((value - p.from[0]) / (p.to[0] - p.from[0]) * (p.n[0] - 1) + 0.5) / p.n[0];
    }
    double y(double value) const {
        return top + height * ((p.to[1] - value) / (p.to[1] - p.from[1]) * (p.n[1] - 1) + 0.5) / p.n[1];
    }
};

/// Multiples of 1, 2 or 5 times a power of ten in a range, about five of them.
std::vector<double> ticks(double from, double to) {
    const double rough = (to - from) / 5.0, unit = std::pow(10.0, std::floor(std::log10(rough)));
    double step = unit;
    for (const double f : {2.0, 5.0, 10.0})
        if (step < rough * 0.7) step = f * unit;
    std::vector<double> list;
    constexpr double rounding = 1e-9;  // of a step: a tick at an end of the range counts in spite of rounding
    for (double k = std::ceil(from / step - rounding); k * step <= to + rounding * step; ++k)
        list.push_back(k * step + 0.0);
    return list;
}

std::string hex(const Colour& c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

/// Frame, ticks and names of the axes.
std::string svg_axes(const BasinReport& r, const Plane& p) {
    const Frame at{p};
    std::string svg;
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\n", left,
                       top, width, height);
    for (const double x : ticks(p.from[0], p.to[0]))
        svg += fmt::format(
            "<path d=\"M{0:.2f} {1}v5\" stroke=\"black\"/><text x=\"{0:.2f}\" y=\"{2}\" "
            "text-anchor=\"middle\">{3:.4g}</text>\n",
            at.x(x), top + height, top + height + 20.0, x);
    for (const double y : ticks(p.from[1], p.to[1]))
        svg += fmt::format(
            "<path d=\"M{0} {1:.2f}h-5\" stroke=\"black\"/><text x=\"{2}\" y=\"{3:.2f}\" "
            "text-anchor=\"end\">{4:.4g}</text>\n",
            left, at.y(y), left - 8.0, at.y(y) + 4.0, y);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", left + 0.5 * width,
                       top + height + 42.0, escaped(r.options.starts.axes[p.axis[0]].name));
    svg += fmt::format("<text x=\"20\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {})\">{}</text>\n",
                       top + 0.5 * height, top + 0.5 * height, escaped(r.options.starts.axes[p.axis[1]].name));
    return svg;
}

/// A colour for each label that occurs, then the level set.
std::string svg_legend(const BasinReport& r, bool with_level) {
    std::string svg;
    const std::vector<Colour> colours = label_colours(r.basin);
    double y = top;
    for (std::size_t k = 0; k < r.basin.labels.size() && y < legend_bottom; ++k) {
        if (r.basin.labels[k].count == 0) continue;
        svg += fmt::format(
            "<rect x=\"{}\" y=\"{:.1f}\" width=\"16\" height=\"16\" fill=\"{}\" stroke=\"black\"/><text x=\"{}\" "
            "y=\"{:.1f}\">{}</text>\n",
            legend, y, hex(colours[k]), legend + 24.0, y + 13.0, escaped(r.basin.labels[k].text));
        y += 24.0;
    }
    if (with_level && y < legend_bottom)
        svg += fmt::format(
            "<rect x=\"{}\" y=\"{:.1f}\" width=\"16\" height=\"16\" fill=\"{}\"/><path d=\"M{} {:.1f}h12\" "
            "stroke=\"white\" stroke-width=\"2\"/><text x=\"{}\" y=\"{:.1f}\">V = {:.6g}, {}</text>\n",
            legend, y, hex(dark), legend + 2.0, y + 8.0, legend + 24.0, y + 13.0, r.options.level->rho,
            r.options.level->proved ? "proved" : "numerical");
    return svg;
}

}  // namespace

bool has_basin_image(const BasinReport& r) {
    if (r.sampled()) return false;
    const std::vector<ensemble::Axis>& axes = r.options.starts.axes;
    return std::count_if(axes.begin(), axes.end(), [](const ensemble::Axis& a) { return a.n > 1; }) == 2 &&
           std::none_of(axes.begin(), axes.end(),
                        [](const ensemble::Axis& a) { return a.logarithmic || !a.listed.empty(); });
}

std::string basin_png(const BasinReport& r) {
    SALTUS_EXPECT(has_basin_image(r));
    const Plane p(r);
    IndexedImage image = points(r, p, std::max(1, wanted_pixels / std::max(p.n[0], p.n[1])));
    const auto line = static_cast<std::uint8_t>(image.palette.size());
    image.palette.push_back(white);
    image.palette.push_back(black);
    const std::vector<Segment> edge = level_edge(r, p), sets = equilibria(r, p);
    const auto ink = static_cast<std::uint8_t>(line + 1);
    for (const Segment& s : edge) draw(image, p, s, line, 0);
    for (const Segment& s : sets) draw(image, p, s, ink, 1);
    return png(with_legend(image, legend_lines(r, p, !edge.empty(), !sets.empty(), line), ink, line));
}

std::string basin_svg(const BasinReport& r) {
    SALTUS_EXPECT(has_basin_image(r));
    const Plane p(r);
    std::size_t longest = 0;
    for (const BasinLabel& l : r.basin.labels) longest = std::max(longest, l.text.size());
    if (r.options.level) longest = std::max(longest, level_legend_characters);
    const double whole = legend + 60.0 + 8.0 * static_cast<double>(longest);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} 580\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{}\" y=\"24\" "
        "font-size=\"16\">{}</text>\n",
        whole, left, escaped(r.model));
    svg += fmt::format(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "image-rendering=\"pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        left, top, width, height, base64(png(points(r, p, 1))));
    const Frame at{p};
    std::string edge;
    for (const Segment& s : level_edge(r, p))
        edge += fmt::format("M{:.2f} {:.2f}L{:.2f} {:.2f}", at.x(s.x0), at.y(s.y0), at.x(s.x1), at.y(s.y1));
    if (!edge.empty()) svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"white\" stroke-width=\"2\"/>\n", edge);
    for (const Segment& s : equilibria(r, p))
        svg += fmt::format(
            "<path d=\"M{:.2f} {:.2f}L{:.2f} {:.2f}\" stroke=\"black\" stroke-width=\"5\" "
            "stroke-linecap=\"round\"/>\n",
            at.x(s.x0), at.y(s.y0), at.x(s.x1) + 0.01, at.y(s.y1));  // + 0.01: a path of length 0 is not drawn
    return svg + svg_axes(r, p) + svg_legend(r, !edge.empty()) + "</svg>\n";
}

}  // namespace saltus::io
