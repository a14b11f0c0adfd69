// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/stability/certify/attractivity.hpp"
#include "saltus/stability/certify/detail/functions/state_proofs.hpp"
#include "saltus/stability/certify/detail/stationary_point.hpp"

namespace saltus::stability {

/// An equilibrium x_e = (q_e, 0) of a model, and what is proved about a function V around it.
struct FunctionProof {
    std::unique_ptr<proof::Enclosure> enclosure;  ///< null: the model cannot be examined, and `why` says why
    std::string why;                              ///< also if no equilibrium was found; otherwise empty
    StationaryPoint point;                        ///< q_e; coordinates of the size of rounding errors are 0
    std::vector<double> q, scale;                 ///< q_e, and the scales of all states: positions, then velocities
    bool open = true;                             ///< no contact is closed at q_e
    Support support;
    StateProof proof;
    double highest = proof::Interval::infinity;  ///< upper bound of V − V(x_e) at the equilibria in the box

    bool proved() const { return proof.radius > 0.0; }
    proof::Box state() const;  ///< x_e as a box of states
};

/// Whether the model has contacts, constraints, sliders or clutches.
bool has_elements(const model::Mechanics& model);

/// Looks for the equilibrium from `options.at` (or from the initial position) and for the largest box around it in
/// which V has the requested course. With contacts and friction the equilibrium is a minimum or stationary point of U,
/// otherwise a zero of h(q, 0).
FunctionProof prove_function(const model::Mechanics& model, StateFunction& V, Course course,
                             const CertifyOptions& options);

}  // namespace saltus::stability
