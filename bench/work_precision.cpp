// SPDX-License-Identifier: Apache-2.0
// Work against precision on motions without events: Saltus' Taylor series, its Runge–Kutta method of order 8 and, where
// installed, CVODE of SUNDIALS. README.md says how to read the table.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "measured_child.hpp"
#include "measured_work.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/ode/explicit.hpp"
#include "smooth_problems.hpp"
#include "work_precision_picture.hpp"
#ifdef SALTUS_BENCH_CVODE
#include "integrate_cvode.hpp"
#endif

namespace saltus::bench {
namespace {

/// The tolerance on x_i is rtol·|x_i| + atol. All states here are of order 1, so that rtol decides.
struct Tolerance {
    double rtol, atol;
};

/// One method: a run on a problem at a tolerance.
struct Contender {
    std::string name;
    std::function<Work(const SmoothProblem&, Tolerance)> run;
};

Work simulated(const SmoothProblem& problem, Tolerance tolerance, bool series) {
    integrate::EventDriven method;
    method.rtol = tolerance.rtol;
    method.atol = tolerance.atol;
    method.series = series;
    method.keep_arcs = false;
    integrate::Options options;
    options.t_end = problem.t_end;
    return measured([&] {
        trajectory::Trajectory motion;
        const double seconds = seconds_of([&] { motion = integrate::simulate(problem.model, method, options); });
        if (motion.status != trajectory::Status::completed || motion.events_certain != series) return Work{};
        std::vector<double> end = motion.end.q;
        end.insert(end.end(), motion.end.u.begin(), motion.end.u.end());
        return Work{error_of(end, problem.end), seconds, motion.statistics.steps, motion.statistics.evaluations};
    });
}

/// The method of order 8 alone, on the equations written by hand.
Work stepped_by_hand(const SmoothProblem& problem, Tolerance tolerance) {
    const auto f = [&](double t, const double* x, double* dx) {
        problem.rates(t, x, dx);
        return true;
    };
    return measured([&] {
        ode::Explicit method(static_cast<int>(problem.start.size()), {tolerance.rtol, tolerance.atol});
        bool good = true;
        const double seconds = seconds_of([&] {
            good = ode::usable(method.start({f}, 0.0, problem.start));
            while (good && method.t() < problem.t_end) good = ode::usable(method.step({f}, problem.t_end));
        });
        if (!good) return Work{};
        return Work{error_of({method.x().begin(), method.x().end()}, problem.end), seconds,
                    method.statistics().accepted, method.statistics().evaluations};
    });
}

#ifdef SALTUS_BENCH_CVODE
Work integrated_by_cvode(const SmoothProblem& problem, Tolerance tolerance, CvodeMethod method) {
    CvodeIntegration cvode(problem, method, tolerance.rtol, tolerance.atol);
    return measured([&] {
        CvodeRun run;
        const double seconds = seconds_of([&] { run = cvode.run(); });
        if (!run.completed) return Work{};
        return Work{error_of(run.end, problem.end), seconds, run.steps, run.evaluations};
    });
}
#endif

std::vector<Contender> contenders() {
    std::vector<Contender> all{
        {"Taylor series", [](const SmoothProblem& p, Tolerance tol) { return simulated(p, tol, true); }},
        {"order 8", [](const SmoothProblem& p, Tolerance tol) { return simulated(p, tol, false); }},
        {"order 8, by hand", stepped_by_hand}};
#ifdef SALTUS_BENCH_CVODE
    for (const CvodeMethod method : {CvodeMethod::adams, CvodeMethod::bdf})
        all.push_back(
            {method == CvodeMethod::adams ? "CVODE Adams" : "CVODE BDF",
             [method](const SmoothProblem& p, Tolerance tol) { return integrated_by_cvode(p, tol, method); }});
#endif
    return all;
}

std::vector<double> relative_tolerances() {
    std::vector<double> all;
    constexpr int per_decade = 2, first = 3, last = 13;
    for (int k = per_decade * first; k <= per_decade * last; ++k)
        all.push_back(std::pow(10.0, -k / double(per_decade)));
    return all;
}

WorkDiagram compared(const SmoothProblem& problem, std::string& csv) {
    WorkDiagram diagram{problem.name, {}};
    for (const Contender& contender : contenders()) {
        WorkCurve curve{contender.name, {}};
        for (const double rtol : relative_tolerances()) {
            const Work w = contender.run(problem, {rtol, 1e-2 * rtol});
            curve.runs.push_back(w);
            csv += fmt::format("\"{}\",\"{}\",{:.3e},{:.3e},{:.3e},{},{}\n", problem.name, contender.name, rtol,
                               w.error, w.seconds, w.steps, w.evaluations);
        }
        diagram.curves.push_back(std::move(curve));
    }
    return diagram;
}

/// For each error the time of the Taylor series and the times of the others as multiples of it.
void print_table(const SmoothProblem& problem, const WorkDiagram& diagram) {
    fmt::print("\n{}, t = {}; its end is known to {:.0e}\n  {:>8}", problem.name, problem.t_end,
               problem.end_uncertainty, "error");
    for (const WorkCurve& curve : diagram.curves) fmt::print("  {:>16}", curve.method);
    for (int digits = 4; digits <= 13; ++digits) {
        const double target = std::pow(10.0, -digits), series = fastest(diagram.curves.front().runs, target);
        fmt::print("\n  {:8.0e}  {:13.1f} us", target, 1e6 * series);
        for (std::size_t m = 1; m < diagram.curves.size(); ++m) {
            const double seconds = fastest(diagram.curves[m].runs, target);
            fmt::print("  {:>16}", std::isfinite(seconds) ? fmt::format("{:.2f}", seconds / series) : "never");
        }
    }
    fmt::print("\n");
}

bool write(const char* path, const std::string& content) {
    std::ofstream file(path);
    file << content;
    if (!file.flush()) fmt::print(stderr, "cannot write {}\n", path);
    return static_cast<bool>(file);
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
    using namespace saltus::bench;
    const char *csv_path = nullptr, *picture_path = nullptr;
    for (int i = 1; i < argc; i += 2) {
        const bool csv = std::strcmp(argv[i], "--csv") == 0, svg = std::strcmp(argv[i], "--svg") == 0;
        if (i + 1 == argc || (!csv && !svg)) {
            fmt::print(stderr, "usage: {} [--csv FILE] [--svg FILE]\n", argv[0]);
            return 2;
        }
        (csv ? csv_path : picture_path) = argv[i + 1];
    }
    std::string csv = "problem,method,rtol,error,seconds,steps,evaluations\n";
    std::vector<WorkDiagram> diagrams;
    for (const SmoothProblem& problem : smooth_problems()) {
        diagrams.push_back(compared(problem, csv));
        print_table(problem, diagrams.back());
    }
    bool good = csv_path == nullptr || write(csv_path, csv);
    if (picture_path != nullptr) good = write(picture_path, work_precision_picture(diagrams)) && good;
    return good ? 0 : 1;
}
