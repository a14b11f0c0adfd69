// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/certificate.hpp"

#include <algorithm>

#include "saltus/base/text.hpp"

namespace saltus::proof {

const char* to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::proved: return "proved";
        case Verdict::holds: return "holds";
        case Verdict::fails: return "fails";
        case Verdict::assumed: return "assumed";
    }
    return "";
}

const char* to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::attractive: return "attractive";
        case Outcome::unstable: return "unstable";
        case Outcome::stable: return "stable";
        case Outcome::inconclusive: return "inconclusive";
    }
    return "";
}

const char* to_string(Grade grade) { return grade == Grade::proved ? "proved" : "numerical"; }

bool none_fails(const std::vector<Condition>& conditions) {
    return std::none_of(conditions.begin(), conditions.end(),
                        [](const Condition& c) { return c.verdict == Verdict::fails; });
}

Grade grade_of(const std::vector<Condition>& conditions) {
    const bool proved = std::all_of(conditions.begin(), conditions.end(), [](const Condition& c) {
        return c.verdict == Verdict::proved || c.verdict == Verdict::assumed;
    });
    return proved ? Grade::proved : Grade::numerical;
}

std::string failure_summary(const std::vector<Condition>& conditions) {
    std::vector<std::string> failing;
    for (const Condition& c : conditions)
        if (c.verdict == Verdict::fails) failing.push_back(c.id);
    if (failing.empty()) return "";
    return "condition" + std::string(failing.size() > 1 ? "s " : " ") + listing(failing) +
           (failing.size() > 1 ? " fail" : " fails");
}

}  // namespace saltus::proof
