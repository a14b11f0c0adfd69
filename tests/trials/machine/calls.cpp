// SPDX-License-Identifier: Apache-2.0
#include "machine/calls.hpp"

#include <fmt/format.h>

namespace trials {

bool call(const Program& program, const std::vector<std::string>& words, int cpu_seconds, nlohmann::json& document,
          Findings& findings) {
    const Run run = program.run(words, cpu_seconds);
    const std::string command = words.front();
    findings.check(!run.timed_out, "time-out", [&] {
        return fmt::format("saltus {} does not end within {} s of computing time", command, cpu_seconds);
    });
    if (run.timed_out) return false;
    const bool documented = run.code == 0 || run.code == 2 || run.code == 3;
    findings.check(documented, "crash", [&] {
        return fmt::format("saltus {} ends with {}: {}", command, run.code, run.err.substr(0, 300));
    });
    if (!documented) return false;
    if (run.code == 2) {
        ++findings.refused;
        return false;
    }
    document = nlohmann::json::parse(run.out, nullptr, false);
    findings.check(!document.is_discarded(), "document",
                   [&] { return fmt::format("saltus {} prints no JSON document", command); });
    return !document.is_discarded();
}

}  // namespace trials
