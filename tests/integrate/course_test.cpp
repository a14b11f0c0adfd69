// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/course.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integrate/small_models.hpp"
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

}  // namespace
}  // namespace saltus::integrate::course_test
