// SPDX-License-Identifier: Apache-2.0
// Our automatic methods against the solvers of Siconos on the same data, every answer judged by the same independent
// residual.
//
//     contact_vs_siconos [--seconds 20] [--tolerance 1e-8] [--only SUBSTRING] [--csv FILE] FILE|FOLDER...
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comparison_report.hpp"
#include "measured_child.hpp"
#include "saltus/base/error.hpp"
#include "saltus/io/problem/read_problem.hpp"
#include "saltus/solvers/complementarity/complementarity.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"
#include "siconos_trial.hpp"

namespace {

using namespace saltus;
using namespace saltus::bench;
using solvers::FrictionProblem;

struct Arguments {
    double seconds = 20.0;  ///< for one solve
    Targets targets;
    std::string only, csv;
    std::vector<std::filesystem::path> files;
};

void collect(const std::filesystem::path& path, const std::string& only, std::vector<std::filesystem::path>& files) {
    const auto add = [&](const std::filesystem::path& file) {
        const std::string extension = file.extension().string();
        if ((extension == ".dat" || extension == ".hdf5") && file.string().find(only) != std::string::npos)
            files.push_back(file);
    };
    if (!std::filesystem::is_directory(path)) return add(path);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
        if (entry.is_regular_file()) add(entry.path());
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
    Arguments arguments;
    std::vector<std::filesystem::path> paths;
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (words[k].rfind("--", 0) != 0) {
            paths.emplace_back(words[k]);
            continue;
        }
        if (k + 1 == words.size()) return {};
        const std::string &option = words[k], &value = words[++k];
        if (option == "--seconds")
            arguments.seconds = std::atof(value.c_str());
        else if (option == "--tolerance")
            arguments.targets.tight = std::atof(value.c_str());
        else if (option == "--only")
            arguments.only = value;
        else if (option == "--csv")
            arguments.csv = value;
        else
            return {};
    }
    arguments.targets.loose = std::max(arguments.targets.loose, arguments.targets.tight);
    for (const auto& path : paths) collect(path, arguments.only, arguments.files);
    std::sort(arguments.files.begin(), arguments.files.end());
    if (arguments.files.empty() || arguments.seconds <= 0.0 || arguments.targets.tight <= 0.0) return {};
    return arguments;
}

/// Options and unknowns of Siconos are prepared before its timed part. In the same way our workspace and the memory of
/// the answer exist before, but are empty.
class OurTrial : public Trial {
public:
    OurTrial(const io::ContactProblem& problem, double tolerance, double seconds)
        : problem_(problem), tolerance_(tolerance), seconds_(seconds) {
        const auto rows =
            std::visit([](const auto& p) { return static_cast<std::size_t>(p.q.size()); }, problem.problem);
        solution_.r.reserve(rows);
        solution_.v.reserve(rows);
        solution_.attempts.reserve(8);
    }
    void run() override {
        std::visit([&](const auto& p) { solve_automatically(p); }, problem_.problem);
    }
    Answer answer() const override {
        const bool proved = solution_.status == solvers::Status::infeasible;
        return {solution_.r, std::string(proved ? std::string_view("no solution") : solution_.method)};
    }

private:
    void solve_automatically(const FrictionProblem& p) {
        const solvers::Automatic method{.tolerance = tolerance_, .seconds = seconds_};
        solvers::solve(p, method, workspace_, solution_);
    }
    template <class Complementarity>
    void solve_automatically(const Complementarity& p) {
        solvers::solve(p, solvers::AutomaticComplementarity{.tolerance = tolerance_}, complementarity_, solution_);
    }

    const io::ContactProblem& problem_;
    double tolerance_, seconds_;
    solvers::Workspace workspace_;
    solvers::ComplementarityWorkspace complementarity_;
    solvers::Solution solution_;
};

double judge(const io::ContactProblem& problem, const std::vector<double>& r) {
    const double residual = std::visit([&](const auto& p) { return solvers::residual(p, r); }, problem.problem);
    return std::isfinite(residual) ? residual : std::numeric_limits<double>::infinity();
}

Run run_of(const io::ContactProblem& problem, const std::string& solver, double tolerance, const Measured& measured) {
    Run run{solver, tolerance, measured.end, measured.seconds, std::numeric_limits<double>::infinity(), {}};
    if (measured.end == End::answered) run.residual = judge(problem, measured.answer.r);
    run.note = measured.answer.note;
    return run;
}

void run_ours(const io::ContactProblem& problem, const Arguments& arguments, std::vector<Run>& runs) {
    for (const double tolerance : {arguments.targets.loose, arguments.targets.tight}) {
        const auto prepare = [&] { return std::make_unique<OurTrial>(problem, tolerance, arguments.seconds); };
        runs.push_back(run_of(problem, ours, tolerance, measure(prepare, arguments.seconds)));
    }
}

bool same_failure(const Run& a, const Run& b) {
    const bool failed = b.note != siconos_success || !std::isfinite(b.residual);
    return failed && a.solver == b.solver && a.note == b.note && a.residual == b.residual;
}

/// Siconos measures its error against the largest of ‖q‖, ‖r‖, ‖v‖, so it is asked for ever tighter tolerances until
/// the answer truly reaches the tight target. A solver that is out of time, crashes, or fails twice in the same way is
/// not asked again.
void run_siconos(const io::ContactProblem& problem, const SiconosSolver& solver, const Arguments& arguments,
                 std::vector<Run>& runs) {
    constexpr double step = 1e-2, tightest = 1e-16;
    const double last = std::max(1e-6 * arguments.targets.tight, tightest);
    for (double tolerance = arguments.targets.loose; tolerance > 0.5 * last; tolerance *= step) {
        const auto prepare = [&] { return siconos_trial(problem, solver, tolerance); };
        Run run = run_of(problem, solver.name, tolerance, measure(prepare, arguments.seconds));
        const bool asked_enough =
            run.end != End::answered || run.residual <= arguments.targets.tight || same_failure(runs.back(), run);
        runs.push_back(std::move(run));
        if (asked_enough) break;
    }
}

std::string family(const io::ContactProblem& problem) {
    switch (problem.dimension) {
        case 2: return "planar";
        case 3: return "spatial";
        case 5: return "rolling";
        default: return std::string(io::to_string(problem.kind));
    }
}

int size(const io::ContactProblem& problem) {
    struct Size {
        int operator()(const FrictionProblem& p) const { return p.contacts(); }
        int operator()(const solvers::LinearComplementarity& p) const { return static_cast<int>(p.q.size()); }
        int operator()(const solvers::MixedComplementarity& p) const { return static_cast<int>(p.M.cols()); }
        int operator()(const solvers::Relay& p) const { return static_cast<int>(p.q.size()); }
    };
    return std::visit(Size{}, problem.problem);
}

Comparison compare(const std::filesystem::path& file, const Arguments& arguments) {
    const io::ContactProblem problem = io::read_problem(file.string());
    Comparison comparison{file.stem().string(), family(problem), size(problem), {}};
    const auto peers = siconos_solvers(problem);
    if (peers.empty()) return comparison;
    run_ours(problem, arguments, comparison.runs);
    for (const SiconosSolver& solver : peers) run_siconos(problem, solver, arguments, comparison.runs);
    return comparison;
}

void compare_all(const Arguments& arguments, std::vector<Comparison>& comparisons) {
    for (const auto& file : arguments.files) try {
            Comparison comparison = compare(file, arguments);
            if (comparison.runs.empty()) {
                std::printf("%-42s has no form in Siconos\n", comparison.name.c_str());
                continue;
            }
            print_line(comparison, arguments.targets);
            comparisons.push_back(std::move(comparison));
        } catch (const Error& error) {
            std::printf("%s\n", error.what());
        }
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = parse({argv + 1, argv + argc});
    if (!arguments) {
        std::fprintf(stderr,
                     "usage: %s [--seconds 20] [--tolerance 1e-8] [--only SUBSTRING] [--csv FILE] FILE|FOLDER...\n",
                     argv[0]);
        return 2;
    }
    std::vector<Comparison> comparisons;
    print_heading(arguments->targets);
    compare_all(*arguments, comparisons);
    print_summary(comparisons, arguments->targets);
    if (!arguments->csv.empty()) write_csv(arguments->csv, comparisons);
}
