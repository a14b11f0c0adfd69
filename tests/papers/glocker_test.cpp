// SPDX-License-Identifier: Apache-2.0
// The collisions of tests/reference/glocker.json. Their values come from exact rational arithmetic.
#include <gtest/gtest.h>

#include <limits>
#include <ostream>

#include "reference/reference.hpp"
#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/consistency/consistency_boundary.hpp"
#include "saltus/impact/consistency/velocity_polyhedron.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact::glocker_test {
namespace {

using Eigen::Index;
using test::reference::entry;
using test::reference::Value;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();  // a work or a value that does not exist

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

/// The collision of an entry. u+ is exact if the entry has fractions for it; without any it is u-.
FrictionlessCollision collision_of(const Value& given) {
    const Value inputs = given["inputs"];
    const char* u_plus = inputs.has("u_plus_exact") ? "u_plus_exact" : inputs.has("u_plus") ? "u_plus" : "u_minus";
    FrictionlessCollision c = collision_of(inputs["M"].rows(), inputs["W"].rows(), inputs["chi"].numbers(),
                                           inputs["u_minus"].numbers(), inputs[u_plus].numbers());
    if (inputs.has("P")) c.impulse = vector_of(inputs["P"].numbers());
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
    const Value wall = entry("glocker_fixed_wall_A");
    const Value expected = wall["outputs"];
    const Audit a = audit(collision_of(wall));
    EXPECT_NEAR(a.energy_change, expected["Tplus_minus_Tminus"], wall.tolerance());
    EXPECT_NEAR(a.least.work, expected["W_min"], wall.tolerance());
    EXPECT_NEAR(a.greatest.work, expected["W_max"], wall.tolerance());
    EXPECT_EQ(a.verdict, Verdict::dissipates);
}

TEST(Walls, TheMovingWallTakesEnergyThoughTheBallGainsIt) {
    const Value wall = entry("glocker_moving_wall_A");
    const Value expected = wall["outputs"];
    const Audit a = audit(collision_of(wall));
    EXPECT_NEAR(a.energy_change, expected["Tplus_minus_Tminus"], wall.tolerance());
    EXPECT_NEAR(a.least.work, expected["W_min"], wall.tolerance());
    EXPECT_NEAR(a.greatest.work, expected["W_max"], wall.tolerance());
    EXPECT_NEAR(a.least.b(0), expected["b0"][0][0], wall.tolerance());
    EXPECT_NEAR(a.least.obstacle_work, 6.0, wall.tolerance());  // Λ v = m v²
    EXPECT_EQ(a.verdict, Verdict::dissipates);
}

TEST(Walls, OnTheGroundInTheLiftTheWorkIsAnInterval) {
    const Value lift = entry("glocker_mass_ground_lift_A");
    const Value expected = lift["outputs"];
    const double tolerance = lift.tolerance();
    const FrictionlessCollision c = collision_of(lift);
    const Audit a = audit(c);
    EXPECT_NEAR(a.energy_change, expected["Tplus_minus_Tminus"], tolerance);
    EXPECT_NEAR(a.least.work, expected["W_min"], tolerance);
    EXPECT_NEAR(a.greatest.work, expected["W_max"], tolerance);
    EXPECT_TRUE(same(a.least.Lambda, vector_of(expected["Lambda_at_min"][0].numbers()), tolerance));
    EXPECT_TRUE(same(a.greatest.Lambda, vector_of(expected["Lambda_at_max"][0].numbers()), tolerance));
    EXPECT_NEAR(a.least.b(0), expected["b0_min"][0][0], tolerance);
    EXPECT_NEAR(a.greatest.b(0), expected["b0_max"][0][0], tolerance);
    EXPECT_EQ(a.verdict, Verdict::may_dissipate);
    // P+ is u >= v, P- is u <= 0.
    const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
    expect_columns(plus.corner_points, {Row{lift["inputs"]["v"].number()}}, tolerance, "P+");
    expect_columns(minus.corner_points, {{0}}, tolerance, "P-");
    ASSERT_EQ(plus.rays.cols(), 1);
    EXPECT_GT(plus.rays(0, 0), 0.0);
    ASSERT_EQ(minus.rays.cols(), 1);
    EXPECT_LT(minus.rays(0, 0), 0.0);
}

// --- the forklift --------------------------------------------------------------------------------------------

struct ForkliftPoint {
    Row u_plus;
    bool kinematic, kinetic, in_disks, in_set;
    double W_min, W_max;
    double corner_formula;  ///< the formula over the corner points if no impulses lead to u+, else `none`
};

struct Forklift {
    std::string name;
    double m, theta, a, edot;
    FrictionlessCollision collision;
    Rows corners, polar;
    double radius_squared;
    Rows vertices;
    std::ptrdiff_t arcs;
    double area;
    std::vector<ForkliftPoint> points;
};

Forklift forklift(const std::string& name) {
    const Value given = entry(name);
    const Value inputs = given["inputs"], expected = given["outputs"];
    Forklift f{.name = name,
               .m = inputs["m"],
               .theta = inputs["theta"],
               .a = inputs["a"],
               .edot = inputs["edot"],
               .collision = collision_of(given),
               .corners = expected["P_e_plus_vertices"].rows(),
               .polar = expected["T_e_perp_generators"].rows(),
               .radius_squared = expected["disk_radius_squared_exact"][0],
               .vertices = expected["I_vertices"].rows(),
               .arcs = 0,
               .area = expected["I_area"],
               .points = {}};
    for (const Value& edge : expected["I_edges"].items()) f.arcs += edge.text().starts_with("arc") ? 1 : 0;
    for (const Value& p : expected["test_points"].items())
        f.points.push_back({p["u_plus"].numbers(), p["kinematic"].truth(), p["kinetic"].truth(), p["in_disks"].truth(),
                            p["in_I"].truth(), p["W_min_exact"].number_or(none), p["W_max_exact"].number_or(none),
                            p["vertex_formula_value_if_kinetic_test_is_skipped"].number_or(none)});
    return f;
}

std::vector<Forklift> forklifts() { return {forklift("glocker_forklift_A"), forklift("glocker_forklift_B")}; }

TEST(Forklift, HasTwoCornerPointsInPPlusAndOneInPMinus) {
    for (const Forklift& f : forklifts()) {
        SCOPED_TRACE(f.name);
        const FrictionlessCollision c = f.collision;
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
    for (const Forklift& f : forklifts()) {
        SCOPED_TRACE(f.name);
        const TangentCone T = tangent_cone(f.collision);
        expect_columns(T.polar_generators, f.polar, 1e-14, "polar generators");
        EXPECT_EQ(T.polar_contacts, (std::vector<int>{0, 2}));
        ASSERT_EQ(T.rays.cols(), 2);
        for (Index k = 0; k < 2; ++k) EXPECT_NEAR(T.rays(0, k), f.a * std::abs(T.rays(1, k)), 1e-14);  // u = a|ω|
        for (Index k = 0; k < 2; ++k)  // −T^⊥ is θ|ω| <= a m u
            EXPECT_NEAR(f.theta * std::abs(T.polar_generators(1, k)), -f.a * f.m * T.polar_generators(0, k), 1e-14);
    }
}

TEST(Forklift, TheBallsAroundTheCornersPassThroughUMinus) {
    for (const Forklift& f : forklifts()) {
        SCOPED_TRACE(f.name);
        const Balls b = consistency_balls(f.collision);
        ASSERT_EQ(b.balls.size(), 2u);
        for (const Ball& ball : b.balls) {
            EXPECT_TRUE(among(ball.centre, f.corners, 1e-14));
            EXPECT_NEAR(ball.radius_squared, f.radius_squared, 1e-14);
        }
    }
}

TEST(Forklift, TheConsistencySetHasTheExactVerticesArcsAndArea) {
    for (const Forklift& f : forklifts()) {
        SCOPED_TRACE(f.name);
        const ConsistencyBoundary b = consistency_boundary(f.collision);
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
    const Forklift f = forklift("glocker_forklift_A");
    const double e = f.edot, R2 = e * e * (1.0 + f.theta / (f.m * f.a * f.a));
    const double area = 2.0 * (-e * e / f.a + std::sqrt(f.m / f.theta) * (e / 2.0 * std::sqrt(R2 - e * e) +
                                                                          R2 / 2.0 * std::asin(e / std::sqrt(R2))));
    EXPECT_NEAR(consistency_boundary(f.collision).area, area, 1e-14);
}

TEST(Forklift, EveryTestPointHasTheExactVerdictAndWorkInterval) {
    for (const Forklift& f : forklifts()) {
        FrictionlessCollision c = f.collision;
        const Balls balls = consistency_balls(c);
        for (const ForkliftPoint& p : f.points) {
            c.u_plus = vector_of(p.u_plus);
            SCOPED_TRACE(f.name + " at " + std::to_string(p.u_plus[0]) + ", " + std::to_string(p.u_plus[1]));
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

TEST(Forklift, TheSetIsEmptyIfTheContactsMustTakeMoreThanTheyCan) {
    const Value given = entry("glocker_negative_alpha_radius");
    const FrictionlessCollision c = forklift("glocker_forklift_A").collision;
    const Allowance allowance{given["inputs"]["alpha"]};
    const Balls balls = consistency_balls(c, allowance);
    ASSERT_EQ(balls.balls.size(), 2u);
    for (const Ball& ball : balls.balls)
        EXPECT_NEAR(ball.radius_squared, given["outputs"]["two_alpha_plus_norm2"][0], given.tolerance());
    EXPECT_TRUE(balls.empty());
    EXPECT_EQ(nearest_consistent(c, allowance).status, NearestConsistent::Status::empty);
    EXPECT_EQ(consistency_boundary(c, allowance).status, ConsistencyBoundary::Status::empty);
}

// --- random collisions ---------------------------------------------------------------------------------------

const std::vector<std::string> random_collisions{"glocker_random_3dof_5contacts_A", "glocker_random_2dof_4contacts_D",
                                                 "glocker_kinetic_excitation_3dof_5contacts_A",
                                                 "glocker_uniform_3dof_5contacts_A"};

TEST(RandomCollisions, HaveTheExactWorkIntervalsDualPointsAndCorners) {
    for (const std::string& name : random_collisions) {
        SCOPED_TRACE(name);
        const Value given = entry(name);
        const Value e = given["outputs"];
        const double tolerance = given.tolerance();
        const FrictionlessCollision c = collision_of(given);
        const Audit a = audit(c);
        EXPECT_TRUE(same(a.gamma_minus, vector_of(e["gamma_minus"].numbers()), tolerance));
        EXPECT_TRUE(same(a.gamma_plus, vector_of(e["gamma_plus"].numbers()), tolerance));
        EXPECT_TRUE(a.kinetic.holds);
        EXPECT_TRUE(a.kinematic.holds);
        expect_number(a.least.work, e["W_min_exact"], 1e-12, "W_min");
        expect_number(a.greatest.work, e["W_max_exact"], 1e-12, "W_max");
        EXPECT_TRUE(among(a.least.Lambda, e["Lambda_min"].rows(), tolerance)) << a.least.Lambda.transpose();
        EXPECT_TRUE(among(a.greatest.Lambda, e["Lambda_max"].rows(), tolerance)) << a.greatest.Lambda.transpose();
        EXPECT_TRUE(among(a.least.b, e["b0_min_exact"].rows(), tolerance)) << a.least.b.transpose();
        EXPECT_TRUE(among(a.greatest.b, e["b0_max_exact"].rows(), tolerance)) << a.greatest.b.transpose();
        expect_saddle(c, a.least, 1.0, 1e-12);
        expect_saddle(c, a.greatest, -1.0, 1e-12);
        const Vector Lambda = vector_of(given["inputs"]["Lambda_used_to_build"].numbers());
        expect_number(contact_work(c, Lambda), e["work_of_the_given_Lambda"], tolerance, "work of Lambda");
        expect_number(a.energy_change, e["T_plus_minus_T_minus"], tolerance, "change of the energy");
        EXPECT_EQ(a.consistent(), e["in_W0"].truth());
        const Vector half = 0.5 * least_squares(c.M, c.impulse);
        const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
        expect_columns(plus.corner_points.colwise() + half, e["corner_points_plus"].rows(), tolerance, "P+");
        expect_columns(minus.corner_points.colwise() + half, e["corner_points_minus"].rows(), tolerance, "P-");
    }
}

TEST(RandomCollisions, BalanceTheEnergyAtBothEnds) {
    for (const std::string& name : random_collisions) {
        SCOPED_TRACE(name);
        const Audit a = audit(collision_of(entry(name)));
        for (const WorkEnd* end : {&a.least, &a.greatest})
            EXPECT_NEAR(a.energy_change, end->work + end->obstacle_work + a.external_work, 1e-12 * 30.0);
    }
}

TEST(KineticExcitation, IsInconsistentWithAndWithoutTheWorkOfTheExternalImpulse) {
    const Value given = entry("glocker_kinetic_excitation_3dof_5contacts_A");
    const Value e = given["outputs"];
    const FrictionlessCollision c = collision_of(given);
    const Audit a = audit(c);
    expect_number(a.external_work, e["work_of_P_half_sum"], given.tolerance(), "external work");
    EXPECT_TRUE(same(c.u_minus + least_squares(c.M, c.impulse), vector_of(e["z_minus"].numbers()), given.tolerance()));
    EXPECT_EQ(consistent(a.verdict), e["in_W_alpha_0"].truth());
    EXPECT_EQ(consistent(a.verdict_with_external_work), e["in_W_alpha_WP"].truth());
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

TEST(UniformExcitation, IsRecognisedAndMakesTheWorkUnique) {
    const Value given = entry("glocker_uniform_3dof_5contacts_A");
    const Audit a = audit(collision_of(given));
    EXPECT_NE(a.remark(RemarkKind::uniform_excitation), nullptr);
    EXPECT_TRUE(same(a.common_velocity, vector_of(given["outputs"]["b_uniform"].numbers()), 1e-12));
    EXPECT_NEAR(a.least.work, a.greatest.work, 1e-11);
}

// --- degenerate collisions -----------------------------------------------------------------------------------

const std::vector<std::string> degenerate_collisions{
    "glocker_degenerate_one_contact_3dof", "glocker_degenerate_empty_P_plus_closing_vise",
    "glocker_degenerate_bilateral_pair",   "glocker_degenerate_u_plus_not_kinetic",
    "glocker_degenerate_no_impulse",       "glocker_degenerate_inadmissible_but_inside_ball"};

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
    for (const std::string& name : degenerate_collisions) {
        SCOPED_TRACE(name);
        const Value given = entry(name);
        const Value e = given["outputs"];
        const double tolerance = given.tolerance();
        const bool empty_plus = e["P_e_plus_empty"].truth(), empty_minus = e["P_e_minus_empty"].truth();
        const Rows faces_plus = e["minimal_face_reps_plus"].rows(), lineality = e["lineality_basis"].rows();
        const Rows recession = e["recession_rays_of_Lambda_set"].rows();
        const FrictionlessCollision c = collision_of(given);
        const Audit a = audit(c);
        EXPECT_EQ(a.kinetic.holds, e["kinetic"].truth());
        EXPECT_EQ(a.kinematic.holds, e["kinematic_plus"].truth());
        EXPECT_EQ(a.remark(RemarkKind::not_approaching) == nullptr, e["u_minus_in_P_e_minus"].truth());
        expect_number(a.least.work, e["W_min"].number_or(none), tolerance, "W_min");
        expect_number(a.greatest.work, e["W_max"].number_or(none), tolerance, "W_max");
        EXPECT_EQ(a.remark(RemarkKind::empty_P_plus) != nullptr, empty_plus);
        EXPECT_EQ(a.remark(RemarkKind::empty_P_minus) != nullptr, empty_minus);
        EXPECT_EQ(a.remark(RemarkKind::impulses_unbounded) != nullptr, !recession.empty());
        const VelocityPolyhedron plus = velocity_polyhedron(c), minus = velocity_polyhedron(c, Side::minus);
        EXPECT_EQ(plus.status == VelocityPolyhedron::Status::empty, empty_plus);
        EXPECT_EQ(minus.status == VelocityPolyhedron::Status::empty, empty_minus);
        EXPECT_EQ(plus.has_corner_points(), e["P_e_plus_has_vertices"].truth());
        if (!empty_plus) expect_faces(c, plus.corner_points, faces_plus, "P+");
        if (!empty_minus) expect_faces(c, minus.corner_points, e["minimal_face_reps_minus"].rows(), "P-");
        EXPECT_EQ(plus.lineality.cols(), static_cast<Index>(lineality.size()));
        for (const Row& l : lineality)
            EXPECT_LE((c.directions.transpose() * vector_of(l)).cwiseAbs().maxCoeff(), 1e-14);
        // The formula over the corner points is a number for every u+, and has a meaning for admissible u+ only.
        double largest = -infinity;
        for (const Row& b : faces_plus) largest = std::max(largest, ball_work(c, vector_of(b)));
        if (!faces_plus.empty()) {
            EXPECT_NEAR(largest, e["vertex_formula_max"], tolerance);
        }
        for (const Row& ray : recession) EXPECT_LE((c.directions * vector_of(ray)).norm(), 1e-15);
    }
}

TEST(Degenerate, TheClosingViseTakesWorkWithoutBoundAndSaysSo) {
    const FrictionlessCollision c = collision_of(entry("glocker_degenerate_empty_P_plus_closing_vise"));
    const Audit a = audit(c);
    EXPECT_EQ(a.least.work, -infinity);
    EXPECT_EQ(
        a.least.why,
        "P+ is empty: contact 1 and contact 2 close on the system, so the work that they take grows without bound "
        "with their impulses");
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
    const Value given = entry("glocker_degenerate_inadmissible_but_inside_ball");
    const FrictionlessCollision c = collision_of(given);
    const Value corner = given["outputs"]["minimal_face_reps_plus"][0];
    EXPECT_NEAR(ball_work(c, vector_of(corner.numbers())), given["outputs"]["vertex_formula_max"], 1e-14);
    const Audit a = audit(c);
    EXPECT_EQ(a.verdict, Verdict::not_by_contacts);
    EXPECT_NEAR(a.kinetic.distance, std::sqrt(0.5) * 0.2, 1e-14);  // √θ·|Δω|
    const NearestConsistent n = nearest_consistent(c);
    ASSERT_EQ(n.status, NearestConsistent::Status::found);
    EXPECT_TRUE(same(n.u, vector_of({0.6, 0.6, 0.3}), 1e-13));
}

}  // namespace
}  // namespace saltus::impact::glocker_test
