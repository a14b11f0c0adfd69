// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "saltus/integrate/kernel_text.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::integrate {

/// The text of a kernel that makes event-driven motions of one model (KernelText has its arguments; h is not read).
///
/// Arcs are Taylor series of a fixed order from the model's formulas, with the step control and the proof of validity
/// of ModeSeries. Gaps, normal forces, slip velocities and reserves of stick are polynomials on a step; their first
/// zero is found by bounds on subintervals. Impacts follow Newton's law with eN, eT and friction. The next mode comes
/// from the contact problem of the accelerations. Both problems are solved by trying all modes, so that a problem
/// without a solution or with several is noticed. Accumulations of impacts are passed at their limit.
///
/// The kernel gives up a motion that it cannot make reliably; the CPU must make it then (Trouble).
struct EventKernel : KernelText {
    /// Kinds of events that the result counts, behind q, u, time, T and U; one count for all elements at one time.
    enum Kind { impact, contact, lift_off, stick, slip, reversal, accumulation };
    static constexpr int kinds = 7;
    /// Why a motion was given up; behind the events.
    enum Trouble {
        none = 0,
        undecided_mode = 1,  ///< a contact problem has no solution, or several
        redundant = 2,       ///< the equations of the mode depend on each other, and the system moves
        painleve = 3,        ///< sliding friction could cancel what holds a contact
        too_many = 4,        ///< events at one time, or steps
        no_series = 5,       ///< the series does not exist or cannot be shown to be valid, or constraints are not met
        irregular = 6,       ///< impacts accumulate without a constant factor, or their contacts do not hold
        uncertain_zero = 7,  ///< rounding errors do not tell whether a quantity touches zero or crosses it
        violated = 8         ///< a law is violated at the start of a mode
    };
    int events_at() const { return 2 * coordinates + 3; }  ///< place in the result
    int trouble_at() const { return events_at() + kinds; }
    int order = 0;  ///< of the series
};

/// Why the kernel cannot make the motions of a model, or "" if it can.
std::string event_kernel_refusal(const model::Mechanics& model, const EventDriven& method);

/// `event_kernel_refusal` must be empty. `varied` are numbers of parameters (Mechanics::p) that each start gives; all
/// others have the values of the model.
EventKernel emit_event_kernel(const model::Mechanics& model, const EventDriven& method, const KernelRules& rules,
                              std::span<const int> varied = {});

}  // namespace saltus::integrate
