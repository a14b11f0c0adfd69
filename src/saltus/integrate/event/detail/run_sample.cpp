// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/base/gauss.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/model/mechanics.hpp"

// A control that samples (model::SampledLaw). The run stops at every sample. The law is evaluated with the state and
// the reactions just before the sample. Then the held forces jump, and with them the accelerations: contacts may
// separate and friction may break loose, so that the mode is chosen again.

namespace saltus::integrate {

bool EventRun::sample_is_due() const {
    return sampled_ != nullptr && out_.status == trajectory::Status::completed && t_ >= next_sample_ &&
           t_ < options_.t_end;
}

/// A quantity that the law measures, at the last evaluation of the dynamics.
double EventRun::measured(std::size_t number) {
    using What = model::ElementQuantity::What;
    const model::ElementQuantity& quantity = sampled_->quantities[number];
    const ElementRows& rows = d_.elements()[ix(quantity.element)].rows;
    switch (quantity.what) {
        case What::gap: return d_.terms().positions[ix(rows.normal)];
        case What::force: return d_.reactions()[ix(rows.normal)];
        case What::friction: return d_.reactions()[ix(rows.first_slip + quantity.component - 1)];
        case What::impulse: break;
    }
    return impulses_[number];
}

/// Adds ∫ λ_N dt over a step of the mode in force, up to a time, to the measured impulses. Five Gauss nodes on each
/// part of the step integrate polynomials of degree 9 exactly.
void EventRun::add_forces(const ode::Dense& step, double until) {
    const std::vector<model::ElementQuantity>& quantities = sampled_->quantities;
    const auto acts = [&](std::size_t k) {
        return quantities[k].what == model::ElementQuantity::What::impulse &&
               d_.mode().elements[ix(quantities[k].element)].active;
    };
    bool any = false;
    for (std::size_t k = 0; k < quantities.size(); ++k) any = any || acts(k);
    if (!any) return;
    std::vector<double> x(ix(std::max(step.size(), d_.state_size())));
    for (const ode::StepPart part : ode::StepParts(step, until))
        for (const auto& [t, dt] : gauss_points(gauss_five_nodes, part.from, part.to)) {
            step.evaluate(t, x.data());
            if (!d_.evaluate(t, x.data())) continue;
            if (d_.redundant()) watcher_.allow_reactions();
            for (std::size_t k = 0; k < quantities.size(); ++k)
                if (acts(k))
                    impulses_[k] += dt * d_.reactions()[ix(d_.elements()[ix(quantities[k].element)].rows.normal)];
        }
    d_.evaluate_terms(t_, x_.data());  // what follows expects the terms of the present state
}

void EventRun::add_impulses(const std::vector<trajectory::Reaction>& impulses) {
    for (std::size_t k = 0; k < impulses_.size(); ++k)
        for (const trajectory::Reaction& r : impulses)
            if (sampled_->quantities[k].what == model::ElementQuantity::What::impulse &&
                r.element == sampled_->quantities[k].element)
                impulses_[k] += r.N;
}

void EventRun::take_sample() {
    const std::size_t n = ix(d_.size());
    std::vector<double> values, forces(sampled_->held.size());
    if (!sampled_->quantities.empty()) {
        if (!d_.evaluate(t_, x_.data())) {
            fail("the forces that the control measures cannot be computed" + at_time());
            return;
        }
        if (d_.redundant()) watcher_.allow_reactions();
        for (std::size_t k = 0; k < sampled_->quantities.size(); ++k) values.push_back(measured(k));
    }
    sampled_->evaluate(t_, {x_.data(), n}, {x_.data() + n, n}, values, forces);
    for (std::size_t k = 0; k < forces.size(); ++k) {
        if (!std::isfinite(forces[k])) {
            fail("the force of [control] on " + model_.coordinates[ix(sampled_->held[k])] + " is not finite" +
                 at_time());
            return;
        }
        x_[ix(sampled_->held[k])] = forces[k];
    }
    ++sample_;
    next_sample_ = sampled_->time(sample_);
    trajectory::Event& event = next_event(trajectory::EventKind::switched, {t_, t_});
    const auto middle = x_.begin() + d_.size();
    event.q.assign(x_.begin(), middle);
    event.u_minus.assign(middle, middle + d_.size());
    event.u_plus = event.u_minus;
    event.energy_before = event.energy_after = total_energy();
    event.note = "[control] samples";
    next_step_ = ode::automatic_step;
    const int quiet_changes = quiet_changes_;
    change_mode({}, Cause::event);
    quiet_changes_ = std::min(quiet_changes_, quiet_changes);  // samples do not follow each other without end
}

}  // namespace saltus::integrate
