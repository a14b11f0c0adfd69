// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/drawing.hpp"

#include <algorithm>
#include <map>

#include "saltus/model/detail/builder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

using expr::Expr;

void Drawing::compile(const expr::Graph& graph, std::span<const Expr> numbers, Expr t,
                      std::span<const Expr> coordinates, std::vector<int> indices) {
    std::vector<Expr> variables{t};
    variables.insert(variables.end(), coordinates.begin(), coordinates.end());
    tape_ = expr::Tape(graph, numbers, {}, variables);
    indices_ = std::move(indices);
}

void Drawing::evaluate(double t, std::span<const double> q, std::span<double> out) const {
    std::vector<double> scratch(tape_.slot_count()), variables{t};
    for (const int i : indices_) variables.push_back(q[static_cast<std::size_t>(i)]);
    tape_.prepare<double>({}, scratch);
    tape_.evaluate<double>(variables, scratch, out);
}

namespace {

Shape::Kind kind_of(const std::string& word) {
    if (word == "segment") return Shape::Kind::segment;
    if (word == "spring") return Shape::Kind::spring;
    if (word == "circle") return Shape::Kind::circle;
    if (word == "polygon") return Shape::Kind::polygon;
    return Shape::Kind::trace;
}

Shape::Style style_of(const Choice& style) {
    static const std::vector<std::string> words{"body", "ground", "line"};
    const auto at = std::find(words.begin(), words.end(), style.word);
    if (at == words.end())
        throw Error("unknown style '" + style.word + "' in [draw]", style.place, "allowed are " + listing(words));
    return static_cast<Shape::Style>(at - words.begin());
}

/// Collects the numbers of a drawing: expressions of t and q, in a graph of their own, because a drawing is no part of
/// the equations.
class Numbers {
public:
    using Find = std::function<std::optional<Expr>(std::string_view)>;

    Numbers(Find parameter, std::function<std::optional<int>(std::string_view)> coordinate,
            std::function<std::vector<std::string>()> names, const std::vector<Definition>& definitions,
            std::function<void(std::size_t)> used)
        : parameter_(std::move(parameter)),
          coordinate_(std::move(coordinate)),
          names_(std::move(names)),
          definitions_(definitions),
          used_(std::move(used)) {}

    expr::Graph graph;
    Expr t = graph.symbol("t", expr::time);
    std::vector<Expr> values, coordinates;
    std::vector<int> indices;

    int add(const Field& field, const std::string& what) {
        expr::Scope scope;
        scope.what = what;
        scope.names = names_;
        scope.find = [this](std::string_view name) -> std::optional<Expr> {
            if (name == "t") return t;
            if (const std::optional<Expr> p = parameter_(name)) return p;
            const std::optional<int> c = coordinate_(name);
            return c ? std::optional(symbol(*c, name)) : std::nullopt;
        };
        scope.refusal = [this](std::string_view name) -> std::string {
            const bool velocity = name.ends_with('\'') && coordinate_(name.substr(0, name.size() - 1));
            return velocity ? "it may depend on t, coordinates and parameters" : "";
        };
        values.push_back(expr::parse(graph, field.source, with_definitions(graph, definitions_, scope, used_)));
        return static_cast<int>(values.size()) - 1;
    }
    int constant(double value) {
        values.push_back(graph.constant(value));
        return static_cast<int>(values.size()) - 1;
    }

private:
    Expr symbol(int coordinate, std::string_view name) {
        const auto at = std::find(indices.begin(), indices.end(), coordinate);
        if (at != indices.end()) return coordinates[static_cast<std::size_t>(at - indices.begin())];
        indices.push_back(coordinate);
        coordinates.push_back(graph.symbol(name, expr::position));
        return coordinates.back();
    }

    Find parameter_;
    std::function<std::optional<int>(std::string_view)> coordinate_;
    std::function<std::vector<std::string>()> names_;
    const std::vector<Definition>& definitions_;
    std::function<void(std::size_t)> used_;
};

/// Reads points and checks that all points of a drawing have the same number of components.
class Points {
public:
    explicit Points(Numbers& numbers) : numbers_(numbers) {}

    std::vector<int> add(const std::vector<Field>& point, const std::string& what, const Place& place) {
        if (point.size() != 2 && point.size() != 3)
            throw Error(what + (point.empty() ? " is missing" : " has " + counted(point.size(), "component")),
                        point.empty() ? place : point[0].place(), "give two, [x, y], or three in space");
        if (dimension_ == 0) dimension_ = static_cast<int>(point.size());
        if (dimension_ != static_cast<int>(point.size()))
            throw Error(what + " has " + std::to_string(point.size()) + " components, points before it have " +
                            std::to_string(dimension_),
                        point[0].place(), "draw everything in the plane, or everything in space");
        std::vector<int> at;
        for (const Field& component : point) at.push_back(numbers_.add(component, what));
        return at;
    }
    int dimension() const { return dimension_; }

private:
    Numbers& numbers_;
    int dimension_ = 0;
};

std::vector<Shape> shapes_of(const DrawDescription& draw, Numbers& numbers, Points& points) {
    std::vector<Shape> shapes;
    for (const ShapeDescription& s : draw.shapes) {
        const std::string what = "a " + s.kind.word + " of [draw]";
        Shape shape{kind_of(s.kind.word), style_of(s.style), {}};
        for (const std::vector<Field>& point : s.points) {
            const std::vector<int> at = points.add(point, "a point of " + what, s.place);
            shape.values.insert(shape.values.end(), at.begin(), at.end());
        }
        if (shape.kind == Shape::Kind::circle) {
            shape.values.push_back(numbers.add(s.radius, "the radius of " + what));
            shape.values.push_back(s.angle.given ? numbers.add(s.angle, "the angle of " + what)
                                                 : numbers.constant(0.0));
        }
        shapes.push_back(std::move(shape));
    }
    return shapes;
}

/// `elements` are the names that a mark may have.
std::vector<ContactMark> marks_of(const DrawDescription& draw, const std::vector<std::string>& elements,
                                  Points& points) {
    std::vector<ContactMark> marks;
    for (const MarkDescription& m : draw.contacts) {
        if (std::find(elements.begin(), elements.end(), m.contact) == elements.end())
            throw Error("unknown contact '" + m.contact + "' in [draw]", m.place, did_you_mean(m.contact, elements));
        const std::string what = "of contact '" + m.contact + "' in [draw]";
        ContactMark mark;
        mark.contact = m.contact;
        mark.at = points.add(m.at, "the place " + what, m.place);
        if (!m.normal.empty()) mark.normal = points.add(m.normal, "the normal " + what, m.place);
        if (!m.tangent.empty()) mark.tangent = points.add(m.tangent, "the tangent " + what, m.place);
        marks.push_back(std::move(mark));
    }
    return marks;
}

}  // namespace

std::array<double, 4> Builder::view_of(const std::vector<Field>& fields) {
    if (fields.size() != 4)
        throw Error("view of [draw] has " + counted(fields.size(), "value"), fields[0].place(),
                    "give four: lowest x and y, highest x and y");
    std::array<double, 4> view{};
    for (std::size_t k = 0; k < 4; ++k) view[k] = number(fields[k], "view of [draw]");
    if (!(view[0] < view[2] && view[1] < view[3]))
        throw Error("view of [draw] is empty", fields[0].place(), "give the lowest x and y, then the highest");
    return view;
}

void Builder::add_drawing() {
    if (!d_.draw && !has_points_) return;
    Drawing drawing;
    Numbers* access = nullptr;
    Numbers numbers(
        [&](std::string_view name) -> std::optional<Expr> {
            const auto found = parameter_index_.find(name);
            if (found == parameter_index_.end()) return std::nullopt;
            states_[found->second].used = true;
            return access->graph.constant(settings_.parameters[found->second].value);
        },
        [&](std::string_view name) { return find_coordinate(name); },
        [&] {
            std::vector<std::string> names = coordinate_names();
            for (const Entry& e : parameters_) names.push_back(e.name);
            return names;
        },
        settings_.definitions, [this](std::size_t k) { definition_used_[k] = 1; });
    access = &numbers;
    Points points(numbers);
    if (d_.draw) {
        drawing.shapes = shapes_of(*d_.draw, numbers, points);
        std::vector<std::string> names;
        for (const Contact& c : model_.contacts) names.push_back(c.name);
        for (const Constraint& c : model_.constraints) names.push_back(c.name);
        for (const Slider& s : model_.sliders) names.push_back(s.name);
        drawing.contacts = marks_of(*d_.draw, names, points);
        if (!d_.draw->view.empty()) drawing.view = view_of(d_.draw->view);
    }
    if (has_points_) {
        if (points.dimension() == 2)
            throw Error("[draw] is planar, and mass points are in space", d_.draw->place,
                        "give every point three components");
        drawing.first_point = static_cast<int>(d_.q.size());
        drawing.points = point_count_;
        for (const PointFormulas::Spring& s : points_.springs) drawing.lines.push_back({s.i, s.j});
        for (std::size_t k = 0; k < d_.obstacles.size(); ++k)
            drawing.planes.push_back({d_.obstacles[k].name, points_.obstacles[k].normal,
                                      numbers.add(d_.obstacles[k].offset, "the offset of an obstacle")});
    }
    drawing.dimension = has_points_ ? 3 : std::max(2, points.dimension());
    drawing.compile(numbers.graph, numbers.values, numbers.t, numbers.coordinates, numbers.indices);
    model_.drawing = std::make_shared<const Drawing>(std::move(drawing));
}

}  // namespace saltus::model
