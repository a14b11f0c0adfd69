// SPDX-License-Identifier: Apache-2.0
// Many runs of one model in the same memory: a ball that falls from several heights.
#include <cstdio>

#include "saltus/integrate/event/repeated_runs.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"

using namespace saltus;

int main(int, char** argv) {
    const model::Model ball = model::build(io::read_model(argv[1]));
    integrate::RepeatedRuns runs(ball, integrate::EventDriven{});
    integrate::Options options;
    options.t_end = 0.8;
    for (const double height : {0.5, 1.0, 2.0}) {
        options.start = trajectory::State{0.0, {height}, {0.0}};
        const trajectory::Trajectory motion = runs.run(options);
        std::printf("from %.1f: first impact at %.6f; ", height, motion.events.front().t);
    }
    std::puts("");
}
