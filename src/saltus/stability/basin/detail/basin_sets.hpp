// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

/// Sorts the positions where motions came to rest into equilibrium sets: those that are known, and, for positions in
/// none of them, sets of their own. Two such positions belong together when the same contacts are closed and positions
/// of rest lead from one to the other, whole periods of coordinates aside.
class RestSets {
public:
    /// `known`: may be null. `capture`: may be null; its equilibrium set is always among the sets, and captured motions
    /// end there. `h`: of the steps that tell rest on the way from one position to another.
    RestSets(const model::Model& model, double h, std::vector<double> periods, const Equilibria* known,
             const CaptureSet* capture);

    /// Labels of the first `motions` of the record, with counts over the first `base` of them.
    void label(const BasinRecord& record, std::size_t motions, std::size_t base, Basin& out);

private:
    /// A set and, of each coordinate, how many periods from the copy that stands for it.
    struct Where {
        int set = -1;
        std::vector<long> turn;
        friend auto operator<=>(const Where&, const Where&) = default;
    };
    struct Place {
        std::string closed;     // a character a contact
        std::vector<double> q;  // of one end in a cell
        int group = -1;
    };
    /// Positions that are in no known set.
    struct Group {
        std::string closed;
        std::vector<int> places;
        int set = -1;                // number, once all are known
        std::vector<double> centre;  // turn 0
    };
    /// What was seen of a set, in its copy with turn 0.
    struct Seen {
        std::string closed;
        std::vector<double> low, high;
        double potential = 0.0;
        std::size_t motions = 0;
    };

    std::string closed_at(std::span<const double> q);
    std::string cell_of(std::span<const double> q, const std::string& closed) const;
    std::vector<double> difference(std::span<const double> from, std::span<const double> to) const;
    double distance(std::span<const double> from, std::span<const double> to) const;
    bool rests(std::span<const double> q);
    bool connected(std::span<const double> from, std::span<const double> to);
    bool in_known(std::span<const double> q, Where& where);
    int place_of(std::span<const double> q);
    void settle(int place);
    void join(int into, int from);
    void find_scale(const BasinRecord& record, std::size_t motions);
    void find_places(const BasinRecord& record, std::size_t motions);
    void number_groups(const BasinRecord& record);
    void see(const Where& where, std::span<const double> q);
    Where where_in_group(int place, std::span<const double> q) const;
    void describe(Basin& out) const;

    const model::Model& model_;
    const double h_;
    const std::vector<double> periods_;
    const Equilibria* known_;
    const CaptureSet* capture_;
    model::Workspace workspace_;
    std::vector<double> positions_, rest_, scale_;
    Admitter admitter_;
    std::vector<Place> places_;
    std::vector<Group> groups_;
    std::vector<std::pair<std::string, int>> cells_;  // sorted: cell and its place
    std::vector<Where> where_;                        // of each motion
    std::vector<int> place_;                          // of each motion in no known set
    Where captor_;
    std::vector<Seen> seen_;
};

}  // namespace saltus::stability
