// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

/// Where a motion ended: a set and its copy. `turn` has, for each coordinate, whole periods from the copy with turn 0.
struct Where {
    int set = -1;
    std::vector<long> turn;
    friend auto operator<=>(const Where&, const Where&) = default;
};

/// Finds the known set that contains a position of rest. Each thread needs one of its own.
class KnownSets {
public:
    /// `known` may be null. Both must outlive this object.
    KnownSets(const model::Mechanics& model, const Equilibria* known);
    /// Nothing if no set contains q.
    std::optional<Where> operator()(std::span<const double> q);

private:
    const Equilibria* known_;
    Admitter admitter_;
    std::vector<double> q_, u_;
};

/// Sorts the positions in which motions of one model came to rest into equilibrium sets: first into the known sets,
/// then, for positions in none of them, into groups. Two positions belong to one group if the same contacts are closed
/// and positions of rest connect them, up to whole periods of the coordinates.
///
/// The motions come one after the other, several times: `measure` all, `collect` all, `number_groups`, then `where` of
/// all. So their number does not matter for the memory. The end positions of a group are sorted into the cells of a
/// grid; one end of each cell, its place, stands for all ends in it.
class RestSets {
public:
    /// `known` and `capture` may be null. The equilibrium set of `capture` is always among the sets; captured motions
    /// end there. `h` is the step of the test whether a position rests.
    RestSets(const model::Mechanics& model, double h, std::vector<double> periods, const Equilibria* known,
             const CaptureSet* capture);

    void measure(const BasinMotion& m);
    /// Returns a number that `where` needs for this motion.
    int collect(const BasinMotion& m);
    /// The same for a motion that rests at q, with the result of KnownSets.
    int collect(std::span<const double> q, const std::optional<Where>& known);
    void number_groups();
    /// The set of a motion that rests or was captured. Sets after the known ones are groups.
    Where where(const BasinMotion& m, int collected);
    const Where& captor() const { return captor_; }  ///< the equilibrium set of the level set

    std::size_t known_sets() const { return known_ != nullptr ? known_->sets.size() : 0; }
    std::size_t group_count() const { return ends_.size() - known_sets(); }
    /// The sets with the motions that `where` has seen. `name` and `known` are left to the caller.
    RestSet describe(std::size_t set) const;

private:
    /// A cell of end positions.
    struct Place {
        std::string closed;     ///< one character for each contact: 'c' closed, '-' open
        std::vector<double> q;  ///< the first end position that was found in the cell
        int group = -1;
        std::vector<double> low, high;  ///< of the ends, relative to q
        double potential = 0.0;         ///< least potential energy of the ends
    };
    /// Connected places that are in no known set.
    struct Group {
        std::string closed;
        std::vector<int> places;     ///< empty if the group was joined to another one
        int set = -1;                ///< index of the set, once all groups are known
        std::vector<double> centre;  ///< centre of the copy with turn 0
    };
    /// The motions that ended in a set, in its copy with turn 0.
    struct Ends {
        std::string closed;
        std::vector<double> low, high;
        double potential = 0.0;
        std::size_t motions = 0;
    };

    std::string closed_at(std::span<const double> q);
    double potential_at(std::span<const double> q);
    std::string cell_of(std::span<const double> q, const std::string& closed) const;
    /// to − from, periodic coordinates the short way round.
    std::vector<double> difference(std::span<const double> from, std::span<const double> to) const;
    /// Largest difference of a coordinate in units of scale_.
    double distance(std::span<const double> from, std::span<const double> to) const;
    /// Whether q is a position of rest: a step from there with velocity zero does not move.
    bool rests(std::span<const double> q);
    /// Whether positions on the straight line between two positions rest.
    bool connected(std::span<const double> from, std::span<const double> to);
    /// The place of the cell of q; a new one if the cell was empty.
    int place_of(std::span<const double> q);
    void assign_group(int place);
    void join(int into, int from);
    void set_scale();
    void add_end(const Where& where, std::span<const double> q);
    Where where_in_group(int place, std::span<const double> q) const;

    const model::Mechanics& model_;
    const double h_;
    const std::vector<double> periods_;
    const Equilibria* known_;
    const CaptureSet* capture_;
    model::Workspace workspace_;
    std::vector<double> positions_;
    std::vector<double> rest_;        ///< velocity zero, for evaluations at rest
    std::vector<double> low_, high_;  ///< extent of the ends
    std::vector<double> scale_;       ///< size of each coordinate: the extent of the ends, or a quarter of the period
    bool scaled_ = false;             ///< all motions were measured
    Admitter admitter_;
    KnownSets in_known_;
    std::vector<Place> places_;
    std::vector<Group> groups_;
    std::vector<std::pair<std::string, int>> cells_;  ///< sorted: the cell and its place
    std::map<Where, int> known_where_;                ///< the numbers of copies of known sets that `collect` gives
    std::vector<Where> known_list_;
    int last_known_ = -1;  ///< number of the copy that `collect` gave last
    int captor_place_ = -1;
    Where captor_;
    std::vector<Ends> ends_;  ///< end positions of each set
};

}  // namespace saltus::stability
