// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/reset.hpp"

#include "sensitivity/recorded.hpp"

namespace saltus::reset_test {
namespace {

using namespace saltus::test;
using sensitivity::Arrest;
using sensitivity::Reset;
using sensitivity::Tangent;

TEST(Reset, OfTwoImpactsIsTheProductOfTheirMaps) {
    // A ball at rest is struck, and strikes a wall. Both impacts in one change: R = R_wall R_balls.
    const double m = 1.0, k = 3.0, e = 0.5, speed = 2.0;
    const Recorded r(R"toml(
[system]
q = ["x", "y"]
T = "m/2*x'^2 + k/2*y'^2"
[parameters]
m = 1.0
k = 3.0
e = 0.5
[[contact]]
name = "wall"
gN = "x"
eN = "e"
[[contact]]
name = "balls"
gN = "y - x - 1"
eN = "e"
[initial]
q = { x = 1.0, y = 3.0 }
u = { y = -2.0 }
)toml",
                     1.0);
    ASSERT_EQ(r.changes.size(), 2U);
    integrate::RecordedChange both = r.change(0);
    both.impacts.push_back(r.change(1).impacts.at(0));
    both.after = r.change(1).after;
    both.mode_after = r.change(1).mode_after;
    Tangent x = r.tangent({"e", "m"});
    const Reset found = sensitivity::reset(x, both);
    ASSERT_TRUE(found.exists) << found.why_not;

    // Balls: γ = u_y − u_x, D = 1/m + 1/k, u⁺ = u − (1 + e)/D M⁻¹(−1, 1) γ; wall: u_x⁺ = −e u_x.
    const double D = 1.0 / m + 1.0 / k;
    const auto balls = [&](double restitution) {
        Matrix R(2, 2);
        const double a = (1.0 + restitution) / (D * m), b = (1.0 + restitution) / (D * k);
        R << 1.0 - a, a, b, 1.0 - b;
        return R;
    };
    const Matrix wall = Vector{{-e, 1.0}}.asDiagonal().toDenseMatrix();
    const Matrix expected = wall * balls(e);
    expect_matrix(found.map.bottomRows(2).middleCols(3, 2), expected, 1e-12, "derivative by the velocities");
    expect_matrix(found.map.topRows(2), x.state_identity().topRows(2), 1e-15, "positions do not jump");
    // d(R_w R_b)/de u = R_w,e R_b u + R_w R_b,e u with u = (0, −speed)
    const Vector u{{0.0, -speed}};
    const Matrix dwall = Vector{{-1.0, 0.0}}.asDiagonal().toDenseMatrix();
    const Matrix dballs = balls(1.0) - balls(0.0);
    expect_matrix(found.map.bottomRows(2).col(column(x, r.model, "e")), dwall * (balls(e) * u) + wall * (dballs * u),
                  1e-12, "derivative by e");
    // a = (1 + e) k/(m + k), b = (1 + e) m/(m + k): δa = −a/(m + k) δm, δb = (1 + e) k/(m + k)² δm
    const double da = -(1.0 + e) * k / ((m + k) * (m + k)), db = (1.0 + e) * k / ((m + k) * (m + k));
    Matrix by_m(2, 2);
    by_m << -da, da, db, -db;
    expect_matrix(found.map.bottomRows(2).col(column(x, r.model, "m")), wall * (by_m * u), 1e-12, "derivative by m");
}

TEST(Reset, OfSlipThatStopsKeepsTheVelocityUnlessItIsArrested) {
    // In one direction the time of the event takes the velocity away (saltation), so the reset must not do it again.
    const Recorded r(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[[slider]]
name = "table"
gammaT = "x'"
mu = 0.5
FN = 3.0
[initial]
q = { x = 0.0 }
u = { x = 1.2 }
)toml",
                     1.0);
    Tangent x = r.tangent({"x'"});
    const Reset kept = sensitivity::reset(x, r.change(0));
    expect_matrix(kept.map.middleCols(1, 2), Matrix::Identity(2, 2), 1e-14, "without arrest");
    const Reset arrested = sensitivity::reset(x, r.change(0), Arrest::always);
    expect_matrix(arrested.map.middleCols(1, 2), Vector{{1.0, 0.0}}.asDiagonal().toDenseMatrix(), 1e-14, "with arrest");
}

TEST(Reset, OfAnInelasticImpactOnAMovingFloorFollowsTheFloor) {
    // The ball stays on the floor: u⁺ = v_floor(t), R_t = a_floor(t).
    const Recorded r(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "10*y"
[parameters]
a = 0.1
[[contact]]
name = "floor"
gN = "y - a*sin(3*t)"
[initial]
q = { y = 1.0 }
)toml",
                     0.6);
    Tangent x = r.tangent({"a"});
    const Reset found = sensitivity::reset(x, r.change(0));
    ASSERT_TRUE(found.exists) << found.why_not;
    const double t = r.change(0).t;
    EXPECT_NEAR(found.map(1, 0), -0.9 * std::sin(3.0 * t), 1e-12);
    EXPECT_NEAR(found.map(1, 1), 0.0, 1e-12);
    EXPECT_NEAR(found.map(1, 2), 0.0, 1e-12);
    EXPECT_NEAR(found.map(1, 3), 3.0 * std::cos(3.0 * t), 1e-12);
}

TEST(Reset, RemovesRoundingResidue) {
    const Eigen::RowVectorXd sum = Eigen::RowVectorXd::Constant(3, 1e-13), terms = Eigen::RowVector3d(1.0, 1e-3, 0.0);
    expect_matrix(sensitivity::without_rounding(sum, terms), Eigen::RowVector3d(0.0, 1e-13, 1e-13), 0.0, "residue");
}

}  // namespace
}  // namespace saltus::reset_test
