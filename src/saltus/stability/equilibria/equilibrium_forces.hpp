// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/equilibrium_program.hpp"

namespace saltus::stability {

/// Forces balance if ‖h + Wλ‖ <= rest_tolerance · size, and a margin counts as >= 0 if it is >= −rest_tolerance. Both
/// are relative numbers; positions are known to about the same relative accuracy.
inline constexpr double rest_tolerance = 1e-10;

/// A proof that no allowed forces hold h: a direction v along which all of them do positive power,
///     v·(h + Wλ) >= power > 0 for all λ that the laws allow (lemma of Farkas).
/// If constraints have friction then it concerns reactions with the given signs only.
struct Separation {
    Vector v;               ///< the direction, scaled to ‖scale · v‖ = 1
    std::vector<int> sign;  ///< one for each element of the statics; 0: both signs
    double power = 0.0;     ///< the least power; −∞ if rounding leaves no bound
};

/// The answer of `balance`: forces that hold h, or directions that prove that there are none.
struct Balance {
    bool holds = false;
    bool decided = true;    ///< false: a program failed or the search over signs reached its limit
    double margin = 0.0;    ///< largest relative depth t <= 1 of the forces inside their cones; < 0: no forces hold
    double defect = 0.0;    ///< relative size of the part of h outside the range of W: no force of any size holds it
    Vector lambda;          ///< forces of the largest margin, one for each column; they break the laws if margin < 0
    std::vector<int> sign;  ///< signs σ of the reactions with friction that `lambda` has
    std::vector<Separation> separations;  ///< if not `holds`: together they cover all signs
};

struct BalanceOptions {
    bool best_margin = true;  ///< true: the largest margin of all signs; false: the search stops at the first forces
    int max_programs = 4096;  ///< limit of the search over signs; beyond it the result is not `decided`
};

/// Searches for forces λ with h + Wλ = 0 that the laws allow, as deep inside their cones as possible.
Balance balance(const Statics& statics, const BalanceOptions& options = {}, ForceCorners* corners = nullptr);

/// The forces of least norm if they obey the laws, otherwise the forces of the largest margin (`balance.lambda`). With
/// redundant supports the former are the ones that a reader expects.
Vector plain_forces(const Statics& statics, const Balance& balance);

/// How far forces are from holding a position by the laws.
struct ForceDefects {
    double balance = 0.0;  ///< ‖h + Wλ‖ relative to the size of its terms
    double law = 0.0;      ///< largest violation of a force law, as a force relative to that size
};
/// Tests forces against the balance and the laws without any program, as an independent check.
ForceDefects examine(const Statics& statics, const Vector& lambda);

/// The least power v·(h + Wλ) of all forces that the laws allow with the given signs; −∞ if it has no lower bound.
/// Products w·v of at most `rounding` · ‖w/scale‖ ‖scale v‖ count as 0.
double least_power(const Statics& statics, const std::vector<int>& sign, const Vector& v, double rounding = 1e-10);

}  // namespace saltus::stability
