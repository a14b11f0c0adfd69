// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saltus/stability/equilibria/equilibrium_set.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

struct EquilibriaOptions {
    /// The time at which a time-dependent model is frozen. Without it such a model has no equilibrium sets.
    std::optional<double> time;
    int starts = 40;              ///< scattered start positions of the search, for each combination of closed contacts
    int max_combinations = 1024;  ///< limit of the combinations of closed contacts; further ones are not searched
    int largest_model = 40;       ///< number of coordinates beyond which no sets are searched
    /// The positions in which the list of sets is to be complete: least and greatest value of each coordinate, ±∞ if
    /// unbounded. Empty: all positions, or as many of them as can be decided.
    std::vector<std::pair<double, double>> region;
    /// Boxes that the proof of completeness may test for each combination of closed contacts; 0: no proof.
    long max_boxes = 20'000;
    std::function<bool()> interrupted;  ///< polled during the search; true ends it with the sets found so far
};

/// How far the search for equilibrium sets got.
enum class SearchStatus {
    searched,        ///< every combination of closed contacts was searched from all starts
    partly,          ///< some combinations were left out because there were too many
    interrupted,     ///< EquilibriaOptions::interrupted ended the search
    time_dependent,  ///< forces or geometry depend on time, so that no position needs to stay at rest
    too_large,       ///< more coordinates than EquilibriaOptions::largest_model
    no_derivatives,  ///< a user-defined system without derivatives
};
std::string_view to_string(SearchStatus status);

/// Whether the list of sets is complete: whether interval arithmetic proved that there are no other equilibria.
struct Completeness {
    /// Every equilibrium of `region` lies in a listed set, or at most `resolution` from one.
    bool complete = false;
    /// Why the proof was not tried or not finished; empty if complete.
    std::string why;
    /// Least and greatest value of each coordinate in the region, ±∞ if unbounded. Empty: nothing was examined.
    std::vector<std::pair<double, double>> region;
    /// The region that was searched. `region` is smaller if something far away could not be decided.
    std::vector<std::pair<double, double>> searched;
    /// Volume of the part of the region that is neither proved to be free of equilibria nor explained by a listed set,
    /// in the product of the units of the coordinates. NaN: nothing was examined.
    double undecided_volume = std::numeric_limits<double>::quiet_NaN();
    /// Largest size of the boxes at the boundaries of sets, in 1 + |q_i|. Sets that are nearer to each other than this
    /// may be listed as one.
    double resolution = 0.0;
    long boxes = 0;  ///< number of boxes that were tested
};

/// The equilibrium sets of a model. Sets with a frictionless equilibrium come first; then they are sorted by how far
/// their angles are turned, then by potential energy.
struct Equilibria {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    /// Period of each coordinate, 0 if it has none. A set stands for all its copies, shifted by whole periods.
    std::vector<double> periods;
    SearchStatus status = SearchStatus::searched;
    std::vector<EquilibriumSet> sets;
    Completeness completeness;
    std::vector<std::string> warnings;
    double time = 0.0;     ///< time t at which the model was examined, in s
    int combinations = 0;  ///< number of combinations of closed contacts that were searched
    long starts = 0;       ///< start positions that were used
    long programs = 0;     ///< linear programs that were solved

    /// The name of a set by its index: "E1", "E2", ...
    static std::string label(std::size_t set) { return "E" + std::to_string(set + 1); }
};

/// Searches for all equilibrium sets of a model. The result is deterministic. `Equilibria::completeness` says whether
/// sets may be missing.
Equilibria equilibria(const model::Mechanics& model, const EquilibriaOptions& options = {});

/// The set in which a position lies.
struct Membership {
    int set = -1;
    std::vector<int> turns;  ///< for each coordinate: whole periods from the stored copy of the set to the position
    double distance = 0.0;   ///< distance of the position to the set, in 1 + |q_i|
};

/// The set that contains the position up to `tolerance` (in 1 + |q_i|), or nothing. The test compares the position
/// with the extents, planes and samples of the sets; it solves no program and is fast enough for many states. It does
/// not examine velocities: the caller must know that they are zero.
std::optional<Membership> member(const Equilibria& equilibria, std::span<const double> q, double tolerance = 1e-6);

/// Completes a position of which only the coordinates with given[i] != 0 are known. The others are chosen such that it
/// is an equilibrium of the nearest set that has such a position; if there is none, such that the contacts of the
/// nearest set are closed; without sets, such that the constraints hold. The unknown entries of `q` are start values.
Vector complete_position(RestingModel& model, const Equilibria& equilibria, const Vector& q,
                         const std::vector<char>& given);

}  // namespace saltus::stability
