// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/check_report.hpp"
#include "saltus/io/files.hpp"
#include "saltus/io/read_model.hpp"
#include "saltus/io/solve_report.hpp"
#include "saltus/model/build.hpp"

namespace {

using namespace saltus;

enum Exit { done = 0, bad_input = 2, failed = 3 };

/// Options that every command takes.
struct Common {
    std::string model;
    std::vector<std::string> set;
    std::string out;
    bool json = false;
    bool quiet = false;
    bool project_initial = false;
    int threads = 0;
};

void add_common(CLI::App& command, Common& options) {
    command.add_option("model", options.model, "Model file (TOML)")->required();
    command.add_option("--set", options.set, "Parameter to change, name=value; repeatable")->allow_extra_args(false);
    command.add_option("--out", options.out, "Folder for result files; without it no file is written");
    command.add_option("--threads", options.threads, "Threads to use; 0: as many as there are cores")
        ->check(CLI::NonNegativeNumber);
    command.add_flag("--json", options.json, "One JSON document on standard output, nothing else");
    command.add_flag("--quiet", options.quiet, "Print nothing but errors");
    command.add_flag("--project-initial", options.project_initial,
                     "Repair an initial state that penetrates or violates a constraint");
}

model::Model load(const Common& options) {
    model::BuildOptions build;
    build.project_initial = options.project_initial;
    for (const std::string& assignment : options.set) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error("'" + assignment + "' is not an assignment", {"--set", 0, 0}, "write --set name=value");
        const std::size_t begin = assignment.find_first_not_of(' '), end = assignment.find_last_not_of(' ', equals - 1);
        if (begin >= equals)
            throw Error("'" + assignment + "' is not an assignment", {"--set", 0, 0}, "write --set name=value");
        build.set.emplace_back(assignment.substr(begin, end - begin + 1), assignment.substr(equals + 1));
    }
    return model::build(io::read_model(options.model), build);
}

/// Standard output may be a full disk or a closed pipe; nothing is done before it has arrived.
void print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw std::runtime_error("standard output cannot be written");
}

void check(const Common& options) {
    const model::Model m = load(options);
    const model::Inspection inspection = model::inspect(m);
    const std::string json = options.json || !options.out.empty() ? io::check_json(m, inspection, options.model) : "";
    if (!options.out.empty()) io::write_file(options.out, "check.json", json);
    if (options.json)
        print(json);
    else if (!options.quiet)
        print(io::check_text(m, inspection, options.model));
}

struct SolveCommand {
    std::vector<std::string> files;
    std::string kind;
    io::SolveOptions options;
    std::string out;
    bool json = false, quiet = false;
    int threads = 0;
};

/// The line of the file with a mark under the column.
void show_line(const Place& place) {
    if (place.line <= 0 || place.column <= 0) return;
    std::ifstream in(place.file);
    std::string line;
    for (int k = 0; k < place.line; ++k)
        if (!std::getline(in, line)) return;
    constexpr std::size_t widest = 160;
    if (line.size() > widest) return;
    while (!line.empty() && line.back() == '\r') line.pop_back();
    for (char& c : line)  // nothing that a terminal would obey
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = '?';
    std::string mark;
    int column = 1;
    for (std::size_t k = 0; k < line.size() && column < place.column; ++k) {
        if ((static_cast<unsigned char>(line[k]) & 0xC0) == 0x80) continue;  // inside a character
        mark += line[k] == '\t' ? '\t' : ' ';
        ++column;
    }
    std::fprintf(stderr, "  %s\n  %s^\n", line.c_str(), mark.c_str());
}

void report(const Error& e) {
    std::fprintf(stderr, "saltus: error: %s\n", e.what());
    show_line(e.place());
}

/// Every file that can be read is solved, also when others cannot.
int solve(const SolveCommand& c) {
    std::optional<io::ProblemKind> kind;
    if (!c.kind.empty()) {
        kind = io::problem_kind(c.kind);
        if (!kind)
            throw Error("unknown kind '" + c.kind + "'", {"--kind", 0, 0},
                        "allowed are fc, gfc, rfc, grfc, lcp, mlcp and relay");
    }
    if (!(c.options.tolerance > 0.0)) throw Error("the tolerance must be > 0", {"--tolerance", 0, 0});
    std::vector<io::SolveRow> rows;
    int status = done;
    for (const std::string& file : c.files) {
        try {
            rows.push_back(io::solve_problem(io::read_problem(file, kind), c.options));
            const solvers::Status s = rows.back().solution.status;
            if (s != solvers::Status::converged && s != solvers::Status::infeasible && status == done) status = failed;
        } catch (const Error& e) {
            report(e);
            status = bad_input;
        } catch (const std::bad_alloc&) {
            report(Error("there is not enough memory for this problem", {file, 0, 0}));
            if (status == done) status = failed;
        }
    }
    if (!c.out.empty() && !rows.empty()) io::write_file(c.out, "solve.json", io::solve_json(rows));
    if (c.json)
        print(io::solve_json(rows));
    else if (!c.quiet && !rows.empty())
        print(io::solve_text(rows));
    return status;
}

void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), argv[1]) == names.end())
        throw Error("unknown command '" + std::string(argv[1]) + "'", {}, did_you_mean(argv[1], names));
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Saltus: nonsmooth mechanics. One model, five questions.", "saltus"};
    app.set_version_flag("--version", "saltus " SALTUS_VERSION);
    app.require_subcommand(1);
    app.footer("Example:  saltus check models/rocking-bar.toml --set mu=0.5");

    Common check_options;
    CLI::App* check_command = app.add_subcommand("check", "Parse and validate a model, and say what was understood");
    add_common(*check_command, check_options);
    check_command->footer("Example:  saltus check models/rocking-bar.toml --json");

    SolveCommand solve_options;
    CLI::App* solve_command = app.add_subcommand("solve", "Solve contact problem files");
    solve_command->add_option("problem", solve_options.files, "Problem files: text, or FCLIB (HDF5)")->required();
    solve_command->add_option("--kind", solve_options.kind,
                              "fc, gfc, rfc, grfc, lcp, mlcp or relay, where the content cannot tell");
    solve_command->add_option("--method", solve_options.options.method,
                              "automatic, gauss-seidel, newton, proximal, lemke");
    solve_command->add_option("--tolerance", solve_options.options.tolerance, "Residual that counts as solved (1e-8)");
    solve_command->add_option("--seconds", solve_options.options.seconds,
                              "After which automatic begins nothing new (0: only its budget of work counts)");
    solve_command->add_flag("--all", solve_options.options.all,
                            "List every solution of small planar problems and of single contacts");
    solve_command->add_option("--out", solve_options.out, "Folder for result files; without it no file is written");
    solve_command->add_option("--threads", solve_options.threads, "Threads to use; 0: as many as there are cores");
    solve_command->add_flag("--json", solve_options.json, "One JSON document on standard output, nothing else");
    solve_command->add_flag("--quiet", solve_options.quiet, "Print nothing but errors");
    solve_command->footer("Example:  saltus solve stack.dat rover.dat --tolerance 1e-10");

    try {
        refuse_unknown_command(app, argc, argv);
        app.parse(argc, argv);
        if (check_command->parsed()) check(check_options);
        if (solve_command->parsed()) return solve(solve_options);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? done : bad_input;
    } catch (const Error& e) {
        report(e);
        return bad_input;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "saltus: failure: %s\n", e.what());
        return failed;
    }
    return done;
}
