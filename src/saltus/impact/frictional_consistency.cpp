// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/frictional_consistency.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/impact/frictional_program.hpp"
#include "saltus/impact/work.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using Status = NearestConsistent::Status;

/// The two programs over x ∈ K: the least work, and the point nearest to y⁺ with no more work than allowed.
/// A ball ‖y‖² <= 2w is the cone (w/s + s/2, y, w/s − s/2) with a length s of the size of y.
class Programs {
public:
    Programs(const FrictionalProgram& base, const Allowance& allowance, const Vector& y_plus)
        : base_(base), o_(base.outcomes()), y_plus_(y_plus) {
        rank_ = base.basis().cols();
        n_ = base.program.A.cols();
        level_ = allowance.alpha - o_.offset;
        cost_ = o_.cost;
        if (allowance.external_work) {
            // α + ½(u⁺ + u⁻)ᵀP with u⁺ = origin + Q y
            const Vector half = 0.5 * (base.basis().transpose() * base.pi());
            level_ += 0.5 * base.pi().dot(o_.origin + base.before());
            cost_ -= top().transpose() * half;
        }
        size_ = std::max({y_plus.norm(), o_.distance.size() == 0 ? 0.0 : largest_distance(), base.noise, 1e-150});
    }

    double size() const { return size_; }
    Matrix top() const { return base_.program.A.topRows(rank_); }
    Vector y(const Vector& x) const { return top() * x; }
    double excess(const Vector& x) const { return 0.5 * y(x).squaredNorm() + cost_.dot(x) - level_; }
    Vector normal_velocities(const Vector& x) const { return o_.distance + o_.slopes * y(x); }
    const FrictionalProgram::Outcomes& outcomes() const { return o_; }

    solvers::ProgramSolution least_work() const {
        solvers::ConeProgram p = frame(0);
        const Index ball = n_ + o_.distance.size(), row = equations();
        add_ball(p, ball, row);
        // w is free here: what is minimised is w + cost·x.
        p.c.head(n_) = cost_;
        p.c(ball) = p.c(ball + 1 + rank_) = 0.5 * size_;
        return solve(p, solvers::InteriorPoint{});
    }

    solvers::ProgramSolution nearest() const {
        solvers::ConeProgram p = frame(1 + rank_);
        const Index distance = n_ + o_.distance.size(), ball = distance + 1 + rank_;
        p.cones.insert(p.cones.end() - 1, static_cast<int>(1 + rank_));
        for (Index i = 0; i < rank_; ++i) {
            p.A.row(rows_before() + i).head(n_) = top().row(i);
            p.A(rows_before() + i, distance + 1 + i) = 1.0;
            p.b(rows_before() + i) = y_plus_(i);
        }
        const Index row = equations() + rank_;
        add_ball(p, ball, row);
        // w = level − cost·x
        p.A.row(row + rank_ + 1).head(n_) = (2.0 / size_) * cost_.transpose();
        p.A(row + rank_ + 1, ball) = p.A(row + rank_ + 1, ball + 1 + rank_) = 1.0;
        p.b(row + rank_ + 1) = 2.0 / size_ * level_;
        p.c(distance) = 1.0;
        return solve(p, solvers::InteriorPoint{});
    }

private:
    double largest_distance() const {
        double most = 0.0;
        for (Index i = 0; i < o_.distance.size(); ++i)
            if (const double length = o_.slopes.row(i).norm(); length > 0.0)
                most = std::max(most, std::abs(o_.distance(i)) / length);
        return most;
    }
    Index ties() const { return base_.program.A.rows() - rank_; }
    Index rows_before() const { return ties() + o_.distance.size(); }
    Index equations() const { return rows_before(); }

    /// Ties and normal velocities, with room for `more` columns before the ball.
    solvers::ConeProgram frame(Index more) const {
        const Index m = o_.distance.size(), columns = n_ + m + more + rank_ + 2;
        const Index rows = rows_before() + (more > 0 ? rank_ : 0) + rank_ + 1 + (more > 0 ? 1 : 0);
        solvers::ConeProgram p;
        p.A = Matrix::Zero(rows, columns);
        p.b = Vector::Zero(rows);
        p.c = Vector::Zero(columns);
        p.A.topLeftCorner(ties(), n_) = base_.program.A.bottomRows(ties());
        p.b.head(ties()) = base_.program.b.tail(ties());
        for (Index i = 0; i < m; ++i) {
            // One length for all, so that slacks are lengths in the metric too.
            const double length = std::max(o_.slopes.row(i).norm(), 1e-300);
            p.A.row(ties() + i).head(n_) = o_.slopes.row(i) * top() / length;
            p.A(ties() + i, n_ + i) = -1.0;
            p.b(ties() + i) = -o_.distance(i) / length;
        }
        p.cones = base_.program.cones;
        p.cones.insert(p.cones.end(), static_cast<std::size_t>(m), 1);
        p.cones.push_back(static_cast<int>(rank_ + 2));
        return p;
    }
    void add_ball(solvers::ConeProgram& p, Index ball, Index row) const {
        for (Index i = 0; i < rank_; ++i) {
            p.A.row(row + i).head(n_) = top().row(i);
            p.A(row + i, ball + 1 + i) = -1.0;
        }
        p.A(row + rank_, ball) = 1.0;
        p.A(row + rank_, ball + 1 + rank_) = -1.0;
        p.b(row + rank_) = size_;
    }

    const FrictionalProgram& base_;
    FrictionalProgram::Outcomes o_;
    const Vector& y_plus_;
    Vector cost_;
    Index rank_ = 0, n_ = 0;
    double level_ = 0.0, size_ = 1.0;
};

/// How far from x towards `low` all conditions hold.
double share_of_low(const Programs& programs, const Vector& x, const Vector& low) {
    double share = 0.0;
    const double here = programs.excess(x);
    if (here > 0.0) {
        // f(θ) = (1 − θ) f(0) + θ f(1) − ½θ(1 − θ)‖y₁ − y₀‖² <= (1 − θ) f(0) + θ f(1)
        const double there = programs.excess(low);
        share = there < 0.0 ? here / (here - there) : 1.0;
    }
    const Vector now = programs.normal_velocities(x), then = programs.normal_velocities(low);
    for (Index i = 0; i < now.size(); ++i)
        if (now(i) < 0.0 && then(i) > now(i)) share = std::max(share, std::min(1.0, now(i) / (now(i) - then(i))));
    return share;
}

NearestByFriction without_friction(const FrictionalCollision& c, const Allowance& allowance) {
    NearestByFriction result;
    NormalPart part = normal_part(c);
    const NearestConsistent nearest = nearest_consistent(part.collision, allowance);
    result.status = nearest.status;
    result.why = nearest.why;
    const LeastWork least = least_contact_work(part.collision, allowance.external_work);
    result.least = least.work;
    if (nearest.status != Status::found) return result;
    result.u = nearest.u;
    result.distance = nearest.distance;
    part.collision.u_plus = nearest.u;
    const Audit a = audit(part.collision, {.alpha = allowance.alpha, .remarks = false});
    const Vector& Lambda = std::isfinite(a.least.work) ? a.least.Lambda : a.kinetic.Lambda;
    result.gap = a.least.gap;
    result.work = contact_work(part.collision, Lambda);
    result.Lambda = Vector::Zero(c.directions.cols());
    for (std::size_t j = 0; j < part.rows.size(); ++j) result.Lambda(part.rows[j]) = Lambda(static_cast<Index>(j));
    return result;
}

}  // namespace

NearestByFriction nearest_consistent(const FrictionalCollision& c, const Allowance& allowance) {
    expect_consistent_sizes(c);
    NearestByFriction result;
    const ConeForm form(c);
    if (!form.refused.empty()) {
        result.why = form.refused;
        return result;
    }
    if (!has_friction(c)) return without_friction(c, allowance);
    const FrictionalProgram base(c, form);
    if (!base.valid || !base.jump.allFinite() || !base.program.A.allFinite()) {
        result.why =
            base.valid ? "the collision holds a number that is not finite" : "the mass matrix is not positive definite";
        return result;
    }
    const Vector x_plus = base.cholesky().transpose() * c.u_plus;
    const Vector from_origin = x_plus - base.outcomes().origin;
    const Vector y_plus = base.basis().transpose() * from_origin;
    const Programs programs(base, allowance, y_plus);
    const Index n = base.program.A.cols();

    const solvers::ProgramSolution least = programs.least_work();
    if (least.status == solvers::ProgramStatus::infeasible) {
        result.status = Status::empty;
        result.why = "no impulses in the friction cones lead to a velocity that leaves all contacts";
        return result;
    }
    const Vector low = least.x.head(n);
    result.least = programs.excess(low) + allowance.alpha;
    if (!usable(least.status) && !(worst(least) < 1e-6)) {
        result.status = Status::stalled;
        result.why = "the program of the least work was not solved";
        return result;
    }
    if (programs.excess(low) > 1e-8 * programs.size() * programs.size()) {
        result.status = Status::empty;
        result.why = "every compatible velocity needs more contact work";
        return result;
    }
    const solvers::ProgramSolution near = programs.nearest();
    if (!usable(near.status) && !(worst(near) < 1e-6)) {
        result.status = Status::stalled;
        result.why = "the program of the nearest velocity was not solved";
        return result;
    }
    result.gap = near.gap;
    Vector x = near.x.head(n);
    for (int pass = 0; pass < 3; ++pass)
        if (const double share = share_of_low(programs, x, low); share > 0.0) x += share * (low - x);
    const Vector y = programs.y(x), to = programs.outcomes().origin + base.basis() * y;
    result.status = Status::found;
    result.u = base.cholesky().transpose().triangularView<Eigen::Upper>().solve(to);
    result.distance = (x_plus - to).norm();
    result.Lambda = base.impulses(x, to - base.before() - base.pi());
    result.work = programs.excess(x) + allowance.alpha;
    return result;
}

}  // namespace saltus::impact
