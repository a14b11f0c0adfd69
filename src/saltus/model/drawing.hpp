// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/tape.hpp"

namespace saltus::model {

/// A shape whose coordinates are numbers of its drawing, told by where they stand among Drawing::evaluate's.
struct Shape {
    enum class Kind { segment, spring, circle, polygon, trace };
    enum class Style { body, ground, line };
    Kind kind = Kind::segment;
    Style style = Style::body;
    std::vector<int> values;  ///< points one after the other; of a circle its centre, radius and angle
};

/// Where a contact is. Tangent: where nothing else is said, the normal turned clockwise.
struct ContactMark {
    std::string contact;
    std::vector<int> at, normal, tangent;
};

/// A plane obstacle of mass points: normal·x = offset.
struct PlaneMark {
    std::string name;
    std::array<double, 3> normal{};
    int offset = 0;
};

/// How a model is drawn: shapes in the plane or in space, and its mass points with their springs and obstacles.
class Drawing {
public:
    int dimension = 2;
    std::optional<std::array<double, 4>> view;  ///< lowest x and y, highest x and y
    std::vector<Shape> shapes;
    std::vector<ContactMark> contacts;
    int first_point = 0, points = 0;        ///< coordinates of mass points, three each
    std::vector<std::array<int, 2>> lines;  ///< springs between them
    std::vector<PlaneMark> planes;

    std::size_t size() const { return tape_.output_count(); }
    /// All numbers of shapes, marks and planes at one time; q: of the whole model.
    void evaluate(double t, std::span<const double> q, std::span<double> out) const;

    /// The numbers as expressions of t and of the coordinates with these indices.
    void compile(const expr::Graph& graph, std::span<const expr::Expr> numbers, expr::Expr t,
                 std::span<const expr::Expr> coordinates, std::vector<int> indices);

private:
    expr::Tape tape_;
    std::vector<int> indices_;
};

}  // namespace saltus::model
