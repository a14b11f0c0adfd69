// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// Each level that is tried uses at most this number of boxes. About 40 levels are tried; a smaller number lowers the
/// level that is found and never proves something false.
constexpr long max_probing_boxes = 2000;

}  // namespace

Condition below_largest_level(const ConditionScope& scope, LevelPart& part,
                              const std::function<Condition(const ConditionScope&)>& condition) {
    Condition whole = condition(scope);
    if (whole.verdict == Verdict::proved || !(scope.cap > 0.0)) return whole;
    ConditionScope lower = scope;
    lower.probing = true;
    lower.budget = std::min(scope.budget, max_probing_boxes);
    const auto below = [&](double level) {
        lower.cap = level;
        lower.kinetic = std::min(scope.kinetic, level);
        return condition(lower);
    };
    const double level =
        largest_level(scope.cap, std::min(scope.cap, energy_scale(scope.enclosure(), scope.equilibrium)),
                      [&](double c) { return c < scope.cap && below(c).verdict == Verdict::proved; });
    if (!(level > 0.0)) return whole;
    part.value = part.verified = level;
    Condition row = below(level);
    row.evidence += "; proved for V < " + number(level);
    return row;
}

}  // namespace saltus::stability
