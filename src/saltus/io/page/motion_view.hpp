// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "saltus/model/model.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

/// One curve over MotionView::t.
struct Curve {
    std::string name;
    std::vector<double> values;
};

struct ForceCurves {
    std::string name;
    trajectory::ElementKind kind = trajectory::ElementKind::contact;
    Curve N;
    std::vector<Curve> T;
    std::string modes;  ///< one letter an arc: o(pen) c(losed) s(tick) l: slip, p(ressed)
};

/// T + U over a coordinate and its velocity, the others as at the end: rows of `nu` values, one a velocity.
struct EnergyPlane {
    int coordinate = 0;
    std::array<double, 2> q{}, u{};
    int nq = 0, nu = 0;
    std::vector<double> values;
};

/// A motion as it is looked at: curves at few times that show all of it, breaks where something jumps.
struct MotionView {
    const trajectory::Trajectory* trajectory = nullptr;
    std::vector<double> t;
    std::vector<std::size_t> breaks;  ///< k: between samples k and k + 1, both at one time, an arc ends
    std::vector<double> arcs;         ///< times at which they begin
    bool decimated = false;           ///< there is more than curves can show
    std::vector<Curve> q, u;          ///< of many coordinates some
    std::vector<Curve> gaps;
    std::vector<ForceCurves> forces;
    std::vector<Curve> energy;  ///< kinetic, potential
    std::vector<Curve> work;    ///< what changed their sum, by cause, since the start
    std::vector<EnergyPlane> planes;
    std::vector<Curve> drawing;  ///< the numbers of model::Drawing
    std::vector<double> frames;  ///< times of the mass points' positions
    std::vector<std::vector<double>> points;
};

/// Without a model: coordinates, velocities and events alone.
MotionView motion_view(const trajectory::Trajectory& trajectory, const model::Model* model);

/// One JSON object, docs/report.md.
std::string motion_json(const MotionView& view, const model::Model* model);

}  // namespace saltus::io
