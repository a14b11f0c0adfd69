// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

/// The state of a contact or slider in one mode: "sticks", "forwards", "backwards", or "closed" for a contact without
/// friction. Contacts that are not listed are open.
struct ElementState {
    std::string name, state;
};

/// Where the equilibrium of the mode is sought, and how it is used.
struct ModeRequest {
    std::vector<ElementState> states;
    std::vector<double> q;      ///< a position near the equilibrium
    std::vector<double> scale;  ///< typical size of each coordinate
    long budget = 0;            ///< largest number of leaves of a tree
    std::function<bool()> stop = {};
};

/// The claims about the motion in one mode (docs/certificate-format.md, "One mode"), for a certificate that is proved
/// to be attractive or unstable. A statement that is not certified says why.
proof::CertifiedStatement mode_claims(const proof::Enclosure& enclosure, const proof::Certificate& certificate,
                                      const ModeRequest& request);

}  // namespace saltus::stability
