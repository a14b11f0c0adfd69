// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/solve_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/solvers/complementarity/complementarity.hpp"
#include "saltus/solvers/complementarity/lemke.hpp"
#include "saltus/solvers/friction/friction.hpp"
#include "saltus/solvers/friction/planar.hpp"

namespace saltus::io {

using json::Json;

namespace {

/// Throws Error: the method does not solve problems of this kind.
[[noreturn]] void refuse_method(const std::string& method, const std::vector<std::string>& allowed,
                                const std::string& what) {
    throw Error("method '" + method + "' does not solve " + what, {}, "allowed are " + listing(allowed));
}

solvers::Solution solve(const solvers::FrictionProblem& p, const SolveOptions& o) {
    using namespace solvers;
    if (o.method == "automatic") return solvers::solve(p, Automatic{.tolerance = o.tolerance, .seconds = o.seconds});
    if (o.method == "gauss-seidel") {
        GaussSeidel m;
        m.tolerance = o.tolerance;
        return solvers::solve(p, m);
    }
    if (o.method == "newton") {
        Newton m;
        m.tolerance = o.tolerance;
        return solvers::solve(p, m);
    }
    if (o.method == "proximal") {
        Proximal m;
        m.tolerance = o.tolerance;
        return solvers::solve(p, m);
    }
    if (o.method == "lemke") {
        if (!PlanarComplementarity::of(p))
            throw Error("method 'lemke' does not solve this friction problem", {},
                        "it needs planar contacts and bilateral rows that can be eliminated");
        return solvers::solve(p, Lemke{0, o.tolerance});
    }
    refuse_method(o.method, {"automatic", "gauss-seidel", "newton", "proximal", "lemke (planar only)"},
                  "friction problems");
}

template <class Complementarity>
solvers::Solution solve(const Complementarity& p, const SolveOptions& o) {
    solvers::AutomaticComplementarity automatic;
    automatic.tolerance = o.tolerance;
    if (o.method == "automatic") return solvers::solve(p, automatic);
    if constexpr (std::is_same_v<Complementarity, solvers::LinearComplementarity>)
        if (o.method == "lemke") return solvers::solve(p, solvers::Lemke{0, o.tolerance});
    refuse_method(o.method, {"automatic", "lemke (lcp only)"}, "complementarity problems");
}

/// Whether the unknowns are reactions of contacts.
bool is_contact_problem(ProblemKind kind) {
    return kind == ProblemKind::fc || kind == ProblemKind::gfc || kind == ProblemKind::rfc || kind == ProblemKind::grfc;
}

}  // namespace

SolveRow solve_problem(const ContactProblem& problem, const SolveOptions& options) {
    SolveRow row;
    row.file = problem.file;
    row.kind = problem.kind;
    row.contacts = problem.contacts;
    const auto start = std::chrono::steady_clock::now();
    std::visit(
        [&](const auto& p) {
            row.rows = static_cast<int>(p.q.size());
            row.solution = solve(p, options);
        },
        problem.problem);
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (const auto* p = std::get_if<solvers::FrictionProblem>(&problem.problem); p != nullptr && options.all)
        row.all = solvers::all_solutions(*p);
    return row;
}

std::string solve_text(const std::vector<SolveRow>& rows) {
    std::size_t width = 4;
    for (const SolveRow& r : rows) width = std::max(width, r.file.size());
    std::string text = fmt::format("{:<{}}  {:<5} {:>8} {:>6}  {:<12} {:<16} {:>9} {:>10} {:>9}\n", "file", width,
                                   "kind", "contacts", "rows", "method", "status", "residual", "iterations", "seconds");
    for (const SolveRow& r : rows)
        text +=
            fmt::format("{:<{}}  {:<5} {:>8} {:>6}  {:<12} {:<16} {:>9.2e} {:>10} {:>9.4f}\n", r.file, width,
                        to_string(r.kind), r.contacts, r.rows, r.solution.method, solvers::to_string(r.solution.status),
                        r.solution.residual, r.solution.iterations, r.seconds);
    for (const SolveRow& r : rows)
        if (r.all)
            text += r.all->modes == 0
                        ? fmt::format("{}: not planar or too large; not all solutions were searched\n", r.file)
                        : fmt::format("{}: {} solution{}{} in {} modes\n", r.file, r.all->r.size(),
                                      r.all->r.size() == 1 ? "" : "s",
                                      r.all->complete ? ", no others," : ", perhaps others,", r.all->modes);
    return text;
}

std::string solve_json(const std::vector<SolveRow>& rows, Timing timing, const std::vector<std::string>& not_solved) {
    Json list = Json::array();
    for (const SolveRow& r : rows) {
        Json attempts = Json::array();
        for (const solvers::Attempt& a : r.solution.attempts)
            attempts.push_back({{"method", a.method}, {"iterations", a.iterations}, {"residual", a.residual}});
        Json j{{"file", r.file},
               {"kind", to_string(r.kind)},
               {"contacts", r.contacts},
               {"rows", r.rows},
               {"method", r.solution.method},
               {"status", r.interrupted ? "interrupted" : solvers::to_string(r.solution.status)},
               {"residual", r.solution.residual},
               {"iterations", r.solution.iterations},
               {"attempts", std::move(attempts)}};
        if (timing == Timing::included) j["seconds"] = r.seconds;
        // Reactions and velocities in the order of the rows of the problem; z and w of a complementarity problem.
        const bool contact = is_contact_problem(r.kind);
        j[contact ? "r" : "z"] = r.solution.r;
        j[contact ? "v" : "w"] = r.solution.v;
        if (!r.solution.certificate.empty()) j["certificate"] = r.solution.certificate;
        if (r.all) j["solutions"] = {{"r", r.all->r}, {"complete", r.all->complete}, {"modes", r.all->modes}};
        list.push_back(std::move(j));
    }
    for (const std::string& file : not_solved) list.push_back({{"file", file}, {"status", "interrupted"}});
    return json::document(list);
}

}  // namespace saltus::io
