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

// A model as a person describes it: the content of a model file, or the same filled in by C++ code. Nothing here is
// checked or computed; `build` (build.hpp) does that. Members have the names of the keys in the file; their meaning,
// units, ranges and defaults are in docs/model-file.md.

/// A number or an expression, with its place in the file. Code may assign a number or a text.
struct Field {
    expr::Source source;
    bool given = false;            ///< false: the key is absent and the default holds
    std::optional<double> number;  ///< the value, if it was written as a number and not as a text

    Field() = default;
    Field(double value) : source{number_text(value), {}, {}}, given(true), number(value) {}
    Field(const char* text) : source{text, {}, {}}, given(true) {}
    Field(std::string text) : source{std::move(text), {}, {}}, given(true) {}
    explicit Field(expr::Source s) : source(std::move(s)), given(true) {}

    const Place& place() const { return source.place; }
};

/// One line `name = value` of a table.
struct Entry {
    std::string name;
    Field value;
    Place place;
};

/// A word out of a closed list, such as "newton". `build` refuses other words.
struct Choice {
    std::string word;
    Place place;
};

/// The name of a coordinate.
struct Coordinate {
    std::string name;
    Place place;
};

/// `unit` of [system]: the unit of a coordinate, or of `time`, `length`, `force` or `energy`. Only pages read it.
struct UnitDescription {
    std::string name, unit;
    Place place;
};

/// [[contact]]: a unilateral contact g_N >= 0.
struct ContactDescription {
    std::string name;
    Field gN;
    std::vector<Field> gammaT;  ///< 0 (no friction), 1, 2, 3 or 5 slip velocities
    std::vector<Field> mu;      ///< 0, 1 or 2 coefficients
    Field mu_static;            ///< stick holds up to this; not given: mu
    Field eN, eT, c;
    Choice impact{"newton", {}};     ///< newton | poisson | energy
    Choice friction{"coulomb", {}};  ///< coulomb | contensou | rolling
    Field condition;                 ///< key `if`: an inequality; the contact exists only while it holds
    Field radius;                    ///< effective radius of contensou friction, a length
    std::vector<Field> radii;        ///< effective radii of rolling friction: drilling, rolling
    Place place;
};

/// [[constraint]]: a bilateral constraint g = 0 or gamma = 0, possibly with friction.
struct ConstraintDescription {
    std::string name;
    Field g, gamma;  ///< one of them: a function of positions, or of velocities
    std::vector<Field> gammaT;
    std::vector<Field> mu;
    Field mu_static;
    Place place;
};

/// [[slider]]: friction under a known normal force FN.
struct SliderDescription {
    std::string name;
    std::vector<Field> gammaT;
    std::vector<Field> mu;
    Field mu_static;
    Field FN, eT;
    Place place;
};

/// [[clutch]]: a one-way clutch, gamma >= 0.
struct ClutchDescription {
    std::string name;
    Field gamma;
    Place place;
};

/// [[jump]]: a reset of the state where `when` passes through zero.
struct JumpDescription {
    std::string name;
    Field when;
    Choice direction{"", {}};  ///< down | up | both; "": not given
    Field condition;           ///< key `if`: an inequality; the jump triggers only if it holds
    std::vector<Entry> q, u;   ///< new values by coordinate
    Place place;
};

/// A gain of the feedback, or a matrix of damping: one number for the whole diagonal, a list (the diagonal), or a
/// square matrix.
struct Gain {
    std::vector<std::vector<Field>> rows;  ///< a number or a list is a single row
    bool matrix = false;                   ///< written as a list of lists

    bool given() const { return !rows.empty(); }
    bool scalar() const { return !matrix && rows.size() == 1 && rows[0].size() == 1; }
};

/// [control]: feedback on the actuated coordinates.
struct ControlDescription {
    std::vector<Coordinate> actuated;
    Gain Kp, Kv;
    std::vector<Entry> reference;      ///< desired value of an actuated coordinate; may depend on t
    std::vector<Entry> feedforward;    ///< force added to the feedback, by actuated coordinate
    Field saturation;                  ///< largest |u| of all actuators
    std::vector<Entry> saturation_of;  ///< the same by actuated coordinate; overrides `saturation`
    Field shaping;
    Choice velocity{"measured", {}};  ///< measured | estimated
    Field bandwidth;                  ///< bandwidth of the estimate of velocities, in 1/s
    Field period;                     ///< of sampling, in s; not given: the law acts continuously
    Place place;
};

/// A matrix of damping of one contact.
struct ContactMatrix {
    std::string contact;
    Gain matrix;
    Place place;
};

/// [penalty]: springs and dampers that replace rigid contacts.
struct PenaltyDescription {
    Field k, d;                                 ///< one value for all contacts
    std::vector<Entry> k_of, d_of;              ///< values by contact or obstacle; they override k and d
    Gain D, D_hat;                              ///< damping of all coordinates, of a model with one contact
    std::vector<ContactMatrix> D_of, D_hat_of;  ///< the same by contact
    Place place;

    bool has_damping() const { return D.given() || D_hat.given() || !D_of.empty() || !D_hat_of.empty(); }
};

/// One line of [output]: a derived quantity.
struct OutputDescription {
    std::string name;
    Field value;
    std::string unit;  ///< for tables and axes; may be empty
    Place place;
};

/// [perturbation]: δ, η, θ of a perturbed pair ([Alscher]) and offsets of the initial state.
struct PerturbationDescription {
    std::vector<Entry> delta, eta, theta;     ///< by coordinate, by constraint, by contact
    std::vector<Entry> initial_q, initial_u;  ///< by coordinate, added to the initial state
    Place place;
};

/// [initial]: the state at t = 0, by coordinate.
struct InitialDescription {
    std::vector<Entry> q, u;
    Place place;
};

/// [simulate]: defaults of the command `saltus simulate`.
struct SimulateDescription {
    Field t_end, h, rtol, atol;
    Choice method{"event", {}};
};

/// [certify]: the region for which certificates are asked, as inequalities of coordinates and velocities.
struct CertifyDescription {
    std::vector<Field> region;
    Place place;
};

/// `generate` of [points]: a row of hexahedra along +x.
struct HexahedraRow {
    Field segments, length;     ///< number of hexahedra; length of each
    std::vector<Field> width;   ///< width of a section in y and z
    std::vector<Field> origin;  ///< centre of the front section: x, y, z
    Place place;
};

/// [points]: mass points, generated or listed.
struct PointsDescription {
    std::optional<HexahedraRow> generate;
    std::vector<std::vector<Field>> positions;  ///< x, y, z of each point, if they are not generated
    Field total_mass;                           ///< mass of all points together
    Choice distribution{"equal", {}};           ///< equal | lumped (the end sections have half the mass)
    std::vector<Field> masses;                  ///< mass of each point, if no total mass is given
    std::vector<std::vector<Field>> velocity;   ///< one for all points, or one per point
    std::vector<Field> shear;                   ///< initial x += shear[0]·y + shear[1]·z
    std::vector<Field> gravity;
    Place place;
};

/// A list of lists of integers.
struct IndexList {
    std::vector<std::vector<long long>> rows;
    std::vector<Place> places;  ///< place of each row in the file; may be shorter than rows
    Place place;                ///< place of the whole list in the file

    /// The place of a row, or of the whole list if the former is unknown.
    const Place& place_of(std::size_t row) const { return row < places.size() ? places[row] : place; }
};

/// [[springs]]: equal springs between pairs of mass points.
struct SpringsDescription {
    Choice over;       ///< longitudinal | transverse | side-diagonals of a generated row; "" if `pairs` are given
    IndexList pairs;   ///< numbers of two points each
    Field k, c, rest;  ///< stiffness, damping, length without force (default: the initial length)
    Place place;
};

/// [[volume]]: a constraint that keeps the total volume of some cells constant.
struct VolumeDescription {
    std::string name;
    bool all = true;  ///< all generated cells; otherwise those in `cells`
    IndexList cells;  ///< each row is the number of a generated cell, or eight corner points
    Place place;
};

/// [[obstacle]]: a plane normal·x >= offset for all mass points.
struct ObstacleDescription {
    std::string name;
    std::vector<Field> normal;
    Field offset;
    std::vector<Field> mu;
    Field eN, eT, c;
    Choice impact{"newton", {}};
    Place place;
};

/// A shape of [draw]. Its points and numbers are expressions of t, q and parameters.
struct ShapeDescription {
    Choice kind;                             ///< segment | spring | circle | polygon | trace
    std::vector<std::vector<Field>> points;  ///< two or three components each
    Field radius, angle;                     ///< radius and angle of rotation of a circle
    Choice style{"body", {}};                ///< body | ground | line
    Place place;
};

/// An entry of `contacts` in [draw]: the position of a contact and the directions of its forces on the body.
struct MarkDescription {
    std::string contact;
    std::vector<Field> at, normal, tangent;
    Place place;
};

/// [draw]: how the model is drawn.
struct DrawDescription {
    std::vector<Field> view;  ///< lowest x and y, highest x and y
    std::vector<ShapeDescription> shapes;
    std::vector<MarkDescription> contacts;
    Place place;
};

/// A whole model file.
struct Description {
    std::string file;  ///< name of the file, for messages
    std::string name;
    std::vector<Coordinate> q;
    Field T, U, R;
    std::vector<Entry> f;
    std::vector<UnitDescription> units;
    std::vector<Entry> parameters;
    std::vector<Entry> let;  ///< auxiliary expressions
    std::vector<ContactDescription> contacts;
    std::vector<ConstraintDescription> constraints;
    std::vector<SliderDescription> sliders;
    std::vector<ClutchDescription> clutches;
    std::vector<JumpDescription> jumps;
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
    std::vector<OutputDescription> outputs;
    std::optional<DrawDescription> draw;
};

}  // namespace saltus::model
