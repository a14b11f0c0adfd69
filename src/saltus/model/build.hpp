// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/model/build_options.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

/// Checks a description and turns it into a model: resolves the parameters, derives and compiles the equations, and
/// verifies the initial state. Throws Error, with the place in the file, for anything that a person has to correct.
Model build(const Description& description, const BuildOptions& options = {});

/// A model around a system written in C++. Its contacts and constraints get the given names, in the order of the
/// system's rows, and no friction; the laws can be changed in the returned value. The initial state is verified as in
/// `build`.
Model from_system(std::shared_ptr<const System> system, std::string name, std::vector<std::string> coordinates,
                  std::vector<double> q0, std::vector<double> u0, std::vector<std::string> constraint_names = {},
                  std::vector<std::string> contact_names = {});

/// The initial state is accepted if |g|, |ġ| and −g_N are <= initial_tolerance · row_scale for every row. The tolerance
/// covers the rounding of hand-written initial values; the integrator projects such residues away in its first step.
inline constexpr double initial_tolerance = 1e-9;

/// Places and remedy for the message if the initial state is refused.
struct InitialPlaces {
    Place initial, mass;  ///< places of [initial] and of T in the model file
    std::string remedy;
};

/// Throws Error if the mass matrix is not positive definite at the initial state, if a gap is negative, or if a
/// constraint is violated in position or velocity.
void verify_initial(const Model& model, const InitialPlaces& places);

/// Moves q0 by the least distance, in the metric of M(q0), onto all constraints and out of all obstacles, and then u0
/// onto the velocities that the constraints allow. Returns false and changes nothing if the iteration does not
/// converge. After success the state must still pass `verify_initial`.
bool project_initial(Model& model);

}  // namespace saltus::model
