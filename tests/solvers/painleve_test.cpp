// SPDX-License-Identifier: Apache-2.0
// Problems of Painlevé's kind with no solution or several: all solutions are found, and their number is right.
#include <gtest/gtest.h>

#include "problems.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"
#include "saltus/solvers/friction/modes.hpp"

namespace saltus::solvers::painleve_test {
namespace {

using namespace test;

/// A rod of mass 1 and length l = 2, J = l²/12, that touches the ground with one end, inclined by `angle` such that it
/// is pushed rather than dragged when that end slides to positive v_T. With the arm a = l/2 (−cos, −sin) reversed in
/// sign for that: W = 1/m + ⊥a ⊥aᵀ/J, ⊥a = (cos, sin)·l/2 for (N, T).
///     W_NN = 1 + 3 cos², W_TT = 1 + 3 sin², W_NT = 3 sin cos;   critical: μ = (1 + 3 cos²)/(3 sin cos) >= 4/3
Matrix rod(double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return (Matrix(2, 2) << 1 + 3 * c * c, 3 * s * c, 3 * s * c, 1 + 3 * s * s).finished();
}

/// An independent enumeration that tests inequalities instead of residuals. Each contact is open, sticks or slips.
struct ByHand {
    std::vector<Vector> solutions;
    double margin = 1e300;  // how far the nearest decision was from falling the other way, relative

    ByHand(const Matrix& W, const Vector& q, const std::vector<double>& mu) {
        const auto contacts = static_cast<int>(mu.size());
        const Eigen::Index n = 2 * contacts;
        int combinations = 1;
        for (int a = 0; a < contacts; ++a) combinations *= 4;
        for (int k = 0; k < combinations; ++k) {
            Matrix A = Matrix::Zero(n, n);
            Vector b = Vector::Zero(n);
            for (int a = 0, rest = k; a < contacts; ++a, rest /= 4) {
                const Eigen::Index i = 2 * a;
                const int mode = rest % 4;
                A.row(i) = W.row(i), b(i) = -q(i);
                A.row(i + 1) = W.row(i + 1), b(i + 1) = -q(i + 1);
                if (mode == 0) A.middleRows(i, 2).setZero(), A(i, i) = A(i + 1, i + 1) = 1.0, b.segment(i, 2).setZero();
                if (mode >= 2) A.row(i + 1).setZero(), A(i + 1, i + 1) = 1.0, b(i + 1) = 0.0;
                if (mode == 2) A(i + 1, i) = mu[ix(a)];   // v_T > 0, r_T = −μ r_N
                if (mode == 3) A(i + 1, i) = -mu[ix(a)];  // v_T < 0
            }
            const Vector r = least_squares(A, b);
            if ((A * r - b).norm() > 1e-9 * (b.norm() + r.norm())) continue;  // singular and inconsistent
            const Vector v = W * r + q;
            double slack = 1e300;
            for (int a = 0, rest = k; a < contacts; ++a, rest /= 4) {
                const Eigen::Index i = 2 * a;
                const double size = r.norm() + 1e-300, speed = v.norm() + q.norm() + 1e-300;
                const double list[4][2] = {{v(i) / speed, 1e300},
                                           {r(i) / size, (mu[ix(a)] * r(i) - std::abs(r(i + 1))) / size},
                                           {r(i) / size, v(i + 1) / speed},
                                           {r(i) / size, -v(i + 1) / speed}};
                slack = std::min({slack, list[rest % 4][0], list[rest % 4][1]});
            }
            margin = std::min(margin, std::abs(slack));
            if (slack >= 0.0) solutions.push_back(r);
        }
    }
    bool clear() const { return margin > 1e-5; }
};

/// True if both lists contain the same solutions, in any order.
void expect_the_same(const std::vector<Vector>& expected, const std::vector<std::vector<double>>& found,
                     const std::string& what) {
    EXPECT_EQ(found.size(), expected.size()) << what;
    for (const Vector& r : expected) {
        double nearest = 1e300;
        for (const std::vector<double>& s : found) nearest = std::min(nearest, (to_eigen(s) - r).norm());
        EXPECT_LT(nearest, 1e-7 * (1.0 + r.norm())) << what << ": " << r.transpose();  // margin 1e-5: cond below 1e6
    }
}

constexpr double steep = 1.2, rough = 2.0;  // rad; W_NN − μ W_NT = 1.39 − 2·1.01 < 0

TEST(PainleveRod, IsCriticalFromFourThirdsOnly) {
    double least = 1e300;
    for (double angle = 0.01; angle < 1.57; angle += 1e-4) {
        const Matrix W = rod(angle);
        least = std::min(least, W(0, 0) / W(0, 1));
    }
    EXPECT_NEAR(least, 4.0 / 3.0, 1e-6);
    EXPECT_LT(rod(steep)(0, 0) - rough * rod(steep)(0, 1), -0.5);
}

/// While the end slides forwards, its accelerations are W r + q with the friction r_T = −μ r_N whatever the tangential
/// one: v_T is the sliding velocity, not within reach of r.
FrictionProblem sliding_rod(double q_normal) {
    Matrix W = rod(steep);
    W.row(1).setZero();
    return one(W, {q_normal, 1.0}, planar(rough));
}

TEST(PainleveRod, ThatSlidesAndIsPressedDownHasNoAcceleration) {
    const FrictionProblem p = sliding_rod(-9.81);
    const AllSolutions all = all_solutions(p);
    EXPECT_TRUE(all.complete);
    EXPECT_TRUE(all.r.empty());
    const Solution s = solve(p);
    EXPECT_EQ(s.status, Status::infeasible);
    EXPECT_GT(s.residual, 1e-3);
}

TEST(PainleveRod, ThatSlidesAndLiftsOffHasTwo) {
    const FrictionProblem p = sliding_rod(9.81);
    const AllSolutions all = all_solutions(p);
    EXPECT_TRUE(all.complete);
    ASSERT_EQ(all.r.size(), 2U);
    EXPECT_EQ(all.r[0], (std::vector<double>{0, 0}));  // the smallest first
    const double normal = -9.81 / (rod(steep)(0, 0) - rough * rod(steep)(0, 1));
    EXPECT_NEAR(all.r[1][0], normal, 1e-12 * normal);
    EXPECT_NEAR(all.r[1][1], -rough * normal, 1e-12 * normal);
    EXPECT_EQ(solve(p).status, Status::converged);
}

TEST(PainleveRod, AsAUnilateralRowIsDecidedTheSameWay) {
    const double D = rod(steep)(0, 0) - rough * rod(steep)(0, 1);
    const Matrix W = Matrix::Constant(1, 1, D);
    EXPECT_EQ(solve(one(W, {-9.81}, unilateral())).status, Status::infeasible);
    EXPECT_TRUE(all_solutions(one(W, {-9.81}, unilateral())).r.empty());
    EXPECT_EQ(all_solutions(one(W, {9.81}, unilateral())).r.size(), 2U);
    EXPECT_EQ(solve(one(W, {9.81}, unilateral())).status, Status::converged);
}

TEST(AllSolutions, OfAProblemWithoutContactsIsTheEmptyOne) {
    const AllSolutions all = all_solutions(FrictionProblem{});
    EXPECT_TRUE(all.complete);
    ASSERT_EQ(all.r.size(), 1U);
    EXPECT_TRUE(all.r[0].empty());
}

TEST(PainleveRod, InImpactAlwaysHasAnOddNumberOfSolutions) {
    // W regular: the tangential velocity is within reach of the impulse, and there is always a solution.
    int three = 0;
    for (double normal = -2.0; normal <= 2.0; normal += 0.17)
        for (double tangential = -3.0; tangential <= 3.0; tangential += 0.13)
            for (const double angle : {0.9, steep, 1.4}) {
                const Matrix W = rod(angle);
                const FrictionProblem p = one(W, {normal, tangential}, planar(rough));
                const ByHand by_hand(W, to_eigen(p.q), {rough});
                ASSERT_TRUE(by_hand.clear());
                const AllSolutions all = all_solutions(p);
                EXPECT_TRUE(all.complete);
                expect_the_same(by_hand.solutions, all.r,
                                "q = " + std::to_string(normal) + ", " + std::to_string(tangential));
                EXPECT_EQ(all.r.size() % 2, 1U) << normal << " " << tangential;
                EXPECT_EQ(solve(p).status, Status::converged) << normal << " " << tangential;
                if (all.r.size() == 3) ++three;
            }
    EXPECT_GT(three, 20);
}

TEST(SeveralContacts, HaveTheSolutionsThatModesByHandHave) {
    int several = 0, none = 0, judged = 0;
    for (unsigned seed = 0; seed < 900; ++seed) {
        Random random(seed);
        const int contacts = 1 + static_cast<int>(seed % 3);
        Matrix W = random.matrix(2 * contacts, 2 * contacts);
        if (seed % 2 == 0) W = (W * W.transpose()).eval();  // otherwise anything
        const Vector q = random.vector(2 * contacts);
        const std::vector<double> mu(ix(contacts), random.uniform(0.1, 2.0));
        const FrictionProblem p = problem_of(W, to_vector(q), std::vector<Law>(ix(contacts), planar(mu[0])),
                                             std::vector<int>(ix(contacts), 2));
        const ByHand by_hand(W, q, mu);
        if (!by_hand.clear()) continue;
        ++judged;
        const AllSolutions all = all_solutions(p);
        EXPECT_TRUE(all.complete) << seed;
        expect_the_same(by_hand.solutions, all.r, "seed " + std::to_string(seed));
        const Solution s = solve(p);
        EXPECT_EQ(s.status, by_hand.solutions.empty() ? Status::infeasible : Status::converged)
            << seed << " residual " << s.residual;
        several += by_hand.solutions.size() > 1 ? 1 : 0;
        none += by_hand.solutions.empty() ? 1 : 0;
    }
    EXPECT_GT(judged, 800);
    EXPECT_GT(several, 60);
    EXPECT_GT(none, 30);
}

TEST(SeveralContacts, WithASliderAndABilateralRowAreEnumeratedToo) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        Recipe recipe;
        recipe.condition = 10.0;
        recipe.friction = 0.1;  // one solution: condition × μ < 1 (agreement_test.cpp)
        const Constructed c =
            constructed(seed, {Sort::planar, Sort::slider, Sort::unilateral, Sort::bilateral, Sort::planar}, recipe);
        const AllSolutions all = all_solutions(c.problem);
        ASSERT_EQ(all.r.size(), 1U) << seed;
        EXPECT_TRUE(all.complete) << seed;
        EXPECT_LT((to_eigen(all.r[0]) - to_eigen(c.r)).norm(), 1e-10 * (1 + to_eigen(c.r).norm())) << seed;
    }
}

TEST(AllSolutions, AreNotEnumeratedForOtherLawsOrTooManyModes) {
    const Constructed spatial_pair = constructed(1, {Sort::spatial, Sort::spatial}, {});
    EXPECT_FALSE(all_solutions(spatial_pair.problem).complete);
    EXPECT_TRUE(all_solutions(spatial_pair.problem).r.empty());
    const Constructed planar_pair = constructed(1, {Sort::planar, Sort::planar}, {});
    EXPECT_TRUE(all_solutions(planar_pair.problem).complete);
    EXPECT_EQ(all_solutions(planar_pair.problem).modes, 16);
    EXPECT_FALSE(all_solutions(planar_pair.problem, 15).complete);
}

TEST(AllSolutions, AreNotCalledCompleteWhereAContinuumWasSeenInPart) {
    // Two identical rows share one reaction in infinitely many ways; one of them is given.
    const FrictionProblem p = problem_of(Matrix::Ones(2, 2), {-1, -1}, {unilateral(), unilateral()}, {1, 1});
    const AllSolutions all = all_solutions(p);
    ASSERT_FALSE(all.r.empty());
    for (const std::vector<double>& r : all.r) EXPECT_NEAR(r[0] + r[1], 1.0, 1e-12);
}

// --- one spatial contact -------------------------------------------------------------------------------------

/// Directions of slip found by a scan: r = r_N (1, −μ d), v_T = s d, s > 0.
std::vector<Vector> slips_by_scan(const Matrix& W, const Vector& q, double mu, double& margin) {
    const auto at = [&](double t) {
        const Vector d = (Vector(3) << 1.0, -mu * std::cos(t), -mu * std::sin(t)).finished();
        const double D = W.row(0) * d;
        return Vector(D * q - q(0) * (W * d));  // D v
    };
    const auto across = [&](double t) {
        const Vector v = at(t);
        return std::cos(t) * v(2) - std::sin(t) * v(1);
    };
    std::vector<Vector> found;
    constexpr int steps = 8000;
    const double step = 2.0 * std::numbers::pi / steps;
    for (int k = 0; k < steps; ++k) {
        double low = k * step, high = (k + 1) * step;
        const double f_low = across(low);
        if ((f_low > 0.0) == (across(high) > 0.0)) continue;
        for (int i = 0; i < 60; ++i) {
            const double middle = 0.5 * (low + high);
            ((across(middle) > 0.0) == (f_low > 0.0) ? low : high) = middle;
        }
        const Vector d = (Vector(3) << 1.0, -mu * std::cos(low), -mu * std::sin(low)).finished();
        const double D = W.row(0) * d, normal = -q(0) / D;
        const Vector v = q + normal * (W * d);
        const double along = std::cos(low) * v(1) + std::sin(low) * v(2);
        margin = std::min({margin, std::abs(D) / W.norm(), std::abs(along) / (v.norm() + q.norm())});
        if (normal > 0.0 && along > 0.0) found.push_back(normal * d);
    }
    return found;
}

TEST(OneSpatialContact, HasTheSolutionsThatAScanOverDirectionsFinds) {
    int several = 0, judged = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        Random random(seed);
        Matrix W = random.matrix(3, 3);
        if (seed % 4 != 0) W = (W * W.transpose()).eval();
        const Vector q = random.vector(3);
        const double mu = random.uniform(0.1, 2.0);
        double margin = std::abs(q(0));
        std::vector<Vector> expected = slips_by_scan(W, q, mu, margin);
        if (q(0) > 0.0) expected.push_back(Vector::Zero(3));
        const Vector stick = least_squares(W, -q);
        const double inside = (mu * stick(0) - stick.tail(2).norm()) / stick.norm();
        if (inside > 0.0) expected.push_back(stick);
        if (std::min(margin, std::abs(inside)) < 1e-4) continue;
        ++judged;
        const FrictionProblem p = one(W, to_vector(q), spatial(mu));
        const AllSolutions all = all_solutions(p);
        EXPECT_TRUE(all.complete) << seed;
        expect_the_same(expected, all.r, "seed " + std::to_string(seed));
        const Solution s = solve(p);
        EXPECT_EQ(s.status, expected.empty() ? Status::infeasible : Status::converged)
            << seed << " residual " << s.residual;
        several += expected.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(judged, 350);
    EXPECT_GT(several, 30);
}

TEST(OneSpatialContact, DoesNotListReactionsInWhichTheVelocitiesAreLost) {
    // W has rank 2, so that sticking has no solution. The computed reaction of 2.5e15 absorbs the velocities, which are
    // of size 1, in its rounding errors: its residual is zero, but no law holds.
    const Matrix W =
        (Matrix(3, 3) << 5.359375, 6.125, -2.296875, 6.125, 7.0, -2.625, -2.296875, -2.625, 0.984375).finished();
    const AllSolutions all = all_solutions(one(W, {2.25, 2.5, -1.25}, spatial(1.0625)));
    ASSERT_EQ(all.r.size(), 1U);
    EXPECT_EQ(all.r[0], std::vector<double>(3, 0.0));
    EXPECT_FALSE(all.complete);
}

TEST(OneSpatialContact, MovingInAPlaneHasThePlanarSolutions) {
    for (double normal = -2.0; normal <= 2.0; normal += 0.37)
        for (double tangential = -3.0; tangential <= 3.0; tangential += 0.29) {
            const Matrix plane = rod(steep);
            Matrix W = Matrix::Zero(3, 3);
            W.topLeftCorner(2, 2) = plane;
            W(2, 2) = 1.7;
            const AllSolutions flat = all_solutions(one(plane, {normal, tangential}, planar(rough)));
            const AllSolutions all = all_solutions(one(W, {normal, tangential, 0.0}, spatial(rough)));
            EXPECT_TRUE(all.complete);
            EXPECT_GE(all.r.size(), flat.r.size());  // others may slip out of the plane, in pairs
            EXPECT_EQ((all.r.size() - flat.r.size()) % 2, 0U) << normal << " " << tangential;
            for (const std::vector<double>& r : flat.r) {
                double nearest = 1e300;
                for (const std::vector<double>& s : all.r)
                    nearest = std::min(nearest, std::hypot(s[0] - r[0], s[1] - r[1], s[2]));
                EXPECT_LT(nearest, 1e-9) << normal << " " << tangential;
            }
        }
}

}  // namespace
}  // namespace saltus::solvers::painleve_test
