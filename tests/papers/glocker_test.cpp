// SPDX-License-Identifier: Apache-2.0
// Every number of shared/reference/glocker.json, computed there by exact rational arithmetic.
#include <gtest/gtest.h>

#include <limits>
#include <ostream>

#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/consistency/consistency_boundary.hpp"
#include "saltus/impact/consistency/velocity_polyhedron.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact {
namespace {

using Eigen::Index;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();

Vector vector_of(const Row& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

Matrix matrix_of(const Rows& rows) {
    Matrix A(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
    for (Index i = 0; i < A.rows(); ++i) A.row(i) = vector_of(rows[static_cast<std::size_t>(i)]).transpose();
    return A;
}

FrictionlessCollision collision_of(const Rows& M, const Rows& W, const Row& chi, const Row& u_minus,
                                   const Row& u_plus) {
    FrictionlessCollision c;
    c.M = matrix_of(M);
    c.directions = matrix_of(W);
    c.chi = vector_of(chi);
    c.u_minus = vector_of(u_minus);
    c.u_plus = vector_of(u_plus);
    return c;
}

/// The tolerance of the entries: absolute, relative for values above 1.
double within(double tolerance, double value) { return tolerance * std::max(1.0, std::abs(value)); }

void expect_number(double actual, double expected, double tolerance, const char* what) {
    if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(actual)) << what << " " << actual;
    } else if (std::isinf(expected)) {
        EXPECT_EQ(actual, expected) << what;
    } else {
        EXPECT_NEAR(actual, expected, within(tolerance, expected)) << what;
    }
}

bool same(const Vector& a, const Vector& b, double tolerance) {
    return a.size() == b.size() && (a - b).cwiseAbs().maxCoeff() <= within(tolerance, b.cwiseAbs().maxCoeff());
}

bool among(const Vector& x, const Rows& list, double tolerance) {
    return std::any_of(list.begin(), list.end(), [&](const Row& r) { return same(x, vector_of(r), tolerance); });
}

/// The columns are the list's vectors, in any order.
void expect_columns(const Matrix& columns, const Rows& list, double tolerance, const char* what) {
    EXPECT_EQ(columns.cols(), static_cast<Index>(list.size())) << what;
    for (Index j = 0; j < columns.cols(); ++j)
        EXPECT_TRUE(among(columns.col(j), list, tolerance)) << what << " " << columns.col(j).transpose();
}

/// What an optimal pair satisfies whatever else it is: [Glocker] 7, (1) and (2).
void expect_saddle(const FrictionlessCollision& c, const WorkEnd& end, double sign, double tolerance) {
    if (!std::isfinite(end.work)) return;
    Vector impulse = c.M * (c.u_plus - c.u_minus), b = end.b;
    if (c.impulse.size() > 0) {
        impulse -= c.impulse;
        b -= 0.5 * least_squares(c.M, c.impulse);
    }
    EXPECT_TRUE(same(c.directions * end.Lambda, impulse, tolerance));
    EXPECT_GE(end.Lambda.minCoeff(), 0.0);
    const Vector gamma = relative_velocities(c, b);
    EXPECT_GE((sign * gamma).minCoeff(), -tolerance);
    EXPECT_LE(gamma.cwiseProduct(end.Lambda).cwiseAbs().maxCoeff(), within(tolerance, end.Lambda.maxCoeff()));
    EXPECT_NEAR(end.ball, end.work, within(tolerance, end.work));
    EXPECT_LE(end.gap, 1e-10);
}

// --- walls and the lift --------------------------------------------------------------------------------------

TEST(Walls, TheFixedWallTakesWhatTheBallLoses) {
    // glocker_fixed_wall_A
    const auto c = collision_of({{1.5}}, {{1}}, {0}, {-2}, {0});
    const Audit a = audit(c);
    EXPECT_NEAR(a.energy_change, -3.0, 1e-12);
    EXPECT_NEAR(a.least.work, -3.0, 1e-12);
    EXPECT_NEAR(a.greatest.work, -3.0, 1e-12);
    EXPECT_EQ(a.verdict, Verdict::dissipates);
}

TEST(Walls, TheMovingWallTakesEnergyThoughTheBallGainsIt) {
    // glocker_moving_wall_A
    const auto c = collision_of({{1.5}}, {{1}}, {-2}, {0}, {2});
    const Audit a = audit(c);
    EXPECT_NEAR(a.energy_change, 3.0, 1e-12);
    EXPECT_NEAR(a.least.work, -3.0, 1e-12);
    EXPECT_NEAR(a.greatest.work, -3.0, 1e-12);
    EXPECT_NEAR(a.least.b(0), 2.0, 1e-12);
    EXPECT_NEAR(a.least.obstacle_work, 6.0, 1e-12);
    EXPECT_EQ(a.verdict, Verdict::dissipates);
}

TEST(Walls, OnTheGroundInTheLiftTheWorkIsAnInterval) {
    // glocker_mass_ground_lift_A
    const auto c = collision_of({{1.5}}, {{1, 1}}, {0, -2}, {0}, {2});
    const Audit a = audit(c);
    EXPECT_NEAR(a.energy_change, 3.0, 1e-12);
    EXPECT_NEAR(a.least.work, -3.0, 1e-12);
    EXPECT_NEAR(a.greatest.work, 3.0, 1e-12);
    EXPECT_TRUE(same(a.least.Lambda, vector_of({0, 3}), 1e-12));
    EXPECT_TRUE(same(a.greatest.Lambda, vector_of({3, 0}), 1e-12));
    EXPECT_NEAR(a.least.b(0), 2.0, 1e-12);
    EXPECT_NEAR(a.greatest.b(0), 0.0, 1e-12);
    EXPECT_EQ(a.verdict, Verdict::may_dissipate);
    // P_e_plus u >= v, P_e_minus u <= 0
    const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
    expect_columns(plus.corner_points, {{2}}, 1e-12, "P+");
    expect_columns(minus.corner_points, {{0}}, 1e-12, "P-");
    ASSERT_EQ(plus.rays.cols(), 1);
    EXPECT_GT(plus.rays(0, 0), 0.0);
    ASSERT_EQ(minus.rays.cols(), 1);
    EXPECT_LT(minus.rays(0, 0), 0.0);
}

// --- the forklift --------------------------------------------------------------------------------------------

struct ForkliftPoint {
    Row u_plus;
    bool kinematic, kinetic, in_disks, in_set;
    double W_min, W_max, corner_formula;
};

struct Forklift {
    const char* name;
    double m, theta, a, edot;
    Rows corners;
    Rows polar;
    double radius_squared;
    Rows vertices;
    int arcs;
    double area;
    std::vector<ForkliftPoint> points;

    FrictionlessCollision collision() const {
        return collision_of({{m, 0}, {0, theta}}, {{1, 1, 1}, {-a, 0, a}}, {0, -edot, 0}, {0, 0}, {0, 0});
    }
};

const std::vector<Forklift> forklifts{
    {"glocker_forklift_A",
     2,
     0.5,
     0.8,
     1.3,
     {{13.0 / 10.0, 13.0 / 8.0}, {13.0 / 10.0, -13.0 / 8.0}},
     {{-1.0 / 2.0, 8.0 / 5.0}, {-1.0 / 2.0, -8.0 / 5.0}},
     15041.0 / 3200.0,
     {{1.300000000000000, -1.441043867918396}, {2.600000000000000, 0.0}, {1.300000000000000, 1.441043867918396}},
     2,
     2.64514226538734920,
     {
         {{1.888, 0.172}, true, true, true, true, -119711.0 / 100000.0, 178597.0 / 50000.0, none},
         {{2.501, -0.099}, true, true, true, true, -131769.0 / 800000.0, 5005961.0 / 800000.0, none},
         {{1.96, 0.252}, true, true, true, true, -516887.0 / 500000.0, 964369.0 / 250000.0, none},
         {{1.54, 0.034}, true, true, true, true, -802243.0 / 500000.0, 2371889.0 / 1000000.0, none},
         {{2.119, 0.844}, true, true, true, true, -31081.0 / 200000.0, 933649.0 / 200000.0, none},
         {{1.422, -0.567}, true, true, true, true, -181449.0 / 160000.0, 336393.0 / 160000.0, none},
         {{1.418, 0.892}, true, true, true, true, -75241.0 / 100000.0, 55241.0 / 25000.0, none},
         {{2.201, -1.32}, true, true, false, false, 629901.0 / 1000000.0, 5280001.0 / 1000000.0, none},
         {{2.577, 1.339}, true, true, false, false, 5907587.0 / 4000000.0, 28356637.0 / 4000000.0, none},
         {{1.936, 0.451}, true, true, true, true, -694573.0 / 800000.0, 3039157.0 / 800000.0, none},
         {{0.239, -1.891}, false, false, false, false, none, none, 1.86612875},
         {{1.507, -1.718}, true, true, false, false, 97321.0 / 200000.0, 300893.0 / 100000.0, none},
         {{0.351, -1.006}, false, true, false, false, 56197.0 / 200000.0, 37621.0 / 100000.0, none},
         {{-0.197, -0.141}, false, false, false, false, none, none, 0.67054175},
         {{1.207, 1.335}, false, true, true, false, -604429.0 / 4000000.0, 7609621.0 / 4000000.0, none},
         {{1.475, 0.547}, true, true, true, true, -4560541.0 / 4000000.0, 9001709.0 / 4000000.0, none},
         {{1.409, 0.634}, true, true, true, true, -212501.0 / 200000.0, 208577.0 / 100000.0, none},
         {{1.264, -0.865}, false, true, true, false, -3195341.0 / 4000000.0, 7139009.0 / 4000000.0, none},
         {{3.112, 1.933}, true, true, false, false, 3278423.0 / 800000.0, 8494933.0 / 800000.0, none},
         {{2.574, 0.81}, true, true, false, false, 377613.0 / 500000.0, 6789501.0 / 1000000.0, none},
     }},
    {"glocker_forklift_B",
     3.7,
     0.3,
     1.1,
     0.45,
     {{9.0 / 20.0, 9.0 / 22.0}, {9.0 / 20.0, -9.0 / 22.0}},
     {{-10.0 / 37.0, 11.0 / 3.0}, {-10.0 / 37.0, -11.0 / 3.0}},
     386937.0 / 484000.0,
     {{0.4500000000000000, -0.4090909090909091},
      {0.7869583420556835, -0.7154166745960759},
      {0.9000000000000000, 0.0},
      {0.7869583420556835, 0.7154166745960759},
      {0.4500000000000000, 0.4090909090909091}},
     2,
     0.476017475385657677,
     {
         {{0.664, 0.225}, true, true, true, true, -56032903.0 / 220000000.0, 16465027.0 / 20000000.0, none},
         {{0.75, -0.511}, true, true, true, true, -23373507.0 / 220000000.0, 21595863.0 / 20000000.0, none},
         {{0.455, -0.179}, true, true, true, true, -19129243.0 / 55000000.0, 484753.0 / 1250000.0, none},
         {{0.573, 0.444}, true, true, true, true, -57766509.0 / 220000000.0, 12739581.0 / 20000000.0, none},
         {{0.761, 0.145}, true, true, true, true, -9610807.0 / 55000000.0, 2686319.0 / 2500000.0, none},
         {{0.701, 0.231}, true, true, true, true, -221719.0 / 1000000.0, 114637.0 / 125000.0, none},
         {{0.515, -0.086}, true, true, true, true, -78131857.0 / 220000000.0, 9835513.0 / 20000000.0, none},
         {{0.523, 0.581}, false, true, true, false, -13355521.0 / 55000000.0, 1391657.0 / 2500000.0, none},
         {{0.476, 0.456}, false, true, true, false, -393553.0 / 1375000.0, 112589.0 / 250000.0, none},
         {{-0.197, 0.184}, false, false, false, false, none, none, 0.4274618681818182},
         {{0.165, -0.094}, false, true, true, false, -46529337.0 / 220000000.0, 1033833.0 / 20000000.0, none},
         {{0.863, -0.473}, true, true, false, false, 32537.0 / 1000000.0, 705691.0 / 500000.0, none},
         {{-0.216, 0.407}, false, false, false, false, none, none, 0.52075095},
         {{0.402, -0.402}, false, true, true, false, -1632321.0 / 5500000.0, 40401.0 / 125000.0, none},
         {{1.062, 0.439}, true, true, false, false, 88234701.0 / 220000000.0, 42308391.0 / 20000000.0, none},
         {{-0.145, -0.075}, false, false, false, false, none, none, 0.29036954545454546},
         {{-0.114, -0.184}, false, false, false, false, none, none, 0.2415128181818182},
         {{0.558, -0.33}, true, true, true, true, -740529.0 / 2500000.0, 46278.0 / 78125.0, none},
         {{0.662, -0.44}, true, true, true, true, -1042193.0 / 5000000.0, 4198957.0 / 5000000.0, none},
         {{-0.064, 0.31}, false, false, false, false, none, none, 0.16659805454545454},
     }},
};

TEST(Forklift, PlusHasTwoCornerPointsAndMinusOne) {
    for (const Forklift& f : forklifts) {
        SCOPED_TRACE(f.name);
        const FrictionlessCollision c = f.collision();
        const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
        expect_columns(plus.corner_points, f.corners, 1e-14, "P+");
        expect_columns(minus.corner_points, {{0, 0}}, 1e-14, "P-");
        EXPECT_TRUE(plus.has_corner_points());
        EXPECT_EQ(plus.lineality.cols(), 0);
        EXPECT_TRUE(plus.redundant.empty());
        for (const auto& contacts : plus.contacts) EXPECT_EQ(contacts.size(), 2u);
        EXPECT_LE(relative_velocities(c, c.u_minus).maxCoeff(), 0.0);
    }
}

TEST(Forklift, TheMiddleContactAddsNothingToTheCones) {
    for (const Forklift& f : forklifts) {
        SCOPED_TRACE(f.name);
        const TangentCone T = tangent_cone(f.collision());
        expect_columns(T.polar_generators, f.polar, 1e-14, "polar generators");
        EXPECT_EQ(T.polar_contacts, (std::vector<int>{0, 2}));
        ASSERT_EQ(T.rays.cols(), 2);
        for (Index k = 0; k < 2; ++k) EXPECT_NEAR(T.rays(0, k), f.a * std::abs(T.rays(1, k)), 1e-14);  // u = a|ω|
        for (Index k = 0; k < 2; ++k)  // −T^⊥ is θ|ω| <= a m u
            EXPECT_NEAR(f.theta * std::abs(T.polar_generators(1, k)), -f.a * f.m * T.polar_generators(0, k), 1e-14);
    }
}

TEST(Forklift, TheBallsAroundTheCornersPassThroughUMinus) {
    for (const Forklift& f : forklifts) {
        SCOPED_TRACE(f.name);
        const Balls b = consistency_balls(f.collision());
        ASSERT_EQ(b.balls.size(), 2u);
        for (const Ball& ball : b.balls) {
            EXPECT_TRUE(among(ball.centre, f.corners, 1e-14));
            EXPECT_NEAR(ball.radius_squared, f.radius_squared, 1e-14);
        }
    }
}

TEST(Forklift, TheSetHasTheseVerticesArcsAndArea) {
    for (const Forklift& f : forklifts) {
        SCOPED_TRACE(f.name);
        const ConsistencyBoundary b = consistency_boundary(f.collision());
        ASSERT_EQ(b.status, ConsistencyBoundary::Status::described) << b.why;
        EXPECT_EQ(b.dimension, 2);
        ASSERT_EQ(b.vertices.size(), f.vertices.size());
        for (const Vector& v : b.vertices) EXPECT_TRUE(among(v, f.vertices, 1e-14)) << v.transpose();
        EXPECT_EQ(std::count_if(b.pieces.begin(), b.pieces.end(), [](const BoundaryPiece& p) { return p.arc; }),
                  f.arcs);
        EXPECT_NEAR(b.area, f.area, 1e-14);
        for (std::size_t k = 0; k < b.pieces.size(); ++k) {
            const BoundaryPiece& piece = b.pieces[k];
            EXPECT_LE((piece.to - b.pieces[(k + 1) % b.pieces.size()].from).norm(), 1e-13) << "pieces meet";
            EXPECT_LE((piece.at(0.0) - piece.from).norm() + (piece.at(1.0) - piece.to).norm(), 1e-13);
        }
    }
}

TEST(Forklift, TheAreaHasAClosedFormWhereNoSideIsReached) {
    // closed_form of glocker_forklift_A, valid while m a² <= 3θ
    const Forklift& f = forklifts[0];
    const double e = f.edot, R2 = e * e * (1.0 + f.theta / (f.m * f.a * f.a));
    const double area = 2.0 * (-e * e / f.a + std::sqrt(f.m / f.theta) * (e / 2.0 * std::sqrt(R2 - e * e) +
                                                                          R2 / 2.0 * std::asin(e / std::sqrt(R2))));
    EXPECT_NEAR(consistency_boundary(f.collision()).area, area, 1e-14);
}

TEST(Forklift, EveryPointHasItsVerdictAndItsInterval) {
    for (const Forklift& f : forklifts) {
        FrictionlessCollision c = f.collision();
        const Balls balls = consistency_balls(c);
        for (const ForkliftPoint& p : f.points) {
            c.u_plus = vector_of(p.u_plus);
            SCOPED_TRACE(std::string(f.name) + " at " + std::to_string(p.u_plus[0]) + ", " +
                         std::to_string(p.u_plus[1]));
            const Audit a = audit(c);
            EXPECT_EQ(a.kinematic.holds, p.kinematic);
            EXPECT_EQ(a.kinetic.holds, p.kinetic);
            EXPECT_EQ(a.consistent(), p.in_set);
            expect_number(a.least.work, p.W_min, 1e-13, "W_min");
            expect_number(a.greatest.work, p.W_max, 1e-13, "W_max");
            expect_saddle(c, a.least, 1.0, 1e-13);
            expect_saddle(c, a.greatest, -1.0, 1e-13);
            bool in_disks = true;
            double largest = -infinity;
            for (const Ball& ball : balls.balls) {
                const Vector d = c.u_plus - ball.centre;
                in_disks = in_disks && d.dot(c.M * d) <= ball.radius_squared;
                largest = std::max(largest, ball_work(c, ball.centre));
            }
            EXPECT_EQ(in_disks, p.in_disks);
            if (!std::isnan(p.corner_formula)) {
                EXPECT_NEAR(largest, p.corner_formula, 1e-13);
            } else {
                EXPECT_NEAR(largest, p.W_min, 1e-13);
            }
            const NearestConsistent n = nearest_consistent(c);
            ASSERT_EQ(n.status, NearestConsistent::Status::found) << n.why;
            EXPECT_EQ(n.distance <= 1e-13, p.in_set) << n.distance;
            EXPECT_LE(n.optimality, 1e-10);
            EXPECT_LE(n.violation, 1e-12);
        }
    }
}

TEST(Forklift, NegativeAlphaMayLeaveNoBall) {
    // glocker_negative_alpha_radius
    const FrictionlessCollision c = forklifts[0].collision();
    const Balls balls = consistency_balls(c, {-4.0});
    ASSERT_EQ(balls.balls.size(), 2u);
    for (const Ball& ball : balls.balls) EXPECT_NEAR(ball.radius_squared, -3.2996875, 1e-12);
    EXPECT_TRUE(balls.empty());
    EXPECT_EQ(nearest_consistent(c, {-4.0}).status, NearestConsistent::Status::empty);
    EXPECT_EQ(consistency_boundary(c, {-4.0}).status, ConsistencyBoundary::Status::empty);
}

// --- random collisions ---------------------------------------------------------------------------------------

struct Entry {
    const char* name;
    Rows M, W;
    Row chi, u_minus, u_plus, P, Lambda;
    Row gamma_minus, gamma_plus;
    double W_min, W_max;
    Rows Lambda_min, Lambda_max, b0_min, b0_max, corners_plus, corners_minus;
    double work_of_Lambda, energy_change;
    bool in_W0;

    FrictionlessCollision collision() const {
        FrictionlessCollision c = collision_of(M, W, chi, u_minus, u_plus);
        c.impulse = vector_of(P);
        return c;
    }
};

const std::vector<Entry> entries{
    {.name = "glocker_random_3dof_5contacts_A",
     .M = {{1.68, -0.08, -0.72}, {-0.08, 1.45, 0.3}, {-0.72, 0.3, 1.89}},
     .W = {{-1.1, -0.5, -1.4, 0, -1.2}, {-0.4, 0.1, -1.8, 1.2, 1.3}, {-2, -1.2, -1.1, -2, 0.8}},
     .chi = {-0.1, -1.4, -1.1, 1.3, -1.5},
     .u_minus = {1.6, -1.5, 2.9},
     .u_plus = {-21543101.0 / 6206040.0, 45271.0 / 103434.0, -8771323.0 / 4654530.0},
     .P = {0, 0, 0},
     .Lambda = {0.3, 0.8, 1.5, 1.6, 2},
     .gamma_minus = {-7.06, -5.83, -3.83, -6.3, -3.05},
     .gamma_plus = {7.3123115169523025, 2.6407882159960296, 5.044929853282716, 5.594156445441323, 1.7269823161522215},
     .W_min = -10361272719829.0 / 1247414040000.0,
     .W_max = -4821129149953.0 / 5067852264000.0,
     .Lambda_min = {{0, 4.684437810945274, 0.5478009950248757, 0, 1.7673830845771143}},
     .Lambda_max = {{0, 0, 1.9538207200587803, 2.1619489346069067, 2.0788758265980896}},
     .b0_min = {{-1741.0 / 1675.0, 1029.0 / 1675.0, -1143.0 / 1675.0}},
     .b0_max = {{-11283.0 / 10888.0, -403.0 / 2722.0, 3055.0 / 5444.0}},
     .corners_plus = {{-11.705801104972375, 5.9240331491712706, 4.204419889502763},
                      {-1.039402985074627, 0.6143283582089553, -0.6823880597014925},
                      {-2.7466340269277847, -1.3011015911872705, -0.1306609547123623}},
     .corners_minus = {{-1.0362784717119764, -0.14805290227773696, 0.5611682586333578}},
     .work_of_Lambda = -2.214333123591426,
     .energy_change = 1.505666876408574,
     .in_W0 = true},
    {.name = "glocker_random_2dof_4contacts_D",
     .M = {{2.06, 0.42}, {0.42, 2}},
     .W = {{0.8, 1.2, 1, 1}, {-0.7, -1.9, -0.8, -0.2}},
     .chi = {0.8, -0.5, -1.7, 0.6},
     .u_minus = {-2.4, -1},
     .u_plus = {82369.0 / 98590.0, -78171.0 / 19718.0},
     .P = {0, 0},
     .Lambda = {0.4, 1.5, 1.3, 2},
     .gamma_minus = {-0.42, -1.48, -3.3, -1.6},
     .gamma_plus = {4.243490211989045, 8.03501673597728, 2.30702911045745, 2.228359874226595},
     .W_min = -1600257643.0 / 926746000.0,
     .W_max = 2204373899.0 / 177462000.0,
     .Lambda_min = {{0, 0.24893617021276596, 5.121276595744681, 0}},
     .Lambda_max = {{6.455555555555556, 0, 0, 0.25555555555555554}},
     .b0_min = {{283.0 / 94.0, 77.0 / 47.0}},
     .b0_max = {{-13.0 / 27.0, 16.0 / 27.0}},
     .corners_plus = {{3.0106382978723403, 1.6382978723404256}, {-1.3666666666666667, -3.8333333333333335}},
     .corners_minus = {{-2.75, -2}, {-0.48148148148148145, 0.5925925925925926}},
     .work_of_Lambda = 5.663889390404706,
     .energy_change = 7.1038893904047065,
     .in_W0 = true},
    {.name = "glocker_kinetic_excitation_3dof_5contacts_A",
     .M = {{2.74, 0.6, -0.18}, {0.6, 1.53, 0.48}, {-0.18, 0.48, 2.26}},
     .W = {{-1, 1.9, 1.8, 0.6, -1.6}, {1.6, 1.1, 0, 1.3, 0.8}, {1.3, -2, -1.6, -1.4, 0.4}},
     .chi = {1.7, -0.7, -0.5, 0.6, -1.4},
     .u_minus = {-0.4, -2.8, -0.3},
     .u_plus = {-3069763.0 / 6563520.0, 22324283.0 / 4922640.0, -26198891.0 / 6563520.0},
     .P = {1.1, 1.4, 1.7},
     .Lambda = {1.5, 2.6, 2, 0.7, 2.3},
     .gamma_minus = {-2.77, -3.94, -0.74, -2.86, -3.12},
     .gamma_plus = {4.234667642768921, 11.38307646405181, 5.0446851994051976, 11.803136954967254, 1.3797024970341119},
     .W_min = 35972100551.0 / 2479552000.0,
     .W_max = 65571151957.0 / 2771264000.0,
     .Lambda_min = {{2.885294117647059, 0, 7.473529411764706, 0, 4.241911764705883}},
     .Lambda_max = {{1.481954887218045, 0, 1.4774436090225564, 4.337593984962406, 0}},
     .b0_min = {{-102583415.0 / 72526896.0, -1656787.0 / 27197586.0, -127286335.0 / 72526896.0}},
     .b0_max = {{11985275.0 / 81059472.0, -31157983.0 / 60794604.0, 205795.0 / 81059472.0}},
     .corners_plus = {{-1.4144189350113645, -0.06091669312122039, -1.7550225091668061}},
     .corners_minus = {{0.14785779754400571, -0.5125123111255071, 0.0025388149579854157},
                       {-1.5871107613327278, -0.786222363670946, -0.995178473352808},
                       {-3.7755871785325494, -3.455096043182923, -4.411336783128139}},
     .work_of_Lambda = 16.207941140577006,
     .energy_change = 16.36736865304999,
     .in_W0 = false},
    {.name = "glocker_uniform_3dof_5contacts_A",
     .M = {{2.32, -1.02, -0.34}, {-1.02, 2.1, 0.47}, {-0.34, 0.47, 1.37}},
     .W = {{-0.6, -0.6, 1.1, 2, -0.2}, {1.1, 1.5, 0.8, 1, 1.5}, {0.3, -2, -0.3, -0.3, -0.6}},
     .chi = {0.64, 0.72, -0.61, -1.2, 0.44},
     .u_minus = {1.1, -1.3, 1.3},
     .u_plus = {46047929.0 / 12050090.0, 4716851.0 / 926930.0, -27674853.0 / 12050090.0},
     .P = {0, 0, 0},
     .Lambda = {3, 1.2, 0, 1.9, 1.3},
     .gamma_minus = {-1.06, -4.49, -0.83, -0.69, -2.51},
     .gamma_plus = {3.2557278493355652, 10.653497849393656, 8.353454065488307, 12.220428967750449, 8.686736787858017},
     .W_min = 26462572327.0 / 1205009000.0,
     .W_max = 26462572327.0 / 1205009000.0,
     .Lambda_min = {{3.561565746136306, 1.4131238915632125, 3.640739802381556, 0, 0},
                    {3.8695520581113803, 1.6792372881355933, 0, 2.174636803874092, 0},
                    {0.9274944567627494, 0, 2.1827050997782704, 0, 4.122394678492239},
                    {0.8226600985221675, 0, 0, 1.2123152709359606, 4.555172413793104}},
     .Lambda_max = {{3.561565746136306, 1.4131238915632125, 3.640739802381556, 0, 0},
                    {3.8695520581113803, 1.6792372881355933, 0, 2.174636803874092, 0},
                    {0.9274944567627494, 0, 2.1827050997782704, 0, 4.122394678492239},
                    {0.8226600985221675, 0, 0, 1.2123152709359606, 4.555172413793104}},
     .b0_min = {{7.0 / 10.0, -1.0 / 5.0, 0}},
     .b0_max = {{7.0 / 10.0, -1.0 / 5.0, 0}},
     .corners_plus = {{0.7, -0.2, 0}},
     .corners_minus = {{0.7, -0.2, 0}},
     .work_of_Lambda = 21.960476915110178,
     .energy_change = 20.884476915110177,
     .in_W0 = false},
};

TEST(Entries, WorkIntervalsDualPointsAndCornersAreTheExactOnes) {
    for (const Entry& e : entries) {
        SCOPED_TRACE(e.name);
        const FrictionlessCollision c = e.collision();
        const Audit a = audit(c);
        EXPECT_TRUE(same(a.gamma_minus, vector_of(e.gamma_minus), 1e-9));
        EXPECT_TRUE(same(a.gamma_plus, vector_of(e.gamma_plus), 1e-9));
        EXPECT_TRUE(a.kinetic.holds);
        EXPECT_TRUE(a.kinematic.holds);
        expect_number(a.least.work, e.W_min, 1e-12, "W_min");
        expect_number(a.greatest.work, e.W_max, 1e-12, "W_max");
        EXPECT_TRUE(among(a.least.Lambda, e.Lambda_min, 1e-9)) << a.least.Lambda.transpose();
        EXPECT_TRUE(among(a.greatest.Lambda, e.Lambda_max, 1e-9)) << a.greatest.Lambda.transpose();
        EXPECT_TRUE(among(a.least.b, e.b0_min, 1e-9)) << a.least.b.transpose();
        EXPECT_TRUE(among(a.greatest.b, e.b0_max, 1e-9)) << a.greatest.b.transpose();
        expect_saddle(c, a.least, 1.0, 1e-12);
        expect_saddle(c, a.greatest, -1.0, 1e-12);
        EXPECT_NEAR(contact_work(c, vector_of(e.Lambda)), e.work_of_Lambda, within(1e-9, e.work_of_Lambda));
        EXPECT_NEAR(a.energy_change, e.energy_change, within(1e-9, e.energy_change));
        EXPECT_EQ(a.consistent(), e.in_W0);
        const Vector half = 0.5 * least_squares(c.M, c.impulse);
        const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
        expect_columns(plus.corner_points.colwise() + half, e.corners_plus, 1e-9, "P+");
        expect_columns(minus.corner_points.colwise() + half, e.corners_minus, 1e-9, "P-");
    }
}

TEST(Entries, TheEnergyBalancesAtBothEnds) {
    for (const Entry& e : entries) {
        SCOPED_TRACE(e.name);
        const Audit a = audit(e.collision());
        for (const WorkEnd* end : {&a.least, &a.greatest})
            EXPECT_NEAR(a.energy_change, end->work + end->obstacle_work + a.external_work, 1e-12 * 30.0);
    }
}

TEST(Entries, KineticExcitationHasBothReadings) {
    // glocker_kinetic_excitation_3dof_5contacts_A
    const auto e = std::find_if(entries.begin(), entries.end(),
                                [](const Entry& x) { return std::string(x.name).find("kinetic_excitation") == 8; });
    ASSERT_NE(e, entries.end());
    const FrictionlessCollision c = e->collision();
    const Audit a = audit(c);
    EXPECT_NEAR(a.external_work, -2.910572487527018, 3e-9);
    EXPECT_TRUE(same(c.u_minus + least_squares(c.M, c.impulse),
                     vector_of({-0.08404148993223148, -2.2136885898623504, 0.35285090926819757}), 1e-9));
    EXPECT_FALSE(consistent(a.verdict));
    EXPECT_FALSE(consistent(a.verdict_with_external_work));
    EXPECT_NE(a.remark(RemarkKind::kinetic_excitation), nullptr);
    // The set of the other reading is made of balls too.
    for (const bool external : {false, true}) {
        const Allowance allowance{0.0, external};
        const NearestConsistent n = nearest_consistent(c, allowance);
        ASSERT_EQ(n.status, NearestConsistent::Status::found) << n.why;
        EXPECT_LE(n.optimality, 1e-10);
        FrictionlessCollision there = c;
        there.u_plus = n.u;
        const Audit b = audit(there);
        EXPECT_NEAR(b.least.work, external ? b.external_work : 0.0, 1e-10);
        for (const Ball& ball : consistency_balls(c, allowance).balls) {
            const Vector d = n.u - ball.centre;
            EXPECT_LE(d.dot(c.M * d), ball.radius_squared + 1e-10);
        }
    }
}

TEST(Entries, UniformExcitationIsRecognised) {
    // glocker_uniform_3dof_5contacts_A: b_uniform, W_unique
    const auto e = std::find_if(entries.begin(), entries.end(),
                                [](const Entry& x) { return std::string(x.name).find("uniform") == 8; });
    ASSERT_NE(e, entries.end());
    const Audit a = audit(e->collision());
    EXPECT_NE(a.remark(RemarkKind::uniform_excitation), nullptr);
    EXPECT_TRUE(same(a.common_velocity, vector_of({0.7, -0.2, 0.0}), 1e-12));
    EXPECT_NEAR(a.least.work, a.greatest.work, 1e-11);
}

// --- degenerate collisions -----------------------------------------------------------------------------------

struct Degenerate {
    const char* name;
    Rows M, W;
    Row chi, u_minus, u_plus;
    bool kinetic, kinematic, approaching;
    double W_min, W_max;
    Rows lineality;
    bool empty_plus, empty_minus, corners;
    Rows faces_plus, faces_minus;
    double corner_formula;
    Rows recession;
};

const std::vector<Degenerate> degenerate{
    {.name = "glocker_degenerate_one_contact_3dof",
     .M = {{1, 0, 0}, {0, 2, 0}, {0, 0, 0.5}},
     .W = {{1}, {0.5}, {0}},
     .chi = {-0.4},
     .u_minus = {-1, 0.2, 0.3},
     .u_plus = {0.6, 0.6, 0.3},
     .kinetic = true,
     .kinematic = true,
     .approaching = true,
     .W_min = -0.64,
     .W_max = -0.64,
     .lineality = {{-1.0 / 2.0, 1, 0}, {0, 0, 1}},
     .empty_plus = false,
     .empty_minus = false,
     .corners = false,
     .faces_plus = {{0.32, 0.16, 0}},
     .faces_minus = {{0.32, 0.16, 0}},
     .corner_formula = -0.64,
     .recession = {}},
    {.name = "glocker_degenerate_empty_P_plus_closing_vise",
     .M = {{2}},
     .W = {{1, -1}},
     .chi = {-0.5, -0.5},
     .u_minus = {0},
     .u_plus = {0},
     .kinetic = true,
     .kinematic = false,
     .approaching = true,
     .W_min = -infinity,
     .W_max = 0,
     .lineality = {},
     .empty_plus = true,
     .empty_minus = false,
     .corners = false,
     .faces_plus = {},
     .faces_minus = {{0.5}, {-0.5}},
     .corner_formula = none,
     .recession = {{1.0 / 2.0, 1.0 / 2.0}}},
    {.name = "glocker_degenerate_bilateral_pair",
     .M = {{2}},
     .W = {{1, -1}},
     .chi = {-0.5, 0.5},
     .u_minus = {0},
     .u_plus = {0.5},
     .kinetic = true,
     .kinematic = true,
     .approaching = false,
     .W_min = -0.25,
     .W_max = -0.25,
     .lineality = {},
     .empty_plus = false,
     .empty_minus = false,
     .corners = true,
     .faces_plus = {{0.5}},
     .faces_minus = {{0.5}},
     .corner_formula = -0.25,
     .recession = {{1.0 / 2.0, 1.0 / 2.0}}},
    {.name = "glocker_degenerate_u_plus_not_kinetic",
     .M = {{2, 0}, {0, 0.5}},
     .W = {{1, 1, 1}, {-0.8, 0, 0.8}},
     .chi = {0, -1.3, 0},
     .u_minus = {0, 0},
     .u_plus = {1.35, -4.6},
     .kinetic = false,
     .kinematic = false,
     .approaching = true,
     .W_min = none,
     .W_max = none,
     .lineality = {},
     .empty_plus = false,
     .empty_minus = false,
     .corners = true,
     .faces_plus = {{1.3, 1.625}, {1.3, -1.625}},
     .faces_minus = {{0, 0}},
     .corner_formula = 7.34,
     .recession = {}},
    {.name = "glocker_degenerate_no_impulse",
     .M = {{2, 0}, {0, 0.5}},
     .W = {{1, 1, 1}, {-0.8, 0, 0.8}},
     .chi = {0, 0, 0},
     .u_minus = {0, 0},
     .u_plus = {0, 0},
     .kinetic = true,
     .kinematic = true,
     .approaching = true,
     .W_min = 0,
     .W_max = 0,
     .lineality = {},
     .empty_plus = false,
     .empty_minus = false,
     .corners = true,
     .faces_plus = {{0, 0}},
     .faces_minus = {{0, 0}},
     .corner_formula = 0,
     .recession = {}},
    {.name = "glocker_degenerate_inadmissible_but_inside_ball",
     .M = {{1, 0, 0}, {0, 2, 0}, {0, 0, 0.5}},
     .W = {{1}, {0.5}, {0}},
     .chi = {-0.4},
     .u_minus = {-1, 0.2, 0.3},
     .u_plus = {0.6, 0.6, 0.1},
     .kinetic = false,
     .kinematic = true,
     .approaching = true,
     .W_min = none,
     .W_max = none,
     .lineality = {{-1.0 / 2.0, 1, 0}, {0, 0, 1}},
     .empty_plus = false,
     .empty_minus = false,
     .corners = false,
     .faces_plus = {{0.32, 0.16, 0}},
     .faces_minus = {{0.32, 0.16, 0}},
     .corner_formula = -0.66,
     .recession = {}},
};

/// The columns represent the faces of the list: equal but for the lineality space.
void expect_faces(const FrictionlessCollision& c, const Matrix& columns, const Rows& list, const char* what) {
    ASSERT_EQ(columns.cols(), static_cast<Index>(list.size())) << what;
    for (Index j = 0; j < columns.cols(); ++j)
        EXPECT_TRUE(std::any_of(
            list.begin(), list.end(),
            [&](const Row& r) {
                return (c.directions.transpose() * (columns.col(j) - vector_of(r))).cwiseAbs().maxCoeff() <= 1e-12;
            }))
            << what << " " << columns.col(j).transpose();
}

TEST(Degenerate, CollisionsAreWhatExactArithmeticSays) {
    for (const Degenerate& d : degenerate) {
        SCOPED_TRACE(d.name);
        const FrictionlessCollision c = collision_of(d.M, d.W, d.chi, d.u_minus, d.u_plus);
        const Audit a = audit(c);
        EXPECT_EQ(a.kinetic.holds, d.kinetic);
        EXPECT_EQ(a.kinematic.holds, d.kinematic);
        EXPECT_EQ(a.remark(RemarkKind::not_approaching) == nullptr, d.approaching);
        expect_number(a.least.work, d.W_min, 1e-12, "W_min");
        expect_number(a.greatest.work, d.W_max, 1e-12, "W_max");
        EXPECT_EQ(a.remark(RemarkKind::empty_P_plus) != nullptr, d.empty_plus);
        EXPECT_EQ(a.remark(RemarkKind::empty_P_minus) != nullptr, d.empty_minus);
        EXPECT_EQ(a.remark(RemarkKind::impulses_unbounded) != nullptr, !d.recession.empty());
        const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
        EXPECT_EQ(plus.status == VelocityPolyhedron::Status::empty, d.empty_plus);
        EXPECT_EQ(minus.status == VelocityPolyhedron::Status::empty, d.empty_minus);
        EXPECT_EQ(plus.has_corner_points(), d.corners);
        if (!d.empty_plus) expect_faces(c, plus.corner_points, d.faces_plus, "P+");
        if (!d.empty_minus) expect_faces(c, minus.corner_points, d.faces_minus, "P-");
        EXPECT_EQ(plus.lineality.cols(), static_cast<Index>(d.lineality.size()));
        for (const Row& l : d.lineality)
            EXPECT_LE((c.directions.transpose() * vector_of(l)).cwiseAbs().maxCoeff(), 1e-14);
        // The corner formula is a number for every u+, and means something for admissible ones only.
        double largest = -infinity;
        for (const Row& b : d.faces_plus) largest = std::max(largest, ball_work(c, vector_of(b)));
        if (!d.faces_plus.empty()) {
            EXPECT_NEAR(largest, d.corner_formula, 1e-12);
        }
        for (const Row& ray : d.recession) EXPECT_LE((c.directions * vector_of(ray)).norm(), 1e-15);
    }
}

TEST(Degenerate, TheClosingViseHasItsSentence) {
    const auto c = collision_of({{2}}, {{1, -1}}, {-0.5, -0.5}, {0}, {0});
    const Audit a = audit(c);
    EXPECT_EQ(a.least.work, -infinity);
    EXPECT_EQ(
        a.least.why,
        "P+ is empty: contact 1 and contact 2 close on the system, so the work that they take grows without bound with "
        "their impulses");
    EXPECT_EQ(a.least.ray.size(), 2);
    EXPECT_LT(c.chi.dot(a.least.ray), 0.0);
    EXPECT_EQ(a.verdict, Verdict::into_obstacle);
    EXPECT_EQ(a.sentence, "not consistent: u+ goes into contact 1 with the velocity -0.5");
}

TEST(Degenerate, TheOpeningViseCanDoAnyWork) {
    const auto c = collision_of({{2}}, {{1, -1}}, {0.5, 0.5}, {0}, {0});
    const Audit a = audit(c);
    EXPECT_EQ(a.greatest.work, infinity);
    EXPECT_EQ(a.least.work, 0.0);
    EXPECT_EQ(
        a.greatest.why,
        "P- is empty: contact 1 and contact 2 move apart, so the work that they do grows without bound with their "
        "impulses");
    EXPECT_EQ(a.verdict, Verdict::may_dissipate);
}

TEST(Degenerate, InsideTheBallMeansNothingWithoutImpulses) {
    // glocker_degenerate_inadmissible_but_inside_ball
    const auto c =
        collision_of({{1, 0, 0}, {0, 2, 0}, {0, 0, 0.5}}, {{1}, {0.5}, {0}}, {-0.4}, {-1, 0.2, 0.3}, {0.6, 0.6, 0.1});
    EXPECT_NEAR(ball_work(c, vector_of({0.32, 0.16, 0})), -0.66, 1e-14);
    const Audit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::not_by_contacts);
    EXPECT_NEAR(a.kinetic.distance, std::sqrt(0.5) * 0.2, 1e-14);  // √θ·|Δω|
    const NearestConsistent n = nearest_consistent(c);
    ASSERT_EQ(n.status, NearestConsistent::Status::found);
    EXPECT_TRUE(same(n.u, vector_of({0.6, 0.6, 0.3}), 1e-13));
}

}  // namespace
}  // namespace saltus::impact
