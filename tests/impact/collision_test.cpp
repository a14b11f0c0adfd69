// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/impact/collision.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "allocations.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/solvers/detail/residual.hpp"

namespace saltus::impact::collision_test {
namespace {

using solvers::Law;
using solvers::LawKind;
using solvers::Status;

constexpr double tolerance = 1e-12;
// Velocities of size 1 after a few solves to the tolerance.
constexpr double close = 100 * tolerance;

Law law_of(LawKind kind, double mu = 0.0, int row = -1) {
    Law law;
    law.kind = kind;
    law.mu = mu;
    law.row = row;
    return law;
}

Vector vector_of(std::initializer_list<double> values) {
    Vector x(static_cast<Eigen::Index>(values.size()));
    std::copy(values.begin(), values.end(), x.data());
    return x;
}

Matrix matrix_of(std::initializer_list<std::initializer_list<double>> rows) {
    Matrix A(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows.begin()->size()));
    Eigen::Index i = 0;
    for (const auto& row : rows) {
        Eigen::Index j = 0;
        for (const double value : row) A(i, j++) = value;
        ++i;
    }
    return A;
}

std::vector<double> to_vector(const Vector& x) { return {x.data(), x.data() + x.size()}; }
Vector to_eigen(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// A system that collides: M, the rows Wᵀ, χ and the velocities before.
struct Bodies {
    Matrix M, rows;
    Vector u;
    Vector chi;  // empty: 0

    Collision collision(const std::vector<Law>& laws, const std::vector<double>& e,
                        ImpactLaw law = ImpactLaw::newton) const {
        std::vector<int> sizes;
        for (const Law& l : laws) sizes.push_back(std::max(1, solvers::law_size(l.kind)));
        Collision c;
        c.problem.W = solvers::BlockMatrix::from_dense(rows * Cholesky(M).solve_columns(rows.transpose()), sizes);
        c.problem.laws = laws;
        c.gamma_minus = to_vector(chi.size() == 0 ? Vector(rows * u) : Vector(rows * u + chi));
        c.chi = to_vector(chi);
        c.e = e;
        c.law.assign(laws.size(), law);
        c.kinetic_energy = energy(u);
        return c;
    }
    double energy(const Vector& v) const { return 0.5 * v.dot(M * v); }
    Vector after(const Outcome& o) const { return u + Cholesky(M).solve(rows.transpose() * to_eigen(o.Lambda)); }
};

Outcome outcome_of(const Collision& c, double within = tolerance) {
    solvers::Workspace workspace;
    Outcome o;
    collide(c, within, workspace, o);
    return o;
}

/// Balls in a row, each contact between neighbours.
Bodies chain(const std::vector<double>& masses, const std::vector<double>& u) {
    const auto n = static_cast<Eigen::Index>(masses.size());
    Bodies b{to_eigen(masses).asDiagonal(), Matrix::Zero(n - 1, n), to_eigen(u), {}};
    for (Eigen::Index i = 0; i + 1 < n; ++i) b.rows(i, i) = -1.0, b.rows(i, i + 1) = 1.0;
    return b;
}

void expect_near(const Vector& a, const Vector& b, double within = close) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_LE((a - b).cwiseAbs().maxCoeff(), within) << a.transpose() << " against " << b.transpose();
}

const std::vector<Law> one_contact{law_of(LawKind::unilateral)};
const std::vector<ImpactLaw> all_laws{ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energy};

// --- frictionless --------------------------------------------------------------------------------------------

/// A contact beside another one that it does not touch. The two are solved together, one alone by its closed form.
TEST(OneContact, ComesOutTheSameAloneAndBesideAnotherContact) {
    for (const double e : {0.0, 0.3, 1.0})
        for (const double speed : {-3.0, -1e-9, 0.0, 2.0}) {
            const Bodies alone{matrix_of({{2.5}}), matrix_of({{1.5}}), vector_of({speed}), {}};
            const Bodies both{
                matrix_of({{2.5, 0.0}, {0.0, 1.0}}), matrix_of({{1.5, 0.0}, {0.0, 1.0}}), vector_of({speed, -1.0}), {}};
            const Outcome a = outcome_of(alone.collision(one_contact, {e}));
            const Outcome b = outcome_of(both.collision({one_contact[0], one_contact[0]}, {e, 0.5}));
            EXPECT_EQ(a.status, Status::converged);
            EXPECT_EQ(a.solves, 1);
            EXPECT_LE(a.residual, tolerance);
            EXPECT_NEAR(a.Lambda[0], b.Lambda[0], close);
            EXPECT_NEAR(a.gamma_plus[0], b.gamma_plus[0], close);
            EXPECT_NEAR(a.work, 0.5 * (a.gamma_plus[0] + 1.5 * speed) * a.Lambda[0], close);
        }
}

TEST(OneContact, AllLawsReturnTheFractionEOfTheApproachSpeed) {
    const Bodies ball{matrix_of({{2.5}}), matrix_of({{1.0}}), vector_of({-3.0}), {}};
    for (const ImpactLaw law : all_laws)
        for (const double e : {0.0, 0.3, 0.8, 1.0}) {
            const Outcome o = outcome_of(ball.collision(one_contact, {e}, law));
            EXPECT_EQ(o.status, Status::converged) << o.note;
            EXPECT_NEAR(o.gamma_plus[0], 3.0 * e, close);
            EXPECT_NEAR(o.Lambda[0], 2.5 * 3.0 * (1.0 + e), close);
            EXPECT_NEAR(o.work, 0.5 * 2.5 * 9.0 * (e * e - 1.0), close);
            EXPECT_EQ(o.note, "");
        }
}

TEST(OneContact, ThatLeavesIsNotHitAndIsNotHeldBack) {
    const Bodies ball{matrix_of({{2.5}}), matrix_of({{1.0}}), vector_of({3.0}), {}};
    for (const ImpactLaw law : all_laws) {
        const Outcome o = outcome_of(ball.collision(one_contact, {0.7}, law));
        EXPECT_EQ(o.Lambda[0], 0.0);
        EXPECT_EQ(o.gamma_plus[0], 3.0);
        EXPECT_EQ(o.work, 0.0);
    }
}

TEST(OneContact, PoissonEqualsNewtonWithoutFriction) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 50; ++k) {
        const Matrix A = Matrix::NullaryExpr(4, 4, [&] { return normal(random); });
        const Bodies b{A * A.transpose() + Matrix::Identity(4, 4),
                       Matrix::NullaryExpr(1, 4, [&] { return normal(random); }),
                       Vector::NullaryExpr(4, [&] { return normal(random); }),
                       {}};
        const double e = 0.02 * k;
        const Outcome newton = outcome_of(b.collision(one_contact, {e}));
        const Outcome poisson = outcome_of(b.collision(one_contact, {e}, ImpactLaw::poisson));
        EXPECT_NEAR(newton.Lambda[0], poisson.Lambda[0], close * (1.0 + newton.Lambda[0]));
        EXPECT_NEAR(newton.work, poisson.work, close * (1.0 + std::abs(newton.work)));
    }
}

TEST(TwoBalls, EqualOnesExchangeTheirVelocities) {
    const Bodies b = chain({1.0, 1.0}, {1.0, 0.0});
    for (const ImpactLaw law : all_laws)
        expect_near(b.after(outcome_of(b.collision(one_contact, {1.0}, law))), vector_of({0.0, 1.0}));
}

TEST(ThreeBalls, PropagateByHandComputedImpulses) {
    const Bodies b = chain({1.0, 1.0, 1.0}, {1.0, 0.0, 0.0});  // D = [2 −1; −1 2], γ⁻ = (−1, 0)
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    const auto after = [&](double e1, double e2, ImpactLaw law) {
        return b.after(outcome_of(b.collision(laws, {e1, e2}, law)));
    };
    const Vector elastic = vector_of({-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0});
    for (const ImpactLaw law : all_laws) expect_near(after(1.0, 1.0, law), elastic);
    // Second contact elastic, first not: Newton's law sees γ⁻ = 0 there and restores nothing. Poisson's restores the
    // compression impulse 1/3; the first contact must then press on with Λ_E = 1/6 although its e is 0.
    expect_near(after(0.0, 1.0, ImpactLaw::newton), Vector::Constant(3, 1.0 / 3.0));
    expect_near(after(0.0, 1.0, ImpactLaw::poisson), vector_of({1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0}));
    // First elastic, second not: Λ_C = (2/3, 1/3), Λ_E = (2/3, 1/3): the second must follow by more than its e.
    expect_near(after(1.0, 0.0, ImpactLaw::poisson), elastic);
}

TEST(NewtonsCradle, GainsNoEnergy) {
    for (const int balls : {3, 5, 8}) {
        std::vector<double> u(static_cast<std::size_t>(balls), 0.0);
        u[0] = 1.0;
        const Bodies b = chain(std::vector<double>(u.size(), 0.1), u);
        const std::vector<Law> laws(u.size() - 1, law_of(LawKind::unilateral));
        for (const ImpactLaw law : all_laws)
            for (const double e : {0.0, 0.5, 1.0}) {
                const Outcome o = outcome_of(b.collision(laws, std::vector<double>(laws.size(), e), law));
                // All balls together keep 1/n of the energy: no impulse along this direction takes out more.
                const bool possible = law != ImpactLaw::energy || e * e >= 1.0 / balls;
                ASSERT_EQ(o.status, possible ? Status::converged : Status::infeasible) << o.note;
                if (!possible) continue;
                const double change = b.energy(b.after(o)) - b.energy(b.u);
                EXPECT_LE(change, close);
                EXPECT_NEAR(change, o.work, close);
                EXPECT_GE(change, e == 1.0 ? -close : -b.energy(b.u));
                for (const double gamma : o.gamma_plus) EXPECT_GE(gamma, -close);
            }
    }
}

TEST(NewtonsCradle, OfFiveSendsTheFirstBallBackWithThreeFifths) {
    const Bodies b = chain(std::vector<double>(5, 0.1), {1.0, 0.0, 0.0, 0.0, 0.0});
    const std::vector<Law> laws(4, law_of(LawKind::unilateral));
    expect_near(b.after(outcome_of(b.collision(laws, {1.0, 1.0, 1.0, 1.0}))), vector_of({-0.6, 0.4, 0.4, 0.4, 0.4}));
}

TEST(BallBallAndWall, AtOnceWithoutLossKeepTheEnergy) {
    // Ball 1 hits ball 2 from the left while ball 2 hits the wall to its right.
    Bodies b = chain({1.0, 3.0}, {2.0, 0.5});
    b.rows.conservativeResize(2, 2);
    b.rows.row(1) << 0.0, -1.0;
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    for (const ImpactLaw law : all_laws) {
        const Outcome o = outcome_of(b.collision(laws, {1.0, 1.0}, law));
        ASSERT_EQ(o.status, Status::converged);
        EXPECT_NEAR(o.work, 0.0, close * 10);
        EXPECT_NEAR(b.energy(b.after(o)), b.energy(b.u), close * 10);
        for (const double gamma : o.gamma_plus) EXPECT_GE(gamma, -close);
    }
}

TEST(SuperfluousContact, LeavesFasterThanNewtonSays) {
    // A bar hits two stops, the second of which the first impulse lifts off: w₁ = (1, 0), w₂ = (1, −3), M = 1.
    // Λ₁ = 1 gives γ₁⁺ = 0 and γ₂⁺ = −0.1 + 1 = 0.9 > 0 = −e γ₂⁻.
    const Bodies b{Matrix::Identity(2, 2), matrix_of({{1.0, 0.0}, {1.0, -3.0}}), vector_of({-1.0, -0.3}), {}};
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson}) {
        const Outcome o = outcome_of(b.collision(laws, {0.0, 0.0}, law));
        EXPECT_NEAR(o.Lambda[0], 1.0, close);
        EXPECT_EQ(o.Lambda[1], 0.0);
        EXPECT_NEAR(o.gamma_plus[1], 0.9, close);
    }
}

TEST(LeavingContact, ThatOthersPushBackIsStoppedAtTheObstacle) {
    // A mass between two walls that both touch it: it leaves one and hits the other. With e = 1 on both, ξ alone would
    // allow γ⁺ = −γ⁻ at the wall it leaves.
    const Bodies b{Matrix::Identity(2, 2), matrix_of({{1.0, 0.0}, {-0.6, 0.8}}), vector_of({-1.0, 0.0}), {}};
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson}) {
        const Outcome o = outcome_of(b.collision(laws, {1.0, 1.0}, law));
        ASSERT_EQ(o.status, Status::converged);
        for (const double gamma : o.gamma_plus) EXPECT_GE(gamma, -close);
    }
}

TEST(RedundantContacts, OfABlockOnFourCornersGiveTheVelocityOfOne) {
    // z, two rotations; corners at (±1, ±2): rank 3, four impulses.
    const Bodies b{vector_of({2.0, 1.5, 0.4}).asDiagonal(),
                   matrix_of({{1, 2, -1}, {1, 2, 1}, {1, -2, 1}, {1, -2, -1}}),
                   vector_of({-3.0, 0.0, 0.0}),
                   {}};
    const std::vector<Law> laws(4, law_of(LawKind::unilateral));
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson})
        for (const double e : {0.0, 0.5, 1.0}) {
            const Outcome o = outcome_of(b.collision(laws, {e, e, e, e}, law));
            ASSERT_EQ(o.status, Status::converged) << o.note;
            expect_near(b.after(o), vector_of({3.0 * e, 0.0, 0.0}));
            for (const double Lambda : o.Lambda) EXPECT_GE(Lambda, 0.0);
        }
}

TEST(MovingWall, DoesNegativeWorkThoughTheKineticEnergyGrows) {
    // [Glocker] page 1: m at rest, a wall with speed v, no restitution.
    const double m = 1.5, v = 2.0;
    const Bodies b{matrix_of({{m}}), matrix_of({{1.0}}), vector_of({0.0}), vector_of({-v})};
    const Outcome o = outcome_of(b.collision(one_contact, {0.0}));
    EXPECT_NEAR(o.work, -0.5 * m * v * v, close);
    EXPECT_NEAR(b.energy(b.after(o)), 0.5 * m * v * v, close);
    // Thrown back elastically it has 2v, and the contact has done no work.
    const Outcome elastic = outcome_of(b.collision(one_contact, {1.0}));
    expect_near(b.after(elastic), vector_of({2.0 * v}));
    EXPECT_NEAR(elastic.work, 0.0, close);
}

TEST(ClosingWalls, AroundABodyHaveNoOutcome) {
    const Bodies b{matrix_of({{1.0}}), matrix_of({{1.0}, {-1.0}}), vector_of({0.0}), vector_of({-1.0, -1.0})};
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    for (const ImpactLaw law : all_laws) {
        const Outcome o = outcome_of(b.collision(laws, {0.5, 0.5}, law), 1e-10);
        EXPECT_EQ(o.status, Status::infeasible);
        EXPECT_NE(o.note.find("is not solved (infeasible"), std::string::npos) << o.note;
        // However close to rounding the tolerance, impulses that run away are no solution.
        EXPECT_FALSE(usable(outcome_of(b.collision(laws, {0.5, 0.5}, law), 1e-12).status));
    }
}

TEST(ManyContacts, ObeyTheDefinitionOfTheirLaw) {
    // Random frictionless collisions: the outcome is tested against the inequalities themselves.
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int k = 0; k < 200; ++k) {
        const Eigen::Index n = 2 + k % 5, m = 1 + k % 4;
        const Matrix A = Matrix::NullaryExpr(n, n, [&] { return normal(random); });
        Bodies b{A * A.transpose() + Matrix::Identity(n, n),
                 Matrix::NullaryExpr(m, n, [&] { return normal(random); }),
                 Vector::NullaryExpr(n, [&] { return normal(random); }),
                 {}};
        const std::vector<Law> laws(static_cast<std::size_t>(m), law_of(LawKind::unilateral));
        std::vector<double> e, none(laws.size(), 0.0);
        for (std::size_t i = 0; i < laws.size(); ++i) e.push_back(uniform(random));
        const Outcome compression = outcome_of(b.collision(laws, none));
        if (compression.status != Status::converged) continue;  // rows that exclude each other
        const Outcome o = outcome_of(b.collision(laws, e, ImpactLaw::poisson));
        ASSERT_EQ(o.status, Status::converged) << k << ": " << o.note;
        for (std::size_t i = 0; i < laws.size(); ++i) {
            const double excess = o.Lambda[i] - (1.0 + e[i]) * compression.Lambda[i];
            const double scale = 1.0 + compression.Lambda[i];
            EXPECT_GE(excess, -1e3 * tolerance * scale);
            EXPECT_GE(o.gamma_plus[i], -1e3 * tolerance * scale);
            EXPECT_LE(std::min(excess, o.gamma_plus[i]), 1e3 * tolerance * scale);
        }
        EXPECT_LE(o.work, 1e3 * tolerance);
    }
}

// --- friction ------------------------------------------------------------------------------------------------

TEST(PlanarImpact, SlipsOrSticksAsComputedByHand) {
    // A point mass: D = 1, γ⁻ = (−1, t). Λ_N = 1 + e; it slips through where t > μ(1 + e), else sticks with Λ_T = −t.
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson})
        for (const double t : {0.1, 0.7, -2.0, 0.0}) {
            const double e = 0.5, mu = 0.4;
            const Bodies b{Matrix::Identity(2, 2), Matrix::Identity(2, 2), vector_of({-1.0, t}), {}};
            const Outcome o = outcome_of(b.collision({law_of(LawKind::friction2, mu)}, {e, 0.0}, law));
            const double Lambda_t = -std::clamp(t, -mu * (1.0 + e), mu * (1.0 + e));
            expect_near(to_eigen(o.Lambda), vector_of({1.0 + e, Lambda_t}));
            expect_near(to_eigen(o.gamma_plus), vector_of({e, t + Lambda_t}));
            EXPECT_LE(o.work, 0.0);
        }
}

TEST(SuperBall, ReversesItsSlipAndKeepsItsEnergy) {
    // Garwin's ball: floor, table, floor make 3/7, −31/49, −333/343 of the first horizontal velocity. x, y, r·φ.
    Bodies b{
        vector_of({1.0, 1.0, 0.4}).asDiagonal(), matrix_of({{0, 1, 0}, {1, 0, 1}}), vector_of({1.0, -5.0, 0.0}), {}};
    const std::vector<Law> law{law_of(LawKind::friction2, 10.0)};
    const double energy = b.energy(b.u);
    int hit = 0;
    for (const double expected : {3.0 / 7.0, -31.0 / 49.0, -333.0 / 343.0}) {
        const double side = hit++ % 2 == 0 ? 1.0 : -1.0;  // floor or table
        b.rows = matrix_of({{0, side, 0}, {1, 0, side}});
        for (const ImpactLaw l : {ImpactLaw::poisson, ImpactLaw::newton}) {
            const Outcome o = outcome_of(b.collision(law, {1.0, 1.0}, l));
            EXPECT_NEAR(o.work, 0.0, close * energy);
            if (l == ImpactLaw::newton)
                b.u = b.after(o);
            else
                EXPECT_NEAR(b.after(o)(0), expected, close);
        }
        EXPECT_NEAR(b.u(0), expected, close);
        EXPECT_NEAR(b.energy(b.u), energy, close * energy);
    }
}

/// One planar contact with coupling: D = [1 c; c 1], e_N = 1, slip t before.
Collision coupled(double c, double t, double mu, ImpactLaw law) {
    Collision collision;
    const int size[] = {2};
    collision.problem.W = solvers::BlockMatrix::from_dense(matrix_of({{1.0, c}, {c, 1.0}}), size);
    collision.problem.laws = {law_of(LawKind::friction2, mu)};
    collision.gamma_minus = {-1.0, t};
    collision.e = {1.0, 0.0};
    collision.law = {law};
    return collision;
}

TEST(UnequalCoefficients, LetNewtonsLawCreateEnergy) {
    // Sticks: Λ_N = (2 + ct)/(1 − c²), Λ_T = −(t + 2c)/(1 − c²), work ½ t Λ_T > 0 for c = −1/2, t = 1/2: 1/6.
    const Outcome o = outcome_of(coupled(-0.5, 0.5, 0.3, ImpactLaw::newton));
    expect_near(to_eigen(o.Lambda), vector_of({7.0 / 3.0, 2.0 / 3.0}));
    EXPECT_NEAR(o.work, 1.0 / 6.0, close);
}

TEST(UnequalCoefficients, LetPoissonsLawCreateNone) {
    // Compression Λ_C = (1, 0), γ_C = 0. Expansion Λ_EN = 1 pushes the slip to −1/2; friction takes 0.3 of it (slips)
    // or all of it (μ = 0.6, sticks).
    const Outcome slips = outcome_of(coupled(-0.5, 0.5, 0.3, ImpactLaw::poisson));
    expect_near(to_eigen(slips.Lambda), vector_of({2.0, 0.3}));
    expect_near(to_eigen(slips.gamma_plus), vector_of({0.85, -0.2}));
    EXPECT_NEAR(slips.work, -0.105, close);
    const Outcome sticks = outcome_of(coupled(-0.5, 0.5, 0.6, ImpactLaw::poisson));
    expect_near(to_eigen(sticks.Lambda), vector_of({2.0, 0.5}));
    EXPECT_NEAR(sticks.work, -0.125, close);
}

TEST(Expansion, BoundsFrictionByItsWholeNormalImpulse) {
    // Random planar and spatial contacts against the definition, term by term.
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    int pressed_on = 0;
    for (int k = 0; k < 300; ++k) {
        const int size = 2 + k % 2, contacts = 1 + k % 3;
        const Eigen::Index m = size * contacts, n = m + 2;
        const Matrix A = Matrix::NullaryExpr(n, n, [&] { return normal(random); });
        Bodies b{A * A.transpose() + Matrix::Identity(n, n),
                 Matrix::NullaryExpr(m, n, [&] { return normal(random); }),
                 Vector::NullaryExpr(n, [&] { return normal(random); }),
                 {}};
        const double mu = uniform(random);
        const std::vector<Law> laws(static_cast<std::size_t>(contacts),
                                    law_of(size == 2 ? LawKind::friction2 : LawKind::friction3, mu));
        std::vector<double> e(static_cast<std::size_t>(m), 0.0), none = e;
        for (std::size_t i = 0; i < e.size(); i += static_cast<std::size_t>(size)) e[i] = uniform(random);
        const Outcome C = outcome_of(b.collision(laws, none, ImpactLaw::poisson));
        const Outcome o = outcome_of(b.collision(laws, e, ImpactLaw::poisson));
        ASSERT_EQ(o.status, Status::converged) << k << ": " << o.note;
        const double scale = 1e4 * tolerance * (1.0 + to_eigen(o.Lambda).norm());
        for (int a = 0; a < contacts; ++a) {
            const auto N = static_cast<std::size_t>(a * size);
            const double expansion = o.Lambda[N] - C.Lambda[N], excess = expansion - e[N] * C.Lambda[N];
            EXPECT_GE(excess, -scale);
            EXPECT_GE(o.gamma_plus[N], -scale);
            EXPECT_LE(std::min(excess, o.gamma_plus[N]), scale);
            pressed_on += excess > scale && e[N] * C.Lambda[N] > scale ? 1 : 0;
            // −Λ_ET maximises the dissipation over the disk of radius μ Λ_EN.
            double length = 0.0, power = 0.0, speed = 0.0;
            for (std::size_t i = N + 1; i < N + static_cast<std::size_t>(size); ++i) {
                const double Lambda_t = o.Lambda[i] - C.Lambda[i];
                length += Lambda_t * Lambda_t;
                power -= Lambda_t * o.gamma_plus[i];
                speed += o.gamma_plus[i] * o.gamma_plus[i];
            }
            EXPECT_LE(std::sqrt(length), mu * expansion + scale);
            EXPECT_NEAR(power, mu * expansion * std::sqrt(speed), scale * (1.0 + std::sqrt(speed)));
        }
    }
    EXPECT_GT(pressed_on, 5);  // both modes of the expansion were met
}

TEST(FrictionalConstraint, BrakesByItsOwnImpulse) {
    // A mass on a rough guide along x (row y bilateral, slip x), hit at 45° by a stop: w = (−1, −1)/√2. With m = 1:
    // ν = −y-impulse of the stop, |Λ_T| = μ|ν|. Λ(1 − μ)/√2... by components u_x⁺ = u − Λ/√2 + Λ_T, ν = Λ/√2,
    // γ_N⁺ = −u_x⁺/√2 (y is held) = e u/√2, so that u_x⁺ = −e u and the friction points along +x where it leaves.
    const double s = std::sqrt(0.5), mu = 0.25, e = 0.5, u = 2.0;
    const Bodies b{Matrix::Identity(2, 2), matrix_of({{0, 1}, {1, 0}, {-s, -s}}), vector_of({u, 0.0}), {}};
    const std::vector<Law> laws{law_of(LawKind::bilateral), law_of(LawKind::scaled_slider, mu, 0),
                                law_of(LawKind::unilateral)};
    const Outcome o = outcome_of(b.collision(laws, {0.0, 0.0, e}));
    ASSERT_EQ(o.status, Status::converged) << o.note;
    expect_near(b.after(o), vector_of({-e * u, 0.0}));
    // x: −e u = u − sΛ + μ sΛ
    const double Lambda = (1.0 + e) * u / (s * (1.0 - mu));
    expect_near(to_eigen(o.Lambda), vector_of({s * Lambda, mu * s * Lambda, Lambda}), close * 10);
    EXPECT_LE(o.work, 0.0);
    // Poisson: compression stops it with any friction that holds, expansion the same with e Λ_C.
    const Outcome p = outcome_of(b.collision(laws, {0.0, 0.0, e}, ImpactLaw::poisson));
    ASSERT_EQ(p.status, Status::converged) << p.note;
    EXPECT_NEAR(p.gamma_plus[0], 0.0, close);
    EXPECT_LE(p.work, 0.0);
    EXPECT_GT(p.gamma_plus[2], 0.0);
}

TEST(MovingConstraint, IsFulfilledAfterTheImpact) {
    // A guide that starts to move: γ = u − 1 = −1 before, 0 after, whatever e says of the contact beside it.
    const Bodies b{Matrix::Identity(2, 2), matrix_of({{1, 0}, {0, 1}}), vector_of({0.0, -1.0}), vector_of({-1.0, 0.0})};
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson})
        expect_near(b.after(outcome_of(
                        b.collision({law_of(LawKind::bilateral), law_of(LawKind::unilateral)}, {0.0, 0.5}, law))),
                    vector_of({1.0, 0.5}));
}

TEST(FrictionLaws, OfEveryKindExpand) {
    for (const LawKind kind : {LawKind::friction3, LawKind::contensou4, LawKind::rolling6}) {
        Law law = law_of(kind, 0.3);
        law.radius = 0.1, law.mu_drilling = 0.05, law.mu_rolling = 0.02;
        const Eigen::Index n = solvers::law_size(kind);
        Vector u = Vector::LinSpaced(n, 0.2, 0.6);
        u(0) = -1.0;
        const Bodies b{Matrix::Identity(n, n), Matrix::Identity(n, n), u, {}};
        std::vector<double> e(static_cast<std::size_t>(n), 0.0);
        e[0] = 0.5;
        solvers::Workspace workspace;
        Outcome newton, poisson;
        collide(b.collision({law}, e), 1e-9, workspace, newton);
        collide(b.collision({law}, e, ImpactLaw::poisson), 1e-9, workspace, poisson);
        ASSERT_EQ(poisson.status, Status::converged) << poisson.note;
        // Uncoupled normal: the same normal impulse; slip all the way: the same friction.
        EXPECT_NEAR(poisson.Lambda[0], 1.5, 1e-8);
        if (kind == LawKind::rolling6) expect_near(to_eigen(newton.Lambda), to_eigen(poisson.Lambda), 1e-7);
        EXPECT_LT(poisson.work, 0.0);
    }
}

// --- energy --------------------------------------------------------------------------------------------------

TEST(EnergyLaw, TakesTheLossOutOfTheNormalVelocity) {
    // u = (3, −4): T⁻ = 12.5; e = 0.8 leaves 8 = (9 + 7)/2.
    const Bodies b{Matrix::Identity(2, 2), matrix_of({{0, 1}}), vector_of({3.0, -4.0}), {}};
    const Outcome o = outcome_of(b.collision(one_contact, {0.8}, ImpactLaw::energy));
    ASSERT_EQ(o.status, Status::converged) << o.note;
    expect_near(b.after(o), vector_of({3.0, std::sqrt(7.0)}), close * 10);
    EXPECT_NEAR(o.work, 8.0 - 12.5, close * 10);
}

TEST(EnergyLaw, WithoutARealRootSaysTheSmallestCoefficient) {
    const Bodies b{Matrix::Identity(2, 2), matrix_of({{0, 1}}), vector_of({3.0, -4.0}), {}};
    const Outcome o = outcome_of(b.collision(one_contact, {0.5}, ImpactLaw::energy));
    EXPECT_EQ(o.status, Status::infeasible);
    EXPECT_NE(o.note.find("e = 0.5, T- = 12.5, discriminant -44"), std::string::npos) << o.note;
    EXPECT_NE(o.note.find("at least e = 0.6"), std::string::npos) << o.note;
    EXPECT_EQ(o.Lambda[0], 0.0);
    EXPECT_EQ(o.gamma_plus[0], -4.0);
    EXPECT_EQ(o.work, 0.0);
}

TEST(EnergyLaw, MultipliesTheCoefficientsOfAllThatApproach) {
    // A corner: both walls at once, T⁺ = (0.8·0.9)² T⁻ along the inelastic impulse, which stops the mass.
    const Bodies b{Matrix::Identity(2, 2), Matrix::Identity(2, 2), vector_of({-1.0, -2.0}), {}};
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    const Outcome o = outcome_of(b.collision(laws, {0.8, 0.9}, ImpactLaw::energy));
    expect_near(b.after(o), vector_of({0.72, 1.44}), close * 10);
    // One that is closed but at rest has no say.
    Bodies resting = b;
    resting.u(1) = 0.0;
    expect_near(resting.after(outcome_of(resting.collision(laws, {0.8, 0.1}, ImpactLaw::energy))),
                vector_of({0.8, 0.0}), close * 10);
}

TEST(EnergyLaw, CountsTheWholeKineticEnergyWhereAnObstacleMoves) {
    // m = 1, u = −1, wall with speed 2: γ⁻ = −3, Λ₀ = 3, T(s) = ½(−1 + 3s)². e = 1: s = 2/3 would end inside the wall.
    Bodies b{matrix_of({{1.0}}), matrix_of({{1.0}}), vector_of({-1.0}), vector_of({-2.0})};
    const Outcome inside = outcome_of(b.collision(one_contact, {1.0}, ImpactLaw::energy));
    EXPECT_EQ(inside.status, Status::infeasible);
    EXPECT_NE(inside.note.find("times the inelastic impulse"), std::string::npos) << inside.note;
    // A wall that gives way, speed −0.5: γ⁻ = −0.5, e = 1 turns u around.
    b.chi = vector_of({0.5});
    expect_near(b.after(outcome_of(b.collision(one_contact, {1.0}, ImpactLaw::energy))), vector_of({1.0}));
}

TEST(MixedLaws, FollowTheStrongestThatApproachesAndSaySo) {
    const Bodies b = chain({1.0, 1.0, 1.0}, {1.0, 0.0, -1.0});
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    Collision c = b.collision(laws, {0.5, 0.5});
    c.law = {ImpactLaw::newton, ImpactLaw::poisson};
    const Outcome mixed = outcome_of(c);
    EXPECT_EQ(mixed.note, "contacts of different impact laws collide at once; all follow Poisson's law");
    EXPECT_EQ(mixed.Lambda, outcome_of(b.collision(laws, {0.5, 0.5}, ImpactLaw::poisson)).Lambda);
    // A resting contact does not choose the law.
    Bodies rests = b;
    rests.u = vector_of({1.0, 0.0, 0.0});
    c = rests.collision(laws, {0.5, 0.5});
    c.law = {ImpactLaw::newton, ImpactLaw::energy};
    const Outcome newton = outcome_of(c);
    EXPECT_EQ(newton.note, "contacts of different impact laws collide at once; all follow Newton's law");
    EXPECT_EQ(newton.Lambda, outcome_of(rests.collision(laws, {0.5, 0.5})).Lambda);
}

// --- memory and failure --------------------------------------------------------------------------------------

TEST(Collide, AllocatesNothingForCollisionsOfTheSameSize) {
    const Bodies b = chain({1.0, 2.0, 1.0}, {1.0, 0.0, 0.0});
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    solvers::Workspace workspace;
    for (const ImpactLaw law : all_laws) {
        const Collision c = b.collision(laws, {1.0, 1.0}, law);
        Outcome o;
        for (int k = 0; k < 3; ++k) collide(c, tolerance, workspace, o);
        const std::size_t before = saltus::test::allocations();
        for (int k = 0; k < 100; ++k) collide(c, tolerance, workspace, o);
        EXPECT_EQ(saltus::test::allocations() - before, 0u);
    }
}

TEST(Collide, ReportsNumbersThatAreNotFinite) {
    const Bodies ball{matrix_of({{1.0}}), matrix_of({{1.0}}), vector_of({-1.0}), {}};
    Collision c = ball.collision(one_contact, {0.5});
    c.gamma_minus[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(outcome_of(c).status, Status::non_finite);
}

}  // namespace
}  // namespace saltus::impact::collision_test
