// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/impact/audit/decided.hpp"
#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/impact/consistency/consistency_mesh.hpp"
#include "saltus/impact/consistency/frictional_consistency.hpp"
#include "saltus/impact/work/frictional_work.hpp"

namespace saltus::impact {

/// Options of `study_collision`.
struct CollisionStudyOptions {
    double alpha = 0.0;              ///< contact work that is allowed, in J
    double tolerance = 1e-9;         ///< relative tolerance of the verdict, see AuditOptions
    int subdivisions = 3;            ///< refinement of ConsistencyMesh, if contact impulses act in three directions
    bool geometry = true;            ///< describe P⁺, P⁻, the cone of jumps and the consistency set too
    std::optional<Vector> Lambda{};  ///< impulses to judge, one per row: those of an impact law, or given ones
    /// Restitution and impact laws. If all laws are Newton's, then the law is tested too (DissipationTest).
    std::optional<Restitutions> restitutions{};
};

/// One end of the interval of the contact work, with the rows of the frictional collision. Members as in WorkEnd and
/// FrictionalEnd.
struct CollisionWorkEnd {
    double work = 0.0;
    double obstacle_work = 0.0;  ///< work −χᵀΛ of moving obstacles, in J
    WorkParts parts;
    Vector Lambda, b;
    double gap = 0.0;
    std::string why;  ///< the reason if there is no finite work, or not to the accuracy asked for; else empty
};

/// Everything that is known about one collision. If no friction acts, it is the theory of [Glocker] with linear
/// programs. Otherwise the programs have the friction cones, and the consistency set is described for planar contacts
/// only.
struct CollisionStudy {
    bool friction = false;                                                              ///< some friction can act
    Verdict verdict = Verdict::invalid, verdict_with_external_work = Verdict::invalid;  ///< see Audit
    std::string sentence;                                                               ///< the verdict in words
    Audit::Kinematic kinematic;  ///< one number per row; +∞ for rows without a condition
    Audit::Kinetic kinetic;
    Vector gamma_minus, gamma_plus;  ///< γ⁻ and γ⁺ of each row
    CollisionWorkEnd least, greatest;
    double energy_minus = 0.0, energy_plus = 0.0, energy_change = 0.0, external_work = 0.0;  ///< see Audit; in J
    std::vector<Remark> remarks;  ///< `contacts` are numbers of blocks

    /// Judgement of the impulses that the options give.
    struct Given {
        Vector Lambda;
        WorkParts parts;
        double obstacle_work = 0.0;    ///< work −χᵀΛ of moving obstacles, in J
        double misses = 0.0;           ///< ‖M(u⁺ − u⁻) − P − WΛ‖ in the M⁻¹-norm
        double outside = 0.0;          ///< violation of the friction cones, see outside_cones
        std::vector<double> by_block;  ///< contact work of each block
    };
    std::optional<Given> given;

    // Geometry. It is about the normal part of the collision; `blocks` gives the block of each of its columns.
    std::vector<int> blocks;
    VelocityPolyhedron plus, minus;  ///< P⁺ and P⁻
    TangentCone cone;
    Balls balls;
    ConsistencyBoundary boundary;
    ConsistencyMesh mesh;
    NearestByFriction nearest;
    LeastWork least_compatible;  ///< computed only if there is no friction

    std::optional<DissipationTest> dissipation;  ///< if all laws are Newton's and there is friction
    std::optional<EnergyCreation> creation;      ///< if the dissipation test guarantees nothing
    std::optional<EnergyFinding> cause;          ///< if the given impulses supply energy
};

/// Judges u⁺ of a collision and describes which u⁺ would be consistent.
CollisionStudy study_collision(const FrictionalCollision& collision, const CollisionStudyOptions& options = {});

/// The largest amount by which Λ violates its friction cones, relative to the largest component of Λ; 0 if Λ = 0.
double outside_cones(const FrictionalCollision& collision, const Vector& Lambda);

}  // namespace saltus::impact
