// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "saltus/base/text.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;
using integrate::Watch;

/// Compared values below this part of the largest on their arc are zero; and near to it.
constexpr double zero = 1e-13, near = 1e-2;
/// Accelerations of a motion are off by less than this part of them, whatever its tolerance.
constexpr double defect = 0.05;

/// What is compared changes its sign between two times next to each other.
struct Crossing {
    double left, right;
    int number;
};

class Cutter {
public:
    Cutter(const model::Model& model, const std::vector<Variable>& variables, const integrate::Recording& recording)
        : x_(model, recording, variables),
          state_(static_cast<std::size_t>(x_.dynamics.state_size())),
          values_(static_cast<std::size_t>(x_.linearised.switches())) {}

    bool any() const { return !values_.empty(); }
    std::optional<double> stays() const { return stays_; }  ///< first time at which the motion keeps to a jump

    std::vector<Crossing> crossings(const RecordedArc& arc) {
        std::vector<Crossing> found;
        const std::vector<Sample> samples = samples_of(arc);
        for (std::size_t k = 0; k < values_.size(); ++k) {
            double largest = 0.0;
            for (const Sample& s : samples) largest = std::max(largest, std::abs(s.values[k]));
            const Sample* last = nullptr;
            for (const Sample& s : samples) {
                if (std::abs(s.values[k]) <= zero * largest) continue;
                const bool changes = last != nullptr && (last->values[k] < 0.0) != (s.values[k] < 0.0);
                if (changes)
                    locate(arc, k, *last, s, found);
                else if (last != nullptr && s.middle && !stays_ && std::abs(s.values[k]) <= near * largest &&
                         keeps(arc, s))
                    stays_ = s.t;
                last = &s;
            }
        }
        std::sort(found.begin(), found.end(), [](const Crossing& a, const Crossing& b) { return a.left < b.left; });
        return found;
    }

    /// The arc from one time to another.
    static RecordedArc part(const RecordedArc& arc, double from, double to) {
        RecordedArc out{from, to, arc.mode, arc.implicit, {}};
        for (const ode::Dense& step : arc.steps)
            if (step.t_new() > from && step.t_old() < to) out.steps.push_back(step);
        return out;
    }

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

    /// What jumps where the motion begins: its accelerations a little before, had it come from there, are others.
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
        const double little = 1e-9 * (arc.t_end - arc.t_begin);
        if (!look(-little, before)) return list;
        const std::vector<double> others = values_;
        if (!look(little, after)) return list;
        const int n = x_.n();
        const double size = (before.tail(n).cwiseAbs() + after.tail(n).cwiseAbs()).maxCoeff();
        if (!((before - after).tail(n).cwiseAbs().maxCoeff() > 1e-6 * size)) return list;
        for (std::size_t k = 0; k < values_.size(); ++k)
            if ((others[k] < 0.0) != (values_[k] < 0.0)) list.push_back({Watch::What::jump, static_cast<int>(k)});
        return list;
    }

private:
    struct Sample {
        double t;
        bool middle;  // of a step
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

    /// From one side of zero to the other; twice, to zero and away from it, where it stays zero for a while.
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
        if (zero_to - left <= 1e-12 * (after.t - before.t)) {
            found.push_back({left, right, number});
        } else {
            found.push_back({left, zero_from, number});
            found.push_back({zero_to, right, number});
        }
    }

    /// Whether the motion keeps to where an expression jumps: near to it, with accelerations of neither side.
    bool keeps(const RecordedArc& arc, const Sample& middle) {
        at(arc, middle.t);
        x_.set_mode(arc.mode, middle.t, state_.data());
        Vector f;
        if (!x_.velocity_field(middle.t, state_.data(), f)) return false;
        std::vector<double> rates(state_.size());
        step_at(arc, middle.t)->derivative(middle.t, rates.data());
        const int n = x_.n();
        const Eigen::Map<const Vector> a(rates.data() + n, n);
        return (f.tail(n) - a).cwiseAbs().maxCoeff() > defect * (f.tail(n).cwiseAbs() + a.cwiseAbs()).maxCoeff();
    }

    Tangent x_;
    std::vector<double> state_, values_;
    std::optional<double> stays_;
};

}  // namespace

std::string cut_at_jumps(const model::Model& model, const std::vector<Variable>& variables,
                         integrate::Recording& recording) {
    Cutter cutter(model, variables, recording);
    if (!cutter.any()) return {};
    std::vector<integrate::RecordedPiece> pieces;
    std::size_t events = 0;
    for (std::size_t k = 0; k < recording.pieces.size(); ++k) {
        integrate::RecordedPiece& piece = recording.pieces[k];
        auto* const arc = std::get_if<RecordedArc>(&piece);
        if (const auto* change = std::get_if<RecordedChange>(&piece)) events = change->events_to;
        // What is left of an accumulation ends with a change that has the time of the one before.
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
            const double together = 1e-14 * std::max(1.0, std::abs(all[begin].left));
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
    return "an expression jumps at t = " + number_text(*cutter.stays()) +
           " and the motion keeps to it: " + integrate::instead_of_jumps;
}

}  // namespace saltus::sensitivity
