// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/model.hpp"
#include "saltus/solvers/linear/block_lu.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::integrate::moreau {

/// Forces that stand at the end of a step by their derivatives, K = ∂h/∂q and C = ∂h/∂u:
///     (M − θΔt C − θ²Δt² K)(u⁺ − u) = Δt h(t_m, q_m, u) + (2θ − 1)Δt² K u + WΛ
/// which is the θ-method linearised: of second order for θ = ½, stable for every step on linear forces for θ >= ½.
class ImplicitForces {
public:
    explicit ImplicitForces(const model::Model& model);

    /// Whether the system gives its derivatives, and their factors are not too large.
    bool available() const { return available_; }

    /// K, C and the matrix on the left at a state; false when it is singular.
    bool factorise(const model::Terms& terms, double t, std::span<const double> q, std::span<const double> u, double h,
                   double theta);
    void solve(std::span<double> x);  ///< x ← matrix⁻¹ x
    /// f += factor·K u
    void add_stiffness(double factor, std::span<const double> u, std::span<double> f) const;

private:
    struct Place {
        int from, entry, i, j;  // in the values of M or of the Jacobian; in the block matrix or, densely, i and j
        char part;              // 'M', 'K' or 'C'
    };

    bool small() const { return model_.size() <= 24; }
    void analyse();
    double& element(const Place& place);

    const model::Model& model_;
    std::unique_ptr<model::Jacobians> jacobians_;
    std::vector<double> values_, scratch_, zero_rows_;
    std::vector<Place> places_;
    solvers::DenseLU dense_;
    solvers::BlockMatrix pattern_;
    solvers::BlockLU sparse_;
    bool available_ = false;
};

/// How stiff the forces are for explicit steps, by a few rounds of vector iteration with differences of forces: the
/// largest Δt ω and Δt c/m found along the vectors that the object keeps from one call to the next.
class Stiffness {
public:
    explicit Stiffness(const model::Model& model);
    static constexpr double most = 1.6;  ///< of 2, where explicit steps explode

    /// True beyond Δt ω = 1.6 or Δt c/m = 1.6. `solve` is x ← M⁻¹x.
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
            if (h * (rate ? largest : std::sqrt(largest)) > most) return true;
        }
        return false;
    }

private:
    bool difference(double t, std::span<const double> q, std::span<const double> u, bool rate,
                    const std::vector<double>& v);
    double iterate(std::vector<double>& v) const;  // how fast the change restores v; v becomes its direction

    const model::Model& model_;
    model::Workspace workspace_;
    std::vector<double> direction_, rate_direction_, moved_, force_, change_;
};

}  // namespace saltus::integrate::moreau
