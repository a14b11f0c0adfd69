// SPDX-License-Identifier: Apache-2.0
#include "machine/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <mutex>
#include <thread>

#include "machine/judge_basin.hpp"
#include "machine/judge_belt.hpp"
#include "machine/judge_certificate.hpp"
#include "machine/judge_equilibria.hpp"
#include "machine/judge_flow.hpp"
#include "machine/judge_impact.hpp"
#include "machine/judge_motion.hpp"
#include "machine/judge_penalty.hpp"
#include "machine/judge_sensitivity.hpp"
#include "machine/judge_solve.hpp"
#include "machine/judge_stepping.hpp"
#include "machine/random_models.hpp"
#include "machine/reduce.hpp"

namespace trials {

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = [] {
        std::vector<Kind> list;
        const auto add = [&](const std::string& question, const std::vector<Generator>& generators, const auto& judge) {
            for (const Generator& generator : generators)
                list.push_back({question + "-" + generator.name, generator.make, judge});
        };
        add("motion", motion_generators(), judge_motion);
        add("motion", joint_generators(), judge_motion);
        add("motion", law_generators(), judge_motion);
        add("motion", belt_motion_generators(), judge_motion);
        for (const auto* generators :
             {&velocity_constraint_generators(), &conditional_generators(), &mixed_generators()}) {
            add("motion", *generators, judge_motion);
            add("sensitivity", *generators, judge_sensitivity);
            add("moreau", *generators, judge_moreau);
        }
        for (const auto* generators : {&jump_generators(), &static_friction_generators(), &accumulation_generators()}) {
            add("motion", *generators, judge_motion);
            add("flow", *generators, judge_flow);
            add("sensitivity", *generators, judge_sensitivity);
            add("moreau", *generators, judge_moreau);
        }
        add("flow", sprung_reset_generators(), judge_flow);
        add("device", basin_generators(), judge_device);
        add("event-device", basin_generators(), judge_event_device);
        add("orbit", orbit_generators(), judge_orbit);
        add("continue", orbit_generators(), judge_continue);
        add("continue", rest_over_generators(), judge_equilibria_over);
        add("diagram", excited_orbit_generators(), judge_diagram);
        add("penalty", penalty_generators(), judge_penalty);
        add("equilibria", equilibrium_generators(), judge_equilibria);
        add("certify", certificate_generators(), judge_certificate);
        add("belts", belt_generators(), judge_belt);
        add("sensitivity", motion_generators(), judge_sensitivity);
        add("sensitivity", joint_generators(), judge_sensitivity);
        add("sensitivity", law_generators(), judge_sensitivity);
        add("sensitivity", belt_motion_generators(), judge_sensitivity);
        add("basin", basin_generators(), judge_basin);
        add("impact", collision_generators(), judge_impact);
        add("moreau", motion_generators(), judge_moreau);
        add("moreau", joint_generators(), judge_moreau);
        add("moreau", belt_motion_generators(), judge_moreau);
        add("solve", problem_generators(), judge_solve);
        return list;
    }();
    return all;
}

Model trial_model(const Kind& kind, std::uint64_t seed, long index) {
    std::uint64_t mixed = seed * 1000003ULL + static_cast<std::uint64_t>(index);
    for (const char letter : kind.name) mixed = mixed * 131ULL + static_cast<unsigned char>(letter);
    Random random(mixed);
    Model model = kind.make(random);
    model.name = fmt::format("{} {}-{}", kind.name, seed, index);
    return model;
}

namespace {

using Clock = std::chrono::steady_clock;

std::vector<Kind> selected(const std::string& text) {
    std::vector<Kind> result;
    for (const Kind& kind : kinds())
        if (kind.name.find(text) != std::string::npos) result.push_back(kind);
    return result;
}

/// A document without the keys that the documentation promises is a violation as well.
Findings judged(const Kind& kind, const Model& model, const Program& program) {
    try {
        return kind.judge(model, program);
    } catch (const nlohmann::json::exception& error) {
        Findings findings;
        findings.check(false, "document",
                       [&] { return std::string("the document is not as documented: ") + error.what(); });
        return findings;
    }
}

/// Reduces a failure and writes it; returns the file.
std::string write_failure(const Kind& kind, const Model& model, const Violation& violation, const Program& program,
                          const CampaignOptions& options) {
    const auto fails_alike = [&](const Model& candidate) -> std::string {
        for (const Violation& v : judged(kind, candidate, program).violations)
            if (v.sort == violation.sort) return v.text;
        return "";
    };
    Model smallest = model;
    std::string text = violation.text;
    if (options.reduce && violation.sort != "time-out") smallest = reduce(model, fails_alike, text);
    std::string name = model.name;
    for (char& letter : name)
        if (letter == ' ') letter = '-';
    const auto file = options.out / fmt::format("{}-{}.toml", name, violation.sort);
    std::ofstream(file) << smallest.toml(violation.sort + ": " + text);
    return file.string();
}

constexpr int files_per_sort = 3;  // failures of one kind and sort that are reduced and written; others are counted

/// Which kind comes next, and how many of its models were begun.
class Order {
public:
    Order(std::size_t kinds, bool equal_time) : shares_(kinds), equal_time_(equal_time) {}

    struct Turn {
        std::size_t kind;
        long index;   ///< of the model, from 0
        long number;  ///< of the trial, from 0
    };
    Turn next() {
        const std::scoped_lock lock(mutex_);
        const auto number = begun_++;
        const std::size_t kind = equal_time_ ? least_used() : static_cast<std::size_t>(number) % shares_.size();
        return {kind, shares_[kind].begun++, number};
    }
    void ended(std::size_t kind, double seconds) {
        const std::scoped_lock lock(mutex_);
        ++shares_[kind].ended;
        shares_[kind].seconds += seconds;
    }

private:
    struct Share {
        long begun = 0, ended = 0;
        double seconds = 0.0;  ///< computing time of the models that ended
    };
    /// The kind with the least computing time. A model that still runs counts as much as the mean of those that ended.
    std::size_t least_used() const {
        const auto expected = [](const Share& share) {
            constexpr double first_guess = 0.1;  // s for a model, until one of the kind has ended
            const auto mean = share.ended > 0 ? share.seconds / static_cast<double>(share.ended) : first_guess;
            return mean * static_cast<double>(share.begun);
        };
        return static_cast<std::size_t>(std::ranges::min_element(shares_, {}, expected) - shares_.begin());
    }

    std::vector<Share> shares_;
    bool equal_time_;
    long begun_ = 0;
    std::mutex mutex_;
};

struct Shared {
    std::map<std::string, int> written;  ///< files by kind and sort
    std::map<std::string, Tally> tallies;
    std::mutex mutex;
    Clock::time_point table_written = Clock::now();
};

/// Writes the table so far to `table.txt` once a minute, so that a run which is ended keeps its numbers.
void write_table(const CampaignOptions& options, Shared& shared) {
    const std::scoped_lock lock(shared.mutex);
    if (Clock::now() - shared.table_written < std::chrono::minutes(1)) return;
    shared.table_written = Clock::now();
    std::ofstream(options.out / "table.txt") << report(shared.tallies);
}

/// Computing time of this thread, in s.
double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void work(const CampaignOptions& options, const std::vector<Kind>& chosen, Clock::time_point end, int worker,
          Order& order, Shared& shared) {
    const Program program(options.saltus, options.out / fmt::format("worker{}", worker));
    while (Clock::now() < end) {
        const Order::Turn turn = order.next();
        if (options.models > 0 && turn.number >= options.models) return;
        const Kind& kind = chosen[turn.kind];
        const Model model = trial_model(kind, options.seed, options.first + turn.index);
        const double program_before = program.cpu_seconds(), judge_before = thread_seconds();
        Findings findings = judged(kind, model, program);
        const double judge_seconds = thread_seconds() - judge_before;
        const double program_seconds = program.cpu_seconds() - program_before;
        order.ended(turn.kind, program_seconds + judge_seconds);
        // One violation a model: the first. Others of the same model usually have the same cause.
        if (findings.violations.size() > 1) findings.violations.resize(1);
        bool writes = false;
        {
            const std::scoped_lock lock(shared.mutex);
            Tally& tally = shared.tallies[kind.name];
            // A model about which nothing was said does not count.
            const long answers = findings.statements + findings.not_judged + findings.refused;
            if (answers > 0 || !findings.violations.empty()) ++tally.models;
            tally.findings += findings;
            tally.program_seconds += program_seconds;
            tally.judge_seconds += judge_seconds;
            writes = !findings.violations.empty() &&
                     shared.written[kind.name + findings.violations[0].sort]++ < files_per_sort;
        }
        write_table(options, shared);
        if (!writes) continue;
        const std::string file = write_failure(kind, model, findings.violations[0], program, options);
        const std::scoped_lock lock(shared.mutex);
        shared.tallies[kind.name].files.push_back(file);
        fmt::print("{}\n  {}\n", file, findings.violations[0].text);
        std::fflush(stdout);
    }
}

}  // namespace

std::map<std::string, Tally> run_campaign(const CampaignOptions& options) {
    std::filesystem::create_directories(options.out);
    Shared shared;
    const std::vector<Kind> chosen = selected(options.kind);
    if (chosen.empty()) return {};
    const auto end = Clock::now() +
                     std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(60.0 * options.minutes));
    Order order(chosen.size(), options.equal_time);
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < options.threads; ++worker)
        threads.emplace_back([&, worker] { work(options, chosen, end, worker, order, shared); });
    threads.clear();
    std::ofstream(options.out / "table.txt") << report(shared.tallies);
    return shared.tallies;
}

std::string report(const std::map<std::string, Tally>& tallies) {
    std::string text = fmt::format("{:<28}{:>9}{:>13}{:>13}{:>10}{:>12}{:>12}{:>10}\n", "kind", "models", "statements",
                                   "not judged", "refused", "violations", "program ms", "judge ms");
    Tally all;
    const auto line = [&](const std::string& name, const Tally& tally) {
        const double per_model = 1e3 / static_cast<double>(std::max(tally.models, 1L));
        text += fmt::format("{:<28}{:>9}{:>13}{:>13}{:>10}{:>12}{:>12.0f}{:>10.0f}\n", name, tally.models,
                            tally.findings.statements, tally.findings.not_judged, tally.findings.refused,
                            tally.findings.violations.size(), per_model * tally.program_seconds,
                            per_model * tally.judge_seconds);
    };
    for (const auto& [name, tally] : tallies) {
        line(name, tally);
        all.models += tally.models;
        all.findings += tally.findings;
        all.program_seconds += tally.program_seconds;
        all.judge_seconds += tally.judge_seconds;
    }
    line("all", all);
    return text;
}

}  // namespace trials
