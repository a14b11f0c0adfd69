// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/directions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/sensitivity/detail/start.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedChange;
using trajectory::EventKind;

/// Part of the typical derivative (Directions::usual) that every comparison with zero allows in addition to the actual
/// terms. It keeps rounding in directions that happen to be small from being taken for a derivative.
constexpr double usual_share = 1e-3;
/// Saltation matrices of systems with more coordinates are not stored in the result.
constexpr int max_coordinates_for_saltation = 20;
constexpr std::size_t max_remarks = 200;
/// An event falls on the end of the motion if t_end − t ≤ this · (duration of the motion).
constexpr double end_ratio = 1e-11;
/// A variable moves an event at the end if |δt| · |value| > this · (duration of the motion).
constexpr double moved_time_ratio = 1e-9;

double largest_or_one(const std::vector<double>& x) {
    double largest = 1.0;
    for (const double v : x) largest = std::max(largest, std::abs(v));
    return largest;
}

/// "larger" or "smaller": the values of a variable on the side 1 or −1.
const char* side_name(int side) { return side > 0 ? "larger" : "smaller"; }

Matrix usual_sizes(const Sensitivity& s) {
    Matrix sizes(static_cast<Eigen::Index>(s.with_respect_to.size()), 2);
    for (Eigen::Index j = 0; j < sizes.rows(); ++j) {
        const double value = std::abs(s.with_respect_to[static_cast<std::size_t>(j)].value);
        sizes(j, 0) = largest_or_one(s.motion.end.q) / (value > 0.0 ? value : 1.0);
        sizes(j, 1) = largest_or_one(s.motion.end.u) / (value > 0.0 ? value : 1.0);
    }
    return sizes;
}

}  // namespace

std::string grazes(const EventCondition& c) {
    if (c.relative_depth < relative_depth_margin)
        return "grazing: the gap would turn back at a depth of " + number_text(c.relative_depth) +
               " of its size, below " + number_text(relative_depth_margin);
    if (!(c.transversality < transversality_margin)) return {};
    return "grazing: the condition of the event is met with transversality " + number_text(c.transversality) +
           ", below " + number_text(transversality_margin);
}

bool falls_on_end(double t, const trajectory::Trajectory& motion) {
    return motion.end.t - t <= end_ratio * (motion.end.t - motion.start.t);
}

Directions::Directions(Tangent& tangent, Sensitivity& out)
    : rows(initial_directions(tangent, out.with_respect_to)),
      x_(tangent),
      out_(out),
      n_(tangent.n()),
      k_(rows.rows()),
      usual_(usual_sizes(out)),
      alive_(out.with_respect_to.size(), 1),
      dt_(Vector::Zero(k_)),
      limits_(out.motion.elements.size()) {
    times_.reserve(out.motion.events.size() + 1);  // usually one change per event, and the start
}

bool Directions::any() const {
    return std::any_of(alive_.begin(), alive_.end(), [](char a) { return a != 0; });
}

void Directions::remark(double t, const std::string& variable, const std::string& text) {
    if (out_.remarks.size() < max_remarks) out_.remarks.push_back({t, variable, text});
}

void Directions::end(Eigen::Index j) {
    alive_[static_cast<std::size_t>(j)] = 0;
    rows.row(j).setZero();
}

void Directions::end_all(double t, const std::string& why) {
    remark(t, "", why);
    for (Eigen::Index j = 0; j < k_; ++j) end(j);
}

/// The magnitude that change·δ_j could have if its terms did not cancel. change·δ_j counts as zero if it is below
/// `agreement` times this.
double Directions::magnitude(const Eigen::RowVectorXd& change, Eigen::Index j) const {
    return change.cwiseAbs().dot(rows.row(j).cwiseAbs()) +
           usual_share * (usual_(j, 0) * change.segment(1, n_).cwiseAbs().sum() +
                          usual_(j, 1) * change.segment(1 + n_, n_).cwiseAbs().sum());
}

/// Applies the requirements of the first mode to the initial values.
void Directions::enter(const RecordedChange& change) {
    const StartCheck check(x_, change);
    for (Eigen::Index j = 0; j < k_; ++j) {
        if (!lives(j)) continue;
        const std::string why = check.refusal(rows.row(j));
        if (const int side = check.side(rows.row(j)); why.empty() && side != 0) {
            int& known = out_.one_sided[static_cast<std::size_t>(j)];
            if (known == 0) known = side;
        }
        if (why.empty()) continue;
        remark(change.t, name(j), why);
        end(j);
    }
    check.arrest(rows);
}

/// δt of the change for one direction. NaN and a text in `why` if there is nan; NaN without a text if the events move
/// apart but their order does not matter (separate drifts).
double Directions::time_derivative(const Saltation& s, Eigen::Index j, std::string& why) const {
    if (s.inherited) {
        if (std::isnan(dt_(j))) why = "it follows at once from an event whose time has no derivative";
        return dt_(j);
    }
    if (s.untimed) {
        why = "the reactions are not unique, and the time at which they cease to hold has no derivative";
        return nan;
    }
    double first = nan, worst = 0.0, size = 0.0, sum = 0.0;
    for (const EventCondition& c : s.events) {
        if (why = grazes(c); !why.empty()) return nan;
        const double dt = -c.s.dot(rows.row(j)) / c.rate;
        size = std::max(size, magnitude(c.s, j) / std::abs(c.rate));
        sum += dt;
        if (std::isnan(first)) first = dt;
        worst = std::max(worst, std::abs(dt - first));
    }
    if (worst > (s.smooth ? agreement_of_times : agreement) * size) {
        if (s.drifts.cols() > 0) return nan;
        why = counted(s.events.size(), "event") +
              " happen at the same time, the variable separates them, and the result may depend on their order";
        return nan;
    }
    return s.smooth ? sum / static_cast<double>(s.events.size()) : first;
}

/// δt of each event, δt_k = −s_k·δ/ṡ_k, if their order does not matter.
Vector Directions::times_of(const Saltation& s, Eigen::Index j) const {
    Vector times(s.drifts.cols());
    for (Eigen::Index k = 0; k < times.size(); ++k) {
        const EventCondition& c = s.events[static_cast<std::size_t>(k)];
        times(k) = -c.s.dot(rows.row(j)) / c.rate;
    }
    return times;
}

void Directions::pass(const RecordedChange& change, const Saltation& s, bool first) {
    Matrix each(s.drifts.cols(), k_);  // δt of each event (row) if the variable (column) moves them apart
    each.setConstant(nan);
    if (!s.exists) {
        record(change, s, Vector::Constant(k_, nan), each);
        return end_all(change.t, s.why_not);
    }
    Vector dt = Vector::Constant(k_, nan);
    for (Eigen::Index j = 0; j < k_; ++j) {
        if (!lives(j)) continue;
        std::string why;
        dt(j) = time_derivative(s, j, why);
        if (std::isnan(dt(j)) && !why.empty() && (!s.smooth || change.events_to > change.events_from))
            remark(change.t, name(j),
                   why + (s.smooth ? "; the time of the event has no derivative, the state has" : ""));
        const bool apart = std::isnan(dt(j)) && why.empty() && s.drifts.cols() > 0;
        if (std::isnan(dt(j)) && !s.smooth && !apart) {
            end(j);
            continue;
        }
        for (const Condition& c : s.conditions) {
            if (!(std::abs(c.change.dot(rows.row(j))) > agreement * magnitude(c.change, j))) continue;
            remark(change.t, name(j), c.otherwise);
            end(j);
            break;
        }
        if (!lives(j)) continue;
        if (apart) each.col(j) = times_of(s, j);
        const Vector after = passed(s, rows.row(j), dt(j));
        rows.row(j).segment(1, 2 * n_) = after.transpose();
    }
    limit_ = dt;
    record(change, s, dt, each);
    dt_ = limit_;
    if (!first) {
        if (!s.smooth && falls_on_end(change.t, out_.motion)) hold_to_a_side(change.t, dt, -1);
        return;
    }
    // An impact at the very start happens only for values that leave its contacts open at the start (δt > 0).
    out_.one_sided.assign(alive_.size(), 0);
    for (Eigen::Index j = 0; j < k_; ++j)
        if (!s.events.empty() && lives(j) && std::abs(dt(j)) > 0.0)
            out_.one_sided[static_cast<std::size_t>(j)] = dt(j) > 0.0 ? 1 : -1;
    enter(change);
    leave_jumps(change);
    for (Eigen::Index j = 0; j < k_; ++j)
        if (const int side = out_.one_sided[static_cast<std::size_t>(j)]; lives(j) && side != 0)
            remark(change.t, name(j), std::string("its derivatives hold for ") + side_name(side) + " values only");
}

void Directions::hold_to_a_side(double t, const Vector& dt, int sign) {
    const double duration = out_.motion.end.t - out_.motion.start.t;
    for (Eigen::Index j = 0; j < k_; ++j) {
        const double value = std::abs(out_.with_respect_to[static_cast<std::size_t>(j)].value);
        if (!lives(j) || !(std::abs(dt(j)) * (value > 0.0 ? value : 1.0) > moved_time_ratio * duration)) continue;
        const int side = dt(j) > 0.0 ? sign : -sign;
        hold_to_a_side(t, j, side, on_end);
        if (lives(j)) remark(t, name(j), std::string(on_end) + "for " + side_name(side) + " values only");
    }
}

/// Restricts the derivative by variable j to one side, and ends it if it is restricted to the other side already.
void Directions::hold_to_a_side(double t, Eigen::Index j, int side, const std::string& where) {
    int& known = out_.one_sided[static_cast<std::size_t>(j)];
    if (known == -side) {
        remark(t, name(j), where + "on neither side");
        end(j);
    }
    known = side;
}

/// Handles a motion that begins at a jump of an expression: the derivative holds for values that move the start to the
/// side to which the motion goes.
void Directions::leave_jumps(const RecordedChange& change) {
    if (change.found.empty()) return;
    Vector f;
    Matrix s;
    x_.set_mode(change.mode_after, change.t, change.after.data());
    if (!x_.velocity_field(change.t, change.after.data(), f)) return;
    x_.linearised.switch_derivatives(change.t, change.after.data(), s);
    for (const integrate::Watch& w : change.found) {
        if (w.what != integrate::Watch::What::jump) continue;
        const Eigen::RowVectorXd row = s.row(w.element);
        const double rate = row(0) + row.segment(1, 2 * n_).dot(f);
        for (Eigen::Index j = 0; j < k_; ++j) {
            const double moved = row.dot(rows.row(j));
            if (!lives(j) || !(std::abs(moved) > agreement * magnitude(row, j))) continue;
            hold_to_a_side(change.t, j, (moved > 0.0) == (rate > 0.0) ? 1 : -1,
                           "the motion begins where an expression jumps: derivatives hold ");
        }
    }
}

/// δt of one event of the trajectory, per variable. If the conditions of the change move apart then the event has the
/// δt of the condition of its own elements, and none if it contains several of them.
Vector Directions::times_of(const trajectory::Event& event, const Saltation& s, const Vector& dt, const Matrix& each) {
    Vector times = dt;
    for (Eigen::Index j = 0; j < (each.rows() > 0 ? k_ : 0); ++j) {
        if (std::isnan(each(0, j))) continue;
        std::vector<double> own;
        for (Eigen::Index k = 0; k < each.rows(); ++k)
            if (std::find(event.elements.begin(), event.elements.end(),
                          s.events[static_cast<std::size_t>(k)].watch.element) != event.elements.end())
                own.push_back(each(k, j));
        if (own.size() == 1)
            times(j) = own[0];
        else
            remark(event.t, name(j),
                   counted(own.size(), "event") +
                       " happen at the same time, and the variable separates them: no time belongs to all of them; "
                       "the state has a derivative, because their order does not matter");
    }
    return times;
}

/// Ξ = map_x − Σ drift_k s_k,x/ṡ_k, or with the drift of the whole change and the first condition (saltation.cpp).
Matrix Directions::saltation_matrix(const Saltation& s) const {
    Matrix out = s.map.middleCols(1, 2 * n_);
    for (Eigen::Index k = 0; k < s.drifts.cols(); ++k) {
        const EventCondition& c = s.events[static_cast<std::size_t>(k)];
        out -= s.drifts.col(k) * c.s.segment(1, 2 * n_) / c.rate;
    }
    if (s.drifts.cols() == 0 && !s.events.empty() && s.events[0].rate != 0.0)
        for (Eigen::Index k = 0; k < out.cols(); ++k)  // a plain loop, because the matrices are small
            for (Eigen::Index i = 0; i < out.rows(); ++i)
                out(i, k) -= s.drift(i) * s.events[0].s(1 + k) / s.events[0].rate;
    return out;
}

/// δt of an accumulation from the δt of its impacts, per variable; NaN if there is nan.
Vector Directions::limit_time(const trajectory::Event& event) {
    const TimeCombination weights = limits_.weights(event);
    Vector limit = Vector::Constant(k_, weights.empty() ? nan : 0.0);
    for (const auto& [number, weight] : weights) limit += weight * times_[number];
    if (weights.empty())
        remark(event.t, "", "the impacts do not follow a geometric law: the limit's time has no derivative");
    return limit;
}

/// Stores the derivatives of the events of a change in the result.
void Directions::record(const RecordedChange& change, const Saltation& s, const Vector& dt, const Matrix& each) {
    times_.push_back(dt);
    double least = s.events.empty() ? nan : 1.0;
    for (const EventCondition& c : s.events) least = std::min(least, c.transversality);
    for (std::size_t e = change.events_from; e < change.events_to; ++e) {
        const trajectory::Event& event = out_.motion.events[e];
        EventSensitivity d;
        d.event = e;
        if (each.rows() > 0) {
            const Vector own = times_of(event, s, dt, each);
            d.dt.assign(own.data(), own.data() + own.size());
        } else {
            d.dt.assign(dt.data(), dt.data() + dt.size());
        }
        d.transversality = least;
        if (event.kind == EventKind::impact)
            for (const int element : event.elements) limits_.impact(element, event.t, times_.size() - 1);
        if (event.kind == EventKind::accumulation) {
            const Vector limit = limit_time(event);
            d.dt.assign(limit.data(), limit.data() + k_);
            if (event.t > change.t) limit_ = limit;
        }
        if (s.exists && n_ <= max_coordinates_for_saltation) d.saltation = saltation_matrix(s);
        out_.events.push_back(std::move(d));
    }
}

}  // namespace saltus::sensitivity
