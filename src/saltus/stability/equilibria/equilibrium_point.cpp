// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_point.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

namespace {

using solvers::ProgramStatus;
using trajectory::ElementKind;
using trajectory::Reaction;

/// The forces −Kp (y − reference) of a linear feedback at rest; empty without one, or if the potential is shaped.
std::vector<std::pair<std::string, double>> feedback(const model::Mechanics& m, const Vector& q) {
    std::vector<std::pair<std::string, double>> list;
    if (!m.control || !m.control->shaping.empty()) return list;
    const model::ControlLoop& c = *m.control;
    const auto n = static_cast<Eigen::Index>(c.actuated.size());
    Vector error(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const auto at = std::find(m.coordinates.begin(), m.coordinates.end(), c.actuated[static_cast<std::size_t>(i)]);
        error(i) = q(std::distance(m.coordinates.begin(), at)) - c.reference[static_cast<std::size_t>(i)];
    }
    const Vector u = -(c.Kp * error);
    for (Eigen::Index i = 0; i < n; ++i) list.emplace_back(c.actuated[static_cast<std::size_t>(i)], u(i));
    return list;
}

/// The choices of signs over which the ranges of the forces are taken: those of `b` first, then all others. With more
/// than max_signs reactions with friction only those of `b`.
std::vector<std::vector<int>> sign_choices(const Statics& s, const Balance& b) {
    std::vector<std::size_t> open;
    for (std::size_t k = 0; k < s.elements.size(); ++k)
        if (s.elements[k].two_signed()) open.push_back(k);
    constexpr std::size_t max_signs = 6;  // 2^6 choices, each with two programs for each force
    std::vector<std::vector<int>> list{b.sign};
    if (open.empty() || open.size() > max_signs) return list;
    for (unsigned mask = 0; mask < 1U << open.size(); ++mask) {
        std::vector<int> sign(s.elements.size(), 0);
        for (std::size_t i = 0; i < open.size(); ++i) sign[open[i]] = (mask >> i & 1U) != 0 ? -1 : 1;
        if (sign != b.sign) list.push_back(sign);
    }
    return list;
}

/// min and max of each normal force over { λ allowed : h + Wλ = 0 }, by linear programs; fills ranges and self_stress.
void find_ranges(EquilibriumPoint& p, const Balance& b) {
    const Statics& s = p.statics;
    const Matrix W = s.scale.cwiseInverse().asDiagonal() * s.W;
    const Matrix range = range_of(W);
    ForceProgram program;
    program.elements = &s.elements;
    program.margin = false;
    program.B = range.transpose() * W;
    program.b = -(range.transpose() * s.h.cwiseQuotient(s.scale));
    program.A = Matrix(program.b.size(), 0);
    for (const RestingElement& e : s.elements)
        if (e.normal >= 0) p.ranges.push_back({e.element, infinity, -infinity});
    for (const std::vector<int>& sign : sign_choices(s, b)) {
        program.sign = sign;
        std::size_t at = 0;
        for (const RestingElement& e : s.elements) {
            if (e.normal < 0) continue;
            EquilibriumPoint::Range& r = p.ranges[at++];
            for (const double direction : {1.0, -1.0}) {
                ForceCost cost;
                cost.lambda = Vector::Zero(W.cols());
                cost.lambda(e.normal) = direction;
                const ForceSolution end = solve(program, cost);
                const double value = end.status == ProgramStatus::unbounded ? -infinity : end.value;
                if (end.status != ProgramStatus::optimal && end.status != ProgramStatus::unbounded) continue;
                if (direction > 0.0)
                    r.least = std::min(r.least, value);
                else
                    r.greatest = std::max(r.greatest, -value);
            }
        }
    }
    // On the boundary of the set rounding may leave the programs infeasible, or ranges without the forces that were
    // found. The ranges are extended to these forces.
    for (EquilibriumPoint::Range& r : p.ranges)
        for (const Reaction& f : p.forces)
            if (f.element == r.element) {
                r.least = std::min(r.least, f.N);
                r.greatest = std::max(r.greatest, f.N);
            }
    for (const EquilibriumPoint::Range& r : p.ranges)
        p.self_stress = p.self_stress || (p.hyperstatic > 0 && (std::isinf(r.least) || std::isinf(r.greatest)));
}

/// The number of a coordinate with a force that no reaction can take up; −1 if there is none. `balance` compares all
/// forces with the largest one, so that a weight beside a very stiff spring counts as nothing. Here the force on a
/// coordinate is compared with what displacements of 1 + |q_j| change of the same force.
int unsupported(RestingModel& model, const Statics& s) {
    if (!model.has_derivatives()) return -1;
    const Matrix K = model.stiffness(s, Vector::Zero(s.W.cols()));
    const Vector change = K.cwiseAbs() * (model.q().cwiseAbs() + Vector::Ones(K.cols()));
    for (Eigen::Index i = 0; i < s.h.size(); ++i)
        if (s.W.row(i).isZero(0.0) && std::abs(s.h(i)) > rest_tolerance * change(i)) return static_cast<int>(i);
    return -1;
}

/// Replaces an answer that forces hold by the proof that nothing holds the force on coordinate i.
void refute(Balance& b, const Statics& s, Eigen::Index i) {
    b.holds = false;
    b.defect = 1.0;  // relative to the force itself
    Separation out;
    out.v = Vector::Zero(s.h.size());
    out.v(i) = std::copysign(1.0 / s.scale(i), s.h(i));
    out.sign.assign(s.elements.size(), 0);
    out.power = least_power(s, out.sign, out.v);
    b.separations = {out};
}

std::string reason(const EquilibriumPoint& p, const Balance& b) {
    if (!p.admissible) return "the position is not admissible: it penetrates a contact or violates a constraint";
    if (!p.statics.moves.empty()) return p.statics.moves + ", so that nothing that touches it stays at rest";
    if (!b.decided) return "the search over the signs of the reactions reached its limit without a decision";
    if (b.defect > rest_tolerance) return "some forces meet no reaction at all: it accelerates along the direction";
    if (p.separations.size() == 1)
        return "no admissible reactions hold it: along the direction all of them do positive power with the forces";
    return "no admissible reactions hold it: for each choice of their signs there is a direction along which all of "
           "them do positive power with the forces";
}

}  // namespace

std::vector<Reaction> reactions_of(const RestingModel& model, const Statics& s, const Vector& lambda) {
    std::vector<Reaction> list;
    for (const RestingElement& e : s.elements) {
        Reaction r;
        r.element = e.element;
        if (e.normal >= 0) r.N = lambda(e.normal);
        if (e.kind == ElementKind::slider) r.N = e.load;
        for (int i = 0; i < e.body.dimension; ++i) r.T.push_back(lambda(e.slip + i));
        if (e.normal >= 0)  // the sliding friction of a contact is part of the column of its normal force
            for (std::size_t k = 1; k < s.columns[static_cast<std::size_t>(e.normal)].size(); ++k)
                r.T.push_back(r.N * s.columns[static_cast<std::size_t>(e.normal)][k].factor);
        list.push_back(std::move(r));
    }
    for (const Statics::Fixed& f : s.fixed) {
        if (list.empty() || list.back().element != f.element)
            list.push_back({f.element, f.per_load != 0.0 ? f.force / f.per_load : 0.0, {}});
        list.back().T.push_back(f.force);
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Reaction& a, const Reaction& b) { return a.element < b.element; });
    // Sliders that change their own normal force: λ = mean + λ', F_N² = c₀ + 2c₁λ + c₂λ².
    for (const model::MeanFriction& m : model.model().mean_friction) {
        const std::size_t element = model.model().contacts.size() + model.model().constraints.size() + m.slider;
        for (Reaction& r : list) {
            if (r.element != static_cast<int>(element) || r.T.empty()) continue;
            const double T = r.T[0] += model.coefficient(m.mean);
            const double square = model.coefficient(m.square[0]) +
                                  T * (2.0 * model.coefficient(m.square[1]) + T * model.coefficient(m.square[2]));
            r.N = std::sqrt(std::max(0.0, square));
        }
    }
    return list;
}

EquilibriumPoint equilibrium_at(RestingModel& model, const Vector& q, const PointOptions& options) {
    EquilibriumPoint p;
    p.t = model.time();
    p.q = q;
    model.move_to(q);
    p.violation = model.violation();
    p.admissible = p.violation <= options.closed_tolerance;
    for (std::size_t i = 0; i < model.model().contacts.size(); ++i)
        p.closed.push_back(model.closed(i, options.closed_tolerance) ? 1 : 0);
    p.statics = model.statics(p.closed);
    Balance b = balance(p.statics);
    if (const int i = b.holds ? unsupported(model, p.statics) : -1; i >= 0) refute(b, p.statics, i);
    p.decided = b.decided || b.holds;
    p.margin = b.defect > rest_tolerance ? -b.defect : b.margin;
    p.is_equilibrium = p.admissible && b.holds;
    p.hyperstatic = static_cast<int>(kernel_of(p.statics.scale.cwiseInverse().asDiagonal() * p.statics.W).cols());
    p.control = feedback(model.model(), q);
    if (b.holds) {
        const Vector lambda = plain_forces(p.statics, b);
        p.forces = reactions_of(model, p.statics, lambda);
        p.defects = examine(p.statics, lambda);
        if (options.ranges) find_ranges(p, b);
    } else {
        p.separations = b.separations;
    }
    if (!p.is_equilibrium) p.why = reason(p, b);
    return p;
}

}  // namespace saltus::stability
