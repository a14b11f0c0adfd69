// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/expr/parse.hpp"

namespace saltus::model {

/// A model as a person describes it: the content of a model file, or the same filled in by C++ code. Nothing here
/// is checked or computed; `build` (build.hpp) does that.

/// A number or an expression, with the place it was written at.
struct Field {
    expr::Source source;
    bool given = false;
    std::optional<double> number;  ///< when it was written as one

    Field() = default;
    Field(double value) : source{number_text(value), {}, {}}, given(true), number(value) {}
    Field(const char* text) : source{text, {}, {}}, given(true) {}
    Field(std::string text) : source{std::move(text), {}, {}}, given(true) {}
    explicit Field(expr::Source s) : source(std::move(s)), given(true) {}

    const Place& place() const { return source.place; }
};

/// One line of a table: the name on the left, the value on the right.
struct Entry {
    std::string name;
    Field value;
    Place place;
};

/// A word out of a closed list, such as "newton".
struct Choice {
    std::string word;
    Place place;
};

struct Coordinate {
    std::string name;
    Place place;
};

struct ContactDescription {
    std::string name;
    Field gN;
    std::vector<Field> gammaT;
    std::vector<Field> mu;
    Field eN, eT, c;
    Choice impact{"newton", {}};
    Choice friction{"coulomb", {}};
    Field radius;
    std::vector<Field> radii;
    Place place;
};

struct ConstraintDescription {
    std::string name;
    Field g;
    std::vector<Field> gammaT;
    std::vector<Field> mu;
    Place place;
};

struct SliderDescription {
    std::string name;
    std::vector<Field> gammaT;
    std::vector<Field> mu;
    Field FN, eT;
    Place place;
};

struct ClutchDescription {
    std::string name;
    Field gamma;
    Place place;
};

/// A gain: one number for all outputs, a list (the diagonal), or a square matrix.
struct Gain {
    std::vector<std::vector<Field>> rows;
    bool matrix = false;

    bool given() const { return !rows.empty(); }
    bool scalar() const { return !matrix && rows.size() == 1 && rows[0].size() == 1; }
};

/// Feedback on the natural outputs.
struct ControlDescription {
    std::vector<Coordinate> actuated;
    Gain Kp, Kv;
    std::vector<Entry> reference;
    Field shaping;
    Place place;
};

/// One value for all contacts, or one a contact.
struct PenaltyDescription {
    Field k, d;
    std::vector<Entry> k_of, d_of;
    Place place;
};

struct PerturbationDescription {
    std::vector<Entry> delta, eta, theta;  ///< by coordinate, by constraint, by contact
    std::vector<Entry> initial_q, initial_u;
    Place place;
};

struct InitialDescription {
    std::vector<Entry> q, u;
    Place place;
};

/// Defaults of `saltus simulate`.
struct SimulateDescription {
    Field t_end, h, rtol, atol;
    Choice method{"event", {}};
};

/// What `saltus certify` may assume of its region: conditions on coordinates and velocities.
struct CertifyDescription {
    std::vector<Field> region;
    Place place;
};

struct HexahedraRow {
    Field segments, length;
    std::vector<Field> width;   ///< two
    std::vector<Field> origin;  ///< three: centre of the front section; the row goes along +x
    Place place;
};

struct PointsDescription {
    std::optional<HexahedraRow> generate;
    std::vector<std::vector<Field>> positions;
    Field total_mass;
    Choice distribution{"equal", {}};
    std::vector<Field> masses;
    std::vector<std::vector<Field>> velocity;  ///< one for all points, or one a point
    std::vector<Field> shear;                  ///< initial x += shear[0]·y + shear[1]·z
    std::vector<Field> gravity;
    Place place;
};

/// Integers with the place of their list, for messages.
struct IndexList {
    std::vector<std::vector<long long>> rows;
    std::vector<Place> places;  ///< of each row, where known
    Place place;

    const Place& place_of(std::size_t row) const { return row < places.size() ? places[row] : place; }
};

struct SpringsDescription {
    Choice over;  ///< longitudinal | transverse | side-diagonals, or "" with `pairs`
    IndexList pairs;
    Field k, c, rest;  ///< rest not given: the initial length
    Place place;
};

struct VolumeDescription {
    std::string name;
    bool all = true;
    IndexList cells;  ///< numbers of generated cells (rows of one), or eight corner points each
    Place place;
};

struct ObstacleDescription {
    std::string name;
    std::vector<Field> normal;
    Field offset;
    std::vector<Field> mu;
    Field eN, eT, c;
    Choice impact{"newton", {}};
    Place place;
};

/// A shape of [draw]: its points and numbers are expressions of t, q and parameters.
struct ShapeDescription {
    Choice kind;                             ///< segment | spring | circle | polygon | trace
    std::vector<std::vector<Field>> points;  ///< two or three components each
    Field radius, angle;                     ///< of a circle
    Choice style{"body", {}};                ///< body | ground | line
    Place place;
};

/// Where a contact is, and the directions in which its forces act on the body.
struct MarkDescription {
    std::string contact;
    std::vector<Field> at, normal, tangent;
    Place place;
};

struct DrawDescription {
    std::vector<Field> view;  ///< lowest x and y, highest x and y
    std::vector<ShapeDescription> shapes;
    std::vector<MarkDescription> contacts;
    Place place;
};

struct Description {
    std::string file;  ///< for messages
    std::string name;
    std::vector<Coordinate> q;
    Field T, U, R;
    std::vector<Entry> f;
    std::vector<Entry> parameters;
    std::vector<ContactDescription> contacts;
    std::vector<ConstraintDescription> constraints;
    std::vector<SliderDescription> sliders;
    std::vector<ClutchDescription> clutches;
    std::optional<ControlDescription> control;
    std::optional<PenaltyDescription> penalty;
    std::optional<PerturbationDescription> perturbation;
    InitialDescription initial;
    SimulateDescription simulate;
    CertifyDescription certify;
    std::optional<PointsDescription> points;
    std::vector<SpringsDescription> springs;
    std::vector<VolumeDescription> volumes;
    std::vector<ObstacleDescription> obstacles;
    std::optional<DrawDescription> draw;
};

}  // namespace saltus::model
