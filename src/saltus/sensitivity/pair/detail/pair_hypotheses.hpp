// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sensitivity/pair/detail/pair_contacts.hpp"
#include "saltus/sensitivity/pair/pair.hpp"

namespace saltus::sensitivity {

/// What both models and motions give to the tests of the hypotheses.
struct PairView {
    const model::Model& nominal_model;
    const model::Model& perturbed_model;
    const trajectory::Trajectory& nominal;
    const trajectory::Trajectory& perturbed;
    PairContacts& nominal_contacts;
    PairContacts& perturbed_contacts;
    PairFunctions& functions;
};

/// The hypotheses of the theorem for one piece, in the paper's order, each tested on the nominal motion at the given
/// times or at the events.
std::vector<Hypothesis> pair_hypotheses(const PairView& view, const PairPiece& piece, const std::vector<double>& times);

}  // namespace saltus::sensitivity
