// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/elements.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

class SampledLaw;
struct ControlLoop;

/// The part of a Model that determines its motion: equations, elements, parameter values and initial state. Algorithms
/// take `const Mechanics&` and a Workspace (evaluate.hpp), so that they do not depend on what else a model file says.
/// Like a Model it is not changed after `build` (build.hpp) has made it, and threads share it.
struct Mechanics {
    std::string name;
    std::vector<std::string> coordinates;
    std::vector<double> p;  ///< values of the independent parameters; Settings has their names
    std::vector<Contact> contacts;
    std::vector<Constraint> constraints;
    std::vector<Slider> sliders;
    std::vector<Clutch> clutches;
    std::vector<Jump> jumps;     ///< resets of the state
    std::vector<double> q0, u0;  ///< initial state, at t = 0
    Matrix dq0_dp, du0_dp;       ///< derivatives of the initial state as described, by the independent parameters
    double start_moved = 0.0;  ///< largest change that projecting q0 or u0 made (BuildOptions::project_initial); if it
                               ///< is not 0, dq0_dp and du0_dp are those of the state before the projection
    bool scleronomic = true;   ///< neither T nor a constraint, gap or slip depends explicitly on the time
    bool autonomous = true;    ///< scleronomic, and the forces do not depend explicitly on the time either
    bool damping_left_out = false;               ///< [penalty] has D or D_hat, and the model was built without them
    std::vector<MeanFriction> mean_friction;     ///< of sliders that change their own normal force
    std::shared_ptr<const ControlLoop> control;  ///< the feedback that the forces contain (feedback.hpp); null: none
    std::shared_ptr<const SampledLaw> sampled;   ///< the feedback, if it samples (feedback.hpp); otherwise null
    std::shared_ptr<const System> system;        ///< the equations; never null in a model that was built
    std::vector<std::string> warnings;  ///< remarks of the checks while the model was built; results repeat them

    int size() const { return static_cast<int>(coordinates.size()); }
    const Layout& layout() const { return system->layout(); }
};

}  // namespace saltus::model
