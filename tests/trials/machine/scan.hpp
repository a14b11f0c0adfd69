// SPDX-License-Identifier: Apache-2.0
//
// Equilibria by dense scans: every position of a fine grid is asked whether admissible reactions hold it.
#pragma once

#include <optional>
#include <vector>

#include "machine/model.hpp"

namespace trials {

/// How a position is held.
struct Hold {
    bool admissible = false;  ///< no gap is negative
    double residual = 0.0;    ///< part of the forces that no admissible reactions balance, relative
    bool converged = false;
};

/// `near`: gaps below this count as closed.
Hold hold_at(const Mechanics& mechanics, const Vector& q, double near = 1e-8);

/// A family of positions with one parameter that contains all equilibria of a model of one coordinate, or all
/// equilibria of a model of two coordinates on which gravity acts and whose only contact is the graph gap = y - f(x).
std::optional<Vector> line_position(const Mechanics& mechanics, double x);

/// Equilibria with coordinates in [-reach, reach]: intervals by their points, isolated ones by bisection or Newton's
/// iteration.
std::vector<Vector> scanned_equilibria(const Mechanics& mechanics, double reach);

}  // namespace trials
