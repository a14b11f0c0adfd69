// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "saltus/base/bytes.hpp"
#include "saltus/base/error.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/translations.hpp"

namespace saltus::orbit {

namespace {

/// What tells the orbits of different starts apart. It is the answer of a start; the orbits that differ are computed
/// once more, because a motion has too many numbers to be kept for each start.
struct Traits {
    bool found = false;
    double period = 0.0;
    std::uint64_t events = 0;
    std::vector<double> moduli;  ///< of the multipliers, the largest first
    Vector low, high, size;      ///< ranges and sizes of all components
    double energy = 0.0;         ///< at the start
};

template <class Bytes>
void transfer(Bytes& b, Traits& t) {
    b(t.found), b(t.period), b(t.events), b(t.moduli), b(t.low), b(t.high), b(t.size), b(t.energy);
}

Traits traits_of(const Orbit& orbit) {
    Traits t;
    t.found = orbit.converged();
    if (!t.found) return t;
    t.period = orbit.period;
    t.events = orbit.motion.events.size();
    for (const std::complex<double>& m : orbit.multipliers) t.moduli.push_back(std::abs(m));
    std::tie(t.low, t.high) = range_of(orbit.motion);
    t.size = sizes(orbit.motion);
    t.energy = orbit.motion.energy.initial;
    return t;
}

std::string written(const Traits& t) {
    ByteWriter b;
    b(t);
    return b.bytes();
}

/// Whether two orbits are the same motion, perhaps with another start: equal periods, multipliers, numbers of events
/// and ranges of all components. Periods and multipliers agree to `equal` (relative to the period, and to 1 + the
/// largest multiplier). Ranges are sampled, and agree to `equal_range` times the size of the component only.
bool same(const Traits& a, const Traits& b, const Translations& translations) {
    constexpr double equal = 1e-6, equal_range = 1e-2;
    if (std::abs(a.period - b.period) > equal * a.period || a.events != b.events) return false;
    for (std::size_t k = 0; k < a.moduli.size() && k < b.moduli.size(); ++k)
        if (std::abs(a.moduli[k] - b.moduli[k]) > equal * (1.0 + a.moduli[0])) return false;
    Vector low = a.low, high = a.high, other_low = b.low, other_high = b.high;
    const Vector size = a.size * equal_range;
    // Of positions that a translation moves, the widths of the ranges are compared.
    for (Eigen::Index i = 0; i < translations.directions.rows(); ++i)
        if ((translations.directions.row(i).array() != 0.0).any() ||
            (translations.lattice.row(i).array() != 0.0).any()) {
            high(i) -= low(i), other_high(i) -= other_low(i);
            low(i) = other_low(i) = 0.0;
        }
    return ((low - other_low).cwiseAbs().array() <= size.array()).all() &&
           ((high - other_high).cwiseAbs().array() <= size.array()).all();
}

/// The orbit from one start; not converged if the start penetrates an obstacle.
Orbit orbit_from(const model::Model& model, const Options& options, double wait, std::span<const double> x) {
    Options from_here = options;
    from_here.guess = state_of(0.0, Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size())));
    from_here.settle = 0.0;
    from_here.search_time = wait;
    try {
        return find_orbit(model, from_here);
    } catch (const Error&) {
        return {};
    }
}

/// The box of the states that the motion from the guess visits in the time `wait`, filled evenly by `count` starts.
ensemble::Starts starts_of(const model::Model& model, const Options& options, double wait, int count) {
    const ReturnMap map(model, options.method, options.interrupted);
    const trajectory::State start = options.guess.value_or(trajectory::State{0.0, model.q0, model.u0});
    const auto [low, high] = range_of(map.motion(0.0, vector_of(start), wait));
    ensemble::Starts starts;
    starts.samples = static_cast<std::size_t>(std::max(0, count));
    starts.evenly = true;
    for (Eigen::Index i = 0; i < low.size(); ++i) {
        ensemble::Axis axis;
        axis.from = low(i), axis.to = high(i);
        starts.axes.push_back(axis);
    }
    return starts;
}

}  // namespace

std::vector<Orbit> find_orbits(const model::Model& model, const Options& options, int count, const SearchPlace& place) {
    const double wait = options.settle > 0.0 ? options.settle
                        : options.period     ? 10.0 * *options.period * options.multiple
                                             : model.settings->simulate.t_end.value_or(1.0);
    ensemble::FunctionWork work([&](const ensemble::RunRequest& run) -> std::optional<std::string> {
        const Orbit orbit = orbit_from(model, options, wait, run.values);
        if (orbit.status == Status::interrupted) return {};
        return written(traits_of(orbit));
    });
    ensemble::Engine engine(work, place.engine);
    if (!engine.leads()) {
        engine.serve();
        return {};
    }
    const ensemble::Dismissal at_the_end(engine);
    const ensemble::Starts starts = starts_of(model, options, wait, count);
    ensemble::Table memory(0, starts.samples);
    ensemble::Table& table = place.table != nullptr ? *place.table : memory;
    ensemble::Round round;
    round.count = starts.samples;
    round.axes = starts.axes.size();
    round.shard = place.shard;
    round.values = [&](std::size_t k, std::span<double> x) { starts.values(k, x); };
    round.progress = place.progress;
    (void)ensemble::make(engine, table, round);
    if (!place.shard.whole()) return {};
    // Which of two equal orbits is listed is decided by the order of their starts.
    const Translations translations = translations_of(model);
    std::vector<std::pair<std::size_t, Traits>> different;
    table.scan(0, starts.samples, [&](std::size_t k, std::string_view bytes) {
        Traits t = ByteReader(bytes).get<Traits>();
        if (t.found && std::none_of(different.begin(), different.end(),
                                    [&](const auto& d) { return same(d.second, t, translations); }))
            different.emplace_back(k, std::move(t));
    });
    std::stable_sort(different.begin(), different.end(),
                     [](const auto& a, const auto& b) { return a.second.energy < b.second.energy; });
    // After an interrupt the orbits that were found are computed once more as well, those that take no longer than
    // this.
    Options again = options;
    if (options.interrupted && options.interrupted()) {
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::milliseconds grace{500};
        again.interrupted = [end = Clock::now() + grace] { return Clock::now() > end; };
    }
    std::vector<Orbit> all(different.size());
    ensemble::Options many;
    many.threads = ensemble::threads_of(place.engine);
    many.interrupted = again.interrupted;
    ensemble::parallel_for(
        all.size(),
        [&](std::size_t k) {
            std::vector<double> x(starts.axes.size());
            starts.values(different[k].first, x);
            all[k] = orbit_from(model, again, wait, x);
        },
        many);
    // After an interrupt some of them may be missing.
    std::vector<Orbit> orbits;
    for (Orbit& orbit : all)
        if (orbit.converged()) orbits.push_back(std::move(orbit));
    return orbits;
}

}  // namespace saltus::orbit
