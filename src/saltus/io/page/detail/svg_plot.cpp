// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/visible_text.hpp"

namespace saltus::io {

namespace {

constexpr double left = 72, right = 12, top = 26, bottom = 34;  // margins around the axes in pixels
constexpr std::size_t max_upright_label = 3;  // characters of a label of the ordinate that is not turned
constexpr double row = 15;                    // height of a line of the legend in pixels
constexpr std::size_t columns = 4;            // of the legend
constexpr std::size_t colors = 8;             // classes c0 … c7 and f0 … f7 of the style
constexpr double log_tolerance = 1e-9;        // a power of ten that is off by rounding stays inside its decade
constexpr double zero_tick = 1e-12;    // a tick below this part of the range of its axis is rounding residue of 0
constexpr double rounding = 1e-12;     // values that differ by less than this part of the largest are one value
constexpr double least_range = 1e-14;  // values that differ by less, in the unit of the axis, are one value

}  // namespace

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : visible_text(text)) switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    return out;
}

/// Maps values low … high to pixels from … to.
struct SvgPlot::Axis {
    double low = 0.0, high = 1.0, from = 0.0, to = 1.0;
    bool log = false;
    std::vector<double> ticks;

    double at(double v) const {
        const double s =
            log ? (std::log10(v) - std::log10(low)) / (std::log10(high) - std::log10(low)) : (v - low) / (high - low);
        return from + s * (to - from);
    }
};

SvgPlot& SvgPlot::curve(std::string name, Points points, bool dashed) {
    layers_.push_back({Kind::curve, std::move(name), std::move(points), dashed});
    return *this;
}
SvgPlot& SvgPlot::marks(std::string name, Points points, std::vector<std::string> labels) {
    layers_.push_back({Kind::marks, std::move(name), std::move(points), false, std::move(labels)});
    return *this;
}
SvgPlot& SvgPlot::stems(std::string name, Points points) {
    layers_.push_back({Kind::stems, std::move(name), std::move(points)});
    return *this;
}
SvgPlot& SvgPlot::area(std::string name, Points corners) {
    layers_.push_back({Kind::area, std::move(name), std::move(corners)});
    return *this;
}
SvgPlot& SvgPlot::cell(double x, double y, double width, double height, int color) {
    cells_.push_back({x, y, width, height, color});
    return *this;
}

SvgPlot::Axis SvgPlot::axis(Direction direction, double from, double to) const {
    const bool vertical = direction == Direction::vertical;
    Axis a;
    a.from = from;
    a.to = to;
    a.log = log_;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const auto see = [&](double v) {
        if (!std::isfinite(v) || (log_ && !(v > 0.0))) return;
        low = std::min(low, v);
        high = std::max(high, v);
    };
    for (const Layer& l : layers_)
        for (const auto& [x, y] : l.points) {
            see(vertical ? y : x);
            if (vertical && l.kind == Kind::stems) see(0.0);
        }
    for (const Cell& c : cells_) {
        see(vertical ? c.y : c.x);
        see(vertical ? c.y + c.height : c.x + c.width);
    }
    if (!range_.empty()) {
        low = vertical ? range_[0].second : range_[0].first;
        high = vertical ? range_[1].second : range_[1].first;
    }
    if (!(low <= high)) low = 0.1, high = 1.0;
    if (log_) {
        a.low = std::pow(10.0, std::floor(std::log10(low) - log_tolerance));
        a.high = std::pow(10.0, std::ceil(std::log10(high) + log_tolerance));
        for (double t = a.low; t <= a.high * 1.001; t *= 10.0) a.ticks.push_back(t);
        return a;
    }
    // Without this, ticks of rounding noise would have the same number, or steps that do not change a tick at all.
    const double largest = std::max(std::abs(low), std::abs(high));
    if (high - low <= std::max(least_range, rounding * largest)) {
        const double half = largest > least_range ? 0.1 * largest : 1.0;
        low -= half;
        high += half;
    }
    const double margin = vertical && cells_.empty() && range_.empty() ? 0.05 * (high - low) : 0.0;
    a.low = low - margin;
    a.high = high + margin;
    // About five ticks, at multiples of 1, 2 or 5 times a power of ten.
    const double rough = (a.high - a.low) / 5.0, decade = std::pow(10.0, std::floor(std::log10(rough)));
    const double step = decade * (rough / decade < 1.5   ? 1.0
                                  : rough / decade < 3.5 ? 2.0
                                  : rough / decade < 7.5 ? 5.0
                                                         : 10.0);
    for (double k = std::ceil(a.low / step); k * step <= a.high; ++k) a.ticks.push_back(k * step);
    return a;
}

double SvgPlot::shown(const Axis& axis, double tick) {
    return !axis.log && std::abs(tick) < zero_tick * (axis.high - axis.low) ? 0.0 : tick;
}

std::string SvgPlot::svg(int width, int height) const {
    const double rows = std::ceil(static_cast<double>(layers_.size()) / columns);
    const Axis x = axis(Direction::horizontal, left, width - right),
               y = axis(Direction::vertical, height - bottom, top);
    std::string text = fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{}</title><text class=\"title\" x=\"6\" "
        "y=\"16\">{}</text>\n",
        width, height + rows * row, escaped(title_), escaped(title_));
    for (const double t : x.ticks)
        text += fmt::format(
            "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{3}\" "
            "text-anchor=\"middle\">{4:.6g}</text>\n",
            x.at(t), top, height - bottom, height - bottom + 14, shown(x, t));
    for (const double t : y.ticks)
        text += fmt::format(
            "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" "
            "text-anchor=\"end\">{5:.6g}</text>\n",
            left, y.at(t), width - right, left - 5, y.at(t) + 4, shown(y, t));
    text += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", width - right,
                        height - 4, escaped(x_));
    // A name of one or two letters stands above the ticks, a longer label along the axis.
    if (y_.size() <= max_upright_label)
        text += fmt::format("<text class=\"tick\" x=\"6\" y=\"{}\">{}</text>\n", top + 8, escaped(y_));
    else
        text += fmt::format(
            "<text class=\"tick\" transform=\"translate(11 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            (top + height - bottom) / 2, escaped(y_));
    for (const Cell& c : cells_)
        text += fmt::format("<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                            static_cast<std::size_t>(c.color) % colors, x.at(c.x), y.at(c.y + c.height),
                            x.at(c.x + c.width) - x.at(c.x), y.at(c.y) - y.at(c.y + c.height));
    for (std::size_t k = 0; k < layers_.size(); ++k) {
        const Layer& l = layers_[k];
        const auto shown = [&](const std::pair<double, double>& p) {
            return std::isfinite(p.first) && std::isfinite(p.second) && (!log_ || (p.first > 0.0 && p.second > 0.0));
        };
        std::string path;
        bool pen = false;  // the next point continues a line
        for (const auto& p : l.points) {
            if (!shown(p)) {
                pen = false;
                continue;
            }
            const double px = x.at(p.first), py = y.at(p.second);
            if (l.kind == Kind::stems)
                path += fmt::format("M{:.1f} {:.1f}V{:.1f}", px, y.at(0.0), py);
            else if (l.kind == Kind::marks)
                path += fmt::format("M{:.1f} {:.1f}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", px, py);
            else
                path += fmt::format("{}{:.1f} {:.1f}", pen ? 'L' : 'M', px, py);
            pen = true;
        }
        if (l.kind == Kind::area) path += 'Z';
        const char* const classes[] = {"curve", "curve", "curve", "area"};
        // With given ranges a picture inside the picture cuts the layers at the frame of the axes.
        if (!range_.empty())
            text += fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">",
                                left, top, width - left - right, height - top - bottom);
        text += fmt::format("<path class=\"{} c{}{}\" d=\"{}\"/>\n", classes[static_cast<int>(l.kind)], k % colors,
                            l.dashed ? " dashed" : "", path);
        for (std::size_t i = 0; i < l.labels.size() && i < l.points.size(); ++i)
            if (shown(l.points[i]))
                text +=
                    fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                                x.at(l.points[i].first) + 6.0, y.at(l.points[i].second) - 5.0, escaped(l.labels[i]));
        if (!range_.empty()) text += "</svg>\n";
        const double lx = left + (width - left - right) / columns * static_cast<double>(k % columns),
                     ly = height + row * std::floor(static_cast<double>(k) / columns) + 8;
        text += fmt::format(
            "<path class=\"curve c{}{}\" d=\"M{:.0f} {:.0f}h14\"/><text class=\"tick\" x=\"{:.0f}\" "
            "y=\"{:.0f}\">{}</text>\n",
            k % colors, l.dashed ? " dashed" : "", lx, ly - 4, lx + 18, ly, escaped(l.name));
    }
    return text + "</svg>\n";
}

}  // namespace saltus::io
