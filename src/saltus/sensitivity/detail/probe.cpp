// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/probe.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::sensitivity {

namespace {

/// Derivatives times the value of their variable are small below this part of the largest final coordinate or velocity.
constexpr double small_derivative_ratio = 1e-3;
/// Fractional parts of j · (golden ratio − 1) and j · (√2 − 1) are spread evenly over (0, 1) and do not repeat.
constexpr double golden_section = 0.6180339887498949, silver_section = 0.4142135623730951;

double largest_or_one(const std::vector<double>& x) {
    double largest = 1.0;
    for (const double v : x) largest = std::max(largest, std::abs(v));
    return largest;
}

/// The weight of variable j in probe r, relative to the value of the variable: spread evenly over (0.5, 1), so that no
/// variable is lost; with alternating signs, in pairs for the second probe, so that the two probes differ.
double weight(const Variable& v, Eigen::Index j, int r) {
    const double x = (static_cast<double>(j) + 1.0) * (r == 0 ? golden_section : silver_section);
    const double sign = (r == 0 ? j : j / 2) % 2 == 0 ? 1.0 : -1.0;
    return sign * (0.5 + 0.5 * (x - std::floor(x))) * (v.value != 0.0 ? std::abs(v.value) : 1.0);
}

}  // namespace

std::vector<TimeCombination> borrowed_times(const integrate::Recording& recording,
                                            const trajectory::Trajectory& motion) {
    std::vector<TimeCombination> list;
    AccumulationLimits limits(motion.elements.size());
    TimeCombination last;
    for (const auto& piece : recording.pieces) {
        const auto* const change = std::get_if<integrate::RecordedChange>(&piece);
        if (change == nullptr) continue;
        const std::size_t number = list.size();
        list.push_back(last);
        const bool has_own_time = !change->found.empty() && !change->unavoidable;
        if (has_own_time || number == 0) last = {{number, 1.0}};
        for (std::size_t e = change->events_from; e < change->events_to; ++e) {
            const trajectory::Event& event = motion.events[e];
            if (event.kind == trajectory::EventKind::impact)
                for (const int element : event.elements) limits.impact(element, event.t, number);
            if (event.kind == trajectory::EventKind::accumulation && event.t > change->t) last = limits.weights(event);
        }
    }
    return list;
}

Probe::Probe(const Tangent& tangent, const Sensitivity& s, const std::vector<TimeCombination>& borrowed)
    : rows(Matrix::Zero(2, tangent.columns())),
      size_q(small_derivative_ratio * largest_or_one(s.motion.end.q)),
      size_u(small_derivative_ratio * largest_or_one(s.motion.end.u)),
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
