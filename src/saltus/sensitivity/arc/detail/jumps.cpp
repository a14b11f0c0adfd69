// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/system.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;
using integrate::Watch;

/// A compared value counts as zero if |value| ≤ zero_ratio · (largest value on the arc), and as near zero if
/// |value| ≤ near_ratio · (largest value).
constexpr double zero_ratio = 1e-13, near_ratio = 1e-2;
/// The accelerations of a simulated motion agree with the equations to this part of them, whatever its tolerance. A
/// larger deviation means that the motion follows a jump, where it has an acceleration between those of the two sides.
constexpr double acceleration_deviation = 0.05;
/// Part of the first arc by which the motion is continued to both sides of its start.
constexpr double start_offset_ratio = 1e-9;
/// Accelerations on the two sides of the start differ if |difference| > this · (their size).
constexpr double start_jump_ratio = 1e-6;
/// For a motion that stays where a compared value is zero: two displacements to both sides of it, in 1 + |state|. The
/// accelerations jump there if their difference does not shrink with the displacement, as it does at a kink.
constexpr double side_offsets[] = {1e-6, 1e-9};
constexpr double shrinking_ratio = 0.5;
/// There is a kink if the slopes of the accelerations on the two sides differ by more than this part of them.
constexpr double kink_ratio = 1e-3;
/// A contact or constraint keeps the motion there if |w·d| > this · Σ|w_i d_i| for the displacement d.
constexpr double held_ratio = 1e-9;
/// A compared value that stays zero for longer than this part of the interval between two samples has two crossings.
constexpr double zero_stay_ratio = 1e-12;
/// Crossings of several expressions happen together if their times differ by at most this · max(1, t).
constexpr double together_ratio = 1e-14;

/// A sign change of a compared value between two neighbouring floating-point times.
struct Crossing {
    double left, right;
    int number;  ///< of the compared value, see Linearised::switches
};

/// Finds the jumps and kinks of expressions along recorded arcs, and makes mode changes of them.
class Cutter {
public:
    Cutter(const model::Mechanics& model, const std::vector<Variable>& variables, const integrate::Recording& recording)
        : x_(model, recording, variables),
          state_(static_cast<std::size_t>(x_.dynamics.state_size())),
          values_(static_cast<std::size_t>(x_.linearised.switches())) {}

    std::optional<double> stays() const { return stays_; }  ///< first time at which the motion follows a jump, if any

    bool on_kink() const { return on_kink_; }  ///< stays() is at a kink: the forces are continuous

    /// The sign changes of all compared values on an arc, in order of time.
    std::vector<Crossing> crossings(const RecordedArc& arc) {
        std::vector<Crossing> found;
        const std::vector<Sample> samples = samples_of(arc);
        for (std::size_t k = 0; k < values_.size(); ++k) {
            double largest = 0.0;
            for (const Sample& s : samples) largest = std::max(largest, std::abs(s.values[k]));
            const Sample* last = nullptr;
            if (largest == 0.0 && !samples.empty() && !stays_ && lies_on_jump(arc, k)) {
                stays_ = arc.t_begin;
                on_kink_ = kink_;
            }
            for (const Sample& s : samples) {
                if (std::abs(s.values[k]) <= zero_ratio * largest) continue;
                const bool changes = last != nullptr && (last->values[k] < 0.0) != (s.values[k] < 0.0);
                if (changes)
                    locate(arc, k, *last, s, found);
                else if (last != nullptr && s.middle && !stays_ && std::abs(s.values[k]) <= near_ratio * largest &&
                         follows_jump(arc, s))
                    stays_ = s.t;
                last = &s;
            }
        }
        std::sort(found.begin(), found.end(), [](const Crossing& a, const Crossing& b) { return a.left < b.left; });
        return found;
    }

    /// The part of an arc between two times.
    static RecordedArc part(const RecordedArc& arc, double from, double to) {
        RecordedArc out{from, to, arc.mode, arc.implicit, {}};
        for (std::size_t k = 0; k < arc.steps.size(); ++k) {
            const ode::Dense& step = arc.steps[k];
            if (!(step.t_new() > from && step.t_old() < to)) continue;
            out.steps.push_back(step);
            if (k < arc.reactions.size()) out.reactions.push_back(arc.reactions[k]);
        }
        return out;
    }

    /// The mode change for the crossings begin … end − 1, which happen together. The mode stays the same; the states
    /// before and after it are those on the two sides. `events` is the number of trajectory events so far.
    RecordedChange change(const RecordedArc& arc, const std::vector<Crossing>& all, std::size_t begin, std::size_t end,
                          std::size_t events) {
        RecordedChange c;
        const double left = all[begin].left;
        double right = all[begin].right;
        for (std::size_t k = begin; k < end; ++k) {
            right = std::max(right, all[k].right);
            c.found.push_back({Watch::What::jump, all[k].number});
        }
        c.t = right;
        c.earlier = right - left;
        at(arc, left);
        c.before = state_;
        x_.set_mode(arc.mode, left, state_.data());
        x_.dynamics.evaluate_terms(left, state_.data());
        x_.dynamics.turn_slip(x_.dynamics.followed_mode());
        c.mode_before = c.mode_after = x_.dynamics.mode();
        at(arc, right);
        c.after = state_;
        c.events_from = c.events_to = events;
        return c;
    }

    /// The expressions that jump at the start of the motion. The motion is continued in a straight line to both sides
    /// of the start; an expression jumps there if its compared value changes sign and the accelerations differ.
    std::vector<Watch> at_start(const RecordedArc& arc) {
        std::vector<Watch> list;
        arc.steps.front().evaluate(arc.t_begin, state_.data());
        const std::vector<double> start = state_;
        Vector along, before, after;
        x_.set_mode(arc.mode, arc.t_begin, start.data());
        if (!x_.velocity_field(arc.t_begin, start.data(), along)) return list;
        const auto look = [&](double later, Vector& f) {
            for (Eigen::Index i = 0; i < along.size(); ++i)
                state_[static_cast<std::size_t>(i)] = start[static_cast<std::size_t>(i)] + later * along(i);
            x_.linearised.switches(arc.t_begin + later, state_.data(), values_);
            return x_.velocity_field(arc.t_begin + later, state_.data(), f);
        };
        const double offset = start_offset_ratio * (arc.t_end - arc.t_begin);
        if (!look(-offset, before)) return list;
        const std::vector<double> others = values_;
        if (!look(offset, after)) return list;
        const int n = x_.n();
        const double size = (before.tail(n).cwiseAbs() + after.tail(n).cwiseAbs()).maxCoeff();
        if (!((before - after).tail(n).cwiseAbs().maxCoeff() > start_jump_ratio * size)) return list;
        for (std::size_t k = 0; k < values_.size(); ++k)
            if ((others[k] < 0.0) != (values_[k] < 0.0)) list.push_back({Watch::What::jump, static_cast<int>(k)});
        return list;
    }

private:
    /// The compared values at one time. Every step gives samples at its ends and in its middle.
    struct Sample {
        double t;
        bool middle;  // in the middle of a step
        std::vector<double> values;
    };

    static auto step_at(const RecordedArc& arc, double t) {
        return std::partition_point(arc.steps.begin(), std::prev(arc.steps.end()),
                                    [t](const ode::Dense& s) { return s.t_new() < t; });
    }

    void at(const RecordedArc& arc, double t) { step_at(arc, t)->evaluate(t, state_.data()); }

    const std::vector<double>& values(const RecordedArc& arc, double t) {
        at(arc, t);
        x_.linearised.switches(t, state_.data(), values_);
        return values_;
    }

    std::vector<Sample> samples_of(const RecordedArc& arc) {
        std::vector<Sample> samples;
        for (const ode::Dense& step : arc.steps) {
            const double from = std::max(step.t_old(), arc.t_begin), to = std::min(step.t_new(), arc.t_end);
            if (!(from < to)) continue;
            for (const double c : {0.0, 0.5, 1.0}) {
                const double t = c == 1.0 ? to : from + c * (to - from);
                if (!samples.empty() && t == samples.back().t) continue;
                step.evaluate(t, state_.data());
                x_.linearised.switches(t, state_.data(), values_);
                samples.push_back({t, c == 0.5, values_});
            }
        }
        return samples;
    }

    /// Locates a sign change between two samples by bisection. If the value stays zero for a while then there are two
    /// crossings: to zero, and away from it.
    void locate(const RecordedArc& arc, std::size_t k, const Sample& before, const Sample& after,
                std::vector<Crossing>& found) {
        const auto side = [&](double t) {
            const double value = values(arc, t)[k];
            return value < 0.0 ? -1 : value > 0.0 ? 1 : 0;
        };
        const int first = before.values[k] < 0.0 ? -1 : 1;
        const auto bisect = [&](double left, double right, auto&& is_left) {
            for (;;) {
                const double middle = left + 0.5 * (right - left);
                if (!(left < middle && middle < right)) return std::pair{left, right};
                (is_left(middle) ? left : right) = middle;
            }
        };
        const auto [left, zero_from] = bisect(before.t, after.t, [&](double t) { return side(t) == first; });
        const auto [zero_to, right] = side(zero_from) == -first
                                          ? std::pair{left, zero_from}
                                          : bisect(zero_from, after.t, [&](double t) { return side(t) != -first; });
        const auto number = static_cast<int>(k);
        if (zero_to - left <= zero_stay_ratio * (after.t - before.t)) {
            found.push_back({left, right, number});
        } else {
            found.push_back({left, zero_from, number});
            found.push_back({zero_to, right, number});
        }
    }

    /// Whether the motion follows a jump of an expression: near zero, its accelerations are those of neither side.
    bool follows_jump(const RecordedArc& arc, const Sample& middle) {
        at(arc, middle.t);
        x_.set_mode(arc.mode, middle.t, state_.data());
        Vector f;
        if (!x_.velocity_field(middle.t, state_.data(), f)) return false;
        std::vector<double> rates(state_.size());
        step_at(arc, middle.t)->derivative(middle.t, rates.data());
        const int n = x_.n();
        const Eigen::Map<const Vector> a(rates.data() + n, n);
        return (f.tail(n) - a).cwiseAbs().maxCoeff() >
               acceleration_deviation * (f.tail(n).cwiseAbs() + a.cwiseAbs()).maxCoeff();
    }

    /// Whether a compared value is zero on the whole arc, and the accelerations on its two sides differ, or their
    /// derivatives do (`kink_`), as for max(0, x). A body at rest
    /// on the ridge of U = −|x| stays there, because sign(0) = 0, but any other start leaves it. A jump that contacts
    /// and constraints do not let the motion reach does not count.
    bool lies_on_jump(const RecordedArc& arc, std::size_t k) {
        const double t = arc.t_begin;
        at(arc, t);
        const std::vector<double> here = state_;
        x_.set_mode(arc.mode, t, here.data());
        Matrix slopes;
        x_.linearised.switch_derivatives(t, here.data(), slopes);
        const int n = x_.n();
        const Vector slope = slopes.row(static_cast<Eigen::Index>(k)).segment(1, 2 * n);
        if (slope.isZero(0.0)) return false;
        Vector way(2 * n), field[2];
        for (int i = 0; i < 2 * n; ++i) way(i) = slope(i) * (1.0 + std::abs(here[static_cast<std::size_t>(i)]));
        way /= way.cwiseAbs().maxCoeff();
        if (!x_.dynamics.evaluate(t, here.data()) || leaves_closed_rows(way)) return false;
        Vector middle;
        if (!x_.velocity_field(t, here.data(), middle)) return false;
        double difference[2], bend[2], change[2];
        for (const int level : {0, 1}) {
            double value[2];
            for (const int side : {0, 1}) {
                const double offset = side == 0 ? -side_offsets[level] : side_offsets[level];
                for (int i = 0; i < 2 * n; ++i)
                    state_[ix(i)] = here[ix(i)] + offset * way(i) * (1.0 + std::abs(here[ix(i)]));
                x_.linearised.switches(t, state_.data(), values_);
                value[side] = values_[k];
                if (!x_.velocity_field(t, state_.data(), field[side])) return false;
            }
            if (!(value[0] < 0.0 && value[1] > 0.0)) return false;
            difference[level] = (field[1] - field[0]).tail(n).cwiseAbs().maxCoeff();
            bend[level] = (field[1] + field[0] - 2.0 * middle).tail(n).cwiseAbs().maxCoeff() / side_offsets[level];
            change[level] =
                ((field[1] - middle).tail(n).cwiseAbs() + (field[0] - middle).tail(n).cwiseAbs()).maxCoeff() /
                side_offsets[level];
        }
        // A smooth function bends by an amount that shrinks with the square of the displacement.
        kink_ = bend[1] > shrinking_ratio * bend[0] && bend[0] > kink_ratio * change[0];
        const double size = (field[0].tail(n).cwiseAbs() + field[1].tail(n).cwiseAbs()).maxCoeff();
        const bool jumps = difference[1] > start_jump_ratio * size && difference[1] > shrinking_ratio * difference[0];
        kink_ = kink_ && !jumps;
        return jumps || kink_;
    }

    /// Whether a displacement of positions or velocities changes a row of the mode that constraints, closed contacts,
    /// locked clutches or sticking friction hold.
    bool leaves_closed_rows(const Vector& way) {
        const int n = x_.n();
        const integrate::Dynamics& d = x_.dynamics;
        const auto changes = [&](int row) {
            for (const int from : {0, n}) {
                double sum = 0.0, size = 0.0;
                for (int i = 0; i < n; ++i) {
                    Vector unit = Vector::Zero(n);
                    unit(i) = 1.0;
                    const double term =
                        model::row_dot(x_.model().layout().rows, d.terms().W, row, {unit.data(), ix(n)}) *
                        way(from + i);
                    sum += term;
                    size += std::abs(term);
                }
                if (std::abs(sum) > held_ratio * size) return true;
            }
            return false;
        };
        for (std::size_t e = 0; e < d.elements().size(); ++e) {
            if (!d.mode().elements[e].active) continue;
            if (const int row = d.elements()[e].rows.normal; row >= 0 && changes(row)) return true;
            for (const int p : d.elements()[e].part_numbers())
                for (int r = 0; r < d.parts()[ix(p)].size; ++r)
                    if (!d.mode().parts[ix(p)].slips && changes(d.parts()[ix(p)].row + r)) return true;
        }
        return false;
    }

    Tangent x_;
    std::vector<double> state_, values_;
    std::optional<double> stays_;
    bool kink_ = false;     // of the last lies_on_jump
    bool on_kink_ = false;  // stays_ is at a kink, not at a jump
};

}  // namespace

std::string cut_at_jumps(const model::Mechanics& model, const std::vector<Variable>& variables,
                         integrate::Recording& recording) {
    const auto jacobians = model.system->jacobians_by(Tangent::parameters_of(variables));
    if (jacobians == nullptr || jacobians->switches() == 0) return {};
    Cutter cutter(model, variables, recording);
    std::vector<integrate::RecordedPiece> pieces;
    std::size_t events = 0;
    for (std::size_t k = 0; k < recording.pieces.size(); ++k) {
        integrate::RecordedPiece& piece = recording.pieces[k];
        auto* const arc = std::get_if<RecordedArc>(&piece);
        if (const auto* change = std::get_if<RecordedChange>(&piece)) events = change->events_to;
        // The arc between an accumulation's last impact and its limit ends with a change without a condition: not cut.
        const auto* const next =
            k + 1 < recording.pieces.size() ? std::get_if<RecordedChange>(&recording.pieces[k + 1]) : nullptr;
        std::vector<Crossing> all;
        if (arc != nullptr && !arc->steps.empty() && (next == nullptr || !next->found.empty()))
            all = cutter.crossings(*arc);
        if (pieces.size() == 1 && arc != nullptr && !arc->steps.empty())
            std::get<RecordedChange>(pieces.front()).found = cutter.at_start(*arc);
        if (all.empty()) {
            pieces.push_back(std::move(piece));
            continue;
        }
        double from = arc->t_begin;
        for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
            const double together = together_ratio * std::max(1.0, std::abs(all[begin].left));
            while (end < all.size() && all[end].left <= all[begin].right + together) ++end;
            RecordedChange change = cutter.change(*arc, all, begin, end, events);
            pieces.emplace_back(Cutter::part(*arc, from, change.t - change.earlier));
            from = change.t;
            pieces.emplace_back(std::move(change));
        }
        pieces.emplace_back(Cutter::part(*arc, from, arc->t_end));
    }
    recording.pieces = std::move(pieces);
    if (!cutter.stays()) return {};
    if (cutter.on_kink())
        return "an expression has a kink at t = " + number_text(*cutter.stays()) +
               " and the motion stays on it: derivatives would hold on one side only";
    return "an expression jumps at t = " + number_text(*cutter.stays()) +
           " and the motion follows the jump: " + integrate::instead_of_jumps;
}

}  // namespace saltus::sensitivity
