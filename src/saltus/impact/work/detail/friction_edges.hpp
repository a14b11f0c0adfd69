// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/impact/consistency/detail/region.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// Friction cones by their edges. An impulse along an edge, Λ_N(1, slip), acts in the direction w_N + Σ slip_i w_Ti. So
/// a collision with polyhedral cones is a collision without friction whose directions are the edges. A planar cone has
/// two edges and is represented exactly. A round cone is replaced by a polyhedral cone inside it; more edges improve
/// it. In statements about the work, { b : γ of all edges >= 0 } takes the place of P⁺. Kinematic admissibility stays
/// γ_N >= 0.
class FrictionEdges {
public:
    explicit FrictionEdges(const FrictionalCollision& collision);

    /// The reason if a law has no cone with edges; else empty.
    const std::string& refused() const { return refused_; }
    /// Whether the edges generate the friction cones exactly.
    bool exact() const { return exact_; }

    /// Adds the edge of the block's cone in the direction of the friction in Λ. Returns false if the edge exists
    /// already or Λ has almost no friction in this block.
    bool add(std::size_t block, const Vector& Lambda);

    /// The collision without friction whose directions are the edges, then the bilateral rows.
    FrictionlessCollision collision() const;
    /// The inequalities γ_N >= 0 in the kinetic frame of that collision.
    ContactRows normal_rows(const KineticFrame& frame) const;
    /// The contact that an edge belongs to. Only contacts are counted, not sliders and bilateral blocks.
    int contact_of(int edge) const;
    /// Λ of the frictional collision for impulses along the edges.
    Vector impulses(const Vector& weights) const;

private:
    struct Edge {
        std::size_t block;
        Eigen::Index row;  ///< normal row of the block
        Vector slip;       ///< Λ_T/Λ_N along the edge
    };
    void add_block(std::size_t block, Eigen::Index row);
    bool add_edge(std::size_t block, Eigen::Index row, const Vector& slip);

    const FrictionalCollision* c_;
    std::vector<Edge> edges_;          ///< edges of the friction cones of all contacts
    std::vector<Eigen::Index> held_;   ///< numbers of the bilateral rows
    std::vector<Eigen::Index> first_;  ///< first row of each block
    std::string refused_;
    bool exact_ = true;
};

}  // namespace saltus::impact
