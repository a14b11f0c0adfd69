// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/symbol_sets.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::orbit {

namespace {

/// A multiplier below this part of the largest one (or of 1) is a zero of a map that loses rank exactly.
constexpr double zero_multiplier = 1e-11;
/// Multipliers are known to about this error; closer to the unit circle nothing is decided.
constexpr double multiplier_error = 1e-8;

}  // namespace

std::pair<Vector, Vector> range_of(const trajectory::Trajectory& motion) {
    constexpr int samples_per_part = 2;
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
    constexpr int samples_per_part = 4;
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

std::vector<Eigen::Index> free_positions(const model::Mechanics& model) {
    std::vector<Eigen::Index> list;
    const model::SymbolicEquations* const symbolic = model.system->symbolic();
    if (symbolic == nullptr) return list;
    model::Formulas f = symbolic->formulas();
    if (f.graph[f.U].kinked) return list;
    std::vector<expr::Expr> all{f.T, f.R};
    for (const std::vector<expr::Expr>* part : {&f.f, &f.constraints, &f.gaps, &f.slips, &f.coefficients})
        all.insert(all.end(), part->begin(), part->end());
    for (std::size_t i = 0; i < f.q.size(); ++i) {
        expr::SymbolSets symbols(f.graph);
        const bool absent =
            std::none_of(all.begin(), all.end(), [&](expr::Expr e) { return symbols.may_depend_on(e, f.q[i]); });
        if (absent && !f.graph.depends_on(expr::Derivative(f.graph, f.q[i])(f.U), expr::position))
            list.push_back(static_cast<Eigen::Index>(f.index[i]));
    }
    return list;
}

double calm_time(const trajectory::Trajectory& motion) {
    double best = 0.5 * (motion.start.t + motion.end.t), length = 0.0;
    std::size_t closed = std::numeric_limits<std::size_t>::max();
    for (const trajectory::Arc& arc : motion.arcs) {
        if (arc.steps.empty()) continue;
        const auto held =
            static_cast<std::size_t>(std::count_if(arc.modes.begin(), arc.modes.end(), [](trajectory::Mode m) {
                return m != trajectory::Mode::open && m != trajectory::Mode::slip;
            }));
        const double duration = arc.t_end - arc.t_begin;
        if (held > closed || (held == closed && duration <= length)) continue;
        best = 0.5 * (arc.t_begin + arc.t_end), length = duration, closed = held;
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

bool excitation_repeats(const ReturnMap& map, const trajectory::Trajectory& motion) {
    constexpr double equal = 1e-7;  // relative to the size of the components; errors of the motion are far below
    const double duration = motion.end.t - motion.start.t;
    const trajectory::Trajectory later = map.motion(motion.start.t + duration, vector_of(motion.start), duration);
    if (later.status != trajectory::Status::completed || later.events.size() != motion.events.size()) return false;
    const Vector size = sizes(motion);
    constexpr int samples = 50;
    for (int k = 0; k <= samples; ++k) {
        const Vector x = vector_of(motion.right(motion.sample_time(k, samples)));
        const Vector y = vector_of(later.right(later.sample_time(k, samples)));
        // A sample beside an impact may be before it in one motion and after it in the other: positions decide.
        const Eigen::Index n = x.size() / 2;
        if (((x - y).cwiseAbs().cwiseQuotient(size)).head(n).maxCoeff() > equal) return false;
    }
    return (vector_of(later.end) - vector_of(motion.end)).cwiseAbs().cwiseQuotient(size).maxCoeff() <= equal;
}

}  // namespace saltus::orbit
