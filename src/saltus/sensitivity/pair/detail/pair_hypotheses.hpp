// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sensitivity/pair/detail/pair_contacts.hpp"
#include "saltus/sensitivity/pair/pair.hpp"

namespace saltus::sensitivity {

/// The data of both models and motions that the tests of the hypotheses use.
struct PairView {
    const model::Mechanics& nominal_model;
    const model::Mechanics& perturbed_model;
    const trajectory::Trajectory& nominal;
    const trajectory::Trajectory& perturbed;
    PairContacts& nominal_contacts;
    PairContacts& perturbed_contacts;
    PairFunctions& functions;
};

/// Tests the hypotheses of the theorem that belongs to a piece, in the order of the paper. Hypotheses about intervals
/// are tested on the nominal motion at the given times and at the event.
std::vector<Hypothesis> pair_hypotheses(const PairView& view, const PairPiece& piece, const std::vector<double>& times);

}  // namespace saltus::sensitivity
