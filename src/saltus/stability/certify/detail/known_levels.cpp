// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/known_levels.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

namespace {

constexpr double near = 5e-10;

}  // namespace

KnownLevels::KnownLevels(const model::Model& model, double reference) {
    EquilibriaOptions options;
    options.largest_model = 10;
    for (const EquilibriumSet& set : equilibria(model, options).sets)
        for (const double U : {set.potential_least, set.potential_greatest}) levels_.push_back(U - reference);
}

double KnownLevels::nearest(double bound) const {
    double best = bound;
    double least = near * std::max(std::fabs(bound), 1e-3);
    for (const double level : levels_)
        if (const double off = std::fabs(level - bound); off <= least) {
            least = off;
            best = level;
        }
    return best;
}

}  // namespace saltus::stability
