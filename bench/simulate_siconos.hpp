// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::bench {

/// The result of a run of Siconos. Only the loop over its steps is timed, not the construction of the system.
struct PeerRun {
    bool completed = false;
    double seconds = 0.0;
    long steps = 0;  ///< of time-stepping
    std::vector<double> q, u;
    std::string remark;  ///< which variant of the method was used, or why the run ended early
};

/// Siconos' EventDriven: LSODAR with its relative and absolute tolerance both `tolerance`, and its own tolerance of
/// gaps and velocities `closed`.
struct SiconosTolerances {
    double tolerance = 1e-9, closed = 1e-9;
};
PeerRun siconos_ball_event_driven(double t_end, SiconosTolerances tolerances);
PeerRun siconos_oscillator_event_driven(double t_end, SiconosTolerances tolerances);

/// Siconos' TimeStepping with θ = ½, in the fastest of its variants that we found for each system.
PeerRun siconos_ball_stepping(double t_end, double h);
PeerRun siconos_slider_crank_stepping(double t_end, double h);
PeerRun siconos_chain_stepping(int balls, double t_end, double h);

}  // namespace saltus::bench
