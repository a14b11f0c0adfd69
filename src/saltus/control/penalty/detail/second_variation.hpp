// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::control {

/// The second variation of S = ∫(T − U − U_f) dt along a motion with springs, with both ends held. Between the knots
/// of a partition that is fine enough it is positive, and what is left is a quadratic form of the variations at the
/// knots: block tridiagonal, from the linearised flow of each piece. Its negative eigenvalues are counted by block
/// elimination. [Milnor, Morse theory, 15], [Tornambe] errata 1
///
/// For the motion of a conservative system without constraints and friction; springs have no damping.
class SecondVariation {
public:
    SecondVariation(const model::Model& model, const trajectory::Trajectory& motion, double stiffness);
    SecondVariation(const model::Model&, trajectory::Trajectory&&, double) = delete;  // it refers to the motion
    ~SecondVariation();

    bool available() const;  ///< false where the equations could not be linearised

    int morse_index() const;  ///< number of conjugate times before the end, with multiplicity
    /// Times t with a nonzero variation that vanishes at the start and at t, ascending, each as often as its
    /// multiplicity; the first `most` of them.
    std::vector<double> conjugate_times(std::size_t most = 32) const;
    /// ∂q(end)/∂u(start).
    const Matrix& end_by_start() const;
    /// The smallest λ with −(Mδq̇)˙ + M(∂u̇/∂q)δq = λMδq for a variation that vanishes at both ends, by linear elements
    /// to about 1e-4: negative where the index is positive. Nothing where M is not constant.
    std::optional<double> lowest_eigenvalue() const;

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace saltus::control
