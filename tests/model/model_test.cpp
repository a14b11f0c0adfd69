// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/inspect.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/systems/detail/expression_system.hpp"

namespace saltus::model_test {
namespace {

using namespace saltus::model;

Model model_of(const char* text, const BuildOptions& options = {}) {
    return build(io::parse_model(text, "test.toml"), options);
}

struct Evaluated {
    Evaluated(const Model& m, double t, std::vector<double> q, std::vector<double> u) : terms(m.layout()) {
        Workspace ws(m);
        evaluate(m, ws, t, q, u, terms);
        energy = m.system->energy(at(m, t, q, u), ws.scratch());
    }
    Terms terms;
    Energy energy;
};

// --- control -------------------------------------------------------------------------------------------------

const char* const two_masses = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + 3/2*y'^2"
U = "5/2*(x - y)^2"
R = "0.1*y'^2"
)toml";

std::string with(const char* text, const char* more) { return std::string(text) + more; }

TEST(Control, ProportionalDerivativeLawActsOnTheActuatedCoordinateAlone) {
    const Model m = build(io::parse_model(with(two_masses, R"toml(
[control]
actuated = ["y"]
Kp = 7.0
Kv = 0.5
reference = { y = 2.0 }
)toml"),
                                          "loop"));
    const Evaluated e(m, 0.0, {0.3, 0.4}, {1.1, -0.7});
    EXPECT_NEAR(e.terms.h[0], -5 * (0.3 - 0.4), 1e-15);
    EXPECT_NEAR(e.terms.h[1], 5 * (0.3 - 0.4) - 0.2 * -0.7 - 7 * (0.4 - 2.0) - 0.5 * -0.7, 1e-14);
    // The closed loop's potential has the controller's, its dissipation too.
    EXPECT_NEAR(e.energy.potential, 2.5 * 0.01 + 3.5 * 1.6 * 1.6, 1e-14);
    EXPECT_NEAR(e.energy.damping, 0.2 * 0.49 + 0.5 * 0.49, 1e-15);
}

TEST(Control, MatrixGainsCoupleAndTheirSkewPartIsAForce) {
    const Model m = build(io::parse_model(with(two_masses, R"toml(
[control]
actuated = ["y", "x"]
Kp = [[4.0, 1.0], [3.0, 6.0]]
Kv = [2.0, 9.0]
)toml"),
                                          "loop"));
    const Evaluated e(m, 0.0, {0.3, 0.4}, {1.1, -0.7});
    EXPECT_NEAR(e.terms.h[0], -5 * (0.3 - 0.4) - (3 * 0.4 + 6 * 0.3) - 9 * 1.1, 1e-14);
    EXPECT_NEAR(e.terms.h[1], 5 * (0.3 - 0.4) - 0.2 * -0.7 - (4 * 0.4 + 1 * 0.3) - 2 * -0.7, 1e-14);
    EXPECT_NEAR(e.energy.potential, 2.5 * 0.01 + 0.5 * (4 * 0.16 + 6 * 0.09 + 2 * 2 * 0.12),
                1e-14);  // symmetric part only
}

TEST(Control, ShapingReplacesThePotential) {
    const Model m = build(io::parse_model(with(two_masses, R"toml(
[control]
actuated = ["x", "y"]
Kp = 10.0
Kv = 1.0
shaping = "Kp/2*x^2 + y^4"
)toml"),
                                          "loop"));
    const Evaluated e(m, 0.0, {0.3, 0.4}, {1.1, -0.7});
    EXPECT_NEAR(e.terms.h[0], -10 * 0.3 - 1.1, 1e-14);
    EXPECT_NEAR(e.terms.h[1], -4 * 0.064 - 0.2 * -0.7 + 0.7, 1e-14);
    EXPECT_NEAR(e.energy.potential, 5 * 0.09 + 0.0256, 1e-15);
}

TEST(Control, AOneRowMatrixIsNotTakenForADiagonal) {
    EXPECT_THROW(
        build(io::parse_model(with(two_masses, "[control]\nactuated = [\"x\", \"y\"]\nKp = [[1, 2]]\n"), "loop")),
        Error);
}

TEST(Control, WhatDoesNothingOrDrivesAwayIsWarnedOf) {
    const auto warnings = [](const char* block) {
        return build(io::parse_model(with(two_masses, block), "loop")).warnings;
    };
    EXPECT_EQ(warnings("[control]\nactuated = [\"x\"]\n"),
              std::vector<std::string>{"[control] has no gains: it does nothing"});
    EXPECT_EQ(warnings("[control]\nactuated = [\"x\"]\nKp = -1\n"),
              std::vector<std::string>{"Kp in [control] is not positive semidefinite: it drives the system away"});
    EXPECT_EQ(warnings("[control]\nactuated = [\"x\", \"y\"]\nKp = 2\nKv = 1\nshaping = \"x^2 + y^2\"\n"),
              std::vector<std::string>{"Kp in [control] is not used: shaping takes its place and does not mention it"});
}

TEST(Kinetic, SquaresOfLengthsAreQuadratic) {
    for (const char* T : {"m/2*hypot(x', y')^2", "m/2*sqrt(x'^2 + y'^2)^2"}) {
        const Model m = build(io::parse_model(
            std::string("[system]\nq = [\"x\", \"y\"]\nT = \"") + T + "\"\n[parameters]\nm = 3.0\n", "t"));
        const Evaluated e(m, 0.0, {0, 0}, {0, 0});
        EXPECT_EQ(dense_symmetric(m.layout().mass, e.terms.M), (Matrix(2, 2) << 3, 0, 0, 3).finished()) << T;
    }
}

TEST(Control, OpenLoopLeavesItOut) {
    BuildOptions options;
    options.open_loop = true;
    const Model m =
        build(io::parse_model(with(two_masses, "[control]\nactuated = [\"x\"]\nKp = 7.0\n"), "loop"), options);
    EXPECT_NEAR(Evaluated(m, 0.0, {0.3, 0.4}, {0, 0}).terms.h[0], 0.5, 1e-15);
}

// --- many coordinates ----------------------------------------------------------------------------------------

/// A chain of masses with springs between neighbours, each above a floor.
std::string chain(int n) {
    std::string q, T, U, contacts;
    for (int k = 0; k < n; ++k) {
        const std::string x = "x" + std::to_string(k), before = "x" + std::to_string(k - 1);
        q += (k > 0 ? ", \"" : "\"") + x + "\"";
        T += (k > 0 ? " + m/2*" : "m/2*") + x + "'^2";
        U += k > 0 ? " + k/2*(" + x + " - " + before + ")^2" : "k/2*x0^2";
        contacts += "[[contact]]\nname = \"c" + std::to_string(k) + "\"\ngN = \"" + x + " + 1\"\n";
    }
    return "[system]\nq = [" + q + "]\nT = \"" + T + "\"\nU = \"" + U + "\"\n[parameters]\nm = 2.0\nk = 10.0\n" +
           contacts;
}

/// Without sparse derivatives this takes minutes.
TEST(ManyCoordinates, AChainOfThousandsHasTheEquationsOfAShortOne) {
    constexpr int n = 3000;
    const Model m = build(io::parse_model(chain(n), "chain"));
    ASSERT_EQ(m.layout().mass.size(), static_cast<std::size_t>(n));  // diagonal
    ASSERT_EQ(m.layout().rows.size(), static_cast<std::size_t>(n));  // one entry in each row
    std::vector<double> q(n);
    for (int k = 0; k < n; ++k) q[static_cast<std::size_t>(k)] = std::sin(0.1 * k);
    const Evaluated e(m, 0.0, q, std::vector<double>(n, 0.0));
    for (std::size_t k = 0; k < n; ++k) {
        const double left = k > 0 ? q[k] - q[k - 1] : q[0], right = k + 1 < n ? q[k + 1] - q[k] : 0.0;
        EXPECT_EQ(e.terms.M[k], 2.0);
        EXPECT_NEAR(e.terms.h[k], 10.0 * (right - left), 1e-13);
        EXPECT_EQ(e.terms.W[k], 1.0);
    }
}

// --- perturbation --------------------------------------------------------------------------------------------

const char* const perturbed_text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[parameters]
eps = 0.1
[[constraint]]
name = "line"
g = "y - 2*x"
[[contact]]
name = "wall"
gN = "x*x + 1"
[initial]
q = { x = 1.0, y = 2.0 }
[perturbation]
delta = { y = "eps*sin(3*t)" }
eta = { line = "eps*t^2" }
theta = { wall = "eps*cos(t)" }
initial = { q = { x = 0.5, y = 1.0 }, u = { x = "eps", y = "2*eps" } }
)toml";

TEST(Perturbation, NominalModelIgnoresIt) {
    const Model m = model_of(perturbed_text);
    const Evaluated e(m, 0.7, {1, 2}, {3, 4});
    EXPECT_EQ(e.terms.h[1], 0.0);
    EXPECT_EQ(e.terms.positions[0], 0.0);
    EXPECT_EQ(m.q0, (std::vector<double>{1.0, 2.0}));
}

TEST(Perturbation, AppliedItShiftsForcesConstraintsGapsWithTheirDerivativesAndTheStart) {
    BuildOptions options;
    options.perturbed = true;
    const Model m = model_of(perturbed_text, options);
    const double t = 0.7;
    const Evaluated e(m, t, {1, 2}, {3, 4});
    EXPECT_NEAR(e.terms.h[1], 0.1 * std::sin(3 * t), 1e-16);
    EXPECT_NEAR(e.terms.positions[0], -0.1 * t * t, 1e-16);
    EXPECT_NEAR(e.terms.chi[0], -0.2 * t, 1e-16);
    EXPECT_NEAR(e.terms.zeta[0], -0.2, 1e-16);
    EXPECT_NEAR(e.terms.positions[1], 2 - 0.1 * std::cos(t), 1e-15);
    EXPECT_NEAR(e.terms.chi[1], 0.1 * std::sin(t), 1e-16);
    EXPECT_NEAR(e.terms.zeta[1], 2 * 9 + 0.1 * std::cos(t), 1e-14);
    EXPECT_EQ(m.q0, (std::vector<double>{1.5, 3.0}));
    EXPECT_EQ(m.u0, (std::vector<double>{0.1, 0.2}));
    EXPECT_EQ(m.du0_dp(1, 0), 2.0);
    EXPECT_FALSE(m.scleronomic);
}

// --- parameters and the start --------------------------------------------------------------------------------

TEST(Parameters, DerivativesOfTheStartSeeThroughDerivedParameters) {
    const Model m = model_of(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[parameters]
b = "2*a"
a = 3.0
[initial]
q = { x = "b^2" }
u = { x = "a" }
)toml");
    ASSERT_EQ(m.settings->parameters.size(), 2U);
    EXPECT_EQ(m.settings->parameters[0].name, "b");
    EXPECT_EQ(m.settings->parameters[0].column, -1);
    EXPECT_EQ(m.settings->parameters[1].column, 0);
    EXPECT_EQ(m.q0[0], 36.0);
    EXPECT_EQ(m.dq0_dp(0, 0), 24.0);  // d(4a²)/da = 8a
    EXPECT_EQ(m.du0_dp(0, 0), 1.0);
}

TEST(Parameters, SettingADerivedParameterMakesItIndependent) {
    BuildOptions options;
    options.set = {{"JS", "0.25"}, {"m", "2*k"}};
    const Model m = build(io::read_model(SALTUS_SOURCE_DIR "/models/rocking-bar.toml"), options);
    for (const Parameter& p : m.settings->parameters) {
        EXPECT_TRUE(p.name != "JS" || (p.value == 0.25 && p.column >= 0));
        EXPECT_TRUE(p.name != "m" || (p.value == 20.0 && p.column < 0));
    }
}

TEST(Time, ADependenceThatTheValuesSwitchOffIsNone) {
    const char* const text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[parameters]
a = 0.0
[[contact]]
name = "wall"
gN = "x + 1 - a*sin(t)"
)toml";
    EXPECT_TRUE(model_of(text).scleronomic);
    BuildOptions options;
    options.set = {{"a", "0.1"}};
    EXPECT_FALSE(model_of(text, options).scleronomic);
}

// --- laws ----------------------------------------------------------------------------------------------------

TEST(Laws, EveryFrictionLawKeepsItsRowsAndCoefficients) {
    const Model m = model_of(R"toml(
[system]
q = ["x", "y", "z", "a", "b", "c"]
T = "(x'^2 + y'^2 + z'^2 + a'^2 + b'^2 + c'^2)/2"
[parameters]
mu = 0.3
[[contact]]
name = "plain"
gN = "z"
[[contact]]
name = "planar"
gN = "z + 1"
gammaT = "x'"
mu = "mu*(1 + x'^2)"
eN = 0.5
eT = -0.25
impact = "poisson"
[[contact]]
name = "ortho"
gN = "z + 2"
gammaT = ["x'", "y'"]
mu = [0.1, 0.2]
impact = "energy"
c = 0.05
[[contact]]
name = "patch"
gN = "z + 3"
gammaT = ["x'", "y'", "c'"]
mu = 0.4
friction = "contensou"
radius = 0.01
[[contact]]
name = "wheel"
gN = "z + 4"
gammaT = ["x'", "y'", "c'", "a'", "b'"]
mu = 0.5
friction = "rolling"
radii = [0.02, 0.03]
[[slider]]
gammaT = "x' - 1"
mu = "mu"
FN = "10 + x'^2"
[[clutch]]
gamma = "a' - b'"
)toml");
    ASSERT_EQ(m.contacts.size(), 5U);
    std::vector<double> c(static_cast<std::size_t>(m.layout().coefficients));
    Workspace ws(m);
    const std::vector<double> q(6, 0.0), u{2.0, 0, 0, 5.0, 3.0, 0};
    m.system->coefficients(at(m, 0.0, q, u), ws.scratch(), c);
    const auto value = [&](Coefficient k) { return c[static_cast<std::size_t>(k)]; };
    EXPECT_EQ(m.contacts[0].friction.law, FrictionLaw::none);
    EXPECT_EQ(m.contacts[1].friction.law, FrictionLaw::coulomb);
    EXPECT_EQ(m.contacts[1].impact, ImpactLaw::poisson);
    EXPECT_DOUBLE_EQ(value(m.contacts[1].friction.mu[0]), 0.3 * 5);  // may depend on the state
    EXPECT_EQ(value(m.contacts[1].e_t), -0.25);
    EXPECT_EQ(m.contacts[2].friction.law, FrictionLaw::orthotropic);
    EXPECT_EQ(value(m.contacts[2].friction.mu[1]), 0.2);
    EXPECT_EQ(m.contacts[2].e_n, no_coefficient);
    EXPECT_EQ(value(m.contacts[2].c), 0.05);
    EXPECT_EQ(m.contacts[3].friction.law, FrictionLaw::contensou);
    EXPECT_EQ(value(m.contacts[3].friction.radius[0]), 0.01);
    EXPECT_EQ(m.contacts[4].friction.dimension, 5);
    EXPECT_EQ(value(m.contacts[4].friction.radius[1]), 0.03);
    EXPECT_EQ(value(m.sliders[0].normal_force), 14.0);

    Terms terms(m.layout());
    evaluate(m, ws, 0.0, q, u, terms);
    EXPECT_EQ(row_velocity(m.layout(), terms, m.contacts[1].friction.first_row, u), 2.0);
    EXPECT_EQ(row_velocity(m.layout(), terms, m.contacts[4].friction.first_row + 3, u), 5.0);
    EXPECT_EQ(row_velocity(m.layout(), terms, m.sliders[0].friction.first_row, u), 1.0);
    EXPECT_EQ(row_velocity(m.layout(), terms, m.clutches[0].row, u), 2.0);
}

// --- rank ----------------------------------------------------------------------------------------------------

TEST(Rank, RedundantConstraintsAreNamedWithTheirCombination) {
    const Model m = model_of(R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
[[constraint]]
name = "first"
g = "x - y"
[[constraint]]
name = "second"
g = "y - z"
[[constraint]]
name = "third"
g = "2*x - 2*z"
[[contact]]
name = "floor"
gN = "z - x"
)toml");
    const Inspection i = inspect(m);
    EXPECT_EQ(i.active_rows, 4);
    EXPECT_EQ(i.rank, 2);
    EXPECT_EQ(i.degrees_of_freedom, 1);
    ASSERT_EQ(i.redundant.size(), 2U);
    EXPECT_EQ(i.redundant[0].name, "third");
    ASSERT_EQ(i.redundant[0].combination.size(), 2U);
    EXPECT_NEAR(i.redundant[0].combination[0].second, 2.0, 1e-14);
    EXPECT_NEAR(i.redundant[0].combination[1].second, 2.0, 1e-14);
    EXPECT_EQ(i.redundant[1].name, "floor");
    EXPECT_NEAR(i.redundant[1].combination[0].second, -1.0, 1e-14);
}

TEST(Rank, ManyClosedContactsAreJudgedApartAndTheDegreesOfFreedomStayRight) {
    // 802 points on the floor, every contact a component of its own; two floors make every second row redundant.
    const std::string text = R"toml(
[points]
generate = { kind = "hexahedra-row", segments = 400, length = 1.0, width = [1.0, 1.0], origin = [0.0, 0.0, 0.5] }
mass = { total = 10.0 }
[[obstacle]]
name = "floor"
normal = [0, 0, 1]
offset = 0.0
[[obstacle]]
name = "other floor"
normal = [0, 0, 2]
offset = 0.0
)toml";
    const Inspection i = inspect(build(io::parse_model(text, "row")));
    EXPECT_EQ(i.active_rows, 4 * 401);
    EXPECT_EQ(i.rank, 802);
    EXPECT_EQ(i.redundant.size(), 802U);
    EXPECT_EQ(i.degrees_of_freedom, 3 * 4 * 401);
}

// --- mass ----------------------------------------------------------------------------------------------------

TEST(MassFactor, SolvesBlocksApartAndTogether) {
    // Blocks {0, 3}, {1}, {2, 4, 5} with random positive definite entries.
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const int block_of[] = {0, 1, 2, 0, 2, 2};
    Pattern lower;
    lower.cols = 6;
    Matrix A = Matrix::Zero(6, 6);
    for (int i = 0; i < 6; ++i) {
        std::vector<int> columns;
        for (int j = 0; j <= i; ++j)
            if (block_of[i] == block_of[j]) {
                columns.push_back(j);
                A(i, j) = A(j, i) = i == j ? 4 + uniform(random) : uniform(random);
            }
        lower.add_row(columns);
    }
    std::vector<double> values;
    for (int i = 0; i < 6; ++i)
        for (int k = lower.start[static_cast<std::size_t>(i)]; k < lower.start[static_cast<std::size_t>(i) + 1]; ++k)
            values.push_back(A(i, lower.column[static_cast<std::size_t>(k)]));
    MassFactor factor(lower);
    EXPECT_EQ(factor.blocks().size(), 3U);
    ASSERT_TRUE(factor.factorise(values));
    Vector x(6), b(6);
    for (int i = 0; i < 6; ++i) x(i) = uniform(random);
    b = A * x;
    factor.solve({b.data(), 6});
    EXPECT_LT((b - x).norm(), 1e-14);
    const Spectrum s = factor.spectrum(values), whole = symmetric_spectrum(A);
    EXPECT_NEAR(s.smallest, whole.smallest, 1e-14);
    EXPECT_NEAR(s.largest, whole.largest, 1e-14);
    EXPECT_LT((A * s.smallest_direction - s.smallest * s.smallest_direction).norm(), 1e-14);
    values[2] = -1.0;  // the diagonal of coordinate 2
    EXPECT_FALSE(factor.factorise(values));
}

TEST(Systems, ASystemInCppHasTheKineticEnergyOfItsMassMatrix) {
    class Coupled final : public System {
    public:
        Coupled() {
            layout_.coordinates = 2;
            layout_.mass.cols = layout_.rows.cols = 2;
            const int both[] = {0, 1};
            layout_.mass.add_row({both, 1});
            layout_.mass.add_row(both);
        }
        const Layout& layout() const override { return layout_; }
        void mass(const At&, std::span<double>, std::span<double> M) const override { M[0] = 2, M[1] = 0.5, M[2] = 3; }
        void force(const At&, std::span<double>, std::span<double> h) const override { h[0] = h[1] = 0; }

    private:
        Layout layout_;
    };
    const Model m = from_system(std::make_shared<Coupled>(), "coupled", {"x", "y"}, {0, 0}, {1, 2});
    Workspace ws(m);
    EXPECT_NEAR(m.system->energy(at(m, 0, m.q0, m.u0), ws.scratch()).kinetic, 0.5 * (2 * 1 + 2 * 0.5 * 2 + 3 * 4),
                1e-15);
    EXPECT_EQ(m.system->jacobians(), nullptr);
}

}  // namespace
}  // namespace saltus::model_test
