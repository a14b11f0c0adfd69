// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/detail/functions/state_function.hpp"
#include "saltus/stability/certify/detail/functions/state_proofs.hpp"

namespace saltus::stability {

/// What sampled states and simulated motions around an equilibrium (q_e, 0) show about V. Nothing here is proved; a
/// witness was evaluated a second time, its motion with a smaller tolerance.
struct StateSamples {
    double radius = 0.0;   ///< half width of the box of the samples, in units of the scales
    int states = 0;        ///< admissible sampled states that are no equilibria
    int motions = 0;       ///< simulated motions
    int impacts = 0;       ///< impacts of these motions
    double horizon = 0.0;  ///< simulated time of each motion, in s
    std::string failed;    ///< why motions could not be simulated; empty if all could

    proof::Witness not_positive;  ///< a state that is no equilibrium, with V <= V(q_e, 0)
    proof::Witness wrong_rate;    ///< the start of a motion along which V changes in the wrong direction
    proof::Witness wrong_impact;  ///< a state before an impact at which V jumps in the wrong direction
    proof::Witness constant;      ///< the start of a motion that does not come to rest and keeps V
    bool rises = false;           ///< some state has V > V(q_e, 0)
    double highest = 0.0;         ///< largest V(q, 0) − V(q_e, 0) of the sampled equilibria
};

struct StateSampleRequest {
    std::vector<double> q;      ///< q_e
    std::vector<double> scale;  ///< scale of each state
    double radius = 0.1;
    Course course = Course::falls;
    std::function<bool()> stop;
};

StateSamples sample_states(const model::Model& model, const StateFunction& V, const StateSampleRequest& request);

}  // namespace saltus::stability
