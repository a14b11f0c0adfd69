// SPDX-License-Identifier: Apache-2.0
//
// trials --minutes 30 --seed 1 [--kind K] [--first I] [--models N] [--threads N] [--saltus PATH] [--out DIR]
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include "machine/campaign.hpp"

namespace {

constexpr const char* usage =
    "trials [--minutes M] [--seed N] [--kind K] [--models N] [--threads N] [--saltus PATH] [--out DIR] [--no-reduce] "
    "[--equal-time] [--print]\n"
    "Random models against independent judges; docs/trust.md explains both.\n"
    "  --kind K    only kinds whose name contains K; --kind list shows the names\n"
    "  --first I   begin with model I of each kind: with --models 1 and --kind it repeats one trial\n"
    "  --equal-time  all kinds get the same computing time; otherwise the same number of models\n"
    "  --print     print the model files instead of judging them\n"
    "Exit code 0: no violation, 1: violations, 2: wrong arguments.\n";

std::map<std::string, std::string> read_arguments(int count, char** words) {
    std::map<std::string, std::string> result;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--no-reduce" || word == "--equal-time" || word == "--print")
            result[word] = "yes";
        else if (i + 1 < count)
            result[word] = words[++i];
        else
            result["--help"] = "yes";
    }
    return result;
}

int list_kinds() {
    for (const trials::Kind& kind : trials::kinds()) fmt::print("{}\n", kind.name);
    return 0;
}

int print_models(const trials::CampaignOptions& options) {
    for (const trials::Kind& kind : trials::kinds())
        if (kind.name.find(options.kind) != std::string::npos)
            for (long i = 0; i < std::max(options.models, 1L); ++i)
                fmt::print("{}\n", trials::trial_model(kind, options.seed, options.first + i).toml());
    return 0;
}

}  // namespace

int main(int count, char** words) {
    auto arguments = read_arguments(count, words);
    const auto take = [&](const std::string& name, const std::string& otherwise) {
        const auto found = arguments.extract(name);
        return found.empty() ? otherwise : found.mapped();
    };
    trials::CampaignOptions options;
    options.minutes = std::stod(take("--minutes", "1"));
    options.seed = std::stoull(take("--seed", "1"));
    options.models = std::stol(take("--models", "0"));
    options.first = std::stol(take("--first", "0"));
    options.kind = take("--kind", "");
    options.threads = std::stoi(take("--threads", std::to_string(std::max(1U, std::thread::hardware_concurrency()))));
    options.saltus = take("--saltus", "build/saltus");
    options.out = take("--out", "build/trials-out");
    options.reduce = take("--no-reduce", "no") == "no";
    options.equal_time = take("--equal-time", "no") == "yes";
    const bool print = take("--print", "no") == "yes";
    if (!arguments.empty()) {
        std::cerr << usage;
        return 2;
    }
    if (options.kind == "list") return list_kinds();
    if (print) return print_models(options);
    const auto tallies = trials::run_campaign(options);
    std::cout << trials::report(tallies);
    long violations = 0;
    for (const auto& [name, tally] : tallies) violations += static_cast<long>(tally.findings.violations.size());
    return violations > 0 ? 1 : 0;
}
