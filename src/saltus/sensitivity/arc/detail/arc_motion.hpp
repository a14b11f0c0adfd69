// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// The highest order of a step of the form `series` whose term matters for positions or velocities: n coordinates, n
/// velocities, others. Terms of higher orders are below `negligible` times the size of the motion.
inline constexpr double negligible_term_ratio = 1e-12;
int significant_order(const ode::Dense& step, int n, double negligible = negligible_term_ratio);

/// The linearised equations along a recorded arc. Times may be visited in any order.
class ArcMotion {
public:
    explicit ArcMotion(Tangent& tangent)
        : x_(tangent), state_(static_cast<std::size_t>(tangent.dynamics.state_size())) {}

    /// Sets the mode of an arc. The arc must outlive its use here.
    void begin(const integrate::RecordedArc& arc);

    bool turns() const { return turns_; }  ///< some friction slips in a plane, so that its direction can turn

    /// The number of recorded steps at the beginning of the arc in which slip in a plane, which begins at rest, is
    /// slower than `ratio` times its largest speed; 0 if there is no such slip.
    std::size_t slow_steps(double ratio);

    /// Evaluates the motion at t and makes the tangent's linearised equations those of this state. Returns false if the
    /// equations are singular there.
    bool prepare(double t);

private:
    void seek(double t);
    void begin_step();
    double slowest_turning_speed(double t);

    Tangent& x_;
    const integrate::RecordedArc* arc_ = nullptr;
    std::size_t step_ = 0;  // the recorded step that contains the last t
    bool turns_ = false;
    double prepared_ = 0.0;  // time of the last successful prepare
    bool is_prepared_ = false;
    std::vector<double> state_;
};

}  // namespace saltus::sensitivity
