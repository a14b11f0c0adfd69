// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace saltus::trajectory {

/// A derived quantity ([output] of the model) along a motion. A value that does not exist is NaN.
struct OutputSummary {
    std::string name, unit;
    double final = 0.0;                        ///< at the end of the motion
    double lowest = 0.0, highest = 0.0;        ///< extreme values
    double lowest_at = 0.0, highest_at = 0.0;  ///< their times, in s
};

/// Derived quantities at a list of times. A time of an event appears twice: before and after it.
struct OutputCurves {
    std::vector<std::string> names, units;
    std::vector<double> t;
    std::vector<std::vector<double>> values;  ///< one list for each quantity, as long as t
};

/// The mean normal force of a contact, impacts included: the impulse over a stretch of time divided by its length. If
/// impacts never end (e = 1) then the force between them is 0 and only this mean tends to the steady force. [Tornambe]
/// (29d), (29e)
struct ImpulseRate {
    int element = 0;       ///< number in Trajectory::elements
    double mean = 0.0;     ///< over [from, to], in N
    double earlier = 0.0;  ///< the same over the stretch of equal length before, in N
    double from = 0.0, to = 0.0;
    bool settled = false;  ///< `mean` and `earlier` agree to 2 %
};

/// How a coordinate follows its reference between two impacts.
struct TrackingStretch {
    double from = 0.0, to = 0.0;  ///< from an impact, or the start, to the next impact, or the end
    double largest = 0.0;         ///< largest |y − r| on the stretch
    double left = 0.0;            ///< |y − r| at its end
    bool closes = false;          ///< left <= 5 % of the largest: the error has died out before the next impact
};

/// How an actuated coordinate follows a reference that moves.
struct Tracking {
    std::string coordinate;
    double largest = 0.0, final = 0.0;  ///< |y − r|: largest, and at the end
    std::vector<TrackingStretch> stretches;
};

/// Numbers that follow from a motion and its model. They are computed after the motion, from its arcs.
struct MotionSummary {
    std::vector<OutputSummary> outputs;      ///< derived quantities of the model
    std::vector<ImpulseRate> impulse_rates;  ///< of contacts that are struck
    std::vector<Tracking> tracking;          ///< of references that move
};

}  // namespace saltus::trajectory
