// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/audit/dissipation.hpp"

#include <limits>

#include "collisions.hpp"
#include "reference/reference.hpp"
#include "saltus/base/factors.hpp"

namespace saltus::impact::dissipation_tests {
namespace {

using namespace test;
using saltus::test::reference::entry;
using saltus::test::reference::Value;

const Matrix rod = matrix_of({{2.5, 1.5}, {1.5, 2.5}});

TEST(Dissipation, OfTheRodWithUnequalCoefficientsIsNotPromised) {
    const Value expected = entry("leine_impact_rod_energy_increase")["outputs"];
    const DissipationTest t = dissipation_test({rod, vector_of({0.9, 0.0})});
    EXPECT_NEAR(t.condition, expected["cond_G"], 1e-13);
    EXPECT_NEAR(t.left, expected["cond7a_lhs"], 1e-15);
    EXPECT_NEAR(t.right, expected["cond7a_rhs"], 1e-14);
    EXPECT_NEAR(t.largest_e, expected["largest_e_max_allowed_by_7a"], 1e-14);
    EXPECT_NEAR(t.smallest_eigenvalue, expected["min_eig_sym_GB"], 1e-14);
    EXPECT_FALSE(t.small_coefficients);
    EXPECT_FALSE(t.safe);
    EXPECT_EQ(
        t.sentence,
        "collisions may create energy: condition 7a fails (0.947368 >= 1/cond(D) = 0.25; coefficients up to 0.142857 "
        "would do), and the quadratic form of the work has the eigenvalue -0.107454");
}

TEST(Dissipation, OfEqualCoefficientsIsPromised) {
    const Value expected = entry("leine_impact_rod_equal_e")["outputs"];
    const DissipationTest t = dissipation_test({rod, vector_of({0.9, 0.9})});
    EXPECT_TRUE(t.equal_coefficients);
    EXPECT_FALSE(t.small_coefficients);
    EXPECT_NEAR(t.smallest_eigenvalue, expected["min_eig_sym_GB"], 1e-14);
    EXPECT_TRUE(t.safe);
}

TEST(Dissipation, NegativeCoefficientsPassOnlyThePrintedCondition) {
    // Condition 7a needs e >= 0, which the paper does not state.
    const Value expected = entry("leine_impact_rod_negative_eT_violates_theorem")["outputs"];
    const DissipationTest t = dissipation_test({rod, vector_of({0.0, -0.9})});
    EXPECT_TRUE(t.small_coefficients_as_printed);
    EXPECT_FALSE(t.small_coefficients);
    EXPECT_NEAR(t.smallest_eigenvalue, expected["min_eig_sym_GB"], 1e-13);
    EXPECT_FALSE(t.safe);
}

TEST(Dissipation, OfTheDoublePendulumIsNotPromised) {
    const Value unequal = entry("leine_impact_double_pendulum_energy_increase"), expected = unequal["outputs"];
    const Value equal = entry("leine_impact_double_pendulum_equal_e")["outputs"];
    const Matrix D = matrix_of(unequal["inputs"]["G"].rows());
    const DissipationTest t = dissipation_test({D, vector_of({0.7, 0.0})});
    EXPECT_NEAR(t.condition, expected["cond_G"], 1e-9);
    EXPECT_NEAR(t.right, expected["cond7a_rhs"], 1e-12);
    EXPECT_NEAR(t.largest_e, expected["largest_e_max_allowed_by_7a"], 1e-12);
    EXPECT_NEAR(t.smallest_eigenvalue, expected["min_eig_sym_GB"], 1e-13);
    EXPECT_NEAR(dissipation_test({D, vector_of({0.7, 0.7})}).smallest_eigenvalue, equal["min_eig_sym_GB"], 1e-14);
}

TEST(Dissipation, SmallCoefficientsSufficeAndTheEigenvalueIsSharper) {
    // leine_prop4_A: cond 4 allows 1/7 by 7a
    EXPECT_TRUE(dissipation_test({rod, vector_of({0.14, 0.0})}).small_coefficients);
    EXPECT_FALSE(dissipation_test({rod, vector_of({0.15, 0.0})}).small_coefficients);
    const DissipationTest t = dissipation_test({rod, vector_of({0.5, 0.0})});
    EXPECT_TRUE(t.definite);
    EXPECT_TRUE(t.safe);
    // e_max_sharp_n2 = 0.8 holds over all D of condition 4; this one turns at e² = 1 − D_NT²/(D_NN D_TT) and later.
    EXPECT_TRUE(dissipation_test({rod, vector_of({0.79, 0.0})}).definite);
    EXPECT_FALSE(dissipation_test({rod, vector_of({0.81, 0.0})}).definite);
}

TEST(Dissipation, OfDependentContactsNeedsEqualCoefficientsOrNoFriction) {
    const Matrix D = matrix_of({{1, 1}, {1, 1}});
    const DissipationTest t = dissipation_test({D, vector_of({0.1, 0.0})});
    EXPECT_EQ(t.condition, std::numeric_limits<double>::infinity());
    EXPECT_FALSE(t.small_coefficients);
    EXPECT_FALSE(t.safe);
    EXPECT_TRUE(dissipation_test({D, vector_of({0.1, 0.0}), false}).safe);
    EXPECT_TRUE(dissipation_test({D, vector_of({0.1, 0.1})}).safe);
    EXPECT_TRUE(dissipation_test({Matrix(0, 0), Vector(0)}).safe);
}

TEST(Dissipation, IsNeverPromisedWhereNewtonsLawCreatesEnergy) {
    // One planar contact by all its cases: stick, slip to either side.
    Random random(1);
    int created = 0, promised = 0;
    for (int k = 0; k < 20000; ++k) {
        const Matrix D = random.mass(2);
        const double e_n = random.uniform(), e_t = k % 3 == 0 ? e_n : random.uniform(), mu = random.uniform();
        const Vector gamma = vector_of({-random.uniform(), random.normal()});
        const Vector xi_free = vector_of({(1.0 + e_n) * gamma(0), (1.0 + e_t) * gamma(1)});
        std::vector<Vector> solutions;
        const Vector stick = -inverse(D) * xi_free;
        if (std::abs(stick(1)) <= mu * stick(0)) solutions.push_back(stick);
        for (const double side : {1.0, -1.0}) {
            const double denominator = D(0, 0) - side * mu * D(0, 1);
            if (!(denominator > 1e-6)) continue;
            const double n = -xi_free(0) / denominator;
            const Vector Lambda = vector_of({n, -side * mu * n});
            if (side * (xi_free(1) + D.row(1).dot(Lambda)) >= 0.0) solutions.push_back(Lambda);
        }
        const DissipationTest t = dissipation_test({D, vector_of({e_n, e_t})});
        promised += t.safe;
        for (const Vector& Lambda : solutions) {
            const double work = (gamma + 0.5 * (D * Lambda)).dot(Lambda);
            created += work > 1e-9;
            if (t.safe) {
                EXPECT_LE(work, 1e-9 * (1.0 + Lambda.squaredNorm() * D.norm())) << k;
            }
        }
    }
    EXPECT_GT(created, 50);
    EXPECT_GT(promised, 5000);
}

}  // namespace
}  // namespace saltus::impact::dissipation_tests
