// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/adjoint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/sensitivity/arc_motion.hpp"
#include "saltus/sensitivity/limit.hpp"
#include "saltus/sensitivity/linear_flow.hpp"
#include "saltus/sensitivity/saltation.hpp"
#include "saltus/sensitivity/start.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// y = ∂o/∂x at the present time, and g = ∂o/∂p as far as it is known:
///     ẏ = −f_xᵀ y,  ġ = −f_pᵀ y;   at a change y⁻ = Ξᵀ y⁺ and likewise g.
class Backward {
public:
    Backward(const model::Model& model, const integrate::Recording& recording, const Options& options, Sensitivity& out)
        : recording_(recording),
          out_(out),
          x_(model, recording.compliant, recording.stiffness),
          motion_(x_),
          n_(x_.n()),
          flow_(n_, true, options.tolerance) {}

    void run(const Output& output) {
        Y_ = output.gradient.tail(x_.columns() - 1).transpose();
        Matrix sizes(1, x_.parameters());
        for (Eigen::Index i = 0; i < sizes.cols(); ++i) {
            const double value = std::abs(x_.model().p[static_cast<std::size_t>(i)]);
            sizes(0, i) = 1e-3 * (std::abs(output.value) + 1e-3) / (value > 0.0 ? value : 1.0);
        }
        flow_.set_floor(Matrix::Zero(1, 2), sizes);
        find_times();
        bool possible = true;
        std::size_t number = times_of_.size();
        for (std::size_t k = recording_.pieces.size(); k-- > 0 && possible;) {
            const auto& piece = recording_.pieces[k];
            if (const auto* change = std::get_if<RecordedChange>(&piece))
                possible = pass(*change, --number);
            else
                possible = follow(std::get<RecordedArc>(piece));
        }
        out_.evaluations = flow_.evaluations;
        const Matrix directions = initial_directions(x_.model(), out_.with_respect_to);
        const auto& start = std::get<RecordedChange>(recording_.pieces.front());
        const StartCheck check(x_, start);
        for (Eigen::Index j = 0; j < directions.rows(); ++j) {
            const std::string why = check.refusal(directions.row(j));
            if (!why.empty())
                out_.remarks.push_back({start.t, out_.with_respect_to[static_cast<std::size_t>(j)].name, why});
            out_.output_derivative.push_back(
                possible && why.empty() ? Y_.row(0).dot(directions.row(j).tail(x_.columns() - 1)) : none);
        }
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
        carried_.assign(times_of_.size(), 0.0);
    }

    bool stop(double t, std::string why) {
        out_.remarks.push_back({t, "", std::move(why)});
        return false;
    }

    bool follow(const RecordedArc& arc) {
        if (arc.steps.empty() || arc.t_end <= arc.t_begin) return true;
        motion_.begin(arc);
        Vector y(n_), gradient;
        const auto rate = [&](double t, const Matrix& at, Matrix& out) {
            if (!motion_.prepare(t)) return false;
            y = at.row(0).segment(n_, n_).transpose();
            x_.linearised.against(y, gradient);
            out = -gradient.tail(x_.columns() - 1).transpose();
            out.row(0).segment(n_, n_) -= at.row(0).head(n_);
            return true;
        };
        const auto full = [&](double t, Matrix& L, Matrix& force) {
            if (!motion_.evaluate(t)) return false;
            L.setZero(Y_.cols(), Y_.cols());
            L.middleCols(n_, n_) = -x_.linearised.acceleration().rightCols(Y_.cols()).transpose();
            L.block(n_, 0, n_, n_) -= Matrix::Identity(n_, n_);
            force.setZero(1, Y_.cols());
            return true;
        };
        const LinearProblem problem{rate, full};
        for (auto step = arc.steps.rbegin(); step != arc.steps.rend(); ++step) {
            motion_.begin_step(*step);
            const double from = std::min(step->t_new(), arc.t_end);
            if (!flow_.advance(problem, from, step->t_old(), arc.implicit, Y_))
                return stop(step->t_old(), "the linearised equations cannot be integrated here");
        }
        return true;
    }

    bool pass(const RecordedChange& change, std::size_t number) {
        const bool start = number == 0;
        const Saltation s = saltation(x_, change, start);
        if (!s.exists) return stop(change.t, s.why_not);
        const Vector after = Y_.row(0).head(2 * n_).transpose();
        if (start) {
            // What does not last of initial velocities.
            const StartCheck check(x_, change);
            const Eigen::RowVectorXd u = after.tail(n_).transpose();
            Y_.row(0).segment(n_, n_).setZero();
            Y_ += (u * check.velocity()).tail(Y_.cols());
            return transpose(s, Y_.row(0).head(2 * n_).transpose(), change.t, number);
        }
        return transpose(s, after, change.t, number);
    }

    bool transpose(const Saltation& s, const Vector& after, double t, std::size_t number) {
        Eigen::RowVectorXd total = after.transpose() * s.map;
        const double along = s.smooth ? 0.0 : after.dot(s.drift);
        Y_.row(0).head(2 * n_).setZero();
        if (s.inherited) {
            if (along != 0.0 && number > 0 && times_of_[number].empty())
                return stop(t, "the impacts before it do not follow a geometric law: its time has no derivative");
            for (const auto& [of, weight] : times_of_[number]) carried_[of] += weight * along;
        } else {
            const double weight = along + carried_[number];
            if (weight != 0.0) {
                if (s.untimed)
                    return stop(t, "the reactions are not unique, and the time of this event has no derivative");
                for (const EventCondition& c : s.events)
                    if (c.transversality < transversality_margin)
                        return stop(t,
                                    "grazing: the condition of the event is met with transversality below the margin");
                total -= weight / s.events[0].rate * s.events[0].s;
                if (s.events.size() > 1)
                    out_.remarks.push_back(
                        {t, "", "events fall together here: right for variables that do not move them apart"});
            }
        }
        for (const Condition& c : s.conditions)
            if (c.change.cwiseAbs().maxCoeff() > 0.0)
                out_.remarks.push_back({t, "", c.otherwise + ": right for variables that leave this alone"});
        Y_ += total.tail(Y_.cols());
        return true;
    }

    const integrate::Recording& recording_;
    Sensitivity& out_;
    Tangent x_;
    ArcMotion motion_;
    const int n_;
    LinearFlow flow_;
    Matrix Y_;                                                           // 1 × (2n + parameters): y, g
    std::vector<std::vector<std::pair<std::size_t, double>>> times_of_;  // changes without a time of their own
    std::vector<double> carried_;                                        // what later changes ask of the δt of each
};

}  // namespace

void backwards(const model::Model& model, const integrate::Recording& recording, const Output& output,
               const Options& options, Sensitivity& out) {
    Backward(model, recording, options, out).run(output);
}

}  // namespace saltus::sensitivity
