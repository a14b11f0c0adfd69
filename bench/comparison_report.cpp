// SPDX-License-Identifier: Apache-2.0
#include "comparison_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>

namespace saltus::bench {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

using Accept = std::function<bool(const Run&)>;

const Run* fastest(const Comparison& c, double target, const Accept& accept) {
    const Run* best = nullptr;
    for (const Run& run : c.runs) {
        const bool solved = accept(run) && run.end == End::answered && run.residual <= target;
        if (solved && (!best || run.seconds < best->seconds)) best = &run;
    }
    return best;
}

const Run* fastest(const Comparison& c, double target, const std::string& solver) {
    return fastest(c, target, [&](const Run& run) { return run.solver == solver; });
}

const Run* fastest_peer(const Comparison& c, double target) {
    return fastest(c, target, [](const Run& run) { return run.solver != ours; });
}

double time_or_never(const Run* run) { return run ? run->seconds : never; }

std::string text_of_time(double seconds) {
    char text[32];
    if (seconds < 1e-3)
        std::snprintf(text, sizeof text, "%.1f us", 1e6 * seconds);
    else if (seconds < 1.0)
        std::snprintf(text, sizeof text, "%.2f ms", 1e3 * seconds);
    else
        std::snprintf(text, sizeof text, "%.2f s", seconds);
    return text;
}

/// The ratio of the time of Siconos to ours, or the name of the only one that solves the problem.
std::string text_of_ratio(const Comparison& c, double target) {
    const Run *mine = fastest(c, target, ours), *peer = fastest_peer(c, target);
    if (!mine || !peer) return mine ? "ours only" : peer ? "theirs only" : "neither";
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", peer->seconds / mine->seconds);
    return text;
}

/// The run of Saltus to show: one that solves the problem, or else the one with the tightest tolerance.
const Run* shown(const Comparison& c, double target) {
    if (const Run* solved = fastest(c, target, ours)) return solved;
    const Run* tightest = nullptr;
    for (const Run& run : c.runs)
        if (run.solver == ours && (!tightest || run.tolerance < tightest->tolerance)) tightest = &run;
    return tightest;
}

std::vector<std::string> distinct(const std::vector<Comparison>& all,
                                  const std::function<void(const Comparison&, std::vector<std::string>&)>& list) {
    std::vector<std::string> names, candidates;
    for (const Comparison& c : all) {
        candidates.clear();
        list(c, candidates);
        for (const std::string& name : candidates)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

std::vector<std::string> families(const std::vector<Comparison>& all) {
    return distinct(all, [](const Comparison& c, std::vector<std::string>& out) { out.push_back(c.family); });
}

std::vector<std::string> solvers(const std::vector<Comparison>& all) {
    return distinct(all, [](const Comparison& c, std::vector<std::string>& out) {
        for (const Run& run : c.runs) out.push_back(run.solver);
    });
}

std::vector<Comparison> of_family(const std::vector<Comparison>& all, const std::string& family) {
    std::vector<Comparison> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some),
                 [&](const Comparison& c) { return c.family == family; });
    return some;
}

void print_ratios(const std::vector<Comparison>& all, double target) {
    int both = 0, mine_only = 0, peer_only = 0, slower = 0;
    double logarithms = 0.0, worst = never;
    std::string worst_name;
    for (const Comparison& c : all) {
        const Run *mine = fastest(c, target, ours), *peer = fastest_peer(c, target);
        mine_only += mine && !peer;
        peer_only += peer && !mine;
        if (!mine || !peer) continue;
        const double ratio = peer->seconds / mine->seconds;
        ++both;
        slower += ratio < 1.0;
        logarithms += std::log(ratio);
        if (ratio < worst) worst = ratio, worst_name = c.name;
    }
    std::printf("to %.0e: both %d, ours only %d, theirs only %d", target, both, mine_only, peer_only);
    if (both > 0)
        std::printf("; best of Siconos over ours: geometric mean %.2f, worst %.2f (%s), below 1 in %d",
                    std::exp(logarithms / both), worst, worst_name.c_str(), slower);
    std::printf("\n");
}

void print_solved(const std::vector<Comparison>& some, const Targets& targets) {
    for (const std::string& solver : solvers(some)) {
        const auto solved = [&](double target) {
            return std::count_if(some.begin(), some.end(),
                                 [&](const Comparison& c) { return fastest(c, target, solver) != nullptr; });
        };
        std::printf("  %-14s %3td %3td\n", solver.c_str(), solved(targets.tight), solved(targets.loose));
    }
}

constexpr std::array factors{1.0, 1.25, 2.0, 4.0, 10.0, 100.0, 1000.0};

/// One row of a performance profile: the share of problems with time <= factor × the fastest of all.
void print_profile_row(const std::string& name, const std::vector<double>& times, const std::vector<double>& best) {
    std::printf("  %-16s", name.c_str());
    for (const double factor : factors) {
        int within = 0, solvable = 0;
        for (std::size_t k = 0; k < best.size(); ++k) {
            if (best[k] == never) continue;
            ++solvable;
            within += times[k] <= factor * best[k];
        }
        std::printf(" %6.2f", solvable > 0 ? static_cast<double>(within) / solvable : 0.0);
    }
    std::printf("\n");
}

std::vector<double> times(const std::vector<Comparison>& some, const std::function<const Run*(const Comparison&)>& of) {
    std::vector<double> result;
    for (const Comparison& c : some) result.push_back(time_or_never(of(c)));
    return result;
}

void print_profile(const std::string& title, const std::vector<Comparison>& some, double target, bool every_solver) {
    std::printf("\n%s, to %.0e: share of problems within a factor of the fastest\n  %-16s", title.c_str(), target, "");
    for (const double factor : factors) std::printf(" %6g", factor);
    std::printf("\n");
    const auto best =
        times(some, [&](const Comparison& c) { return fastest(c, target, [](const Run&) { return true; }); });
    const auto row = [&](const std::string& name) {
        print_profile_row(name, times(some, [&](const Comparison& c) { return fastest(c, target, name); }), best);
    };
    if (every_solver)
        for (const std::string& solver : solvers(some)) row(solver);
    else
        row(ours);
    print_profile_row("best of Siconos", times(some, [&](const Comparison& c) { return fastest_peer(c, target); }),
                      best);
}

const char* text_of_end(End end) {
    switch (end) {
        case End::answered: return "answered";
        case End::out_of_time: return "out of time";
        case End::crashed: return "crashed";
    }
    return "";
}

}  // namespace

void print_heading(const Targets& targets) {
    std::printf("%-42s %-8s %6s | %10s %8s %-14s | %-14s %10s | %11s %11s\n", "problem", "family", "size", "ours",
                "residual", "method", "best Siconos", "time", "ratio", "ratio");
    std::printf("%-42s %-8s %6s | %10s %8s %-14s | %-14s %10s | %11.0e %11.0e\n", "", "", "", "", "", "", "", "",
                targets.tight, targets.loose);
}

void print_line(const Comparison& c, const Targets& targets) {
    const Run *mine = shown(c, targets.tight), *peer = fastest_peer(c, targets.tight);
    std::printf("%-42s %-8s %6d | ", c.name.c_str(), c.family.c_str(), c.size);
    if (mine && mine->end == End::answered)
        std::printf("%10s %8.1e %-14s | ", text_of_time(mine->seconds).c_str(), mine->residual, mine->note.c_str());
    else
        std::printf("%10s %8s %-14s | ", "-", "-", mine ? text_of_end(mine->end) : "");
    std::printf("%-14s %10s | %11s %11s\n", peer ? peer->solver.c_str() : "none",
                peer ? text_of_time(peer->seconds).c_str() : "-", text_of_ratio(c, targets.tight).c_str(),
                text_of_ratio(c, targets.loose).c_str());
    std::fflush(stdout);
}

void print_summary(const std::vector<Comparison>& all, const Targets& targets) {
    std::printf("\nproblems solved to %.0e and to %.0e\n", targets.tight, targets.loose);
    for (const std::string& family : families(all)) {
        const auto some = of_family(all, family);
        std::printf("%s, %zu problems\n", family.c_str(), some.size());
        print_solved(some, targets);
        for (const double target : {targets.tight, targets.loose}) print_ratios(some, target);
    }
    std::printf("\nall families, %zu problems\n", all.size());
    for (const double target : {targets.tight, targets.loose}) print_ratios(all, target);
    for (const double target : {targets.tight, targets.loose}) {
        for (const std::string& family : families(all)) print_profile(family, of_family(all, family), target, true);
        print_profile("all families", all, target, false);
    }
}

void write_csv(const std::string& file, const std::vector<Comparison>& all) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "w"), &std::fclose);
    if (!out) {
        std::fprintf(stderr, "%s cannot be written\n", file.c_str());
        return;
    }
    std::fprintf(out.get(), "problem,family,size,solver,tolerance,end,seconds,residual,note\n");
    for (const Comparison& c : all)
        for (const Run& run : c.runs)
            std::fprintf(out.get(), "%s,%s,%d,%s,%.0e,%s,%.9g,%.6g,%s\n", c.name.c_str(), c.family.c_str(), c.size,
                         run.solver.c_str(), run.tolerance, text_of_end(run.end), run.seconds, run.residual,
                         run.note.c_str());
}

}  // namespace saltus::bench
