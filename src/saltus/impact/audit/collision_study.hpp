// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/impact/audit/decided.hpp"
#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/impact/consistency/consistency_mesh.hpp"
#include "saltus/impact/consistency/frictional_consistency.hpp"
#include "saltus/impact/work/frictional_work.hpp"

namespace saltus::impact {

struct StudyOptions {
    double alpha = 0.0;                          ///< contact work that is allowed
    double tolerance = 1e-9;                     ///< of the verdict, see AuditOptions
    int subdivisions = 3;                        ///< of the mesh for three velocities
    bool geometry = true;                        ///< P⁺, P⁻, cone and consistency set too
    std::optional<Vector> Lambda{};              ///< impulses to judge, one a row: those of a law, or stated
    std::optional<Restitutions> restitutions{};  ///< of Newton's law, to be tested before any collision
};

/// One end of the work interval, rows as in the collision.
struct StudyEnd {
    double work = 0.0;
    double obstacle_work = 0.0;  ///< −χᵀΛ
    WorkParts parts;
    Vector Lambda, b;
    double gap = 0.0;
    std::string why;  ///< there is no finite work, or not to the gap asked for
};

/// Everything there is to say about one collision. Without friction that acts it is Glocker's theory, with linear
/// programs; with friction the programs have the friction cones, and the consistency set is described for planar
/// contacts alone.
struct Study {
    bool friction = false;
    Verdict verdict = Verdict::invalid, verdict_with_external_work = Verdict::invalid;
    std::string sentence;
    Audit::Kinematic kinematic;  ///< one a row; +∞ where nothing is asked of it
    Audit::Kinetic kinetic;
    Vector gamma_minus, gamma_plus;
    StudyEnd least, greatest;
    double energy_minus = 0.0, energy_plus = 0.0, energy_change = 0.0, external_work = 0.0;
    std::vector<Remark> remarks;  ///< about blocks

    struct Given {
        Vector Lambda;
        WorkParts parts;
        double obstacle_work = 0.0;
        double misses = 0.0;           ///< ‖M(u⁺ − u⁻) − P − WΛ‖ in the norm of M⁻¹
        double outside = 0.0;          ///< by how much Λ leaves its cones, of the largest impulse
        std::vector<double> by_block;  ///< work of each
    };
    std::optional<Given> given;

    std::vector<int> blocks;  ///< of the columns of the normal part, which the geometry is about
    VelocityPolyhedron plus, minus;
    TangentCone cone;
    Balls balls;
    ConsistencyBoundary boundary;
    ConsistencyMesh mesh;
    NearestByFriction nearest;
    LeastWork least_compatible;  ///< without friction

    std::optional<DissipationTest> dissipation;  ///< of Newton's law with friction
    std::optional<EnergyCreation> creation;      ///< where that promises nothing
    std::optional<EnergyFinding> cause;          ///< where the given impulses supply energy
};

Study study(const FrictionalCollision& collision, const StudyOptions& options = {});

/// What Λ exceeds its law's cone by, relative to its largest component.
double outside_cones(const FrictionalCollision& collision, const Vector& Lambda);

}  // namespace saltus::impact
