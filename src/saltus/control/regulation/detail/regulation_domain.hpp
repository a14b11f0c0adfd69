// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/control/rest.hpp"
#include "saltus/model/model.hpp"
#include "saltus/proof/admissible.hpp"

namespace saltus::control {

/// A closed loop over all of its admissible region: what its functions can be there, in intervals, where the model is
/// one of expressions.
struct Domain {
    explicit Domain(const model::Model& model);

    const model::Model& model;
    std::unique_ptr<proof::Enclosure> enclosure;  ///< or nothing:
    std::string no_enclosure;
    proof::Box whole;       ///< everything
    proof::Box admissible;  ///< a box around the admissible region
    bool convex = false;    ///< gaps are concave there, proved: the region is convex
    bool affine = false;    ///< gaps are affine, proved
    bool potential = true;  ///< no forces at rest beside those of U
    /// Matrices that are the same everywhere, up to rounding: M, ∇²Ũ, damping, gradients of the gaps.
    bool linear = false;
    proof::IntervalMatrix mass, hessian, damping, gradients;  ///< over `admissible`; gradients are rows × n

    int contacts() const { return static_cast<int>(model.contacts.size()); }
};

/// Bounds of the eigenvalues of a symmetric interval matrix.
struct EigenvalueBounds {
    double lower = 0.0, upper = 0.0;
};
EigenvalueBounds eigenvalues(const proof::IntervalMatrix& A);

/// The box with what does not matter taken out: coordinates that the mass matrix (or the gaps) do not depend on, and
/// all but one period of those that enter with a period.
enum class Essential { mass, gaps };
proof::Box essential(const Domain& domain, Essential what, const proof::Box& box);

/// Assumption 1: bounds of the eigenvalues of M, over the admissible region or, with springs, over all positions.
struct InertiaBounds {
    double lower = 0.0, upper = 0.0;
    bool proved = false, holds = true;
    std::string how;
    std::vector<double> worst;  ///< where it does not hold
};
InertiaBounds inertia_bounds(const Domain& domain, const std::vector<double>& q, ContactModel contacts, long budget);

/// Subsets of the contacts that can be closed together (rigid) or pressed together (springs), the empty one first;
/// those that an affine program excludes are left out. At most `most` contacts at a time; a list of `most_combinations`
/// is not complete.
inline constexpr std::size_t most_combinations = 4096;
std::vector<std::vector<int>> contact_subsets(const Domain& domain, ContactModel contacts, std::size_t most);

}  // namespace saltus::control
