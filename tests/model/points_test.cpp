// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/systems/detail/point_system.hpp"
#include "support.hpp"

namespace saltus::points_test {
namespace {

using namespace saltus::model;

Model shipped(const std::string& name, BuildOptions options = {}) {
    return build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), options);
}

const char* const small_body = R"(
[parameters]
kl = 30.0
cl = 2.0
rest = 0.9
M = 3.0
a = 0.1
b = 5.0
[points]
generate = { kind = "hexahedra-row", segments = 2, length = 0.5, width = [1.0, 0.8], origin = [2.0, 0.1, -0.2] }
mass = { total = "2*M", distribution = "lumped" }
velocity = [-1.0, 0.2, 0.0]
gravity = [0.0, 0.0, -9.81]
[[springs]]
over = "longitudinal"
k = "kl"
c = "cl"
[[springs]]
over = "transverse"
k = "kl^2"
c = 1.0
rest = "rest"
[[springs]]
over = "side-diagonals"
k = 12.0
[[volume]]
cells = "all"
[[volume]]
name = "front"
cells = [0]
[[obstacle]]
name = "wall"
normal = [2.0, 0.0, 0.0]
offset = "a*cos(b*t) - 1"
[[obstacle]]
name = "slope"
normal = [0.0, 0.6, 0.8]
offset = "-5 + a*t^2"
mu = "a"
)";

struct State {
    double t = 0.37;
    std::vector<double> q, u, a, lambda;
};

State random_state(const Model& m, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> about(-0.1, 0.1);
    State s;
    for (const double x : m.q0) s.q.push_back(x + about(random));
    for (std::size_t i = 0; i < m.q0.size(); ++i) s.u.push_back(10 * about(random)), s.a.push_back(30 * about(random));
    for (int r = 0; r < m.layout().row_count(); ++r) s.lambda.push_back(20 * about(random));
    return s;
}

/// The values of a Function, from the plain evaluations.
Vector value_of(const Model& m, Workspace& ws, Function f, double t, const std::vector<double>& q,
                const std::vector<double>& u, const State& frozen) {
    Terms terms(m.layout());
    evaluate(m, ws, t, q, u, terms);
    const Matrix W = dense(m.layout().rows, terms.W);
    const auto vec = [](std::span<const double> v) {
        return Vector(Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size())));
    };
    switch (f) {
        case Function::residual:
            return vec(terms.h) + W.transpose() * vec(frozen.lambda) -
                   dense_symmetric(m.layout().mass, terms.M) * vec(frozen.a);
        case Function::position: return vec(terms.positions);
        case Function::velocity: return W * vec(u) + vec(terms.chi);
        case Function::acceleration: return W * vec(frozen.a) + vec(terms.zeta);
        default: {
            std::vector<double> values(static_cast<std::size_t>(m.layout().coefficients));
            m.system->coefficients(At{t, q, u, m.p}, ws.scratch(), values);
            return vec(values);
        }
    }
}

/// By every other parameter, as the system gives it and as columns of the whole; and along directions without a matrix.
void expect_the_same_by_fewer_parameters(const Model& m, const State& s) {
    const auto all = m.system->jacobians();
    std::vector<int> chosen;
    for (int k = m.layout().parameters - 1; k >= 0; k -= 2) chosen.push_back(k);
    const Eigen::Index first = 1 + 2 * m.size();
    for (const auto& some : {m.system->jacobians_by(chosen), m.system->System::jacobians_by(chosen)})
        for (const Function f : {Function::residual, Function::position, Function::velocity, Function::acceleration,
                                 Function::coefficient}) {
            const auto matrix = [&](Jacobians& jacobians) {
                std::vector<double> values(jacobians.pattern(f).size());
                jacobians.evaluate(f, at(m, s.t, s.q, s.u), s.a, s.lambda, values);
                return dense(jacobians.pattern(f), values);
            };
            const Matrix whole = matrix(*all), part = matrix(*some);
            ASSERT_EQ(part.cols(), first + static_cast<Eigen::Index>(chosen.size()));
            EXPECT_EQ(part.leftCols(first), whole.leftCols(first));
            for (std::size_t k = 0; k < chosen.size(); ++k)
                EXPECT_EQ(part.col(first + static_cast<Eigen::Index>(k)), whole.col(first + chosen[k]));
            if (f != Function::residual) continue;
            for (const Eigen::Index count : {1, 3, 40}) {
                Matrix directions(count, part.cols()), out = Matrix::Zero(count, m.size());
                for (Eigen::Index i = 0; i < directions.size(); ++i)
                    directions.data()[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
                const Matrix expected = directions * part.transpose();
                if (some->residual_along(at(m, s.t, s.q, s.u), s.a, s.lambda, directions, out))
                    EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());
                else
                    EXPECT_TRUE(out.isZero(0.0));
            }
        }
}

/// Central differences of everything, compared at the size of the column.
void expect_exact_jacobians(const Model& model, unsigned seed) {
    const State s = random_state(model, seed);
    const auto jacobians = model.system->jacobians();
    ASSERT_NE(jacobians, nullptr);
    const std::size_t n = model.q0.size();
    constexpr double step = 1e-5;
    for (const Function f :
         {Function::residual, Function::position, Function::velocity, Function::acceleration, Function::coefficient}) {
        std::vector<double> values(jacobians->pattern(f).size());
        jacobians->evaluate(f, at(model, s.t, s.q, s.u), s.a, s.lambda, values);
        const Matrix J = dense(jacobians->pattern(f), values);
        ASSERT_EQ(J.cols(), static_cast<Eigen::Index>(1 + 2 * n + model.p.size()));
        for (Eigen::Index column = 0; column < J.cols(); ++column) {
            const auto shifted = [&](double by) {
                Model m = model;
                State x = s;
                const auto k = static_cast<std::size_t>(column);
                if (k == 0)
                    x.t += by;
                else if (k <= n)
                    x.q[k - 1] += by;
                else if (k <= 2 * n)
                    x.u[k - 1 - n] += by;
                else
                    m.p[k - 1 - 2 * n] += by;
                Workspace ws(m);
                return value_of(m, ws, f, x.t, x.q, x.u, s);
            };
            const Vector difference = (shifted(step) - shifted(-step)) / (2 * step);
            // Truncation step²·f''' and rounding eps·f/step, with f up to 1e3 here.
            const double tolerance = 2e-6 * (1.0 + difference.cwiseAbs().maxCoeff());
            EXPECT_LT((J.col(column) - difference).cwiseAbs().maxCoeff(), tolerance)
                << "function " << static_cast<int>(f) << " column " << column;
        }
    }
    expect_the_same_by_fewer_parameters(model, s);
}

TEST(Points, GeneratedRowHasTheNodesOfTheDescription) {
    const Model m = shipped("hydrostatic-skeleton");
    ASSERT_EQ(m.size(), 264);
    EXPECT_EQ(m.coordinates[0], "p0.x");
    EXPECT_EQ(m.coordinates[263], "p87.z");
    // Section 1 of the row, corner 2 (+,+).
    EXPECT_EQ(m.q0[3 * 6], 10.55);
    EXPECT_EQ(m.q0[3 * 6 + 1], 0.5);
    EXPECT_EQ(m.q0[3 * 6 + 2], 0.5);
    EXPECT_EQ(m.contacts.size(), 88U);
    EXPECT_EQ(m.contacts[5].name, "wall.p5");
}

TEST(Points, LumpedMassesHaveTheTotalAndHalfAtTheEnds) {
    const Model m = build(io::parse_model(small_body, "body"));
    Workspace ws(m);
    Terms terms(m.layout());
    evaluate(m, ws, 0.0, m.q0, m.u0, terms);
    EXPECT_NEAR(std::accumulate(terms.M.begin(), terms.M.end(), 0.0), 3 * 6.0, 1e-14);
    EXPECT_NEAR(terms.M[0], 6.0 / 16, 1e-15);
    EXPECT_NEAR(terms.M[3 * 5], 6.0 / 8, 1e-15);
    EXPECT_NEAR(terms.M[3 * 11], 6.0 / 16, 1e-15);
}

TEST(Points, VolumeOfTheUndeformedRowIsTheBoxes) {
    const Model m = shipped("hydrostatic-skeleton");
    Workspace ws(m);
    Terms terms(m.layout());
    std::vector<double> q = m.q0;
    for (std::size_t i = 0; i < q.size(); i += 3) q[i] = 10.3 + 2 * (q[i] - 10.3);  // twice as long: V0 − V = −V0
    evaluate(m, ws, 0.0, q, m.u0, terms);
    EXPECT_NEAR(terms.positions[0], -21 * 0.25, 1e-12);
}

TEST(Points, VolumeOfTwistedCellsIsThatOfTheTrilinearMap) {
    // Gauss quadrature of det J, exact for the trilinear map, against the sum over faces.
    const Model m = build(io::parse_model(small_body, "body"));
    const State s = random_state(m, 7);
    Workspace ws(m);
    Terms terms(m.layout());
    evaluate(m, ws, 0.0, s.q, s.u, terms);
    const double gauss = 0.5 / std::sqrt(3.0);
    const auto cell_volume = [&](int cell) {
        double volume = 0.0;
        for (const double x : {-gauss, gauss})
            for (const double y : {-gauss, gauss})
                for (const double z : {-gauss, gauss}) {
                    Eigen::Matrix3d J = Eigen::Matrix3d::Zero();
                    for (int section = 0; section < 2; ++section)
                        for (int corner = 0; corner < 4; ++corner) {
                            const double sx = section == 0 ? -1 : 1, sy = corner == 1 || corner == 2 ? 1 : -1,
                                         sz = corner > 1 ? 1 : -1;
                            const Eigen::Vector3d gradient(sx * (0.5 + sy * y) * (0.5 + sz * z),
                                                           sy * (0.5 + sx * x) * (0.5 + sz * z),
                                                           sz * (0.5 + sx * x) * (0.5 + sy * y));
                            const int node = 4 * (cell + section) + corner;
                            J += Eigen::Map<const Eigen::Vector3d>(s.q.data() + 3 * node) * gradient.transpose();
                        }
                    volume += (J(0, 0) * (J(1, 1) * J(2, 2) - J(1, 2) * J(2, 1)) -
                               J(0, 1) * (J(1, 0) * J(2, 2) - J(1, 2) * J(2, 0)) +
                               J(0, 2) * (J(1, 0) * J(2, 1) - J(1, 1) * J(2, 0))) /
                              8;
                }
        return volume;
    };
    EXPECT_NEAR(terms.positions[0], 2 * 0.5 * 0.8 - cell_volume(0) - cell_volume(1), 1e-14);
    EXPECT_NEAR(terms.positions[1], 0.5 * 0.8 - cell_volume(0), 1e-14);
}

TEST(Points, FirstImpactOfTheUndeformedBodyHasTheClosedForm) {
    // [skeleton] section 4, set A: four front corners stop, the volume stays: I_nu = -32/9, I_lambda = 98/9 each.
    const Model m = shipped("hydrostatic-skeleton-edges");
    Workspace ws(m);
    Terms terms(m.layout());
    evaluate(m, ws, 0.0, m.q0, m.u0, terms);
    const Matrix W = dense(m.layout().rows, terms.W);
    Matrix rows(5, m.size());
    rows.row(0) = W.row(m.constraints[0].row);
    for (int i = 0; i < 4; ++i) rows.row(1 + i) = W.row(m.contacts[static_cast<std::size_t>(i)].row);
    const Vector u = Eigen::Map<const Vector>(m.u0.data(), m.size());
    const Matrix D = rows * rows.transpose();  // every mass is 1
    const Vector impulse = least_squares(D, -rows * u);
    EXPECT_NEAR(impulse(0), -32.0 / 9, 1e-12);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(impulse(1 + i), 98.0 / 9, 1e-12);
}

TEST(Points, RigidMotionFeelsNoSpringAndNoVolumeChange) {
    const Model m = shipped("hydrostatic-skeleton");
    Workspace ws(m);
    Terms terms(m.layout());
    std::vector<double> q = m.q0, u(q.size());
    for (std::size_t i = 0; i < q.size(); i += 3) {  // rotation about z with angular velocity 2
        u[i] = -2 * q[i + 1];
        u[i + 1] = 2 * q[i];
    }
    evaluate(m, ws, 0.0, q, u, terms);
    for (const double h : terms.h) EXPECT_NEAR(h, 0.0, 1e-9);  // damping 2800 on a rounding-level stretch
    EXPECT_NEAR(row_velocity(m.layout(), terms, 0, u), 0.0, 1e-12);
}

TEST(Points, AFewDirectionsNeedNoMatrix) {
    const Model m = build(io::parse_model(small_body, "body"));
    const State s = random_state(m, 3);
    const auto jacobians = m.system->jacobians_by(std::vector<int>{});
    const Matrix directions = Matrix::Ones(2, 1 + 2 * m.size());
    Matrix out = Matrix::Zero(2, m.size());
    EXPECT_TRUE(jacobians->residual_along(at(m, s.t, s.q, s.u), s.a, s.lambda, directions, out));
}

TEST(Points, JacobiansAgreeWithDifferences) { expect_exact_jacobians(build(io::parse_model(small_body, "body")), 3); }

/// The small body with muscles along and across it.
std::string muscular_body() {
    std::string text = small_body;
    const auto replace = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    replace("k = \"kl\"\nc = \"cl\"", "k = \"kl*(1 + a*sin(b*t))\"\nc = \"cl\"");
    replace("rest = \"rest\"", "rest = \"rest*(1 + a*cos(2*t))\"");
    return text;
}

TEST(Points, JacobiansOfMusclesAgreeWithDifferences) {
    const Model m = build(io::parse_model(muscular_body(), "body"));
    EXPECT_FALSE(m.autonomous);
    expect_exact_jacobians(m, 3);
    // Along a direction, without the matrix.
    const State s = random_state(m, 5);
    const auto jacobians = m.system->jacobians_by(std::vector<int>{});
    std::vector<double> values(jacobians->pattern(Function::residual).size());
    jacobians->evaluate(Function::residual, at(m, s.t, s.q, s.u), s.a, s.lambda, values);
    const Matrix J = dense(jacobians->pattern(Function::residual), values);
    Matrix directions = Matrix::Zero(1, 1 + 2 * m.size());
    for (Eigen::Index k = 0; k < directions.cols(); ++k) directions(0, k) = std::sin(1.0 + static_cast<double>(k));
    Matrix out = Matrix::Zero(1, m.size());
    ASSERT_TRUE(jacobians->residual_along(at(m, s.t, s.q, s.u), s.a, s.lambda, directions, out));
    const Vector expected = J * directions.row(0).transpose();
    EXPECT_LT((out.row(0).transpose() - expected).cwiseAbs().maxCoeff(), 1e-10 * expected.cwiseAbs().maxCoeff());
}

TEST(Points, RefusesAMuscleWithNegativeStiffnessOrRestLength) {
    const auto refusal = [](const std::string& law) {
        return test::refusal_of([&] {
            build(
                io::parse_model("[points]\npositions = [[0, 0, 0], [1, 0, 0]]\nmass = [1, 1]\n[[springs]]\npairs = "
                                "[[0, 1]]\n" +
                                    law + "\n[simulate]\nt_end = 2\n",
                                "test"));
        });
    };
    EXPECT_NE(refusal("k = \"1 - t\"").find("k of [[springs]] number 1 is -0.00"), std::string::npos);
    EXPECT_NE(refusal("k = 1\nrest = \"cos(2*t)\"").find("it must be >= 0"), std::string::npos);
    EXPECT_NE(refusal("k = 1\nc = \"t\""), "accepted");
    EXPECT_EQ(refusal("k = \"1 + t\"\nrest = \"1 + sin(t)/2\""), "accepted");
}

TEST(Points, JacobiansOfAPerturbedBodyAgreeWithDifferences) {
    BuildOptions options;
    options.perturbed = true;
    const std::string text = std::string(small_body) +
                             "[perturbation]\ndelta = { \"p3.y\" = \"a*sin(b*t)\" }\neta = { front = \"a*t^2\" "
                             "}\ntheta = { wall = \"a*sin(t)\" }\n";
    expect_exact_jacobians(build(io::parse_model(text, "body"), options), 4);
}

TEST(Points, BodiesAndPointsShareOneModel) {
    // A piston of mass mz on a spring to point 0, a contact between piston and point 1, a force on point 2.
    const char* const text = R"(
[system]
q = ["z"]
T = "mz/2*z'^2"
U = "k/2*(z - p0.x)^2"
f = { "p2.y" = "F*p1.z*z'" }
[parameters]
mz = 2.0
k = 7.0
F = 3.0
[[contact]]
name = "piston"
gN = "p1.x - z + 4"
gammaT = "p1.y' - z'*p0.z"
mu = 0.2
[[constraint]]
name = "guide"
g = "p0.y + p2.y - 1"
[points]
positions = [[1.0, 0.0, 0.2], [2.0, 0.0, 0.3], [0.0, 1.0, 0.5]]
mass = [1.0, 2.0, 3.0]
[[springs]]
pairs = [[0, 1], [1, 2]]
k = 5.0
c = 0.3
[[obstacle]]
name = "floor"
normal = [0, 0, 1]
offset = 0
mu = 0.4
)";
    const Model m = build(io::parse_model(text, "piston"));
    ASSERT_EQ(m.size(), 10);
    Workspace ws(m);
    Terms terms(m.layout());
    State s = random_state(m, 5);
    evaluate(m, ws, s.t, s.q, s.u, terms);
    // Coordinates: z, p0.xyz, p1.xyz, p2.xyz
    const Matrix M = dense_symmetric(m.layout().mass, terms.M);
    EXPECT_EQ(M(0, 0), 2.0);
    EXPECT_EQ(M(1, 1), 1.0);
    EXPECT_EQ(M(9, 9), 3.0);
    EXPECT_NEAR(terms.h[0], -7.0 * (s.q[0] - s.q[1]), 1e-14);
    EXPECT_NEAR(terms.positions[static_cast<std::size_t>(m.constraints[0].row)], s.q[2] + s.q[8] - 1, 1e-15);
    EXPECT_NEAR(terms.positions[static_cast<std::size_t>(m.contacts[0].row)], s.q[4] - s.q[0] + 4, 1e-15);
    EXPECT_NEAR(terms.positions[static_cast<std::size_t>(m.contacts[3].row)], s.q[9], 1e-15);
    EXPECT_NEAR(row_velocity(m.layout(), terms, m.contacts[0].friction.first_row, s.u), s.u[5] - s.u[0] * s.q[3],
                1e-14);
    // The two slip directions of a floor contact span the horizontal plane.
    const int slip = m.contacts[2].friction.first_row;
    const double a = row_velocity(m.layout(), terms, slip, s.u), b = row_velocity(m.layout(), terms, slip + 1, s.u);
    EXPECT_NEAR(a * a + b * b, s.u[4] * s.u[4] + s.u[5] * s.u[5], 1e-13);
    const Energy e = m.system->energy(at(m, s.t, s.q, s.u), ws.scratch());
    double kinetic = s.u[0] * s.u[0];
    for (std::size_t i = 1; i < 10; ++i) kinetic += 0.5 * static_cast<double>((i - 1) / 3 + 1) * s.u[i] * s.u[i];
    EXPECT_NEAR(e.kinetic, kinetic, 1e-13);
    EXPECT_NEAR(e.applied, 3.0 * s.q[6] * s.u[0] * s.u[8], 1e-13);
    expect_exact_jacobians(m, 6);
}

TEST(Points, CostGrowsLinearly) {
    // Counted, not timed: entries of all patterns per point stay the same from 100 to 10000 segments.
    const auto entries_per_point = [](int segments) {
        std::string text = small_body;
        const std::string from = "segments = 2";
        text.replace(text.find(from), from.size(), "segments = " + std::to_string(segments));
        const Model m = build(io::parse_model(
            text.substr(0, text.find("[[volume]]\nname")) + text.substr(text.find("[[obstacle]]")), "row"));
        const auto jacobians = m.system->jacobians();
        std::size_t entries = m.layout().mass.size() + m.layout().rows.size();
        for (const Function f : {Function::residual, Function::velocity, Function::acceleration})
            entries += jacobians->pattern(f).size();
        return static_cast<double>(entries) / m.size();
    };
    EXPECT_NEAR(entries_per_point(10000), entries_per_point(100), 0.05 * entries_per_point(100));
}

}  // namespace
}  // namespace saltus::points_test
