// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/section_passages.hpp"

#include <limits>

namespace saltus::integrate {

namespace {

/// The least number at which s is not negative any more, between `low` with s < 0 and `high` with s >= 0: by secants,
/// where a bound that stays counts half (Illinois), and by bisection now and then.
template <class Function>
double rising_zero(const Function& s, double low, double at_low, double high, double at_high) {
    constexpr int most = 200;  // evaluations; every fourth one halves the bracket
    int side = 0;              // the bound that the last secant moved: −1 low, 1 high, 0 none yet
    for (int k = 0; k < most; ++k) {
        const double middle = 0.5 * (low + high);
        if (!(low < middle && middle < high)) break;
        double next = k % 4 == 3 ? middle : low + (high - low) * (at_low / (at_low - at_high));
        // A secant that ends at a bound leaves the other one where it is: go a little farther.
        const double little = 1e-3 * (high - low);
        if (!(next > low && next < high)) next = side > 0 ? high - little : low + little;
        if (!(next > low && next < high)) next = middle;
        const double value = s(next);
        if (value < 0.0) {
            low = next, at_low = value;
            if (side == -1) at_high *= 0.5;
            side = -1;
        } else {
            high = next, at_high = value;
            if (side == 1) at_low *= 0.5;
            side = 1;
            if (value == 0.0) at_high = std::numeric_limits<double>::min();
        }
    }
    return high;
}

}  // namespace

void section_passages_on_steps(const std::vector<trajectory::Arc>& arcs, std::size_t coordinates,
                               const std::function<double(const ode::Dense& step, double t)>& section,
                               const std::function<void(double t, std::span<const double> x)>& take) {
    constexpr int passage_samples = 4;  // of a part of a step
    std::vector<double> x(2 * coordinates);
    for (const trajectory::Arc& arc : arcs)
        for (const ode::Dense& step : arc.steps) {
            const auto at = [&](double t) { return section(step, t); };
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end)) {
                double from = part.from, before = at(from);
                for (int k = 1; k <= passage_samples; ++k) {
                    const double to =
                        k == passage_samples ? part.to : part.from + (part.to - part.from) * k / passage_samples;
                    const double after = at(to);
                    if (before < 0.0 && after >= 0.0) {
                        const double zero = rising_zero(at, from, before, to, after);
                        step.evaluate(zero, x.data(), static_cast<int>(x.size()));
                        take(zero, x);
                    }
                    from = to;
                    before = after;
                }
            }
        }
}

void section_passages(const std::vector<trajectory::Arc>& arcs, std::size_t coordinates,
                      const std::function<double(std::span<const double> x)>& section,
                      const std::function<void(double t, std::span<const double> x)>& take) {
    std::vector<double> x(2 * coordinates);
    section_passages_on_steps(
        arcs, coordinates,
        [&](const ode::Dense& step, double t) {
            step.evaluate(t, x.data(), static_cast<int>(x.size()));
            return section(x);
        },
        take);
}

}  // namespace saltus::integrate
