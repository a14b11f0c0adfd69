// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/kinetic_frame.hpp"

#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// Bound of the rounding errors of a length in the frame, relative to the sum of all lengths that enter: some thousand
/// operations (factorisation, orthogonalisation, projection).
constexpr double frame_rounding = 4096.0 * epsilon;

}  // namespace

Matrix orthonormal_span(Matrix columns) {
    for (Index j = 0; j < columns.cols(); ++j)
        if (const double length = columns.col(j).norm(); length > 0.0) columns.col(j) /= length;
    if (columns.rows() == 0 || columns.cols() == 0 || columns.isZero(0.0)) return Matrix(columns.rows(), 0);
    return orthonormal_range(columns, dependence_tolerance);
}

Vector KineticFrame::coordinates(const Vector& u) const {
    const Vector x = cholesky.transpose() * u;
    return basis.transpose() * (x - origin);
}

Vector KineticFrame::velocity(const Vector& y) const {
    const Vector x = origin + basis * y;
    return cholesky.transpose().triangularView<Eigen::Upper>().solve(x);
}

Vector KineticFrame::representative(const Vector& y) const {
    // Zero along the directions outside the frame; along the bilateral ones the velocity that they prescribe.
    Vector x = basis * (basis.transpose() * origin + y);
    x += bilateral * (bilateral.transpose() * origin);
    return cholesky.transpose().triangularView<Eigen::Upper>().solve(x);
}

double KineticFrame::norm(const Vector& u) const { return (cholesky.transpose() * u).norm(); }

KineticFrame kinetic_frame(const FrictionlessCollision& c) {
    expect_consistent_sizes(c, Reads::u_minus);
    KineticFrame f;
    const Index n = c.M.rows(), m = c.contacts();
    if (!c.M.allFinite() || !c.directions.allFinite() || !c.chi.allFinite() || !c.u_minus.allFinite() ||
        !c.impulse.allFinite()) {
        f.why = "the collision holds a number that is not finite";
        return f;
    }
    const Cholesky factor(c.M);
    if (!factor.positive_definite()) {
        f.why = "the mass matrix is not positive definite";
        return f;
    }
    f.valid = true;
    f.cholesky = factor.lower();
    const auto lower = f.cholesky.triangularView<Eigen::Lower>();
    f.pi = c.impulse.size() == 0 ? Vector(Vector::Zero(n)) : Vector(lower.solve(c.impulse));
    f.z = f.cholesky.transpose() * c.u_minus + f.pi;

    Matrix A = c.directions.cols() == 0 ? Matrix(n, 0) : Matrix(lower.solve(c.directions));
    const Matrix B = A.rightCols(c.bilateral);
    f.bilateral = orthonormal_span(B);
    f.origin = f.z;
    if (c.bilateral > 0) {
        Vector gamma = B.transpose() * f.z;
        if (c.chi.size() > 0) gamma += c.chi.tail(c.bilateral);
        f.origin -= least_squares(B.transpose(), gamma);
    }
    // w₀: with push = origin − z, ½‖x − b‖² − ½‖z − b‖² at x = origin equals ½‖push‖² + push·(z − b). The corner points
    // b and the origin fulfil the bilateral constraints, and push is orthogonal to every difference of two such points:
    // push·(b − origin) = 0.
    // So the difference is −½‖push‖²; the shift b + π/2 adds −½π·push.
    const Vector push = f.origin - f.z;
    f.work_offset = -0.5 * push.squaredNorm() - 0.5 * f.pi.dot(push);

    Vector gamma = A.leftCols(m).transpose() * f.origin;
    Vector terms = A.leftCols(m).cwiseAbs().transpose() * f.origin.cwiseAbs();
    if (c.chi.size() > 0) {
        gamma += c.chi.head(m);
        terms += c.chi.head(m).cwiseAbs();
    }
    for (Index i = 0; i < m; ++i)
        if (std::abs(gamma(i)) <= cancellation * terms(i)) gamma(i) = 0.0;
    const Vector full_length = A.leftCols(m).colwise().norm();
    for (int pass = 0; pass < 2; ++pass)
        A.leftCols(m) -= f.bilateral * (f.bilateral.transpose() * A.leftCols(m)).eval();
    // If the bilateral constraints keep a contact from moving, then its impulse has no effect.
    for (Index i = 0; i < m; ++i)
        if (A.col(i).norm() <= dependence_tolerance * full_length(i)) A.col(i).setZero();
    f.basis = orthonormal_span(A.leftCols(m));
    // If the frame has all directions, make it right-handed: what is counter-clockwise in the frame is then also
    // counter-clockwise in u.
    if (f.rank() == n && n > 0 && determinant(f.basis) < 0.0) f.basis.col(0) *= -1.0;
    f.normals = f.basis.transpose() * A.leftCols(m);
    f.scale = f.normals.colwise().norm();
    for (Index i = 0; i < m; ++i) {
        if (f.scale(i) > 0.0)
            f.normals.col(i) /= f.scale(i);
        else
            f.scale(i) = 1.0;
    }
    f.distance = gamma.cwiseQuotient(f.scale);
    f.half_impulse = 0.5 * (f.basis.transpose() * f.pi);
    const double fastest = m == 0 ? 0.0 : f.distance.cwiseAbs().maxCoeff();
    f.noise = frame_rounding * (f.z.norm() + f.origin.norm() + f.pi.norm() + fastest);
    return f;
}

}  // namespace saltus::impact
