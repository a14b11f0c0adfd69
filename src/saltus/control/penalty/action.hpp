// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build.hpp"

namespace saltus::control {

/// A = −∫(T − U) dt, ∫P_f dt with P_f = ½ depth², and à = A + Σ k ∫P_f. [Tornambe] (16)
struct Action {
    double A = 0.0, penalty_integral = 0.0, A_tilde = 0.0;
};
/// By quadrature on the dense output; `stiffness` 0 for rigid contacts.
Action action_of(const model::Model& model, const trajectory::Trajectory& motion, double stiffness);

/// The stationary path of à between the ends of the rigid one.
struct StationaryPath {
    double k = 0.0;
    bool found = false;
    std::string reason;
    std::vector<double> u_start;  ///< the velocity that leads to the end
    Action action;
    long phases = 0;
    std::optional<double> contact_duration;   ///< of the first complete phase
    int morse_index = -1;                     ///< of S = −Ã
    std::vector<double> conjugate_times;      ///< the first of them
    std::optional<double> lowest_eigenvalue;  ///< of the second variation of S
    /// Horizons on which S can be minimal at the rest of this k: π/ω of its fastest vibration in contact.
    std::optional<double> contact_horizon;
};

/// Theorems 1 and 2 of [Tornambe] on the conservative part of a model, and why they do not apply: A has the Legendre
/// coefficient −M, so that no stationary path is a minimum of A or Ã; and S = −A has conjugate points.
struct ActionSequence {
    bool available = false;
    std::string why_not;
    std::vector<double> q_start, q_end;
    double horizon = 0.0;
    Action rigid;
    std::vector<double> rigid_u_start;
    std::vector<double> corner_slopes;  ///< dS by lifting the corner of each impact off its contacts: −Σ Λ_N
    std::optional<double> free_horizon;
    std::vector<StationaryPath> paths;                                   ///< by ascending k
    bool A_tilde_grows = false, penalty_falls = false, A_grows = false;  ///< (17a), (17b), (17c), over the paths found
    bool bounded_by_rigid = false;                                       ///< Theorem 2
};

struct ActionOptions {
    model::BuildOptions build;
    double t_end = 1.0;
    bool whole = false;  ///< up to t_end; otherwise half-way to the second impact, one bounce
    std::function<bool()> interrupted;
};

/// `with` gives the description for one stiffness, `rigid` the one for rigid contacts; both conservative.
ActionSequence action_sequence(const model::Description& rigid, const std::function<model::Model(double k)>& with,
                               const std::vector<double>& stiffness, const ActionOptions& options);

}  // namespace saltus::control
