// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/tangent.hpp"

namespace saltus::sensitivity {

/// Where slip in a plane comes to rest, its direction turns ever faster: the last part of such an arc is taken as
/// straight, from here.
inline double straight_from(const integrate::RecordedArc& arc) { return arc.t_end - 1e-5 * (arc.t_end - arc.t_begin); }

/// The linearised equations along a recorded arc, step by step in either direction.
class ArcMotion {
public:
    explicit ArcMotion(Tangent& tangent)
        : x_(tangent), state_(static_cast<std::size_t>(tangent.dynamics.state_size())) {}

    void begin(const integrate::RecordedArc& arc);
    void begin_step(const ode::Dense& step);

    bool turns() const { return turns_; }  ///< some slip has a direction in a plane

    /// Makes the tangent's linearised equations those at t, on the step; false where there are none.
    bool prepare(double t);

private:
    Tangent& x_;
    const integrate::RecordedArc* arc_ = nullptr;
    const ode::Dense* step_ = nullptr;
    bool turns_ = false;  // some slip has a direction in a plane
    double prepared_ = 0.0;
    bool is_prepared_ = false;
    std::vector<double> state_;
};

}  // namespace saltus::sensitivity
