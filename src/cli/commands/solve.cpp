// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/solve.hpp"

#include <new>
#include <optional>

#include "cli/interrupt.hpp"
#include "saltus/io/results/result_folder.hpp"

namespace saltus::cli {

namespace {

/// Prints the rows and writes them to the result folder. `not_solved`: files that an interrupt left out.
void write(const SolveCommand& c, const std::vector<io::SolveRow>& rows, io::ResultFolder* out,
           const std::vector<std::string>& not_solved = {}) {
    const auto json = [&](io::Timing timing) { return io::solve_json(rows, timing, not_solved); };
    deliver(c, rows.empty() ? nullptr : out,
            {[&](io::ResultFolder& folder) { folder.add("solve.json", json(io::Timing::left_out)); },
             [&] { return json(io::Timing::included); }, [&] { return rows.empty() ? "" : io::solve_text(rows); }});
}

}  // namespace

int solve(const SolveCommand& c) {
    std::optional<io::ProblemKind> kind;
    if (!c.kind.empty()) {
        kind = io::problem_kind(c.kind);
        if (!kind)
            throw Error("unknown kind '" + c.kind + "'", {"--kind", 0, 0},
                        "allowed are fc, gfc, rfc, grfc, lcp, mlcp and relay");
    }
    if (!(c.options.tolerance > 0.0)) throw Error("the tolerance must be > 0", {"--tolerance", 0, 0});
    const auto out = open_results(c, "solve", c.files);
    std::vector<io::SolveRow> rows;
    int status = done;
    listen_for_interrupts();
    io::SolveOptions options = c.options;
    options.seconds = c.seconds;
    for (std::size_t k = 0; k < c.files.size(); ++k) {
        const std::string& file = c.files[k];
        try {
            const io::ContactProblem problem = io::read_problem(file, kind);
            io::SolveRow row;
            if (interrupt_asked() || !finishes([&] { row = io::solve_problem(problem, options); })) {
                write(c, rows, out.get(), {c.files.begin() + static_cast<std::ptrdiff_t>(k), c.files.end()});
                tell("saltus: " + interrupt_reason() + "; not solved: '" + file + "' and the files after it");
                abandon(interrupted);
            }
            rows.push_back(std::move(row));
            const solvers::Status s = rows.back().solution.status;
            rows.back().interrupted = s == solvers::Status::limit && interrupt_asked();
            if (rows.back().interrupted && status == done) status = interrupted;
            if (s != solvers::Status::converged && s != solvers::Status::infeasible && status == done) status = failed;
        } catch (const Error& e) {
            report(e);
            status = bad_input;
        } catch (const std::bad_alloc&) {
            report(Error("there is not enough memory for this problem", {file, 0, 0}));
            if (status == done) status = failed;
        }
    }
    write(c, rows, out.get());
    return status;
}

}  // namespace saltus::cli
