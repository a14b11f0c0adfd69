// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/eigenvalues.hpp"

namespace saltus::orbit {

namespace {

/// A multiplier below this part of the largest one (or of 1) is a zero of a map that loses rank exactly.
constexpr double zero_multiplier = 1e-11;
/// Multipliers are known to about this error; closer to the unit circle nothing is decided.
constexpr double multiplier_error = 1e-8;

}  // namespace

std::pair<Vector, Vector> range_of(const trajectory::Trajectory& motion) {
    constexpr int samples_per_part = 1;  // the start of each part of a step is enough for sizes
    Vector low = vector_of(motion.start), high = low, x = low;
    const auto states = static_cast<int>(x.size());
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (int k = 0; k < samples_per_part; ++k) {
                    step.evaluate(part.from + (part.to - part.from) * k / samples_per_part, x.data(), states);
                    low = low.cwiseMin(x), high = high.cwiseMax(x);
                }
    return {low, high};
}

Vector sizes(const trajectory::Trajectory& motion) {
    const auto [low, high] = range_of(motion);
    Vector size = low.cwiseAbs().cwiseMax(high.cwiseAbs());
    for (double& s : size)
        if (!(s > 0.0)) s = 1.0;
    return size;
}

std::pair<Vector, Vector> position_range(const trajectory::Trajectory& motion) {
    constexpr int samples_per_part = 4;  // an extremum is seen if the velocity changes its sign between two samples
    constexpr int bisections = 50;  // to rounding of the time of the extremum, whose value is then exact to rounding
    const auto n = static_cast<Eigen::Index>(motion.coordinates.size());
    Vector low = vector_of(motion.start).head(n), high = low;
    const auto take = [&](Eigen::Index i, double value) {
        low(i) = std::min(low(i), value), high(i) = std::max(high(i), value);
    };
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (int k = 1; k <= samples_per_part; ++k) {
                    const double length = (part.to - part.from) / samples_per_part;
                    double from = part.from + (k - 1) * length;
                    double to = k == samples_per_part ? part.to : part.from + k * length;
                    for (Eigen::Index i = 0; i < n; ++i) {
                        const auto at = [&](double t) { return step.component(static_cast<int>(n + i), t); };
                        take(i, step.component(static_cast<int>(i), to));
                        const double before = at(from);
                        if (!(before * at(to) < 0.0)) continue;
                        double a = from, b = to;
                        for (int r = 0; r < bisections; ++r) {
                            const double middle = 0.5 * (a + b);
                            (at(middle) * before > 0.0 ? a : b) = middle;
                        }
                        take(i, step.component(static_cast<int>(i), a));
                    }
                }
    return {low, high};
}

std::size_t holding_elements(const trajectory::Trajectory& motion, const trajectory::Arc& arc) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < arc.modes.size(); ++k) {
        const bool slider = motion.elements[k].kind == trajectory::ElementKind::slider;
        const trajectory::Mode m = arc.modes[k];
        count += m == trajectory::Mode::open || (slider && m == trajectory::Mode::slip) ? 0 : 1;
    }
    return count;
}

double calm_time(const trajectory::Trajectory& motion) {
    double best = 0.5 * (motion.start.t + motion.end.t), length = 0.0;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (const trajectory::Arc& arc : motion.arcs) {
        if (arc.steps.empty()) continue;
        const std::size_t held = holding_elements(motion, arc);
        const double duration = arc.t_end - arc.t_begin;
        if (held > fewest || (held == fewest && duration <= length)) continue;
        best = 0.5 * (arc.t_begin + arc.t_end), length = duration, fewest = held;
    }
    return best;
}

bool leaves_one_contact(const Return& r) {
    if (r.missing.size() != 1 || r.missing[0].ends_with('\'') || r.motion.arcs.empty()) return false;
    const std::vector<trajectory::Mode>& modes = r.motion.arcs.front().modes;
    std::size_t closed = 0;
    for (std::size_t k = 0; k < modes.size(); ++k)
        if (r.motion.elements[k].kind != trajectory::ElementKind::slider && modes[k] != trajectory::Mode::open)
            ++closed;
    return closed == 1;
}

Multipliers multipliers_of(const Matrix& slope, bool autonomous) { return judged(eigenvalues(slope), autonomous, 1.0); }

Multipliers judged(std::vector<std::complex<double>> values, bool autonomous, double error_growth) {
    Multipliers out;
    out.values = std::move(values);
    std::stable_sort(out.values.begin(), out.values.end(),
                     [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
    const double largest = out.values.empty() ? 1.0 : 1.0 + error_growth * std::max(0.0, std::abs(out.values[0]) - 1.0);
    for (auto& m : out.values)
        if (std::abs(m) <= zero_multiplier * largest) m = 0.0;
    if (autonomous && !out.values.empty()) {
        const auto nearest = std::min_element(out.values.begin(), out.values.end(), [](const auto& a, const auto& b) {
            return std::abs(a - 1.0) < std::abs(b - 1.0);
        });
        out.trivial = static_cast<std::size_t>(nearest - out.values.begin());
        out.trivial_error = std::abs(*nearest - 1.0);
    }
    // The error of the multiplier that must be 1 is known; those of the others are of its size.
    constexpr double safety = 10.0;
    const double error = std::max(multiplier_error * largest, safety * out.trivial_error.value_or(0.0));
    for (std::size_t k = 0; k < out.values.size(); ++k) {
        if (out.trivial && *out.trivial == k) continue;
        const double distance = std::abs(out.values[k]) - 1.0;
        if (distance > error)
            ++out.outside;
        else if (distance > -error)
            out.undecided = true;
    }
    return out;
}

Multipliers cyclic_multipliers(const std::vector<Matrix>& maps, const Vector& size, bool autonomous) {
    const Eigen::Index n = size.size();
    const auto count = static_cast<Eigen::Index>(maps.size());
    Matrix cyclic = Matrix::Zero(n * count, n * count);
    for (Eigen::Index k = 0; k < count; ++k)
        cyclic.block(((k + 1) % count) * n, k * n, n, n) =
            size.cwiseInverse().asDiagonal() * maps[static_cast<std::size_t>(k)] * size.asDiagonal();
    std::vector<std::complex<double>> powers;
    for (const std::complex<double>& lambda : eigenvalues(cyclic)) {
        std::complex<double> power = 1.0;
        for (Eigen::Index k = 0; k < count; ++k) power *= lambda;
        powers.push_back(power);
    }
    // Every multiplier appears `count` times. The largest is taken first, with those that are nearest to it.
    std::vector<std::complex<double>> values;
    while (!powers.empty()) {
        const std::complex<double> largest = *std::max_element(
            powers.begin(), powers.end(), [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
        std::stable_sort(powers.begin(), powers.end(),
                         [&](const auto& a, const auto& b) { return std::abs(a - largest) < std::abs(b - largest); });
        const auto take = std::min(static_cast<std::ptrdiff_t>(count), static_cast<std::ptrdiff_t>(powers.size()));
        std::complex<double> mean = 0.0;
        for (auto m = powers.begin(); m != powers.begin() + take; ++m) mean += *m / static_cast<double>(take);
        if (std::abs(mean.imag()) <= 1e-9 * std::abs(mean)) mean = mean.real();
        values.push_back(mean);
        powers.erase(powers.begin(), powers.begin() + take);
    }
    return judged(std::move(values), autonomous, 0.0);
}

double growth_of(const Matrix& slope, const Vector& size) {
    return (size.cwiseInverse().asDiagonal() * slope * size.asDiagonal()).cwiseAbs().maxCoeff();
}

// The later motion is computed in pieces that begin and end between events, each from the state that the first motion
// has there. So errors grow along one piece only, and an unstable orbit does not look like another excitation.
bool excitation_repeats(const ReturnMap& map, const trajectory::Trajectory& motion, double error) {
    constexpr double equal = 1e-7;     // relative to the size of the components; errors of a piece are far below
    constexpr double shortest = 0.02;  // length of an interval between events with a cut, relative to the duration
    const double from = motion.start.t, duration = motion.end.t - from;
    std::vector<double> cuts{from};
    double last = from;
    for (const trajectory::Event& e : motion.events) {
        if (e.t - last > shortest * duration && last > from) cuts.push_back(0.5 * (last + e.t));
        last = std::max(last, e.t);
    }
    cuts.push_back(motion.end.t);
    // States may differ by `equal` times their size, plus `safety` times the error that the caller expects of the
    // motion.
    constexpr double safety = 10.0;
    const Vector allowed = (equal * sizes(motion)).array() + safety * error;
    constexpr int samples = 50;  // of the whole motion
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        const double begin = cuts[c], length = cuts[c + 1] - begin;
        const Vector start = vector_of(c == 0 ? motion.start : motion.right(begin));
        const trajectory::Trajectory later = map.motion(begin + duration, start, length);
        if (later.status != trajectory::Status::completed) return false;
        const int count = std::max(2, static_cast<int>(std::ceil(samples * length / duration)));
        for (int k = 0; k <= count; ++k) {
            const double t = later.sample_time(k, count);
            const Vector x = vector_of(motion.right(std::clamp(t - duration, from, motion.end.t)));
            const Vector y = vector_of(later.right(t));
            // A sample beside an impact may be before it in one motion and after it in the other: positions decide.
            const Eigen::Index n = x.size() / 2;
            if (((x - y).cwiseAbs() - allowed).head(n).maxCoeff() > 0.0) return false;
        }
        const Vector end = vector_of(c + 2 == cuts.size() ? motion.end : motion.right(cuts[c + 1]));
        if (((vector_of(later.end) - end).cwiseAbs() - allowed).maxCoeff() > 0.0) return false;
    }
    return true;
}

}  // namespace saltus::orbit
