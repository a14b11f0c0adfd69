// SPDX-License-Identifier: Apache-2.0
// Several contacts between the same bodies: a few independent rows of W determine the others.
#include <gtest/gtest.h>

#include "saltus/solvers/friction/detail/interfaces.hpp"

#include "allocations.hpp"
#include "problems.hpp"
#include "saltus/solvers/friction/detail/interface_system.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::interfaces_test {
namespace {

using namespace test;
using saltus::test::allocations;

/// Three bodies in a row and the ground, forty contacts: three interfaces with the ground, of rank 6 each, and two
/// between bodies, of rank 12, since the two bodies' points of a contact are chosen independently here.
FrictionProblem crowded(unsigned seed) {
    return pile(seed, mixed(seed, {Sort::spatial, Sort::planar, Sort::unilateral}, 40), 3);
}

Matrix theta_of(const Interfaces& interfaces, const BlockMatrix& W) {
    Matrix theta = Matrix::Zero(W.rows(), interfaces.reduced().rows());
    for (int a = 0; a < W.blocks(); ++a) {
        const int g = interfaces.of_block(a), rank = interfaces.reduced().block_size(g);
        for (int i = 0; i < W.block_size(a); ++i)
            for (int k = 0; k < rank; ++k)
                theta(W.start[ix(a)] + i, interfaces.reduced().start[ix(g)] + k) = interfaces.theta(a)[i * rank + k];
    }
    return theta;
}

TEST(Interfaces, OfCrowdedBodiesGiveTheMatrixFromAFewOfItsRows) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const FrictionProblem p = crowded(seed);
        Interfaces interfaces;
        ASSERT_TRUE(interfaces.prepare(p.W)) << seed;
        EXPECT_LE(interfaces.reduced().rows(), 3 * 6 + 2 * 12) << seed;
        const Matrix W = to_dense(p.W), theta = theta_of(interfaces, p.W);
        // Nearly dependent rows lose digits: the error is rounding over √(the smallest share that counts as
        // independent).
        EXPECT_LT((theta * to_dense(interfaces.reduced()) * theta.transpose() - W).norm(), 1e-9 * W.norm()) << seed;
    }
}

TEST(Interfaces, AreRefusedIfAllRowsAreIndependent) {
    Interfaces interfaces;
    Random random(1);
    const std::vector<int> sizes(20, 3);
    EXPECT_FALSE(interfaces.prepare(BlockMatrix::from_dense(with_condition(random, 60, 10.0, 60), sizes)));
    // A chain: one contact per pair of bodies.
    EXPECT_FALSE(interfaces.prepare(sparse(Matrix::Identity(60, 60), sizes)));
}

TEST(Interfaces, AreRefusedForMatricesThatAreNotQuiteOfThatForm) {
    FrictionProblem p = crowded(3);
    Random random(2);
    for (double& w : p.W.values) w *= 1.0 + 1e-6 * random.normal();
    EXPECT_FALSE(Interfaces().prepare(p.W));
}

TEST(InterfaceSystem, SolvesTheSystemOfNewtonsMethod) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const FrictionProblem p = crowded(seed);
        const int n = p.W.rows();
        Random random(seed);
        const double epsilon = 1e-3 * p.W.diagonal_mean();
        std::vector<double> C, E;
        std::vector<std::size_t> at;
        Matrix dense_C = Matrix::Zero(n, n), dense_E = Matrix::Zero(n, n);
        for (int a = 0; a < p.W.blocks(); ++a) {
            const int size = p.W.block_size(a), first = p.W.start[ix(a)];
            at.push_back(C.size());
            const bool open = random.uniform() < 0.3;
            for (int i = 0; i < size; ++i)
                for (int j = 0; j < size; ++j) {
                    const double own = i == j ? 1.0 : 0.2 * random.normal();
                    C.push_back(open ? 0.0 : own);
                    E.push_back(open ? (i == j ? 1.0 : 0.0) : 0.1 * (i == j ? 1.0 : 0.0));
                    dense_C(first + i, first + j) = C.back();
                    dense_E(first + i, first + j) = E.back();
                }
        }
        InterfaceSystem system;
        ASSERT_TRUE(system.prepare(p.W)) << seed;
        ASSERT_TRUE(system.factorise(p.W, C, E, at, epsilon)) << seed;
        const Vector b = random.vector(n);
        std::vector<double> x(ix(n));
        system.solve(p.W, to_vector(b), x);
        const Matrix J = dense_C * (to_dense(p.W) + epsilon * Matrix::Identity(n, n)) + dense_E;
        EXPECT_LT((J * to_eigen(x) - b).norm(), 1e-8 * b.norm()) << seed;
    }
}

TEST(CrowdedBodies, AreSolvedAndRepeatedlySoWithoutAllocation) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        FrictionProblem p = crowded(seed);
        Workspace workspace;
        Solution s;
        for (const FrictionMethod& method : {FrictionMethod(Automatic{1e-9}), FrictionMethod(Newton{200, 1e-9})}) {
            solve(p, method, workspace, s);
            if (s.status != Status::converged) {  // Newton alone need not get there
                EXPECT_TRUE(std::holds_alternative<Newton>(method)) << seed << " residual " << s.residual;
                continue;
            }
            for (double& q : p.q) q *= 1.001;
            const std::size_t before = allocations();
            solve(p, method, workspace, s);
            EXPECT_EQ(allocations() - before, 0U) << seed << " " << s.method;
        }
    }
}

}  // namespace
}  // namespace saltus::solvers::interfaces_test
