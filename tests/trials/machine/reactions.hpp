// SPDX-License-Identifier: Apache-2.0
//
// Do reactions that the laws allow exist for a given state and acceleration? All laws in one question, answered with
// the support functions of the friction sets alone.
#pragma once

#include <vector>

#include "machine/model.hpp"

namespace trials {

/// What an element does at an instant. Constraints are never open; a clutch that is not open is locked.
enum class Phase { open, sticking, sliding };

struct Explanation {
    double residual = 0.0;   ///< part of the force that no admissible reactions explain
    bool converged = false;  ///< no other admissible reactions explain more
};

/// Looks for reactions λ that the laws allow in these phases with Σ wᵀλ = needed. `needed` is M u̇ − h. Contacts without
/// friction are `sticking` or `sliding` alike if they are closed. Parts of the friction of a sliding element whose
/// speed is at most `still` stick.
Explanation explain(const Mechanics& mechanics, const Point& at, const Vector& needed, const std::vector<Phase>& phases,
                    double still = 1e-9);

}  // namespace trials
