// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/impact/consistency/velocity_picture.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/impact_report.hpp"

namespace saltus::io {

using namespace saltus::impact;
using Eigen::Index;
using json::Json;
using json::number;

namespace {

constexpr int points_per_arc = 33;  // of set-points.csv

Json list(const Vector& x) { return json::numbers({x.data(), ix(x.size())}); }

Json columns(const Matrix& A) {
    Json j = Json::array();
    for (Index k = 0; k < A.cols(); ++k) j.push_back(list(A.col(k)));
    return j;
}

Json by_coordinate(const ImpactReport& r, const Vector& u) {
    return json::by_name(r.coordinates, {u.data(), ix(u.size())});
}

/// An object with {"N", "T"} for each element. Friction of a constraint is a block of its own, with the same name.
Json by_contact(const ImpactReport& r, const Vector& x) {
    const FrictionalCollision& c = r.at.collision;
    Json j = Json::object();
    if (x.size() != c.directions.cols()) return j;
    each_block(c, [&](std::size_t k, Index row) {
        Json& own = j[name_of(c, k)];
        if (own.is_null()) own = {{"N", 0.0}, {"T", Json::array()}};
        for (int i = 0; i < c.sizes[k]; ++i) {
            if (row_kind(c.laws[k], i) == RowKind::tangential)
                own["T"].push_back(number(x(row + i)));
            else
                own["N"] = number(x(row + i));
        }
    });
    return j;
}

/// The names of the contacts of these columns of the normal directions.
Json names(const ImpactReport& r, const std::vector<int>& columns) {
    Json j = Json::array();
    for (const int k : columns)
        j.push_back(name_of(r.at.collision, static_cast<std::size_t>(r.study.blocks[static_cast<std::size_t>(k)])));
    return j;
}

const char* to_text(Verdict v) {
    switch (v) {
        case Verdict::dissipates: return "dissipates";
        case Verdict::may_dissipate: return "may-dissipate";
        case Verdict::supplies_energy: return "supplies-energy";
        case Verdict::into_obstacle: return "into-obstacle";
        case Verdict::not_by_contacts: return "not-by-contacts";
        case Verdict::undecided: return "undecided";
        case Verdict::invalid: return "invalid";
    }
    return "";
}

const char* to_text(RemarkKind kind) {
    switch (kind) {
        case RemarkKind::no_contacts: return "no-contacts";
        case RemarkKind::single_contact: return "single-contact";
        case RemarkKind::no_excitation: return "no-excitation";
        case RemarkKind::uniform_excitation: return "uniform-excitation";
        case RemarkKind::nonuniform_excitation: return "nonuniform-excitation";
        case RemarkKind::kinetic_excitation: return "kinetic-excitation";
        case RemarkKind::not_approaching: return "not-approaching";
        case RemarkKind::singular_delassus: return "singular-delassus";
        case RemarkKind::redundant_contacts: return "redundant-contacts";
        case RemarkKind::no_corner_points: return "no-corner-points";
        case RemarkKind::impulses_unbounded: return "impulses-unbounded";
        case RemarkKind::empty_P_plus: return "empty-P-plus";
        case RemarkKind::empty_P_minus: return "empty-P-minus";
        case RemarkKind::bilateral_violated: return "bilateral-violated";
    }
    return "";
}

const char* to_text(Bound bound) {
    switch (bound) {
        case Bound::contact: return "contact";
        case Bound::impulse: return "impulse";
        case Bound::ball: return "ball";
    }
    return "";
}

Json polyhedron(const ImpactReport& r, const VelocityPolyhedron& p) {
    using Status = VelocityPolyhedron::Status;
    Json j{{"empty", p.status == Status::empty}};
    if (p.status != Status::described) {
        j["why"] = p.why;
        if (p.closing.size() > 0) {
            Json closing = Json::array();
            for (Index k = 0; k < p.closing.size(); ++k)
                if (p.closing(k) > 0.0) closing.push_back(names(r, {static_cast<int>(k)})[0]);
            j["closing"] = std::move(closing);
        }
        return j;
    }
    Json at = Json::array();
    for (const std::vector<int>& contacts : p.contacts) at.push_back(names(r, contacts));
    j["corner_points"] = columns(p.corner_points);
    j["contacts"] = std::move(at);
    j["rays"] = columns(p.rays);
    j["lineality"] = columns(p.lineality);
    j["redundant"] = names(r, p.redundant);
    return j;
}

/// The contact, or the number of the corner point, that bounds a piece of the boundary.
std::string bound_name(const ImpactReport& r, Bound bound, int index) {
    return bound == Bound::ball ? std::to_string(index) : std::string(names(r, {index})[0]);
}

Json piece(const ImpactReport& r, const BoundaryPiece& p) {
    Json j{{"kind", p.arc ? "arc" : "segment"}, {"bound", to_text(p.bound)}};
    if (p.bound == Bound::ball)
        j["corner_point"] = p.index;
    else
        j["contact"] = bound_name(r, p.bound, p.index);
    j["from"] = list(p.from);
    j["to"] = list(p.to);
    if (!p.arc) return j;
    j["centre"] = list(p.centre);
    j["first"] = list(p.first);
    j["second"] = list(p.second);
    j["phi"] = {p.phi_from, p.phi_to};
    return j;
}

/// The consistency set: a mesh for three velocities, segments and arcs for two; null if there is none.
Json set(const ImpactReport& r) {
    using Status = ConsistencyBoundary::Status;
    const ConsistencyBoundary& b = r.study.boundary;
    const ConsistencyMesh& m = r.study.mesh;
    if (m.status == Status::described) {
        Json points = Json::array(), bounds = Json::array();
        for (std::size_t k = 0; k < m.points.size(); ++k) {
            points.push_back(list(m.points[k]));
            bounds.push_back(to_text(m.bound[k]));
        }
        return {{"dimension", 3},
                {"points", std::move(points)},
                {"bounds", std::move(bounds)},
                {"triangles", m.triangles},
                {"volume", number(0.5 * (m.least_volume + m.greatest_volume))},
                {"volume_bounds", {number(m.least_volume), number(m.greatest_volume)}}};
    }
    if (b.status == Status::described || b.status == Status::empty) {
        Json vertices = Json::array(), pieces = Json::array();
        for (const Vector& v : b.vertices) vertices.push_back(list(v));
        for (const BoundaryPiece& p : b.pieces) pieces.push_back(piece(r, p));
        Json j{{"empty", b.status == Status::empty}, {"dimension", b.dimension}, {"vertices", std::move(vertices)}};
        j["area"] = number(b.area);
        j["pieces"] = std::move(pieces);
        if (!b.why.empty()) j["why"] = b.why;
        return j;
    }
    return nullptr;
}

Json balls(const ImpactReport& r) {
    Json j = Json::array();
    for (const Ball& b : r.study.balls.balls)
        j.push_back({{"centre", list(b.centre)},
                     {"radius_squared", number(b.radius_squared)},
                     {"contacts", names(r, b.contacts)}});
    return j;
}

/// The space in which a page draws the velocities; null if it has no dimension from one to three.
Json picture(const ImpactReport& r) {
    const FrictionalCollision& c = r.at.collision;
    const VelocityPicture p = velocity_picture(c);
    if (!p.valid) return {{"dimension", 0}, {"why", p.why}};
    Json axes = Json::array(), contacts = Json::array(), balls = Json::array(), jumps = Json::array();
    if (!p.relative)
        for (const std::string& x : r.coordinates) axes.push_back(x + "'");
    for (const int row : p.rows)
        each_block(c, [&](std::size_t k, Index first) {
            if (row < first || row >= first + c.sizes[k]) return;
            const bool tangential = row_kind(c.laws[k], row - static_cast<int>(first)) == RowKind::tangential;
            axes.push_back((tangential ? "gammaT " : "gammaN ") + name_of(c, k));
        });
    for (const VelocityPicture::Contact& contact : p.contacts)
        contacts.push_back({{"name", name_of(c, static_cast<std::size_t>(contact.block))},
                            {"normal", list(contact.normal)},
                            {"distance", number(contact.distance)}});
    for (const Ball& b : r.study.balls.balls)
        balls.push_back({{"centre", list(p.at(b.centre))},
                         {"radius_squared", number(p.radius_squared(b))},
                         {"contacts", names(r, b.contacts)}});
    for (const Vector& jump : p.jumps) jumps.push_back(list(jump));
    return {{"dimension", p.dimension()},        {"relative", p.relative},          {"axes", std::move(axes)},
            {"map", columns(p.map.transpose())}, {"offset", list(p.offset)},        {"metric", columns(p.metric)},
            {"z_minus", list(p.z_minus)},        {"contacts", std::move(contacts)}, {"balls", std::move(balls)},
            {"jumps", std::move(jumps)}};
}

Json parts(const WorkParts& p) {
    return {{"normal", number(p.normal)}, {"tangential", number(p.tangential)}, {"bilateral", number(p.bilateral)}};
}

Json work(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    Json j{{"min", number(s.least.work)},
           {"max", number(s.greatest.work)},
           {"b0", by_coordinate(r, s.least.b)},
           {"b0_max", by_coordinate(r, s.greatest.b)},
           {"gap", number(std::max(s.least.gap, s.greatest.gap))}};
    // No impulses do a work that is not finite.
    const std::pair<const CollisionWorkEnd*, const char*> ends[] = {{&s.least, "_min"}, {&s.greatest, "_max"}};
    for (const auto& [end, name] : ends) {
        const bool finite = std::isfinite(end->work);
        j[std::string("Lambda") + name] = finite ? by_contact(r, end->Lambda) : Json(nullptr);
        j[std::string("parts") + name] = finite ? parts(end->parts) : Json(nullptr);
        j[std::string("obstacle_work") + name] = finite ? number(end->obstacle_work) : Json(nullptr);
    }
    if (!s.least.why.empty()) j["why_min"] = s.least.why;
    if (!s.greatest.why.empty()) j["why_max"] = s.greatest.why;
    if (s.given) {
        j["given"] = {{"Lambda", by_contact(r, s.given->Lambda)}, {"work", number(s.given->parts.total())},
                      {"parts", parts(s.given->parts)},           {"obstacle_work", number(s.given->obstacle_work)},
                      {"misses_u_plus", number(s.given->misses)}, {"outside_cones", number(s.given->outside)}};
    }
    return j;
}

/// {"law", "e", "u_plus", "work", "verdict"}: lists over e; null where the law has no outcome.
Json law_outcomes(const ImpactReport& r) {
    Json list_of_laws = Json::array();
    for (const LawOutcomes& of_law : r.laws) {
        Json e = Json::array(), u = Json::array(), work = Json::array(), verdict = Json::array();
        for (const LawOutcomeAt& at : of_law.at) {
            e.push_back(at.e);
            u.push_back(at.solved ? list(at.u_plus) : Json(nullptr));
            work.push_back(at.solved ? number(at.work) : Json(nullptr));
            verdict.push_back(at.solved ? Json(to_text(at.verdict)) : Json(nullptr));
        }
        list_of_laws.push_back({{"law", to_string(of_law.law)},
                                {"e", std::move(e)},
                                {"u_plus", std::move(u)},
                                {"work", std::move(work)},
                                {"verdict", std::move(verdict)}});
    }
    return list_of_laws;
}

Json dissipation(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    if (!s.dissipation) return nullptr;
    const DissipationTest& t = *s.dissipation;
    Json j{
        {"safe", t.safe},
        {"small_coefficients", {{"holds", t.small_coefficients}, {"left", number(t.left)}, {"right", number(t.right)}}},
        {"equal_coefficients", t.equal_coefficients},
        {"no_friction", t.no_friction},
        {"condition_number", number(t.condition)},
        {"smallest_eigenvalue", number(t.smallest_eigenvalue)},
        {"text", t.sentence},
        {"example", nullptr}};
    if (s.creation && s.creation->found)
        j["example"] = {{"u_minus", by_coordinate(r, s.creation->u_minus)},
                        {"u_plus", by_coordinate(r, s.creation->u_plus)},
                        {"Lambda", by_contact(r, s.creation->Lambda)},
                        {"energy_created", s.creation->work},
                        {"energy_before", s.creation->energy_before}};
    return j;
}

}  // namespace

std::string impact_json(const ImpactReport& r) {
    const CollisionStudy& s = r.study;
    const FrictionalCollision& c = r.at.collision;
    Json remarks = Json::array();
    for (const Remark& remark : s.remarks) {
        Json contacts = Json::array();
        for (const int b : remark.contacts) contacts.push_back(name_of(c, static_cast<std::size_t>(b)));
        remarks.push_back({{"kind", to_text(remark.kind)}, {"text", remark.text}, {"contacts", std::move(contacts)}});
    }
    const int least = s.kinematic.least();
    const double slack = least < 0 ? INFINITY : s.kinematic.slack(least);
    Json j{
        {"model", r.model},
        {"t", r.at.t},
        {"u_minus", by_coordinate(r, c.u_minus)},
        {"u_plus", by_coordinate(r, c.u_plus)},
        {"u_plus_from", r.source},
        {"impulse", c.impulse.size() == 0 ? Json::object() : by_coordinate(r, c.impulse)},
        {"alpha", r.alpha},
        {"gamma_minus", by_contact(r, s.gamma_minus)},
        {"gamma_plus", by_contact(r, s.gamma_plus)},
        {"chi", by_contact(r, c.chi)},
        {"kinematic", {{"holds", s.kinematic.holds}, {"slack", number(slack)}}},
        {"kinetic",
         {{"holds", s.kinetic.holds}, {"distance", number(s.kinetic.distance)}, {"jump", number(s.kinetic.impulse)}}},
        {"work", work(r)},
        {"energy_change", number(s.energy_change)},
        {"energy", {{"before", number(s.energy_minus)}, {"after", number(s.energy_plus)}}},
        {"external_work", number(s.external_work)},
        {"consistent", consistent(s.verdict)},
        {"consistent_with_external_work", consistent(s.verdict_with_external_work)},
        {"verdict", to_text(s.verdict)},
        {"text", s.sentence},
        {"remarks", std::move(remarks)},
        {"corner_points",
         s.plus.status == VelocityPolyhedron::Status::described ? columns(s.plus.corner_points) : Json::array()},
        {"P_plus", polyhedron(r, s.plus)},
        {"P_minus", polyhedron(r, s.minus)},
        {"jumps", {{"generators", columns(-s.cone.polar_generators)}, {"contacts", names(r, s.cone.polar_contacts)}}},
        {"balls", balls(r)},
        {"set", set(r)},
        {"picture", picture(r)}};
    if (s.nearest.status == NearestConsistent::Status::found)
        j["nearest"] = {{"u", by_coordinate(r, s.nearest.u)},
                        {"distance", number(s.nearest.distance)},
                        {"Lambda", by_contact(r, s.nearest.Lambda)},
                        {"work", number(s.nearest.work)}};
    else
        j["nearest"] = {{"u", nullptr}, {"why", s.nearest.why}};
    if (!r.laws.empty()) j["laws"] = law_outcomes(r);
    j["newton"] = dissipation(r);
    if (s.cause)
        j["cause"] = {{"energy_created", s.cause->created},
                      {"contact", name_of(c, static_cast<std::size_t>(std::max(0, s.cause->block)))},
                      {"law", s.cause->law},
                      {"text", s.cause->sentence}};
    j["warnings"] = r.warnings;
    return json::document(j);
}

std::string set_csv(const ImpactReport& r) {
    const ConsistencyBoundary& b = r.study.boundary;
    if (b.pieces.empty()) return {};
    Csv csv;
    csv.cells({"kind", "bound", "contact or corner point"});
    for (const char* const what : {"from ", "to ", "centre ", "first ", "second "})
        for (const std::string& x : r.coordinates) csv.cell(what + x + "'");
    csv.cells({"phi_from", "phi_to"}).end_line();
    const auto cells = [&](const Vector& x) { csv.cells({x.data(), x.data() + x.size()}, r.coordinates.size()); };
    for (const BoundaryPiece& p : b.pieces) {
        csv.cell(std::string(p.arc ? "arc" : "segment")).cell(std::string(to_text(p.bound)));
        csv.cell(bound_name(r, p.bound, p.index));
        for (const Vector* const x : {&p.from, &p.to, &p.centre, &p.first, &p.second}) cells(*x);
        csv.cells(p.arc ? std::vector{p.phi_from, p.phi_to} : std::vector<double>(), 2).end_line();
    }
    return std::move(csv).text();
}

std::string set_points_csv(const ImpactReport& r) {
    const ConsistencyBoundary& b = r.study.boundary;
    const ConsistencyMesh& m = r.study.mesh;
    std::vector<Vector> points = m.points;
    for (const BoundaryPiece& p : b.pieces) {
        const int count = p.arc ? points_per_arc : 2;
        for (int k = 0; k + 1 < count; ++k) points.push_back(p.at(static_cast<double>(k) / (count - 1)));
    }
    if (b.dimension == 2 && !points.empty() && m.points.empty()) points.push_back(points.front());
    if (points.empty()) points = b.vertices;
    if (points.empty()) return {};
    Csv csv;
    for (const std::string& x : r.coordinates) csv.cell(x + "'");
    csv.end_line();
    for (const Vector& x : points) {
        csv.cells({x.data(), x.data() + x.size()}, r.coordinates.size());
        csv.end_line();
    }
    return std::move(csv).text();
}

std::string set_triangles_csv(const ImpactReport& r) {
    if (r.study.mesh.triangles.empty()) return {};
    Csv csv;
    csv.cells({"a", "b", "c"}).end_line();
    for (const auto& [a, b, c] : r.study.mesh.triangles) csv.cell(a).cell(b).cell(c).end_line();
    return std::move(csv).text();
}

}  // namespace saltus::io
