// SPDX-License-Identifier: Apache-2.0
// The cost of derivatives as a multiple of the cost of the motion: with respect to one variable, to all variables, and
// of one output in adjoint mode.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace {

using namespace saltus;

/// Seconds of processor time, the best of some runs.
double seconds(int runs, const std::function<void()>& work) {
    double best = 1e300;
    for (int r = 0; r < runs; ++r) {
        const std::clock_t start = std::clock();
        work();
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
}

struct Case {
    std::string model;
    double t_end;
    std::vector<std::string> one, several;  ///< empty: all
    std::string output;
};

void run(const Case& c) {
    const model::Model m = model::build(io::read_model(SALTUS_SOURCE_DIR "/models/" + c.model + ".toml"));
    const auto variables = [&](const std::vector<std::string>& names) {
        return names.empty() ? sensitivity::all_variables(m) : sensitivity::variables(m, names);
    };
    const std::vector<sensitivity::Variable> one = variables(c.one), several = variables(c.several);
    sensitivity::Options options;
    options.t_end = c.t_end;
    const bool large = m.size() > 50;
    const int runs = large ? 3 : 40, repeats = large ? 1 : 20;
    const auto times = [&](const std::function<void()>& work) {
        return seconds(runs,
                       [&] {
                           for (int k = 0; k < repeats; ++k) work();
                       }) /
               repeats;
    };
    const double motion = times([&] {
        integrate::Options run;
        run.t_end = c.t_end;
        integrate::simulate(m, options.method, run);
    });
    const double by_one = times([&] { sensitivity::sensitivity(m, one, options); });
    const double by_several = times([&] { sensitivity::sensitivity(m, several, options); });
    options.output = c.output;
    options.adjoint = true;
    const double adjoint = times([&] { sensitivity::sensitivity(m, several, options); });
    const double p = static_cast<double>(several.size());
    std::printf("| %s | %.3g ms | %.2f | %d | %.2f, %.2f of 1 + p | %.2f |\n", c.model.c_str(), 1e3 * motion,
                by_one / motion, static_cast<int>(p), by_several / motion, by_several / motion / (1.0 + p),
                adjoint / motion);
    std::fflush(stdout);
}

}  // namespace

int main() {
    std::printf("| model | motion | one variable | p | p variables | adjoint |\n|---|---|---|---|---|---|\n");
    for (const Case& c : std::vector<Case>{
             {"bouncing-ball", 1.5, {"g"}, {}, "y"},
             {"impact-oscillator", 8.0, {"k"}, {}, "x"},
             {"friction-oscillator", 20.0, {"k"}, {}, "x"},
             {"constrained-beam", 3.0, {"mu1"}, {}, "theta"},
             {"rocking-bar", 3.0, {"g"}, {}, "x"},
             {"falling-block", 5.0, {"g"}, {}, "x"},
             {"slider-crank", 0.1, {"g"}, {}, "theta1"},
             {"woodpecker", 0.3, {"g"}, {}, "y"},
             {"two-link-underactuated", 12.0, {"m1"}, {}, "q2"},
             {"sphere-on-plane", 1.0, {"g"}, {}, "x"},
             {"hydrostatic-skeleton", 0.6, {"K"}, {"K", "a", "b"}, "p0.x"},
         })
        run(c);
}
