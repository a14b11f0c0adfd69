// SPDX-License-Identifier: Apache-2.0
//
// A row that fails has a witness: what it says is computed once more, from the model itself.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_witness_test {
namespace {

using model::Model;
using proof::Certificate;
using proof::Condition;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::block;
using test::from_text;
using test::of_witness;
using test::replaced;
using test::shipped;
using test::story;
using test::Values;

std::string with_force(const std::string& f) { return replaced(block, "[parameters]", "f = " + f + "\n[parameters]"); }

/// A model and what one failing row of its certificate says.
struct Case {
    Model model;
    Certificate certificate;
    Condition row;

    Case(Model m, const std::string& id, Theorem theorem = Theorem::attractivity)
        : model(std::move(m)), certificate(certify(model, theorem)) {
        const Condition* found = certificate.find(id);
        if (found != nullptr) row = *found;
        EXPECT_EQ(to_string(row.verdict), std::string("fails")) << id << "\n" << story(certificate);
        EXPECT_TRUE(row.witness.given()) << story(certificate);
        EXPECT_EQ(certificate.outcome == Outcome::attractive || certificate.outcome == Outcome::unstable, false);
    }
    Case(const std::string& text, const std::string& id, const Values& set = {},
         Theorem theorem = Theorem::attractivity)
        : Case(from_text(text, set), id, theorem) {}

    const std::vector<double>& q() const { return row.witness.q; }
    const std::vector<double>& u() const { return row.witness.u; }

    model::Energy energy(const std::vector<double>& q, const std::vector<double>& u, double t = 0.0) const {
        model::Workspace workspace(model);
        return model.system->energy(model::at(model, t, q, u), workspace.scratch());
    }
    model::Terms terms(const std::vector<double>& q, const std::vector<double>& u, double t = 0.0) const {
        model::Workspace workspace(model);
        model::Terms terms(model.layout());
        model::evaluate(model, workspace, t, q, u, terms);
        return terms;
    }
    double velocity(int r) const {
        const model::Terms at = terms(q(), u());
        return model::row_velocity(model.layout(), at, r, u());
    }
    std::vector<double> rest() const { return std::vector<double>(q().size(), 0.0); }

    /// The collision that the witness is just before.
    trajectory::Event collision() const {
        integrate::Options options;
        options.t_end = 1e-3;
        options.start = trajectory::State{0.0, q(), u()};
        const trajectory::Trajectory motion = integrate::simulate(model, integrate::EventDriven{}, options);
        EXPECT_FALSE(motion.events.empty()) << story(certificate);
        if (motion.events.empty()) return {};
        EXPECT_EQ(motion.events.front().t, 0.0);
        return motion.events.front();
    }
};

TEST(CertifyWitness, ShowsAVelocityWithoutPositiveKineticEnergy) {
    const auto text = [](const std::string& mass, const std::string& x0) {
        return "[system]\nq = [\"x\"]\nT = \"(" + mass +
               ")/2*x'^2\"\nU = \"5*x^2\"\n[[slider]]\ngammaT = \"x'\"\nmu = 0.3\nFN = 1.0\n[initial]\nq = { x = " +
               x0 + " }\n";
    };
    const Case c(text("x^2 - 0.5", "1.0"), "1");
    ASSERT_EQ(c.u().size(), 1U);
    EXPECT_LE(c.energy(c.q(), c.u()).kinetic, 0.0);
    EXPECT_LE(std::fabs(c.q()[0]), std::sqrt(0.5));
    // If M is positive around the equilibrium, the level set ends where it is not: 5 x² with x² = 1/2.
    const Certificate local = certify(from_text(text("0.5 - x^2", "0.0")), Theorem::attractivity);
    EXPECT_EQ(local.outcome, Outcome::attractive) << story(local);
    EXPECT_NEAR(local.rho, 2.5, 1e-5) << story(local);
    EXPECT_LE(local.rho, 2.5) << story(local);
}

TEST(CertifyWitness, ShowsATimeAtWhichAContactMovesByItself) {
    const Case obstacle(replaced(block, R"(gN = "y")", R"x(gN = "y - 0.01*sin(3*t)")x"), "1");
    const double t = of_witness(obstacle.row, "t");
    EXPECT_NEAR(of_witness(obstacle.row, "chi"), -0.03 * std::cos(3.0 * t), 1e-14);
    const model::Terms at = obstacle.terms(obstacle.q(), obstacle.rest(), t);
    EXPECT_NEAR(model::row_velocity(obstacle.model.layout(), at, obstacle.model.contacts[0].row, obstacle.rest()),
                of_witness(obstacle.row, "chi"), 1e-15);
    const Condition* third = obstacle.certificate.find("3");  // nothing is wrong with the forces
    EXPECT_EQ(to_string(third->verdict), std::string("not examined")) << story(obstacle.certificate);

    const std::string guide = R"(
[[slider]]
name = "guide"
gammaT = "y'"
mu = 0.1
FN = 1.0
)";
    const Case belt(replaced(block, R"(gammaT = "x'")", R"(gammaT = "x' - 0.2")") + guide, "1");
    EXPECT_NEAR(belt.velocity(belt.model.contacts[0].friction.first_row), -0.2, 1e-15);

    const Case linear(replaced(block, "m/2*(x'^2 + y'^2)", "m/2*(x'^2 + y'^2) + 0.3*x*y'"), "1");
    // T(q, u) ≠ T(q, −u)
    EXPECT_NE(linear.energy(linear.q(), {0.0, 1.0}).kinetic, linear.energy(linear.q(), {0.0, -1.0}).kinetic);
}

TEST(CertifyWitness, ShowsADirectionInWhichTheEnergyFalls) {
    for (const double k : {-10.0, 0.0}) {
        const Case c(block, "2", {{"k", k}});
        ASSERT_EQ(c.u().size(), 2U);
        std::vector<double> there = c.q();
        for (std::size_t i = 0; i < 2; ++i) there[i] += 0.1 * c.u()[i];
        EXPECT_GE(there[1], -1e-12);  // admissible
        const double change = c.energy(there, c.rest()).potential - c.energy(c.q(), c.rest()).potential;
        EXPECT_NEAR(change, 0.5 * k * 0.01, 1e-12);
    }
    const Case falls(block, "2", {{"g", -9.81}});
    EXPECT_LT(falls.energy(falls.q(), falls.rest()).potential, -1e6);
    const Case outside(block + "[certify]\nregion = \"x > 0.1\"\n", "2");
    EXPECT_LE(outside.q()[0], 0.1);
    const Case empty(block + "[certify]\nregion = [\"x > 0.1\", \"x < -0.1\"]\n", "2");
    EXPECT_EQ(empty.q().size(), 2U);
}

TEST(CertifyWitness, ShowsAVelocityAtWhichForcesSupplyEnergy) {
    for (const std::string f : {"{ x = \"0.5*x'\" }", "{ x = \"0.5*x'*(1 - x'^2)\" }", "{ x = \"0.2*x'*cos(x)\" }"}) {
        const Case c(with_force(f), "3");
        ASSERT_EQ(c.u().size(), 2U) << f;
        EXPECT_GT(c.energy(c.q(), c.u()).applied, 0.0) << f;
    }
    const Case damped(replaced(block, "[parameters]", "R = \"-0.1*y'^2\"\n[parameters]"), "3");
    EXPECT_LT(damped.energy(damped.q(), damped.u()).damping, 0.0);
    const Case pushed(with_force("{ x = \"0.5\" }"), "3");
    EXPECT_NEAR(pushed.terms(pushed.q(), pushed.rest()).h[0] + 10.0 * pushed.q()[0], of_witness(pushed.row, "f x"),
                1e-14);
    const Case driven(with_force("{ x = \"0.5*sin(2*t)\" }"), "3");
    const double t = of_witness(driven.row, "t");
    EXPECT_NEAR(of_witness(driven.row, "change of h x"), 0.5 * std::sin(2.0 * t), 1e-14);
    EXPECT_GT(std::fabs(of_witness(driven.row, "change of h x")), 0.4);
}

/// mu > a/b: the block can stand on one edge, however little it is tilted.
TEST(CertifyWitness, ShowsForcesThatKeepAGapOpen) {
    const double mu = 2.0, k = 1000.0, m = 1.0, g = 9.81, a = 0.5, b = 0.3, JS = m * (a * a + b * b) / 3.0;
    const Case c(shipped("rocking-block", {{"mu", mu}, {"k", k}}), "4");
    ASSERT_EQ(c.q().size(), 3U);
    for (const double v : c.u()) EXPECT_EQ(v, 0.0);
    const double x = c.q()[0], phi = c.q()[2];
    int open = -1;
    for (int i = 0; i < 2; ++i)
        if (!std::isnan(of_witness(c.row, "acceleration of gap " + c.model.contacts[static_cast<std::size_t>(i)].name)))
            open = i;
    ASSERT_GE(open, 0) << story(c.certificate);
    const auto name = [&](int i) { return c.model.contacts[static_cast<std::size_t>(i)].name; };
    const double N = of_witness(c.row, "force N of " + name(1 - open)),
                 acceleration = of_witness(c.row, "acceleration of gap " + name(open));
    EXPECT_GE(acceleration, -1e-9);
    // Slip and gap of corner i: gamma_N = y' + s_i phi', gamma_T = x' + r_i phi', with the signs of the model's rows.
    const auto lever = [&](int i, bool normal) {
        const model::Contact& contact = c.model.contacts[static_cast<std::size_t>(i)];
        const model::Terms at = c.terms(c.q(), c.u());
        return model::row_velocity(c.model.layout(), at, normal ? contact.row : contact.friction.first_row,
                                   std::vector<double>{0.0, 0.0, 1.0});
    };
    // Gap 1 − open stays closed: 0 = −g + N/m + s (s N + r T)/JS gives the friction T.
    const double s = lever(1 - open, true), r = lever(1 - open, false);
    const double T = ((g - N / m) * JS / s - s * N) / r;
    EXPECT_LE(std::fabs(T), mu * N * (1.0 + 1e-9));
    const double turning = (s * N + r * T) / JS;
    EXPECT_NEAR(-g + N / m + lever(open, true) * turning, acceleration, 1e-6);
    EXPECT_LT(std::hypot(x, phi), 1e-3);  // next to the equilibrium
}

TEST(CertifyWitness, ShowsAVelocityWithoutDissipation) {
    const Case floor(block, "5", {{"mu", 0.0}});
    EXPECT_NEAR(floor.velocity(floor.model.contacts[0].row), 0.0, 1e-14);
    EXPECT_NE(floor.u()[0], 0.0);
    const Case beam(shipped("constrained-beam", {{"mu1", 0.0}, {"mu2", 0.0}}), "4");
    for (const model::Constraint& c : beam.model.constraints) EXPECT_NEAR(beam.velocity(c.row), 0.0, 1e-12);
    EXPECT_NEAR(std::fabs(beam.u()[2]), std::sqrt(0.5), 0.3);
    EXPECT_EQ(beam.certificate.outcome, Outcome::stable) << story(beam.certificate);
    EXPECT_EQ(to_string(beam.certificate.find("8")->verdict), std::string("proved")) << story(beam.certificate);
}

TEST(CertifyWitness, ShowsACollisionThatTakesNoEnergy) {
    const Case elastic(block, "6", {{"eN", 1.0}, {"mu", 0.0}});
    const trajectory::Event e = elastic.collision();
    EXPECT_NEAR(e.energy_after, e.energy_before, 1e-14);
    EXPECT_GT(e.energy_before, 0.1);
    // The wall is away from the equilibrium: the witness is at the wall.
    const Case wall(block + "[[contact]]\nname = \"wall\"\ngN = \"2 - x\"\neN = 1.0\n", "6");
    EXPECT_NEAR(wall.q()[0], 2.0, 1e-12);
    const trajectory::Event bounce = wall.collision();
    EXPECT_NEAR(bounce.energy_after, bounce.energy_before, 1e-13);
    const Case law(replaced(block, "eT = \"eT\"", "impact = \"energy\""), "6");
    EXPECT_NEAR(law.velocity(law.model.contacts[0].row), -1.0, 1e-14);
}

TEST(CertifyWitness, ShowsACollisionThatCreatesEnergy) {
    const std::string rod = replaced(block, "m/2*(x'^2 + y'^2)", "(5*x'^2 + 5*y'^2 - 6*x'*y')/16");
    for (const auto& [e_n, e_t] : {std::pair{0.9, 0.0}, {0.0, -0.9}}) {
        const Case c(rod, "7", {{"eN", e_n}, {"eT", e_t}, {"mu", 0.5}, {"k", 100.0}});
        const trajectory::Event e = c.collision();
        EXPECT_GT(e.energy_after, e.energy_before);
        EXPECT_NEAR(e.energy_after - e.energy_before, of_witness(c.row, "energy created"), 1e-9);
    }
}

TEST(CertifyWitness, ShowsAnEquilibriumOutsideTheLevelSet) {
    const Case bar(shipped("rocking-bar", {{"k", 3.0}}), "8");
    const Case beam(shipped("constrained-beam", {{"mu1", 1.2}, {"mu2", 1.1}}), "8");
    const Case cut(block + "[certify]\nregion = \"abs(x) < 0.2\"\n", "8");
    for (const Case* c : {&bar, &beam, &cut}) {
        RestingModel resting(c->model);
        const Vector q = Eigen::Map<const Vector>(c->q().data(), static_cast<Eigen::Index>(c->q().size()));
        EXPECT_TRUE(equilibrium_at(resting, q, {true, 1e-6}).is_equilibrium ||
                    equilibrium_at(resting, q, {true, 1e-6}).margin > -1e-6)
            << story(c->certificate);
        const double V = c->energy(c->q(), c->rest()).potential - c->certificate.reference;
        EXPECT_GE(V, c->certificate.rho * (1.0 - 1e-6)) << story(c->certificate);
    }
}

/// Just below a/b = 5/3 the boxes around the end of the set reach beyond it. The set ends where friction does, at
/// |x| = mu m g/k with V = (mu m g)²/2k.
TEST(CertifyWitness, IsTheEndOfTheSetWhereFrictionEnds) {
    const Model m = shipped("rocking-block", {{"mu", 1.66}, {"k", 1e4}});
    CertifyOptions options;
    options.budget = 20;
    const Certificate c = certify(m, Theorem::attractivity, options);
    const Condition* const row = c.find("8");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(to_string(row->verdict), std::string("fails")) << story(c);
    ASSERT_EQ(row->witness.q.size(), 3U);
    EXPECT_NEAR(std::fabs(row->witness.q[0]), 1.66 * 9.81 / 1e4, 1e-9);
    EXPECT_NEAR(of_witness(*row, "V"), 1.66 * 9.81 * 1.66 * 9.81 / 2e4, 1e-8);
    EXPECT_GT(of_witness(*row, "V"), c.rho);
}

TEST(CertifyWitness, ShowsWhyInstabilityIsNotProved) {
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(-k*x^2 + 3*y^2)/2"
R = "c/2*x'^2"
[parameters]
k = 5.0
c = 0.1
[[slider]]
gammaT = "x'"
mu = 1.0
FN = 0.5
[[slider]]
gammaT = "y'"
mu = 1.0
FN = 0.3
)toml";
    const Certificate whole = certify(from_text(text), Theorem::instability);
    EXPECT_EQ(whole.outcome, Outcome::unstable) << story(whole);
    EXPECT_EQ(whole.grade, Grade::proved) << story(whole);

    const Case minimum(text, "2", {{"k", -5.0}}, Theorem::instability);
    EXPECT_GT(of_witness(minimum.row, "curvature"), 0.0);
    const Case driven(text, "3", {{"c", -0.1}}, Theorem::instability);
    EXPECT_LT(driven.energy(driven.q(), driven.u()).damping, 0.0);
    const Case free(replaced(text, "\"y'\"\nmu = 1.0", "\"y'\"\nmu = 0.0"), "4", {}, Theorem::instability);
    EXPECT_NEAR(std::fabs(free.u()[1]), 1.0, 1e-9);
    EXPECT_NEAR(free.energy(free.q(), free.u()).damping, 0.0, 1e-12);
    // Flat along y: equilibria without end.
    const Case endless(replaced(text, " + 3*y^2", " + 0*y^2"), "6", {}, Theorem::instability);
    RestingModel resting(endless.model);
    EXPECT_TRUE(equilibrium_at(resting, Eigen::Map<const Vector>(endless.q().data(), 2)).is_equilibrium)
        << story(endless.certificate);
}

TEST(CertifyLinear, VelocitiesWithoutDissipationMatterOnlyWhereAMotionKeepsToThem) {
    const std::string pair = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(x^2 + s*(x - y)^2 + y^2)/2"
R = "c/2*x'^2"
[parameters]
c = 0.4
s = 1.0
F = 0.0
[[slider]]
gammaT = "x'"
mu = "F"
FN = 1.0
[initial]
q = { x = 0.3 }
)toml";
    // One damper is enough for both masses.
    const Certificate damped = certify(from_text(pair), std::nullopt);
    EXPECT_EQ(damped.outcome, Outcome::attractive) << story(damped);
    EXPECT_EQ(damped.grade, Grade::proved) << story(damped);
    EXPECT_EQ(damped.classification, "globally attractive");
    // Without coupling, without damping, or with the damper's mass stuck, the other one swings for ever.
    for (const Values& set :
         {Values{{"s", 0.0}}, Values{{"c", 0.0}}, Values{{"c", 0.0}, {"F", 0.5}}, Values{{"F", 0.5}}}) {
        const Case c(pair, "4", set);
        EXPECT_EQ(c.certificate.classification, "undecided") << story(c.certificate);
        const double stuck = c.model.sliders.empty() || set.back().first != "F" ? 0.0 : std::fabs(c.u()[0]);
        EXPECT_NEAR(stuck, 0.0, 1e-9);
        EXPECT_NEAR(c.energy(c.q(), c.u()).damping, 0.0, 1e-15);
    }
}

TEST(CertifyBudget, ProvesNoMoreIfItEnds) {
    for (const char* name : {"rocking-bar", "rocking-block", "constrained-beam", "falling-block"}) {
        CertifyOptions options;
        options.budget = 3;
        const Certificate c = certify(shipped(name), Theorem::attractivity, options);
        const Certificate whole = certify(shipped(name), Theorem::attractivity);
        EXPECT_EQ(whole.grade, Grade::proved) << story(whole);
        EXPECT_LE(c.rho_verified, whole.rho * (1.0 + 1e-9)) << story(c);
        EXPECT_TRUE(c.outcome == Outcome::inconclusive || c.rho <= whole.rho) << story(c);
    }
}

TEST(CertifyHyperstatic, LegsShareTheLoad) {
    std::string table = R"toml(
[system]
q = ["x", "z", "a", "b"]
T = "(x'^2 + z'^2 + 0.3*a'^2 + 0.3*b'^2)/2"
U = "20*x^2 + 9.81*z"
[initial]
q = { x = 0.1, z = 0.1 }
)toml";
    for (const char* leg : {"z + a + b", "z - a + b", "z - a - b", "z + a - b"})
        table += "[[contact]]\nname = \"" + std::string(leg) + "\"\ngN = \"" + leg +
                 "\"\ngammaT = \"x'\"\nmu = 0.3\neN = 0.2\neT = 0.2\n";
    const Certificate c = certify(from_text(table), Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    ASSERT_EQ(c.forces.size(), 4U);
    double load = 0.0;
    for (const proof::ElementForce& f : c.forces) {
        EXPECT_GT(f.N, 0.0);
        load += f.N;
    }
    EXPECT_NEAR(load, 9.81, 1e-9);
}

}  // namespace
}  // namespace saltus::stability::certify_witness_test
