// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/consistency.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/impact/consistency/detail/region.hpp"
#include "saltus/impact/work/detail/work_program.hpp"
#include "saltus/solvers/program/least_distance.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using Status = NearestConsistent::Status;

/// Adds to a region what it lacks at a point, found by the programs of the contact work: an edge of the cone of
/// impulses when no impulses lead there, a ball when every impulse does too much work.
class Separation {
public:
    enum class Found { nothing, edge, ball, no_velocity, no_limit, failure };

    Separation(const KineticFrame& frame, bool apart, const Allowance& allowance, double tolerance)
        : frame_(frame), apart_(apart), allowance_(allowance), programs_(frame), tolerance_(tolerance) {
        size_ = frame.distance.size() == 0 ? 0.0 : frame.distance.cwiseAbs().maxCoeff();
        size_ = std::max(size_, frame.half_impulse.norm());
    }

    double size(const Vector& y) const { return size_ + y.norm(); }

    Found at(const Vector& y, Region& region) {
        const solvers::ProgramSolution* s = &programs_.solve(y, 1.0);
        if (s->status == solvers::ProgramStatus::infeasible) {
            const Vector edge = -s->certificate.normalized();
            if (edge.dot(y) < -tolerance_ * size(y) - frame_.noise && !known(region, edge)) {
                region.add_row(edge, 0.0);
                return Found::edge;
            }
            // Outside by rounding only: the work is that of the next point inside.
            const Vector inside = frame_.normals * solvers::nonnegative_least_squares(frame_.normals, y).x;
            s = &programs_.solve(inside, 1.0);
        }
        if (s->status == solvers::ProgramStatus::unbounded) return apart_ ? Found::no_limit : Found::no_velocity;
        if (!usable(s->status)) return Found::failure;
        const Vector centre = centre_of(frame_, allowance_, -s->y);
        const double excess = 0.5 * y.squaredNorm() - centre.dot(y) - region.level;
        // A ball that is there already, and violated by rounding, brings nothing.
        const double small = (tolerance_ * size(y) + frame_.noise) * (size(y) + frame_.noise);
        if (excess <= small || excess <= region.excess(y) * (1.0 + 1e-9)) return Found::nothing;
        region.add_centre(centre);
        return Found::ball;
    }

    /// A ball for a start, at the admissible point nearest to no impulse at all (Moreau's inelastic collision).
    Found start(Region& region, Vector& y) {
        const solvers::LeastDistance moreau =
            solvers::least_distance(region.rows, region.ends, Vector::Zero(frame_.rank()));
        if (!moreau.feasible) return Found::no_velocity;
        y = moreau.x;
        const solvers::ProgramSolution& s =
            programs_.solve(frame_.normals * solvers::nonnegative_least_squares(frame_.normals, y).x, 1.0);
        if (s.status == solvers::ProgramStatus::unbounded) return apart_ ? Found::no_limit : Found::no_velocity;
        if (!usable(s.status)) return Found::failure;
        region.add_centre(centre_of(frame_, allowance_, -s.y));
        return Found::ball;
    }

private:
    /// An edge that is there already and is violated all the same is violated by rounding.
    static bool known(const Region& region, const Vector& edge) {
        for (Index i = 0; i < region.rows.rows(); ++i)
            if (region.ends(i) == 0.0 && (region.rows.row(i).transpose() - edge).norm() <= 1e-9) return true;
        return false;
    }

    const KineticFrame& frame_;
    const bool apart_;
    const Allowance& allowance_;
    WorkProgram programs_;
    double tolerance_, size_ = 0.0;
};

constexpr int most_cuts = 500;

/// Some contact of which no impulse changes anything goes into its obstacle.
bool hopeless(const KineticFrame& f, const ContactRows& rows) {
    for (Index i = 0; i < rows.normals.cols(); ++i)
        if (rows.normals.col(i).isZero(0.0) && rows.distance(i) < -f.noise) return true;
    return false;
}

const char* const no_velocity = "P+ is empty: no velocity leaves all contacts";

/// p − y as a nonnegative combination of the outward normals at y.
void check(const Region& region, const Vector& p, double size, NearestConsistent& result, const Vector& y) {
    std::vector<Vector> normals;
    result.violation = 0.0;
    for (Index i = 0; i < region.rows.rows(); ++i) {
        const double slack = region.rows.row(i).dot(y) - region.ends(i);
        result.violation = std::max(result.violation, -slack / size);
        if (slack <= 1e-9 * size) normals.emplace_back(-region.rows.row(i).transpose());
    }
    for (Index k = 0; k < region.centres.cols(); ++k) {
        const Vector outward = y - region.centres.col(k);
        const double over = 0.5 * y.squaredNorm() - region.centres.col(k).dot(y) - region.level;
        result.violation = std::max(result.violation, over / (size * size));
        if (over >= -1e-9 * size * size && outward.norm() > 0.0) normals.push_back(outward.normalized());
    }
    Matrix N(y.size(), static_cast<Index>(normals.size()));
    for (Index j = 0; j < N.cols(); ++j) N.col(j) = normals[static_cast<std::size_t>(j)];
    const Vector pull = p - y;
    const double length = pull.norm();
    result.optimality = length <= 1e-13 * size ? 0.0 : solvers::nonnegative_least_squares(N, pull).distance / length;
}

}  // namespace

bool Balls::empty() const {
    return std::any_of(balls.begin(), balls.end(), [](const Ball& b) { return b.radius_squared < 0.0; });
}

Balls consistency_balls(const FrictionlessCollision& c, const Allowance& allowance) {
    Balls result;
    const VelocityPolyhedron P = velocity_polyhedron(c);
    result.status = P.status;
    result.why = P.why;
    if (P.status != VelocityPolyhedron::Status::described) return result;
    const KineticFrame f = kinetic_frame(c);
    const auto upper = f.cholesky.transpose().triangularView<Eigen::Upper>();
    const double shift = allowance.external_work ? 1.0 : 0.5;
    for (Index k = 0; k < P.corner_points.cols(); ++k) {
        // ½‖u‖² − (b + π/2)·u <= ½‖z‖² − (b + π/2)·z + α, with ½(u + u⁻)·π more on the right where that is allowed.
        const Vector b = f.cholesky.transpose() * P.corner_points.col(k) + 0.5 * f.pi;
        const Vector centre = b + (shift - 0.5) * f.pi;
        double level = 0.5 * f.z.squaredNorm() - b.dot(f.z) + allowance.alpha;
        if (allowance.external_work) level += 0.5 * f.pi.dot(f.z - f.pi);
        result.balls.push_back(
            {upper.solve(centre), 2.0 * level + centre.squaredNorm(), P.contacts[static_cast<std::size_t>(k)]});
    }
    return result;
}

NearestConsistent nearest_consistent(const FrictionlessCollision& c, const Allowance& allowance, double tolerance) {
    expect_consistent_sizes(c, true);
    const KineticFrame f = kinetic_frame(c);
    if (f.valid) return nearest_in_frame(f, {f.normals, f.distance}, c.u_plus, allowance, tolerance);
    NearestConsistent result;
    result.why = f.why;
    return result;
}

NearestConsistent nearest_in_frame(const KineticFrame& f, const ContactRows& rows, const Vector& u_plus,
                                   const Allowance& allowance, double tolerance) {
    NearestConsistent result;
    result.status = Status::empty;
    result.why = no_velocity;
    if (hopeless(f, rows)) return result;
    Region region = kinematic_region(f, rows, allowance);
    Separation separation(f, rows.apart, allowance, tolerance);
    const Vector p = f.coordinates(u_plus);
    for (int cut = 0; cut < most_cuts; ++cut) {
        const std::optional<Vector> y = nearest(region, p);
        if (!y) {
            result.why = region.centres.cols() == 0 ? no_velocity : "every compatible velocity needs more contact work";
            return result;
        }
        switch (separation.at(*y, region)) {
            case Separation::Found::edge:
            case Separation::Found::ball: continue;
            case Separation::Found::no_velocity: return result;
            case Separation::Found::failure:
                result.status = Status::stalled;
                result.why = "a program of the contact work was not solved";
                return result;
            case Separation::Found::no_limit:
            case Separation::Found::nothing: break;
        }
        result.status = Status::found;
        result.why.clear();
        result.u = f.velocity(*y);
        result.distance = f.norm(u_plus - result.u);
        result.corner_points = static_cast<int>(region.centres.cols());
        check(region, p, separation.size(*y) + (p - *y).norm(), result, *y);
        return result;
    }
    result.status = Status::stalled;
    result.why = "too many corner points had to be taken into account";
    return result;
}

LeastWork least_contact_work(const FrictionlessCollision& c, bool external_work, double tolerance) {
    const KineticFrame f = kinetic_frame(c);
    if (f.valid) return least_work_in_frame(f, {f.normals, f.distance}, external_work, tolerance);
    LeastWork result;
    result.why = f.why;
    return result;
}

LeastWork least_work_in_frame(const KineticFrame& f, const ContactRows& rows, bool external_work, double tolerance) {
    LeastWork result;
    const Allowance allowance{0.0, external_work};
    Region region = kinematic_region(f, rows, allowance);
    Separation separation(f, rows.apart, allowance, tolerance);
    Vector y;
    const Separation::Found start = hopeless(f, rows) ? Separation::Found::no_velocity : separation.start(region, y);
    if (start == Separation::Found::no_limit) {
        result.status = Status::found;
        result.u = f.velocity(y);
        result.work = -std::numeric_limits<double>::infinity();
        return result;
    }
    result.status = start == Separation::Found::failure ? Status::stalled : Status::empty;
    result.why = start == Separation::Found::failure ? "a program of the contact work was not solved" : no_velocity;
    if (start != Separation::Found::ball) return result;
    const double zero = region.level;
    for (int cut = 0; cut < most_cuts; ++cut) {
        const std::optional<Vector> low = lowest(region);
        if (!low) return result;
        // The level that the point is at: balls that it exceeds there are those that are missing.
        region.level = zero;
        const double excess = region.excess(*low);
        region.level = zero + excess;
        const Separation::Found found = separation.at(*low, region);
        region.level = zero;
        if (found == Separation::Found::edge || found == Separation::Found::ball) continue;
        if (found == Separation::Found::no_velocity || found == Separation::Found::no_limit) return result;
        result.status = found == Separation::Found::failure ? Status::stalled : Status::found;
        if (result.status == Status::found) result.why.clear();
        result.u = f.velocity(*low);
        result.work = excess;
        return result;
    }
    result.status = Status::stalled;
    result.why = "too many corner points had to be taken into account";
    return result;
}

}  // namespace saltus::impact
