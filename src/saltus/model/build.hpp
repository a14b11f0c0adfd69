// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

struct BuildOptions {
    std::vector<std::pair<std::string, std::string>> set;  ///< parameter = number or expression, over the description's
    bool project_initial = false;                          ///< repair an initial state that penetrates or violates
    bool perturbed = false;  ///< apply the perturbation: δ, η, θ and the initial offsets
    bool open_loop = false;  ///< leave the control out
};

/// Checks a description and turns it into a model: parameters resolved, equations derived and compiled, initial
/// state verified. Throws Error for anything that a person has to correct.
Model build(const Description& description, const BuildOptions& options = {});

/// A model around a system written in C++: frictionless contacts and constraints with the given names, in the order
/// of the system's rows. Laws can be changed in the returned value. Its initial state is verified as in `build`.
Model from_system(std::shared_ptr<const System> system, std::string name, std::vector<std::string> coordinates,
                  std::vector<double> q0, std::vector<double> u0, std::vector<std::string> constraint_names = {},
                  std::vector<std::string> contact_names = {});

/// How far the initial state may be off and still count as exact: relative to the row's own size.
inline constexpr double initial_tolerance = 1e-9;

/// Where to point when the initial state is refused, and what to advise.
struct InitialPlaces {
    Place initial, mass;
    std::string remedy;
};

/// Throws Error where the mass matrix is not positive definite at the initial state, a gap is negative or a
/// constraint not fulfilled (position and velocity).
void verify_initial(const Model& model, const InitialPlaces& places);

/// Moves q0 by the least amount (in the metric of M there) onto all constraints and out of all obstacles, and u0 onto
/// the constraints' velocities. Returns false, and changes nothing, when that cannot be done; what it found still has
/// to pass verify_initial.
bool project_initial(Model& model);

}  // namespace saltus::model
