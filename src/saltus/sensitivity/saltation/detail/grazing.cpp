// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/grazing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/arc/detail/arc_motion.hpp"
#include "saltus/sensitivity/saltation/detail/directions.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::ElementKind;

/// A gap grazes if its minimum is at most this · (scale of the positions). The value is above
/// the error of a motion by Taylor series over some periods.
constexpr double grazing_gap_ratio = 2e-13;
/// Gaps and rates at the ends of a step below this · (their scale) belong to a contact that is closed, or has just
/// lifted off: |g| ≤ this · (scale of the positions), |ġ| ≤ this · (scale of the velocities).
constexpr double noise_ratio = 1e-9;
/// A part of a step is searched for a grazing gap if the gap at its ends is at most this · (change of the gap on the
/// part and its neighbours). A parabola dips by at most half of its change on the neighbours.
constexpr double largest_dip_ratio = 2.0;
/// Bisections of a step; more do not change a double.
constexpr int max_bisections = 60;

struct Gap {
    double value = 0.0, rate = 0.0;
};

/// Evaluates gaps along a motion.
class OpenGaps {
public:
    OpenGaps(integrate::Dynamics& dynamics, std::vector<double>& memory) : d_(dynamics), state_(memory) {
        if (state_.size() != ix(d_.state_size())) state_.resize(ix(d_.state_size()));
    }

    /// Evaluates gaps and their rates at a time.
    void look(const ode::Dense& step, double t) {
        step.evaluate(t, state_.data());
        d_.evaluate_terms(t, state_.data());
    }
    /// The gap of an element at the last look.
    Gap gap(int element) const {
        const int row = row_of(element);
        return {d_.terms().positions[ix(row)], d_.row_velocity(row)};
    }
    /// The gaps at a time for the positions q, without their rates.
    std::span<const double> values(double t, std::span<const double> q) {
        std::copy(q.begin(), q.end(), state_.begin());
        return d_.positions(t, state_.data());
    }
    int row_of(int element) const { return d_.elements()[ix(element)].rows.normal; }
    const std::vector<double>& state() const { return state_; }
    std::span<const double> velocities() const { return {state_.data() + d_.size(), ix(d_.size())}; }

private:
    integrate::Dynamics& d_;
    std::vector<double>& state_;
};

/// Positions q at times that cut a step into equal parts.
class SampledPositions {
public:
    SampledPositions(int n, std::vector<double>& memory) : n_(n), q_(memory) {
        if (q_.size() < ix(n) * (max_parts + 1)) q_.resize(ix(n) * (max_parts + 1));
    }

    /// Samples a step of the form `series` up to a time. A polynomial of low degree needs fewer parts.
    void sample(const ode::Dense& step, double until) {
        const double from = step.t_old(), to = std::min(step.t_new(), until);
        order_ = significant_order(step, n_);
        parts_ = to > from ? parts_for(order_) : 0;
        for (int i = 0; i <= parts_; ++i) times_[ix(i)] = i == parts_ ? to : from + (to - from) * i / parts_;
        switch (parts_) {
            case 11: evaluate_all<12>(step); break;
            case 7: evaluate_all<8>(step); break;
            case 5: evaluate_all<6>(step); break;
            case 3: evaluate_all<4>(step); break;
            default: evaluate_all<1>(step); break;
        }
    }

    std::span<const double> times() const { return {times_.data(), ix(parts_ + 1)}; }
    std::span<const double> q(std::size_t i) const { return {&q_[i * ix(n_)], ix(n_)}; }

private:
    static constexpr int max_parts = 11;

    /// A step of a Taylor series covers at most ωh = 3.5 of an oscillation, a little more than half a period. With 11
    /// parts there are about 20 samples in a period. The terms (ωh)^k/k! of an oscillation above the order N are below
    /// 1e-12 (significant_order) if ωh <= (1e-12 (N + 1)!)^(1/(N + 1)): 0.19 for N = 8, 1.4 for N = 16 and 2.3 for
    /// N = 21. Three, five and seven parts are at least as dense then. All numbers of parts are odd: if the search for
    /// events keeps a step short because a gap touches zero, then the touch is at a quarter of the step, and no sample
    /// must be there.
    static int parts_for(int degree) {
        if (degree <= 8) return 3;
        if (degree <= 16) return 5;
        return degree <= 21 ? 7 : max_parts;
    }

    /// Two numbers that one instruction adds or multiplies.
    using Pair = double __attribute__((vector_size(16)));

    /// Horner's scheme at all times at once: the processor need not wait for one product after the other. Terms that do
    /// not matter are left out.
    template <std::size_t Count>
    void evaluate_all(const ode::Dense& step) {
        constexpr std::size_t pairs = (Count + 1) / 2;
        Pair theta[pairs], value[pairs];
        const double duration = step.t_new() - step.t_old();
        const auto part = [&](std::size_t i) { return i < Count ? (times_[i] - step.t_old()) / duration : 0.0; };
        for (std::size_t i = 0; i < pairs; ++i) theta[i] = Pair{part(2 * i), part(2 * i + 1)};
        const double* const all = step.coefficients().data();
        const int size = step.size();
        for (int component = 0; component < n_; ++component) {
            for (std::size_t i = 0; i < pairs; ++i) value[i] = Pair{0.0, 0.0};
            for (int k = order_; k >= 0; --k) {
                const Pair c{all[k * size + component], all[k * size + component]};
                for (std::size_t i = 0; i < pairs; ++i) value[i] = value[i] * theta[i] + c;
            }
            for (std::size_t i = 0; i < Count; ++i) q_[i * ix(n_) + ix(component)] = value[i / 2][i % 2];
        }
    }

    int n_, order_ = 0, parts_ = 0;
    std::array<double, max_parts + 1> times_{};
    std::vector<double>& q_;
};

/// Whether a gap between two times, whose rate is negative at the first and positive at the second, stays above a limit
/// even if it falls and rises with the larger of both rates over the whole time.
bool stays_above(double limit, const Gap& a, const Gap& b, double duration) {
    return std::min(a.value, b.value) > limit + duration * std::max(-a.rate, b.rate);
}

/// The minimum of a gap in a step, between `from`, where it is a and its rate is negative, and `to`, where it is b and
/// its rate is positive, by bisection of the rate. Returns its time (from below) and the gap at the last look. Nothing
/// if the gap stays above the limit.
std::optional<std::pair<double, Gap>> minimum_of(OpenGaps& gaps, int element, const ode::Dense& step, double from,
                                                 Gap a, double to, Gap b, double limit) {
    double left = from, right = to;
    Gap middle;
    for (int tries = 0; tries < max_bisections && left < right; ++tries) {
        if (stays_above(limit, a, b, right - left)) return {};
        const double t = 0.5 * (left + right);
        if (!(left < t && t < right)) break;
        gaps.look(step, t);
        middle = gaps.gap(element);
        if (middle.rate < 0.0) {
            left = t;
            a = middle;
        } else {
            right = t;
            b = middle;
        }
    }
    return {{left, middle}};
}

/// Whether a gap may have a minimum near zero on the part i of a step. It is judged by the gap at the ends of all
/// parts. Let the gap change by `before`, `own` and `after` on the part before, on the part itself and on the part
/// after it. A minimum needs a falling gap and then a rising one, and a smooth gap falls below its ends by less than
/// the largest change. Beyond the ends of the step the changes are extrapolated.
bool may_graze(std::span<const double> gap, std::size_t i) {
    const std::size_t parts = gap.size() - 1;
    const auto change = [&](std::size_t k) { return gap[k + 1] - gap[k]; };
    const double own = change(i);
    const double before = i > 0 ? change(i - 1) : 2.0 * own - change(i + 1);
    const double after = i + 1 < parts ? change(i + 1) : 2.0 * own - change(i - 1);
    const double largest = std::max({std::abs(before), std::abs(own), std::abs(after)});
    return std::min(before, own) < 0.0 && std::max(own, after) > 0.0 &&
           std::min(gap[i], gap[i + 1]) <= largest_dip_ratio * largest;
}

/// Searches an arc for open gaps that graze.
class GrazingSearch {
public:
    GrazingSearch(Tangent& tangent, const integrate::RecordedArc& arc)
        : x_(tangent),
          arc_(arc),
          gaps_(tangent.dynamics, tangent.grazing_memory.state),
          samples_(tangent.n(), tangent.grazing_memory.positions),
          open_(tangent.grazing_memory.open),
          values_(tangent.grazing_memory.values) {
        open_.clear();
        for (std::size_t i = 0; i < arc.mode->elements.size(); ++i)
            if (x_.dynamics.elements()[i].rows.kind == ElementKind::contact && !arc.mode->elements[i].active &&
                arc.mode->elements[i].exists)
                open_.push_back(static_cast<int>(i));
    }

    NearMiss run() {
        if (open_.empty()) return {};
        NearMiss miss;
        for (const ode::Dense& step : arc_.steps) {
            const bool series = step.form() == ode::Dense::Form::series;
            miss = series ? in_series(step) : in_short_step(step);
            if (!miss.text.empty()) break;
        }
        return miss;
    }

private:
    void look(const ode::Dense& step, double t, std::vector<Gap>& out) {
        gaps_.look(step, t);
        out.clear();
        for (const int element : open_) out.push_back(gaps_.gap(element));
    }

    /// A step as short as those of Runge–Kutta methods: the rates at its ends tell whether a gap has a minimum.
    NearMiss in_short_step(const ode::Dense& step) {
        const double from = step.t_old(), to = std::min(step.t_new(), arc_.t_end);
        if (!(to > from)) return {};
        if (before_at_ != from) look(step, from, before_);
        look(step, to, after_);
        for (std::size_t k = 0; k < open_.size(); ++k)
            if (NearMiss miss = graze(open_[k], step, from, before_[k], to, after_[k]); !miss.text.empty()) return miss;
        before_.swap(after_);
        before_at_ = to;
        return {};
    }

    /// A long step: samples of the gaps tell where rates must be looked at.
    NearMiss in_series(const ode::Dense& step) {
        samples_.sample(step, arc_.t_end);
        const std::span<const double> times = samples_.times();
        if (values_.size() < open_.size() * times.size()) values_.resize(open_.size() * times.size());
        for (std::size_t i = 0; i < times.size(); ++i) {
            const std::span<const double> all = gaps_.values(times[i], samples_.q(i));
            for (std::size_t k = 0; k < open_.size(); ++k)
                values_[k * times.size() + i] = all[ix(gaps_.row_of(open_[k]))];
        }
        for (std::size_t k = 0; k < open_.size(); ++k) {
            const std::span<const double> gap(&values_[k * times.size()], times.size());
            for (std::size_t i = 0; i + 1 < times.size(); ++i) {
                if (i > 0 && gap[i] < noise_ratio * std::min(gap[i - 1], gap[i + 1]))
                    if (NearMiss miss = touch(open_[k], step, times[i], gap.subspan(i - 1, 3)); !miss.text.empty())
                        return miss;
                if (!may_graze(gap, i)) continue;
                gaps_.look(step, times[i]);
                const Gap a = gaps_.gap(open_[k]);
                gaps_.look(step, times[i + 1]);
                const Gap b = gaps_.gap(open_[k]);
                if (NearMiss miss = graze(open_[k], step, times[i], a, times[i + 1], b); !miss.text.empty())
                    return miss;
            }
        }
        return {};
    }

    NearMiss grazing_at(double t, int element, double gap) const {
        return {t, "grazing: the gap of '" +
                       x_.model().contacts[ix(x_.dynamics.elements()[ix(element)].rows.index)].name +
                       "' comes down to " + number_text(gap) + " and opens again"};
    }

    /// Whether a gap grazes at the time of a sample, where its rate is zero. `gap`: the samples before, at and after t.
    NearMiss touch(int element, const ode::Dense& step, double t, std::span<const double> gap) {
        gaps_.look(step, t);
        const double scale = x_.dynamics.position_scale(gaps_.row_of(element), gaps_.state().data());
        const bool grazes = gap[1] <= grazing_gap_ratio * scale && std::min(gap[0], gap[2]) > noise_ratio * scale;
        return grazes ? grazing_at(t, element, gap[1]) : NearMiss{};
    }

    /// Whether a gap grazes between two times of a step, at which it is a and b.
    NearMiss graze(int element, const ode::Dense& step, double from, const Gap& a, double to, const Gap& b) {
        // A gap that does not close even with the larger rate over the whole time needs no bisection.
        if (!(a.rate < 0.0 && b.rate > 0.0) || stays_above(0.0, a, b, to - from)) return {};
        integrate::Dynamics& d = x_.dynamics;
        const int row = gaps_.row_of(element);
        gaps_.look(step, to);
        const double scale = d.position_scale(row, gaps_.state().data());
        const double speed = model::row_scale(x_.model().layout().rows, d.terms().W, row, gaps_.velocities());
        if (!(a.rate < -noise_ratio * speed && b.rate > noise_ratio * speed && a.value > noise_ratio * scale &&
              b.value > noise_ratio * scale))
            return {};
        const auto found = minimum_of(gaps_, element, step, from, a, to, b, grazing_gap_ratio * scale);
        if (!found || found->second.value > grazing_gap_ratio * scale) return {};
        return grazing_at(found->first, element, found->second.value);
    }

    Tangent& x_;
    const integrate::RecordedArc& arc_;
    OpenGaps gaps_;
    SampledPositions samples_;
    std::vector<int>& open_;                                       // elements
    std::vector<Gap> before_, after_;                              // at the ends of a short step, one per open gap
    double before_at_ = std::numeric_limits<double>::quiet_NaN();  // time of before_
    std::vector<double>& values_;                                  // samples of one open gap after the other
};

}  // namespace

namespace {

/// A jump of the model that is not triggered although its quantity passes zero, because its condition `if` is zero
/// there: for variations to one side it happens. Passages within a step are found if the sign differs at its ends.
NearMiss untriggered_jump(Tangent& x, const integrate::RecordedArc& arc) {
    using Direction = model::Jump::Direction;
    constexpr double edge = 1e-12;  // of the condition, in its unit
    constexpr int bisections = 60;
    std::vector<double> state(ix(x.dynamics.state_size()));
    for (const model::Jump& jump : x.model().jumps) {
        if (jump.guard == model::no_coefficient) continue;
        const auto value = [&](const ode::Dense& step, double t, model::Coefficient c) {
            step.evaluate(t, state.data());
            x.dynamics.evaluate_terms(t, state.data());
            return x.dynamics.coefficients()[ix(c)];
        };
        for (const ode::Dense& step : arc.steps) {
            double low = std::max(step.t_old(), arc.t_begin), high = std::min(step.t_new(), arc.t_end);
            const double from = value(step, low, jump.when), to = value(step, high, jump.when);
            if (!((from < 0.0 && to >= 0.0) || (from > 0.0 && to <= 0.0))) continue;
            if (jump.direction != Direction::both && (jump.direction == Direction::up) != (from < 0.0)) continue;
            for (int k = 0; k < bisections; ++k) {
                const double middle = 0.5 * (low + high), v = value(step, middle, jump.when);
                ((v < 0.0) == (from < 0.0) && v != 0.0 ? low : high) = middle;
            }
            if (std::abs(value(step, high, jump.guard)) <= edge)
                return {high, "the jump '" + jump.name +
                                  "' is not triggered here, because its condition is met with equality; a variation to "
                                  "one side makes it happen"};
        }
    }
    return {};
}

}  // namespace

NearMiss near_miss(Tangent& x, const integrate::RecordedArc& arc) {
    if (NearMiss miss = untriggered_jump(x, arc); !miss.text.empty()) return miss;
    if (x.dynamics.compliant() || x.model().contacts.empty()) return {};
    return GrazingSearch(x, arc).run();
}

namespace {

/// Expressions that jump at the end of the motion: the accelerations just before and just after it differ.
void add_jumps_at_end(Tangent& x, const integrate::RecordedArc& arc, const trajectory::Trajectory& motion,
                      Matrix& out) {
    if (x.linearised.switches() == 0) return;
    constexpr double offset_ratio = 1e-9;  // of the duration of the arc
    constexpr double jump_ratio = 1e-6;    // of the accelerations
    const int n = x.n();
    std::vector<double> state(ix(x.dynamics.state_size())), values(ix(x.linearised.switches()));
    arc.steps.back().evaluate(arc.t_end, state.data());
    x.set_mode(arc.mode, arc.t_end, state.data());
    Vector along, before, after;
    if (!x.velocity_field(arc.t_end, state.data(), along)) return;
    Matrix slopes;
    x.linearised.switches(arc.t_end, state.data(), values);
    x.linearised.switch_derivatives(arc.t_end, state.data(), slopes);
    const auto field_at = [&](double later, Vector& f) {
        std::vector<double> shifted = state;
        for (int i = 0; i < 2 * n; ++i) shifted[ix(i)] += later * along(i);
        return x.velocity_field(arc.t_end + later, shifted.data(), f);
    };
    const double offset = offset_ratio * (arc.t_end - arc.t_begin);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const auto row = slopes.row(static_cast<Eigen::Index>(k));
        const double rate = row(0) + row.segment(1, 2 * n).dot(along.transpose());
        if (rate == 0.0 || !falls_on_end(arc.t_end - std::abs(values[k] / rate), motion)) continue;
        if (!field_at(-offset, before) || !field_at(offset, after)) return;
        const double size = (before.tail(n).cwiseAbs() + after.tail(n).cwiseAbs()).maxCoeff();
        if (!((after - before).tail(n).cwiseAbs().maxCoeff() > jump_ratio * size)) continue;
        out.conservativeResize(out.rows() + 1, Eigen::NoChange);
        out.bottomRows(1) = -row / rate;
    }
}

}  // namespace

// With a gap g > 0 and the rate ġ < 0 at the end, the impact would come g/|ġ| after the end. It is imminent if the time
// g/|ġ| before the end could not be distinguished from the end. Its δt is that of the condition g = 0 (saltation.cpp):
// δt = −∂g/ġ.
Matrix imminent(Tangent& x, const integrate::RecordedArc& arc, const trajectory::Trajectory& motion) {
    integrate::Dynamics& d = x.dynamics;
    Matrix out(0, x.columns());
    if (d.compliant() || arc.steps.empty()) return out;
    std::vector<double> state(ix(d.state_size()));
    arc.steps.back().evaluate(arc.t_end, state.data());
    d.evaluate_terms(arc.t_end, state.data());
    Matrix position;
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const integrate::ElementLayout& e = d.elements()[i];
        if (e.rows.kind != ElementKind::contact || arc.mode->elements[i].active || !arc.mode->elements[i].exists)
            continue;
        const double gap = d.terms().positions[ix(e.rows.normal)], rate = d.row_velocity(e.rows.normal);
        if (!(rate < 0.0) || !falls_on_end(arc.t_end + gap / rate, motion)) continue;
        if (position.size() == 0)
            x.linearised.gather(model::Function::position, arc.t_end, state.data(), {}, {}, position);
        out.conservativeResize(out.rows() + 1, Eigen::NoChange);
        out.bottomRows(1) = -position.row(e.rows.normal) / rate;
    }
    add_jumps_at_end(x, arc, motion, out);
    return out;
}

}  // namespace saltus::sensitivity
