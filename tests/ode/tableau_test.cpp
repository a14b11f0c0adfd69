// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "saltus/base/linalg.hpp"
#include "saltus/ode/dop853.hpp"
#include "saltus/ode/radau_iia.hpp"

// A Runge–Kutta method has order p when for every rooted tree of up to p vertices Σ b_i φ_i(tree) = 1/γ(tree)
// ([Hairer] II.2): 200 equations for p = 8. φ_i = Π over the branches of Σ_j a_ij φ_j(branch), γ = vertices · Π
// γ(branch).

namespace saltus::ode::tableau_test {
namespace {

struct Tree {
    int vertices = 1;
    double gamma = 1.0;
    std::vector<std::size_t> branches = {};  // places in the list of all trees
};

// Joins to `start` all sets of trees with `left` vertices, none after `last` in the list.
void grow(const std::vector<Tree>& smaller, std::vector<Tree>& out, Tree start, int left, std::size_t last) {
    if (left == 0) {
        start.gamma *= start.vertices;
        out.push_back(start);
        return;
    }
    for (std::size_t k = 0; k <= last && k < smaller.size(); ++k) {
        if (smaller[k].vertices > left) break;
        Tree next = start;
        next.vertices += smaller[k].vertices;
        next.gamma *= smaller[k].gamma;
        next.branches.push_back(k);
        grow(smaller, out, next, left - smaller[k].vertices, k);
    }
}

std::vector<Tree> trees_up_to(int vertices) {
    std::vector<Tree> all;
    for (int n = 1; n <= vertices; ++n) {
        std::vector<Tree> of_n;
        grow(all, of_n, Tree{}, n - 1, all.size());
        all.insert(all.end(), of_n.begin(), of_n.end());
    }
    return all;
}

Vector dense_row(std::span<const dop853::Term> terms) {
    Vector row = Vector::Zero(dop853::all_stages);
    for (const dop853::Term& term : terms) row(term.stage) = term.weight;
    return row;
}

struct Tableau {
    Matrix a = Matrix::Zero(dop853::all_stages, dop853::all_stages);
    Vector b = dense_row(dop853::b), error3 = dense_row(dop853::error3), error5 = dense_row(dop853::error5);
    Matrix d = Matrix::Zero(4, dop853::all_stages);

    Tableau() {
        for (int i = 0; i < dop853::all_stages; ++i) a.row(i) = dense_row(dop853::a[i]).transpose();
        for (int k = 0; k < 4; ++k) d.row(k) = dense_row(dop853::dense[k]).transpose();
    }

    // Weights of the dense output at θ, from the formula of Dense.
    Vector continuous(double theta) const {
        const double rest = 1.0 - theta;
        const Vector first = Vector::Unit(dop853::all_stages, 0), last = Vector::Unit(dop853::all_stages, 12);
        double product = theta * rest;
        Vector w = theta * b + product * (first - b);
        product *= theta;
        w += product * (2.0 * b - first - last);
        for (int k = 0; k < 4; ++k) {
            product *= k % 2 == 0 ? rest : theta;
            w += product * d.row(k).transpose();
        }
        return w;
    }

    // φ of all trees, a column each.
    Matrix weights(const std::vector<Tree>& trees) const {
        Matrix phi = Matrix::Ones(dop853::all_stages, static_cast<Eigen::Index>(trees.size()));
        for (std::size_t k = 0; k < trees.size(); ++k)
            for (const std::size_t branch : trees[k].branches)
                phi.col(static_cast<Eigen::Index>(k)).array() *=
                    (a * phi.col(static_cast<Eigen::Index>(branch))).array();
        return phi;
    }

    // The worst of all conditions: of the step (8), its estimates (5 and 3), the dense output (7), and c.
    double defect(const std::vector<Tree>& trees) const {
        const Matrix phi = weights(trees);
        double worst = 0.0;
        const auto hold = [&](const Vector& w, int order, double theta, bool vanishes) {
            for (std::size_t k = 0; k < trees.size(); ++k) {
                if (trees[k].vertices > order) continue;
                const double target = vanishes ? 0.0 : std::pow(theta, trees[k].vertices) / trees[k].gamma;
                worst = std::max(worst, std::abs(w.dot(phi.col(static_cast<Eigen::Index>(k))) - target));
            }
        };
        hold(b, 8, 1.0, false);
        hold(error5, 5, 1.0, true);
        hold(error3, 3, 1.0, true);
        for (const double theta : {0.1, 0.37, 0.5, 0.82, 1.0}) hold(continuous(theta), 7, theta, false);
        for (int i = 0; i < dop853::all_stages; ++i) worst = std::max(worst, std::abs(a.row(i).sum() - dop853::c[i]));
        return worst;
    }
};

// The weights reach 374 and the φ are rounded some 7 times: 374 · 7 eps = 6e-13 at the worst.
constexpr double rounding = 5e-14;

TEST(Tableau, ThereAreAsManyTreesAsThereShouldBe) {
    std::vector<int> count(9, 0);
    for (const Tree& tree : trees_up_to(8)) ++count[static_cast<std::size_t>(tree.vertices)];
    EXPECT_EQ(count, (std::vector<int>{0, 1, 1, 2, 4, 9, 20, 48, 115}));
}

TEST(Tableau, TheExplicitMethodMeetsAllConditionsOfItsOrders) { EXPECT_LT(Tableau().defect(trees_up_to(8)), rounding); }

TEST(Tableau, IsNotOfHigherOrderThanItSays) {
    const std::vector<Tree> trees = trees_up_to(9);
    const Tableau tableau;
    const Matrix phi = tableau.weights(trees);
    double ninth = 0.0, dense_eighth = 0.0;
    for (std::size_t k = 0; k < trees.size(); ++k) {
        const Vector column = phi.col(static_cast<Eigen::Index>(k));
        if (trees[k].vertices == 9) ninth = std::max(ninth, std::abs(tableau.b.dot(column) - 1.0 / trees[k].gamma));
        if (trees[k].vertices == 8)
            dense_eighth = std::max(dense_eighth,
                                    std::abs(tableau.continuous(0.5).dot(column) - std::pow(0.5, 8) / trees[k].gamma));
    }
    EXPECT_GT(ninth, 1e-6);
    EXPECT_GT(dense_eighth, 1e-7);
}

TEST(Tableau, EveryCoefficientIsSeenByTheConditions) {
    const std::vector<Tree> trees = trees_up_to(8);
    const auto disturbed = [&](auto&& coefficient) {
        Tableau t;
        double& value = coefficient(t);
        value *= 1.0 + 1e-7;
        return t.defect(trees);
    };
    for (int i = 1; i < dop853::all_stages; ++i)
        for (const dop853::Term& term : dop853::a[i])
            EXPECT_GT(disturbed([&](Tableau& t) -> double& { return t.a(i, term.stage); }), 2.0 * rounding)
                << "a " << i << ", " << term.stage;
    for (const dop853::Term& term : dop853::b)
        EXPECT_GT(disturbed([&](Tableau& t) -> double& { return t.b(term.stage); }), 2.0 * rounding) << term.stage;
    for (const dop853::Term& term : dop853::error3)
        EXPECT_GT(disturbed([&](Tableau& t) -> double& { return t.error3(term.stage); }), 2.0 * rounding) << term.stage;
    for (const dop853::Term& term : dop853::error5)
        EXPECT_GT(disturbed([&](Tableau& t) -> double& { return t.error5(term.stage); }), 2.0 * rounding) << term.stage;
    for (int k = 0; k < 4; ++k)
        for (const dop853::Term& term : dop853::dense[k])
            EXPECT_GT(disturbed([&](Tableau& t) -> double& { return t.d(k, term.stage); }), 2.0 * rounding)
                << "d " << k << ", " << term.stage;
}

// --- Radau IIA ---------------------------------------------------------------------------------------------------

/// A from the coefficients: A⁻¹ = T blocks T⁻¹.
template <int s>
Matrix radau_matrix(const radau_iia::Coefficients<s>& k) {
    Matrix T(s, s), T_inverse(s, s), blocks = Matrix::Zero(s, s);
    for (int i = 0; i < s; ++i)
        for (int j = 0; j < s; ++j) {
            T(i, j) = k.T[i][j];
            T_inverse(i, j) = k.T_inverse[i][j];
        }
    blocks(0, 0) = k.gamma;
    for (int p = 0; p < k.pairs; ++p)
        blocks.block(2 * p + 1, 2 * p + 1, 2, 2) << k.alpha[p], -k.beta[p], k.beta[p], k.alpha[p];
    EXPECT_LT((T * T_inverse - Matrix::Identity(s, s)).cwiseAbs().maxCoeff(), 1e-12);
    return T * solve_columns(blocks, T_inverse);
}

/// Conditions that only Radau IIA fulfils: collocation at the nodes, the last of which is 1, and order 2s − 1.
template <int s>
void expect_radau_iia(const radau_iia::Coefficients<s>& k) {
    // Entries of T and T⁻¹ are rounded; the largest are about 20 for three stages and 2000 for seven.
    const double tolerance = (s == 3 ? 64 : 4096) * std::numeric_limits<double>::epsilon();
    const Matrix A = radau_matrix(k);
    EXPECT_EQ(k.c[s - 1], 1.0);
    for (int q = 0; q < 2 * s - 1; ++q)
        for (int i = q < s ? 0 : s - 1; i < s; ++i) {
            double sum = 0.0;
            for (int j = 0; j < s; ++j) sum += A(i, j) * std::pow(k.c[j], q);
            EXPECT_NEAR(sum, std::pow(k.c[i], q + 1) / (q + 1), tolerance) << s << " stages, t^" << q;
        }
}

TEST(Tableau, RadauIsSplitIntoARealAndComplexParts) {
    expect_radau_iia(radau_iia::three);
    expect_radau_iia(radau_iia::five);
    expect_radau_iia(radau_iia::seven);
    const double r = std::sqrt(6.0);
    Matrix A(3, 3);
    A << (88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225,  //
        (296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225,   //
        (16 - r) / 36, (16 + r) / 36, 1.0 / 9.0;
    EXPECT_LT((radau_matrix(radau_iia::three) - A).cwiseAbs().maxCoeff(), 64 * std::numeric_limits<double>::epsilon());
}

/// x + h/γ f(t, x) + Σ e_i z_i, where γ e = error, vanishes to order s for x' = t^q: z_i = c_i^{q+1}/(q+1).
template <int s>
void expect_error_estimate(const radau_iia::Coefficients<s>& k) {
    for (int q = 0; q <= s; ++q) {
        double sum = q == 0 ? 1.0 : 0.0, terms = 1.0;
        for (int i = 0; i < s; ++i) {
            const double term = k.error[i] * std::pow(k.c[i], q + 1) / (q + 1);
            sum += term;
            terms += std::abs(term);
        }
        if (q < s)
            EXPECT_NEAR(sum, 0.0, 8 * std::numeric_limits<double>::epsilon() * terms) << s << " stages, t^" << q;
        else
            EXPECT_GT(std::abs(sum), 1e-5) << s;
    }
}

TEST(Tableau, RadauEstimatesItsErrorWithTheOrderOfItsStages) {
    expect_error_estimate(radau_iia::three);
    expect_error_estimate(radau_iia::five);
    expect_error_estimate(radau_iia::seven);
}

}  // namespace
}  // namespace saltus::ode::tableau_test
