// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/forward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/text.hpp"
#include "saltus/sensitivity/arc_motion.hpp"
#include "saltus/sensitivity/limit.hpp"
#include "saltus/sensitivity/linear_flow.hpp"
#include "saltus/sensitivity/saltation.hpp"
#include "saltus/sensitivity/start.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;
using trajectory::EventKind;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
/// What should be zero is, to this part of its terms.
constexpr double agreement = 1e-7;
/// Saltation matrices of larger systems are not kept.
constexpr int most_for_saltation = 20;

class Forward {
public:
    Forward(const model::Model& model, const integrate::Recording& recording, const Options& options, Sensitivity& out)
        : options_(options),
          recording_(recording),
          out_(out),
          x_(model, recording.compliant, recording.stiffness),
          motion_(x_),
          flow_(x_.n(), false, options.tolerance),
          n_(x_.n()),
          k_(static_cast<Eigen::Index>(out.with_respect_to.size())),
          directions_(Matrix::Zero(k_, x_.columns())),
          alive_(out.with_respect_to.size(), 1),
          dt_(Vector::Zero(k_)),
          limits_(out.motion.elements.size()) {}

    void run() {
        directions_ = initial_directions(x_.model(), out_.with_respect_to);
        usual_ = usual_sizes();
        flow_.set_floor(usual_);
        bool first = true;
        for (const auto& piece : recording_.pieces) {
            if (std::none_of(alive_.begin(), alive_.end(), [](char a) { return a != 0; })) break;
            if (const auto* change = std::get_if<RecordedChange>(&piece)) {
                pass(*change, first);
                if (first) enter(*change);
                first = false;
            } else {
                follow(std::get<RecordedArc>(piece));
            }
        }
        for (std::size_t e = out_.events.size(); e < out_.motion.events.size(); ++e) {
            EventSensitivity event;
            event.event = e;
            event.dt.assign(alive_.size(), none);
            event.transversality = none;
            out_.events.push_back(std::move(event));
        }
        out_.final = state();
        for (Eigen::Index j = 0; j < k_; ++j)
            if (alive_[static_cast<std::size_t>(j)] == 0) out_.final.col(j).setConstant(none);
        out_.evaluations = flow_.evaluations;
    }

private:
    Matrix state() const { return directions_.middleCols(1, 2 * n_).transpose(); }
    const std::string& name(Eigen::Index j) const { return out_.with_respect_to[static_cast<std::size_t>(j)].name; }
    bool lives(Eigen::Index j) const { return alive_[static_cast<std::size_t>(j)] != 0; }

    void remark(double t, const std::string& variable, const std::string& text) {
        if (out_.remarks.size() < 200) out_.remarks.push_back({t, variable, text});
    }
    void end(Eigen::Index j) {
        alive_[static_cast<std::size_t>(j)] = 0;
        directions_.row(j).setZero();
    }
    void end_all(double t, const std::string& why) {
        remark(t, "", why);
        for (Eigen::Index j = 0; j < k_; ++j) end(j);
    }

    /// A thousandth of what derivatives of such states by such values are.
    Matrix usual_sizes() const {
        Matrix sizes(k_, 2);
        const auto largest = [](const std::vector<double>& x) {
            double most = 1.0;
            for (const double v : x) most = std::max(most, std::abs(v));
            return most;
        };
        for (Eigen::Index j = 0; j < k_; ++j) {
            const double value = std::abs(out_.with_respect_to[static_cast<std::size_t>(j)].value);
            const double per = 1e-3 / (value > 0.0 ? value : 1.0);
            sizes(j, 0) = per * largest(out_.motion.end.q);
            sizes(j, 1) = per * largest(out_.motion.end.u);
        }
        return sizes;
    }

    /// How large a derivative along the direction of a variable could be; what it is compared with to be nothing.
    double magnitude(const Eigen::RowVectorXd& change, Eigen::Index j) const {
        return change.cwiseAbs().dot(directions_.row(j).cwiseAbs()) +
               usual_(j, 0) * change.segment(1, n_).cwiseAbs().sum() +
               usual_(j, 1) * change.segment(1 + n_, n_).cwiseAbs().sum();
    }

    /// What the mode at the start demands of the initial values.
    void enter(const RecordedChange& change) {
        const StartCheck check(x_, change);
        for (Eigen::Index j = 0; j < k_; ++j) {
            if (!lives(j)) continue;
            const std::string why = check.refusal(directions_.row(j));
            if (why.empty()) continue;
            remark(change.t, name(j), why);
            end(j);
        }
        check.arrest(directions_);
    }

    void follow(const RecordedArc& arc) {
        if (arc.steps.empty() || arc.t_end <= arc.t_begin) return;
        motion_.begin(arc);
        Matrix Y = directions_.middleCols(1, 2 * n_), rates;
        const auto rate = [&](double t, const Matrix& at, Matrix& out) {
            if (!motion_.prepare(t)) return false;
            directions_.middleCols(1, 2 * n_) = at;
            x_.linearised.along(directions_, rates);
            out.resize(k_, 2 * n_);
            out.leftCols(n_) = at.rightCols(n_);
            out.rightCols(n_) = rates;
            return true;
        };
        const auto full = [&](double t, Matrix& L, Matrix& force) {
            if (!motion_.evaluate(t)) return false;
            const Matrix& a = x_.linearised.acceleration();
            L.setZero(2 * n_, 2 * n_);
            L.topRightCorner(n_, n_).setIdentity();
            L.bottomRows(n_) = a.middleCols(1, 2 * n_);
            force.setZero(k_, 2 * n_);
            force.rightCols(n_) = directions_.rightCols(x_.parameters()) * a.rightCols(x_.parameters()).transpose();
            return true;
        };
        const LinearProblem problem{rate, full};
        for (const ode::Dense& step : arc.steps) {
            motion_.begin_step(step);
            const double until = std::min(step.t_new(), arc.t_end);
            const bool done = flow_.advance(problem, step.t_old(), until, arc.implicit, Y);
            directions_.middleCols(1, 2 * n_) = Y;
            if (!done) return end_all(until, "the linearised equations cannot be integrated here");
            if (options_.keep_course) out_.course.push_back({until, state()});
        }
    }

    /// δt of the change for one direction; NaN and why not where its conditions disagree.
    double time_derivative(const Saltation& s, Eigen::Index j, std::string& why) const {
        if (s.inherited) return dt_(j);
        if (s.untimed) {
            why = "the reactions are not unique, and the time at which they stop to hold has no derivative";
            return none;
        }
        double first = none, worst = 0.0, size = 0.0;
        for (const EventCondition& c : s.events) {
            if (c.transversality < transversality_margin) {
                why = "grazing: the condition of the event is met with transversality " +
                      number_text(c.transversality) + ", below " + number_text(transversality_margin);
                return none;
            }
            const double dt = -c.s.dot(directions_.row(j)) / c.rate;
            size = std::max(size, magnitude(c.s, j) / std::abs(c.rate));
            if (std::isnan(first)) first = dt;
            worst = std::max(worst, std::abs(dt - first));
        }
        if (worst > agreement * size) {
            why = counted(s.events.size(), "event") + " fall together here, and it moves them apart";
            return none;
        }
        return first;
    }

    void pass(const RecordedChange& change, bool start) {
        const Saltation s = saltation(x_, change, start);
        if (!s.exists) {
            record(change, s, Vector::Constant(k_, none));
            return end_all(change.t, s.why_not);
        }
        Vector dt(k_);
        std::string told;
        for (Eigen::Index j = 0; j < k_; ++j) {
            dt(j) = none;
            if (!lives(j)) continue;
            std::string why;
            dt(j) = time_derivative(s, j, why);
            if (std::isnan(dt(j)) && !why.empty() && (!s.smooth || change.events_to > change.events_from))
                remark(change.t, name(j),
                       why + (s.smooth ? "; the time of the event has no derivative, the state has"
                                       : "; the order of what happens decides, and there is no derivative"));
            if (std::isnan(dt(j)) && !s.smooth) {
                end(j);
                continue;
            }
            for (const Condition& c : s.conditions) {
                if (!(std::abs(c.change.dot(directions_.row(j))) > agreement * magnitude(c.change, j))) continue;
                remark(change.t, name(j), c.otherwise);
                end(j);
                break;
            }
            if (!lives(j)) continue;
            Vector after = s.map * directions_.row(j).transpose();
            if (!s.smooth) after += dt(j) * s.drift;
            directions_.row(j).segment(1, 2 * n_) = after.transpose();
        }
        limit_ = dt;
        record(change, s, dt);
        dt_ = limit_;
        // An impact at the very start takes place on the side on which its contacts are still open.
        if (!start) return;
        out_.one_sided.assign(alive_.size(), 0);
        for (Eigen::Index j = 0; j < k_; ++j)
            if (!s.events.empty() && lives(j) && std::abs(dt(j)) > 0.0)
                out_.one_sided[static_cast<std::size_t>(j)] = dt(j) > 0.0 ? 1 : -1;
    }

    void record(const RecordedChange& change, const Saltation& s, const Vector& dt) {
        times_.push_back(dt);
        double least = s.events.empty() ? none : 1.0;
        for (const EventCondition& c : s.events) least = std::min(least, c.transversality);
        for (std::size_t e = change.events_from; e < change.events_to; ++e) {
            const trajectory::Event& event = out_.motion.events[e];
            EventSensitivity d;
            d.event = e;
            d.dt.assign(dt.data(), dt.data() + dt.size());
            d.transversality = least;
            if (event.kind == EventKind::impact)
                for (const int element : event.elements) limits_.impact(element, event.t, times_.size() - 1);
            if (event.kind == EventKind::accumulation) {
                const auto weights = limits_.weights(event);
                Vector limit = Vector::Constant(k_, weights.empty() ? none : 0.0);
                for (const auto& [number, weight] : weights) limit += weight * times_[number];
                d.dt.assign(limit.data(), limit.data() + k_);
                if (event.t > change.t) limit_ = Eigen::Map<const Vector>(d.dt.data(), k_);
                if (std::any_of(d.dt.begin(), d.dt.end(), [](double v) { return std::isnan(v); }))
                    remark(event.t, "",
                           "the impacts do not follow a geometric law: the limit's time has no derivative");
            }
            if (s.exists && n_ <= most_for_saltation) {
                d.saltation = s.map.middleCols(1, 2 * n_);
                if (!s.events.empty() && s.events[0].rate != 0.0)
                    d.saltation -= s.drift * s.events[0].s.segment(1, 2 * n_) / s.events[0].rate;
            }
            out_.events.push_back(std::move(d));
        }
    }

    const Options& options_;
    const integrate::Recording& recording_;
    Sensitivity& out_;
    Tangent x_;
    ArcMotion motion_;
    LinearFlow flow_;
    const int n_;
    const Eigen::Index k_;
    Matrix directions_;  // variables × columns; δt = 0
    Matrix usual_;       // variables × 2
    std::vector<char> alive_;
    Vector dt_, limit_;  // of the last change; of the accumulation that it began
    AccumulationLimits limits_;
    std::vector<Vector> times_;  // δt of all changes
};

}  // namespace

void forwards(const model::Model& model, const integrate::Recording& recording, const Options& options,
              Sensitivity& out) {
    Forward(model, recording, options, out).run();
}

}  // namespace saltus::sensitivity
