// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::control {

/// The functionals of [Tornambe] (16) along a motion, in units of action (energy · time).
struct Action {
    double A = 0.0;                 ///< −∫(T − U) dt
    double penalty_integral = 0.0;  ///< Σ ∫ P_f dt over the contacts, P_f = ½ depth²
    double A_tilde = 0.0;           ///< Ã = A + Σ k ∫ P_f dt
};
/// The functionals of a motion by quadrature on its dense output. `stiffness` is the factor on k of the springs; 0 for
/// rigid contacts.
Action action_of(const model::Model& model, const trajectory::Trajectory& motion, double stiffness);

/// The stationary path of à for one stiffness: the motion with springs that has the same ends as the rigid motion.
struct StationaryPath {
    double k = 0.0;
    bool found = false;
    std::string reason;           ///< why no path was found
    std::vector<double> u_start;  ///< the initial velocity that leads to the given end
    Action action;
    long phases = 0;                          ///< number of phases of contact
    std::optional<double> contact_duration;   ///< duration of the first complete phase of contact, in s
    int morse_index = -1;                     ///< number of negative directions of the second variation of S = −Ã
    std::vector<double> conjugate_times;      ///< times of the first conjugate points, in s
    std::optional<double> lowest_eigenvalue;  ///< smallest eigenvalue of the second variation of S
    /// Longest horizon on which S can be minimal at the equilibrium of this k: half a period π/ω of its fastest
    /// vibration in contact.
    std::optional<double> contact_horizon;
};

/// The sequences of Theorems 1 and 2 of [Tornambe] for the conservative part of a model, and the reason why the
/// theorems do not apply: A has the Legendre coefficient −M, so that no stationary path is a minimum of A or Ã; and S =
/// −A has conjugate points, so that it is no maximum either.
struct ActionSequence {
    bool available = false;
    std::string why_not;
    std::vector<double> q_start, q_end;  ///< positions at which all paths begin and end
    double horizon = 0.0;                ///< duration of all paths, in s
    Action rigid;                        ///< functionals of the rigid motion
    std::vector<double> rigid_u_start;
    /// For each impact: derivative of S when the corner of the rigid path is lifted off its contacts, −Σ Λ_N. It is
    /// negative: the corner is no minimum of S among paths with g_N >= 0.
    std::vector<double> corner_slopes;
    std::optional<double> free_horizon;  ///< StationaryPath::contact_horizon of the model without the springs
    std::vector<StationaryPath> paths;   ///< one for each stiffness, in ascending order of k
    bool A_tilde_grows = false;          ///< (17a): Ã does not decrease with k, over the paths found
    bool penalty_falls = false;          ///< (17b): ∫P_f does not increase with k
    bool A_grows = false;                ///< (17c): A does not decrease with k
    bool bounded_by_rigid = false;       ///< Theorem 2: A <= Ã <= A of the rigid path
};

struct ActionOptions {
    model::BuildOptions build;
    double t_end = 1.0;
    bool whole = false;  ///< true: the horizon is t_end; false: one bounce, up to half-way to the second impact
    std::function<bool()> interrupted;
};

/// Computes the rigid path and the stationary paths of all stiffnesses. `with` returns the model with springs of one
/// stiffness, `rigid` describes the one with rigid contacts; both must be conservative.
ActionSequence action_sequence(const model::Description& rigid, const std::function<model::Model(double k)>& with,
                               const std::vector<double>& stiffness, const ActionOptions& options);

}  // namespace saltus::control
