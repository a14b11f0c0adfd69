// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "physics/motion.hpp"
#include "saltus/control/regulation/regulation.hpp"
#include "support.hpp"

/// Closed loops that the theorems do not cover, each with the row that says why, and witnesses looked at once more.
namespace saltus::regulation_rows_test {
namespace {

using namespace saltus::control;
using namespace saltus::test;
using proof::Condition;
using proof::Outcome;
using proof::Verdict;
using Ids = std::vector<std::string>;

struct Loop {
    std::string q = "\"x\"", T = "1/2*x'^2", U = "0", extra, contacts, actuated = "\"x\"", Kp = "1.0", Kv = "1.0",
                initial = "x = 1.0";
    std::string penalty = "[penalty]\nk = 1e5\n";

    Model model() const {
        return from_text("[system]\nname = \"loop\"\nq = [" + q + "]\nT = \"" + T + "\"\nU = \"" + U + "\"\n" + extra +
                         "\n" + contacts + "[control]\nactuated = [" + actuated + "]\nKp = " + Kp + "\nKv = " + Kv +
                         "\n" + penalty + "[initial]\nq = { " + initial + " }\n");
    }
};

Loop plane() {
    Loop loop;
    loop.q = loop.actuated = "\"x\", \"y\"";
    loop.T = "1/2*(x'^2 + y'^2)";
    loop.initial = "x = 1.0, y = 1.0";
    return loop;
}

std::string contact(const std::string& name, const std::string& gap, double e = 0.5) {
    return "[[contact]]\nname = \"" + name + "\"\ngN = \"" + gap + "\"\neN = " + std::to_string(e) + "\n";
}

std::string table(const RegulationCertificate& c) {
    std::string text;
    for (const Condition& row : c.table.conditions)
        text += "\n  " + row.id + " " + to_string(row.verdict) + ": " + row.evidence;
    return text;
}

/// Rows of rigid contacts that fail; or those of springs.
Ids failing(const RegulationCertificate& c, bool springs = false) {
    Ids list;
    for (const Condition& row : c.table.conditions) {
        const bool of_springs = row.id == "5" || row.id == "6" || row.id == "7" || row.id == "R11" || row.id == "R13";
        if (row.verdict == Verdict::fails && of_springs == springs) list.push_back(row.id);
    }
    return list;
}

double potential(const Model& m, const std::vector<double>& q) {
    model::Workspace workspace(m);
    const std::vector<double> rest(q.size(), 0.0);
    return m.system->energy(model::at(m, 0.0, q, rest), workspace.scratch()).potential;
}

double gap(const Model& m, const std::vector<double>& q, std::size_t contact) {
    model::Workspace workspace(m);
    std::vector<double> g(static_cast<std::size_t>(m.layout().positions())), rest(q.size(), 0.0);
    m.system->positions(model::at(m, 0.0, q, rest), workspace.scratch(), g);
    return g[static_cast<std::size_t>(m.contacts[contact].row)];
}

/// ∂f/∂q by central differences.
template <class F>
Vector slope(const std::vector<double>& q, F f) {
    Vector d(static_cast<Eigen::Index>(q.size()));
    for (std::size_t i = 0; i < q.size(); ++i) {
        std::vector<double> a = q, b = q;
        a[i] -= 1e-6;
        b[i] += 1e-6;
        d(static_cast<Eigen::Index>(i)) = (f(b) - f(a)) / 2e-6;
    }
    return d;
}

/// ∇Ũ − Σ λ ∇gN there, with the forces of the witness.
double imbalance(const Model& m, const proof::Witness& w) {
    Vector r = slope(w.q, [&](const auto& q) { return potential(m, q); });
    for (std::size_t c = 0; c < m.contacts.size(); ++c)
        for (const auto& [name, value] : w.values)
            if (name == "lambda(" + m.contacts[c].name + ")")
                r -= value * slope(w.q, [&](const auto& q) { return gap(m, q, c); });
    return r.cwiseAbs().maxCoeff();
}

TEST(RegulationRow, Row3FailsIfTheGainIsZero) {
    Loop loop;
    loop.Kp = "0.0";
    loop.contacts = contact("stop", "x");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), (Ids{"3", "4"})) << table(c);
    EXPECT_EQ(c.rigid, Scope::inconclusive);
    const proof::Witness& w = c.table.find("3")->witness;
    ASSERT_EQ(w.q.size(), 1U);
    EXPECT_LE(imbalance(m, w), 1e-9) << "at rest there, and next to it";
}

TEST(RegulationRow, Row3FailsWithTheOtherEquilibriumAsWitness) {
    Loop loop;
    loop.U = "-x^2 + x^4/4";
    loop.Kp = "0.5";
    loop.contacts = contact("stop", "x + 5");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), (Ids{"3", "4"})) << table(c);
    EXPECT_EQ(failing(c, true), (Ids{"6", "7"})) << table(c);
    EXPECT_EQ(c.rigid, Scope::local);
    EXPECT_EQ(c.springs, Scope::local);
    EXPECT_EQ(c.table.grade, proof::Grade::proved) << table(c);
    const double right = std::sqrt(1.5);
    EXPECT_NEAR(c.table.q[0], right, 1e-12);
    EXPECT_LE(imbalance(m, c.table.find("3")->witness), 1e-8);
    EXPECT_GE(std::abs(c.table.find("3")->witness.q[0] - right), 0.5);
    EXPECT_LE(potential(m, c.table.find("4")->witness.q), potential(m, c.table.q) + 1e-12);
    // The region ends at the maximum between them.
    const double pass = potential(m, {0.0}) - potential(m, {right});
    EXPECT_LE(c.table.rho, pass);
    EXPECT_GE(c.table.rho, (1.0 - 1e-6) * pass);
    // Motions from just below that level end at q_R.
    const double x = std::sqrt(1.5 + std::sqrt(2.25 - 4.0 * (0.5625 - 0.999 * pass)));
    const Trajectory motion = motion_of(m, 30.0, EventDriven{}, State{0.0, {x}, {0.0}});
    EXPECT_NEAR(motion.end.q[0], right, 1e-4);
}

TEST(RegulationRow, R4SpeaksOfItsComponentOnlyIfAnotherComponentHasAnEquilibrium) {
    // The admissible set is [1, 2] and [3, ∞). In the second one x = 3 is an equilibrium, pressed against the wall.
    Loop loop;
    loop.contacts = contact("wall", "(x - 1)*(x - 2)*(x - 3)");
    loop.U = "-1.5*x";
    loop.initial = "x = 1.5";
    const RegulationCertificate c = certify_regulation(loop.model());
    EXPECT_EQ(c.rigid, Scope::local);
    const std::string& why = c.table.find("R4")->evidence;
    EXPECT_EQ(why.find("on every level set"), std::string::npos) << why;
    EXPECT_NE(why.find("the component of the region that contains q_R"), std::string::npos) << why;
}

TEST(RegulationRow, Row3FailsIfAContactWouldHaveToPull) {
    Loop loop;
    loop.U = "-3*x";
    loop.Kp = "0.0";
    loop.contacts = contact("stop", "x");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), (Ids{"3", "4"})) << table(c);
    EXPECT_EQ(c.rigid, Scope::inconclusive);
    const proof::Witness& w = c.table.find("3")->witness;
    ASSERT_EQ(w.values.size(), 1U) << table(c);
    EXPECT_NEAR(w.values[0].second, -3.0, 1e-12);
    EXPECT_NEAR(w.q[0], 0.0, 1e-12);
    EXPECT_LE(imbalance(m, w), 1e-8);
}

TEST(RegulationRow, Row4FailsIfThePotentialIsUnboundedBelow) {
    Loop loop;
    loop.U = "-2*x^2";
    loop.contacts = contact("stop", "x + 1");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), (Ids{"3", "4"})) << table(c);
    EXPECT_EQ(c.rigid, Scope::local) << "held by the stop";
    EXPECT_NEAR(c.table.q[0], -1.0, 1e-12);
    EXPECT_NEAR(c.table.forces.at(0).N, 3.0, 1e-12);
    const std::vector<double>& w = c.table.find("4")->witness.q;
    EXPECT_GE(gap(m, w, 0), 0.0);
    EXPECT_LE(potential(m, w), potential(m, c.table.q) - 1.0);
}

TEST(RegulationRow, Row4FailsIfThePotentialStopsGrowing) {
    Loop loop;
    loop.U = "x^2/(1 + x^2)";
    loop.Kp = "0.0";
    loop.contacts = contact("stop", "x + 1");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), Ids{"4"}) << table(c);
    EXPECT_EQ(c.rigid, Scope::local);
    EXPECT_NEAR(potential(m, c.table.find("4")->witness.q), 1.0, 1e-6);
    EXPECT_LT(c.table.rho, 1.0);
    EXPECT_GT(c.table.rho, 0.99);
}

TEST(RegulationRow, Row4FailsAtAMaximum) {
    Loop loop;
    loop.U = "-2*x^2 + x^4";
    loop.initial = "x = 0.0";
    loop.contacts = contact("stop", "x + 5");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);  // the descent from the maximum stays there
    EXPECT_NEAR(c.table.q[0], 0.0, 1e-12);
    EXPECT_EQ(failing(c), (Ids{"3", "4", "R4"})) << table(c);
    EXPECT_EQ(c.rigid, Scope::inconclusive);
    EXPECT_NEAR(c.table.find("4")->witness.values.at(0).second, -3.0, 1e-9);
}

TEST(RegulationRow, LIFailsAtACorner) {
    for (const double far : {0.0, 5.0}) {
        Loop loop = plane();
        const std::string d = std::to_string(far), two = std::to_string(2.0 * far);
        loop.contacts = contact("a", "x + " + d) + contact("b", "y + " + d) + contact("c", "x + y + " + two);
        const Model m = loop.model();
        const RegulationCertificate c = certify_regulation(m);
        EXPECT_EQ(failing(c), Ids{"LI"}) << table(c);
        EXPECT_EQ(c.rigid, far > 0.0 ? Scope::local : Scope::inconclusive) << "at q_R itself, or elsewhere";
        const std::vector<double>& w = c.table.find("LI")->witness.q;
        Matrix rows(3, 2);
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_NEAR(gap(m, w, k), 0.0, 1e-9);
            rows.row(static_cast<Eigen::Index>(k)) = slope(w, [&](const auto& q) { return gap(m, q, k); }).transpose();
        }
        EXPECT_LT(row_rank(rows, 1e-6).rank, 3);
    }
}

TEST(RegulationRow, LIFailsIfAGradientVanishes) {
    Loop loop;
    loop.contacts = contact("tangent", "(x - 1)^2*(x + 3)");
    loop.initial = "x = 2.0";
    const RegulationCertificate c = certify_regulation(loop.model());
    EXPECT_EQ(c.table.find("LI")->verdict, Verdict::fails) << table(c);
    EXPECT_NEAR(c.table.find("LI")->witness.q.at(0), 1.0, 1e-4);
}

TEST(RegulationRow, Row1FailsIfTheInertiaIsUnbounded) {
    for (const bool below : {true, false}) {
        Loop loop;
        loop.T = below ? "1/2*exp(-x^2/50)*x'^2" : "1/2*(1 + x^2)*x'^2";
        loop.contacts = contact("stop", "x + 1");
        const Model m = loop.model();
        const RegulationCertificate c = certify_regulation(m);
        EXPECT_EQ(failing(c), Ids{"1"}) << table(c);
        EXPECT_EQ(c.rigid, Scope::local);
        const double x = c.table.find("1")->witness.q.at(0), M = below ? std::exp(-x * x / 50.0) : 1.0 + x * x;
        EXPECT_TRUE(below ? M < 1e-6 : M > 1e6) << x;
        EXPECT_GE(x, -1.0) << "inside";
    }
}

TEST(RegulationRow, R8HoldsForUnequalRestitutionInACorner) {
    Loop loop = plane();
    loop.contacts = contact("a", "y", 1.0) + contact("b", "x - y/2", 0.0);  // an acute wedge
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(c.table.find("R8")->verdict, Verdict::proved) << table(c);
    EXPECT_EQ(c.rigid, Scope::global);
    for (int k = 0; k < 40; ++k) {
        const Trajectory motion =
            attempt(m, 0.3, EventDriven{}, State{0.0, {0.0, 0.0}, {std::cos(0.157 * k), std::sin(0.157 * k)}});
        for (const Event& e : motion.events) EXPECT_LE(e.energy_after, e.energy_before + 1e-12) << k;
    }
}

// --- the invariance condition ----------------------------------------------------------------------------------------

/// From the witness nothing is lost: V stays, and the actuated coordinates do not move.
void expect_lossless(const Model& m, const RegulationCertificate& c, const std::vector<std::size_t>& actuated) {
    const proof::Witness& w = c.table.find("R6")->witness;
    ASSERT_EQ(w.u.size(), static_cast<std::size_t>(m.size())) << table(c);
    model::Workspace workspace(m);
    const model::Energy e = m.system->energy(model::at(m, 0.0, w.q, w.u), workspace.scratch());
    ASSERT_GT(e.kinetic, 0.0);
    const Trajectory motion = motion_of(m, 7.0, EventDriven{}, State{0.0, w.q, w.u});
    EXPECT_NEAR(motion.energy.final, motion.energy.initial, 1e-7 * e.kinetic) << table(c);
    for (const std::size_t i : actuated) EXPECT_NEAR(motion.end.u[i], 0.0, 1e-7);
}

TEST(RegulationRow, R6FailsWithAnUndampedBounceAsWitness) {
    const Model pair = shipped("decoupled-pair");
    const RegulationCertificate c = certify_regulation(pair);
    EXPECT_EQ(failing(c), Ids{"R6"}) << table(c);
    expect_lossless(pair, c, {0});
}

TEST(RegulationRow, R6FailsWithAVibrationAlongTheContact) {
    Loop loop = plane();
    loop.actuated = "\"y\"";
    loop.U = "2*x^2 + 3*y";
    loop.contacts = contact("floor", "y");
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), Ids{"R6"}) << table(c);
    EXPECT_NEAR(c.table.find("R6")->witness.values.at(0).second, 2.0, 1e-10);
    expect_lossless(m, c, {1});
}

TEST(RegulationRow, R6FailsForANonlinearMotionFollowedNumerically) {
    Loop loop;
    loop.q = "\"x\", \"p\"";
    loop.T = "1/2*(2*x'^2 + p'^2)";
    loop.U = "9.81*(1 - cos(p))";
    loop.contacts = contact("wall", "x - 0.3");
    loop.initial = "x = 0.5, p = 0.2";
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(failing(c), (Ids{"3", "4", "R6"})) << table(c);
    expect_lossless(m, c, {0});
}

TEST(RegulationRow, R6HoldsIfContactsMakeMotionsObservable) {
    // Free of the wall y can move alone (M and K couple in the same way); its impacts push x, too.
    Loop loop;
    loop.q = "\"x\", \"y\"";
    loop.T = "1/2*(2*x'^2 + 2*x'*y' + 2*y'^2)";
    loop.U = "2*y^2 + 2*x*y + 2*x^2";
    loop.Kp = "1.0";
    loop.contacts = contact("wall", "y - 0.5", 1.0);
    loop.initial = "x = 0.0, y = 1.0";
    const Model m = loop.model();
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_TRUE(failing(c).empty()) << table(c);
    EXPECT_EQ(c.table.find("R6")->verdict, Verdict::numerical) << table(c);
    EXPECT_EQ(c.rigid, Scope::global);
    const Trajectory motion = motion_of(m, 40.0);
    const double V = motion.energy.final - c.table.reference;
    EXPECT_LE(V, 0.05 * (motion.energy.initial - c.table.reference)) << "and it is damped";
    // Without the wall nothing makes it seen.
    loop.contacts = contact("wall", "y + 0.5", 1.0);
    const RegulationCertificate away = certify_regulation(loop.model());
    EXPECT_EQ(failing(away), Ids{"R6"}) << table(away);
}

TEST(RegulationRow, R6TakesRayleighDampingIntoAccount) {  // Remark 5
    Loop loop = plane();
    loop.actuated = "\"y\"";
    loop.U = "2*x^2 + 3*y";
    loop.contacts = contact("floor", "y");
    loop.extra = "R = \"1/10*x'^2\"";
    EXPECT_EQ(certify_regulation(loop.model()).rigid, Scope::global);
    loop.extra = "R = \"abs(x')^3\"";
    const RegulationCertificate cubic = certify_regulation(loop.model());
    EXPECT_NE(cubic.table.find("R6")->verdict, Verdict::fails) << table(cubic);
    EXPECT_NE(cubic.table.find("R6")->verdict, Verdict::proved) << table(cubic);
    loop.extra = "R = \"-1/10*x'^2\"";
    const RegulationCertificate driven = certify_regulation(loop.model());
    EXPECT_EQ(failing(driven), Ids{"R6"}) << table(driven);
}

TEST(RegulationRow, R6IsLocalForANonlinearPendulumOnACart) {
    Loop loop;
    loop.q = "\"x\", \"p\"";
    loop.T = "1/2*(2*x'^2 + 2*x'*p'*cos(p) + p'^2)";
    loop.U = "9.81*(1 - cos(p))";
    loop.contacts = contact("wall", "x + sin(p) + 0.3");
    loop.initial = "x = 0.5, p = 0.2";
    const RegulationCertificate c = certify_regulation(loop.model());
    EXPECT_EQ(c.rigid, Scope::local) << table(c);
    EXPECT_EQ(failing(c), (Ids{"3", "4"})) << table(c);
    EXPECT_EQ(c.table.find("R4")->verdict, Verdict::proved) << table(c);
    EXPECT_EQ(c.table.find("R6")->verdict, Verdict::numerical) << table(c);
    EXPECT_FALSE(c.table.has_rho) << "linearised: how near is not known";
    EXPECT_NEAR(c.table.values.at(0).second, 2.0 - std::sqrt(1.0 + 0.25) - 0.5, 1e-4) << "b_lower at p = 0";
}

// --- closed loops of another kind ------------------------------------------------------------------------------------

TEST(RegulationRow, AllRowsArePresentWhicheverFails) {
    const Ids rows{"law", "1", "2", "LI", "3", "4", "R8", "R6", "5", "6", "7", "R13"};
    Loop none, moving, pulled, open;
    moving.contacts = contact("stop", "x - 0.2 - 0.1*sin(t)");
    pulled.U = "-3*x";
    pulled.Kp = "0.0";
    open.penalty = "";
    open.contacts = contact("stop", "x - 0.2");
    for (const Loop& loop : {none, moving, pulled, open}) {
        const RegulationCertificate c = certify_regulation(loop.model());
        Ids ids;
        for (const Condition& row : c.table.conditions) {
            ids.push_back(row.id);
            EXPECT_FALSE(row.evidence.empty()) << row.id;
        }
        EXPECT_EQ(ids, rows) << table(c);
    }
}

TEST(RegulationRow, LawFailsForForcesWithoutPotential) {
    Loop loop = plane();
    loop.Kp = "[[1.0, 0.3], [-0.3, 1.0]]";
    loop.contacts = contact("floor", "y");
    const RegulationCertificate c = certify_regulation(loop.model());
    EXPECT_EQ(failing(c), Ids{"law"}) << table(c);
    EXPECT_EQ(c.rigid, Scope::inconclusive);
    loop.Kp = "1.0";
    loop.Kv = "[[1.0, 0.3], [-0.3, 1.0]]";  // turns motions, and damps them all the same
    EXPECT_EQ(certify_regulation(loop.model()).rigid, Scope::global);
}

// A second well that is far away or narrow: samples around q_R do not see it, but starts in it end there.
TEST(RegulationRow, Rows3And4GiveNoGlobalVerdictFromSamples) {
    struct Case {
        const char *potential, *gain;
    };
    for (const Case& c : {Case{"-5*exp(-(x - 50)^2/4)", "0.01"}, {"-20*exp(-200*(x - 7.77)^2)", "0.3"}}) {
        const Model m =
            from_text(std::string("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"") + c.potential +
                      "\"\n[control]\nactuated = [\"x\"]\nKp = " + c.gain + "\nKv = 1\nreference = { x = 0 }\n");
        const RegulationCertificate r = certify_regulation(m);
        EXPECT_EQ(r.rigid, Scope::local) << c.potential << table(r);
        EXPECT_NE(r.springs, Scope::global) << c.potential << table(r);
        EXPECT_FALSE(r.table.has_rho && std::isinf(r.table.rho)) << c.potential;
    }
}

TEST(RegulationRow, Rows3And4UseTheShapedPotential) {  // (42)
    const Model m = from_text(R"toml(
[system]
name = "shaped"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y - 4*x^2"
[[contact]]
name = "floor"
gN = "y - x/2"
eN = 0.3
[control]
actuated = ["x", "y"]
Kv = 2.0
shaping = "3/2*(x - 1)^2 + 2*(y + 1)^2"
[penalty]
k = 1e4
[initial]
q = { x = 0.0, y = 1.0 }
)toml");
    const RegulationCertificate c = certify_regulation(m);
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_EQ(c.table.grade, proof::Grade::proved);
    // 3(x − 1) = −λ/2, 4(y + 1) = λ on y = x/2.
    EXPECT_NEAR(c.table.q[0], 1.0 / 4.0, 1e-12);
    EXPECT_NEAR(c.table.q[1], 1.0 / 8.0, 1e-12);
    EXPECT_NEAR(c.table.forces.at(0).N, 4.5, 1e-12);
    const Vector at_rest = slope(c.spring_rest.q, [&](const auto& q) {
        const double depth = std::max(0.0, -gap(m, q, 0));
        return potential(m, q) + 0.5 * 1e4 * depth * depth;
    });
    EXPECT_LE(at_rest.cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_GT(c.spring_rest.lambda(0), 4.4);
}

}  // namespace
}  // namespace saltus::regulation_rows_test
