// SPDX-License-Identifier: Apache-2.0
#include "work_precision_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace saltus::bench {
namespace {

constexpr int columns = 3;                                              // diagrams in a row
constexpr double width = 300.0, height = 240.0;                         // of one diagram with its margins, in pixels
constexpr double left = 52.0, right = 14.0, top = 30.0, bottom = 36.0;  // margins
constexpr double exponent_left = -2.0, exponent_right = -15.0;          // log10 of the errors at both ends of the axis

struct Style {
    const char *colour, *dash;
};
// Colours that people with a colour vision deficiency can tell apart, and dashes for prints without colour.
constexpr std::array<Style, 5> styles{
    {{"#0072b2", "none"}, {"#d55e00", "none"}, {"#e69f00", "5 3"}, {"#009e73", "none"}, {"#777777", "2 3"}}};

const Style& style(std::size_t method) { return styles[method % styles.size()]; }

/// The runs that have an error within the diagram; errors below its range are drawn at its end.
std::vector<Work> drawable(std::vector<Work> runs) {
    const double largest_error = std::pow(10.0, exponent_left), smallest_error = std::pow(10.0, exponent_right);
    std::erase_if(runs, [&](const Work& w) { return !(w.error <= largest_error) || w.seconds <= 0.0; });
    for (Work& w : runs) w.error = std::max(w.error, smallest_error);
    return runs;
}

/// One diagram: its place in the picture and its axis of times, in powers of ten.
struct Frame {
    double x0 = 0.0, y0 = 0.0;  // upper left corner
    int lowest = 0, highest = 0;

    double inner_left() const { return x0 + left; }
    double inner_right() const { return x0 + width - right; }
    double inner_top() const { return y0 + top; }
    double inner_bottom() const { return y0 + height - bottom; }
    double x(double log_error) const {
        const double part = (log_error - exponent_left) / (exponent_right - exponent_left);
        return inner_left() + part * (inner_right() - inner_left());
    }
    double y(double log_seconds) const {
        return inner_bottom() - (log_seconds - lowest) / (highest - lowest) * (inner_bottom() - inner_top());
    }
};

Frame frame_of(const WorkDiagram& diagram, std::size_t number) {
    double low = 0.0, high = -9.0;
    for (const WorkCurve& curve : diagram.curves)
        for (const Work& w : drawable(curve.runs)) {
            low = std::min(low, std::log10(w.seconds));
            high = std::max(high, std::log10(w.seconds));
        }
    const auto column = static_cast<double>(number % columns), row = static_cast<double>(number / columns);
    const int lowest = static_cast<int>(std::floor(low));
    return {column * width, row * height, lowest, std::max(lowest + 1, static_cast<int>(std::ceil(high)))};
}

std::string text(double x, double y, const char* anchor, const std::string& words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
                       y2, colour);
}

std::string seconds_label(int exponent) {
    static constexpr std::array<const char*, 6> labels{"1 µs", "10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s"};
    const int index = exponent + 6;
    if (index < 0 || index >= static_cast<int>(labels.size())) return fmt::format("1e{} s", exponent);
    return labels[static_cast<std::size_t>(index)];
}

std::string axes(const Frame& frame, const std::string& title) {
    const char *grid = "#dddddd", *border = "#444444";
    std::string out = text((frame.inner_left() + frame.inner_right()) / 2.0, frame.y0 + top - 10.0, "middle", title);
    for (int exponent = -2; exponent >= -14; exponent -= 2) {
        const double x = frame.x(exponent);
        out += line(x, frame.inner_top(), x, frame.inner_bottom(), grid);
        if (exponent % 4 == -2) out += text(x, frame.inner_bottom() + 14.0, "middle", fmt::format("1e{}", exponent));
    }
    for (int exponent = frame.lowest; exponent <= frame.highest; ++exponent) {
        const double y = frame.y(exponent);
        out += line(frame.inner_left(), y, frame.inner_right(), y, grid);
        out += text(frame.inner_left() - 5.0, y + 4.0, "end", seconds_label(exponent));
    }
    out += text((frame.inner_left() + frame.inner_right()) / 2.0, frame.inner_bottom() + 28.0, "middle", "error");
    out += line(frame.inner_left(), frame.inner_bottom(), frame.inner_right(), frame.inner_bottom(), border);
    out += line(frame.inner_left(), frame.inner_top(), frame.inner_left(), frame.inner_bottom(), border);
    return out;
}

std::string drawn(const Frame& frame, const std::vector<Work>& runs, const Style& look) {
    std::string points, dots;
    for (const Work& w : runs) {
        const double x = frame.x(std::log10(w.error)), y = frame.y(std::log10(w.seconds));
        points += fmt::format("{:.1f},{:.1f} ", x, y);
        dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\"/>\n", x, y, look.colour);
    }
    return fmt::format(
               "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"{}\"/>\n",
               points, look.colour, look.dash) +
           dots;
}

/// The names of the methods, in the place of the diagram after the last.
std::string legend(const std::vector<WorkCurve>& curves, std::size_t place) {
    const double x = static_cast<double>(place % columns) * width + left;
    double y = static_cast<double>(place / columns) * height + top + 20.0;
    std::string out;
    for (std::size_t m = 0; m < curves.size(); ++m, y += 22.0)
        out += fmt::format(
                   "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" "
                   "stroke-width=\"2\" stroke-dasharray=\"{4}\"/>\n",
                   x, x + 28.0, y - 4.0, style(m).colour, style(m).dash) +
               text(x + 36.0, y, "start", curves[m].method);
    return out;
}

}  // namespace

std::string work_precision_picture(const std::vector<WorkDiagram>& diagrams) {
    const std::size_t rows = diagrams.size() / columns + 1;  // one place is for the legend
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        columns * width, static_cast<double>(rows) * height);
    for (std::size_t d = 0; d < diagrams.size(); ++d) {
        const Frame frame = frame_of(diagrams[d], d);
        out += axes(frame, diagrams[d].title);
        for (std::size_t m = 0; m < diagrams[d].curves.size(); ++m)
            out += drawn(frame, drawable(diagrams[d].curves[m].runs), style(m));
    }
    if (!diagrams.empty()) out += legend(diagrams.front().curves, diagrams.size());
    return out + "</svg>\n";
}

}  // namespace saltus::bench
