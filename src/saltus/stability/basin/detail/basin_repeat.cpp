// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_repeat.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::stability {

namespace {

/// Points of time-stepping scatter by what the fastest body moves in this number of steps.
constexpr double scattering_steps = 4.0;

}  // namespace

RepeatTest::RepeatTest(const RepeatRule& rule, std::span<const double> periods) : rule_(rule), periods_(periods) {
    begin();
}

void RepeatTest::begin() {
    points_.clear();
    low_.assign(2 * periods_.size(), INFINITY);
    high_.assign(2 * periods_.size(), -INFINITY);
}

void RepeatTest::pass(std::span<const double> q, std::span<const double> u) {
    const std::size_t n = q.size();
    for (std::size_t i = 0; i < n; ++i) {
        low_[i] = std::min(low_[i], q[i]);
        high_[i] = std::max(high_[i], q[i]);
        low_[n + i] = std::min(low_[n + i], u[i]);
        high_[n + i] = std::max(high_[n + i], u[i]);
    }
}

bool RepeatTest::repeats_after(std::size_t p) const {
    if (points_.size() < rule_.times * p) return false;
    const std::size_t first = points_.size() - rule_.times * p, n = periods_.size();
    double range[2] = {0.0, 0.0};  // of positions and velocities
    double fastest = 0.0;
    for (std::size_t i = 0; i < 2 * n; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (std::size_t k = first + 1; k < points_.size(); ++k) {
            low = std::min(low, points_[k].low[i]);
            high = std::max(high, points_[k].high[i]);
        }
        double& r = range[i < n ? 0 : 1];
        r = std::max(r, high - low);
        if (i >= n) fastest = std::max({fastest, high, -low});
    }
    double tolerance = rule_.tolerance;
    if (rule_.step > 0.0 && range[0] > 0.0)
        tolerance = std::max(tolerance, scattering_steps * rule_.step * fastest / range[0]);
    for (std::size_t k = first + p; k < points_.size(); ++k)
        for (std::size_t i = 0; i < 2 * n; ++i) {
            // Points are compared with the first of their kind: small differences of neighbours add up.
            double d = points_[k].x[i] - points_[first + (k - first) % p].x[i];
            if (i < n && periods_[i] > 0.0) d -= periods_[i] * std::round(d / periods_[i]);
            if (!(std::abs(d) <= tolerance * range[i < n ? 0 : 1])) return false;
        }
    return true;
}

int RepeatTest::add(double t, std::span<const double> q, std::span<const double> u) {
    pass(q, u);
    Point point{t, {q.begin(), q.end()}, std::move(low_), std::move(high_)};
    point.x.insert(point.x.end(), u.begin(), u.end());
    points_.push_back(std::move(point));
    if (points_.size() > rule_.times * static_cast<std::size_t>(rule_.max_returns)) points_.pop_front();
    low_ = high_ = points_.back().x;
    for (std::size_t p = 1; p <= static_cast<std::size_t>(rule_.max_returns); ++p)
        if (repeats_after(p)) {
            since_ = points_[points_.size() - rule_.times * p].t;
            return static_cast<int>(p);
        }
    return 0;
}

StepRepeats::StepRepeats(const RepeatRule& rule, std::span<const double> periods, std::int64_t steps_of_period)
    : rule_(rule), test_(rule, periods), steps_of_period_(steps_of_period) {}

void StepRepeats::begin(std::span<const double> q, std::span<const double> u) {
    if (!rule_.active()) return;
    test_.begin();
    returns_ = 0;
    t_ = 0.0;
    q_.assign(q.begin(), q.end());
    u_.assign(u.begin(), u.end());
    value_ = rule_.section ? rule_.section(q, u) : 0.0;
}

bool StepRepeats::step(std::int64_t step, double t, std::span<const double> q, std::span<const double> u) {
    if (!rule_.active()) return false;
    test_.pass(q, u);
    if (rule_.period > 0.0) {
        if (step % steps_of_period_ != 0) return false;
        q_point_.assign(q.begin(), q.end());
        u_point_.assign(u.begin(), u.end());
        returns_ = test_.add(t, q, u);
        return returns_ > 0;
    }
    const double value = rule_.section(q, u);
    if (value_ < 0.0 && value >= 0.0) {
        const double share = -value_ / (value - value_);
        q_point_.resize(q.size());
        u_point_.resize(u.size());
        for (std::size_t i = 0; i < q.size(); ++i) {
            q_point_[i] = std::lerp(q_[i], q[i], share);
            u_point_[i] = std::lerp(u_[i], u[i], share);
        }
        returns_ = test_.add(std::lerp(t_, t, share), q_point_, u_point_);
    }
    value_ = value;
    t_ = t;
    q_.assign(q.begin(), q.end());
    u_.assign(u.begin(), u.end());
    return returns_ > 0;
}

}  // namespace saltus::stability
