// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/detail/singular_points.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "saltus/base/numbers.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"

namespace saltus::expr {

namespace {

/// The region is center ± region_size · reach; it is the largest box of the search along lines, too.
constexpr double region_size = 100.0;
/// So many boxes are bisected to exclude a zero. If the budget ends, then the zero is possible.
constexpr int max_boxes = 2000;
/// A box of this size, in units of `reach`, that still may contain a zero is not bisected again.
constexpr double smallest_box = 1e-3;
/// Starts of Newton's iteration lie in boxes of these sizes around the center, in units of `reach`.
constexpr double start_sizes[] = {0.01, 0.1, 1.0, 10.0, 100.0};
constexpr int starts_in_box = 16;
/// Newton's iteration halves the distance to a double zero with each step: 60 steps are the digits of a double.
constexpr int max_newton_steps = 120;
/// So many different zeros of one function are examined. They are different if they are `distinct` apart, in units of
/// `reach`.
constexpr int max_zeros = 12;
constexpr double distinct = 1e-3;
/// A zero is accepted if |f| is at most this part of the largest value at the starts, and if the enclosure of f in a
/// box of size `zero_box` · reach contains zero.
constexpr double zero_part = 1e-9, zero_box = 1e-7;

// Samples around a zero. Offsets have sizes between 1 and 10^-offset_decades in each coordinate.
constexpr int sample_count = 480;
constexpr double offset_decades = 9.0;
constexpr double sample_radii[] = {1e-3, 1e-4, 1e-5, 1e-6};  // in units of `reach`
constexpr std::size_t radius_count = std::size(sample_radii);
/// Fewer samples than these, of the smallest radius, show nothing.
constexpr int min_samples = 8;
/// The limits for osc(1e-6)/osc(1e-4), see the header: continuous below, a jump between, unbounded above.
/// r^0.15 gives 0.5 for two powers of ten.
constexpr double continuous_part = 0.5, jump_part = 0.9, growing_part = 1.5;
/// A jump has steady bounds: they move by at most this part of osc while r shrinks from 1e-4 to 1e-6. The bounds of
/// log move by 0.22 of it.
constexpr double steady_part = 0.15;
/// Values that tend to infinity on all sides: the smallest and the largest one grow by these factors from each radius
/// to the next. The factors of log are at least 1.2 and 1.07.
constexpr double escape_factor = 1.15, size_factor = 1.05;
/// Smaller oscillations, relative to the largest value, are rounding errors.
constexpr double rounding_part = 1e-9;

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
double symmetric(std::mt19937_64& random) { return 2.0 * uniform(random) - 1.0; }

std::vector<bool> mentioned(const Graph& graph, std::span<const Expr> roots, std::span<const Expr> variables) {
    const std::vector<Expr> inside = reachable(graph, roots);
    std::vector<bool> out;
    for (const Expr v : variables) out.push_back(std::find(inside.begin(), inside.end(), v) != inside.end());
    return out;
}

/// A tape with its scratch, for intervals.
class Enclosures {
public:
    Enclosures(const Graph& graph, const std::vector<Expr>& outputs, std::span<const Expr> variables)
        : tape_(graph, outputs, {}, variables), scratch_(tape_.slot_count()), values_(outputs.size()) {
        tape_.prepare<Interval>({}, scratch_);
    }
    const std::vector<Interval>& operator()(std::span<const Interval> box) {
        tape_.evaluate<Interval>(box, scratch_, values_);
        return values_;
    }

private:
    Tape tape_;
    std::vector<Interval> scratch_, values_;
};

std::vector<Singularity> singularities_of(Graph& graph, Expr e) {
    std::vector<Singularity> out;
    for (const Expr n : reachable(graph, std::span(&e, 1))) {
        const Node node = graph[n];
        if (node.kinds == 0) continue;
        if (node.op == Op::div && graph[node.b].kinds != 0) out.push_back({node.b, "a division or power"});
        if (node.op == Op::powi && node.exponent < 0) out.push_back({node.a, "a division or power"});
        // A constant positive exponent: x^1.5 is continuous at 0, from the side where it exists.
        if (node.op == Op::pow && !(graph.is_constant(node.b) && graph[node.b].value > 0.0))
            out.push_back({node.a, "a division or power"});
        if (node.op == Op::tan) out.push_back({graph.unary(Op::cos, node.a), "tan"});
        if (node.op == Op::log) out.push_back({node.a, "log", false});
        if (node.op == Op::atan2)
            out.push_back({graph.add(graph.powi(node.a, 2), graph.powi(node.b, 2)), "atan2", false});
    }
    return out;
}

/// The admissible functions that share a variable with `e`.
std::vector<Expr> related(const Graph& graph, Expr e, const JumpRegion& region) {
    const std::vector<bool> of_e = mentioned(graph, std::span(&e, 1), region.variables);
    std::vector<Expr> out;
    for (const Expr a : region.admissible) {
        if (a == e) continue;
        const std::vector<bool> of_a = mentioned(graph, std::span(&a, 1), region.variables);
        for (std::size_t i = 0; i < of_a.size(); ++i)
            if (of_a[i] && of_e[i]) {
                out.push_back(a);
                break;
            }
    }
    return out;
}

bool certainly_negative(const Interval& value) { return value.defined && value.hi < 0.0; }

/// Whether bisection shows that a function has no zero in the admissible part of the region. `enclosures` gives the
/// function and then the admissible functions.
bool zero_is_excluded(Enclosures& enclosures, const std::vector<bool>& used, const JumpRegion& region) {
    std::vector<std::vector<Interval>> boxes(1);
    for (std::size_t i = 0; i < region.center.size(); ++i)
        boxes[0].push_back(hull(point(region.center[i] - region_size * region.reach[i]),
                                point(region.center[i] + region_size * region.reach[i])));
    for (int count = 0; !boxes.empty(); ++count) {
        if (count == max_boxes) return false;
        const std::vector<Interval> box = std::move(boxes.back());
        boxes.pop_back();
        const std::vector<Interval>& values = enclosures(box);
        if (std::any_of(values.begin() + 1, values.end(), certainly_negative)) continue;
        if (values[0].defined && !contains(values[0], 0.0)) continue;
        std::size_t widest = box.size();
        double size = smallest_box;
        for (std::size_t i = 0; i < box.size(); ++i)
            if (used[i] && width(box[i]) > size * region.reach[i]) size = width(box[i]) / region.reach[i], widest = i;
        if (widest == box.size()) return false;
        const double middle = midpoint(box[widest]);
        for (const Interval half : {hull(box[widest].lo, middle), hull(middle, box[widest].hi)}) {
            boxes.push_back(box);
            boxes.back()[widest] = half;
        }
    }
    return true;
}

/// Newton's iteration for one equation f = 0 in several variables: the shortest step, in units of `reach`, that makes
/// the linear part of f zero.
class ZeroSearch {
public:
    ZeroSearch(Graph& graph, Expr f, const JumpRegion& region)
        : region_(region), used_(mentioned(graph, std::span(&f, 1), region.variables)) {
        std::vector<Expr> outputs{f};
        for (int order = 0; order < 2; ++order)
            for (std::size_t i = 0; i < region.variables.size(); ++i) {
                const Expr lower = order == 0 ? f : outputs[i + 1];
                outputs.push_back(used_[i] ? Derivative(graph, region.variables[i])(lower) : graph.constant(0.0));
            }
        tape_ = Tape(graph, outputs, {}, region.variables);
        scratch_.resize(tape_.slot_count());
        tape_.prepare<double>({}, scratch_);
        values_.resize(outputs.size());
    }

    /// Moves x to a zero; false if the iteration finds none. `scale` is the largest |f| seen so far.
    bool move_to_zero(std::vector<double>& x, double& scale) {
        for (int k = 0; k < max_newton_steps; ++k) {
            evaluate(x);
            const double f = values_[0];
            if (!std::isfinite(f)) return false;
            scale = std::max(scale, std::abs(f));
            if (f == 0.0) break;
            double square = 0.0;  // of the gradient, in units of 1/reach
            for (std::size_t i = 0; i < x.size(); ++i) square += std::pow(region_.reach[i] * values_[i + 1], 2);
            if (!(square > 0.0) || !std::isfinite(square)) break;
            bool moves = false;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double step = f * values_[i + 1] * (region_.reach[i] / square) * region_.reach[i];
                moves = moves || x[i] - step != x[i];
                x[i] -= step;
            }
            if (!moves) break;
        }
        descend(x);
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!(std::abs(x[i] - region_.center[i]) <= region_size * region_.reach[i])) return false;
        return std::abs(values_[0]) <= zero_part * scale;
    }

private:
    void evaluate(std::span<const double> x) { tape_.evaluate<double>(x, scratch_, values_); }

    /// A zero of x^4 + y^2 is a minimum. Newton's iteration for f = 0 comes near to it and leaves an error of the size
    /// |f|^(1/4) in x. Newton's iteration for ∂f/∂x_i = 0 in one variable after the other, as long as |f| becomes
    /// smaller, reduces it. At a zero where f changes its sign, |f| would grow, and x stays.
    void descend(std::vector<double>& x) {
        const std::size_t n = x.size();
        evaluate(x);
        bool moves = true;
        for (int k = 0; k < max_newton_steps && moves; ++k) {
            moves = false;
            for (std::size_t i = 0; i < n; ++i) {
                const double before = std::abs(values_[0]), step = values_[1 + i] / values_[1 + n + i], old = x[i];
                if (before == 0.0 || !std::isfinite(step) || old - step == old) continue;
                x[i] -= step;
                evaluate(x);
                if (std::abs(values_[0]) < before) {
                    moves = true;
                } else {
                    x[i] = old;
                    evaluate(x);
                }
            }
        }
    }

    const JumpRegion& region_;
    std::vector<bool> used_;
    Tape tape_;
    std::vector<double> scratch_, values_;
};

/// Bounds of e from samples: `low` and `high` are certain in the sense that e has a value of at most `low` and one of
/// at least `high`.
struct Range {
    double low = infinity, high = -low;
    double smallest = low;  // the smallest |e|
    int samples = 0;

    void add(const Interval& value) {
        low = std::min(low, value.hi);
        high = std::max(high, value.lo);
        const bool straddles = value.lo <= 0.0 && value.hi >= 0.0;
        smallest = std::min(smallest, straddles ? 0.0 : std::min(std::abs(value.lo), std::abs(value.hi)));
        ++samples;
    }
    double oscillation() const { return high > low ? high - low : 0.0; }
    double size() const { return std::max(std::abs(low), std::abs(high)); }
};

/// An offset from a zero, in units of r · reach: direction_i · r^(power_i − 1). All powers are 1 on a straight line. If
/// they differ, then the points for all r lie on a curve such as y = x^2.
struct SampleOffset {
    std::vector<double> direction;
    std::vector<int> power;
};

/// Directions of four kinds: equally distributed; with sizes of many powers of ten along the axes; the same along two
/// random directions; and on curves.
std::vector<SampleOffset> sample_offsets(const std::vector<bool>& used, std::mt19937_64& random) {
    const auto size = [&](double decades) { return std::pow(10.0, -decades * uniform(random)); };
    const auto direction = [&] {
        std::vector<double> d(used.size(), 0.0);
        for (std::size_t i = 0; i < d.size(); ++i) d[i] = used[i] ? symmetric(random) : 0.0;
        return d;
    };
    std::vector<SampleOffset> out;
    for (int k = 0; k < sample_count; ++k) {
        SampleOffset offset{direction(), std::vector<int>(used.size(), 1)};
        std::vector<double>& d = offset.direction;
        if (k % 4 == 1)
            for (double& x : d) x *= size(offset_decades);
        if (k % 4 == 2) {
            const std::vector<double> other = direction();
            const double first = size(offset_decades), second = size(offset_decades);
            for (std::size_t i = 0; i < d.size(); ++i) d[i] = first * d[i] + second * other[i];
        }
        if (k % 4 == 3)
            for (std::size_t i = 0; i < d.size(); ++i) {
                offset.power[i] = 1 + static_cast<int>(3.0 * uniform(random));
                d[i] = used[i] ? std::copysign(10.0 * size(2.0), d[i]) : 0.0;
            }
        out.push_back(std::move(offset));
    }
    return out;
}

enum class Limit { exists, jump, none, unbounded, inadmissible };

/// Classifies the ranges for all radii; the header explains the rules.
Limit classify(std::span<const Range> all, std::span<const Range> admissible) {
    const Range& last = all[radius_count - 1];
    if (last.samples < min_samples) return Limit::none;
    bool escapes = true;
    for (std::size_t k = 1; k < radius_count; ++k)
        escapes = escapes && all[k - 1].smallest > 0.0 && all[k].smallest >= escape_factor * all[k - 1].smallest &&
                  all[k].size() >= size_factor * all[k - 1].size();
    if (escapes) return last.low < 0.0 && last.high > 0.0 ? Limit::unbounded : Limit::exists;
    if (last.oscillation() > growing_part * all[1].oscillation() && last.low < 0.0 && last.high > 0.0)
        return Limit::unbounded;
    const Range& near = admissible[radius_count - 1];
    if (near.samples < min_samples) return Limit::inadmissible;
    const double osc = near.oscillation(), osc_before = admissible[1].oscillation();
    if (osc <= rounding_part * near.size() || osc <= continuous_part * osc_before) return Limit::exists;
    const bool lasts = osc >= jump_part * osc_before && osc <= growing_part * osc_before;
    const bool steady = std::abs(near.low - admissible[1].low) <= steady_part * osc &&
                        std::abs(near.high - admissible[1].high) <= steady_part * osc;
    if (lasts && steady) return Limit::jump;
    return osc > growing_part * osc_before ? Limit::unbounded : Limit::none;
}

/// Samples of e around zeros.
class PointSampler {
public:
    PointSampler(const Graph& graph, Expr e, const std::vector<Expr>& admissible, const JumpRegion& region)
        : region_(region), enclosures_(graph, outputs_of(e, admissible), region.variables) {
        offsets_ = sample_offsets(mentioned(graph, std::span(&e, 1), region.variables), random_);
    }

    Limit examine(std::span<const double> zero) {
        Range all[radius_count], admissible[radius_count];
        std::vector<Interval> box(zero.size());
        for (std::size_t k = 0; k < radius_count; ++k)
            for (const SampleOffset& offset : offsets_) {
                for (std::size_t i = 0; i < box.size(); ++i)
                    box[i] = point(zero[i] +
                                   region_.reach[i] * offset.direction[i] * std::pow(sample_radii[k], offset.power[i]));
                const std::vector<Interval>& values = enclosures_(box);
                if (!values[0].defined) continue;
                all[k].add(values[0]);
                const bool outside = std::any_of(values.begin() + 1, values.end(), certainly_negative) ||
                                     (region_.itself_admissible && certainly_negative(values[0]));
                if (!outside) admissible[k].add(values[0]);
            }
        nearest_ = admissible[radius_count - 1];
        return classify(all, admissible);
    }
    /// Of the last zero, at the smallest radius.
    const Range& nearest() const { return nearest_; }

private:
    static std::vector<Expr> outputs_of(Expr e, const std::vector<Expr>& admissible) {
        std::vector<Expr> out{e};
        out.insert(out.end(), admissible.begin(), admissible.end());
        return out;
    }

    const JumpRegion& region_;
    Enclosures enclosures_;
    std::mt19937_64 random_;  // with its fixed default seed
    std::vector<SampleOffset> offsets_;
    Range nearest_;
};

bool closer_than_distinct(std::span<const double> a, std::span<const double> b, std::span<const double> reach) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::abs(a[i] - b[i]) > distinct * reach[i]) return false;
    return true;
}

/// Different zeros of f in the region, none of them certainly inadmissible. Variables that f does not contain keep the
/// values of the start. `found` says whether there was any zero, admissible or not.
std::vector<std::vector<double>> zeros_of(Graph& graph, Expr f, const std::vector<Expr>& admissible,
                                          const JumpRegion& region, bool& found) {
    std::vector<Expr> outputs{f};
    outputs.insert(outputs.end(), admissible.begin(), admissible.end());
    Enclosures enclosures(graph, outputs, region.variables);
    ZeroSearch search(graph, f, region);
    std::mt19937_64 random;
    std::vector<std::vector<double>> out;
    double scale = 0.0;
    for (int k = 0; k < starts_in_box; ++k)
        for (const double size : start_sizes) {
            if (static_cast<int>(out.size()) == max_zeros) return out;
            std::vector<double> x(region.center.begin(), region.center.end());
            for (std::size_t i = 0; k > 0 && i < x.size(); ++i) x[i] += size * region.reach[i] * symmetric(random);
            if (!search.move_to_zero(x, scale)) continue;
            std::vector<Interval> box;
            for (std::size_t i = 0; i < x.size(); ++i)
                box.push_back(hull(x[i] - zero_box * region.reach[i], x[i] + zero_box * region.reach[i]));
            const std::vector<Interval>& values = enclosures(box);
            if (values[0].defined && !contains(values[0], 0.0)) continue;
            found = true;
            if (std::any_of(values.begin() + 1, values.end(), certainly_negative)) continue;
            if (std::none_of(out.begin(), out.end(),
                             [&](const auto& z) { return closer_than_distinct(z, x, region.reach); }))
                out.push_back(std::move(x));
        }
    return out;
}

}  // namespace

std::vector<Singularity> possible_singularities(Graph& graph, Expr e, const JumpRegion& region) {
    std::vector<Singularity> out;
    const std::vector<Singularity> all = singularities_of(graph, e);
    if (all.empty()) return out;
    const std::vector<Expr> admissible = related(graph, e, region);
    for (const Singularity& s : all) {
        std::vector<Expr> outputs{s.function};
        outputs.insert(outputs.end(), admissible.begin(), admissible.end());
        Enclosures enclosures(graph, outputs, region.variables);
        if (!zero_is_excluded(enclosures, mentioned(graph, outputs, region.variables), region)) out.push_back(s);
    }
    return out;
}

void examine_singular_points(Graph& graph, Expr e, const std::vector<Singularity>& singularities,
                             const JumpRegion& region, JumpSearch& out) {
    if (singularities.empty()) return;
    const std::vector<Expr> admissible = related(graph, e, region);
    PointSampler sampler(graph, e, admissible, region);
    for (const Singularity& s : singularities) {
        bool found = false;
        for (const std::vector<double>& zero : zeros_of(graph, s.function, admissible, region, found)) {
            const Limit limit = sampler.examine(zero);
            if (limit == Limit::jump) {
                out.jump = Jump{zero, sampler.nearest().low, sampler.nearest().high, s.name};
                return;
            }
            if (limit == Limit::exists) ++out.limits;
            if (limit == Limit::unbounded && !out.doubt)
                out.doubt = Doubt{zero, "grows without bound, with both signs (" + s.name + ")"};
            if (limit == Limit::none && !out.doubt) out.doubt = Doubt{zero, "perhaps has no limit (" + s.name + ")"};
        }
        if (!found && !out.doubt)
            out.doubt = Doubt{{}, "contains " + s.name + " whose singularities could neither be found nor excluded"};
    }
}

}  // namespace saltus::expr
