// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/equilibria/detail/equilibrium_boxes.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

/// Collects the covers of all combinations of closed contacts and decides whether the list of sets is complete.
class CompletenessProof {
public:
    /// `boxes` must outlive this object.
    explicit CompletenessProof(const EquilibriumBoxes& boxes) : boxes_(boxes) {}

    /// Adds the cover of one combination after its cells were searched for sets.
    void add(const BoxCover& cover);

    /// `all`: the covers of all combinations were added.
    Completeness conclude(bool all) const;

private:
    const EquilibriumBoxes& boxes_;
    std::vector<proof::Box> unbounded_;  ///< cells that no bounded region contains
    std::vector<proof::Box> undecided_;  ///< bounded cells that no set explains
    double resolution_ = 0.0;
    long tested_ = 0;
};

}  // namespace saltus::stability
