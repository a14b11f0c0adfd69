// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/elements.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

class Drawing;
class Outputs;
struct Settings;

/// Settings of a model that has none.
std::shared_ptr<const Settings> no_settings();

/// A mechanical system with its contact laws, parameter values and initial state. `build` (build.hpp) makes it. After
/// that it is not changed: algorithms take `const Model&` and a Workspace (evaluate.hpp), so threads share one model.
struct Model {
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
    bool perturbed = false;    ///< the perturbation δ, η, θ is applied
    bool perturbable = false;  ///< the description has a perturbation
    bool scleronomic = true;   ///< neither T nor a constraint, gap or slip depends explicitly on the time
    bool autonomous = true;    ///< scleronomic, and the forces do not depend explicitly on the time either
    std::shared_ptr<const System> system;  ///< the equations; never null in a model that was built
    // What the description says beside the mechanics. Most algorithms need none of it, so that these types can change
    // without compiling the algorithms again.
    std::shared_ptr<const Settings> settings = no_settings();  ///< settings.hpp; never null
    std::shared_ptr<const Outputs> outputs;                    ///< outputs.hpp; null if the model has no outputs
    std::shared_ptr<const Drawing>
        drawing;  ///< drawing.hpp; null if the description does not say how to draw the model

    int size() const { return static_cast<int>(coordinates.size()); }
    const Layout& layout() const { return system->layout(); }
};

}  // namespace saltus::model
