// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/orbit_states.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/translations.hpp"

namespace saltus::orbit {

namespace {

constexpr double equal_points = 1e-6;  ///< points of an orbit that differ by less than this part of its range are equal
constexpr int samples = 256;           ///< of an orbit, for its range

std::vector<double> to_list(const Vector& x) { return {x.data(), x.data() + x.size()}; }

/// The time in which a motion passes the section `count` times; nothing if that takes longer than `longest`.
std::optional<double> time_of_passages(const model::Model& model, const Options& options, const Vector& x,
                                       std::size_t count, double longest) {
    const ReturnMap map(model, options.method, options.interrupted);
    const PhaseCondition section = section_modulo(model, options.section, translations_of(model));
    constexpr double first_part = 1.0 / 256.0;  // this part of `longest` is tried first, then twice as much, …
    for (double t = first_part * longest; t <= longest; t *= 2.0) {
        const trajectory::Trajectory motion = map.motion(0.0, x, t);
        if (motion.status != trajectory::Status::completed) return {};
        if (passages(motion, section).size() >= count) return t;
    }
    return {};
}

/// The points of an orbit that was found.
std::vector<std::vector<double>> points_of(const model::Model& model, const Options& options, const Orbit& orbit,
                                           int returns) {
    std::vector<std::vector<double>> points;
    if (options.period) {
        for (int k = 0; k < returns; ++k)
            points.push_back(to_list(vector_of(orbit.motion.right(orbit.motion.start.t + k * *options.period))));
        return points;
    }
    points.push_back(to_list(vector_of(orbit.state)));
    const PhaseCondition section = section_modulo(model, options.section, translations_of(model));
    const double end = orbit.motion.end.t - equal_points * orbit.period;
    for (const Passage& p : passages(orbit.motion, section))
        if (p.t > orbit.motion.start.t + equal_points * orbit.period && p.t < end) points.push_back(to_list(p.x));
    return points;
}

}  // namespace

std::optional<OrbitStates> stable_orbit_near(const model::Model& model, const Options& options,
                                             const trajectory::State& state, int returns) {
    Options search = options;
    search.multiple = returns;
    search.guess = state;
    search.settle = 0.0;
    Orbit found;
    try {
        if (!options.period) {
            const std::optional<double> wait = time_of_passages(
                model, options, vector_of(state), static_cast<std::size_t>(returns) + 2, options.search_time);
            if (!wait) return {};
            search.search_time = *wait;
        }
        found = find_orbit(model, search);
    } catch (const Error&) {  // the state is not admissible
        return {};
    }
    if (found.status != Status::converged || found.stability != Stability::stable) return {};
    OrbitStates out;
    out.period = found.period;
    out.energy = found.motion.energy.initial;
    out.points = points_of(model, options, found, returns);
    out.returns = static_cast<int>(out.points.size());
    const std::size_t size = out.points.front().size();
    std::vector<double> low(size, INFINITY), high(size, -INFINITY);
    for (int k = 0; k <= samples; ++k) {
        const Vector x = vector_of(found.motion.right(found.motion.sample_time(k, samples)));
        for (std::size_t i = 0; i < size; ++i) {
            low[i] = std::min(low[i], x(static_cast<Eigen::Index>(i)));
            high[i] = std::max(high[i], x(static_cast<Eigen::Index>(i)));
        }
    }
    for (std::size_t i = 0; i < size; ++i) out.range.push_back(high[i] - low[i]);
    const double largest_range = *std::max_element(out.range.begin(), out.range.end());
    const Translations translations = translations_of(model);
    // It may close sooner: a motion that approaches an orbit of one point in turns from two sides repeats after two.
    for (int fewer = 1; fewer < out.returns; ++fewer) {
        if (out.returns % fewer != 0) continue;
        bool closes = true;
        for (std::size_t k = 0; k + static_cast<std::size_t>(fewer) < out.points.size(); ++k) {
            Vector difference(static_cast<Eigen::Index>(size));
            for (std::size_t i = 0; i < size; ++i)
                difference(static_cast<Eigen::Index>(i)) =
                    out.points[k][i] - out.points[k + static_cast<std::size_t>(fewer)][i];
            if (!translations.empty()) difference = translations.reduced(std::move(difference));
            closes = closes && difference.cwiseAbs().maxCoeff() <= equal_points * largest_range;
        }
        if (!closes) continue;
        out.period *= static_cast<double>(fewer) / out.returns;
        out.points.resize(static_cast<std::size_t>(fewer));
        out.returns = fewer;
    }
    // The trivial multiplier is the one nearest to 1.
    std::vector<std::complex<double>> multipliers = found.multipliers;
    if (!options.period && !multipliers.empty())
        multipliers.erase(std::min_element(multipliers.begin(), multipliers.end(), [](const auto& a, const auto& b) {
            return std::abs(a - 1.0) < std::abs(b - 1.0);
        }));
    for (const std::complex<double>& m : multipliers)
        out.largest_multiplier = std::max(out.largest_multiplier, std::abs(m));
    return out;
}

}  // namespace saltus::orbit
