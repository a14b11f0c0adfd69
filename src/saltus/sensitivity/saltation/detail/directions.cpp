// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/directions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/text.hpp"
#include "saltus/sensitivity/detail/start.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedChange;
using trajectory::EventKind;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
/// Beside terms that are this part of the usual ones, nothing is large.
constexpr double least_usual = 1e-3;
/// Saltation matrices of larger systems are not kept.
constexpr int most_for_saltation = 20;
constexpr std::size_t most_remarks = 200;

double largest(const std::vector<double>& x) {
    double most = 1.0;
    for (const double v : x) most = std::max(most, std::abs(v));
    return most;
}

Matrix usual_sizes(const Sensitivity& s) {
    Matrix sizes(static_cast<Eigen::Index>(s.with_respect_to.size()), 2);
    for (Eigen::Index j = 0; j < sizes.rows(); ++j) {
        const double value = std::abs(s.with_respect_to[static_cast<std::size_t>(j)].value);
        sizes(j, 0) = largest(s.motion.end.q) / (value > 0.0 ? value : 1.0);
        sizes(j, 1) = largest(s.motion.end.u) / (value > 0.0 ? value : 1.0);
    }
    return sizes;
}

}  // namespace

std::string grazes(const EventCondition& c) {
    if (!(c.transversality < transversality_margin)) return {};
    return "grazing: the condition of the event is met with transversality " + number_text(c.transversality) +
           ", below " + number_text(transversality_margin);
}

bool falls_on_end(double t, const trajectory::Trajectory& motion) {
    return motion.end.t - t <= 1e-11 * (motion.end.t - motion.start.t);
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
      limits_(out.motion.elements.size()) {}

bool Directions::any() const {
    return std::any_of(alive_.begin(), alive_.end(), [](char a) { return a != 0; });
}

void Directions::remark(double t, const std::string& variable, const std::string& text) {
    if (out_.remarks.size() < most_remarks) out_.remarks.push_back({t, variable, text});
}

void Directions::end(Eigen::Index j) {
    alive_[static_cast<std::size_t>(j)] = 0;
    rows.row(j).setZero();
}

void Directions::end_all(double t, const std::string& why) {
    remark(t, "", why);
    for (Eigen::Index j = 0; j < k_; ++j) end(j);
}

/// How large a derivative along the direction of a variable could be; what it is compared with to be nothing.
double Directions::magnitude(const Eigen::RowVectorXd& change, Eigen::Index j) const {
    return change.cwiseAbs().dot(rows.row(j).cwiseAbs()) +
           least_usual * (usual_(j, 0) * change.segment(1, n_).cwiseAbs().sum() +
                          usual_(j, 1) * change.segment(1 + n_, n_).cwiseAbs().sum());
}

/// What the mode at the start demands of the initial values.
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

/// δt of the change for one direction; NaN and why not where its conditions disagree.
double Directions::time_derivative(const Saltation& s, Eigen::Index j, std::string& why) const {
    if (s.inherited) {
        if (std::isnan(dt_(j))) why = "it follows at once from an event whose time has no derivative";
        return dt_(j);
    }
    if (s.untimed) {
        why = "the reactions are not unique, and the time at which they stop to hold has no derivative";
        return none;
    }
    double first = none, worst = 0.0, size = 0.0, sum = 0.0;
    for (const EventCondition& c : s.events) {
        if (why = grazes(c); !why.empty()) return none;
        const double dt = -c.s.dot(rows.row(j)) / c.rate;
        size = std::max(size, magnitude(c.s, j) / std::abs(c.rate));
        sum += dt;
        if (std::isnan(first)) first = dt;
        worst = std::max(worst, std::abs(dt - first));
    }
    if (worst > (s.smooth ? agreement_of_times : agreement) * size) {
        if (s.drifts.cols() > 0) return none;
        why = counted(s.events.size(), "event") +
              " fall together here, it moves them apart, and what follows may depend on their order";
        return none;
    }
    return s.smooth ? sum / static_cast<double>(s.events.size()) : first;
}

/// δt of all events, whose order does not matter.
Vector Directions::times_of(const Saltation& s, Eigen::Index j) const {
    Vector times(s.drifts.cols());
    for (Eigen::Index k = 0; k < times.size(); ++k) {
        const EventCondition& c = s.events[static_cast<std::size_t>(k)];
        times(k) = -c.s.dot(rows.row(j)) / c.rate;
    }
    return times;
}

void Directions::pass(const RecordedChange& change, const Saltation& s, bool first) {
    Matrix each(s.drifts.cols(), k_);  // δt of each event that goes its own way
    each.setConstant(none);
    if (!s.exists) {
        record(change, s, Vector::Constant(k_, none), each);
        return end_all(change.t, s.why_not);
    }
    Vector dt = Vector::Constant(k_, none);
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
    // An impact at the very start takes place on the side on which its contacts are still open.
    out_.one_sided.assign(alive_.size(), 0);
    for (Eigen::Index j = 0; j < k_; ++j)
        if (!s.events.empty() && lives(j) && std::abs(dt(j)) > 0.0)
            out_.one_sided[static_cast<std::size_t>(j)] = dt(j) > 0.0 ? 1 : -1;
    enter(change);
    leave_jumps(change);
    for (Eigen::Index j = 0; j < k_; ++j)
        if (const int side = out_.one_sided[static_cast<std::size_t>(j)]; lives(j) && side != 0)
            remark(change.t, name(j),
                   std::string("its derivatives hold for ") + (side > 0 ? "larger" : "smaller") + " values alone");
}

void Directions::hold_to_a_side(double t, const Vector& dt, int sign) {
    const double all = out_.motion.end.t - out_.motion.start.t;
    for (Eigen::Index j = 0; j < k_; ++j) {
        const double value = std::abs(out_.with_respect_to[static_cast<std::size_t>(j)].value);
        if (!lives(j) || !(std::abs(dt(j)) * (value > 0.0 ? value : 1.0) > 1e-9 * all)) continue;
        const int side = dt(j) > 0.0 ? sign : -sign;
        hold_to_a_side(t, j, side, on_end);
        if (lives(j))
            remark(t, name(j), std::string(on_end) + "for " + (side > 0 ? "larger" : "smaller") + " values alone");
    }
}

void Directions::hold_to_a_side(double t, Eigen::Index j, int side, const std::string& where) {
    int& known = out_.one_sided[static_cast<std::size_t>(j)];
    if (known == -side) {
        remark(t, name(j), where + "on neither side");
        end(j);
    }
    known = side;
}

/// A motion that begins where an expression jumps: for values that keep it on the side to which it goes.
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

/// Of an event of the trajectory, which may be several that fall together.
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
                       " fall together here, and it moves them apart: no time is that of all; the state has a "
                       "derivative, their order does not matter");
    }
    return times;
}

void Directions::record(const RecordedChange& change, const Saltation& s, const Vector& dt, const Matrix& each) {
    times_.push_back(dt);
    double least = s.events.empty() ? none : 1.0;
    for (const EventCondition& c : s.events) least = std::min(least, c.transversality);
    for (std::size_t e = change.events_from; e < change.events_to; ++e) {
        const trajectory::Event& event = out_.motion.events[e];
        EventSensitivity d;
        d.event = e;
        const Vector own = times_of(event, s, dt, each);
        d.dt.assign(own.data(), own.data() + own.size());
        d.transversality = least;
        if (event.kind == EventKind::impact)
            for (const int element : event.elements) limits_.impact(element, event.t, times_.size() - 1);
        if (event.kind == EventKind::accumulation) {
            const auto weights = limits_.weights(event);
            Vector limit = Vector::Constant(k_, weights.empty() ? none : 0.0);
            for (const auto& [number, weight] : weights) limit += weight * times_[number];
            d.dt.assign(limit.data(), limit.data() + k_);
            if (event.t > change.t) limit_ = limit;
            if (weights.empty())
                remark(event.t, "", "the impacts do not follow a geometric law: the limit's time has no derivative");
        }
        if (s.exists && n_ <= most_for_saltation) {
            d.saltation = s.map.middleCols(1, 2 * n_);
            for (Eigen::Index k = 0; k < s.drifts.cols(); ++k) {
                const EventCondition& c = s.events[static_cast<std::size_t>(k)];
                d.saltation -= s.drifts.col(k) * c.s.segment(1, 2 * n_) / c.rate;
            }
            if (s.drifts.cols() == 0 && !s.events.empty() && s.events[0].rate != 0.0)
                d.saltation -= s.drift * s.events[0].s.segment(1, 2 * n_) / s.events[0].rate;
        }
        out_.events.push_back(std::move(d));
    }
}

}  // namespace saltus::sensitivity
