// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// Properties of a model at its initial state (t = 0): what `saltus check` reports.
struct Inspection {
    struct ContactState {
        double gap, gamma_n;              ///< gap and its rate
        std::vector<double> gamma_t, mu;  ///< slip velocities; friction coefficients (two if orthotropic)
        bool closed;
        bool exists;                      ///< false: the condition of the contact does not hold at the initial state
        std::optional<double> mu_static;  ///< coefficient up to which friction holds, if it is not mu; as below
        double e_n, e_t, c;
        std::vector<double> radius;                  ///< radii of drilling and rolling friction
        std::optional<double> penalty_k, penalty_d;  ///< stiffness and damping of the penalty method, if given
    };
    struct ConstraintState {
        /// Constraint function and its rate, 0 up to `initial_tolerance`; a velocity constraint has its velocity in
        /// both.
        double g, rate;
        std::vector<double> gamma_t, mu;
        std::optional<double> mu_static{};
    };
    struct SliderState {
        std::vector<double> gamma_t, mu;
        double normal_force;
        std::optional<double> mu_static{};
    };
    /// A constraint or closed contact whose row depends linearly on the rows of others.
    struct Redundant {
        std::string name;
        /// Pairs (other, factor): the row of this element is Σ factor · row of other.
        std::vector<std::pair<std::string, double>> combination;
    };

    std::vector<ContactState> contacts;  ///< in the order of the model, as the next two
    std::vector<ConstraintState> constraints;
    std::vector<SliderState> sliders;
    std::vector<double> clutch_gamma;    ///< velocity of each clutch
    int closed = 0;                      ///< number of closed contacts
    int active_rows = 0;                 ///< number of constraints and closed contacts
    std::optional<int> rank;             ///< rank of the active rows; none if there are too many to compute it
    std::optional<int> constraint_rank;  ///< rank of the constraints' rows
    std::vector<Redundant> redundant;
    int degrees_of_freedom = 0;                      ///< coordinates minus independent constraints
    double mass_smallest = 0.0, mass_largest = 0.0;  ///< extreme eigenvalues of M
    bool mass_diagonal = false;
    Energy energy;
    std::vector<std::string> warnings;  ///< warnings of the model, and those about the initial state
};

/// A contact counts as closed if gap <= closed_tolerance · row_scale. Rounding of q0 makes larger residues unlikely; a
/// contact that is open by less would close at once.
inline constexpr double closed_tolerance = 1e-9;

/// Evaluates the model at its initial state.
Inspection inspect(const Mechanics& model);

/// The perturbation index of the equations of motion: the smallest p such that the errors of positions, velocities and
/// reactions are bounded by errors of the equations and their derivatives up to order p − 1; 0 for ordinary
/// differential equations. Constraints on positions (g = η, or a closed contact g_N = θ) give 3, because η̈ and θ̈ enter
/// the reactions; friction that sticks and locked clutches alone give 2, because they hold velocities. [Alscher]
/// Remark 3.1
struct PerturbationIndex {
    int free = 0;     ///< while no contact is closed, nothing sticks and no clutch is locked
    int largest = 0;  ///< over all modes of the motion
};
PerturbationIndex perturbation_index(const Mechanics& model);

}  // namespace saltus::model
