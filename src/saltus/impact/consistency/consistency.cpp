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

/// Relative tolerances of the cutting planes.
constexpr double repeated_ball = 1e-9;  // a new ball must be violated by more than this beyond the known ones
constexpr double repeated_edge = 1e-9;  // distance of the unit normals of two edges that count as one
constexpr double active_bound = 1e-9;   // slack of an inequality that counts as active in the check of optimality
constexpr double at_the_point = 1e-13;  // ‖p − y‖ below which u⁺ itself is consistent

/// Each cut adds one edge or one ball. A few dozen suffice in practice; beyond this number the search is given up.
constexpr int max_cuts = 500;

/// Cutting planes. At a point y, the linear program of the contact work finds an inequality of the consistency set that
/// the region lacks and that y violates: an edge of the cone of impulses if no impulses lead to y (Farkas'
/// certificate), a ball if the least work at y exceeds the allowance (the dual solution is a corner point).
class Separation {
public:
    enum class Found {
        nothing,      ///< y is in the consistency set
        edge,         ///< an edge was added
        ball,         ///< a ball was added
        no_velocity,  ///< P⁺ is empty
        no_limit,     ///< the work has no lower bound, so every allowance is met
        failure       ///< the program was not solved
    };

    Separation(const KineticFrame& frame, const ContactRows& rows, const Allowance& allowance, double tolerance)
        : frame_(frame),
          differ_from_frame_(rows.differ_from_frame),
          allowance_(allowance),
          programs_(frame),
          tolerance_(tolerance) {
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
            // y is outside the cone by rounding only: take the work of the nearest point inside.
            const Vector inside = frame_.normals * solvers::nonnegative_least_squares(frame_.normals, y).x;
            s = &programs_.solve(inside, 1.0);
        }
        if (s->status == solvers::ProgramStatus::unbounded)
            return differ_from_frame_ ? Found::no_limit : Found::no_velocity;
        if (!usable(s->status)) return Found::failure;
        const Vector centre = centre_of(frame_, allowance_, -s->y);
        const double excess = 0.5 * y.squaredNorm() - centre.dot(y) - region.level;
        // A ball that the region has already, and that y violates by rounding, is not added again.
        const double small = (tolerance_ * size(y) + frame_.noise) * (size(y) + frame_.noise);
        if (excess <= small || excess <= region.excess(y) * (1.0 + repeated_ball)) return Found::nothing;
        region.add_centre(centre);
        return Found::ball;
    }

    /// A first ball, at the point of P⁺ nearest to the origin: Moreau's inelastic collision. Sets y to that point.
    Found start(Region& region, Vector& y) {
        const solvers::LeastDistance moreau =
            solvers::least_distance(region.rows, region.ends, Vector::Zero(frame_.rank()));
        if (!moreau.feasible) return Found::no_velocity;
        y = moreau.x;
        const solvers::ProgramSolution& s =
            programs_.solve(frame_.normals * solvers::nonnegative_least_squares(frame_.normals, y).x, 1.0);
        if (s.status == solvers::ProgramStatus::unbounded)
            return differ_from_frame_ ? Found::no_limit : Found::no_velocity;
        if (!usable(s.status)) return Found::failure;
        region.add_centre(centre_of(frame_, allowance_, -s.y));
        return Found::ball;
    }

private:
    /// Whether the region has the edge already. If y violates it nevertheless, it does so by rounding.
    static bool known(const Region& region, const Vector& edge) {
        for (Index i = 0; i < region.rows.rows(); ++i)
            if (region.ends(i) == 0.0 && (region.rows.row(i).transpose() - edge).norm() <= repeated_edge) return true;
        return false;
    }

    const KineticFrame& frame_;
    const bool differ_from_frame_;
    const Allowance& allowance_;
    WorkProgram programs_;
    double tolerance_, size_ = 0.0;
};

/// Whether some contact penetrates that no impulse can influence.
bool penetrates_anyway(const KineticFrame& f, const ContactRows& rows) {
    for (Index i = 0; i < rows.normals.cols(); ++i)
        if (rows.normals.col(i).isZero(0.0) && rows.distance(i) < -f.noise) return true;
    return false;
}

const char* const no_velocity = "P+ is empty: no velocity leaves all contacts";

/// Checks the projection y of p: p − y must be a nonnegative combination of the outward normals of the active bounds at
/// y.
void check(const Region& region, const Vector& p, double size, NearestConsistent& result, const Vector& y) {
    std::vector<Vector> normals;
    result.violation = 0.0;
    for (Index i = 0; i < region.rows.rows(); ++i) {
        const double slack = region.rows.row(i).dot(y) - region.ends(i);
        result.violation = std::max(result.violation, -slack / size);
        if (slack <= active_bound * size) normals.emplace_back(-region.rows.row(i).transpose());
    }
    for (Index k = 0; k < region.centres.cols(); ++k) {
        const Vector outward = y - region.centres.col(k);
        const double over = 0.5 * y.squaredNorm() - region.centres.col(k).dot(y) - region.level;
        result.violation = std::max(result.violation, over / (size * size));
        if (over >= -active_bound * size * size && outward.norm() > 0.0) normals.push_back(outward.normalized());
    }
    Matrix N(y.size(), static_cast<Index>(normals.size()));
    for (Index j = 0; j < N.cols(); ++j) N.col(j) = normals[static_cast<std::size_t>(j)];
    const Vector pull = p - y;
    const double length = pull.norm();
    result.optimality =
        length <= at_the_point * size ? 0.0 : solvers::nonnegative_least_squares(N, pull).distance / length;
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
        // ‖u − b'‖² <= 2α + ‖z − b'‖² with b' = b + π/2 is ½‖u‖² − b'·u <= ½‖z‖² − b'·z + α. If the external work
        // ½(u + u⁻)·π is allowed too, it is added on the right, which moves the centre by π/2 (Allowance).
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
    expect_consistent_sizes(c, Reads::u_minus_and_u_plus);
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
    if (penetrates_anyway(f, rows)) return result;
    Region region = kinematic_region(f, rows, allowance);
    Separation separation(f, rows, allowance, tolerance);
    const Vector p = f.coordinates(u_plus);
    for (int cut = 0; cut < max_cuts; ++cut) {
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
    const Allowance allowance{.external_work = external_work};
    Region region = kinematic_region(f, rows, allowance);
    Separation separation(f, rows, allowance, tolerance);
    Vector y;
    const Separation::Found start =
        penetrates_anyway(f, rows) ? Separation::Found::no_velocity : separation.start(region, y);
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
    for (int cut = 0; cut < max_cuts; ++cut) {
        const std::optional<Vector> low = lowest(region);
        if (!low) return result;
        // Raise the level to the excess of the point. A ball that the point violates at this level is missing.
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
