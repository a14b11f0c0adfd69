// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace saltus::io {

/// Text for HTML and SVG.
std::string escaped(const std::string& text);

/// A plot as an SVG picture: axes with ticks, curves, marks, stems, areas. Colours come from the page's style.
class SvgPlot {
public:
    using Points = std::vector<std::pair<double, double>>;  ///< a NaN breaks a curve

    SvgPlot(std::string title, std::string x, std::string y)
        : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {}

    SvgPlot& logarithmic() {
        log_ = true;
        return *this;
    }
    SvgPlot& curve(std::string name, Points points, bool dashed = false);
    SvgPlot& marks(std::string name, Points points);
    SvgPlot& stems(std::string name, Points points);
    SvgPlot& area(std::string name, Points corners);
    /// A filled rectangle of the picture's own, in a colour by number.
    SvgPlot& cell(double x, double y, double width, double height, int color);
    bool empty() const { return layers_.empty() && cells_.empty(); }

    std::string svg(int width = 560, int height = 260) const;

private:
    enum class Kind { curve, marks, stems, area };
    struct Layer {
        Kind kind;
        std::string name;
        Points points;
        bool dashed = false;
    };
    struct Cell {
        double x, y, width, height;
        int color;
    };
    struct Axis;
    Axis axis(bool vertical, double from, double to) const;

    std::string title_, x_, y_;
    bool log_ = false;
    std::vector<Layer> layers_;
    std::vector<Cell> cells_;
};

inline constexpr double no_point = std::numeric_limits<double>::quiet_NaN();

}  // namespace saltus::io
