// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/propositions.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using Eigen::Index;

namespace {

/// Entries of W_NᵀM⁻¹W_T up to this number count as 0 (unit 1/mass).
constexpr double coupling_tolerance = 1e-12;
/// Singular values below this fraction of the largest count as 0.
constexpr double kernel_tolerance = 1e-12;

}  // namespace

/// The closed gaps stay closed: γ̇_c = W_cᵀM⁻¹(h + W_c λ) + ζ_c = 0 gives λ = −D_c⁻¹(W_cᵀM⁻¹h + ζ_c), which is inserted
/// into γ̇_o = W_oᵀM⁻¹(h + W_c λ) + ζ_o. [Leine] (87)–(89) with ζ = 0.
GapAccelerations proposition_1(const model::Mechanics& model, const std::vector<double>& q,
                               const std::vector<double>& u, const std::vector<char>& closed) {
    model::Workspace workspace(model);
    model::Terms terms(model.layout());
    model::evaluate(model, workspace, 0.0, q, u, terms);
    const model::Layout& layout = model.layout();
    const Matrix rows = model::dense(layout.rows, terms.W), M = model::dense_symmetric(layout.mass, terms.M);
    const Vector h = Eigen::Map<const Vector>(terms.h.data(), static_cast<Index>(terms.h.size()));
    const auto speeds = [&](const Matrix& forces) { return solve_columns(M, forces); };

    GapAccelerations result;
    std::vector<Index> closed_rows;
    double coupling = 0.0;
    for (std::size_t k = 0; k < model.contacts.size(); ++k) {
        const model::Contact& c = model.contacts[k];
        if (closed[k] != 0)
            closed_rows.push_back(c.row);
        else
            result.open.push_back(static_cast<int>(k));
        for (const model::Contact& other : model.contacts)
            for (int j = 0; j < other.friction.dimension; ++j)
                coupling = std::max(
                    coupling,
                    std::fabs(rows.row(c.row).dot(speeds(rows.row(other.friction.first_row + j).transpose()).col(0))));
    }
    result.uncoupled = coupling <= coupling_tolerance;
    // λ as printed (without ζ) and complete.
    const auto m = static_cast<Index>(closed_rows.size());
    Matrix W(m, M.rows());
    Vector zeta(m);
    for (Index i = 0; i < m; ++i) {
        W.row(i) = rows.row(closed_rows[static_cast<std::size_t>(i)]);
        zeta(i) = terms.zeta[static_cast<std::size_t>(closed_rows[static_cast<std::size_t>(i)])];
    }
    const Matrix D = m > 0 ? Matrix(W * speeds(W.transpose())) : Matrix();
    const Vector lambda_printed = m > 0 ? least_squares(D, -W * speeds(h).col(0)) : Vector();
    const Vector lambda_complete = m > 0 ? least_squares(D, -(W * speeds(h).col(0) + zeta)) : Vector();
    for (const int k : result.open) {
        const auto row = static_cast<Index>(model.contacts[static_cast<std::size_t>(k)].row);
        const auto acceleration = [&](const Vector& lambda) {
            const Vector force = m > 0 ? Vector(h + W.transpose() * lambda) : h;
            return rows.row(row).dot(speeds(force).col(0));
        };
        result.printed.push_back(acceleration(lambda_printed));
        result.complete.push_back(acceleration(lambda_complete) + terms.zeta[static_cast<std::size_t>(row)]);
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
            if (coupling(i, j).lo != 0.0 || coupling(i, j).hi != 0.0) return false;
    return true;
}

/// uᵀCu = ½uᵀ(C + Cᵀ)u, and a positive semidefinite form vanishes exactly on the kernel of its symmetric matrix.
Matrix proposition_2(const Matrix& C) { return kernel_of(C + C.transpose(), kernel_tolerance); }

/// Ψ*_C(γ_T) > 0 for γ_T ≠ 0 if 0 is an interior point of C. So the dissipation vanishes exactly for γ_T = W_Tᵀu = 0.
Matrix proposition_3(const Matrix& W_T) { return kernel_of(W_T.transpose(), kernel_tolerance); }

/// xᵀABx = xᵀAx − xᵀA(I − B)x >= (λ_min − λ_max(1 − b_min))‖x‖² > 0 if 1 − b_min < λ_min/λ_max = 1/cond(A).
/// [Leine] (145)–(148). With b = (1 − e)/(1 + e): 2e/(1 + e) < 1/cond(A), that is e < 1/(2 cond(A) − 1).
RestitutionBound proposition_4(double condition_number) {
    return {1.0 - 1.0 / condition_number, 1.0 / (2.0 * condition_number - 1.0)};
}

/// The worst case of A = Rᵀdiag(1, cond)R over all rotations R has a singular AB + BA for
/// √b_min = (√cond − 1)/(√cond + 1), b_max = 1.
RestitutionBound sharp_for_two_rows(double condition_number) {
    const double root = std::sqrt(condition_number), b = std::pow((root - 1.0) / (root + 1.0), 2);
    return {b, (1.0 - b) / (1.0 + b)};
}

namespace {

std::optional<proof::Condition> proposition_1_row(const ConditionScope& scope) {
    const proof::Enclosure& e = scope.enclosure();
    const ContactCoefficients coefficients = contact_coefficients(scope);
    const bool rubs = std::any_of(coefficients.friction.begin(), coefficients.friction.end(), [](bool f) { return f; });
    if (!rubs || !uncoupled(e, scope.domain)) return std::nullopt;
    bool constant = e.quadratic_forces;
    const std::vector<proof::IntervalMatrix> Z = e.curvatures(scope.domain);
    for (int r = e.constraints(); r < e.positions(); ++r)
        for (int i = 0; i < e.size(); ++i)
            for (int j = 0; j < e.size(); ++j)
                constant = constant && proof::is_zero(Z[static_cast<std::size_t>(r)](i, j));
    return proof::Condition{"P1",
                            "Proposition 1 (condition 4): friction does not act on the gaps, W_N'M^-1 W_T = 0",
                            proof::Verdict::proved,
                            constant ? "exactly zero over the level set; W_N is constant along motions, so that the "
                                       "printed formula (89) holds"
                                     : "exactly zero over the level set; the printed formula (89) omits the change of "
                                       "W_N, with which condition 4 is decided",
                            {}};
}

std::optional<proof::Condition> proposition_2_row(const ConditionScope& scope, bool dissipative) {
    const proof::Enclosure& e = scope.enclosure();
    if (!dissipative || !e.linear_damping) return std::nullopt;
    const proof::IntervalMatrix C = e.damping(scope.domain);
    bool present = false, symmetric = true;
    for (int i = 0; i < e.size(); ++i)
        for (int j = 0; j < e.size(); ++j) {
            present = present || !proof::is_zero(C(i, j));
            symmetric = symmetric && (i == j || (is_point(C(i, j)) && is_point(C(j, i)) && C(i, j).lo == C(j, i).lo));
        }
    if (!present) return std::nullopt;
    const Matrix at = e.damping(proof::point_box(list_of(scope.equilibrium.q))).middle();
    return proof::Condition{"P2",
                            "Proposition 2 (condition 5): the velocities without damping are ker(C + C')",
                            proof::Verdict::proved,
                            "C + C' >= 0 by condition 3; dimension " + std::to_string(proposition_2(at).cols()) +
                                " at the equilibrium" +
                                (symmetric ? "; C is symmetric, so that it is ker C as printed"
                                           : "; C is not symmetric, and ker C is not it"),
                            {}};
}

std::optional<proof::Condition> proposition_3_row(const ConditionScope& scope) {
    const proof::Enclosure& e = scope.enclosure();
    const model::Mechanics& m = scope.model();
    const proof::Box rest(static_cast<std::size_t>(e.size()), proof::Interval(0.0));
    const proof::IntervalVector coefficients = e.coefficients(scope.domain, rest);
    std::vector<int> rows;
    bool inside = true;
    std::vector<const model::Friction*> rubbing;
    for (const int r : scope.equilibrium.closed)
        rubbing.push_back(&m.contacts[static_cast<std::size_t>(r - e.constraints())].friction);
    for (const model::Slider& s : m.sliders) {
        rubbing.push_back(&s.friction);
        inside = inside && (!s.friction.present() || proof::coefficient(coefficients, s.normal_force).lo > 0.0);
    }
    for (const model::Friction* f : rubbing) {
        if (proof::without_friction(*f, coefficients)) continue;
        inside = inside && proof::with_friction(*f, coefficients);
        for (int j = 0; j < f->dimension; ++j) rows.push_back(f->first_row + j);
    }
    if (rows.empty() || !inside) return std::nullopt;
    const proof::IntervalMatrix W = rows_of(e.row_matrix(proof::point_box(list_of(scope.equilibrium.q))), rows);
    return proof::Condition{"P3",
                            "Proposition 3 (condition 5): the velocities without friction are ker W_T', where all "
                            "contacts are loaded",
                            proof::Verdict::proved,
                            "0 lies in the interior of all sets of friction forces; dimension " +
                                std::to_string(proposition_3(W.middle().transpose()).cols()) + " at the equilibrium",
                            {}};
}

}  // namespace

std::vector<proof::Condition> proposition_rows(const ConditionScope& scope, bool dissipative) {
    std::vector<proof::Condition> rows;
    for (std::optional<proof::Condition> row :
         {proposition_1_row(scope), proposition_2_row(scope, dissipative), proposition_3_row(scope)})
        if (row) rows.push_back(std::move(*row));
    return rows;
}

}  // namespace saltus::stability
