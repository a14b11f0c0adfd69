// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_polytope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "saltus/model/symbolic.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Index = Eigen::Index;
using solvers::ProgramStatus;

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
    if (plane_.neutral) {  // the same forces hold everywhere: nothing of s enters
        p.A = Matrix::Zero(p.b.size(), plane_.N.cols());
    } else {
        p.A = metric * plane_.H / size_;
        p.load_slope = plane_.load_slopes;
    }
    // The origin fulfils the equations to rounding; what of them no s and no force reaches is that.
    Matrix all(p.b.size(), p.A.cols() + p.B.cols());
    all << p.A, p.B;
    const Matrix range = range_of(all, 1e-9);
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

bool AffineSets::feasible(const Signs& sign, Vector* s) const {
    const ForceSolution found = solve(program(sign), {});
    if (found.status == ProgramStatus::optimal && s != nullptr) *s = found.x;
    return found.status == ProgramStatus::optimal;
}

void AffineSets::enumerate(Signs& sign, std::size_t from) {
    constexpr std::size_t most = 256;
    if (feasible_.size() >= most || !feasible(sign)) return;
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

/// Two systems of forces over the same s.
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

std::optional<Vector> AffineSets::somewhere(RestingModel& model, const std::vector<char>& closed,
                                            const AffineRest& plane) {
    AffineSets all(model, closed, plane, Signs(plane.statics.elements.size(), 0));
    all.feasible_.clear();
    Signs sign(plane.statics.elements.size(), 0);
    all.enumerate(sign, 0);
    std::optional<Vector> best;
    double widest = 1e-9;
    for (const Signs& part : all.feasible_) {
        // x = (s, τ): gaps >= τ, τ at most 1
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
        best = all.position(found.x.head(d));
    }
    return best;
}

bool AffineSets::extreme(const std::vector<Signs>& parts, const Vector& cost, Vector& s) const {
    double best = infinity;
    for (const Signs& sign : parts) {
        ForceCost c;
        c.x = cost;
        const ForceSolution end = solve(program(sign), c);
        if (end.status == ProgramStatus::unbounded) return false;
        if (end.status == ProgramStatus::optimal && end.value < best) {
            best = end.value;
            s = end.x;
        }
    }
    return std::isfinite(best);
}

bool AffineSets::frictionless(Vector& s) const {
    AffineRest smooth = plane_;
    model_.move_to(plane_.origin);
    smooth.statics = without_friction(model_, plane_.statics);
    smooth.load_slopes = Matrix();
    AffineSets other(model_, closed_, smooth, Signs(smooth.statics.elements.size(), 0));
    const ForceSolution found = solve(other.program(other.feasible_[0]), {});
    if (found.status != ProgramStatus::optimal) return false;
    // What h has beyond the reach of normal forces must be nothing.
    const Vector left = smooth.statics.h + smooth.H * found.x + smooth.statics.W * found.lambda;
    if (left.cwiseQuotient(smooth.statics.scale).norm() > 1e-9 * size_) return false;
    s = found.x;
    return true;
}

/// Interval arithmetic over the extent.
bool AffineSets::stays_open(const EquilibriumSet& set, const AffineRest::Gap& gap) const {
    const model::SymbolicEquations* const system = model_.model().system->symbolic();
    if (system == nullptr) return false;
    using expr::Interval;
    const expr::Tape& tape = system->tape(model::SymbolicEquations::Part::positions);
    const model::Model& m = model_.model();
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

void AffineSets::describe(const std::vector<Signs>& parts) {
    const Index n = model_.size(), d = plane_.N.cols();
    EquilibriumSet set;
    set.closed = closed_;
    set.exact = true;
    set.origin = plane_.origin;
    set.directions = plane_.N;
    set.lower = set.upper = plane_.origin;
    Vector centre = Vector::Zero(d);
    int ends = 0;
    bool straight = true;
    for (const RestingElement& e : plane_.statics.elements) straight = straight && e.body.polyhedral();
    for (Index i = 0; i < n; ++i) {
        if (d == 0) continue;
        const Vector slope = plane_.N.row(i).transpose();
        if (slope.cwiseAbs().maxCoeff() == 0.0) continue;
        for (const double side : {1.0, -1.0}) {
            Vector s;
            const bool ends_there = extreme(parts, side * slope, s);
            double& bound = side > 0.0 ? set.lower(i) : set.upper(i);
            bound = ends_there ? position(s)(i) : -side * infinity;
            if (!ends_there) continue;
            centre += s;
            ++ends;
            set.boundary.push_back(position(s));
        }
    }
    if (ends > 0) centre /= ends;
    // Unbounded directions leave the centre at their origin; a part that is empty there gives a point of its own.
    Vector inside = centre;
    RestingModel& m = model_;
    m.move_to(position(inside));
    if (!balance(m.statics(closed_)).holds && !feasible(parts[0], &inside)) return;
    set.representative = position(inside);
    const Vector width = (set.upper - set.lower).cwiseQuotient(plane_.origin.cwiseAbs() + Vector::Ones(n));
    const double widest = width.size() > 0 ? width.maxCoeff() : 0.0;
    set.dimension = static_cast<int>(d);
    // Directions without width: the plane holds one point of them.
    if (d > 0 && widest <= 1e-10) set.dimension = 0;
    if (set.dimension == 0) {
        set.shape = SetShape::point;
        set.boundary.clear();
    } else if (std::isinf(widest) && set.boundary.empty()) {
        set.shape = SetShape::plane;
    } else if (d == 1) {
        set.shape = SetShape::interval;
        std::sort(set.boundary.begin(), set.boundary.end(),
                  [&](const Vector& a, const Vector& b) { return plane_.N.col(0).dot(a) < plane_.N.col(0).dot(b); });
        // Each coordinate gave the same two ends.
        if (set.boundary.size() > 2) set.boundary = {set.boundary.front(), set.boundary.back()};
    } else {
        set.shape = straight && parts.size() == 1 ? SetShape::polytope
                    : parts.size() == 1           ? SetShape::convex
                                                  : SetShape::region;
        if (d == 2 && std::isfinite(widest)) outline(parts, set);
    }
    Vector s;
    if (frictionless(s)) {
        // Among the parts of one plane it belongs to this set when it is inside its extent.
        const Vector q = position(s);
        const Vector unit = q.cwiseAbs() + Vector::Ones(n);
        if (((q - set.lower).cwiseQuotient(unit).array() >= -1e-9).all() &&
            ((set.upper - q).cwiseQuotient(unit).array() >= -1e-9).all()) {
            set.contains_frictionless = true;
            set.frictionless = set.representative = q;
        }
    }
    for (const AffineRest::Gap& gap : plane_.gaps)
        if (!gap.affine && !stays_open(set, gap)) exact_ = false;
    sets_.push_back(std::move(set));
}

/// The polygon between its furthest points: an edge is final when nothing lies further out. With curved friction it
/// ends at a turn of a few degrees.
void AffineSets::outline(const std::vector<Signs>& parts, EquilibriumSet& set) const {
    std::vector<Vector> corners;
    // The coordinates of the plane in units of their widths.
    Vector low(2), high(2);
    for (int j = 0; j < 2; ++j) {
        Vector s;
        for (const double side : {1.0, -1.0}) {
            if (!extreme(parts, side * Vector::Unit(2, j), s)) return;
            (side > 0.0 ? low : high)(j) = s(j);
        }
    }
    const Vector width = (high - low).cwiseMax(1e-300);
    const auto support = [&](const Vector& direction, Vector& s) {
        return extreme(parts, -direction.cwiseQuotient(width), s);
    };
    for (const double angle : {0.1, 0.1 + 2.0943951, 0.1 + 4.1887902}) {
        Vector s;
        if (!support((Vector(2) << std::cos(angle), std::sin(angle)).finished(), s)) return;
        corners.push_back(s.cwiseQuotient(width));
    }
    constexpr std::size_t most = 128;
    for (std::size_t k = 0; k < corners.size() && corners.size() < most;) {
        const Vector& a = corners[k];
        const Vector& b = corners[(k + 1) % corners.size()];
        const Vector edge = b - a;
        if (edge.norm() <= 1e-7) {
            if (corners.size() <= 2) break;
            corners.erase(corners.begin() + static_cast<std::ptrdiff_t>((k + 1) % corners.size()));
            if (k >= corners.size()) break;
            continue;
        }
        const Vector normal = (Vector(2) << edge(1), -edge(0)).finished() / edge.norm();
        Vector s;
        if (!support(normal, s)) return;
        s = s.cwiseQuotient(width);
        const bool curved = set.shape != SetShape::polytope;
        if (normal.dot(s - a) <= (curved ? 2e-3 : 1e-10)) {
            ++k;
            continue;
        }
        corners.insert(corners.begin() + static_cast<std::ptrdiff_t>(k + 1), s);
    }
    // Corners on an edge between others are none.
    if (set.shape == SetShape::polytope && corners.size() > 3)
        for (std::size_t k = 0; k < corners.size() && corners.size() > 3;) {
            const Vector& a = corners[(k + corners.size() - 1) % corners.size()];
            const Vector& c = corners[(k + 1) % corners.size()];
            const Vector one = corners[k] - a, two = c - corners[k];
            if (std::abs(one(0) * two(1) - one(1) * two(0)) <= 1e-9 * one.norm() * two.norm())
                corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(k));
            else
                ++k;
        }
    set.boundary.clear();
    for (const Vector& c : corners) set.boundary.push_back(position(c.cwiseProduct(width)));
}

}  // namespace saltus::stability
