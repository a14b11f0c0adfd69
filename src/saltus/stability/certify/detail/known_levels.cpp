// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/known_levels.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

namespace {

/// A bound encloses a known level if they differ by at most near_ratio · max(|bound|, smallest_level). The covers of
/// equilibrium sets are sharp to about the tolerance 1e-9 of the linear programs that separate forces.
constexpr double near_ratio = 5e-10, smallest_level = 1e-3;
/// Equilibrium sets are computed for models with at most this number of coordinates.
constexpr int largest_model = 10;

}  // namespace

KnownLevels::KnownLevels(const model::Mechanics& model, double reference, const std::function<bool()>& stop) {
    EquilibriaOptions options;
    options.interrupted = stop;
    options.largest_model = largest_model;
    for (const EquilibriumSet& set : equilibria(model, options).sets)
        for (const double U : {set.potential_least, set.potential_greatest}) levels_.push_back(U - reference);
}

double KnownLevels::nearest(double bound) const {
    double best = bound;
    double least = near_ratio * std::max(std::fabs(bound), smallest_level);
    for (const double level : levels_)
        if (const double distance = std::fabs(level - bound); distance <= least) {
            least = distance;
            best = level;
        }
    return best;
}

}  // namespace saltus::stability
