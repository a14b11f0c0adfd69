// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/adjoint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/sensitivity/arc/detail/arc_flow.hpp"
#include "saltus/sensitivity/detail/probe.hpp"
#include "saltus/sensitivity/saltation/detail/grazing.hpp"

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

/// What a piece of the motion does.
struct Passage {
    std::vector<ArcFlow::Step> steps;  ///< of an arc
    std::size_t number = 0;            ///< of a change
    Saltation saltation;
};

/// Something that must be zero for a variable to have a derivative.
struct Demand {
    double t = 0.0;
    std::string otherwise;
    RowVector change;  ///< as it was where it was met, in the columns of Tangent
};

/// y = ∂o/∂x at the present time, and g = ∂o/∂p as far as it is known:
///     ẏ = −f_xᵀ y,  ġ = −f_pᵀ y;   at a change y⁻ = Ξᵀ y⁺ and likewise g.
/// Two combinations of the variables go forwards first and leave the steps in which forward mode would go; back goes
/// their transpose. Conditions on variables are functionals of their own, from the change that asks for them to the
/// start.
class Backward {
public:
    Backward(const model::Model& model, const integrate::Recording& recording, const Options& options, Sensitivity& out)
        : recording_(recording),
          out_(out),
          x_(model, recording, out.with_respect_to),
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
        // The first change is passed by the variables themselves, as in forward mode.
        const auto& first = std::get<RecordedChange>(recording_.pieces.front());
        start_.pass(first, saltation(x_, first, nullptr), true);
        out_.events.clear();
        bool possible = start_.any();
        // Variables that turn out to have no derivative do not count for the steps: once more without them.
        for (bool again = true; possible && again;) {
            functionals_.clear();
            demands_.clear();
            possible = go() && come_back(output);
            again = possible && refuse();
        }
        for (Eigen::Index j = 0; j < start_.rows.rows(); ++j)
            out_.output_derivative.push_back(possible && start_.lives(j) ? value(functionals_[0], j) : none);
        out_.evaluations = flow_.evaluations;
        return true;
    }

private:
    void open(RowVector y) { functionals_.push_back({std::move(y), std::vector<double>(borrowed_.size(), 0.0)}); }

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

    void remark_end(double t) {
        if (!end_told_) out_.remarks.push_back({t, "", std::string(on_end) + "on one side alone"});
        end_told_ = true;
    }

    /// Forwards: steps and saltations.
    bool go() {
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

    bool come_back(const Output& output) {
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
                       "events fall together here, it moves them apart, and what follows may depend on their order");
    }

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

    double value(const Functional& f, Eigen::Index j) const {
        const double dt = f.times[0] != 0.0 ? f.times[0] * start_.times()(j) : 0.0;
        return f.y.dot(start_.rows.row(j).tail(f.y.size())) + dt;
    }

    /// Ends the variables that do not meet a demand; whether there were any.
    bool refuse() {
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
    const std::vector<Times> borrowed_;
    std::vector<char> lent_;  // changes whose time another has
    Probe probe_;
    ArcFlow flow_;
    Directions start_;
    std::vector<Passage> passages_;        // of all pieces after the first
    std::vector<Functional> functionals_;  // the output, then the demands
    std::vector<Demand> demands_;
    bool demands_met_ = false, end_told_ = false;
};

}  // namespace

bool backwards(const model::Model& model, const integrate::Recording& recording, const Output& output,
               const Options& options, Sensitivity& out) {
    return Backward(model, recording, options, out).run(output);
}

}  // namespace saltus::sensitivity
