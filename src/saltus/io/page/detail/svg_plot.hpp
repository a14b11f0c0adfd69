// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace saltus::io {

/// A text in which the characters & < > " are replaced by HTML entities.
std::string escaped(const std::string& text);

/// A NaN in a curve, which interrupts it.
inline constexpr double no_point = std::numeric_limits<double>::quiet_NaN();

/// A plot as an SVG picture: axes with ticks, and layers of curves, marks, stems and areas with a legend. The ranges of
/// the axes follow from the layers. Colours come from the style of the page (static_page.cpp).
class SvgPlot {
public:
    using Points = std::vector<std::pair<double, double>>;  ///< x and y; a point with a NaN interrupts a curve

    SvgPlot(std::string title, std::string x, std::string y)
        : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {}

    /// Both axes become logarithmic. Points that are not positive are not drawn.
    SvgPlot& logarithmic() {
        log_ = true;
        return *this;
    }
    SvgPlot& curve(std::string name, Points points, bool dashed = false);
    /// Circles; each may have a label beside it.
    SvgPlot& marks(std::string name, Points points, std::vector<std::string> labels = {});
    SvgPlot& stems(std::string name, Points points);  ///< vertical lines from y = 0
    SvgPlot& area(std::string name, Points corners);
    /// A filled rectangle with corner (x, y) and a size in units of the axes, in one of eight colours.
    SvgPlot& cell(double x, double y, double width, double height, int color);
    /// The ranges of both axes, from the lower left to the upper right corner. Layers are cut there.
    SvgPlot& range(std::pair<double, double> low, std::pair<double, double> high) {
        range_ = {low, high};
        return *this;
    }
    bool empty() const { return layers_.empty() && cells_.empty(); }

    /// The picture, of this size in pixels; the legend below adds to the height.
    std::string svg(int width = 560, int height = 260) const;

private:
    enum class Kind { curve, marks, stems, area };
    struct Layer {
        Kind kind;
        std::string name;
        Points points;
        bool dashed = false;
        std::vector<std::string> labels = {};  ///< labels of the points, if they are marks
    };
    struct Cell {
        double x, y, width, height;
        int color;
    };
    struct Axis;
    enum class Direction { horizontal, vertical };
    Axis axis(Direction direction, double from, double to) const;  ///< from and to in pixels
    static double shown(const Axis& axis, double tick);            ///< the number at a tick

    std::string title_, x_, y_;
    bool log_ = false;
    Points range_;  // two corners; empty: the ranges follow from the layers
    std::vector<Layer> layers_;
    std::vector<Cell> cells_;
};

}  // namespace saltus::io
