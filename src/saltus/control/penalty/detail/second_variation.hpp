// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::control {

/// The second variation of S = ∫(T − U − U_f) dt along a motion with springs, with both ends fixed (U_f: energy of the
/// springs). The motion is divided into pieces so short that the second variation is positive on each of them. It is
/// then a positive part plus a quadratic form in the variations δq at the knots, which is block tridiagonal and follows
/// from the linearised flow of each piece. Block elimination counts its negative eigenvalues, the Morse index.
/// [Milnor, Morse theory, §15]. It shows that the minima which Theorems 1 to 3 of [Tornambe] assume do not exist
/// (docs/papers.md).
///
/// It is for motions of conservative systems without constraints and friction; springs must have no damping.
class SecondVariation {
public:
    /// `stiffness` is the factor on k. Model and motion must outlive this object. `interrupted` is polled; true: the
    /// computation ends, and the results are those of equations that could not be linearised.
    SecondVariation(const model::Mechanics& model, const trajectory::Trajectory& motion, double stiffness,
                    std::function<bool()> interrupted = {});
    SecondVariation(const model::Mechanics&, trajectory::Trajectory&&, double,
                    std::function<bool()> = {}) = delete;  // it refers to the motion
    ~SecondVariation();

    /// False if the equations could not be linearised; the functions below must then not be called.
    bool available() const;

    /// Number of conjugate times before the end, with multiplicity.
    int morse_index() const;
    /// The first `max_count` conjugate times, ascending, each as often as its multiplicity. A time t is conjugate if a
    /// nonzero solution of the linearised equations vanishes at the start and at t.
    std::vector<double> conjugate_times(std::size_t max_count = 32) const;
    /// ∂q(end)/∂u(start).
    const Matrix& end_by_start() const;
    /// The smallest λ with −d/dt(M δq̇) + M (∂u̇/∂q) δq = λ M δq for a variation that vanishes at both ends, by linear
    /// finite elements, to a relative accuracy of about 1e-4. It is negative if the Morse index is positive. Nothing if
    /// M is not constant.
    std::optional<double> lowest_eigenvalue() const;

private:
    struct Data;
    std::unique_ptr<Data> data_;
};

}  // namespace saltus::control
