// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "physics/motion.hpp"

namespace saltus::stability::equilibrium_point_test {
namespace {

using test::from_text;
using test::shipped;
using trajectory::ElementKind;

Vector vec(std::initializer_list<double> values) {
    Vector v(static_cast<Eigen::Index>(values.size()));
    std::copy(values.begin(), values.end(), v.data());
    return v;
}

EquilibriumPoint at(const model::Model& m, std::initializer_list<double> q) {
    RestingModel resting(m);
    return equilibrium_at(resting, vec(q));
}

/// The laws of a contact of one or two slip directions, a constraint or a slider, written out once more.
void expect_lawful(const model::Model& m, const EquilibriumPoint& p, double tolerance = 1e-9) {
    RestingModel r(m);
    r.move_to(p.q);
    const auto rows = integrate::element_rows(m);
    Vector left = p.statics.h;
    double size = left.norm();
    for (const trajectory::Reaction& f : p.forces) {
        const integrate::ElementRows& e = rows[static_cast<std::size_t>(f.element)];
        if (e.normal >= 0) left += f.N * r.row(e.normal).transpose();
        for (std::size_t i = 0; i < f.T.size(); ++i)
            left += f.T[i] * r.row(e.first_slip + static_cast<int>(i)).transpose();
        size += std::abs(f.N);
        double T = 0.0;
        for (const double x : f.T) T = std::hypot(T, x);
        std::vector<double> c(static_cast<std::size_t>(m.layout().coefficients));
        model::Workspace w(m);
        const std::vector<double> rest(static_cast<std::size_t>(m.size()), 0.0);
        m.system->coefficients(model::at(m, 0.0, {p.q.data(), rest.size()}, rest), w.scratch(), c);
        const model::Friction& friction =
            e.kind == ElementKind::contact      ? m.contacts[static_cast<std::size_t>(e.index)].friction
            : e.kind == ElementKind::constraint ? m.constraints[static_cast<std::size_t>(e.index)].friction
                                                : m.sliders[static_cast<std::size_t>(e.index)].friction;
        const double mu = friction.dimension > 0 ? c[static_cast<std::size_t>(friction.mu[0])] : 0.0;
        if (e.kind == ElementKind::contact) {
            EXPECT_GE(f.N, -tolerance * size);
        }
        EXPECT_LE(T, mu * std::abs(f.N) + tolerance * size);
    }
    EXPECT_LE(left.norm(), tolerance * size);
}

TEST(EquilibriumPoint, FallingBlockHoldsExactlyWhereTheSpringIsWeakerThanFriction) {
    const model::Model m = shipped("falling-block");
    for (const double x : {0.0, 0.1, -0.29, 0.2943, -0.2943}) {
        const EquilibriumPoint p = at(m, {x, 0.0});
        EXPECT_TRUE(p.is_equilibrium) << x;
        ASSERT_EQ(p.forces.size(), 1U);
        EXPECT_NEAR(p.forces[0].N, 9.81, 1e-10);
        EXPECT_NEAR(p.forces[0].T[0], 10.0 * x, 1e-10);
        expect_lawful(m, p);
    }
    for (const double x : {0.29431, -0.5, 2.0}) {
        const EquilibriumPoint p = at(m, {x, 0.0});
        EXPECT_FALSE(p.is_equilibrium) << x;
        ASSERT_EQ(p.separations.size(), 1U);
        // The block is pulled back, and what would hold it must do positive power: x' against the spring's pull.
        EXPECT_GT(p.separations[0].power, 0.0);
        EXPECT_LT(p.separations[0].v(0) * x, 0.0);
    }
    EXPECT_FALSE(at(m, {0.0, 0.5}).is_equilibrium);
    EXPECT_FALSE(at(m, {0.0, -0.1}).admissible);
}

TEST(EquilibriumPoint, RockingBarOnBothEndsIsHyperstaticAndSharesTheLoad) {
    const model::Model m = shipped("rocking-bar");
    const EquilibriumPoint p = at(m, {0.2, 0.0, 0.0});
    ASSERT_TRUE(p.is_equilibrium);
    EXPECT_EQ(p.hyperstatic, 1);
    EXPECT_FALSE(p.self_stress);
    ASSERT_EQ(p.forces.size(), 2U);
    EXPECT_NEAR(p.forces[0].N, 4.905, 1e-10);
    EXPECT_NEAR(p.forces[0].T[0] + p.forces[1].T[0], 2.0, 1e-10);
    for (const EquilibriumPoint::Range& r : p.ranges) {
        EXPECT_NEAR(r.least, 4.905, 1e-9);
        EXPECT_NEAR(r.greatest, 4.905, 1e-9);
    }
    expect_lawful(m, p);
    EXPECT_FALSE(at(m, {0.2944, 0.0, 0.0}).is_equilibrium);
}

TEST(EquilibriumPoint, RockingBarStandsOnOneEndWhereItsFrictionMakesNoTorque) {
    const model::Model m = shipped("rocking-bar");
    for (const double phi : {1.3, 1.5, 1.7, 1.83}) {
        const double x = 9.81 / (10.0 * std::tan(phi));
        EXPECT_TRUE(at(m, {x, 0.5 * std::sin(phi), phi}).is_equilibrium) << phi;
        EXPECT_FALSE(at(m, {x + 1e-6, 0.5 * std::sin(phi), phi}).is_equilibrium) << phi;
    }
    EXPECT_FALSE(at(m, {9.81 / (10.0 * std::tan(1.27)), 0.5 * std::sin(1.27), 1.27}).is_equilibrium);
}

Vector beam(double theta) { return vec({-std::sin(theta), -std::cos(theta), theta}); }

// [Leine] (142): |tan θ| <= 2 mu2/(1 − mu1 mu2), around 0 and around π.
TEST(EquilibriumPoint, BeamInGroovesHoldsByReactionsOfEitherSign) {
    for (const auto& [mu1, mu2] : {std::pair{0.3, 0.3}, {0.6, 0.2}, {0.1, 0.9}}) {
        const model::Model m = shipped("constrained-beam", {{"mu1", mu1}, {"mu2", mu2}});
        RestingModel r(m);
        const double tip = std::atan(2.0 * mu2 / (1.0 - mu1 * mu2));
        for (const double centre : {0.0, M_PI})
            for (const double side : {-1.0, 1.0}) {
                const EquilibriumPoint in = equilibrium_at(r, beam(centre + side * (tip - 1e-8)));
                EXPECT_TRUE(in.is_equilibrium) << mu1 << " " << mu2 << " " << centre << " " << side;
                expect_lawful(m, in);
                const EquilibriumPoint out = equilibrium_at(r, beam(centre + side * (tip + 1e-8)));
                EXPECT_FALSE(out.is_equilibrium);
                for (const Separation& s : out.separations) EXPECT_GT(s.power, 0.0);
                for (const int first : {-1, 1})
                    for (const int second : {-1, 1}) {
                        const auto covers = [&](const Separation& s) {
                            return s.sign[0] * first >= 0 && s.sign[1] * second >= 0;
                        };
                        EXPECT_TRUE(std::any_of(out.separations.begin(), out.separations.end(), covers));
                    }
            }
    }
    const model::Model merged = shipped("constrained-beam", {{"mu1", 1.25}, {"mu2", 0.8}});
    RestingModel r(merged);
    for (int k = 0; k < 40; ++k) EXPECT_TRUE(equilibrium_at(r, beam(0.157 * k)).is_equilibrium) << k;
}

TEST(EquilibriumPoint, WedgeJamsWithoutLoad) {
    const char* const text = R"TOML(
[system]
name = "wedge"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[parameters]
mu = 0.3
alpha = "80*pi/180"
[[contact]]
name = "left"
gN = "sin(alpha)*x + cos(alpha)*y"
gammaT = "cos(alpha)*x' - sin(alpha)*y'"
mu = "mu"
[[contact]]
name = "right"
gN = "-sin(alpha)*x + cos(alpha)*y"
gammaT = "cos(alpha)*x' + sin(alpha)*y'"
mu = "mu"
)TOML";
    const EquilibriumPoint jammed = at(from_text(text), {0.0, 0.0});
    EXPECT_TRUE(jammed.is_equilibrium);
    EXPECT_EQ(jammed.hyperstatic, 2);
    EXPECT_TRUE(jammed.self_stress);
    EXPECT_TRUE(std::isinf(jammed.ranges[0].greatest));
    // Below tan alpha = 1/mu the load wedges it no longer without bound.
    const EquilibriumPoint loose = at(from_text(text, {{"alpha", 1.2}}), {0.0, 0.0});
    EXPECT_TRUE(loose.is_equilibrium);
    EXPECT_FALSE(loose.self_stress);
    EXPECT_TRUE(std::isfinite(loose.ranges[0].greatest));
}

const char* const table = R"TOML(
[system]
name = "block on a slope, spatial friction"
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
U = "9.81*(z*cos(slope) + (x*cos(turn) + y*sin(turn))*sin(slope))"
[parameters]
slope = 0.3
turn = 0.7
mu = 0.5
[[contact]]
name = "plane"
gN = "z"
gammaT = ["x'", "y'"]
mu = "mu"
)TOML";

TEST(EquilibriumPoint, SlopeHoldsUpToTheAngleOfFrictionInEveryDirection) {
    const double angle = std::atan(0.5);
    for (int k = 0; k < 12; ++k) {
        const double turn = 0.5236 * k + 0.1;
        const auto m = [&](double slope) { return from_text(table, {{"slope", slope}, {"turn", turn}}); };
        EXPECT_TRUE(at(m(angle - 1e-9), {1.0, 2.0, 0.0}).is_equilibrium) << turn;
        const EquilibriumPoint out = at(m(angle + 1e-8), {1.0, 2.0, 0.0});
        EXPECT_FALSE(out.is_equilibrium) << turn;
        ASSERT_EQ(out.separations.size(), 1U);
        EXPECT_GT(out.separations[0].power, 0.0);
        // It slides down: the steepest way.
        EXPECT_NEAR(std::atan2(-out.separations[0].v(1), -out.separations[0].v(0)),
                    std::atan2(std::sin(turn), std::cos(turn)), 1e-4);
    }
}

TEST(EquilibriumPoint, BeltDragsTheBlockToOnePoint) {
    const model::Model m = shipped("friction-oscillator");
    const EquilibriumPoint p = at(m, {0.625});
    EXPECT_TRUE(p.is_equilibrium);
    ASSERT_EQ(p.forces.size(), 1U);
    EXPECT_NEAR(p.forces[0].T[0], 0.625, 1e-14);
    EXPECT_FALSE(at(m, {0.6250001}).is_equilibrium);
    // Without the belt's speed it is an interval.
    const model::Model still = shipped("friction-oscillator", {{"v", 0.0}});
    EXPECT_TRUE(at(still, {1.0}).is_equilibrium);
    EXPECT_TRUE(at(still, {-0.7}).is_equilibrium);
    EXPECT_FALSE(at(still, {1.000001}).is_equilibrium);
}

TEST(EquilibriumPoint, ArmPressesAgainstTheObstacleWithWhatTheControllerGives) {
    const model::Model m = shipped("single-link-arm");
    const EquilibriumPoint p = at(m, {0.5});
    EXPECT_TRUE(p.is_equilibrium);
    ASSERT_EQ(p.forces.size(), 1U);
    EXPECT_EQ(p.forces[0].element, 1);
    EXPECT_NEAR(p.forces[0].N, 0.5, 1e-14);
    ASSERT_EQ(p.control.size(), 1U);
    EXPECT_NEAR(p.control[0].second, -0.5, 1e-14);
    EXPECT_FALSE(at(m, {0.5 + 2.0 * M_PI}).is_equilibrium);
}

// Forces in random cones with random rows: what some forces of the laws make, the search holds; the opposite of a
// separated direction never becomes possible by any forces drawn from the cones.
TEST(EquilibriumPoint, RandomRowsAreHeldOrSeparatedAndBothIsCheckedByHand) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    int held = 0, separated = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const int n = 2 + trial % 4;
        Statics s;
        s.scale = Vector::Ones(n);
        s.h = Vector::NullaryExpr(n, [&] { return normal(random); });
        std::vector<Vector> columns;
        for (int k = 0; k < 1 + trial % 3; ++k) {
            RestingElement e;
            e.element = k;
            const int kind = static_cast<int>(random() % 4);
            e.kind = kind == 0 ? ElementKind::slider : kind == 1 ? ElementKind::constraint : ElementKind::contact;
            const int slips = 1 + static_cast<int>(random() % 2);
            e.body.shape = slips == 1 ? FrictionBody::Shape::segment : FrictionBody::Shape::disk;
            e.body.dimension = slips;
            e.body.mu = e.body.mu_second = 0.2 + 0.5 * std::abs(uniform(random));
            e.load = e.kind == ElementKind::slider ? 1.0 : 0.0;
            const auto add = [&] {
                columns.push_back(Vector::NullaryExpr(n, [&] { return normal(random); }));
                return static_cast<int>(columns.size()) - 1;
            };
            if (e.kind != ElementKind::slider) e.normal = add();
            e.slip = add();
            if (slips == 2) add();
            s.elements.push_back(e);
        }
        s.W.resize(n, static_cast<Eigen::Index>(columns.size()));
        for (std::size_t c = 0; c < columns.size(); ++c) s.W.col(static_cast<Eigen::Index>(c)) = columns[c];
        const auto draw = [&](double size) {
            Vector lambda = Vector::Zero(s.W.cols());
            for (const RestingElement& e : s.elements) {
                double load = e.load;
                if (e.normal >= 0) lambda(e.normal) = load = size * std::abs(normal(random));
                if (e.kind == ElementKind::constraint && uniform(random) < 0.0) lambda(e.normal) *= -1.0;
                const double angle = M_PI * uniform(random), part = std::abs(uniform(random));
                lambda(e.slip) = e.body.mu * load * (e.body.dimension == 1 ? uniform(random) : part * std::cos(angle));
                if (e.body.dimension == 2) lambda(e.slip + 1) = e.body.mu * load * part * std::sin(angle);
            }
            return lambda;
        };
        if (trial % 2 == 0) s.h = -(s.W * draw(1.0));
        const Balance b = balance(s);
        if (trial % 2 == 0) {
            EXPECT_TRUE(b.holds) << trial << " margin " << b.margin << " defect " << b.defect;
        }
        if (b.holds) {
            ++held;
            const ForceDefects d = examine(s, b.lambda);
            EXPECT_LE(d.balance, 1e-9) << trial;
            EXPECT_LE(d.law, 1e-9) << trial;
            continue;
        }
        ++separated;
        ASSERT_FALSE(b.separations.empty()) << trial;
        for (const Separation& separation : b.separations) EXPECT_GT(separation.power, 0.0) << trial;
        for (int k = 0; k < 200; ++k) {
            const Vector lambda = draw(3.0);
            bool positive = false;
            for (const Separation& separation : b.separations) {
                bool its = true;
                for (std::size_t i = 0; i < s.elements.size(); ++i)
                    if (separation.sign[i] != 0)
                        its &= (lambda(s.elements[i].normal) >= 0.0) == (separation.sign[i] > 0);
                if (its) positive |= separation.v.dot(s.h + s.W * lambda) > 0.0;
            }
            ASSERT_TRUE(positive) << trial;
        }
    }
    EXPECT_GT(held, 150);
    EXPECT_GT(separated, 50);
}

}  // namespace
}  // namespace saltus::stability::equilibrium_point_test
