// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/control/rest.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/proof/admissible.hpp"

namespace saltus::control {

/// A closed loop over its whole admissible region { g_N >= 0 }: enclosures of its functions by interval arithmetic, if
/// the model is made of expressions.
struct Domain {
    /// The model must outlive this object.
    explicit Domain(const model::Mechanics& model);

    const model::Mechanics& model;
    std::string no_enclosure;                     ///< why there is no enclosure; set while `enclosure` is made
    std::unique_ptr<proof::Enclosure> enclosure;  ///< null if the model is not made of expressions; then nothing of the
                                                  ///< following is proved
    proof::Box whole;                             ///< the box of all positions
    proof::Box admissible;                        ///< a box that contains the admissible region
    bool convex = false;                          ///< proved: all gaps are concave, so that the region is convex
    bool affine = false;                          ///< proved: all gaps are affine
    bool potential = true;                        ///< all forces at rest are those of U (assumed without enclosure)
    /// M, ∇²Ũ, the damping matrix and the gradients of the gaps are constant up to rounding.
    bool linear = false;
    proof::IntervalMatrix mass, hessian, damping, gradients;  ///< over `admissible`; gradients are rows × n

    int contacts() const;
};

struct EigenvalueBounds {
    double lower = 0.0, upper = 0.0;
};
/// Bounds of the eigenvalues of all symmetric matrices in an interval matrix.
EigenvalueBounds eigenvalues(const proof::IntervalMatrix& A);

enum class Essential { mass, gaps };
/// A smaller box on which the mass matrix (or the gaps) takes all values that it takes on `box`: coordinates on which
/// it does not depend are set to 0, periodic ones are reduced to one period.
proof::Box essential(const Domain& domain, Essential what, const proof::Box& box);

/// Assumption 1: b_lower |u|² <= u·Mu <= b_upper |u|².
struct InertiaBounds {
    double lower = 0.0, upper = 0.0;  ///< bounds of the eigenvalues of M
    bool proved = false;        ///< the bounds are proved by interval arithmetic; otherwise they are those of samples
    bool holds = true;          ///< false: no positive lower or finite upper bound exists
    std::string how;            ///< how the bounds were found, or which of them does not exist
    std::vector<double> worst;  ///< a position where the bounds fail
};
/// Bounds over the admissible region; with springs over all positions. `budget` limits the number of boxes.
InertiaBounds inertia_bounds(const Domain& domain, const std::vector<double>& q, ContactModel contacts, long budget);

/// A list of this length of `contact_subsets` may be incomplete.
inline constexpr std::size_t max_combinations = 4096;
/// Subsets of at most `max_size` contacts that can be closed together (rigid) or compressed together (springs), the
/// empty one first. If the gaps are affine then a linear program excludes impossible ones; otherwise all are listed.
std::vector<std::vector<int>> contact_subsets(const Domain& domain, ContactModel contacts, std::size_t max_size);

}  // namespace saltus::control
