// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/basin_motion.hpp"

namespace saltus::stability {

/// Sorts the positions where motions came to rest into equilibrium sets: two belong to one set when the same contacts
/// are closed and equilibria lead from one to the other, whole turns of periodic coordinates aside.
class RestSets {
public:
    /// `level`: its equilibrium set is always among the sets, and captured motions end there.
    RestSets(const model::Model& model, double h, std::vector<int> periodic, const CaptureSet* level);

    /// Labels of the first `known` motions of the record, with counts over the first `base` of them.
    void label(const BasinRecord& record, std::size_t known, std::size_t base, Basin& out);

private:
    struct Place {
        std::string closed;     // a character a contact
        std::vector<double> q;  // of one end in a cell
        int set = -1;
    };
    struct Set {
        std::string closed;
        std::vector<int> places;
        std::vector<double> low, high;  // unwrapped around the first place
        double potential = 0.0;
        std::size_t motions = 0;
    };

    std::string closed_at(std::span<const double> q);
    std::string cell_of(std::span<const double> q, const std::string& closed) const;
    std::vector<double> difference(std::span<const double> from, std::span<const double> to) const;
    double distance(std::span<const double> from, std::span<const double> to) const;
    bool rests(std::span<const double> q);
    bool connected(std::span<const double> from, std::span<const double> to);
    int place_of(std::span<const double> q);
    void find_scale(const BasinRecord& record, std::size_t known);
    void settle(int place);
    void join(int into, int from);
    void measure(int set, std::span<const double> q);

    const model::Model& model_;
    const double h_;
    const std::vector<int> periodic_;
    const CaptureSet* level_;
    std::vector<char> turns_;  // of each coordinate: periodic
    model::Workspace workspace_;
    std::vector<double> positions_, rest_, scale_;
    Admitter admitter_;
    std::vector<Place> places_;
    std::vector<Set> sets_;
    std::vector<std::pair<std::string, int>> cells_;  // sorted: cell and its place
};

}  // namespace saltus::stability
