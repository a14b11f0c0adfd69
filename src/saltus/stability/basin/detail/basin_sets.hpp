// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

/// Sorts the positions in which motions came to rest into equilibrium sets: first into the known sets, then, for
/// positions in none of them, into groups. Two positions belong to one group if the same contacts are closed and
/// positions of rest connect them, up to whole periods of the coordinates.
///
/// For speed, the end positions of a group are sorted into the cells of a grid; one end of each cell, its place, stands
/// for all ends in it.
class RestSets {
public:
    /// `known` and `capture` may be null. The equilibrium set of `capture` is always among the sets; captured motions
    /// end there. `h` is the step of the test whether a position rests.
    RestSets(const model::Mechanics& model, double h, std::vector<double> periods, const Equilibria* known,
             const CaptureSet* capture);

    /// Determines the labels of the first `motions` of the record and fills in label, labels, sets and captor of `out`.
    /// BasinLabel::count is over the first `base` motions.
    void label(const BasinRecord& record, std::size_t motions, std::size_t base, Basin& out);

private:
    /// A copy of a set: the set and, for each coordinate, whole periods from the copy with turn 0. Values of `set`
    /// above all indices stand for other fates.
    struct Where {
        int set = -1;
        std::vector<long> turn;
        friend auto operator<=>(const Where&, const Where&) = default;
    };
    /// A cell of end positions.
    struct Place {
        std::string closed;     ///< one character for each contact: 'c' closed, '-' open
        std::vector<double> q;  ///< the first end position that was found in the cell
        int group = -1;
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
    std::string cell_of(std::span<const double> q, const std::string& closed) const;
    /// to − from, periodic coordinates the short way round.
    std::vector<double> difference(std::span<const double> from, std::span<const double> to) const;
    /// Largest difference of a coordinate in units of scale_.
    double distance(std::span<const double> from, std::span<const double> to) const;
    /// Whether q is a position of rest: a step from there with velocity zero does not move.
    bool rests(std::span<const double> q);
    /// Whether positions on the straight line between two positions rest.
    bool connected(std::span<const double> from, std::span<const double> to);
    /// The known set that contains q, if there is one.
    std::optional<Where> in_known(std::span<const double> q);
    /// The place of the cell of q; a new one if the cell was empty.
    int place_of(std::span<const double> q);
    void assign_group(int place);
    void join(int into, int from);
    void find_scale(const BasinRecord& record, std::size_t motions);
    void find_sets(const BasinRecord& record, std::size_t motions);
    void number_groups(const BasinRecord& record);
    void add_end(const Where& where, std::span<const double> q);
    Where where_in_group(int place, std::span<const double> q) const;
    void describe(Basin& out) const;
    std::string text_of(const Where& where, const std::string& name) const;

    const model::Mechanics& model_;
    const double h_;
    const std::vector<double> periods_;
    const Equilibria* known_;
    const CaptureSet* capture_;
    model::Workspace workspace_;
    std::vector<double> positions_;
    std::vector<double> rest_;   ///< velocity zero, for evaluations at rest
    std::vector<double> scale_;  ///< size of each coordinate: the extent of the ends, or a quarter of the period
    Admitter admitter_;
    std::vector<Place> places_;
    std::vector<Group> groups_;
    std::vector<std::pair<std::string, int>> cells_;  ///< sorted: the cell and its place
    std::vector<Where> where_;                        ///< where each motion ended
    std::vector<int> place_;                          ///< place of each motion; −1 if it ended in a known set
    Where captor_;                                    ///< the equilibrium set of the level set
    std::vector<Ends> ends_;                          ///< end positions of each set
};

}  // namespace saltus::stability
