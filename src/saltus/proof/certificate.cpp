// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/certificate.hpp"

#include <algorithm>

#include "saltus/base/text.hpp"

namespace saltus::proof {

const char* to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::proved: return "proved";
        case Verdict::numerical: return "numerical";
        case Verdict::assumed: return "assumed";
        case Verdict::not_examined: return "not examined";
        case Verdict::fails: return "fails";
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

const char* to_string(Grade grade) {
    switch (grade) {
        case Grade::proved: return "proved";
        case Grade::numerical: return "numerical";
        case Grade::not_examined: return "not examined";
    }
    return "";
}

namespace {

bool any_is(const std::vector<Condition>& conditions, Verdict verdict) {
    return std::any_of(conditions.begin(), conditions.end(),
                       [verdict](const Condition& c) { return c.verdict == verdict; });
}

/// "condition 4 fails", "conditions 2 and 4 fail"; empty if no condition has the verdict.
std::string sentence_about(const std::vector<Condition>& conditions, Verdict verdict, const char* one,
                           const char* several) {
    std::vector<std::string> ids;
    for (const Condition& c : conditions)
        if (c.verdict == verdict) ids.push_back(c.id);
    if (ids.empty()) return "";
    return (ids.size() > 1 ? "conditions " : "condition ") + listing(ids) + (ids.size() > 1 ? several : one);
}

}  // namespace

bool all_hold(const std::vector<Condition>& conditions) {
    return !any_is(conditions, Verdict::fails) && !any_is(conditions, Verdict::not_examined);
}

Grade grade_of(const std::vector<Condition>& conditions) {
    if (any_is(conditions, Verdict::not_examined)) return Grade::not_examined;
    return any_is(conditions, Verdict::numerical) || any_is(conditions, Verdict::fails) ? Grade::numerical
                                                                                        : Grade::proved;
}

std::vector<std::string> assumptions_of(const std::vector<Condition>& conditions, const std::string& word) {
    std::vector<std::string> names;
    for (const Condition& c : conditions)
        if (c.verdict == Verdict::assumed) names.push_back(word + " " + c.id + ": " + c.text);
    return names;
}

std::string failure_summary(const std::vector<Condition>& conditions) {
    const std::string failing = sentence_about(conditions, Verdict::fails, " fails", " fail");
    const std::string open = sentence_about(conditions, Verdict::not_examined, " is not examined", " are not examined");
    return failing + (failing.empty() || open.empty() ? "" : "; ") + open;
}

}  // namespace saltus::proof
