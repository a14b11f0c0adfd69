// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/solvers/linear/block_lu.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::integrate::moreau {

/// Linearly implicit forces. The θ-method takes the force at the mean state with weight θ at the end of the step,
///     M(u⁺ − u) = Δt h(t_m, (1−θ)q + θq⁺, (1−θ)u + θu⁺) + WΛ.
/// To first order about (q_m, u), with K = ∂h/∂q and C = ∂h/∂u, this is
///     (M − θΔt C − θ²Δt² K)(u⁺ − u) = Δt h(t_m, q_m, u) + (2θ − 1)Δt² K u + WΛ.
/// The method is of second order for θ = ½, and stable for every step on linear forces if θ >= ½. moreau_implicit.cpp
/// has the derivation.
class ImplicitForces {
public:
    explicit ImplicitForces(const model::Mechanics& model);

    /// Whether the system gives derivatives and the factors of the matrix fit into memory.
    bool available() const { return available_; }

    /// Computes K, C and the factors of the matrix on the left at a state, with M from `terms`; `h` is Δt. False if the
    /// matrix is singular.
    bool factorise(const model::Terms& terms, double t, std::span<const double> q, std::span<const double> u, double h,
                   double theta);
    void solve(std::span<double> x);  ///< x ← matrix⁻¹ x
    /// f += factor·K u, with K of the last `factorise`.
    void add_stiffness(double factor, std::span<const double> u, std::span<double> f) const;

private:
    enum class Part : char { M, K, C };

    /// Where one entry of M, K or C goes in the matrix.
    struct Place {
        int from;   // index among the values of M or of the Jacobian
        int entry;  // block of the sparse matrix; −1: the matrix is dense
        int i, j;   // place in the block or in the dense matrix
        Part part;
    };

    /// Up to this number of coordinates a dense matrix is faster than a sparse one.
    static constexpr int max_dense_size = 24;
    bool dense() const;
    void analyse();
    double& element(const Place& place);

    const model::Mechanics& model_;
    std::unique_ptr<model::Jacobians> jacobians_;
    std::vector<double> values_, scratch_, zero_rows_;
    std::vector<Place> places_;
    solvers::DenseLU dense_;
    solvers::BlockMatrix pattern_;
    solvers::BlockLU sparse_;
    bool available_ = false;
};

/// Estimates how stiff the forces are for explicit steps: Δt ω of the stiffness and Δt c/m of the damping, where ω² and
/// c/m are the largest eigenvalues of −M⁻¹K and −M⁻¹C. A few rounds of vector iteration with differences of forces find
/// them. The object keeps the vectors from one call to the next, so that the estimates improve.
class Stiffness {
public:
    explicit Stiffness(const model::Mechanics& model);
    /// Forgets the vectors of earlier calls. Allocates nothing.
    void restart();
    /// Explicit steps are unstable for Δt ω > 2 and for Δt c/m > 2. The estimates are too low at first, hence the
    /// margin.
    static constexpr double stable_limit = 1.6;
    /// Step of the differences, as part of the size of the state: about the root of the rounding of a double.
    static constexpr double difference_ratio = 1e-7;
    /// The start vector of the iterations has the components ½ + the fractional parts of multiples of this number: no
    /// eigenvector is orthogonal to it by chance.
    static constexpr double golden_ratio = 0.6180339887498949;

    /// True if Δt ω or Δt c/m exceeds the limit; `h` is Δt. `solve` is x ← M⁻¹x.
    template <class Solve>
    bool beyond(double t, std::span<const double> q, std::span<const double> u, double h, int rounds, Solve solve) {
        for (const bool rate : {false, true}) {
            std::vector<double>& v = rate ? rate_direction_ : direction_;
            double largest = 0.0;
            for (int k = 0; k < rounds; ++k) {
                if (!difference(t, q, u, rate, v)) break;
                solve(std::span<double>(change_));
                largest = iterate(v);
            }
            if (h * (rate ? largest : std::sqrt(largest)) > stable_limit) return true;
        }
        return false;
    }

private:
    bool difference(double t, std::span<const double> q, std::span<const double> u, bool rate,
                    const std::vector<double>& v);
    /// The eigenvalue that the change of v shows, 0 if the force does not restore; v becomes the direction of the
    /// change.
    double iterate(std::vector<double>& v) const;

    const model::Mechanics& model_;
    model::Workspace workspace_;
    std::vector<double> direction_, rate_direction_, moved_, force_, change_;
};

}  // namespace saltus::integrate::moreau
