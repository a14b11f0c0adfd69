// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/adjoint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/numbers.hpp"
#include "saltus/sensitivity/arc/detail/arc_flow.hpp"
#include "saltus/sensitivity/detail/probe.hpp"
#include "saltus/sensitivity/saltation/detail/grazing.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;
using RowVector = Eigen::RowVectorXd;

/// Number of conditions on the variables that are carried back to the start. Further ones are assumed to be met, and a
/// remark says so.
constexpr std::size_t max_demands = 100;

/// A linear functional of the derivatives at the present time: y·(δx, δp) + Σ times_k δt_k.
struct Functional {
    RowVector y;                ///< coefficients of the state (2n) and of the parameters
    std::vector<double> times;  ///< coefficients of δt of the changes before the present time
};

/// The linearisation of one piece of the motion.
struct Passage {
    std::vector<ArcFlow::Step> steps;  ///< if the piece is an arc
    std::size_t number = 0;            ///< if the piece is a change: its number
    Saltation saltation;
};

/// A quantity that must not vary along a variable; otherwise the variable has no derivative.
struct Demand {
    double t = 0.0;
    std::string otherwise;  ///< the text of the remark
    RowVector change;       ///< derivative of the quantity at time t, in the columns of Tangent
};

// Derivation. The output o has δo = y·δx + g·δp at the end, with y = ∂o/∂x and g = ∂o/∂p. y and g are carried back so
// that δo stays the same for every δx, δp:
//   on an arc       δẋ = f_x δx + f_p δp   ⇒   ẏ = −f_xᵀ y,   ġ = −f_pᵀ y     (d/dt (y·δx + g·δp) = 0);
//   at a change     δx⁺ = map·δ + drift δt with δt = −s·δ/ṡ   ⇒   (y⁻, g⁻) = y⁺·map + (0, g⁺) − (y⁺·drift) s/ṡ.
// If the change has no condition of its own then δt = Σ w_k δt_k of earlier changes: the weight y⁺·drift goes to
// Functional::times, and change k adds −times_k s_k/ṡ_k when it is reached (see `transpose`).
// The arcs are not integrated again. A probe goes forwards first and determines the steps of the linearised equations;
// each step is then transposed exactly, so that forward and adjoint mode agree to rounding.
// A condition on variables is a functional of its own. It is opened at the change that poses it, carried back to the
// start, and evaluated there for each variable.
class Backward {
public:
    Backward(const model::Mechanics& model, const integrate::Recording& recording,
             std::shared_ptr<integrate::Dynamics> dynamics, const Options& options, Sensitivity& out)
        : recording_(recording),
          out_(out),
          x_(model, recording, out.with_respect_to, std::move(dynamics)),
          n_(x_.n()),
          borrowed_(borrowed_times(recording, out.motion)),
          lent_(borrowed_.size(), 0),
          probe_(x_, out, borrowed_),
          flow_(x_, options.tolerance, probe_.size_q, probe_.size_u),
          start_(x_, out) {
        std::size_t number = 0;
        for (const auto& piece : recording.pieces)
            if (const auto* change = std::get_if<RecordedChange>(&piece)) {
                if (change->found.empty() || change->unavoidable)
                    for (const auto& [of, weight] : borrowed_[number]) lent_[of] = 1;
                ++number;
            }
    }

    bool run(const Output& output) {
        if (!x_.linearised.available()) return false;
        // The first change is applied to the variables themselves, as in forward mode.
        const auto& first = std::get<RecordedChange>(recording_.pieces.front());
        start_.pass(first, saltation(x_, first, nullptr), true);
        out_.events.clear();
        bool possible = start_.any();
        // A variable that turns out to have no derivative must not influence the steps: repeat without it.
        for (bool again = true; possible && again;) {
            functionals_.clear();
            demands_.clear();
            possible = sweep_forwards() && sweep_backwards(output);
            again = possible && end_variables_that_break_demands();
        }
        for (Eigen::Index j = 0; j < start_.rows.rows(); ++j)
            out_.output_derivative.push_back(possible && start_.lives(j) ? value(functionals_[0], j) : nan);
        out_.evaluations = flow_.evaluations;
        return true;
    }

private:
    /// Begins a functional of the state at the present time.
    void open(RowVector y) { functionals_.push_back({std::move(y), std::vector<double>(borrowed_.size(), 0.0)}); }

    void demand(double t, const RowVector& change, std::string otherwise) {
        if (demands_.size() == max_demands) {
            if (!too_many_told_)
                out_.remarks.push_back({t, "",
                                        "more simultaneous events than can be tested: derivatives are right for "
                                        "variables that do not separate them"});
            too_many_told_ = true;
            return;
        }
        demands_.push_back({t, std::move(otherwise), change});
        open(change.tail(x_.columns() - 1));
    }

    bool stop(double t, std::string why) {
        out_.remarks.push_back({t, "", std::move(why)});
        return false;
    }

    void remark_end(double t) {
        if (!end_told_) out_.remarks.push_back({t, "", std::string(on_end) + "on one side only"});
        end_told_ = true;
    }

    /// Carries the probe forwards, and collects the steps of the arcs and the saltations.
    bool sweep_forwards() {
        probe_.start(start_);
        passages_.clear();
        std::size_t number = 0;
        Matrix nobody(0, x_.columns());
        for (std::size_t k = 1; k < recording_.pieces.size(); ++k) {
            Passage passage;
            if (const auto* change = std::get_if<RecordedChange>(&recording_.pieces[k])) {
                passage.number = ++number;
                passage.saltation = saltation(x_, *change, &recording_.pieces[k - 1]);
                if (!allowed(*change, passage.saltation, number)) return false;
                if (!passage.saltation.smooth && falls_on_end(change->t, out_.motion)) remark_end(change->t);
                probe_.pass(number, passage.saltation);
            } else {
                const auto& arc = std::get<RecordedArc>(recording_.pieces[k]);
                if (const NearMiss miss = near_miss(x_, arc); !miss.text.empty()) return stop(miss.t, miss.text);
                if (!flow_.forwards(arc, probe_.rows, nobody))
                    return stop(arc.t_end, "the linearised equations cannot be integrated here");
                passage.steps = flow_.steps();
                if (k + 1 == recording_.pieces.size() && imminent(x_, arc, out_.motion).rows() > 0)
                    remark_end(arc.t_end);
            }
            passages_.push_back(std::move(passage));
        }
        return true;
    }

    /// Whether the derivative of all variables continues through a change; otherwise a remark says why not.
    bool allowed(const RecordedChange& change, const Saltation& s, std::size_t number) {
        if (!s.exists) return stop(change.t, s.why_not);
        if (s.smooth) return true;
        if (s.untimed)
            return stop(change.t, "the reactions are not unique, and the time of this event has no derivative");
        if (s.inherited && borrowed_[number].empty())
            return stop(change.t, "the impacts before it do not follow a geometric law: its time has no derivative");
        for (const EventCondition& c : s.events)
            if (std::string why = grazes(c); !why.empty()) return stop(change.t, std::move(why));
        return true;
    }

    bool sweep_backwards(const Output& output) {
        open(x_.columns_of(output.gradient).tail(x_.columns() - 1));
        for (std::size_t k = passages_.size(); k-- > 0;) {
            const auto& piece = recording_.pieces[k + 1];
            if (const auto* change = std::get_if<RecordedChange>(&piece))
                pass(*change, passages_[k]);
            else if (!follow(std::get<RecordedArc>(piece), passages_[k].steps))
                return false;
        }
        return true;
    }

    bool follow(const RecordedArc& arc, const std::vector<ArcFlow::Step>& steps) {
        Matrix gradients(static_cast<Eigen::Index>(functionals_.size()), x_.columns() - 1);
        for (std::size_t k = 0; k < functionals_.size(); ++k)
            gradients.row(static_cast<Eigen::Index>(k)) = functionals_[k].y;
        if (!flow_.backwards(arc, steps, gradients))
            return stop(arc.t_begin, "the linearised equations cannot be integrated here");
        for (std::size_t k = 0; k < functionals_.size(); ++k)
            functionals_[k].y = gradients.row(static_cast<Eigen::Index>(k));
        return true;
    }

    void pass(const RecordedChange& change, const Passage& passage) {
        const Saltation& s = passage.saltation;
        for (Functional& f : functionals_) transpose(s, passage.number, f);
        for (const Condition& c : s.conditions) demand(change.t, c.change, c.otherwise);
        if (!s.smooth && !s.inherited && (s.drifts.cols() == 0 || lent_[passage.number] != 0))
            for (std::size_t k = 1; k < s.events.size(); ++k)
                demand(change.t, s.events[k].s / s.events[k].rate - s.events[0].s / s.events[0].rate,
                       "events happen at the same time, the variable separates them, and the result may depend on "
                       "their order");
    }

    /// The transpose of `passed` in saltation.cpp.
    void transpose(const Saltation& s, std::size_t number, Functional& f) {
        const RowVector after = f.y.head(2 * n_);
        RowVector total = after * s.map;
        double along = s.smooth ? 0.0 : after.dot(s.drift);
        if (s.drifts.cols() > 0) {
            for (Eigen::Index k = 0; k < s.drifts.cols(); ++k) {
                const EventCondition& c = s.events[static_cast<std::size_t>(k)];
                total -= after.dot(s.drifts.col(k)) / c.rate * c.s;
            }
            along = 0.0;
        }
        if (s.inherited)
            for (const auto& [of, weight] : borrowed_[number]) f.times[of] += weight * along;
        else if (const double weight = along + f.times[number]; weight != 0.0)
            total -= weight / s.events[0].rate * s.events[0].s;
        f.y.head(2 * n_).setZero();
        f.y += total.tail(f.y.size());
    }

    /// The value of a functional at the start, for variable j.
    double value(const Functional& f, Eigen::Index j) const {
        const double dt = f.times[0] != 0.0 ? f.times[0] * start_.times()(j) : 0.0;
        return f.y.dot(start_.rows.row(j).tail(f.y.size())) + dt;
    }

    /// Ends the variables along which a demanded quantity varies. Returns whether there were any.
    bool end_variables_that_break_demands() {
        bool any = false;
        for (Eigen::Index j = 0; j < start_.rows.rows(); ++j)
            for (std::size_t k = demands_.size(); start_.lives(j) && k-- > 0;) {
                const Demand& d = demands_[k];
                double size = start_.usual()(j, 0) * d.change.segment(1, n_).cwiseAbs().sum() +
                              start_.usual()(j, 1) * d.change.segment(1 + n_, n_).cwiseAbs().sum();
                size +=
                    d.change.tail(x_.parameters()).cwiseAbs().dot(start_.rows.row(j).tail(x_.parameters()).cwiseAbs());
                if (!(std::abs(value(functionals_[k + 1], j)) > agreement * size)) continue;
                start_.remark(d.t, start_.name(j), d.otherwise);
                start_.end(j);
                any = true;
            }
        return any;
    }

    const integrate::Recording& recording_;
    Sensitivity& out_;
    Tangent x_;
    const int n_;
    const std::vector<TimeCombination> borrowed_;
    std::vector<char> lent_;  // one per change: a later change has its time
    Probe probe_;
    ArcFlow flow_;
    Directions start_;
    std::vector<Passage> passages_;        // of all pieces after the first one
    std::vector<Functional> functionals_;  // of the output, then one per demand
    std::vector<Demand> demands_;
    bool too_many_told_ = false, end_told_ = false;  // remarks that are made once
};

}  // namespace

bool backwards(const model::Mechanics& model, const integrate::Recording& recording,
               std::shared_ptr<integrate::Dynamics> dynamics, const Output& output, const Options& options,
               Sensitivity& out) {
    return Backward(model, recording, std::move(dynamics), options, out).run(output);
}

}  // namespace saltus::sensitivity
