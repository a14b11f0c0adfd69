// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/equilibrium_program.hpp"

namespace saltus::stability {

/// What counts as balanced: relative to the sizes of the forces.
inline constexpr double rest_tolerance = 1e-10;

/// A direction v along which every force that the laws allow does positive power, so that none of them can hold h:
///     v·(h + Wλ) >= power > 0 for all λ allowed
/// With friction on constraints it is about reactions of the given signs; 0: of both.
struct Separation {
    Vector v;
    std::vector<int> sign;  ///< one an element of the statics
    double power = 0.0;     ///< of ‖scale v‖ = 1
};

/// Forces that hold h, or why there are none.
struct Balance {
    bool holds = false;
    bool decided = true;  ///< false: the program or the search over signs did not come to an end
    double margin = 0.0;  ///< how deep inside their cones the forces can be, of the size of h; < 0: none hold
    double defect = 0.0;  ///< part of h that no force reaches whatever its size
    Vector lambda;        ///< one a column; of the margin where nothing holds
    std::vector<int> sign;
    std::vector<Separation> separations;  ///< together for all signs
};

struct BalanceOptions {
    bool best_margin = true;  ///< otherwise any forces will do: the first found
    int most_programs = 4096;
};

Balance balance(const Statics& statics, const BalanceOptions& options = {}, ForceCorners* corners = nullptr);

/// Forces of least size, where they obey the laws; otherwise those of `balance`.
Vector plain_forces(const Statics& statics, const Balance& balance);

/// What is left of h + Wλ, of the sizes of its terms, and by how much the worst law is broken, of the largest force.
struct ForceDefects {
    double balance = 0.0, law = 0.0;
};
ForceDefects examine(const Statics& statics, const Vector& lambda);

/// The least power along v of all forces that the laws allow, −∞ where it has no bound; entries below `rounding` of
/// their terms count as 0.
double least_power(const Statics& statics, const std::vector<int>& sign, const Vector& v, double rounding = 1e-10);

}  // namespace saltus::stability
