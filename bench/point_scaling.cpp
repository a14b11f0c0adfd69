// SPDX-License-Identifier: Apache-2.0
// Growth of the cost of event-driven motions with the number of mass points: the hydrostatic skeleton with more and
// more segments, every point of mass 1, thrown against the plane.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace {

using namespace saltus;

constexpr double t_end = 0.3;  // in s; the collision is at 0.23

model::Model skeleton(double segments) {
    model::Description d = io::read_model(SALTUS_SOURCE_DIR "/models/hydrostatic-skeleton-edges.toml");
    d.points->generate->segments = model::Field(segments);
    d.points->total_mass = model::Field(4.0 * segments + 4.0);
    d.draw.reset();
    return model::build(d);
}

double seconds(const std::clock_t& start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

}  // namespace

int main(int count, char** arguments) {
    const double longest =
        count > 1 ? std::atof(arguments[1]) : 60.0;  // no larger body after one that takes longer, in s
    std::printf("| segments | points | seconds | exponent | steps | evaluations | collision − 0.23 |\n");
    std::printf("|---|---|---|---|---|---|---|\n");
    double before = 0.0, points_before = 0.0;
    for (const double segments : {21, 84, 336, 1250}) {
        const model::Model m = skeleton(segments);
        integrate::Options options;
        options.t_end = t_end;
        integrate::EventDriven method;
        method.keep_arcs = false;
        const std::clock_t start = std::clock();
        const trajectory::Trajectory motion = integrate::simulate(m, method, options);
        const double time = seconds(start), points = m.size() / 3.0;
        std::printf("| %.0f | %.0f | %.2f | ", segments, points, time);
        if (before > 0.0) std::printf("%.2f", std::log(time / before) / std::log(points / points_before));
        std::printf(" | %ld | %ld | %.1e |\n", motion.statistics.steps, motion.statistics.evaluations,
                    motion.events.empty() ? NAN : motion.events[0].t - 0.23);
        std::fflush(stdout);
        before = time;
        points_before = points;
        if (time > longest) break;
    }
}
