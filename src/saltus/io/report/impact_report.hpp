// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/impact/audit/collision_study.hpp"
#include "saltus/impact/audit/law_outcomes.hpp"
#include "saltus/integrate/collision_at.hpp"

/// The results of `saltus impact` as text, JSON and CSV: the study of one collision, and the audit of all impacts of a
/// trajectory.
///
/// Text is written by impact_report.cpp, JSON and CSV by impact_report_json.cpp, audits by trajectory_audit_report.cpp.
namespace saltus::io {

/// The study of one collision.
struct ImpactReport {
    std::string model;
    std::vector<std::string> coordinates;  ///< names of the coordinates, in the order of q
    integrate::ModelCollision at;          ///< state, M, directions W, laws
    impact::CollisionStudy study;
    double alpha = 0.0;  ///< allowed contact work: a u⁺ is consistent if the contact work can be ≤ alpha
    std::vector<impact::LawOutcomes> laws;  ///< what each impact law would lead to; empty if not asked for
    std::string source;                     ///< where u⁺ comes from, in words
    std::vector<std::string> warnings;
};

/// For a terminal. Long lists are cut and say so.
std::string impact_text(const ImpactReport& report);

/// One JSON document (docs/impact.md). Numbers that are not finite are null.
std::string impact_json(const ImpactReport& report);

/// The boundary of the consistency set, exactly: a line for each segment or elliptic arc. Models with two velocities
/// have it; otherwise the text is empty.
std::string set_csv(const ImpactReport& report);

/// Points on the boundary of the consistency set, for drawing. For two velocities they go round counter-clockwise and
/// the first point is repeated at the end. For three velocities they are the corners of the triangles in
/// `set_triangles_csv`. Empty if there is no set.
std::string set_points_csv(const ImpactReport& report);

/// A line for each triangle on the boundary of the consistency set of three velocities: three numbers of points,
/// counted from 0. Otherwise empty.
std::string set_triangles_csv(const ImpactReport& report);

/// The audit of the impacts of a trajectory, for a terminal.
std::string audit_text(const trajectory::Trajectory& trajectory, const integrate::TrajectoryAudit& audit,
                       const std::vector<std::string>& warnings);

/// The same as one JSON document (docs/impact.md).
std::string audit_json(const trajectory::Trajectory& trajectory, const integrate::TrajectoryAudit& audit,
                       const std::vector<std::string>& warnings);

/// A line for each impact.
std::string audit_csv(const trajectory::Trajectory& trajectory, const integrate::TrajectoryAudit& audit);

}  // namespace saltus::io
