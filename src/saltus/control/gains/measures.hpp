// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/control/rest.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::control {

/// The numbers by which a controller's gains are judged.
struct Measures {
    trajectory::Status status = trajectory::Status::interrupted;
    std::string reason;
    trajectory::State end;
    std::vector<trajectory::Reaction> forces;  ///< at the end
    long impacts = 0;                          ///< of springs: phases of contact
    long accumulations = 0;                    ///< each the end of infinitely many further impacts
    double peak_impulse = 0.0;                 ///< largest normal impulse of one contact in one impact (of springs: in
                                               ///< one phase of contact)
    int peak_contact = -1;                     ///< whose it is
    double peak_force = 0.0;                   ///< of springs alone
    /// The rest that the motion leads to, if its equilibria are points.
    Rest steady;
    /// From when on ‖q − q_∞‖_M stays within the band around q_∞, the steady rest or, without one, the end of a motion
    /// that has come to rest. Nothing: not by the end, or there is no q_∞.
    std::optional<double> settling_time;
    std::string not_settled;  ///< why
};

struct MeasureOptions {
    double band = 0.02;    ///< of the initial distance to q_∞, or of the largest one where that is nothing
    bool steady = true;    ///< look for the rest
    bool settling = true;  ///< needs the arcs
};

/// `stiffness`: the factor on k that the penalty method ran with.
Measures measure(const model::Model& model, const trajectory::Trajectory& motion, ContactModel contacts,
                 double stiffness, const MeasureOptions& options = {});

/// One phase in which a spring is compressed: its impulse ∫N dt, the largest force, and ∫½depth² dt.
struct SpringPhase {
    int contact = 0;
    double from = 0.0, to = 0.0;
    double impulse = 0.0, peak_force = 0.0, penalty_integral = 0.0;
    bool complete = true;  ///< the contact opens again before the end
};

/// The phases of a motion with springs, by quadrature on its dense output.
std::vector<SpringPhase> spring_phases(const model::Model& model, const trajectory::Trajectory& motion,
                                       double stiffness);

}  // namespace saltus::control
