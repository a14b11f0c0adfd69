// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/sparse_stages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "integrate/small_models.hpp"
#include "saltus/base/index.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate::sparse_stages_test {

namespace {

using namespace test;

/// A row of hexahedra thrown against as many equal planes as asked for. `friction` is a line of the obstacle.
model::Model skeleton(int segments, int planes = 1, const std::string& friction = "", const char* damping = "300.0") {
    std::string text = "[points]\ngenerate = { kind = \"hexahedra-row\", segments = " + std::to_string(segments) +
                       ", length = 0.25, width = [1.0, 1.0], origin = [8.3, 0.0, 0.0] }\nmass = { total = " +
                       std::to_string(4 * segments + 4) +
                       ".0, distribution = \"lumped\" }\nvelocity = [-10.0, 0.0, 0.0]\n";
    for (const char* over : {"longitudinal", "transverse", "side-diagonals"})
        text += std::string("[[springs]]\nover = \"") + over + "\"\nk = 200.0\nc = " + damping + "\n";
    text += "[[volume]]\ncells = \"all\"\n";
    for (int k = 0; k < planes; ++k)
        text += "[[obstacle]]\nname = \"wall" + std::to_string(k) +
                "\"\nnormal = [1.0, 0.0, 0.0]\noffset = \"8\"\neN = 0\n" + friction;
    return model_of(text);
}

/// A state near the initial one in which nothing is symmetric and every point moves differently.
std::vector<double> disturbed(const model::Model& m, double size) {
    std::vector<double> x(m.q0);
    x.insert(x.end(), m.u0.begin(), m.u0.end());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += size * std::sin(1.0 + 7.3 * static_cast<double>(i));
    x.push_back(0.0);
    return x;
}

Vector some_vector(Eigen::Index n, double phase) {
    Vector v(n);
    for (Eigen::Index i = 0; i < n; ++i) v(i) = std::cos(phase + 3.7 * static_cast<double>(i));
    return v;
}

/// Compares solutions of (s − J) y = r in the mode in force with those of the dense matrix.
void expect_dense_solutions(Dynamics& d, const std::vector<double>& x) {
    Linearised linearised(d, {});
    ASSERT_TRUE(linearised.evaluate(0.0, x.data()));
    const Eigen::Index n = d.size(), size = d.state_size();
    Matrix J = Matrix::Zero(size, size);
    J.block(0, n, n, n).setIdentity();
    J.block(n, 0, n, 2 * n) = linearised.acceleration().middleCols(1, 2 * n);

    // The same derivatives as a map, kept while another state is prepared.
    std::vector<double> moved(x);
    for (double& value : moved) value *= 1.01;
    Linearised::Kept kept;
    Matrix directions(2, 1 + 2 * n), rates;
    for (Eigen::Index r = 0; r < 2; ++r)
        directions.row(r) = some_vector(1 + 2 * n, 0.4 + static_cast<double>(r)).transpose();
    const Matrix expected_rates = directions * linearised.acceleration().transpose();
    ASSERT_TRUE(linearised.prepare(0.0, x.data()));
    linearised.keep(kept);
    ASSERT_TRUE(linearised.prepare(0.0, moved.data()));
    linearised.along(kept, directions, rates);
    EXPECT_LT((rates - expected_rates).cwiseAbs().maxCoeff(), 1e-9 * expected_rates.cwiseAbs().maxCoeff());

    SparseStages stages(d, linearised);
    ASSERT_TRUE(stages.serves_mode());
    ASSERT_EQ(stages.linearise(0.0, x.data()), ode::StepStatus::accepted);
    const std::vector<double> elsewhere(x.size(), 0.25);
    d.evaluate_terms(0.0, elsewhere.data());  // what is factorised later belongs to the state of `linearise`
    for (const double h : {1e-4, 1e-2, 1.0}) {
        const double real = 3.6 / h;
        const std::vector<std::complex<double>> pairs{{2.7 / h, 3.05 / h}, {4.0 / h, 9.0 / h}};
        ASSERT_TRUE(stages.factorise(real, pairs));
        Vector r = some_vector(size, 0.3);
        const Vector expected = solve_columns(real * Matrix::Identity(size, size) - J, r);
        stages.solve({r.data(), static_cast<std::size_t>(size)});
        EXPECT_LT((r - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.cwiseAbs().maxCoeff()) << "h = " << h;
        // A right-hand side of velocities alone, and its solution for velocities alone.
        Vector pushed = Vector::Zero(size);
        pushed.segment(n, n) = some_vector(n, 0.8);
        Vector velocity = pushed.segment(n, n);
        stages.solve_velocity({velocity.data(), static_cast<std::size_t>(n)});
        const Vector all = solve_columns(real * Matrix::Identity(size, size) - J, pushed);
        EXPECT_LT((velocity - all.segment(n, n)).cwiseAbs().maxCoeff(), 1e-8 * all.segment(n, n).cwiseAbs().maxCoeff())
            << "h = " << h;
        for (std::size_t k = 0; k < 2; ++k) {
            // (a + ib − J)(y + iz) = r + ic as a real system of twice the size
            const Matrix one = Matrix::Identity(size, size);
            Matrix A(2 * size, 2 * size);
            A << pairs[k].real() * one - J, -pairs[k].imag() * one, pairs[k].imag() * one, pairs[k].real() * one - J;
            Vector re = some_vector(size, 1.1), im = some_vector(size, 2.0), both(2 * size);
            both << re, im;
            const Vector pair = solve_columns(A, both);
            stages.solve_pair(k, {re.data(), static_cast<std::size_t>(size)},
                              {im.data(), static_cast<std::size_t>(size)});
            both << re, im;
            EXPECT_LT((both - pair).cwiseAbs().maxCoeff(), 1e-8 * pair.cwiseAbs().maxCoeff()) << "h = " << h;

            Vector velocity_re = some_vector(n, 1.7), velocity_im = some_vector(n, 2.9);
            both.setZero();
            both.segment(n, n) = velocity_re;
            both.segment(size + n, n) = velocity_im;
            const Vector expected_pair = solve_columns(A, both);
            stages.solve_velocity_pair(k, {velocity_re.data(), static_cast<std::size_t>(n)},
                                       {velocity_im.data(), static_cast<std::size_t>(n)});
            const double scale = expected_pair.cwiseAbs().maxCoeff();
            EXPECT_LT((velocity_re - expected_pair.segment(n, n)).cwiseAbs().maxCoeff(), 1e-8 * scale) << "h = " << h;
            EXPECT_LT((velocity_im - expected_pair.segment(size + n, n)).cwiseAbs().maxCoeff(), 1e-8 * scale)
                << "h = " << h;
        }
    }
}

TEST(SparseStages, FreePointsHaveTheSolutionsOfTheDenseMatrix) {
    const model::Model m = skeleton(3);
    Dynamics d(m, false, 1.0);
    const std::vector<double> x = disturbed(m, 0.02);
    d.set_mode(d.mode(), 0.0, x.data());
    ASSERT_EQ(d.equation_rows().size(), 1U);  // the volume
    expect_dense_solutions(d, x);
}

TEST(SparseStages, ClosedContactsHaveTheSolutionsOfTheDenseMatrix) {
    const model::Model m = skeleton(3);
    Dynamics d(m, false, 1.0);
    const std::vector<double> x = disturbed(m, 0.02);
    SystemMode mode = d.mode();
    for (std::size_t i = 0; i < 4; ++i) mode.elements[i].active = true;
    d.set_mode(mode, 0.0, x.data());
    ASSERT_EQ(d.equation_rows().size(), 5U);
    ASSERT_FALSE(d.redundant());
    expect_dense_solutions(d, x);
}

TEST(SparseStages, RedundantContactsHaveTheSolutionsOfTheDenseMatrix) {
    const model::Model m = skeleton(2, 2);
    Dynamics d(m, false, 1.0);
    const std::vector<double> x = disturbed(m, 0.02);
    SystemMode mode = d.mode();
    for (const int i : {0, 1, 2, 3, 12, 13}) mode.elements[ix(i)].active = true;  // points 0 and 1 at both planes
    d.set_mode(mode, 0.0, x.data());
    ASSERT_EQ(d.equation_rows().size(), 7U);
    ASSERT_TRUE(d.redundant());
    expect_dense_solutions(d, x);
}

TEST(SparseStages, SlipInAPlaneHasTheSolutionsOfTheDenseMatrix) {
    const model::Model m = skeleton(2, 1, "mu = 0.3\n");
    Dynamics d(m, false, 1.0);
    const std::vector<double> x = disturbed(m, 0.02);
    SystemMode mode = d.mode();
    for (std::size_t i = 0; i < 4; ++i) {
        mode.elements[i].active = true;
        mode.parts[i].slips = i != 2;  // one point sticks
    }
    d.set_mode(mode, 0.0, x.data());
    d.evaluate_terms(0.0, x.data());
    d.turn_slip(d.followed_mode());
    expect_dense_solutions(d, x);
}

TEST(SparseStages, SlipOnARailHasTheSolutionsOfTheDenseMatrix) {
    const model::Model m = block_on_rail(0.4, "5 - x^2 - x'");
    Dynamics d(m, false, 1.0);
    const auto x = state({0.3, 0.0}, {1.5, 0.0});
    d.set_mode(with_slip(d, 0, {1.0}), 0.0, x.data());
    expect_dense_solutions(d, x);
}

TEST(SparseStages, ContactsWithSpringsHaveTheSolutionsOfTheDenseMatrix) {
    const model::Model m = skeleton(2, 1, "mu = 0.3\n[penalty]\nk = 1e4\nd = 20.0\n");
    Dynamics d(m, true, 1.0);
    std::vector<double> x = disturbed(m, 0.02);
    for (std::size_t i = 0; i < 4; ++i) x[3 * i] = 7.98;  // inside the wall
    SystemMode mode = d.mode();
    for (std::size_t i = 0; i < 4; ++i) {
        mode.elements[i].active = true;
        mode.parts[i].slips = true;
    }
    d.set_mode(mode, 0.0, x.data());
    d.evaluate_terms(0.0, x.data());
    d.turn_slip(d.followed_mode());
    expect_dense_solutions(d, x);
}

TEST(SparseStages, MassMatricesThatDependOnTheStateHaveTheSolutionsOfTheDenseMatrix) {
    const model::Model m = model_of(R"toml(
[system]
q = ["a", "b", "s", "r"]
T = "(2*a'^2 + b'^2*(1 + cos(a)^2) + 2*a'*b'*cos(a - b) + s'^2*(1 + s^2) + 3*r'^2)/2"
U = "10*cos(a) + 5*cos(b) + 50*(s - a)^2"
R = "30*(s' - b')^2"
[[constraint]]
name = "guide"
g = "r - s*cos(b)"
)toml");
    Dynamics d(m, false, 1.0);
    const auto x = state({0.4, 0.9, 0.7, 0.5}, {1.0, -2.0, 0.5, 0.2});
    d.set_mode(d.mode(), 0.0, x.data());
    expect_dense_solutions(d, x);
}

TEST(SparseStages, TooManyFullRowsAreLeftToOtherMethods) {
    // Every row may be full: 400 closed contacts of 1200 coordinates would cost more than short explicit steps.
    const model::Model m = skeleton(99);
    Dynamics d(m, false, 1.0);
    const std::vector<double> x = disturbed(m, 0.0);
    Linearised linearised(d, {});
    SparseStages stages(d, linearised);
    d.set_mode(d.mode(), 0.0, x.data());
    EXPECT_TRUE(stages.serves_mode());
    SystemMode mode = d.mode();
    for (std::size_t i = 0; i < 400; ++i) mode.elements[i].active = true;
    d.set_mode(mode, 0.0, x.data());
    EXPECT_FALSE(stages.serves_mode());
}

TEST(LargeSystem, AStiffBodyInFreeFlightStrikesUndeformedAtTheExactTime) {
    // 10.3 m − 8 m at 10 m/s. Without series the first steps of the flight are explicit and may be as long as the
    // flight: within them stiff dampers multiply rounding errors.
    for (const bool series : {false, true})
        for (const auto& [segments, t_end] : std::vector<std::pair<double, double>>{{5.0, 0.28},
                                                                                    {5.0, 0.3},
                                                                                    {5.0, 0.31},
                                                                                    {5.0, 0.35},
                                                                                    {11.0, 0.28},
                                                                                    {11.0, 0.3},
                                                                                    {11.0, 0.31},
                                                                                    {11.0, 0.35}}) {
            model::Description d = io::read_model(SALTUS_SOURCE_DIR "/models/hydrostatic-skeleton-edges.toml");
            d.points->generate->segments = model::Field(segments);
            d.points->total_mass = model::Field(4.0 * segments + 4.0);
            d.draw.reset();
            Options options;
            options.t_end = t_end;
            const trajectory::Trajectory motion = simulate(model::build(d), EventDriven{.series = series}, options);
            ASSERT_FALSE(motion.events.empty());
            const trajectory::Event& strike = motion.events[0];
            EXPECT_NEAR(strike.t, 0.23, 1e-11) << segments << " segments to " << t_end;
            for (std::size_t i = 0; i < strike.u_minus.size(); ++i)
                EXPECT_NEAR(strike.u_minus[i], i % 3 == 0 ? -10.0 : 0.0, 3e-8) << segments << " to " << t_end;
        }
}

TEST(LargeSystem, VibrationsWithoutDampingKeepTheirExplicitSteps) {
    // 132 coordinates. Implicit steps are tried on a long arc, and given up because they are not longer.
    const model::Model m = skeleton(10, 1, "", "0.0");
    Options options;
    options.t_end = 3.0;
    const trajectory::Trajectory motion = simulate(m, EventDriven{.series = false}, options);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_GT(motion.statistics.steps, 200);
    EXPECT_TRUE(motion.warnings.empty()) << motion.warnings[0];
    EXPECT_LT(motion.energy.balance_error, 1e-9);
}

TEST(LargeSystem, ModesWithoutImplicitStepsAreReported) {
    // All 400 points lie on the plane and stay there.
    std::string text = "[points]\npositions = [";
    for (int i = 0; i < 400; ++i) text += "[" + std::to_string(i) + ".0, 0.0, 0.0], ";
    text += "]\nmass = { total = 400.0 }\ngravity = [0.0, 0.0, -10.0]\n[[springs]]\npairs = [";
    for (int i = 0; i + 1 < 400; ++i) text += "[" + std::to_string(i) + ", " + std::to_string(i + 1) + "], ";
    text += "]\nk = 100.0\nc = 10.0\n[[obstacle]]\nname = \"floor\"\nnormal = [0.0, 0.0, 1.0]\noffset = \"0\"\n";
    Options options;
    options.t_end = 1e-3;
    const trajectory::Trajectory motion = simulate(model_of(text), EventDriven{.implicit = true}, options);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    ASSERT_EQ(motion.warnings.size(), 1U);
    EXPECT_NE(motion.warnings[0].find("too many equations for implicit steps"), std::string::npos);
}

TEST(LargeSystem, MovesTheSameWithFiveAndSevenStages) {
    // 244 points, 732 coordinates. The tolerances choose 5 and 7 stages, so that the steps have nothing in common.
    const model::Model m = skeleton(60);
    const auto motion = [&](double rtol) {
        Options options;
        options.t_end = 0.05;
        return simulate(m, EventDriven{.rtol = rtol, .atol = 1e-3 * rtol, .implicit = true}, options);
    };
    const trajectory::Trajectory rough = motion(1e-5), fine = motion(1e-8);
    ASSERT_EQ(fine.status, trajectory::Status::completed) << fine.reason;
    ASSERT_EQ(rough.events.size(), 1U);
    ASSERT_EQ(fine.events.size(), 1U);
    EXPECT_NEAR(fine.events[0].t, 0.03, 1e-12);  // 0.3 m at 10 m/s
    double difference = 0.0;
    for (std::size_t i = 0; i < m.q0.size(); ++i)
        difference = std::max(difference, std::abs(rough.end.q[i] - fine.end.q[i]));
    EXPECT_LT(difference, 1e-5);
    EXPECT_LT(fine.violation.constraint, 1e-11);
    EXPECT_LT(fine.statistics.steps, 200);
}

}  // namespace

}  // namespace saltus::integrate::sparse_stages_test
