// SPDX-License-Identifier: Apache-2.0
// A model from a file: its terms at a state, its motion, a page to look at, and a perturbed pair.
#include <cstdio>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/io/page/motion_view.hpp"
#include "saltus/io/page/report_page.hpp"
#include "saltus/io/report/pair_report.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/sensitivity/pair/pair.hpp"

using namespace saltus;

void print_pair(const char* file) {
    sensitivity::PairOptions options;
    options.t_end = 0.6;
    const sensitivity::Pair pair = sensitivity::perturbed_pair(io::read_model(file), options);
    std::fputs(io::pair_text(pair).c_str(), stdout);
}

int main(int, char** argv) {
    const char* const file = argv[1];
    const saltus::model::Model m = saltus::model::build(saltus::io::read_model(file));

    const double t = 0.0;
    const std::vector<double> q = m.q0, u = m.u0;
    model::Workspace workspace(m);
    model::Terms terms(m.layout());
    evaluate(m, workspace, t, q, u, terms);

    integrate::Options options;
    options.t_end = 1.0;
    const trajectory::Trajectory motion = integrate::simulate(m, integrate::EventDriven{}, options);
    const trajectory::State half = motion.right(0.5);
    std::printf("gap %.3f, %zu events, first at %.6f, y(0.5) = %.6f\n", terms.positions[0], motion.events.size(),
                motion.events[0].t, half.q[0]);

    io::Report page;
    page.parts.push_back({"motion", "", "", io::motion_json(io::motion_view(motion, &m), &m), m.name});
    const std::string html = io::report_html(page);
    std::printf("a page of %s\n", html.size() > 10000 ? "some length" : "nothing");

    print_pair(file);
}
