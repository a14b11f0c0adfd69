// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "saltus/base/short_vector.hpp"

namespace saltus::integrate {

/// Unit vector along the slip velocity of a friction part, in the rows of the part. The components beyond the size of
/// the part are not used.
using SlipDirection = std::array<double, 3>;

/// What one element does on a smooth arc.
struct ElementMode {
    /// The element takes part: a closed contact, a constraint, a slider, a locked clutch. Open contacts and free
    /// clutches have no reaction.
    bool active = false;
    /// Sign of the reaction ν of a constraint with slipping friction, +1 or −1: |ν| = reaction_sign · ν. The friction
    /// force is then linear in ν.
    double reaction_sign = 1.0;
    /// For contacts with a spring (penalty method): spring and damper together would pull, so that the force is zero.
    bool pulls = false;
    /// For contacts with a condition: the condition holds. A contact that does not exist is not active.
    bool exists = true;

    bool operator==(const ElementMode&) const = default;
};

/// What one friction part does on a smooth arc: it sticks or it slips.
struct FrictionMode {
    bool slips = false;
    /// Direction of slip while `slips`. It replaces the direction of the velocity if the velocity is too small to have
    /// one. If the velocity points against `direction`, then slip has passed through zero; the force continues smoothly
    /// along `direction`, so that the zero can be located as an event.
    SlipDirection direction{1.0, 0.0, 0.0};

    bool operator==(const FrictionMode&) const = default;
};

/// The mode of a system: the discrete state that is constant on a smooth arc and changes at events. A value: it can be
/// copied, compared and recorded. Dynamics turns a mode into equations of motion; ModeChange chooses the next mode.
struct SystemMode {
    ShortVector<ElementMode, 4> elements;  ///< in the order of Dynamics::elements()
    ShortVector<FrictionMode, 4> parts;    ///< in the order of Dynamics::parts()
    /// Per jump of the model: the sign, 1 or −1, that its quantity `when` has in this mode.
    ShortVector<signed char, 4> sides{};

    bool operator==(const SystemMode&) const = default;
};

}  // namespace saltus::integrate
