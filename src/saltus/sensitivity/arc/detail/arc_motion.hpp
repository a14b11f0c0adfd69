// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// Where slip in a plane comes to rest, its direction turns ever faster: the last part of such an arc is taken as
/// straight, from here.
inline double straight_from(const integrate::RecordedArc& arc) { return arc.t_end - 1e-5 * (arc.t_end - arc.t_begin); }

/// The linearised equations along a recorded arc, in either direction.
class ArcMotion {
public:
    explicit ArcMotion(Tangent& tangent)
        : x_(tangent), state_(static_cast<std::size_t>(tangent.dynamics.state_size())) {}

    void begin(const integrate::RecordedArc& arc);

    bool turns() const { return turns_; }  ///< some slip has a direction in a plane

    /// Makes the tangent's linearised equations those at t; false where there are none.
    bool prepare(double t);

private:
    void seek(double t);
    void begin_step();

    Tangent& x_;
    const integrate::RecordedArc* arc_ = nullptr;
    std::size_t step_ = 0;  // recorded, in which t was last
    bool turns_ = false;    // some slip has a direction in a plane
    double prepared_ = 0.0;
    bool is_prepared_ = false;
    std::vector<double> state_;
};

}  // namespace saltus::sensitivity
