// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus::sensitivity {

int significant_order(const ode::Dense& step, int n, double negligible_ratio) {
    // The size of the motion is the largest term of its first orders.
    constexpr int orders_of_scale = 3;
    const int order = step.terms() - 2;
    const double* const c = step.coefficients().data();
    double size[2] = {0.0, 0.0};
    for (int k = 0; k <= std::min(orders_of_scale, order); ++k)
        for (int i = 0; i < 2 * n; ++i) {
            double& largest = size[i < n ? 0 : 1];
            largest = std::max(largest, std::abs(c[k * step.size() + i]));
        }
    const double negligible[2] = {negligible_ratio * size[0], negligible_ratio * size[1]};
    int k = order;
    for (; k > 0; --k)
        for (int i = 0; i < 2 * n; ++i)
            if (std::abs(c[k * step.size() + i]) > negligible[i < n ? 0 : 1]) return k;
    return k;
}

void ArcMotion::begin(const integrate::RecordedArc& arc) {
    arc_ = &arc;
    is_prepared_ = false;
    if (arc.steps.empty()) return;
    arc.steps.front().evaluate(arc.steps.front().t_old(), state_.data());
    x_.set_mode(arc.mode, arc.t_begin, state_.data());
    turns_ = false;
    for (std::size_t k = 0; k < arc.mode->parts.size(); ++k)
        turns_ = turns_ || (arc.mode->parts[k].slips && x_.dynamics.parts()[k].size > 1);
    step_ = 0;
    begin_step();
}

void ArcMotion::begin_step() {
    if (!turns_) return;
    // The simulation updates the direction of slip once per step; so do the derivatives.
    const ode::Dense& step = arc_->steps[step_];
    step.evaluate(step.t_old(), state_.data());
    x_.dynamics.turn_slip(arc_->mode);
    x_.dynamics.evaluate_terms(step.t_old(), state_.data());
    x_.dynamics.turn_slip(x_.dynamics.followed_mode());
}

/// The least speed of the friction parts that slip in a plane.
double ArcMotion::slowest_turning_speed(double t) {
    seek(t);
    arc_->steps[step_].evaluate(t, state_.data());
    x_.dynamics.evaluate_terms(t, state_.data());
    double slowest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < arc_->mode->parts.size(); ++k)
        if (arc_->mode->parts[k].slips && x_.dynamics.parts()[k].size > 1)
            slowest = std::min(slowest, x_.dynamics.slip_speed(static_cast<int>(k)));
    return slowest;
}

std::size_t ArcMotion::slow_steps(double ratio) {
    if (!turns_) return 0;
    is_prepared_ = false;
    std::vector<double> speeds;
    for (const ode::Dense& step : arc_->steps)
        speeds.push_back(slowest_turning_speed(std::min(step.t_new(), arc_->t_end)));
    const double slow = ratio * *std::max_element(speeds.begin(), speeds.end());
    const double at_start = slowest_turning_speed(arc_->steps.front().t_old());
    if (!(at_start < slow)) return 0;
    std::size_t count = 1;
    while (count < speeds.size() && speeds[count - 1] < slow) ++count;
    return count;
}

/// Moves to the recorded step that contains t. A time at the end of the present step does not leave it.
void ArcMotion::seek(double t) {
    const std::size_t before = step_;
    while (step_ + 1 < arc_->steps.size() && t > arc_->steps[step_].t_new()) ++step_;
    while (step_ > 0 && t < arc_->steps[step_].t_old()) --step_;
    if (step_ != before) begin_step();
}

bool ArcMotion::prepare(double t) {
    if (is_prepared_ && t == prepared_) return true;
    seek(t);
    arc_->steps[step_].evaluate(t, state_.data());
    is_prepared_ = x_.linearised.prepare(t, state_.data());
    prepared_ = t;
    return is_prepared_;
}

}  // namespace saltus::sensitivity
