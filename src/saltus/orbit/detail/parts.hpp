// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/shooting.hpp"
#include "saltus/orbit/detail/symmetry.hpp"

/// Orbits in several parts.
///
/// If disturbances grow by a factor G in a period, rounding of the start alone makes the end of the period wrong by
/// G · 1e-16, and no start closes the orbit better. So the period is cut into K parts, each with its own start, along
/// which disturbances grow by G^{1/K} (Shooting).
namespace saltus::orbit {

/// An orbit as a list of parts.
struct Parts {
    std::vector<double> t;                           ///< start of each part, and the end of the last one
    std::vector<Vector> x;                           ///< state at the start of each part
    std::vector<integrate::RecordedMotion> motions;  ///< without their recordings
    std::vector<Matrix> maps;  ///< derivative of each part by its start; the last one is followed by the symmetry
    double residual = 0.0;     ///< largest difference of an end and the next start, relative to the sizes
    double duration() const { return t.back() - t.front(); }
};

/// `count` motions of equal length one after the other, as a guess of an orbit in parts: those of the motion from x,
/// while it stays near. A motion that leaves an unstable orbit starts again at x. Empty if one of them ends early.
std::vector<integrate::RecordedMotion> guess_parts(const ReturnMap& map, double t, const Vector& x, double duration,
                                                   int count);

/// The parts of a solution of multiple shooting: the simulated motions from all of its nodes without an event. Empty
/// if one of them does not exist, or has no derivative.
std::optional<Parts> parts_of(const ReturnMap& map, const ShootingProblem& problem, const Shooting& solution);

/// The motions of the parts once more, with their recordings.
std::vector<integrate::RecordedMotion> recorded_parts(const ReturnMap& map, const Parts& parts);

/// Appends a motion that begins where `all` ends.
void append_motion(trajectory::Trajectory& all, trajectory::Trajectory part);

/// The motions of all parts as one. Between two parts the states differ by the residual. With a symmetry, the images of
/// the parts follow.
trajectory::Trajectory joined_motion(const ReturnMap& map, const Symmetry* symmetry, const Parts& parts);

/// Whether every part is repeated by the motion from the same state `later` seconds later.
bool parts_repeat(const ReturnMap& map, const Parts& parts, const Vector& size, double later);

}  // namespace saltus::orbit
