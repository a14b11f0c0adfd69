// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "saltus/proof/admissible.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

namespace saltus::stability {

/// A cell that is at most this many times its size away from a set is explained by it: bounds over a cell are not
/// sharp.
inline constexpr double cells_beside_set = 3.0;

/// The positions of a region that may be equilibria with the same contacts closed: boxes that are not proved to be free
/// of equilibria. All other positions of the region are proved to be no equilibria of this combination.
struct BoxCover {
    struct Cell {
        proof::Box q;
        bool inside = false;     ///< proved: every position of the cell with these contacts closed is an equilibrium
        int component = -1;      ///< number of its connected component; −1 for an unbounded cell
        bool explained = false;  ///< a listed set lies in the cell, or passes it at less than the width of the cell
    };
    std::vector<Cell> cells;
    int components = 0;  ///< number of connected components of the bounded cells
    /// The boxes around components that touch an unbounded cell and have no cell inside: nothing about them is proved,
    /// and they reach to the end of the region that can be decided. An empty box for all other components.
    std::vector<proof::Box> ends;
    bool closable = false;  ///< false: proved that no position has these contacts closed
    bool stopped = false;   ///< the budget of boxes ended, or the search was interrupted
    long boxes = 0;         ///< number of boxes that were tested

    bool endless(int component) const { return !ends[static_cast<std::size_t>(component)].empty(); }
};

/// Where a position lies relative to a cover.
enum class Place {
    excluded,  ///< in no cell: proved to be no equilibrium
    in_cell,
    outside,  ///< outside the region that was searched
};

struct CoverPlace {
    Place place = Place::outside;
    int component = -1;  ///< of the cell, if place == in_cell
};

/// Proves by interval arithmetic where a model has no equilibria.
class EquilibriumBoxes {
public:
    /// nullptr if boxes cannot be used for this model; `why` then says so. `periods` are the periods of the
    /// coordinates, 0 for none. `region`: the positions to search; empty: all positions. The model must outlive the
    /// object.
    static std::unique_ptr<EquilibriumBoxes> of(const model::Mechanics& model, const std::vector<double>& periods,
                                                const proof::Box& region, std::string& why);

    /// Searches the region for positions that may be equilibria with these contacts closed and no others.
    BoxCover cover(const std::vector<char>& closed, long max_boxes, const std::function<bool()>& interrupted);

    CoverPlace locate(const BoxCover& cover, const Vector& q) const;

    /// Number of parts of a component that are proved to consist of equilibria and that only undecided cells connect.
    /// Parts with less than 1 % of the volume of the largest one do not count. If there are several, then a strip
    /// without equilibria that is narrower than these cells may lie between them.
    int proved_parts(const BoxCover& cover, int component) const;

    /// The region. Periodic coordinates have one period.
    const proof::Box& region() const { return region_; }
    /// Flags of the coordinates on which nothing depends. Their sides of all boxes are the whole line.
    const std::vector<char>& ignored() const { return ignored_; }
    const proof::Enclosure& enclosure() const { return *enclosure_; }

    /// The largest side of a box, in units of 1 + |q_i|. Ignored coordinates do not count.
    double size_of(const proof::Box& box) const;

private:
    EquilibriumBoxes(const model::Mechanics& model, std::unique_ptr<proof::Enclosure> enclosure);

    /// No forces that the laws allow balance anywhere in the box, with these contacts (position rows) closed.
    bool no_balance(const proof::Box& q, const std::vector<int>& closed) const;
    /// The coordinates on which no force of the laws acts while these contacts (position rows) are closed. The balance
    /// along them is ∂U/∂q_i = 0. Empty if the model is not smooth or has other forces.
    std::vector<int> free_coordinates(const std::vector<int>& closed) const;
    /// Shrinks the box around its points with ∂U/∂q_i = 0 for the free coordinates. False: there are none.
    bool contract_free(proof::Box& q, const std::vector<int>& free) const;
    /// Enlarges the box a little along the free coordinates and proves that for all values of the other coordinates
    /// ∂U/∂q_free = 0 has exactly one solution in it.
    bool solvable(proof::Box& q, const std::vector<int>& free) const;
    /// Forces that the laws allow balance at every point of the box with ∂U/∂q_free = 0, such points exist for all
    /// values of the other coordinates, and all other contacts are open.
    bool holds_everywhere(proof::Box& q, const std::vector<char>& closed, const std::vector<int>& free);
    bool lawful(const RestingElement& element, const proof::IntervalMatrix& lambda,
                const proof::IntervalVector& coefficients) const;
    bool unbounded(const proof::Box& q) const;
    /// The side of an unbounded box to split: a whole line, or the half line that begins nearest to 0. −1: all half
    /// lines begin far away.
    int far_side(const proof::Box& q) const;
    /// A bounded box as a cell of the cover; nothing if it is proved to be free of equilibria.
    std::optional<BoxCover::Cell> examine(proof::Box q, const std::vector<char>& closed, const std::vector<int>& rows,
                                          const std::vector<int>& free);
    /// Splits undecided cells that connect parts of a component, until the parts are proved to be connected, or no
    /// cells connect them, or max_boxes were tested.
    void part_components(BoxCover& cover, const std::vector<char>& closed, const std::vector<int>& rows,
                         const std::vector<int>& free, long max_boxes, const std::function<bool()>& interrupted);
    /// The numbers of undecided cells that lie on the shortest ways between parts of a component.
    std::vector<std::size_t> cells_between_parts(const BoxCover& cover) const;
    /// The parts of the cells `list` that touch each other: a number for each of them.
    std::vector<int> joined(const BoxCover& cover, const std::vector<std::size_t>& list) const;
    double volume_of(const proof::Box& q) const;
    void connect(BoxCover& cover) const;
    void find_ends(BoxCover& cover) const;
    bool touch(const proof::Box& a, const proof::Box& b) const;

    const model::Mechanics& model_;
    RestingModel resting_;
    std::unique_ptr<proof::Enclosure> enclosure_;
    proof::AdmissibleSet admissible_;
    std::vector<double> periods_;
    std::vector<char> ignored_;
    std::vector<int> frictional_;  ///< rows of constraints with friction
    proof::Box region_;
};

}  // namespace saltus::stability
