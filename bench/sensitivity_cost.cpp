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
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace {

using namespace saltus;

using Work = std::function<void()>;

/// Seconds of processor time of some calls.
double seconds(int calls, const Work& work) {
    const std::clock_t start = std::clock();
    for (int k = 0; k < calls; ++k) work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Seconds of processor time of one call of each work: the best of some rounds. In a round all works are measured one
/// after the other, each for about a millisecond, so that other load on the machine disturbs all of them alike.
std::vector<double> best_seconds(const std::vector<Work>& works, int rounds) {
    constexpr double window = 1e-3;
    std::vector<double> best(works.size(), 1e300);
    std::vector<int> calls;
    for (const Work& work : works) {
        work();  // compiles what is kept for later calls
        calls.push_back(std::clamp(static_cast<int>(window / std::max(seconds(1, work), 1e-6)), 1, 100));
    }
    for (int r = 0; r < rounds; ++r)
        for (std::size_t k = 0; k < works.size(); ++k)
            best[k] = std::min(best[k], seconds(calls[k], works[k]) / calls[k]);
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
    sensitivity::Options backwards = options;
    backwards.output = c.output;
    backwards.adjoint = true;
    integrate::Options run;
    run.t_end = c.t_end;
    const std::vector<double> best = best_seconds(
        {[&] { integrate::simulate(m, options.method, run); }, [&] { sensitivity::sensitivity(m, one, options); },
         [&] { sensitivity::sensitivity(m, several, options); },
         [&] { sensitivity::sensitivity(m, several, backwards); }},
        m.size() > 50 ? 3 : 100);
    const double motion = best[0], by_one = best[1], by_several = best[2], adjoint = best[3];
    const double p = static_cast<double>(several.size());
    std::printf("| %s | %.3g ms | %.2f | %d | %.2f, %.2f of 1 + p | %.2f |\n", c.model.c_str(), 1e3 * motion,
                by_one / motion, static_cast<int>(p), by_several / motion, by_several / motion / (1.0 + p),
                adjoint / motion);
    std::fflush(stdout);
}

}  // namespace

/// Without arguments: all cases. Arguments are names of models.
int main(int count, char** arguments) {
    const std::vector<std::string> wanted(arguments + 1, arguments + count);
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
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), c.model) != wanted.end()) run(c);
}
