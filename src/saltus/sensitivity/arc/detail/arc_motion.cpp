// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_motion.hpp"

namespace saltus::sensitivity {

void ArcMotion::begin(const integrate::RecordedArc& arc) {
    arc_ = &arc;
    is_prepared_ = false;
    if (arc.steps.empty()) return;
    arc.steps.front().evaluate(arc.steps.front().t_old(), state_.data());
    x_.set_mode(arc.mode, arc.t_begin, state_.data());
    turns_ = false;
    for (std::size_t k = 0; k < arc.mode.parts.size(); ++k)
        turns_ = turns_ || (arc.mode.parts[k].slips && x_.dynamics.parts()[k].size > 1);
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
