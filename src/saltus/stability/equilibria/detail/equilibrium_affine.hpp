// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

/// A plane q = origin + N s of positions in which constraints and closed contacts stay closed and the statics are
/// affine:
///     h = h₀ + H s,   W constant,   loads F = F₀ + F_s s,   gaps g_N = g₀ + g_s s.
/// The structure of the expressions proves this; nothing is sampled.
struct AffineRest {
    Vector origin;
    Matrix N;            ///< directions by columns; without columns the plane is a point
    Statics statics;     ///< statics at the origin: h₀, W, F₀
    Matrix H;            ///< n × d
    Matrix load_slopes;  ///< F_s, one row for each element of the statics
    struct Gap {
        std::size_t contact;
        bool affine;               ///< false: `value` holds at the origin, `slope` is unset
        double value;              ///< g₀
        Eigen::RowVectorXd slope;  ///< g_s
    };
    std::vector<Gap> gaps;  ///< gaps of the open contacts
    /// h and W may vary, but the same forces λ hold every position of the plane. H is then zero.
    bool neutral = false;
};

/// The statics in the plane through q along the directions N. Nothing if they are not affine there, or if the system is
/// not made of expressions. `lambda` are forces that hold q and obey the laws; they are needed to recognise a `neutral`
/// plane and may be empty.
std::optional<AffineRest> affine_along(RestingModel& model, const std::vector<char>& closed, const Vector& q,
                                       const Vector& lambda, const Matrix& N);

/// Whether the constraints and the gaps of the closed contacts are affine functions of q, so that the positions in
/// which they vanish are one plane. False if the system is not made of expressions.
bool closes_in_a_plane(const RestingModel& model, const std::vector<char>& closed);

}  // namespace saltus::stability
