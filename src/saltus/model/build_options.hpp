// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace saltus::model {

/// How a description becomes a model (build.hpp).
struct BuildOptions {
    /// (name, number or expression): replaces the value in the description. The name is that of a parameter, of a
    /// coordinate x (its initial value), or x' (its initial velocity).
    std::vector<std::pair<std::string, std::string>> set;
    bool project_initial = false;  ///< move an initial state that penetrates or violates a constraint to the nearest
                                   ///< admissible one; otherwise such a state is an Error
    bool perturbed = false;        ///< apply the perturbation: δ, η, θ and the initial offsets
    bool open_loop = false;        ///< leave out the control
    bool penalty = false;          ///< the model is for the penalty method: D and D_hat of [penalty] act
};

}  // namespace saltus::model
