// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/velocity_polyhedron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "saltus/base/decompositions.hpp"
#include "saltus/solvers/program/least_distance.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using PolyhedronStatus = VelocityPolyhedron::Status;

/// Relative tolerance of the geometry: an inequality n·y + d >= 0 holds, or holds with equality, up to this times
/// |d| + ‖y‖; unit vectors are dependent if the orthogonal remainder is <= this.
constexpr double geometry_tolerance = 1e-10;

/// Two points are equal if their distance is <= this times their size. It is larger than the tolerance above, because a
/// point that is defined by other hyperplanes has errors of this size.
constexpr double equal_points = 10.0 * geometry_tolerance;

/// The binomial coefficient n over k, as a double because it may be large.
double subsets(Index n, Index k) {
    double count = 1.0;
    for (Index i = 0; i < k; ++i) count *= static_cast<double>(n - i) / static_cast<double>(i + 1);
    return count;
}

/// { y : n_i·y + d_i >= 0 } with unit n_i that span, so that it has corner points if it is not empty.
struct Pointed {
    const Matrix& normals;
    const Vector& distance;
    std::vector<Index> rows{};  ///< those with n_i ≠ 0

    Pointed(const Matrix& n, const Vector& d) : normals(n), distance(d) {
        for (Index i = 0; i < n.cols(); ++i)
            if (n.col(i).squaredNorm() > 0.0) rows.push_back(i);
    }
    Index rank() const { return normals.rows(); }

    double tolerance(Index i, double size) const { return geometry_tolerance * (std::abs(distance(i)) + size); }
    double value(Index i, const Vector& y) const { return normals.col(i).dot(y) + distance(i); }
    bool contains(const Vector& y) const {
        const double size = y.norm();
        for (Index i = 0; i < normals.cols(); ++i)
            if (value(i, y) < -tolerance(i, size)) return false;
        return true;
    }
    bool recedes(const Vector& direction) const {
        for (const Index i : rows)
            if (normals.col(i).dot(direction) < -geometry_tolerance) return false;
        return true;
    }
    std::vector<int> active(const Vector& y) const {
        std::vector<int> list;
        const double size = y.norm();
        for (const Index i : rows)
            if (std::abs(value(i, y)) <= tolerance(i, size)) list.push_back(static_cast<int>(i));
        return list;
    }
};

/// Visits every set of `count` independent normals, with an orthonormal basis of them and the point of their
/// hyperplanes that is nearest to the origin.
class Subsets {
public:
    using Visit = std::function<void(const Matrix& basis, const Vector& point)>;

    Subsets(const Pointed& set, Index count, Visit visit)
        : set_(set), count_(count), visit_(std::move(visit)), basis_(set.rank(), count) {}

    void visit_all() { extend(0, 0, Vector::Zero(set_.rank())); }

private:
    void extend(Index level, std::size_t from, const Vector& point) {
        if (level == count_) {
            visit_(basis_, point);
            return;
        }
        const auto left = static_cast<std::size_t>(count_ - level);
        for (std::size_t k = from; k + left <= set_.rows.size(); ++k) {
            const Index i = set_.rows[k];
            Vector rest = set_.normals.col(i);
            for (int pass = 0; pass < 2; ++pass)
                rest -= basis_.leftCols(level) * (basis_.leftCols(level).transpose() * rest).eval();
            const double length = rest.norm();
            if (length <= geometry_tolerance) continue;
            basis_.col(level) = rest / length;
            extend(level + 1, k + 1, point - basis_.col(level) * (set_.value(i, point) / length));
        }
    }

    const Pointed& set_;
    Index count_;
    Visit visit_;
    Matrix basis_;
};

/// Improves a corner point: the least-squares point of all hyperplanes through it, not only of those that defined it.
Vector sharpened(const Pointed& set, const Vector& y) {
    const std::vector<int> active = set.active(y);
    Matrix rows(static_cast<Index>(active.size()), set.rank());
    Vector ends(rows.rows());
    for (Index k = 0; k < rows.rows(); ++k) {
        rows.row(k) = set.normals.col(active[static_cast<std::size_t>(k)]).transpose();
        ends(k) = -set.value(active[static_cast<std::size_t>(k)], y);
    }
    return y + least_squares(rows, ends);
}

bool among(const std::vector<Vector>& list, const Vector& y, double size) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Vector& x) { return (x - y).norm() <= equal_points * size; });
}

Matrix columns_of(const std::vector<Vector>& list, Index rows) {
    Matrix A(rows, static_cast<Index>(list.size()));
    for (Index j = 0; j < A.cols(); ++j) A.col(j) = list[static_cast<std::size_t>(j)];
    return A;
}

Matrix corners_of(const Pointed& set) {
    std::vector<Vector> found;
    const double spread = set.distance.size() == 0 ? 0.0 : set.distance.cwiseAbs().maxCoeff();
    Subsets(set, set.rank(), [&](const Matrix&, const Vector& point) {
        if (!set.contains(point) || among(found, point, point.norm() + spread)) return;
        found.push_back(sharpened(set, point));
    }).visit_all();
    return columns_of(found, set.rank());
}

Matrix rays_of(const Pointed& set) {
    std::vector<Vector> found;
    if (set.rank() == 0) return Matrix(0, 0);
    Subsets(set, set.rank() - 1, [&](const Matrix& basis, const Vector&) {
        // The direction orthogonal to the basis: the remainder of the unit vector whose remainder is largest.
        Matrix rest = Matrix::Identity(set.rank(), set.rank()) - basis * basis.transpose();
        Index best = 0;
        rest.colwise().norm().maxCoeff(&best);
        Vector direction = rest.col(best).normalized();
        direction -= basis * (basis.transpose() * direction).eval();
        direction.normalize();
        for (const double sign : {1.0, -1.0}) {
            const Vector ray = sign * direction;
            if (set.recedes(ray) && !among(found, ray, 1.0)) found.push_back(ray);
        }
    }).visit_all();
    return columns_of(found, set.rank());
}

/// Contacts whose n·y + d >= 0 follows from the remaining ones: n = Σ n_jλ_j with λ >= 0 and Σ d_jλ_j <= d. (Farkas)
std::vector<int> redundant_rows(const Pointed& set) {
    std::vector<int> redundant;
    std::vector<Index> kept;
    for (Index i = 0; i < set.normals.cols(); ++i) kept.push_back(i);
    for (Index i = set.normals.cols() - 1; i >= 0; --i) {
        std::vector<Index> others;
        for (const Index j : kept)
            if (j != i) others.push_back(j);
        solvers::LinearProgram program;
        program.A.resize(set.rank(), static_cast<Index>(others.size()));
        program.c.resize(program.A.cols());
        program.b = set.normals.col(i);
        for (Index k = 0; k < program.A.cols(); ++k) {
            program.A.col(k) = set.normals.col(others[static_cast<std::size_t>(k)]);
            program.c(k) = set.distance(others[static_cast<std::size_t>(k)]);
        }
        const solvers::ProgramSolution s = solve(program);
        const double size = std::abs(set.distance(i)) + program.c.cwiseAbs().dot(s.x);
        if (!usable(s.status) || s.value > set.distance(i) + geometry_tolerance * size) continue;
        redundant.insert(redundant.begin(), static_cast<int>(i));
        kept = std::move(others);
    }
    return redundant;
}

/// Λ >= 0 with Σ n_iΛ_i = 0 and Σ d_iΛ_i < 0; empty if there is none. Such a Λ exists if and only if no y fulfils
/// n_i·y + d_i >= 0 for all i (Farkas).
Vector closing_impulses(const Matrix& normals, const Vector& distance) {
    solvers::LinearProgram program{normals, Vector::Zero(normals.rows()), distance, {}, {}};
    const solvers::ProgramSolution s = solve(program);
    return s.status == solvers::ProgramStatus::unbounded ? s.certificate : Vector();
}

Matrix from_frame(const KineticFrame& f, const Matrix& directions) {
    if (directions.cols() == 0) return Matrix(f.cholesky.rows(), 0);
    return f.cholesky.transpose().triangularView<Eigen::Upper>().solve(f.basis * directions);
}

/// M-orthonormal basis of the velocities that change neither a contact nor a bilateral constraint.
Matrix lineality_of(const KineticFrame& f) {
    const Index n = f.cholesky.rows();
    Matrix held(n, f.basis.cols() + f.bilateral.cols());
    held << f.basis, f.bilateral;
    if (held.cols() == n || n == 0) return Matrix(n, 0);
    Matrix Q = Matrix::Identity(n, n);
    if (held.cols() > 0) Q = orthogonal_factors(held).Q;
    return f.cholesky.transpose().triangularView<Eigen::Upper>().solve(Q.rightCols(n - held.cols()));
}

}  // namespace

std::vector<int> redundant_contacts(const KineticFrame& frame) {
    return redundant_rows(Pointed(frame.normals, frame.distance));
}

VelocityPolyhedron velocity_polyhedron(const FrictionlessCollision& collision, Side side) {
    VelocityPolyhedron p;
    const KineticFrame f = kinetic_frame(collision);
    if (!f.valid) {
        p.why = f.why;
        return p;
    }
    const double sign = side == Side::plus ? 1.0 : -1.0;
    const Matrix normals = sign * f.normals;
    const Vector distance = sign * f.distance;
    const Pointed set(normals, distance);
    p.lineality = lineality_of(f);
    if (const Vector closing = closing_impulses(normals, distance); closing.size() > 0) {
        p.status = PolyhedronStatus::empty;
        p.closing = closing.cwiseQuotient(f.scale);
        p.why = fmt::format("no velocity {} all contacts at once", side == Side::plus ? "leaves" : "approaches");
        return p;
    }
    const double work = subsets(static_cast<Index>(set.rows.size()), set.rank()) * static_cast<double>(normals.cols());
    if (work > max_subset_work) {
        p.status = PolyhedronStatus::too_large;
        p.why = fmt::format(
            "{} contacts in {} directions have too many corner points to list; the linear programs "
            "give every answer that needs only one of them",
            normals.cols(), set.rank());
        return p;
    }
    p.corner_coordinates = corners_of(set);
    p.ray_coordinates = rays_of(set);
    if (p.corner_coordinates.cols() == 0) {
        // The program found a point, but no corner point passes the tolerance: the polyhedron is thinner than that.
        p.status = PolyhedronStatus::empty;
        p.why = "the polyhedron is thinner than the rounding errors";
        return p;
    }
    p.status = PolyhedronStatus::described;
    p.corner_points.resize(collision.M.rows(), p.corner_coordinates.cols());
    for (Index k = 0; k < p.corner_points.cols(); ++k) {
        p.corner_points.col(k) = f.representative(p.corner_coordinates.col(k));
        p.contacts.push_back(set.active(p.corner_coordinates.col(k)));
    }
    p.rays = from_frame(f, p.ray_coordinates);
    p.redundant = redundant_rows(set);
    return p;
}

TangentCone tangent_cone(const FrictionlessCollision& collision) {
    TangentCone t;
    const KineticFrame f = kinetic_frame(collision);
    if (!f.valid) return t;
    const Vector no_distance = Vector::Zero(f.normals.cols());
    const Pointed set(f.normals, no_distance);
    t.lineality = lineality_of(f);
    // Leave out each generator that is a nonnegative combination of the others; of two equal ones the later.
    std::vector<Index> kept = set.rows;
    for (std::size_t k = kept.size(); k-- > 0;) {
        std::vector<Index> others = kept;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
        Matrix A(set.rank(), static_cast<Index>(others.size()));
        for (Index j = 0; j < A.cols(); ++j) A.col(j) = f.normals.col(others[static_cast<std::size_t>(j)]);
        if (solvers::nonnegative_least_squares(A, f.normals.col(kept[k])).distance <= geometry_tolerance)
            kept = std::move(others);
    }
    for (const Index i : kept) t.polar_contacts.push_back(static_cast<int>(i));
    for (Index i = collision.contacts(); i < collision.directions.cols(); ++i)
        t.polar_contacts.insert(t.polar_contacts.end(), 2, static_cast<int>(i));
    t.polar_generators.resize(collision.M.rows(), static_cast<Index>(t.polar_contacts.size()));
    for (Index k = 0; k < t.polar_generators.cols(); ++k) {
        const Index i = t.polar_contacts[static_cast<std::size_t>(k)];
        const bool other_sign = k > 0 && t.polar_contacts[static_cast<std::size_t>(k - 1)] == i;
        const Vector x = f.cholesky.triangularView<Eigen::Lower>().solve(collision.directions.col(i));
        t.polar_generators.col(k) = f.cholesky.transpose().triangularView<Eigen::Upper>().solve(other_sign ? x : -x);
    }
    if (subsets(static_cast<Index>(set.rows.size()), set.rank()) * static_cast<double>(set.rows.size()) >
        max_subset_work) {
        t.status = PolyhedronStatus::too_large;
        return t;
    }
    t.status = PolyhedronStatus::described;
    t.ray_coordinates = rays_of(set);
    t.rays = from_frame(f, t.ray_coordinates);
    return t;
}

}  // namespace saltus::impact
