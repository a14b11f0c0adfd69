// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/work/detail/frictional_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/solvers/program/least_distance.hpp"

namespace saltus::impact {

using Eigen::Index;
using solvers::LawKind;

namespace {

/// Bound of the rounding errors of a length, relative to the lengths that enter; as in KineticFrame.
constexpr double frame_rounding = 4096.0 * std::numeric_limits<double>::epsilon();

}  // namespace

FrictionalProgram::FrictionalProgram(const FrictionalCollision& c, const ConeForm& form)
    : c_(c), form_(form), factors_(c.M) {
    if (!factors_.positive_definite()) return;
    valid = true;
    L_ = factors_.lower();
    const auto lower = L_.triangularView<Eigen::Lower>();
    pi_ = c.impulse.size() == 0 ? Vector(Vector::Zero(c.M.rows())) : Vector(lower.solve(c.impulse));
    jump = L_.transpose() * (c.u_plus - c.u_minus) - pi_;
    noise = frame_rounding * ((L_.transpose() * c.u_plus).norm() + (L_.transpose() * c.u_minus).norm() + pi_.norm());
    A_ = c.directions.cols() == 0 ? Matrix(c.M.rows(), 0) : Matrix(lower.solve(c.directions));
    bilateral();
    reduce();
}

void FrictionalProgram::bilateral() {
    each_block(c_, [&](std::size_t k, Index row) {
        if (c_.laws[k].kind == LawKind::bilateral)
            for (int i = 0; i < c_.sizes[k]; ++i) bilateral_rows_.push_back(row + i);
    });
    B_.resize(A_.rows(), static_cast<Index>(bilateral_rows_.size()));
    for (Index i = 0; i < B_.cols(); ++i) B_.col(i) = A_.col(bilateral_rows_[static_cast<std::size_t>(i)]);
}

/// Sets up A x = b: one row for each direction in which contact impulses act, then one for each tie. Bilateral
/// directions are projected out.
void FrictionalProgram::reduce() {
    const Matrix held = orthonormal_span(B_);
    const auto n = static_cast<Index>(form_.columns.size());
    Matrix columns = Matrix::Zero(A_.rows(), n);
    for (Index j = 0; j < n; ++j) {
        const ConeForm::Column& column = form_.columns[static_cast<std::size_t>(j)];
        if (column.row >= 0) columns.col(j) = column.factor * A_.col(column.row);
    }
    for (int pass = 0; pass < 2; ++pass) columns -= held * (held.transpose() * columns).eval();
    Q_ = orthonormal_span(columns);
    Vector rest = jump - Q_ * (Q_.transpose() * jump).eval();
    rest -= held * (held.transpose() * rest).eval();
    unreachable = rest.norm();
    const Index rank = Q_.cols(), ties = static_cast<Index>(form_.ties.size());
    program.cones = form_.cones;
    program.A = Matrix::Zero(rank + ties, n);
    program.A.topRows(rank) = Q_.transpose() * columns;
    program.b = Vector::Zero(rank + ties);
    program.b.head(rank) = Q_.transpose() * jump;
    program.c = Vector::Zero(n);
    // The columns of each cone are scaled by one factor, so that the longest has length 1. The scaled set is the same
    // cone.
    scale_ = Vector::Ones(n);
    Index at = 0;
    for (const int size : form_.cones) {
        const double length = program.A.block(0, at, rank, size).colwise().norm().maxCoeff();
        if (length > 0.0) scale_.segment(at, size).setConstant(1.0 / length);
        at += size;
    }
    program.A = program.A * scale_.asDiagonal();
    for (Index k = 0; k < ties; ++k) {
        const ConeForm::Tie& tie = form_.ties[static_cast<std::size_t>(k)];
        const double first = scale_(tie.first);
        if (tie.second < 0) {
            program.A(rank + k, tie.first) = 1.0;
            program.b(rank + k) = tie.value / first;
            continue;
        }
        const double second = scale_(tie.second), size = std::max(first, second);
        program.A(rank + k, tie.first) = first / size;
        program.A(rank + k, tie.second) = -second / size;
    }
}

void FrictionalProgram::set_costs(double sign) {
    Vector middle = 0.5 * (c_.u_plus + c_.u_minus);
    Vector gamma = relative_velocities(c_, middle);
    if (!bilateral_rows_.empty()) {
        // The bilateral impulses Λ_B follow from the others: BΛ_B = jump − AΛ. Their work γ_B·Λ_B with γ_B = Bᵀ shift
        // equals shift·(jump − AΛ). So the cost of Λ is γ − Aᵀ shift: γ at the mean velocity projected onto the
        // constraints.
        Vector missed(static_cast<Index>(bilateral_rows_.size()));
        for (Index i = 0; i < missed.size(); ++i) missed(i) = gamma(bilateral_rows_[static_cast<std::size_t>(i)]);
        shift_ = least_squares(B_.transpose(), missed);
        gamma -= A_.transpose() * shift_;
    }
    for (std::size_t j = 0; j < form_.columns.size(); ++j) {
        const ConeForm::Column& column = form_.columns[j];
        program.c(static_cast<Index>(j)) =
            column.row < 0 ? 0.0 : sign * gamma(column.row) * column.factor * scale_(static_cast<Index>(j));
    }
}

const solvers::ProgramSolution& FrictionalProgram::solve_for(double sign) {
    set_costs(sign);
    solution_ = solve(program);
    return solution_;
}

Vector FrictionalProgram::any() const {
    solvers::ConeProgram p = program;
    p.c.setZero();
    return solve(p, solvers::ExtremeRays{}).x;
}

Vector FrictionalProgram::nearest() const {
    const Index rank = Q_.cols(), rows = program.A.rows(), n = program.A.cols();
    if (std::all_of(program.cones.begin(), program.cones.end(), [](int size) { return size <= 2; }) &&
        form_.ties.empty())
        return nearest_of_edges();
    solvers::ConeProgram p;
    p.A = Matrix::Zero(rows, n + 1 + rank);
    p.A.leftCols(n) = program.A;
    p.A.block(0, n + 1, rank, rank).setIdentity();
    p.b = program.b;
    p.c = Vector::Unit(n + 1 + rank, n);
    p.cones = program.cones;
    p.cones.push_back(static_cast<int>(rank) + 1);
    return solve(p, solvers::InteriorPoint{}).x.head(n);
}

Vector FrictionalProgram::nearest_of_edges() const {
    const Index n = program.A.cols();
    std::vector<Vector> edges;
    Index at = 0;
    for (const int size : program.cones) {
        for (const double sign : {1.0, -1.0}) {
            Vector edge = Vector::Unit(n, at);
            if (size == 2) edge(at + 1) = sign;
            if (size == 2 || sign > 0.0) edges.push_back(edge);
        }
        at += size;
    }
    Matrix E(n, static_cast<Index>(edges.size()));
    for (Index j = 0; j < E.cols(); ++j) E.col(j) = edges[static_cast<std::size_t>(j)];
    return E * solvers::nonnegative_least_squares(program.A * E, program.b).x;
}

Vector FrictionalProgram::impulses(const Vector& x, const Vector& of_jump) const {
    Vector Lambda = Vector::Zero(c_.directions.cols());
    for (std::size_t j = 0; j < form_.columns.size(); ++j)
        if (const ConeForm::Column& column = form_.columns[j]; column.row >= 0)
            Lambda(column.row) = column.factor * scale_(static_cast<Index>(j)) * x(static_cast<Index>(j));
    if (!bilateral_rows_.empty()) {
        const Vector held = least_squares(B_, of_jump - A_ * Lambda);
        for (std::size_t i = 0; i < bilateral_rows_.size(); ++i)
            Lambda(bilateral_rows_[i]) = held(static_cast<Index>(i));
    }
    return Lambda;
}

Vector FrictionalProgram::dual_velocity(const Vector& y, double sign) const {
    Vector x = 0.5 * (L_.transpose() * (c_.u_plus + c_.u_minus)) - sign * (Q_ * y.head(Q_.cols())) + 0.5 * pi_;
    if (!bilateral_rows_.empty()) x -= shift_;
    return L_.transpose().triangularView<Eigen::Upper>().solve(x);
}

double FrictionalProgram::fastest(const Vector& gamma) const {
    double largest = 0.0;
    for (Index i = 0; i < gamma.size(); ++i)
        if (const double length = A_.col(i).norm(); length > 0.0)
            largest = std::max(largest, std::abs(gamma(i)) / length);
    return largest;
}

FrictionalProgram::Outcomes FrictionalProgram::outcomes() const {
    Outcomes o;
    const Vector before = L_.transpose() * c_.u_minus;
    const auto gamma = [&](const Vector& x) {
        Vector g = A_.transpose() * x;
        if (c_.chi.size() > 0) g += c_.chi;
        return g;
    };
    o.origin = before + pi_;
    const Vector gamma_minus = gamma(before);
    Vector mean = gamma_minus;
    if (!bilateral_rows_.empty()) {
        // Project z⁻ onto the bilateral constraints by `push`. If u⁻ violates them, γ_B⁻ = Bᵀh, then the bilateral
        // impulses do the work ½γ_B⁻·Λ_B = ½h·BΛ_B = ½h·(push − AΛ).
        const auto held = [&](const Vector& g) {
            Vector part(static_cast<Index>(bilateral_rows_.size()));
            for (Index i = 0; i < part.size(); ++i) part(i) = g(bilateral_rows_[static_cast<std::size_t>(i)]);
            return part;
        };
        const Vector push = -least_squares(B_.transpose(), held(gamma(o.origin)));
        const Vector h = least_squares(B_.transpose(), held(gamma_minus));
        o.origin += push;
        o.offset = 0.5 * h.dot(push);
        mean -= A_.transpose() * h;
    }
    const Vector gamma_origin = gamma(o.origin);
    mean = 0.5 * (mean + gamma_origin);
    o.cost = Vector::Zero(program.A.cols());
    for (std::size_t j = 0; j < form_.columns.size(); ++j)
        if (const ConeForm::Column& column = form_.columns[j]; column.row >= 0)
            o.cost(static_cast<Index>(j)) = mean(column.row) * column.factor * scale_(static_cast<Index>(j));
    std::vector<Index> normals;
    each_block(c_, [&](std::size_t k, Index row) {
        if (has_normal(c_.laws[k])) normals.push_back(row);
    });
    o.distance.resize(static_cast<Index>(normals.size()));
    o.slopes.resize(o.distance.size(), Q_.cols());
    for (Index i = 0; i < o.distance.size(); ++i) {
        o.distance(i) = gamma_origin(normals[static_cast<std::size_t>(i)]);
        o.slopes.row(i) = (Q_.transpose() * A_.col(normals[static_cast<std::size_t>(i)])).transpose();
    }
    return o;
}

}  // namespace saltus::impact
