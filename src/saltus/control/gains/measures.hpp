// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/control/rest.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/trajectory/summary.hpp"

namespace saltus::control {

/// The numbers by which the gains of a controller are judged.
struct Measures {
    trajectory::Status status = trajectory::Status::interrupted;
    std::string reason;
    std::vector<std::string> warnings;  ///< of the motion
    trajectory::State end;
    std::vector<trajectory::Reaction> forces;  ///< reactions at the end of the motion
    long impacts = 0;                          ///< number of impacts; with springs: of phases of contact
    long accumulations = 0;                    ///< accumulation points; each stands for infinitely many further impacts
    /// Largest normal impulse of one contact in one impact; with springs: in one complete phase of contact.
    double peak_impulse = 0.0;
    int peak_contact = -1;    ///< the contact of peak_impulse
    double peak_force = 0.0;  ///< largest normal force; only with springs
    /// The equilibrium to which the motion leads, if the equilibria of the model are points.
    Rest steady;
    /// The time from which on ‖q − q_∞‖_M stays within the band. q_∞ is the equilibrium or, without one, the end of a
    /// motion that has come to rest. Nothing if the motion has not settled by its end, or there is no q_∞.
    std::optional<double> settling_time;
    std::string not_settled;                             ///< why there is no settling time
    std::vector<trajectory::OutputSummary> outputs;      ///< derived quantities of the model along the motion
    std::vector<trajectory::ImpulseRate> impulse_rates;  ///< mean forces of contacts that were struck
    std::vector<trajectory::Tracking> tracking;          ///< of references that move
};

struct MeasureOptions {
    /// Width of the band, relative to the initial distance to q_∞; to the largest distance if the motion starts at q_∞.
    double band = 0.02;
    bool steady = true;    ///< whether the equilibrium is searched
    bool settling = true;  ///< whether the settling time is determined; needs `steady` and the arcs of the motion
};

/// Measures a motion. `stiffness` is the factor on k with which the penalty method ran.
Measures measure(const model::Model& model, const trajectory::Trajectory& motion, ContactModel contacts,
                 double stiffness, const MeasureOptions& options = {});

/// One phase in which the spring of a contact is compressed.
struct SpringPhase {
    int contact = 0;
    double from = 0.0, to = 0.0;    ///< times of its beginning and end, in s
    double impulse = 0.0;           ///< ∫ λ_N dt over the phase, in N s
    double peak_force = 0.0;        ///< largest λ_N at the points of the quadrature
    double penalty_integral = 0.0;  ///< ∫ ½ depth² dt over the phase
    bool complete = true;           ///< the contact opens again before the end of the motion
};

/// The phases of contact of a motion with springs, in the order of their beginning, by quadrature on its dense output.
/// The arcs of the motion must have been kept.
std::vector<SpringPhase> spring_phases(const model::Model& model, const trajectory::Trajectory& motion,
                                       double stiffness);

}  // namespace saltus::control
