// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/impact/consistency/detail/region.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// Friction cones by edges: a collision without friction whose columns are w_N + Σ slip_i w_Ti. Planar cones have two
/// edges and are met exactly; others by a polygon inside, which more edges make better. The polyhedron of the edges
/// takes the place of P⁺ in all that is said about the work; what may not be entered stays γ_N >= 0.
class FrictionEdges {
public:
    explicit FrictionEdges(const FrictionalCollision& collision);

    /// Why a law has no edges.
    const std::string& refused() const { return refused_; }
    /// More edges would change nothing.
    bool exact() const { return exact_; }

    /// The edge of a block's cone through Λ's slip directions; false when it is there already, or there is no friction
    /// in Λ to speak of.
    bool add(std::size_t block, const Vector& Lambda);

    FrictionlessCollision collision() const;
    /// Normal velocities in the frame of the edges.
    ContactRows normal_rows(const KineticFrame& frame) const;
    /// The contact, counted without what is none, that an edge belongs to.
    int contact_of(int edge) const;
    /// Impulses of weights of the edges.
    Vector impulses(const Vector& weights) const;

private:
    struct Edge {
        std::size_t block;
        Eigen::Index row;
        Vector slip;
    };
    void add_block(std::size_t block, Eigen::Index row);
    bool add_edge(std::size_t block, Eigen::Index row, const Vector& slip);

    const FrictionalCollision* c_;
    std::vector<Edge> edges_;          ///< of contacts
    std::vector<Eigen::Index> held_;   ///< bilateral rows
    std::vector<Eigen::Index> first_;  ///< row of each block
    std::string refused_;
    bool exact_ = true;
};

}  // namespace saltus::impact
