// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/course.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "integrate/small_models.hpp"
#include "saltus/integrate/impulse_course.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::course_test {
namespace {

/// Bodies that slide along grooves at y = 0, and whose weight 10 pulls them up: all reactions are -10.
std::string bodies_in_grooves(int count) {
    std::string names, kinetic, potential, start, grooves;
    for (int i = 0; i < count; ++i) {
        const std::string n = std::to_string(i), x = "x" + n, y = "y" + n;
        names += (i > 0 ? ", \"" : "\"") + x + "\", \"" + y + "\"";
        kinetic += (i > 0 ? " + (" : "(") + x + "'^2 + " + y + "'^2)/2";
        potential += "-10*" + y;
        start += (i > 0 ? ", " : "") + x + " = 3";
        grooves += "[[constraint]]\nname = \"groove" + n + "\"\ng = \"" + y + "\"\ngammaT = \"" + x + "'\"\nmu = 0.1\n";
    }
    return "[system]\nq = [" + names + "]\nT = \"" + kinetic + "\"\nU = \"" + potential + "\"\n" + grooves +
           "[initial]\nu = { " + start + " }\n";
}

TEST(Course, FindsTheSignsOfAnyNumberOfReactionsWithFriction) {
    for (const int count : {2, 8}) {
        const model::Model m = test::model_of(bodies_in_grooves(count));
        Options options;
        options.t_end = 1.0;  // friction 1 stops them at t = 3
        const trajectory::Trajectory motion = simulate(m, EventDriven{}, options);
        ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
        Course course(m, motion);
        course.enter(0);
        ASSERT_TRUE(course.has_reactions());
        const ode::Dense& step = motion.arcs[0].steps.front();
        std::vector<double> x(static_cast<std::size_t>(step.size()));
        step.evaluate(step.t_old(), x.data());
        course.evaluate(step.t_old(), x.data());
        for (const trajectory::Reaction& r : course.reactions()) {
            EXPECT_NEAR(r.N, -10.0, 1e-9) << count;
            EXPECT_NEAR(r.T[0], -1.0, 1e-9) << count;
        }
    }
}

TEST(Course, TakesTheSignsOfReactionsThatAllLawsAllow) {
    // A body on an inclined groove, whose friction on a belt carries it, and two sliders hold it. The groove's reaction
    // N follows from 7 = -0.05 N - T with T = -0.4 |N|: N = -140/9, or N = 20. Only with the first one the sliders
    // carry less than their friction, 3 + 0.2 N + s0 + s1 = 0: 1/9 together, and not -7.
    const model::Model m = test::model_of(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "-3*x + 7*y"
[[constraint]]
name = "groove"
g = "0.2*x - 0.05*y"
gammaT = "1.5 - y'"
mu = 0.4
[[slider]]
name = "s0"
gammaT = "x'"
mu = 0.36
FN = 2
[[slider]]
name = "s1"
gammaT = "x'"
mu = 0.3
FN = 2
)toml");
    Options options;
    options.t_end = 1.0;
    const trajectory::Trajectory motion = simulate(m, EventDriven{}, options);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    Course course(m, motion);
    course.enter(motion.arcs.size() - 1);
    ASSERT_TRUE(course.has_reactions());
    std::vector<double> x = motion.end.q;
    x.insert(x.end(), motion.end.u.begin(), motion.end.u.end());
    course.evaluate(motion.end.t, x.data());
    ASSERT_EQ(motion.forces.size(), 3U);
    EXPECT_NEAR(course.reactions()[0].N, -140.0 / 9.0, 1e-9);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(course.reactions()[i].N, motion.forces[i].N, 1e-12) << i;
        EXPECT_NEAR(course.reactions()[i].T[0], motion.forces[i].T[0], 1e-12) << i;
    }
}

TEST(Course, SharesALoadByTheAdmissibleReactionsOfLeastNorm) {
    // Normal force and friction of a wedge act along the same line: N + T = 10 + sin t =: F. The least norm N = T = F/2
    // is outside of |T| <= 0.2 N; of the admissible reactions T = 0.2 N, N = F/1.2 has the least norm.
    const model::Model m = test::model_of(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
f = { x = "-10 - sin(t)" }
[[contact]]
name = "wedge"
gN = "x"
gammaT = "x'"
mu = 0.2
)toml");
    Options options;
    options.t_end = 3.0;
    const trajectory::Trajectory motion = simulate(m, EventDriven{}, options);
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    Course course(m, motion);
    for (const double t : {2.9, 0.1, 1.5, 1.6, 0.1, 3.0}) {  // in any order
        course.enter(arc_at(motion, t, Side::before));
        ASSERT_TRUE(course.has_reactions());
        const std::vector<double> at_rest = {0.0, 0.0};
        course.evaluate(t, at_rest.data());
        EXPECT_NEAR(course.reactions()[0].N, (10.0 + std::sin(t)) / 1.2, 1e-8) << t;
        EXPECT_NEAR(course.reactions()[0].T[0], (10.0 + std::sin(t)) / 6.0, 1e-8) << t;
    }
    ASSERT_EQ(motion.forces.size(), 1U);
    EXPECT_NEAR(motion.forces[0].N, (10.0 + std::sin(3.0)) / 1.2, 1e-8) << "the forces at the end are the same";
}

}  // namespace
}  // namespace saltus::integrate::course_test
