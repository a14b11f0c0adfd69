// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/section_passages.hpp"

namespace saltus::integrate {

void section_passages(const std::vector<trajectory::Arc>& arcs, std::size_t coordinates,
                      const std::function<double(std::span<const double> x)>& section,
                      const std::function<void(double t, std::span<const double> x)>& take) {
    constexpr int passage_samples = 4;  // of a part of a step
    constexpr int bisections = 60;      // to rounding
    std::vector<double> x(2 * coordinates);
    for (const trajectory::Arc& arc : arcs)
        for (const ode::Dense& step : arc.steps) {
            const auto at = [&](double t) {
                step.evaluate(t, x.data(), static_cast<int>(x.size()));
                return section(x);
            };
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end)) {
                double from = part.from, before = at(from);
                for (int k = 1; k <= passage_samples; ++k) {
                    const double to =
                        k == passage_samples ? part.to : part.from + (part.to - part.from) * k / passage_samples;
                    const double after = at(to);
                    if (before < 0.0 && after >= 0.0) {
                        double low = from, high = to;
                        for (int b = 0; b < bisections && low < high; ++b) {
                            const double middle = 0.5 * (low + high);
                            (at(middle) < 0.0 ? low : high) = middle;
                        }
                        at(high);
                        take(high, x);
                    }
                    from = to;
                    before = after;
                }
            }
        }
}

}  // namespace saltus::integrate
