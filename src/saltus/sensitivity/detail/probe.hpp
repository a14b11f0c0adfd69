// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/saltation/detail/directions.hpp"

namespace saltus::sensitivity {

/// For every change of a recorded motion: which time it has if it has no event condition of its own. This is the time
/// of the last change with a condition, or the limit of the accumulation that this change has begun (the weights are
/// then the derivatives of t_∞ by the impact times). The combination is empty if the limit has no derivative.
std::vector<TimeCombination> borrowed_times(const integrate::Recording& recording,
                                            const trajectory::Trajectory& motion);

/// Two generic combinations of the variables. They are carried through the motion like variables, and the steps of the
/// linearised equations are chosen by their error alone. So the steps do not depend on which other directions are
/// carried, and forward and adjoint mode take the same steps. If there are one or two variables then they are their own
/// probe, and forward mode carries them by Taylor series where it can.
class Probe {
public:
    Probe(const Tangent& tangent, const Sensitivity& s, const std::vector<TimeCombination>& borrowed);

    /// Begins after the first change of the motion, with the variables that have a derivative.
    void start(const Directions& variables);
    /// Goes through a later change. The probe never ends: if several events happen together then the first one decides.
    void pass(std::size_t number, const Saltation& s);

    /// True if the probe is carried beside the variables; false if its rows are those of the variables.
    bool separate() const { return s_.with_respect_to.size() > 2; }

    Matrix rows;  ///< at most two directions, one per row, in the columns of Tangent

    /// Scales of the derivatives of positions and velocities, times the value of the variable. Smaller derivatives are
    /// integrated with an absolute error instead of a relative one.
    double size_q = 0.0, size_u = 0.0;

private:
    const int n_;
    const Sensitivity& s_;
    const std::vector<TimeCombination>& borrowed_;
    Matrix times_;  // δt of the changes so far, rows × changes
};

}  // namespace saltus::sensitivity
