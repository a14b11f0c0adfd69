// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace saltus::stability {

/// How motions of one model that repeat are recognised: their states are compared at multiples of a period, or where
/// they pass a section upwards.
struct RepeatRule {
    double period = 0.0;  ///< of the excitation, in s; 0: the section is used
    /// Zero on the section. One thread at a time may call it.
    std::function<double(std::span<const double> q, std::span<const double> u)> section;
    int max_returns = 1;  ///< a motion repeats after at most so many points
    /// Points are equal if they differ by at most this part of the range of the positions, or of the velocities, since
    /// the first of them. If it is too large then slow motions seem to repeat; the orbit is then looked for from a
    /// state farther away from it, and not found. If it is too small then a motion is followed longer, up to t_max.
    double tolerance = 1e-5;
    /// A motion repeats after p points if the last `times`·p points are p points so many times. A motion that
    /// approaches an orbit with the multiplier m is then about tolerance/(1 − m^times) away from it.
    std::size_t times = 3;
    /// Time-stepping: the step in s; 0 otherwise. Impacts, stick and slip happen at steps, which lie otherwise in each
    /// period, so that points of an orbit scatter by what a body moves in some steps.
    double step = 0.0;

    bool active() const { return period > 0.0 || section; }
};

/// Watches one motion after the other.
class RepeatTest {
public:
    /// Rule and periods of the coordinates (0: none) must outlive this object.
    RepeatTest(const RepeatRule& rule, std::span<const double> periods);

    void begin();  ///< a new motion
    /// A state between two points, for the size of the motion.
    void pass(std::span<const double> q, std::span<const double> u);
    /// The next point. Returns after how many points the motion repeats; 0: it does not, or not yet.
    int add(double t, std::span<const double> q, std::span<const double> u);
    double since() const { return since_; }  ///< time of the first of the points that repeat

private:
    struct Point {
        double t = 0.0;
        std::vector<double> x;          ///< (q, u)
        std::vector<double> low, high;  ///< of (q, u) since the point before
    };
    bool repeats_after(std::size_t p) const;

    const RepeatRule& rule_;
    const std::span<const double> periods_;
    std::vector<double> low_, high_;
    std::deque<Point> points_;  ///< the last ones
    double since_ = 0.0;
};

/// The same for a motion by time-stepping. A section is passed between two steps, and the state there is interpolated.
class StepRepeats {
public:
    /// `steps_of_period`: with a period, so many steps make one. The rest as for RepeatTest.
    StepRepeats(const RepeatRule& rule, std::span<const double> periods, std::int64_t steps_of_period);

    void begin(std::span<const double> q, std::span<const double> u);
    /// The state after step number `step`, counted from 1. Whether the motion repeats.
    bool step(std::int64_t step, double t, std::span<const double> q, std::span<const double> u);

    int returns() const { return returns_; }                   ///< after so many points
    double since() const { return test_.since(); }             ///< time of the first of the points that repeat
    const std::vector<double>& q() const { return q_point_; }  ///< the last point
    const std::vector<double>& u() const { return u_point_; }

private:
    const RepeatRule& rule_;
    RepeatTest test_;
    const std::int64_t steps_of_period_;
    double t_ = 0.0, value_ = 0.0;  ///< time and value of the section after the last step
    std::vector<double> q_, u_;     ///< state after the last step
    std::vector<double> q_point_, u_point_;
    int returns_ = 0;
};

}  // namespace saltus::stability
