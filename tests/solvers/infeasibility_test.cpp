// SPDX-License-Identifier: Apache-2.0
// Proofs of infeasibility of friction problems, checked independently of the code that finds them.
#include <gtest/gtest.h>

#include "saltus/solvers/friction/detail/infeasibility.hpp"

#include "problems.hpp"
#include "saltus/solvers/complementarity/lemke.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::infeasibility_test {
namespace {

using namespace test;

/// yᵀ(W r + q) < 0 for every r that the laws allow and that is not absurdly long, 1e8 times ‖q‖/mean(diag W): with
/// g = Wᵀy it is yᵀq plus, for each block, the largest gᵀr. That is 0 for cones with g_N + Σ μ‖g_T‖ <= 0, bound·‖g‖ for
/// sliders, and 0 for bilateral rows with g = 0. Rounding leaves an excess of these terms, which contributes at most
/// excess √n ‖r‖.
void expect_certificate(const FrictionProblem& p, const std::vector<double>& certificate, const std::string& what) {
    ASSERT_EQ(certificate.size(), p.q.size()) << what;
    const Vector y = to_eigen(certificate), q = to_eigen(p.q);
    const Vector g = to_dense(p.W).transpose() * y;
    double value = y.dot(q), excess = 0.0;
    for (int a = 0; a < p.contacts(); ++a) {
        const Law& law = p.laws[ix(a)];
        const Eigen::Index i = p.W.start[ix(a)], n = p.W.block_size(a);
        const Vector own = g.segment(i, n);
        if (law.kind == LawKind::bilateral) {
            excess = std::max(excess, own.norm());
            continue;
        }
        if (law.kind == LawKind::slider) {
            EXPECT_EQ(y.segment(i, n).norm(), 0.0) << what;
            value += law.bound * own.norm();
            continue;
        }
        EXPECT_GE(y(i), 0.0) << what;
        EXPECT_EQ(y.segment(i + 1, n - 1).norm(), 0.0) << what;
        excess = std::max(excess, own(0) + law.mu * own.tail(n - 1).norm());  // laws of sliding alone
    }
    const double length = 1e8 * q.norm() / p.W.diagonal_mean();
    EXPECT_LT(value + excess * std::sqrt(static_cast<double>(p.contacts())) * length, 0.0) << what;
    EXPECT_LT(value, -1e-6 * y.norm() * q.norm()) << what;
}

void expect_infeasible(const FrictionProblem& p, const std::string& what) {
    const std::vector<double> y = certificate_of_infeasibility(p);
    ASSERT_FALSE(y.empty()) << what;
    expect_certificate(p, y, what);
    EXPECT_GT(excluded_length(p, y), 1e8 * to_eigen(p.q).norm() / p.W.diagonal_mean()) << what;
    const Solution s = solve(p);
    EXPECT_EQ(s.status, Status::infeasible) << what << " residual " << s.residual;
    expect_certificate(p, s.certificate, what + ", by the automatic method");
}

/// `beads` balls in a row between two walls that come closer with the speeds given; contacts wall–bead, bead–bead, …,
/// with normals along the row, and the tangents of spatial contacts (rolling of the balls included: radius 1).
FrictionProblem row_of_beads(int beads, const Law& law, double from_the_left, double from_the_right) {
    const int d = law_size(law.kind), contacts = beads + 1;
    Matrix H = Matrix::Zero(d * contacts, 6 * beads);
    for (int c = 0; c < contacts; ++c) {
        const auto row = [&](int bead, double side, double arm) {  // translation x, y, z, rotation about them
            if (bead < 0 || bead >= beads) return;
            H(d * c, 6 * bead) = side;
            if (d > 1) H(d * c + 1, 6 * bead + 1) = side, H(d * c + 1, 6 * bead + 5) = side * arm;
            if (d > 2) H(d * c + 2, 6 * bead + 2) = side, H(d * c + 2, 6 * bead + 4) = -side * arm;
        };
        row(c, 1.0, -1.0);      // the bead to the right of the contact
        row(c - 1, -1.0, 1.0);  // and the one to the left
    }
    FrictionProblem p;
    p.laws.assign(ix(contacts), law);
    p.W = sparse(H * H.transpose(), std::vector<int>(ix(contacts), d));
    p.q.assign(ix(d * contacts), 0.0);
    p.q.front() = -from_the_left;
    p.q[ix(d * (contacts - 1))] = -from_the_right;
    return p;
}

TEST(InfeasibilityProof, OfTwoWallsThatCloseOnABody) {
    for (const Law& law : {unilateral(), planar(0.0), planar(0.3), planar(2.0), spatial(0.3), spatial(0.0)}) {
        const std::string what = "law of size " + std::to_string(law_size(law.kind));
        expect_infeasible(row_of_beads(1, law, 1.0, 1.0), what);
        expect_infeasible(row_of_beads(1, law, 3.0, -1.0), what + ", one recedes");
        expect_infeasible(row_of_beads(1, law, 1e-6, 2e-6), what + ", slowly");
    }
}

TEST(InfeasibilityProof, IsTheForceWithoutResistance) {
    const std::vector<double> y = certificate_of_infeasibility(row_of_beads(1, unilateral(), 1.0, 1.0));
    ASSERT_EQ(y.size(), 2U);
    EXPECT_NEAR(y[0], std::sqrt(0.5), 1e-9);  // a unit vector
    EXPECT_NEAR(y[1], y[0], 1e-9);
}

TEST(InfeasibilityProof, OfARowOfBeadsBetweenClosingWalls) {
    for (const int beads : {2, 5, 12})
        for (const Law& law : {unilateral(), planar(0.3), spatial(0.5)})
            expect_infeasible(row_of_beads(beads, law, 1.0, 0.5), std::to_string(beads) + " beads");
}

TEST(InfeasibilityProof, IsNotGivenToWallsThatMoveAlong) {
    for (const int beads : {1, 2, 5, 12})
        for (const Law& law : {unilateral(), planar(0.3), spatial(0.5)}) {
            const FrictionProblem p = row_of_beads(beads, law, 1.0, -1.0);  // the limit: squeezed by nothing
            EXPECT_TRUE(certificate_of_infeasibility(p).empty()) << beads;
            EXPECT_EQ(solve(p, Automatic{1e-8}).status, Status::converged) << beads;
        }
}

TEST(InfeasibilityProof, OfBilateralRowsThatContradictEachOther) {
    expect_infeasible(one(Matrix::Ones(2, 2), {1, 2}, bilateral()), "one row twice");
    // Three bars that hold one point in the plane, at velocities no rigid point has.
    const Matrix H = (Matrix(3, 2) << 1, 0, 0, 1, 0.6, 0.8).finished();
    expect_infeasible(problem_of(H * H.transpose(), {1, 1, 0}, {bilateral(), bilateral(), bilateral()}, {1, 1, 1}),
                      "three bars");
    const FrictionProblem consistent =
        problem_of(H * H.transpose(), {1, 1, 1.4}, {bilateral(), bilateral(), bilateral()}, {1, 1, 1});
    EXPECT_TRUE(certificate_of_infeasibility(consistent).empty());
    EXPECT_EQ(solve(consistent).status, Status::converged);
}

TEST(InfeasibilityProof, OfABodyThatASliderIsTooWeakToHold) {
    // A wall pushes with 3, a guide at rest stands behind: v = ±1 u. The slider acts on the same motion.
    const Matrix H = (Matrix(3, 1) << 1, -1, 1).finished();
    const FrictionProblem p =
        problem_of(H * H.transpose(), {-3, -1, 0}, {unilateral(), unilateral(), slider(0.5)}, {1, 1, 1});
    expect_infeasible(p, "slider");
}

TEST(InfeasibilityProof, IsNeverGivenToProblemsWithASolution) {
    const std::vector<Sort> sorts{Sort::unilateral,
                                  Sort::planar,
                                  Sort::spatial,
                                  Sort::drilling,
                                  Sort::rolling,
                                  Sort::slider,
                                  Sort::bilateral,
                                  Sort::slider_in_the_plane,
                                  Sort::planar,
                                  Sort::spatial,
                                  Sort::rolling_and_drilling};
    for (unsigned seed = 0; seed < 400; ++seed) {
        Recipe recipe;
        if (seed % 4 == 0) recipe.bodies = 1 + static_cast<int>(seed % 3);
        if (seed % 4 == 1) recipe.rank = 0.5;
        recipe.condition = seed % 4 == 2 ? 1e8 : 1e2;
        const Constructed c = constructed(seed, mixed(seed, sorts, 1 + static_cast<int>(seed % 8)), recipe);
        EXPECT_TRUE(certificate_of_infeasibility(c.problem).empty()) << seed;
    }
    for (unsigned seed = 0; seed < 100; ++seed)
        EXPECT_TRUE(certificate_of_infeasibility(
                        pile(seed, mixed(seed, {Sort::unilateral, Sort::planar, Sort::spatial}, 10), 2))
                        .empty())
            << seed;
}

TEST(ExcludedLength, IsZeroForWhatIsNoCertificate) {
    const FrictionProblem p = row_of_beads(1, planar(0.3), 1.0, 1.0);
    EXPECT_EQ(excluded_length(p, std::vector<double>{1, 0, 1, 0}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(excluded_length(p, std::vector<double>{-1, 0, 1, 0}), 0.0);    // a negative weight
    EXPECT_EQ(excluded_length(p, std::vector<double>{1, 0.1, 1, 0}), 0.0);   // a weight on a tangent
    EXPECT_EQ(excluded_length(p, std::vector<double>{0, 0, 0, 0}), 0.0);     // nothing
    EXPECT_LT(excluded_length(p, std::vector<double>{1, 0, 0.9, 0}), 20.0);  // excludes small reactions only
    EXPECT_GT(excluded_length(p, std::vector<double>{1, 0, 0.9, 0}), 1.0);
}

TEST(ExcludedLength, CountsTheFrictionThatMayHelp) {
    // v_N = −r_N + 2 r_T − 1: out of reach for |r_T| <= 0.3 r_N, within reach of r_N = 1/0.6 with μ = 0.8.
    const Matrix W = (Matrix(2, 2) << -1, 2, 2, 5).finished();
    const std::vector<double> y{1, 0};
    EXPECT_EQ(excluded_length(one(W, {-1, 0}, planar(0.3)), y), std::numeric_limits<double>::infinity());
    EXPECT_NEAR(excluded_length(one(W, {-1, 0}, planar(0.8)), y), 1.0 / 0.6, 1e-12);
}

TEST(Lemke, CertificateProvesThatThereIsNoSolution) {
    LinearComplementarity p;
    p.M = (Matrix(2, 2) << 1, -1, -1, 1).finished();
    p.q = (Vector(2) << -1, -1).finished();
    const Solution s = solve(p, Lemke{});
    ASSERT_EQ(s.status, Status::infeasible);
    const Vector y = to_eigen(s.certificate);
    EXPECT_GE(y.minCoeff(), 0.0);
    EXPECT_LE((p.M.transpose() * y).maxCoeff(), 1e-12);
    EXPECT_LT(y.dot(p.q), 0.0);
}

TEST(AWallThatCannotBePushedAway, IsNotCalledSolved) {
    const FrictionProblem p = row_of_beads(1, unilateral(), 1.0, 1.0);
    for (const FrictionMethod& method :
         std::vector<FrictionMethod>{Automatic{1e-8}, GaussSeidel{}, Newton{}, Proximal{}, Lemke{}}) {
        const Solution s = solve(p, method);
        EXPECT_NE(s.status, Status::converged) << s.method;
        EXPECT_GT(s.residual, 1e-4) << s.method;
    }
}

}  // namespace
}  // namespace saltus::solvers::infeasibility_test
