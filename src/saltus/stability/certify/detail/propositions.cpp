// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/propositions.hpp"

#include <cmath>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using Eigen::Index;

GapAccelerations proposition_1(const model::Model& model, const std::vector<double>& q, const std::vector<double>& u,
                               const std::vector<char>& closed) {
    model::Workspace workspace(model);
    model::Terms terms(model.layout());
    model::evaluate(model, workspace, 0.0, q, u, terms);
    const model::Layout& layout = model.layout();
    const Matrix rows = model::dense(layout.rows, terms.W), M = model::dense_symmetric(layout.mass, terms.M);
    const Vector h = Eigen::Map<const Vector>(terms.h.data(), static_cast<Index>(terms.h.size()));
    const auto speeds = [&](const Matrix& forces) { return solve_columns(M, forces); };

    GapAccelerations result;
    std::vector<Index> shut;
    double coupling = 0.0;
    for (std::size_t k = 0; k < model.contacts.size(); ++k) {
        const model::Contact& c = model.contacts[k];
        if (closed[k] != 0)
            shut.push_back(c.row);
        else
            result.open.push_back(static_cast<int>(k));
        for (const model::Contact& other : model.contacts)
            for (int j = 0; j < other.friction.dimension; ++j)
                coupling = std::max(
                    coupling,
                    std::fabs(rows.row(c.row).dot(speeds(rows.row(other.friction.first_row + j).transpose()).col(0))));
    }
    result.uncoupled = coupling <= 1e-12;
    // Forces of the closed gaps that make their accelerations vanish, without and with Ẇᵀu.
    const auto m = static_cast<Index>(shut.size());
    Matrix W(m, M.rows());
    Vector zeta(m);
    for (Index i = 0; i < m; ++i) {
        W.row(i) = rows.row(shut[static_cast<std::size_t>(i)]);
        zeta(i) = terms.zeta[static_cast<std::size_t>(shut[static_cast<std::size_t>(i)])];
    }
    const Matrix D = m > 0 ? Matrix(W * speeds(W.transpose())) : Matrix();
    const Vector plain = m > 0 ? least_squares(D, -W * speeds(h).col(0)) : Vector();
    const Vector whole = m > 0 ? least_squares(D, -(W * speeds(h).col(0) + zeta)) : Vector();
    for (const int k : result.open) {
        const auto row = static_cast<Index>(model.contacts[static_cast<std::size_t>(k)].row);
        const auto acceleration = [&](const Vector& lambda) {
            const Vector force = m > 0 ? Vector(h + W.transpose() * lambda) : h;
            return rows.row(row).dot(speeds(force).col(0));
        };
        result.printed.push_back(acceleration(plain));
        result.complete.push_back(acceleration(whole) + terms.zeta[static_cast<std::size_t>(row)]);
    }
    return result;
}

bool uncoupled(const proof::Enclosure& enclosure, const proof::Box& q) {
    std::vector<int> normal, tangential;
    for (const model::Contact& c : enclosure.model().contacts) {
        normal.push_back(c.row);
        for (int j = 0; j < c.friction.dimension; ++j) tangential.push_back(c.friction.first_row + j);
    }
    const proof::IntervalMatrix rows = enclosure.row_matrix(q);
    if (tangential.empty()) return true;
    const auto speeds = proof::solve(enclosure.mass(q), proof::transpose(proof::rows_of(rows, tangential)));
    if (!speeds) return false;
    const proof::IntervalMatrix coupling = proof::rows_of(rows, normal) * *speeds;
    for (int i = 0; i < coupling.rows(); ++i)
        for (int j = 0; j < coupling.cols(); ++j)
            if (!(coupling(i, j).lo >= -1e-12 && coupling(i, j).hi <= 1e-12)) return false;
    return true;
}

Matrix proposition_2(const Matrix& C) { return kernel_of(C + C.transpose(), 1e-12); }

Matrix proposition_3(const Matrix& W_T) { return kernel_of(W_T.transpose(), 1e-12); }

Restitutions4 proposition_4(double condition) { return {1.0 - 1.0 / condition, 1.0 / (2.0 * condition - 1.0)}; }

Restitutions4 sharp_for_two_rows(double condition) {
    const double root = std::sqrt(condition), b = std::pow((root - 1.0) / (root + 1.0), 2);
    return {b, (1.0 - b) / (1.0 + b)};
}

}  // namespace saltus::stability
