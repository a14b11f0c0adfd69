// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// A motion as a page shows it: a trajectory sampled at a few thousand times that show everything, with gaps, forces,
/// energies and the numbers of the drawing. `motion_view` samples (motion_view.cpp), `motion_json` writes the samples
/// as JSON (motion_json.cpp), web/src/motion_view.ts draws them.
namespace saltus::io {

/// One curve: a value for each entry of `MotionView::t`.
struct Curve {
    std::string name;
    std::vector<double> values;
};

/// The force of one element (contact, constraint, slider or clutch).
struct ForceCurves {
    std::string name;
    trajectory::ElementKind kind = trajectory::ElementKind::contact;
    Curve N;               ///< normal force λ_N, or ν of a constraint
    std::vector<Curve> T;  ///< components of the friction force λ_T
    std::string modes;     ///< a letter for each arc: o open, c closed, s stick, l slip, p pressed, ? unknown
};

/// Units for the axes of a page. All are empty if the model gives none.
struct Units {
    std::string time, length, force, energy;
    std::vector<std::string> q;  ///< unit of each coordinate of the trajectory
};

/// The units of a model: those that its `unit` gives. If it gives some, then time, length, force and energy are in SI
/// units unless it says otherwise. Coordinates of mass points are lengths.
Units units_of(const model::Description& description, const std::vector<std::string>& coordinates);

/// The same as a JSON object with the keys time, length, force, energy, and q, an object with the unit of each
/// coordinate that the model declares. Empty if the model gives no units.
std::string units_json(const model::Description& description);

/// T + U over a grid of one coordinate and its velocity. Level lines of it are drawn in phase planes. If `least` then
/// all other coordinates have the admissible values with the least U, and all other velocities those with the least T
/// there. Otherwise (U has no least value) they are those of the final state.
struct EnergyPlane {
    int coordinate = 0;              ///< number of the coordinate
    std::array<double, 2> q{}, u{};  ///< ranges of the grid
    bool least = false;
    int nq = 0, nu = 0;          ///< nodes in each direction
    std::vector<double> values;  ///< nq values for each of the nu velocities; q is the faster index
};

/// The samples of a motion.
struct MotionView {
    const trajectory::Trajectory* trajectory = nullptr;  ///< must outlive the view
    std::vector<double> t;            ///< times of the samples in s, ascending; equal where something jumps
    std::vector<std::size_t> breaks;  ///< k: an arc ends at sample k, the next begins at sample k + 1, at the same time
    std::vector<double> arcs;         ///< times at which arcs begin, without the first arc
    bool decimated = false;           ///< there were too many samples; only extremes are kept
    std::vector<Curve> q, u;     ///< coordinates and velocities; if there are many, only some of them (docs/report.md)
    std::vector<Curve> gaps;     ///< gap of each contact
    std::vector<Curve> outputs;  ///< derived quantities of the model; the unit is part of the name
    std::vector<ForceCurves> forces;  ///< reactions of the elements; empty for time-stepping
    std::vector<Curve> energy;        ///< kinetic and potential energy, in J
    std::vector<Curve> work;          ///< work since the start by each cause, in J; the sum is the change of T + U
    std::vector<EnergyPlane> planes;
    std::vector<Curve> drawing;               ///< the numbers of model::Drawing
    std::vector<double> frames;               ///< times at which positions of mass points are stored
    std::vector<std::vector<double>> points;  ///< for each frame x, y, z of all mass points
    Units units;
};

/// What a view contains.
enum class ViewDetail {
    complete,
    live  ///< for a page that shows another motion some hundredths of a second later: curves have about half as many
          ///< samples, and there are no energy planes, which can take longer than the motion itself
};

/// Samples a motion. `model` must be the model that the motion was computed with. If it is null then the view has only
/// coordinates, velocities and events.
MotionView motion_view(const trajectory::Trajectory& trajectory, const model::Model* model,
                       ViewDetail detail = ViewDetail::complete);

/// The view as one JSON object (docs/report.md). `model` is the one that was given to `motion_view`; it may be null.
std::string motion_json(const MotionView& view, const model::Model* model);

}  // namespace saltus::io
