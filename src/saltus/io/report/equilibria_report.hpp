// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/report/timing.hpp"
#include "saltus/io/results/certificate_file.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"
#include "saltus/stability/equilibria/equilibrium_along.hpp"

/// The result of `saltus equilibria` as text, JSON and CSV.
namespace saltus::io {

/// The equilibrium sets of a model, and optionally the question whether one position is an equilibrium.
struct EquilibriaReport {
    stability::Equilibria equilibria;
    std::vector<trajectory::Element> elements;         ///< contacts, constraints, sliders, clutches of the model
    std::optional<stability::EquilibriumPoint> point;  ///< set if a position was asked for
    std::vector<std::string> completed;                ///< coordinates of the position that the program chose itself
    std::vector<std::string> warnings;                 ///< warnings about the model; shown after Equilibria::warnings
    /// For each set of one dimension points in their order along it, with the forces there; empty for other sets.
    std::vector<std::vector<stability::EquilibriumPoint>> along;
    double seconds = 0.0;                       ///< computing time in s
    std::optional<WrittenCertificate> written;  ///< the certificate file, if one was written
};

/// For a terminal: the sets with their extents and the reasons why they end; then the position.
std::string equilibria_text(const EquilibriaReport& report);

/// One JSON document (docs/equilibria.md). Numbers that are not finite are null.
std::string equilibria_json(const EquilibriaReport& report, Timing timing = Timing::included);

/// A line for each set: closed contacts, shape, extents, potential energies.
std::string sets_csv(const EquilibriaReport& report);

/// A line for each point: those on the boundary of a set, and samples inside it.
std::string boundary_csv(const EquilibriaReport& report);

}  // namespace saltus::io
