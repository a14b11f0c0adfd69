// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/detail/region.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/numbers.hpp"
#include "saltus/solvers/program/least_distance.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// A row counts as active if its multiplier exceeds this times the largest one; smaller multipliers are rounding. A
/// wrong choice costs bisection steps, not accuracy: it only proposes the next θ of nearest_in_cell.
constexpr double active_multiplier = 1e-12;

/// Bisection steps at most; 52 halve the interval [0, 1] down to rounding, and the secants need fewer.
constexpr int max_bisections = 200;

/// The rows of the polyhedron, and the rows (c_j − c_k)·y >= 0 of the cell of points at which ball k is the tightest.
struct Cell {
    Matrix rows;
    Vector ends;

    Cell(const Region& region, Index k) {
        std::vector<Vector> cuts;
        for (Index j = 0; j < region.centres.cols(); ++j) {
            const Vector cut = region.centres.col(j) - region.centres.col(k);
            const double size = region.centres.col(j).norm() + region.centres.col(k).norm();
            if (cut.norm() > 8.0 * epsilon * size) cuts.push_back(cut.normalized());
        }
        rows.resize(region.rows.rows() + static_cast<Index>(cuts.size()), region.dimension());
        ends = Vector::Zero(rows.rows());
        rows.topRows(region.rows.rows()) = region.rows;
        ends.head(region.rows.rows()) = region.ends;
        for (Index i = 0; i < static_cast<Index>(cuts.size()); ++i)
            rows.row(region.rows.rows() + i) = cuts[static_cast<std::size_t>(i)].transpose();
    }
};

/// Orthogonal projection onto the rows that are active (with a positive multiplier). On one face it is an affine map.
class Face {
public:
    Face(const Matrix& rows, const Vector& ends, const Vector& multipliers) {
        std::vector<Index> active;
        const double largest = multipliers.size() == 0 ? 0.0 : multipliers.maxCoeff();
        for (Index i = 0; i < multipliers.size(); ++i)
            if (multipliers(i) > active_multiplier * largest) active.push_back(i);
        rows_.resize(static_cast<Index>(active.size()), rows.cols());
        ends_.resize(rows_.rows());
        for (Index k = 0; k < rows_.rows(); ++k) {
            rows_.row(k) = rows.row(active[static_cast<std::size_t>(k)]);
            ends_(k) = ends(active[static_cast<std::size_t>(k)]);
        }
    }
    Vector onto(const Vector& p) const {
        if (rows_.rows() == 0) return p;
        const auto factors = rows_.completeOrthogonalDecomposition();
        Vector y = p + factors.solve(ends_ - rows_ * p);
        y += factors.solve(ends_ - rows_ * y);  // removes the rounding error of the first correction
        return y;
    }

private:
    Matrix rows_;
    Vector ends_;
};

/// The root θ in [low, high] of ‖a + θ(b − a) − c‖ = R; NaN if there is none. With d = b − a and e = a − c this is
/// A θ² + 2 B θ + C = 0, A = d·d, B = e·d, C = e·e − R². The roots are q/A and C/q with q = −(B ± √(B² − A C)), where
/// the sign of the root is that of B, so that nothing cancels.
double crossing(const Vector& a, const Vector& b, const Vector& c, double radius_squared, double low, double high) {
    const Vector d = b - a, e = a - c;
    const double A = d.squaredNorm(), B = e.dot(d), C = e.squaredNorm() - radius_squared;
    const double discriminant = B * B - A * C;
    if (!(A > 0.0) || discriminant < 0.0) return std::numeric_limits<double>::quiet_NaN();
    const double q = -(B + std::copysign(std::sqrt(discriminant), B));
    for (const double root : {q / A, q == 0.0 ? infinity : C / q})
        if (root >= low && root <= high) return root;
    return std::numeric_limits<double>::quiet_NaN();
}

/// The point nearest to p in the intersection of a polyhedron and one ball. With a multiplier μ >= 0 of the ball, the
/// solution is the projection of (p + μc)/(1 + μ) onto the polyhedron. That point moves from p (θ = 0) to the centre c
/// (θ = 1) with θ = μ/(1 + μ); its projection moves along a polygonal line and approaches c monotonically. The solution
/// is where the line enters the ball. On each face the line is straight, so the entry is the root of a quadratic;
/// bisection in θ finds the face.
std::optional<Vector> nearest_in_cell(const Matrix& rows, const Vector& ends, const Vector& centre, double level,
                                      const Vector& p) {
    const double radius_squared = 2.0 * level + centre.squaredNorm();
    const double noise = 64.0 * epsilon * (2.0 * std::abs(level) + centre.squaredNorm());
    const auto slid = [&](double theta) { return Vector((1.0 - theta) * p + theta * centre); };
    const auto excess = [&](const Vector& y) { return (y - centre).squaredNorm() - radius_squared; };
    const solvers::LeastDistance near = solvers::least_distance(rows, ends, p);
    if (!near.feasible) return std::nullopt;
    if (excess(near.x) <= noise) return near.x;
    const solvers::LeastDistance inmost = solvers::least_distance(rows, ends, centre);
    if (!inmost.feasible || excess(inmost.x) > noise) return std::nullopt;
    if (excess(inmost.x) >= -noise) return inmost.x;
    double low = 0.0, high = 1.0;
    Vector inside = inmost.x;
    double theta = 0.5;
    for (int round = 0; round < max_bisections; ++round) {
        const solvers::LeastDistance at = solvers::least_distance(rows, ends, slid(theta));
        const double over = excess(at.x);
        if (std::abs(over) <= noise) return at.x;
        if (over > 0.0)
            low = theta;
        else
            high = theta, inside = at.x;
        const Face face(rows, ends, at.multipliers);
        if (high - low <= 4.0 * epsilon) break;
        const double root = crossing(face.onto(p), face.onto(centre), centre, radius_squared, low, high);
        theta = root > low && root < high && root != theta ? root : 0.5 * (low + high);
    }
    return inside;
}

}  // namespace

void Region::add_row(const Vector& row, double end) {
    rows.conservativeResize(rows.rows() + 1, dimension());
    rows.row(rows.rows() - 1) = row.transpose();
    ends.conservativeResize(rows.rows());
    ends(rows.rows() - 1) = end;
}

void Region::add_centre(const Vector& centre) {
    centres.conservativeResize(dimension(), centres.cols() + 1);
    centres.col(centres.cols() - 1) = centre;
}

double Region::excess(const Vector& y) const {
    if (centres.cols() == 0) return -infinity;
    return 0.5 * y.squaredNorm() - (centres.transpose() * y).minCoeff() - level;
}

Region kinematic_region(const KineticFrame& f, const Allowance& allowance) {
    return kinematic_region(f, {f.normals, f.distance}, allowance);
}

Region kinematic_region(const KineticFrame& f, const ContactRows& contacts, const Allowance& allowance) {
    Region region;
    region.rows.resize(0, f.rank());
    region.centres.resize(f.rank(), 0);
    // If the rows leave a single point, rounding can make them inconsistent. So they are relaxed by the rounding error
    // of one row, a small part of the frame's noise.
    const double relaxed = f.noise / 64.0;
    for (Index i = 0; i < contacts.normals.cols(); ++i)
        if (contacts.normals.col(i).squaredNorm() > 0.0)
            region.add_row(contacts.normals.col(i), -contacts.distance(i) - relaxed);
    region.level = allowance.alpha - f.work_offset;
    // The external work ½(u⁺ + u⁻)ᵀP is ½π·(origin + Q y + z − π). Its constant part is added here. The part that is
    // linear in y moves the centres of the balls (centre_of).
    if (allowance.external_work) region.level += 0.5 * f.pi.dot(f.origin + f.z - f.pi);
    return region;
}

Vector centre_of(const KineticFrame& f, const Allowance& allowance, const Vector& eta) {
    return eta + (allowance.external_work ? 2.0 : 1.0) * f.half_impulse;
}

std::optional<Vector> nearest(const Region& region, const Vector& p) {
    const solvers::LeastDistance plain = solvers::least_distance(region.rows, region.ends, p);
    if (!plain.feasible) return std::nullopt;
    if (!(region.excess(plain.x) > 0.0)) return plain.x;
    std::optional<Vector> best;
    for (Index k = 0; k < region.centres.cols(); ++k) {
        const Cell cell(region, k);
        const auto y = nearest_in_cell(cell.rows, cell.ends, region.centres.col(k), region.level, p);
        if (y && (!best || (*y - p).squaredNorm() < (*best - p).squaredNorm())) best = y;
    }
    return best;
}

std::optional<Vector> lowest(const Region& region) {
    std::optional<Vector> best;
    for (Index k = 0; k < region.centres.cols(); ++k) {
        const Cell cell(region, k);
        const solvers::LeastDistance y = solvers::least_distance(cell.rows, cell.ends, region.centres.col(k));
        if (y.feasible && (!best || region.excess(y.x) < region.excess(*best))) best = y.x;
    }
    return best;
}

}  // namespace saltus::impact
