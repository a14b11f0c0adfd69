// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/model/fwd.hpp"

namespace saltus::stability {

/// The lowest and highest energies of the equilibrium sets, above a reference. Their ends are known to rounding, where
/// boxes enclose them only to the tolerance of the programs that tell forces apart.
class KnownLevels {
public:
    KnownLevels(const model::Model& model, double reference);

    /// The known level that a bound encloses, or the bound where none is that near.
    double nearest(double bound) const;

private:
    std::vector<double> levels_;
};

}  // namespace saltus::stability
