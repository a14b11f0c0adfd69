// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/stability/equilibria/equilibrium_set.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

struct EquilibriaOptions {
    std::optional<double> time;  ///< freezes a model that depends on time; otherwise such a model has no sets
    int starts = 40;             ///< scattered positions that the search begins from, for each combination of contacts
    int most_combinations = 1024;
    int largest_model = 40;             ///< coordinates; beyond, no sets are searched
    std::function<bool()> interrupted;  ///< asked now and then; true ends the search with what there is
};

enum class SearchStatus {
    searched,  ///< every combination of contacts, from all starts
    partly,    ///< some combinations were left out: there were too many
    interrupted,
    time_dependent,  ///< forces or geometry depend on time: nothing need stay at rest
    too_large,
    no_derivatives,  ///< a user's system that gives none
};
std::string_view to_string(SearchStatus status);

/// The equilibrium sets of a model: those with a frictionless equilibrium first, then by how far their angles are
/// turned, then by potential energy.
struct Equilibria {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    std::vector<double> periods;  ///< of the coordinates, 0: none. Each set stands for all its copies.
    SearchStatus status = SearchStatus::searched;
    std::vector<EquilibriumSet> sets;
    std::vector<std::string> warnings;
    double time = 0.0;
    int combinations = 0;  ///< of closed contacts that were looked at
    long starts = 0, programs = 0;

    /// "E1", "E2", ...
    static std::string label(std::size_t set) { return "E" + std::to_string(set + 1); }
};

Equilibria equilibria(const model::Model& model, const EquilibriaOptions& options = {});

/// Which set a position lies in, and how many periods away from the copy that the set is given by.
struct Membership {
    int set = -1;
    std::vector<int> turns;  ///< one a coordinate
    double distance = 0.0;   ///< to the set's extent, coordinates in 1 + |q_i|
};

/// A quick test for many states: the extents, then nearness to the sets' planes and samples; no program is solved. The
/// position counts as at rest in a set when it is within `tolerance` of it. Nothing is asked of the velocities: who
/// knows that they are zero asks this.
std::optional<Membership> member(const Equilibria& equilibria, std::span<const double> q, double tolerance = 1e-6);

/// A position of which some coordinates are given: the others such that it is an equilibrium of the first set that has
/// such a position; failing that, such that the contacts of the nearest set stay closed. `q` has the values to begin
/// with where there is no set.
Vector complete_position(RestingModel& model, const Equilibria& equilibria, const Vector& q,
                         const std::vector<char>& given);

}  // namespace saltus::stability
