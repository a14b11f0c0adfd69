// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>

#include "saltus/stability/equilibria/detail/equilibrium_boxes.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_cover.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_curve.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

/// The search for the equilibrium sets of one combination of closed contacts. equilibrium_search.cpp finds points,
/// equilibrium_describe.cpp describes the set around a point.
class CombinationSearch {
public:
    /// `closed` has one flag for each contact; `neutral` are the directions along which the model may be shifted.
    CombinationSearch(RestingModel& model, std::vector<char> closed, const std::vector<double>& periods,
                      const Matrix& neutral, std::function<bool()> interrupted);

    struct AffineSearch {
        bool complete = false;  ///< all sets of this combination are known; no further search is needed
        bool closable = false;  ///< a position with these contacts closed was found
    };
    /// If geometry and statics are affine everywhere then one linear program finds an equilibrium or proves that there
    /// is none. Otherwise the result is not `complete`. `q` is a start position.
    AffineSearch search_affine(Vector q);

    /// Searches from the position q and adds the sets that it finds. Returns false if the contacts could not be closed
    /// from there.
    bool search_from(Vector q);

    /// From now on only positions in the cells of the cover count as possible equilibria. The arguments must outlive
    /// this object.
    void restrict_to(const EquilibriumBoxes& boxes, const BoxCover& cover);
    /// Searches from the cells of the cover and sets BoxCover::Cell::explained.
    void search_cells(BoxCover& cover);

    /// The sets found so far. Without a cover by boxes, regions that were not covered to their ends are joined, as they
    /// may be connected.
    std::vector<EquilibriumSet> sets() const;
    long programs() const { return manifold_.programs; }
    bool must_stop() const { return manifold_.must_stop(); }

private:
    /// The component of the cover in which q lies; −1 if there is no cover or q is outside.
    int component_at(const Vector& q) const;
    /// Searches one component of the cover.
    void search_component(std::vector<BoxCover::Cell*>& cells);
    /// Removes curves of the component that other curves contain.
    void drop_parts();
    void fill_region(EquilibriumSet& set, const std::vector<BoxCover::Cell*>& cells);
    /// Marks the cells that the sets from number `first` on explain.
    void explain(const std::vector<BoxCover::Cell*>& cells, std::size_t first);
    /// The set with this number passes the cell, which belongs to the same component.
    bool explains(std::size_t set, const BoxCover::Cell& cell);
    /// Whether p lies in a set that is known.
    bool known(const RestPoint& p);
    bool in_set(std::size_t k, const Vector& q);
    bool in_exact_set(const EquilibriumSet& set, const Vector& q) const;
    bool on_curve(const Curve& curve, const Vector& q);
    bool in_region(const EquilibriumSet& set, const Vector& q);
    /// Moves p to where the contacts that are not closed here are open. Returns false if there is no such point nearby.
    bool lift(RestPoint& p);

    /// Describes the set around p and adds it to sets_.
    void describe(RestPoint p);
    /// If the set is affine: by linear programs. Returns false otherwise.
    bool describe_exactly(const RestPoint& p, const Matrix& T);
    void describe_curve(const RestPoint& p);
    void describe_region(const RestPoint& seed, const Matrix& T);
    void describe_point(const RestPoint& p);
    /// Finds the extent of a region along coordinate i from the outermost samples.
    void extend_region(EquilibriumSet& set, const Cover& cover, const Vector& from, Eigen::Index i);
    bool reach_turning_point(RestPoint& p, Eigen::Index i);
    /// Moves p from the boundary of the set into its interior along the tangents T.
    void move_inwards(RestPoint& p, const Matrix& T);
    void add(EquilibriumSet set, std::optional<Curve> curve = {});
    void finish(EquilibriumSet& set);
    void widen_along_neutral(EquilibriumSet& set) const;
    /// Whether the extent of a curve is negligible.
    bool narrow(const EquilibriumSet& set) const;
    /// Whether the linearised motion at samples of the set has the verdict and the Morse index of the representative.
    bool stability_is_common(const EquilibriumSet& set);
    /// What ends the set at the point q of its boundary.
    SetLimit limit_at(const Vector& q);
    /// Shifts the set by whole periods so that its representative is the first copy.
    void shift_to_first_copy(EquilibriumSet& set) const;
    /// A position of the set that needs no friction, if one is found.
    std::optional<Vector> frictionless_near(const EquilibriumSet& set);

    RestingModel& model_;
    RestingManifold manifold_;
    const std::vector<double>& periods_;
    std::vector<EquilibriumSet> sets_;
    std::vector<std::optional<Curve>> curves_;  ///< one for each set; only of curves
    std::vector<int> components_;               ///< one for each set: its component of the cover, −1 without a cover
    std::deque<Vector> pending_;                ///< positions to search from
    const EquilibriumBoxes* boxes_ = nullptr;
    const BoxCover* cover_ = nullptr;
    int component_ = -1;  ///< the component that is searched; −1: all
};

/// q shifted by whole periods P into (−P/2, P/2].
Vector first_copy(const std::vector<double>& periods, const Vector& q);

}  // namespace saltus::stability
