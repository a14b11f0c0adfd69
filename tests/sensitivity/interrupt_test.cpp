// SPDX-License-Identifier: Apache-2.0
//
// An interrupt ends derivatives, not only the motion before them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity::interrupt_test {
namespace {

/// A chain of pendulums that are coupled by springs. The first one strikes a wall.
model::Model chain(int length) {
    std::string q, T, U;
    for (int i = 0; i < length; ++i) {
        const std::string p = "p" + std::to_string(i);
        q += (i > 0 ? ", \"" : "\"") + p + "\"";
        T += "+" + p + "'^2/2";
        U += "-cos(" + p + ")";
        if (i > 0) U += "+5*(" + p + " - p" + std::to_string(i - 1) + ")^2";
    }
    return model::build(io::parse_model("[system]\nq = [" + q + "]\nT = \"" + T.substr(1) + "\"\nU = \"" + U +
                                            "\"\n[[contact]]\nname = \"wall\"\ngN = \"p0 + 0.1\"\neN = 0.5\n"
                                            "[initial]\nu = { p0 = -1.0 }\n",
                                        "chain.toml"));
}

TEST(Interrupt, OfDerivativesLeavesTheMotion) {
    const model::Model model = chain(50);
    const std::vector<Variable> variables{{Variable::Kind::position, 0, "p0", 0.0}};
    Options options;
    options.t_end = 5.0;
    int calls = 0, last = 0;
    options.interrupted = [&] { return ++calls > last && last > 0; };
    integrate::Options run;
    run.t_end = options.t_end;
    run.interrupted = options.interrupted;
    integrate::simulate_recorded(model, options.method, run);
    const int of_motion = calls;
    calls = 0;
    const Sensitivity whole = sensitivity(model, variables, options);
    ASSERT_TRUE(whole.available) << whole.reason;
    ASSERT_GT(calls, of_motion + 2) << "the derivatives do not ask";
    last = of_motion + (calls - of_motion) / 2;
    calls = 0;
    const Sensitivity cut = sensitivity(model, variables, options);
    EXPECT_FALSE(cut.available);
    EXPECT_EQ(cut.reason, "the derivatives were interrupted");
    EXPECT_EQ(cut.motion.status, trajectory::Status::completed);
    EXPECT_EQ(cut.motion.end.q, whole.motion.end.q);
    EXPECT_EQ(cut.final.size(), 0);
    EXPECT_TRUE(cut.events.empty());
}

}  // namespace
}  // namespace saltus::sensitivity::interrupt_test
