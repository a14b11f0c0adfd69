// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/extremes.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/gauss.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::integrate {

namespace {

constexpr int extreme_samples = 8;   ///< of a part of a step; fewer miss narrow extrema
constexpr int golden_sections = 45;  ///< shrink the bracket of an extremum by 0.618^45 = 4e-10

/// The best sample of one quantity, and the bracket in which it is refined.
struct Extreme {
    double value = nan, t = 0.0, from = 0.0, to = 0.0;
    std::size_t arc = no_arc, step = 0;
};

}  // namespace

std::vector<ExtremeValues> extreme_values(const trajectory::Trajectory& motion, std::size_t count,
                                          const QuantitiesAt& evaluate) {
    const std::size_t n = motion.coordinates.size();
    std::vector<double> values(count);
    std::vector<Extreme> lowest(count), highest(count);
    const auto take = [&](double t, double from, double to, std::size_t arc, std::size_t step) {
        for (std::size_t k = 0; k < count; ++k) {
            if (!std::isfinite(values[k])) continue;
            if (!(lowest[k].value <= values[k])) lowest[k] = {values[k], t, from, to, arc, step};
            if (!(highest[k].value >= values[k])) highest[k] = {values[k], t, from, to, arc, step};
        }
    };
    const auto take_state = [&](double t, Side side, std::span<const double> q, std::span<const double> u) {
        evaluate(t, side, q, u, values);
        take(t, t, t, no_arc, 0);
    };
    take_state(motion.start.t, side_of_start(motion), motion.start.q, motion.start.u);
    for_each_time_of_events(motion.events, [&](std::span<const trajectory::Event> events) {
        for_each_state_of(events, motion.start.t,
                          [&](double t, Side side, std::span<const double> q, std::span<const double> u) {
                              if (q.size() == n && u.size() == n) take_state(t, side, q, u);
                          });
    });
    std::vector<double> x;
    const auto on_step = [&](std::size_t arc, std::size_t step, double t) {
        const trajectory::Arc& a = motion.arcs[arc];
        x.resize(static_cast<std::size_t>(a.steps[step].size()));
        a.steps[step].evaluate(t, x.data());
        evaluate(t, t > a.t_begin ? Side::before : Side::after, {x.data(), n}, {x.data() + n, n}, values);
    };
    for (std::size_t a = 0; a < motion.arcs.size(); ++a)
        for (std::size_t s = 0; s < motion.arcs[a].steps.size(); ++s)
            for (const ode::StepPart part : ode::StepParts(motion.arcs[a].steps[s], motion.arcs[a].t_end)) {
                const double h = (part.to - part.from) / extreme_samples;
                for (int k = 1; k <= extreme_samples; ++k) {
                    const double t = k == extreme_samples ? part.to : part.from + k * h;
                    on_step(a, s, t);
                    take(t, t - h, k == extreme_samples ? t : t + h, a, s);
                }
            }
    const auto refine = [&](Extreme& e, std::size_t quantity, double sign) {
        if (e.arc == no_arc || !(e.to > e.from)) return;
        constexpr double ratio = 0.6180339887498949;  // (√5 − 1)/2, golden section
        double a = std::max(e.from, motion.arcs[e.arc].t_begin), b = std::min(e.to, motion.arcs[e.arc].t_end);
        const auto at = [&](double t) {
            on_step(e.arc, e.step, t);
            return sign * values[quantity];
        };
        double c = b - ratio * (b - a), d = a + ratio * (b - a), fc = at(c), fd = at(d);
        for (int k = 0; k < golden_sections; ++k) {
            if (fc >= fd) {
                b = d, d = c, fd = fc, c = b - ratio * (b - a), fc = at(c);
            } else {
                a = c, c = d, fc = fd, d = a + ratio * (b - a), fd = at(d);
            }
        }
        const double best = std::max(fc, fd);
        if (best > sign * e.value) {
            e.value = sign * best;
            e.t = fc >= fd ? c : d;
        }
    };
    std::vector<ExtremeValues> list(count);
    evaluate(motion.end.t, Side::after, motion.end.q, motion.end.u, values);
    take(motion.end.t, motion.end.t, motion.end.t, no_arc, 0);
    const std::vector<double> final = values;
    for (std::size_t k = 0; k < count; ++k) {
        refine(lowest[k], k, -1.0);
        refine(highest[k], k, 1.0);
        list[k] = {final[k], lowest[k].value, highest[k].value, lowest[k].t, highest[k].t};
    }
    return list;
}

std::vector<double> mean_values(const trajectory::Trajectory& motion, std::size_t count, const QuantitiesAt& evaluate) {
    const std::size_t n = motion.coordinates.size();
    std::vector<double> sum(count, 0.0), values(count), x;
    double covered = 0.0;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps) {
            x.resize(static_cast<std::size_t>(step.size()));
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end)) {
                covered += part.to - part.from;
                for (const GaussPoint& point : gauss_points(gauss_seven_nodes, part.from, part.to)) {
                    step.evaluate(point.t, x.data());
                    evaluate(point.t, Side::before, {x.data(), n}, {x.data() + n, n}, values);
                    for (std::size_t k = 0; k < count; ++k) sum[k] += values[k] * point.dt;
                }
            }
        }
    constexpr double rounding = 1e-9;  // of the length of all steps
    const double length = motion.end.t - motion.start.t;
    if (!(length > 0.0) || std::abs(covered - length) > rounding * length) std::fill(sum.begin(), sum.end(), nan);
    for (double& s : sum) s /= length > 0.0 ? length : 1.0;
    return sum;
}

}  // namespace saltus::integrate
