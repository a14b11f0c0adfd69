// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/impact/audit/collision_study.hpp"
#include "saltus/integrate/collision_at.hpp"

namespace saltus::io {

/// One collision of a model, looked at from all sides.
struct ImpactReport {
    std::string model;
    std::vector<std::string> coordinates;
    integrate::ModelCollision at;
    impact::Study study;
    double alpha = 0.0;
    std::string source;   ///< where u⁺ comes from
    bool lawful = false;  ///< from the model's impact law
    std::vector<std::string> warnings;
};

/// What `saltus impact` prints, for people and as one JSON document. Numbers that are not finite are null there.
std::string impact_text(const ImpactReport& report);
std::string impact_json(const ImpactReport& report);

/// The consistency set: its pieces for two velocities (segments and arcs, exactly), its mesh for three; "" where there
/// is none. Points along the boundary, counter-clockwise, for drawing.
std::string set_csv(const ImpactReport& report);
std::string set_points_csv(const ImpactReport& report);
std::string set_triangles_csv(const ImpactReport& report);

/// The audit of a stored trajectory.
std::string audit_text(const trajectory::Trajectory& trajectory, const integrate::TrajectoryAudit& audit,
                       const std::vector<std::string>& warnings);
std::string audit_json(const trajectory::Trajectory& trajectory, const integrate::TrajectoryAudit& audit,
                       const std::vector<std::string>& warnings);
std::string audit_csv(const trajectory::Trajectory& trajectory, const integrate::TrajectoryAudit& audit);

}  // namespace saltus::io
