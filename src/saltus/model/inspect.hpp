// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/model/model.hpp"

namespace saltus::model {

/// What can be said of a model at its initial state, before anything moves.
struct Inspection {
    struct ContactState {
        double gap, gamma_n;
        std::vector<double> gamma_t, mu;
        bool closed;
        double e_n, e_t, c;
        std::vector<double> radius;
        std::optional<double> penalty_k, penalty_d;
    };
    struct ConstraintState {
        double g, rate;
        std::vector<double> gamma_t, mu;
    };
    struct SliderState {
        std::vector<double> gamma_t, mu;
        double normal_force;
    };
    struct Redundant {
        std::string name;
        std::vector<std::pair<std::string, double>> combination;  ///< its row is Σ factor · row of name
    };

    std::vector<ContactState> contacts;  ///< in the model's order
    std::vector<ConstraintState> constraints;
    std::vector<SliderState> sliders;
    std::vector<double> clutch_gamma;
    int closed = 0;
    int active_rows = 0;      ///< constraints and closed contacts
    std::optional<int> rank;  ///< of their rows; absent where too many to tell
    std::optional<int> constraint_rank;
    std::vector<Redundant> redundant;
    int degrees_of_freedom = 0;                      ///< coordinates less independent constraints
    double mass_smallest = 0.0, mass_largest = 0.0;  ///< eigenvalues of M
    bool mass_diagonal = false;
    Energy energy;
    std::vector<std::string> warnings;  ///< the model's, and what the state adds
};

/// A gap counts as closed when it is zero to this, relative to the row's own size.
inline constexpr double closed_tolerance = 1e-9;

Inspection inspect(const Model& model);

}  // namespace saltus::model
