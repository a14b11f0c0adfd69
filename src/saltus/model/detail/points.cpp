// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

using expr::Expr;
using Face = PointFormulas::Face;
using Triple = PointFormulas::Triple;

namespace {

constexpr long long max_points = 2'000'000;  // a bound against typing errors; memory is the practical limit

/// Number of the point at a corner of a section of a generated row. Corners are counted around the section.
int node(int section, int corner) { return 4 * section + corner % 4; }

/// The six faces of a hexahedron, counter-clockwise seen from outside. Its corners are four of one section, then the
/// four opposite ones of the next section.
std::vector<Face> faces_of(const std::array<int, 8>& v) {
    std::vector<Face> faces{{v[0], v[3], v[2], v[1]}, {v[4], v[5], v[6], v[7]}};
    for (std::size_t c = 0; c < 4; ++c) {
        const std::size_t d = (c + 1) % 4;
        faces.push_back({v[c], v[d], v[4 + d], v[4 + c]});
    }
    return faces;
}

/// The boundary of a set of cells: the faces that belong to one cell only.
std::vector<Face> boundary(const std::vector<std::array<int, 8>>& cells) {
    std::map<std::array<int, 4>, std::pair<int, Face>> seen;
    for (const auto& cell : cells)
        for (const Face& face : faces_of(cell)) {
            std::array<int, 4> key = face;
            std::sort(key.begin(), key.end());
            auto& entry = seen[key];
            ++entry.first;
            entry.second = face;
        }
    std::vector<Face> faces;
    for (const auto& [key, entry] : seen)
        if (entry.first == 1) faces.push_back(entry.second);
    return faces;
}

double length(const Triple& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

Triple cross(const Triple& a, const Triple& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

/// Reads a field of the geometry and marks its parameters as structural: they can be set, but not differentiated by.
Expr Builder::structural(const Field& field, const std::string& what) {
    const Expr e = parse(field, what, 0);
    for (const Expr x : expr::reachable(f_.graph, {&e, 1}))
        for (std::size_t i = 0; i < parameters_.size(); ++i)
            if (states_[i].value == x) settings_.parameters[i].structural = true;
    return e;
}

double Builder::structural_number(const Field& field, const std::string& what) {
    const double value = field.number ? *field.number : value_of(structural(field, what));
    if (!std::isfinite(value)) throw Error(what + not_finite_text(value), field.place(), "look for a division by zero");
    return value;
}

Triple Builder::triple(const std::vector<Field>& fields, const std::string& what, const Place& place) {
    if (fields.size() != 3)
        throw Error(what + (fields.empty() ? " is missing" : " has " + counted(fields.size(), "component")),
                    fields.empty() ? place : fields[0].place(), "give three, [x, y, z]");
    Triple t{};
    for (std::size_t a = 0; a < 3; ++a) t[a] = structural_number(fields[a], what);
    return t;
}

void Builder::add_points() {
    const auto needs_points = [&](const Place& place, const std::string& what) {
        throw Error(what + " needs mass points", place, "add [points]");
    };
    if (!has_points_) {
        if (!d_.springs.empty()) needs_points(d_.springs[0].place, "[[springs]]");
        if (!d_.volumes.empty()) needs_points(d_.volumes[0].place, "[[volume]]");
        if (!d_.obstacles.empty()) needs_points(d_.obstacles[0].place, "[[obstacle]]");
        return;
    }
    place_points();
    point_count_ = static_cast<int>(points_.position.size() / 3);
    for (int i = 0; i < point_count_; ++i)
        for (const char axis : point_axes) model_.coordinates.push_back("p" + std::to_string(i) + "." + axis);
    set_masses();
    set_velocities();
    if (!d_.points->gravity.empty())
        points_.gravity = triple(d_.points->gravity, "gravity in [points]", d_.points->place);
    for (std::size_t k = 0; k < d_.springs.size(); ++k) add_springs(d_.springs[k], k + 1);
}

void Builder::place_points() {
    const PointsDescription& p = *d_.points;
    if (p.generate.has_value() == !p.positions.empty())
        throw Error("[points] needs either generate or positions", p.place,
                    p.generate ? "remove one of them" : "add one of them");
    if (p.generate) {
        generate_row(*p.generate);
    } else {
        for (const std::vector<Field>& row : p.positions) {
            const Triple x =
                triple(row, "the position of point " + std::to_string(points_.position.size() / 3), p.place);
            points_.position.insert(points_.position.end(), x.begin(), x.end());
        }
    }
    if (!p.shear.empty()) {
        if (p.shear.size() != 2)
            throw Error("shear in [points] has " + counted(p.shear.size(), "value"), p.shear[0].place(), "give two");
        const double by_y = structural_number(p.shear[0], "shear in [points]"),
                     by_z = structural_number(p.shear[1], "shear in [points]");
        for (std::size_t i = 0; i < points_.position.size(); i += 3)
            points_.position[i] += by_y * points_.position[i + 1] + by_z * points_.position[i + 2];
    }
}

void Builder::generate_row(const HexahedraRow& row) {
    const double segments = structural_number(row.segments, "the number of segments");
    if (segments < 1 || segments != std::floor(segments) || 4 * (segments + 1) > static_cast<double>(max_points))
        throw Error("the number of segments is " + number_text(segments), row.segments.place(),
                    "give a whole number from 1 to " + std::to_string(max_points / 4 - 1));
    const double size = structural_number(row.length, "the length of a segment");
    if (!(size > 0.0))
        throw Error("the length of a segment is " + number_text(size) + ", it must be > 0", row.length.place());
    if (row.width.size() != 2)
        throw Error(
            "width in [points] " + (row.width.empty() ? "is missing" : "has " + counted(row.width.size(), "value")),
            row.width.empty() ? row.place : row.width[0].place(), "give two, [y, z]");
    std::array<double, 2> half{};
    for (std::size_t k = 0; k < 2; ++k) {
        const double width = structural_number(row.width[k], "the width of a segment");
        if (!(width > 0.0))
            throw Error("the width of a segment is " + number_text(width) + ", it must be > 0", row.width[k].place());
        half[k] = width / 2;
    }
    const Triple origin = triple(row.origin, "origin in [points]", row.place);
    static constexpr std::array<std::array<int, 2>, 4> corners{{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}};
    for (int s = 0; s <= static_cast<int>(segments); ++s)
        for (const auto& c : corners) {
            points_.position.push_back(origin[0] + s * size);
            points_.position.push_back(origin[1] + c[0] * half[0]);
            points_.position.push_back(origin[2] + c[1] * half[1]);
        }
}

void Builder::set_masses() {
    const PointsDescription& p = *d_.points;
    const auto n = static_cast<std::size_t>(point_count_);
    points_.mass_scale = f_.graph.constant(1.0);
    if (p.total_mass.given) {
        points_.mass_scale = parse(p.total_mass, "the total mass in [points]", 0);
        const double total = value_of(points_.mass_scale);
        if (!(total > 0.0) || !std::isfinite(total))
            throw Error("the total mass in [points] is " + number_text(total) + ", it must be > 0",
                        p.total_mass.place());
        if (p.distribution.word == "equal") {
            points_.weight.assign(n, 1.0 / static_cast<double>(n));
        } else if (p.distribution.word == "lumped") {
            if (!p.generate)
                throw Error("distribution = \"lumped\" needs a generated row", p.distribution.place,
                            "use \"equal\" or a list");
            // Each segment gives an eighth of its mass to each corner. So points of the end sections have half the
            // mass.
            const double inner = 1.0 / static_cast<double>(n - 4);
            points_.weight.assign(n, inner);
            for (std::size_t i = 0; i < 4; ++i) points_.weight[i] = points_.weight[n - 1 - i] = inner / 2;
        } else {
            throw Error("unknown mass distribution '" + p.distribution.word + "'", p.distribution.place,
                        "allowed are equal and lumped, or a list of masses");
        }
        return;
    }
    if (p.masses.empty())
        throw Error("[points] has no mass", p.place, "add mass = { total = ..., distribution = \"equal\" }, or a list");
    if (p.masses.size() != n)
        throw Error("[points] has " + counted(n, "point") + " but " + std::to_string(p.masses.size()) +
                        (p.masses.size() == 1 ? " mass" : " masses"),
                    p.masses[0].place(), "give one per point, or { total = ..., distribution = \"equal\" }");
    for (std::size_t i = 0; i < n; ++i) {
        const double m = structural_number(p.masses[i], "the mass of point " + std::to_string(i));
        if (!(m > 0.0))
            throw Error("the mass of point " + std::to_string(i) + " is " + number_text(m) + ", it must be > 0",
                        p.masses[i].place());
        points_.weight.push_back(m);
    }
}

void Builder::set_velocities() {
    const PointsDescription& p = *d_.points;
    const auto n = static_cast<std::size_t>(point_count_);
    points_.velocity.assign(3 * n, 0.0);
    if (p.velocity.empty()) return;
    if (p.velocity.size() != 1 && p.velocity.size() != n)
        throw Error("[points] has " + counted(n, "point") + " but " + std::to_string(p.velocity.size()) + " velocities",
                    p.velocity[0][0].place(), "give one for all, or one per point");
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0 && p.velocity.size() == 1) {
            std::copy_n(points_.velocity.begin(), 3, points_.velocity.begin() + static_cast<std::ptrdiff_t>(3 * i));
            continue;
        }
        const Triple v = triple(p.velocity[i], "velocity in [points]", p.place);
        std::copy(v.begin(), v.end(), points_.velocity.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
}

/// A coefficient of springs must be finite and not negative, at all times from 0 to the end of [simulate] if it depends
/// on the time. It is tested at equidistant times.
void Builder::check_spring_law(Expr e, const std::string& what, const Place& place) {
    constexpr int times = 1000;
    const expr::Tape tape(f_.graph, std::array{e}, f_.p, std::array{f_.t});
    std::vector<double> scratch(tape.slot_count());
    tape.prepare<double>(p_, scratch);
    const bool varies = f_.graph.depends_on(e, expr::time);
    const double end = d_.simulate.t_end.given ? number(d_.simulate.t_end, "t_end in [simulate]") : 1.0;
    for (int k = 0; k <= (varies ? times : 0); ++k) {
        const double t = end * k / times;
        double value = 0.0;
        tape.evaluate<double>({&t, 1}, scratch, {&value, 1});
        if (value >= 0.0 && std::isfinite(value)) continue;
        throw Error(what + " is " + number_text(value) + (varies ? " at t = " + number_text(t) : "") + ", it must be " +
                        (std::isfinite(value) ? ">= 0" : "finite"),
                    place, "change it, or the parameters in it");
    }
}

void Builder::add_springs(const SpringsDescription& s, std::size_t number) {
    const std::string owner = "[[springs]] number " + std::to_string(number);
    PointFormulas::SpringGroup group{};
    const auto coefficient_of = [&](const Field& field, const std::string& name, expr::Kinds allowed) {
        if (!field.given) return f_.graph.constant(0.0);
        const Expr e = parse(field, name + " of " + owner, allowed);
        check_spring_law(e, name + " of " + owner, field.place());
        return e;
    };
    group.k = coefficient_of(s.k, "k", expr::time);
    group.c = coefficient_of(s.c, "c", 0);
    group.rest = coefficient_of(s.rest, "rest", expr::time);
    group.rest_initial = !s.rest.given;
    group.varies = f_.graph.depends_on(group.k, expr::time) || f_.graph.depends_on(group.rest, expr::time);
    expr::Derivative by_time(f_.graph, f_.t);
    group.k_rate = by_time(group.k);
    group.rest_rate = by_time(group.rest);
    points_.groups.push_back(group);
    for (const auto& [i, j] : spring_pairs(s, owner)) {
        Triple d{};
        for (std::size_t a = 0; a < 3; ++a)
            d[a] = points_.position[3 * static_cast<std::size_t>(j) + a] -
                   points_.position[3 * static_cast<std::size_t>(i) + a];
        if (!(length(d) > 0.0))
            throw Error(
                owner + " joins the points " + std::to_string(i) + " and " + std::to_string(j) + " at the same place",
                s.place, "a spring needs a direction");
        points_.springs.push_back({i, j, static_cast<int>(points_.groups.size()) - 1, length(d)});
    }
}

/// The pairs of points that springs join: those of a generated row, or the listed ones.
std::vector<std::pair<int, int>> Builder::spring_pairs(const SpringsDescription& s, const std::string& owner) const {
    std::vector<std::pair<int, int>> pairs;
    static const std::vector<std::string> kinds{"longitudinal", "transverse", "side-diagonals"};
    if (!s.over.word.empty()) {
        if (!s.pairs.rows.empty()) throw Error(owner + " has both over and pairs", s.place, "give one of them");
        if (std::find(kinds.begin(), kinds.end(), s.over.word) == kinds.end())
            throw Error("unknown springs over '" + s.over.word + "'", s.over.place,
                        "allowed are " + listing(kinds) + ", or pairs = [[i, j], ...]");
        if (!d_.points->generate)
            throw Error(owner + ": over = \"" + s.over.word + "\" needs a generated row", s.over.place,
                        "give pairs = [[i, j], ...]");
        const int sections = point_count_ / 4;
        for (int k = 0; k < sections; ++k)
            for (int c = 0; c < 4; ++c) {
                if (s.over.word == "transverse") pairs.emplace_back(node(k, c), node(k, c + 1));
                if (k + 1 == sections) continue;
                if (s.over.word == "longitudinal") pairs.emplace_back(node(k, c), node(k + 1, c));
                if (s.over.word == "side-diagonals") {
                    pairs.emplace_back(node(k, c), node(k + 1, c + 1));
                    pairs.emplace_back(node(k, c + 1), node(k + 1, c));
                }
            }
    } else {
        if (s.pairs.rows.empty())
            throw Error(owner + " joins no points", s.place, "add over = \"...\" or pairs = [[i, j], ...]");
        for (std::size_t k = 0; k < s.pairs.rows.size(); ++k) {
            const std::vector<long long>& row = s.pairs.rows[k];
            if (row.size() != 2)
                throw Error("a pair of " + owner + " has " + counted(row.size(), "number"), s.pairs.place_of(k),
                            "give two point numbers");
            for (const long long i : row)
                if (i < 0 || i >= point_count_)
                    throw Error(owner + " names point " + std::to_string(i), s.pairs.place_of(k),
                                "points are numbered 0 to " + std::to_string(point_count_ - 1));
            pairs.emplace_back(static_cast<int>(row[0]), static_cast<int>(row[1]));
        }
    }
    return pairs;
}

void Builder::add_volume(const VolumeDescription& v, std::size_t number) {
    Constraint constraint;
    constraint.name =
        v.name.empty() ? (d_.volumes.size() == 1 ? "volume" : "volume " + std::to_string(number + 1)) : v.name;
    new_row_name(constraint.name, "volume", v.place);
    const int cells = d_.points->generate ? point_count_ / 4 - 1 : 0;
    const auto generated = [](int k) {
        std::array<int, 8> cell{};
        for (int c = 0; c < 4; ++c) cell[ix(c)] = node(k, c), cell[ix(4 + c)] = node(k + 1, c);
        return cell;
    };
    std::vector<std::array<int, 8>> list;
    if (v.all) {
        if (cells == 0)
            throw Error("cells = \"all\" needs a generated row", v.place, "give cells = [[eight point numbers], ...]");
        for (int k = 0; k < cells; ++k) list.push_back(generated(k));
    }
    for (std::size_t k = 0; k < v.cells.rows.size(); ++k) {
        const std::vector<long long>& row = v.cells.rows[k];
        const Place& place = v.cells.place_of(k);
        if (row.size() == 1 && cells > 0) {
            if (row[0] < 0 || row[0] >= cells)
                throw Error("volume '" + constraint.name + "' names cell " + std::to_string(row[0]), place,
                            "cells are numbered 0 to " + std::to_string(cells - 1));
            list.push_back(generated(static_cast<int>(row[0])));
            continue;
        }
        if (row.size() != 8)
            throw Error("a cell of volume '" + constraint.name + "' has " + counted(row.size(), "corner"), place,
                        "give eight point numbers");
        std::array<int, 8> cell{};
        for (std::size_t c = 0; c < 8; ++c) {
            if (row[c] < 0 || row[c] >= point_count_)
                throw Error("volume '" + constraint.name + "' names point " + std::to_string(row[c]), place,
                            "points are numbered 0 to " + std::to_string(point_count_ - 1));
            cell[c] = static_cast<int>(row[c]);
        }
        list.push_back(cell);
    }
    PointFormulas::Volume volume;
    volume.faces = boundary(list);
    volume.initial = enclosed_volume(volume.faces, points_.position);
    volume.eta = f_.graph.constant(0.0);
    if (!(volume.initial > 0.0))
        throw Error(
            "volume '" + constraint.name + "' is " + number_text(volume.initial) + " at the start, it must be > 0",
            v.place, "list the corners of a cell as four of one face, going round, then the four opposite");
    constraint.row = static_cast<int>(model_.constraints.size());
    points_.volumes.push_back(std::move(volume));
    model_.constraints.push_back(std::move(constraint));
}

void Builder::add_obstacle(const ObstacleDescription& o) {
    new_row_name(o.name, "obstacle", o.place);
    const std::string owner = "obstacle '" + o.name + "'";
    PointFormulas::Obstacle obstacle;
    obstacle.normal = triple(o.normal, "the normal of " + owner, o.place);
    const double size = length(obstacle.normal);
    if (!(size > 0.0))
        throw Error("the normal of " + owner + " is zero", o.normal[0].place(),
                    "give the direction from the obstacle to the free side");
    for (double& x : obstacle.normal) x /= size;
    // Tangents: n × (the axis that is most orthogonal to n), and the cross product of that with n.
    std::size_t least = 0;
    for (std::size_t a = 1; a < 3; ++a)
        if (std::abs(obstacle.normal[a]) < std::abs(obstacle.normal[least])) least = a;
    Triple axis{};
    axis[least] = 1.0;
    obstacle.tangent2 = cross(obstacle.normal, axis);
    const double norm = length(obstacle.tangent2);
    for (double& x : obstacle.tangent2) x /= norm;
    obstacle.tangent1 = cross(obstacle.tangent2, obstacle.normal);
    if (!o.offset.given)
        throw Error(owner + " has no offset", o.place, "add offset = \"...\", so that normal.x >= offset");
    obstacle.offset = parse(o.offset, "the offset of " + owner, expr::time);
    obstacle.friction = !o.mu.empty();
    if (o.mu.size() > 2)
        throw Error("mu of " + owner + " has " + counted(o.mu.size(), "value"), o.mu[0].place(), "give one or two");

    Contact laws;
    contact_laws(laws, o.eN, o.eT, o.c, o.impact, owner);
    if (obstacle.friction) {
        laws.friction.law = o.mu.size() == 2 ? FrictionLaw::orthotropic : FrictionLaw::coulomb;
        laws.friction.dimension = 2;
        for (std::size_t k = 0; k < o.mu.size(); ++k) laws.friction.mu[k] = friction_coefficient(o.mu[k], owner);
    }
    int slips = static_cast<int>(f_.slips.size());
    for (const PointFormulas::Obstacle& before : points_.obstacles) slips += before.friction ? 2 * point_count_ : 0;
    for (int i = 0; i < point_count_; ++i) {
        Contact contact = laws;
        contact.name = o.name + ".p" + std::to_string(i);
        new_row_name(contact.name, "contact of an obstacle", o.place);
        contact.row = static_cast<int>(model_.constraints.size() + model_.contacts.size());
        if (obstacle.friction) contact.friction.first_row = slips + 2 * i;
        model_.contacts.push_back(std::move(contact));
    }
    points_.obstacles.push_back(obstacle);
}

}  // namespace saltus::model
