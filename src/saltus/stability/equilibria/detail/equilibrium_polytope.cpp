// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_polytope.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;
using solvers::ProgramStatus;

constexpr std::size_t max_sign_choices = 256;  ///< with more choices the sets are not exact
/// Columns of the equations that depend on others to this accuracy do not enlarge their range.
constexpr double dependent_column = 1e-9;
/// The smallest gap of a position that `somewhere` returns is larger than this; less counts as closed.
constexpr double open_gap = 1e-9;
/// ‖h + Wλ‖ of a frictionless position is at most this part of the size of the forces.
constexpr double balanced_without_friction = 1e-9;
/// In 1 + |q_i|: a set narrower than this along all coordinates is a point.
constexpr double negligible_width = 1e-10;
/// In 1 + |q_i|: a frictionless position this far outside the extent still belongs to the set.
constexpr double outside_extent = 1e-9;

// The outline, in units of the widths of the set.
constexpr std::size_t max_corners = 128;
constexpr double shortest_edge = 1e-7;      ///< corners that are nearer to each other are one
constexpr double bulge_of_polygon = 1e-10;  ///< an edge is final if the set reaches at most this far beyond it
constexpr double bulge_of_curve = 2e-3;     ///< the same for curved sets: a turn of a few degrees at each corner
constexpr double flat_corner = 1e-9;        ///< a corner with a smaller sine of its angle is on an edge
constexpr double first_angle = 0.1;         ///< of the first search direction; not along a typical edge

}  // namespace

std::string_view to_string(SetShape shape) {
    switch (shape) {
        case SetShape::point: return "point";
        case SetShape::interval: return "interval";
        case SetShape::polytope: return "polytope";
        case SetShape::convex: return "convex";
        case SetShape::plane: return "plane";
        case SetShape::curve: return "curve";
        case SetShape::region: return "region";
    }
    return "";
}

AffineSets::AffineSets(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane, Signs only)
    : model_(model), closed_(closed), plane_(plane), feasible_{std::move(only)} {
    size_ = plane.statics.size > 0.0 ? plane.statics.size : 1.0;
}

AffineSets::AffineSets(RestingModel& model, const std::vector<char>& closed, const AffineRest& plane)
    : model_(model), closed_(closed), plane_(plane) {
    size_ = plane.statics.size > 0.0 ? plane.statics.size : 1.0;
    Signs sign(plane.statics.elements.size(), 0);
    enumerate(sign, 0);
    if (!exact_) return;
    // Parts that meet are one set.
    std::vector<std::size_t> root(feasible_.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
        while (root[i] != i) i = root[i];
        return i;
    };
    for (std::size_t i = 0; i < feasible_.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (find(i) != find(j) && meet(feasible_[i], feasible_[j])) root[find(i)] = find(j);
    for (std::size_t r = 0; r < feasible_.size(); ++r) {
        std::vector<Signs> parts;
        for (std::size_t i = 0; i < feasible_.size(); ++i)
            if (find(i) == r) parts.push_back(feasible_[i]);
        if (!parts.empty()) describe(parts);
    }
}

ForceProgram AffineSets::program(const Signs& sign) const {
    const Statics& s = plane_.statics;
    ForceProgram p;
    p.elements = &s.elements;
    p.sign = sign;
    p.margin = false;
    p.size = 1.0;
    const Matrix metric = s.scale.cwiseInverse().asDiagonal();
    p.B = metric * s.W / size_;
    p.b = -metric * s.h / size_;
    if (plane_.neutral) {  // the same forces hold everywhere: s does not enter
        p.A = Matrix::Zero(p.b.size(), plane_.N.cols());
    } else {
        p.A = metric * plane_.H / size_;
        p.load_slope = plane_.load_slopes;
    }
    // Only equations in the range of (A, B) are kept. The origin is an equilibrium, so that the right-hand side of the
    // others is rounding, which would make the program infeasible.
    Matrix all(p.b.size(), p.A.cols() + p.B.cols());
    all << p.A, p.B;
    const Matrix range = range_of(all, dependent_column);
    p.A = (range.transpose() * p.A).eval();
    p.B = (range.transpose() * p.B).eval();
    p.b = (range.transpose() * p.b).eval();
    std::vector<const AffineRest::Gap*> gaps;
    for (const AffineRest::Gap& gap : plane_.gaps)
        if (gap.affine) gaps.push_back(&gap);
    p.C.resize(static_cast<Index>(gaps.size()), plane_.N.cols());
    p.d.resize(static_cast<Index>(gaps.size()));
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        p.C.row(static_cast<Index>(k)) = gaps[k]->slope;
        p.d(static_cast<Index>(k)) = -gaps[k]->value;
    }
    return p;
}

std::optional<Vector> AffineSets::feasible_point(const Signs& sign) const {
    const ForceSolution found = solve(program(sign), {});
    if (found.status != ProgramStatus::optimal) return {};
    return found.x;
}

void AffineSets::enumerate(Signs& sign, std::size_t from) {
    if (feasible_.size() > max_sign_choices) exact_ = false;
    if (!exact_ || !feasible_point(sign)) return;
    while (from < sign.size() && !plane_.statics.elements[from].two_signed()) ++from;
    if (from == sign.size()) {
        feasible_.push_back(sign);
        return;
    }
    for (const int choice : {1, -1}) {
        sign[from] = choice;
        enumerate(sign, from + 1);
    }
    sign[from] = 0;
}

/// Feasibility of one s with two systems of forces, one for each choice of signs:
///     A s + B λ_a = b,   A s + B λ_b = b.
bool AffineSets::meet(const Signs& a, const Signs& b) const {
    const ForceProgram p = program(a);
    const Index rows = p.b.size(), columns = p.B.cols();
    std::vector<RestingElement> elements = plane_.statics.elements;
    const std::size_t count = elements.size();
    for (std::size_t k = 0; k < count; ++k) {
        RestingElement e = elements[k];
        if (e.normal >= 0) e.normal += static_cast<int>(columns);
        if (e.slip >= 0) e.slip += static_cast<int>(columns);
        elements.push_back(std::move(e));
    }
    ForceProgram both = p;
    both.elements = &elements;
    both.sign.insert(both.sign.end(), b.begin(), b.end());
    both.B = Matrix::Zero(2 * rows, 2 * columns);
    both.B.topLeftCorner(rows, columns) = p.B;
    both.B.bottomRightCorner(rows, columns) = p.B;
    both.A.resize(2 * rows, p.A.cols());
    both.A << p.A, p.A;
    both.b.resize(2 * rows);
    both.b << p.b, p.b;
    if (p.load_slope.size() > 0) {
        both.load_slope.resize(2 * p.load_slope.rows(), p.load_slope.cols());
        both.load_slope << p.load_slope, p.load_slope;
    }
    return solve(both, {}).status == ProgramStatus::optimal;
}

AffineSets::Somewhere AffineSets::somewhere(RestingModel& model, const std::vector<char>& closed,
                                            const AffineRest& plane) {
    AffineSets all(model, closed, plane, Signs(plane.statics.elements.size(), 0));
    all.feasible_.clear();
    Signs sign(plane.statics.elements.size(), 0);
    all.enumerate(sign, 0);
    Somewhere best{{}, all.exact_};
    double widest = open_gap;
    for (const Signs& part : all.feasible_) {
        // Maximise τ over x = (s, τ) such that all gaps are >= τ, τ <= 1.
        ForceProgram p = all.program(part);
        const Index d = p.A.cols();
        p.A.conservativeResize(p.A.rows(), d + 1);
        p.A.col(d).setZero();
        p.C.conservativeResize(p.C.rows(), d + 1);
        p.C.col(d).setConstant(-1.0);
        if (p.load_slope.size() > 0) {
            p.load_slope.conservativeResize(p.load_slope.rows(), d + 1);
            p.load_slope.col(d).setZero();
        }
        p.lower = Vector::Constant(d + 1, -infinity);
        p.upper = Vector::Constant(d + 1, infinity);
        p.upper(d) = 1.0;
        ForceCost cost;
        cost.x = -Vector::Unit(d + 1, d);
        const ForceSolution found = solve(p, cost);
        if (found.status != ProgramStatus::optimal || found.x(d) <= widest) continue;
        widest = found.x(d);
        best.q = all.position(found.x.head(d));
    }
    return best;
}

std::optional<Vector> AffineSets::extreme(const std::vector<Signs>& parts, const Vector& cost) const {
    double best = infinity;
    std::optional<Vector> s;
    for (const Signs& sign : parts) {
        ForceCost c;
        c.x = cost;
        const ForceSolution end = solve(program(sign), c);
        if (end.status == ProgramStatus::unbounded) return {};
        if (end.status == ProgramStatus::optimal && end.value < best) {
            best = end.value;
            s = end.x;
        }
    }
    return std::isfinite(best) ? s : std::nullopt;
}

std::optional<Vector> AffineSets::frictionless() const {
    AffineRest smooth = plane_;
    model_.move_to(plane_.origin);
    smooth.statics = without_friction(model_, plane_.statics);
    smooth.load_slopes = Matrix();
    AffineSets other(model_, closed_, smooth, Signs(smooth.statics.elements.size(), 0));
    const ForceSolution found = solve(other.program(other.feasible_[0]), {});
    if (found.status != ProgramStatus::optimal) return {};
    // The program ignores the part of h outside the range of the normal forces; it must vanish.
    const Vector left = smooth.statics.h + smooth.H * found.x + smooth.statics.W * found.lambda;
    if (left.cwiseQuotient(smooth.statics.scale).norm() > balanced_without_friction * size_) return {};
    return found.x;
}

bool AffineSets::stays_open(const EquilibriumSet& set, const AffineRest::Gap& gap) const {
    const model::SymbolicEquations* const system = model_.model().system->symbolic();
    if (system == nullptr) return false;
    using expr::Interval;
    const expr::Tape& tape = system->tape(model::SymbolicEquations::Part::positions);
    const model::Mechanics& m = model_.model();
    std::vector<Interval> p, x{Interval(model_.time(), model_.time())}, scratch(tape.slot_count()),
        out(tape.output_count());
    for (const double value : m.p) p.emplace_back(value, value);
    for (Index i = 0; i < set.lower.size(); ++i)
        x.emplace_back(std::min(set.lower(i), set.upper(i)), std::max(set.lower(i), set.upper(i)));
    for (Index i = 0; i < set.lower.size(); ++i) x.emplace_back(0.0, 0.0);
    tape.prepare<Interval>(p, scratch);
    tape.evaluate<Interval>(x, scratch, out);
    return out[static_cast<std::size_t>(m.contacts[gap.contact].row)].lo > 0.0;
}

Vector AffineSets::find_extent(const std::vector<Signs>& parts, EquilibriumSet& set) const {
    const Index n = model_.size(), d = plane_.N.cols();
    Vector centre = Vector::Zero(d);
    int ends = 0;
    for (Index i = 0; i < n; ++i) {
        if (d == 0) continue;
        const Vector slope = plane_.N.row(i).transpose();
        if (slope.cwiseAbs().maxCoeff() == 0.0) continue;
        for (const double side : {1.0, -1.0}) {
            const std::optional<Vector> s = extreme(parts, side * slope);
            double& bound = side > 0.0 ? set.lower(i) : set.upper(i);
            bound = s ? position(*s)(i) : -side * infinity;
            if (!s) continue;
            centre += *s;
            ++ends;
            set.boundary.push_back(position(*s));
        }
    }
    if (ends > 0) centre /= ends;
    return centre;
}

void AffineSets::describe(const std::vector<Signs>& parts) {
    const Index n = model_.size();
    EquilibriumSet set;
    set.closed = closed_;
    set.exact = true;
    set.origin = plane_.origin;
    set.directions = plane_.N;
    set.lower = set.upper = plane_.origin;
    Vector inside = find_extent(parts, set);
    // The mean of the extreme points is an equilibrium if the set is convex and bounded. Otherwise another point is
    // taken.
    model_.move_to(position(inside));
    if (!balance(model_.statics(closed_)).holds) {
        const std::optional<Vector> s = feasible_point(parts[0]);
        if (!s) return;
        inside = *s;
    }
    set.representative = position(inside);
    classify(parts, set);
    if (const std::optional<Vector> s = frictionless()) {
        // A plane may contain several sets. The position belongs to this one if it is within its extent.
        const Vector q = position(*s);
        const Vector unit = q.cwiseAbs() + Vector::Ones(n);
        if (((q - set.lower).cwiseQuotient(unit).array() >= -outside_extent).all() &&
            ((set.upper - q).cwiseQuotient(unit).array() >= -outside_extent).all()) {
            set.contains_frictionless = true;
            set.frictionless = set.representative = q;
        }
    }
    for (const AffineRest::Gap& gap : plane_.gaps)
        if (!gap.affine && !stays_open(set, gap)) exact_ = false;
    sets_.push_back(std::move(set));
}

void AffineSets::classify(const std::vector<Signs>& parts, EquilibriumSet& set) const {
    const Index n = model_.size(), d = plane_.N.cols();
    bool straight = true;
    for (const RestingElement& e : plane_.statics.elements) straight = straight && e.body.polyhedral();
    const Vector width = (set.upper - set.lower).cwiseQuotient(plane_.origin.cwiseAbs() + Vector::Ones(n));
    const double widest = width.size() > 0 ? width.maxCoeff() : 0.0;
    set.dimension = static_cast<int>(d);
    if (d > 0 && widest <= negligible_width) set.dimension = 0;  // the plane meets the set in one point
    if (set.dimension == 0) {
        set.shape = SetShape::point;
        set.boundary.clear();
    } else if (std::isinf(widest) && set.boundary.empty()) {
        set.shape = SetShape::plane;
    } else if (d == 1) {
        set.shape = SetShape::interval;
        std::sort(set.boundary.begin(), set.boundary.end(),
                  [&](const Vector& a, const Vector& b) { return plane_.N.col(0).dot(a) < plane_.N.col(0).dot(b); });
        // Each coordinate gave the same two ends once more.
        if (set.boundary.size() > 2) set.boundary = {set.boundary.front(), set.boundary.back()};
    } else {
        set.shape = straight && parts.size() == 1 ? SetShape::polytope
                    : parts.size() == 1           ? SetShape::convex
                                                  : SetShape::region;
        if (d == 2 && std::isfinite(widest)) outline(parts, set);
    }
}

/// Grows a polygon from inside: for the outward normal of each edge a program gives the furthest point of the set; if
/// it lies beyond the edge then it becomes a corner between the ends of the edge, otherwise the edge is final.
void AffineSets::outline(const std::vector<Signs>& parts, EquilibriumSet& set) const {
    std::vector<Vector> corners;
    // The coordinates s of the plane are measured in units of their widths.
    Vector low(2), high(2);
    for (int j = 0; j < 2; ++j)
        for (const double side : {1.0, -1.0}) {
            const std::optional<Vector> s = extreme(parts, side * Vector::Unit(2, j));
            if (!s) return;
            (side > 0.0 ? low : high)(j) = (*s)(j);
        }
    const Vector width = (high - low).cwiseMax(smallest_divisor);
    // The furthest point of the set along a direction.
    const auto furthest = [&](const Vector& direction) { return extreme(parts, -direction.cwiseQuotient(width)); };
    // A first triangle, from three directions at 120 degrees.
    for (const double angle : {first_angle, first_angle + 2.0943951, first_angle + 4.1887902}) {
        const std::optional<Vector> s = furthest((Vector(2) << std::cos(angle), std::sin(angle)).finished());
        if (!s) return;
        corners.push_back(s->cwiseQuotient(width));
    }
    for (std::size_t k = 0; k < corners.size() && corners.size() < max_corners;) {
        const Vector& a = corners[k];
        const Vector& b = corners[(k + 1) % corners.size()];
        const Vector edge = b - a;
        if (edge.norm() <= shortest_edge) {
            if (corners.size() <= 2) break;
            corners.erase(corners.begin() + static_cast<std::ptrdiff_t>((k + 1) % corners.size()));
            if (k >= corners.size()) break;
            continue;
        }
        const Vector normal = (Vector(2) << edge(1), -edge(0)).finished() / edge.norm();
        const std::optional<Vector> reached = furthest(normal);
        if (!reached) return;
        const Vector s = reached->cwiseQuotient(width);
        const bool curved = set.shape != SetShape::polytope;
        if (normal.dot(s - a) <= (curved ? bulge_of_curve : bulge_of_polygon)) {
            ++k;
            continue;
        }
        corners.insert(corners.begin() + static_cast<std::ptrdiff_t>(k + 1), s);
    }
    // Corners on the edge between their neighbours are removed.
    if (set.shape == SetShape::polytope && corners.size() > 3)
        for (std::size_t k = 0; k < corners.size() && corners.size() > 3;) {
            const Vector& a = corners[(k + corners.size() - 1) % corners.size()];
            const Vector& c = corners[(k + 1) % corners.size()];
            const Vector one = corners[k] - a, two = c - corners[k];
            if (std::abs(one(0) * two(1) - one(1) * two(0)) <= flat_corner * one.norm() * two.norm())
                corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(k));
            else
                ++k;
        }
    set.boundary.clear();
    for (const Vector& c : corners) set.boundary.push_back(position(c.cwiseProduct(width)));
}

}  // namespace saltus::stability
