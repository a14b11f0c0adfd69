// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/model/mechanics.hpp"

namespace saltus::model {

class Drawing;
class Outputs;
struct Settings;

/// Settings of a model that has none.
std::shared_ptr<const Settings> no_settings();

/// A mechanical system as its description gives it: its mechanics with its settings, outputs and drawing. `build`
/// (build.hpp) makes it. After that it is not changed, so threads share one model.
struct Model : Mechanics {
    bool perturbed = false;                                    ///< the perturbation δ, η, θ is applied
    bool perturbable = false;                                  ///< the description has a perturbation
    std::shared_ptr<const Settings> settings = no_settings();  ///< settings.hpp; never null
    std::shared_ptr<const Outputs> outputs;                    ///< outputs.hpp; null if the model has no outputs
    std::shared_ptr<const Drawing>
        drawing;  ///< drawing.hpp; null if the description does not say how to draw the model
};

}  // namespace saltus::model
