// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/adjoint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/sensitivity/arc_flow.hpp"
#include "saltus/sensitivity/directions.hpp"
#include "saltus/sensitivity/grazing.hpp"
#include "saltus/sensitivity/limit.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;
using RowVector = Eigen::RowVectorXd;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
/// So many conditions on the variables are followed back; beyond them they are taken as met.
constexpr std::size_t most_demands = 100;

/// A linear function of the derivatives at the present time: y of the state, g of the parameters, and the δt of changes
/// before.
struct Functional {
    RowVector y;                ///< 2n + parameters
    std::vector<double> times;  ///< one a change
};

/// Something that must be zero for a variable to have a derivative.
struct Demand {
    double t = 0.0;
    std::string otherwise;
    RowVector change;  ///< as it was where it was met, in the columns of Tangent
};

/// y = ∂o/∂x at the present time, and g = ∂o/∂p as far as it is known:
///     ẏ = −f_xᵀ y,  ġ = −f_pᵀ y;   at a change y⁻ = Ξᵀ y⁺ and likewise g.
/// Conditions on variables are functionals of their own, from the change that asks for them to the start.
class Backward {
public:
    Backward(const model::Model& model, const integrate::Recording& recording, const Options& options, Sensitivity& out)
        : recording_(recording),
          out_(out),
          x_(model, recording.compliant, recording.stiffness),
          n_(x_.n()),
          flow_(x_, options.tolerance) {}

    void run(const Output& output) {
        find_times();
        open(output.gradient.tail(x_.columns() - 1).transpose());
        bool possible = true;
        std::size_t number = times_of_.size();
        for (std::size_t k = recording_.pieces.size(); k-- > 1 && possible;) {
            const auto& piece = recording_.pieces[k];
            if (const auto* change = std::get_if<RecordedChange>(&piece))
                possible = pass(*change, --number);
            else
                possible = follow(std::get<RecordedArc>(piece));
        }
        begin(possible);
        out_.evaluations = flow_.evaluations;
    }

private:
    /// Whose δt a change has that has none of its own: that of the change before, or of the accumulation it began.
    void find_times() {
        AccumulationLimits limits(out_.motion.elements.size());
        std::vector<std::pair<std::size_t, double>> last;
        for (const auto& piece : recording_.pieces) {
            const auto* const change = std::get_if<RecordedChange>(&piece);
            if (change == nullptr) continue;
            const std::size_t number = times_of_.size();
            times_of_.push_back(last);
            const bool own = !change->found.empty() && !change->unavoidable;
            if (own || number == 0) last = {{number, 1.0}};
            for (std::size_t e = change->events_from; e < change->events_to; ++e) {
                const trajectory::Event& event = out_.motion.events[e];
                if (event.kind == trajectory::EventKind::impact)
                    for (const int element : event.elements) limits.impact(element, event.t, number);
                if (event.kind == trajectory::EventKind::accumulation && event.t > change->t)
                    last = limits.weights(event);
            }
        }
    }

    void open(RowVector y) { functionals_.push_back({std::move(y), std::vector<double>(times_of_.size(), 0.0)}); }

    void demand(double t, const RowVector& change, std::string otherwise) {
        if (demands_.size() == most_demands) {
            if (!demands_met_)
                out_.remarks.push_back({t, "",
                                        "there are many events at one time up to here: right for variables that "
                                        "keep them together"});
            demands_met_ = true;
            return;
        }
        demands_.push_back({t, std::move(otherwise), change});
        open(change.tail(x_.columns() - 1));
    }

    bool stop(double t, std::string why) {
        out_.remarks.push_back({t, "", std::move(why)});
        return false;
    }

    bool follow(const RecordedArc& arc) {
        if (const NearMiss miss = near_miss(x_, arc); !miss.text.empty()) return stop(miss.t, miss.text);
        Matrix gradients(static_cast<Eigen::Index>(functionals_.size()), x_.columns() - 1);
        for (std::size_t k = 0; k < functionals_.size(); ++k)
            gradients.row(static_cast<Eigen::Index>(k)) = functionals_[k].y;
        if (!flow_.backwards(arc, gradients))
            return stop(arc.t_begin, "the linearised equations cannot be integrated here");
        for (std::size_t k = 0; k < functionals_.size(); ++k)
            functionals_[k].y = gradients.row(static_cast<Eigen::Index>(k));
        return true;
    }

    bool pass(const RecordedChange& change, std::size_t number) {
        const Saltation s = saltation(x_, change, false);
        if (!s.exists) return stop(change.t, s.why_not);
        if (!s.smooth && s.untimed)
            return stop(change.t, "the reactions are not unique, and the time of this event has no derivative");
        if (!s.smooth && !s.inherited)
            for (const EventCondition& c : s.events)
                if (std::string why = grazes(c); !why.empty()) return stop(change.t, std::move(why));
        if (!s.smooth && s.inherited && times_of_[number].empty())
            return stop(change.t, "the impacts before it do not follow a geometric law: its time has no derivative");
        for (Functional& f : functionals_) transpose(s, number, f);
        for (const Condition& c : s.conditions) demand(change.t, c.change, c.otherwise);
        if (!s.smooth && !s.inherited)
            for (std::size_t k = 1; k < s.events.size(); ++k)
                demand(change.t, s.events[k].s / s.events[k].rate - s.events[0].s / s.events[0].rate,
                       "events fall together here, it moves them apart, and their order decides");
        return true;
    }

    void transpose(const Saltation& s, std::size_t number, Functional& f) {
        const RowVector after = f.y.head(2 * n_);
        RowVector total = after * s.map;
        const double along = s.smooth ? 0.0 : after.dot(s.drift);
        if (s.inherited)
            for (const auto& [of, weight] : times_of_[number]) f.times[of] += weight * along;
        else if (const double weight = along + f.times[number]; weight != 0.0)
            total -= weight / s.events[0].rate * s.events[0].s;
        f.y.head(2 * n_).setZero();
        f.y += total.tail(f.y.size());
    }

    /// The first change is passed by the variables themselves, as in forward mode.
    void begin(bool possible) {
        Directions start(x_, out_);
        start.pass(std::get<RecordedChange>(recording_.pieces.front()), true);
        out_.events.clear();
        const auto value = [&](const Functional& f, Eigen::Index j) {
            const double dt = start.times()(j);
            return f.y.dot(start.rows.row(j).tail(f.y.size())) + (f.times[0] != 0.0 ? f.times[0] * dt : 0.0);
        };
        for (Eigen::Index j = 0; j < start.rows.rows(); ++j) {
            for (std::size_t k = demands_.size(); possible && start.lives(j) && k-- > 0;) {
                const Demand& d = demands_[k];
                double size = start.usual()(j, 0) * d.change.segment(1, n_).cwiseAbs().sum() +
                              start.usual()(j, 1) * d.change.segment(1 + n_, n_).cwiseAbs().sum();
                size +=
                    d.change.tail(x_.parameters()).cwiseAbs().dot(start.rows.row(j).tail(x_.parameters()).cwiseAbs());
                if (!(std::abs(value(functionals_[k + 1], j)) > agreement * size)) continue;
                start.remark(d.t, start.name(j), d.otherwise);
                start.end(j);
            }
            out_.output_derivative.push_back(possible && start.lives(j) ? value(functionals_[0], j) : none);
        }
    }

    const integrate::Recording& recording_;
    Sensitivity& out_;
    Tangent x_;
    const int n_;
    ArcFlow flow_;
    std::vector<Functional> functionals_;  // the output, then the demands
    std::vector<Demand> demands_;
    bool demands_met_ = false;
    std::vector<std::vector<std::pair<std::size_t, double>>> times_of_;  // changes without a time of their own
};

}  // namespace

void backwards(const model::Model& model, const integrate::Recording& recording, const Output& output,
               const Options& options, Sensitivity& out) {
    Backward(model, recording, options, out).run(output);
}

}  // namespace saltus::sensitivity
