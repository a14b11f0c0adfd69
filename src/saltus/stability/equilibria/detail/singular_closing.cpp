// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/singular_closing.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

/// Rows become singular at a position if their rank is smaller there than at this distance from it, in 1 + |q_i|.
constexpr double beside_distance = 1e-3;
/// Singular values of the rows count as zero up to this, relative to the sizes of the rows at that distance. A position
/// is computed to 1e-8 where a gap y² vanishes, so that its row is 1e-5 of its size at that distance.
constexpr double vanishing_row = 1e-4;
/// A force is too large for its row if, along the row beside q, it would be larger than this times Statics::size.
constexpr double too_large_force = 1e3;

/// Numbers of the rows of closed_rows.
std::vector<int> closed_row_numbers(const model::Mechanics& m, const std::vector<char>& closed) {
    std::vector<int> rows;
    for (const model::Constraint& c : m.constraints) rows.push_back(c.row);
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0) rows.push_back(m.contacts[i].row);
    return rows;
}

/// The rows at positions on both sides of q along each coordinate.
std::vector<Matrix> rows_beside(RestingModel& model, const std::vector<char>& closed, const Vector& q) {
    std::vector<Matrix> list;
    for (Index i = 0; i < q.size(); ++i)
        for (const double side : {-1.0, 1.0}) {
            Vector position = q;
            position(i) += side * beside_distance * (1.0 + std::abs(q(i)));
            model.move_to(position);
            if (Matrix rows = closed_rows(model, closed); rows.allFinite()) list.push_back(std::move(rows));
        }
    return list;
}

}  // namespace

Matrix closed_rows(const RestingModel& model, const std::vector<char>& closed) {
    const std::vector<int> rows = closed_row_numbers(model.model(), closed);
    Matrix J(static_cast<Index>(rows.size()), model.size());
    for (Index k = 0; k < J.rows(); ++k) J.row(k) = model.row(rows[static_cast<std::size_t>(k)]);
    return J;
}

bool singular_closing(RestingModel& model, const std::vector<char>& closed, const Vector& q) {
    if (closed_row_numbers(model.model(), closed).empty()) return false;
    const Vector unit = q.cwiseAbs() + Vector::Ones(q.size());
    std::vector<Matrix> beside = rows_beside(model, closed, q);
    model.move_to(q);
    const Matrix here = closed_rows(model, closed) * unit.asDiagonal();
    Vector size = here.rowwise().norm().cwiseMax(smallest_divisor);
    for (Matrix& rows : beside) {
        rows = rows * unit.asDiagonal();
        size = size.cwiseMax(rows.rowwise().norm());
    }
    const auto rank = [&](const Matrix& rows) {
        const Vector values = singular_values(size.cwiseInverse().asDiagonal() * rows);
        return std::count_if(values.begin(), values.end(), [](double x) { return x > vanishing_row; });
    };
    const auto least = rank(here);
    return std::any_of(beside.begin(), beside.end(), [&](const Matrix& rows) { return rank(rows) > least; });
}

bool rests_on_singular_rows(RestingModel& model, const std::vector<char>& closed, const Vector& q) {
    if (!singular_closing(model, closed, q)) return false;
    const std::vector<int> numbers = closed_row_numbers(model.model(), closed);
    const std::vector<Matrix> beside = rows_beside(model, closed, q);
    model.move_to(q);
    const Statics s = model.statics(closed);
    const Balance b = balance(s);
    if (b.lambda.size() != s.W.cols()) return true;
    const Vector lambda = plain_forces(s, b);
    for (const RestingElement& e : s.elements) {
        if (e.normal < 0) continue;
        const int row = model.elements()[static_cast<std::size_t>(e.element)].normal;
        const auto at = std::find(numbers.begin(), numbers.end(), row);
        if (at == numbers.end()) continue;
        double size = 0.0;
        for (const Matrix& rows : beside)
            size = std::max(size, rows.row(at - numbers.begin()).transpose().cwiseQuotient(s.scale).norm());
        if (std::abs(lambda(e.normal)) * size > too_large_force * s.size) return true;
    }
    return false;
}

}  // namespace saltus::stability
