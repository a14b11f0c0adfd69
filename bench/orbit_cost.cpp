// SPDX-License-Identifier: Apache-2.0
// The cost of a periodic orbit, in simulated periods, from a guess that is 1 % off; the time of a branch of about 200
// orbits, and of a bifurcation diagram of 600 values with 200 impacts each.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <string>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/branch.hpp"
#include "saltus/orbit/diagram.hpp"
#include "saltus/orbit/orbit.hpp"

namespace {

using namespace saltus;

/// Seconds of processor time of one call: the best of some rounds, each of about a millisecond or one call.
double seconds_of(const std::function<void()>& work) {
    constexpr double window = 1e-3;
    constexpr int rounds = 20;
    const auto measure = [&](int calls) {
        const std::clock_t start = std::clock();
        for (int k = 0; k < calls; ++k) work();
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / calls;
    };
    const double once = measure(1);
    const int calls = std::clamp(static_cast<int>(window / std::max(once, 1e-6)), 1, 100);
    double best = std::numeric_limits<double>::infinity();
    for (int r = 0; r < (once > 0.5 ? 2 : rounds); ++r) best = std::min(best, measure(calls));
    return best;
}

struct Case {
    std::string model;
    std::vector<std::pair<std::string, std::string>> set;
    std::optional<double> period;
    double settle;
    bool moved = true;  ///< the guess has other positions, too; false where they would penetrate an obstacle
};

void orbit_cost(const Case& c) {
    model::BuildOptions build;
    build.set = c.set;
    const model::Model m = model::build(io::read_model(SALTUS_SOURCE_DIR "/models/" + c.model + ".toml"), build);
    orbit::Options options;
    options.period = c.period;
    options.settle = c.settle;
    const orbit::Orbit exact = orbit::find_orbit(m, options);
    if (!exact.converged()) {
        std::printf("| %s | no orbit: %s |\n", c.model.c_str(), exact.reason.c_str());
        return;
    }
    // The guess: velocities, and where possible positions, 1 % off.
    trajectory::State guess = exact.state;
    for (double& q : guess.q) q *= c.moved ? 1.01 : 1.0;
    for (double& u : guess.u) u *= 1.01;
    options.guess = guess;
    options.settle = 0.0;
    options.search_time = 3.0 * exact.period;
    const orbit::Orbit found = orbit::find_orbit(m, options);
    integrate::Options run;
    run.start = exact.state;
    run.t_end = exact.state.t + exact.period;
    const double period = seconds_of([&] { integrate::simulate(m, options.method, run); });
    const double whole = seconds_of([&] { orbit::find_orbit(m, options); });
    std::printf("| %s | %s | %d | %.3g ms | %.3g ms | %.1f |\n", c.model.c_str(), orbit::to_string(found.status),
                static_cast<int>(found.residuals.size()) - 1, 1e3 * period, 1e3 * whole, whole / period);
    std::fflush(stdout);
}

void branch_time() {
    orbit::BranchOptions options;
    options.parameter = "F0";
    options.from = 0.2;
    options.start = 1.0;
    options.to = 1.5;
    options.build.set = {{"c", "0.1"}, {"w", "1"}, {"s", "1"}};
    options.period = "2*pi/w";
    options.orbit.settle = 200.0;
    options.step = 1.0 / 190.0;
    const model::Description description = io::read_model(SALTUS_SOURCE_DIR "/models/impact-oscillator.toml");
    std::size_t points = 0;
    const double seconds =
        seconds_of([&] { points = orbit::continue_orbits(description, options).branches.at(0).points.size(); });
    std::printf("\nBranch of the impact oscillator: %zu orbits in %.3g s.\n", points, seconds);
}

void diagram_time() {
    orbit::DiagramOptions options;
    constexpr int values = 600;
    options.over = {"Gamma", 0.3, 3.0, values};
    options.period = [](const model::Model&) { return 0.1; };
    options.transient = 100;
    options.keep = 100;
    options.engine.threads = 1;
    const model::Description description = io::read_model(SALTUS_SOURCE_DIR "/models/ball-on-moving-plane.toml");
    const double seconds = seconds_of([&] { orbit::diagram(description, options); });
    std::printf("Diagram of the ball: %d values with 200 periods each in %.3g s on one core.\n", values, seconds);
}

}  // namespace

int main() {
    const double turn = 6.283185307179586;
    std::printf("| model | status | iterations | one period | orbit | in periods |\n|---|---|---|---|---|---|\n");
    orbit_cost({"ball-on-moving-plane", {}, 0.1, 2.0});
    orbit_cost({"impact-oscillator", {{"c", "0.1"}, {"w", "1"}, {"s", "1"}}, turn, 200.0});
    orbit_cost({"den-hartog", {}, turn / 0.8, 100.0});
    orbit_cost({"shaken-box", {}, turn, 100.0});
    orbit_cost({"friction-oscillator", {}, {}, 60.0});
    orbit_cost({"stick-slip-belt", {}, {}, 40.0});
    orbit_cost({"rimless-wheel", {}, {}, 40.0});
    orbit_cost({"simplest-walker", {}, {}, 40.0});
    orbit_cost({"woodpecker", {}, {}, 2.0, false});
    branch_time();
    diagram_time();
}
