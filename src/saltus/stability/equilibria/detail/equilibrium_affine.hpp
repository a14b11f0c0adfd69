// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

/// A plane q = origin + N s of positions in which contacts and constraints stay closed and the statics are affine:
///     h = h₀ + H s,   W constant,   loads F = F₀ + F_s s,   gaps g = g₀ + g_s s
/// The structure of the expressions proves it, not samples.
struct AffineRest {
    Vector origin;
    Matrix N;
    Statics statics;  ///< at the origin
    Matrix H, load_slopes;
    struct Gap {
        std::size_t contact;
        bool affine;
        double value;
        Eigen::RowVectorXd slope;
    };
    std::vector<Gap> gaps;  ///< of contacts that are open
    /// W and h may vary, but the same forces hold everywhere in the plane.
    bool neutral = false;
};

/// The statics along the directions N from p; nothing when they are not affine, or the system is not made of
/// expressions. `lambda`: forces that hold q and obey the laws, for what is neutral; empty: q need not be held.
std::optional<AffineRest> affine_along(RestingModel& model, const std::vector<char>& closed, const Vector& q,
                                       const Vector& lambda, const Matrix& N);

/// Whether constraints and the gaps of the closed contacts are affine everywhere, so that the positions in which they
/// are closed are one plane.
bool closes_in_a_plane(const RestingModel& model, const std::vector<char>& closed);

}  // namespace saltus::stability
