// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "saltus/sensitivity/saltation/detail/directions.hpp"

namespace saltus::sensitivity {

/// Changes of mode by their numbers, and with which weights their times enter.
using Times = std::vector<std::pair<std::size_t, double>>;

/// For every change of a recorded motion, whose time it has if none of its own: that of the change before, or of the
/// accumulation that this one began (then with derivatives of t_∞ by the times of impacts; empty where it has none).
std::vector<Times> borrowed_times(const integrate::Recording& recording, const trajectory::Trajectory& motion);

/// Two combinations of the variables that are in no way special, carried through a motion beside them, or instead: the
/// steps of the linearised equations are chosen for their sake. One or two variables are their own probe.
class Probe {
public:
    Probe(const Tangent& tangent, const Sensitivity& s, const std::vector<Times>& borrowed);

    /// After the first change of the motion, of the variables that live.
    void start(const Directions& variables);
    /// Through a later one. Nothing is refused: where events fall together, the first counts.
    void pass(std::size_t number, const Saltation& s);

    /// Whether it goes beside the variables; otherwise its rows are theirs.
    bool separate() const { return s_.with_respect_to.size() > 2; }

    Matrix rows;  ///< two or less × columns of Tangent

    /// Below these sizes of positions and velocities they are nothing.
    double size_q = 0.0, size_u = 0.0;

private:
    const int n_;
    const Sensitivity& s_;
    const std::vector<Times>& borrowed_;
    Matrix times_;  // rows × changes: δt
};

}  // namespace saltus::sensitivity
