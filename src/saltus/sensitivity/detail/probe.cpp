// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/probe.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::sensitivity {

namespace {

double largest(const std::vector<double>& x) {
    double most = 1.0;
    for (const double v : x) most = std::max(most, std::abs(v));
    return most;
}

/// In terms of the variable's value: numbers spread evenly over (0.5, 1), with signs in turn.
double weight(const Variable& v, Eigen::Index j, int r) {
    const double x = (static_cast<double>(j) + 1.0) * (r == 0 ? 0.6180339887498949 : 0.4142135623730951);
    const double sign = (r == 0 ? j : j / 2) % 2 == 0 ? 1.0 : -1.0;
    return sign * (0.5 + 0.5 * (x - std::floor(x))) * (v.value != 0.0 ? std::abs(v.value) : 1.0);
}

}  // namespace

std::vector<Times> borrowed_times(const integrate::Recording& recording, const trajectory::Trajectory& motion) {
    std::vector<Times> list;
    AccumulationLimits limits(motion.elements.size());
    Times last;
    for (const auto& piece : recording.pieces) {
        const auto* const change = std::get_if<integrate::RecordedChange>(&piece);
        if (change == nullptr) continue;
        const std::size_t number = list.size();
        list.push_back(last);
        const bool own = !change->found.empty() && !change->unavoidable;
        if (own || number == 0) last = {{number, 1.0}};
        for (std::size_t e = change->events_from; e < change->events_to; ++e) {
            const trajectory::Event& event = motion.events[e];
            if (event.kind == trajectory::EventKind::impact)
                for (const int element : event.elements) limits.impact(element, event.t, number);
            if (event.kind == trajectory::EventKind::accumulation && event.t > change->t) last = limits.weights(event);
        }
    }
    return list;
}

Probe::Probe(const Tangent& tangent, const Sensitivity& s, const std::vector<Times>& borrowed)
    : rows(Matrix::Zero(2, tangent.columns())),
      size_q(1e-3 * largest(s.motion.end.q)),
      size_u(1e-3 * largest(s.motion.end.u)),
      n_(tangent.n()),
      s_(s),
      borrowed_(borrowed),
      times_(Matrix::Zero(2, static_cast<Eigen::Index>(borrowed.size()))) {}

void Probe::start(const Directions& variables) {
    if (!separate()) {
        rows = variables.rows;
        times_.setZero(rows.rows(), times_.cols());
        for (Eigen::Index j = 0; j < rows.rows(); ++j)
            if (variables.lives(j)) times_(j, 0) = variables.times()(j);
        return;
    }
    rows.setZero();
    times_.setZero();
    for (Eigen::Index j = 0; j < variables.rows.rows(); ++j) {
        if (!variables.lives(j)) continue;
        for (int r = 0; r < 2; ++r) {
            const double w = weight(s_.with_respect_to[static_cast<std::size_t>(j)], j, r);
            rows.row(r) += w * variables.rows.row(j);
            times_(r, 0) += w * variables.times()(j);
        }
    }
}

void Probe::pass(std::size_t number, const Saltation& s) {
    const auto column = static_cast<Eigen::Index>(number);
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
        double dt = 0.0;
        if (s.inherited)
            for (const auto& [of, weight] : borrowed_[number]) dt += weight * times_(r, static_cast<Eigen::Index>(of));
        else if (!s.events.empty() && s.events[0].rate != 0.0)
            dt = -s.events[0].s.dot(rows.row(r)) / s.events[0].rate;
        const Vector after = passed(s, rows.row(r), dt);
        rows.row(r).segment(1, 2 * n_) = after.transpose();
        times_(r, column) = dt;
    }
}

}  // namespace saltus::sensitivity
