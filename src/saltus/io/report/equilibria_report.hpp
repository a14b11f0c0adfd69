// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/stability/equilibria/equilibria.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::io {

/// The equilibrium sets of a model, and one position of it if it was asked for.
struct EquilibriaReport {
    stability::Equilibria equilibria;
    std::vector<trajectory::Element> elements;
    std::optional<stability::EquilibriumPoint> point;
    std::vector<std::string> completed;  ///< coordinates of the point that were not given
    std::vector<std::string> warnings;   ///< of the model
    double seconds = 0.0;
};

/// What `saltus equilibria` prints, for people and as one JSON document. Numbers that are not finite are null there.
std::string equilibria_text(const EquilibriaReport& report);
std::string equilibria_json(const EquilibriaReport& report);

/// One line a set; one line a boundary point.
std::string sets_csv(const EquilibriaReport& report);
std::string boundary_csv(const EquilibriaReport& report);

}  // namespace saltus::io
