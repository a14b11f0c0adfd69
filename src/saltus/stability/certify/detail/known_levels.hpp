// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/model/fwd.hpp"

namespace saltus::stability {

/// The least and greatest potential energies of all equilibrium sets of a model, computed by `equilibria`.
///
/// An equilibrium set ends where some friction force is at its limit; the energy there follows from the equations of
/// equilibrium and is accurate to rounding. The covers by boxes (level_set_equilibria.hpp) bound the same energies only
/// to the tolerance of the linear programs that separate forces. Reports therefore show the computed energy where the
/// proved bound encloses it. The proof itself keeps the bound (LevelPart::verified).
class KnownLevels {
public:
    /// Levels are energies above `reference`. `stop`: polled during the search; true ends it.
    KnownLevels(const model::Mechanics& model, double reference, const std::function<bool()>& stop);

    /// The known level nearest to a proved bound, if it is near enough; otherwise the bound.
    double nearest(double bound) const;

private:
    std::vector<double> levels_;
};

}  // namespace saltus::stability
