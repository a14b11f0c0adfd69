// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/tape.hpp"

namespace saltus::model {

/// A shape of a drawing. Its coordinates change with the motion, so it holds indices of numbers that Drawing::evaluate
/// computes.
struct Shape {
    enum class Kind { segment, spring, circle, polygon, trace };
    enum class Style { body, ground, line };
    Kind kind = Kind::segment;
    Style style = Style::body;
    std::vector<int> values;  ///< points one after the other; of a circle: centre, radius, angle
};

/// Position of a contact and the directions of its forces, as indices of numbers of Drawing::evaluate.
struct ContactMark {
    std::string contact;
    std::vector<int> at;
    std::vector<int> normal;   ///< direction of the normal force on the body; empty: no arrow
    std::vector<int> tangent;  ///< direction of the friction force; empty: the normal turned clockwise
};

/// A plane obstacle of mass points: normal·x = offset.
struct PlaneMark {
    std::string name;
    std::array<double, 3> normal{};
    int offset = 0;  ///< index of a number of Drawing::evaluate
};

/// How a model is drawn: shapes in the plane or in space, and its mass points with their springs and obstacles. A
/// drawing does not influence the motion.
class Drawing {
public:
    int dimension = 2;                          ///< components of a point: 2 or 3
    std::optional<std::array<double, 4>> view;  ///< lowest x and y, highest x and y; none: all that the motion needs
    std::vector<Shape> shapes;
    std::vector<ContactMark> contacts;
    int first_point = 0;                    ///< first coordinate of the mass points, which have three each
    int points = 0;                         ///< number of mass points
    std::vector<std::array<int, 2>> lines;  ///< springs: numbers of the two points
    std::vector<PlaneMark> planes;

    std::size_t size() const { return tape_.output_count(); }  ///< how many numbers `evaluate` writes
    /// Writes all numbers of shapes, marks and planes. q are the coordinates of the whole model.
    void evaluate(double t, std::span<const double> q, std::span<double> out) const;

    /// Sets the numbers as expressions of t and of `coordinates`; these have the given indices in the model.
    void compile(const expr::Graph& graph, std::span<const expr::Expr> numbers, expr::Expr t,
                 std::span<const expr::Expr> coordinates, std::vector<int> indices);

private:
    expr::Tape tape_;
    std::vector<int> indices_;
};

}  // namespace saltus::model
