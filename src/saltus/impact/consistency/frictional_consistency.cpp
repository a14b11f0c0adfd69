// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/frictional_consistency.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/impact/work/detail/friction_edges.hpp"
#include "saltus/impact/work/detail/frictional_program.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using Status = NearestConsistent::Status;

/// More edges are added as long as the distance decreases by more than this, relative, and at most this often.
constexpr double negligible_improvement = 1e-12;
constexpr int max_refinements = 12;

/// Positive numbers that avoid a division by zero for a collision at rest.
constexpr double tiny_size = 1e-150, tiny_length = 1e-300;

/// The projection as a second-order cone program: min t over x ∈ K, with the jump y = A x, slacks v >= 0 of the normal
/// velocities, and ‖y⁺ − y‖ <= t. The bound of the work ‖y‖² <= 2w, w = level − cost·x, is the cone
///     ‖(y, w/s − s/2)‖ <= w/s + s/2,
/// because (w/s + s/2)² − (w/s − s/2)² = 2w. The number s is of the size of y, for a good scaling.
class NearestProgram {
public:
    NearestProgram(const FrictionalProgram& base, const Allowance& allowance, const Vector& y_plus)
        : base_(base), o_(base.outcomes()), rank_(base.basis().cols()), n_(base.program.A.cols()) {
        const Index ties = base.program.A.rows() - rank_, m = o_.distance.size();
        const Index distance = n_ + m, ball = distance + 1 + rank_;
        double level = allowance.alpha - o_.offset;
        Vector cost = o_.cost;
        const Matrix A = base.program.A.topRows(rank_);
        if (allowance.external_work) {
            // α + ½(u⁺ + u⁻)ᵀP with u⁺ = origin + Q y
            level += 0.5 * base.pi().dot(o_.origin + base.before());
            cost -= 0.5 * A.transpose() * (base.basis().transpose() * base.pi());
        }
        const double size = std::max({y_plus.norm(), std::sqrt(std::abs(level)), base.noise, tiny_size});

        p_.A = Matrix::Zero(ties + m + 2 * rank_ + 2, ball + rank_ + 2);
        p_.b = Vector::Zero(p_.A.rows());
        p_.c = Vector::Unit(p_.A.cols(), distance);
        p_.A.topLeftCorner(ties, n_) = base.program.A.bottomRows(ties);
        p_.b.head(ties) = base.program.b.tail(ties);
        for (Index i = 0; i < m; ++i) {
            const double length = std::max(o_.slopes.row(i).norm(), tiny_length);
            p_.A.row(ties + i).head(n_) = o_.slopes.row(i) * A / length;
            p_.A(ties + i, n_ + i) = -1.0;
            p_.b(ties + i) = -o_.distance(i) / length;
        }
        const Index first = ties + m, second = first + rank_, last = second + rank_;
        p_.A.block(first, 0, rank_, n_) = p_.A.block(second, 0, rank_, n_) = A;
        p_.A.block(first, distance + 1, rank_, rank_).setIdentity();
        p_.b.segment(first, rank_) = y_plus;
        p_.A.block(second, ball + 1, rank_, rank_) = -Matrix::Identity(rank_, rank_);
        p_.A(last, ball) = 1.0;
        p_.A(last, ball + 1 + rank_) = -1.0;
        p_.b(last) = size;
        p_.A.row(last + 1).head(n_) = 2.0 / size * cost.transpose();
        p_.A(last + 1, ball) = p_.A(last + 1, ball + 1 + rank_) = 1.0;
        p_.b(last + 1) = 2.0 / size * level;
        p_.cones = base.program.cones;
        p_.cones.insert(p_.cones.end(), static_cast<std::size_t>(m), 1);
        p_.cones.push_back(static_cast<int>(1 + rank_));
        p_.cones.push_back(static_cast<int>(2 + rank_));
    }

    /// Two guesses of the impulses of the solution: those of the primal point, and the directions of the dual point.
    std::vector<Vector> directions() const {
        const solvers::ProgramSolution s = solve(p_, solvers::InteriorPoint{});
        if (!s.x.allFinite() || !s.y.allFinite()) return {};
        Vector asked = -(p_.c - p_.A.transpose() * s.y).head(n_);
        Index at = 0;
        for (const int size : base_.program.cones) {
            asked(at) = asked.segment(at + 1, size - 1).norm();
            at += size;
        }
        return {base_.impulses(s.x.head(n_)), base_.impulses(asked)};
    }

private:
    const FrictionalProgram& base_;
    const FrictionalProgram::Outcomes o_;
    const Index rank_, n_;
    solvers::ConeProgram p_;
};

/// The nearest consistent velocity for polyhedral cones, with its impulses and their work.
struct InPolygons {
    NearestConsistent nearest;
    Vector Lambda;
    double work = 0.0, gap = 0.0;
};

InPolygons nearest_in(const FrictionEdges& edges, const FrictionalCollision& c, const Allowance& allowance,
                      NearestByFriction& result) {
    InPolygons in;
    FrictionlessCollision f = edges.collision();
    const KineticFrame frame = kinetic_frame(f);
    if (!frame.valid || !c.u_plus.allFinite()) {
        in.nearest.why = frame.valid ? "u+ holds a number that is not finite" : frame.why;
        return in;
    }
    const ContactRows rows = edges.normal_rows(frame);
    in.nearest = nearest_in_frame(frame, rows, c.u_plus, allowance, projection_tolerance);
    result.least = least_work_in_frame(frame, rows, allowance.external_work, projection_tolerance).work;
    if (in.nearest.status != Status::found) return in;
    f.u_plus = in.nearest.u;
    const Audit a = audit(f, {.alpha = allowance.alpha, .remarks = false});
    Vector weights = a.kinetic.holds ? a.least.Lambda : a.kinetic.Lambda;
    if (a.least.ray.size() > 0) {
        // Contacts that jam can absorb any amount of work: move along the ray until the work is the allowed one.
        const double rate = contact_work(f, a.least.ray), over = contact_work(f, weights);
        if (over > allowance.alpha && rate < 0.0) weights += (allowance.alpha - over) / rate * a.least.ray;
    }
    in.gap = a.least.gap;
    in.work = contact_work(f, weights);
    in.Lambda = edges.impulses(weights);
    return in;
}

}  // namespace

NearestByFriction nearest_consistent(const FrictionalCollision& c, const Allowance& allowance) {
    expect_consistent_sizes(c);
    NearestByFriction result;
    const FrictionEdges plain(c);
    FrictionEdges edges = plain;
    if (!edges.refused().empty()) {
        result.why = edges.refused();
        return result;
    }
    if (!edges.exact()) {
        const ConeForm form(c);
        const FrictionalProgram base(c, form);
        if (base.valid && base.jump.allFinite() && base.program.A.allFinite()) {
            const Vector y_plus =
                base.basis().transpose() * (base.cholesky().transpose() * c.u_plus - base.outcomes().origin);
            for (const Vector& Lambda : NearestProgram(base, allowance, y_plus).directions())
                for (std::size_t k = 0; k < c.laws.size(); ++k) edges.add(k, Lambda);
        }
    }
    InPolygons in = nearest_in(edges, c, allowance, result);
    if (in.nearest.status == Status::stalled && !edges.exact()) {  // edges too close for the programs
        edges = plain;
        in = nearest_in(edges, c, allowance, result);
    }
    // Impulses between two edges are replaced by an edge of their own, as long as that improves the answer.
    for (int round = 0; round < max_refinements && !edges.exact() && in.nearest.status == Status::found; ++round) {
        bool added = false;
        for (std::size_t k = 0; k < c.laws.size(); ++k) added = edges.add(k, in.Lambda) || added;
        if (!added) break;
        InPolygons better = nearest_in(edges, c, allowance, result);
        if (better.nearest.status != Status::found) break;
        const bool improved = better.nearest.distance < in.nearest.distance * (1.0 - negligible_improvement);
        if (better.nearest.distance <= in.nearest.distance) in = std::move(better);
        if (!improved) break;
    }
    result.status = in.nearest.status;
    result.why = in.nearest.why;
    if (result.status != Status::found) return result;
    result.u = in.nearest.u;
    result.distance = in.nearest.distance;
    result.Lambda = in.Lambda;
    result.work = in.work;
    result.gap = in.gap;
    return result;
}

}  // namespace saltus::impact
