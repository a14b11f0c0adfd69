// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/detail/step_control.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::ode {

std::string_view to_string(StepStatus status) {
    switch (status) {
        case StepStatus::accepted: return "accepted";
        case StepStatus::underflow: return "underflow";
        case StepStatus::failed: return "failed";
        case StepStatus::non_finite: return "non_finite";
    }
    return "?";
}

Stride stride_towards(double t, double h, double t_limit) {
    constexpr double stretch = 1.01;  // a rest up to this many h is one step
    const double rest = t_limit - t;
    if (rest <= stretch * h) return {rest, t_limit, rest < h};
    const bool shortened = rest < 2.0 * h;
    const double t_new = t + (shortened ? 0.5 * rest : h);
    return {t_new - t, t_new, shortened};
}

double shortest_step(double t, double h) {
    constexpr double smallest = 1e-300;  // for t = 0 and h = 0
    return std::max(smallest, 16.0 * epsilon * std::max(std::abs(t), std::abs(t + h)));
}

Tolerances checked(Tolerances tolerances, int n) {
    SALTUS_EXPECT(n >= 0);
    SALTUS_EXPECT(tolerances.relative >= 0.0 && tolerances.absolute >= 0.0);
    SALTUS_EXPECT(tolerances.scale.empty() || tolerances.scale.size() == static_cast<std::size_t>(n));
    for (const double s : tolerances.scale) SALTUS_EXPECT(s >= 0.0);
    tolerances.relative = std::max(tolerances.relative, 16.0 * epsilon);
    return tolerances;
}

void error_scale(const Tolerances& tolerances, const Vector& x, const Vector& y, Vector& scale) {
    // Positive, so that an exact zero is no error; the square of 1/least is still representable.
    constexpr double least = 1e-140;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        const double unit = tolerances.scale.empty() ? 1.0 : tolerances.scale[static_cast<std::size_t>(i)];
        const double size = std::max(std::abs(x(i)), std::abs(y(i)));
        scale(i) = std::max(least, tolerances.absolute * unit + tolerances.relative * size);
    }
}

double scaled_norm(const Vector& v, const Vector& scale) {
    if (v.size() == 0) return 0.0;
    return std::sqrt((v.array() / scale.array()).square().sum() / static_cast<double>(v.size()));
}

// [Hairer] II.4. With d0 = ‖x‖ and d1 = ‖f‖ in units of the tolerance, h = 0.01 d0/d1 changes x by 1 % of itself. The
// difference of f over that step estimates d2 = ‖ẍ‖. The step wanted satisfies h^order max(d1, d2) = 0.01.
double first_step(const Problem& problem, double t, const Vector& x, const Vector& f, const Vector& scale, int order,
                  double largest, Vector& x1, Vector& f1, Statistics& statistics) {
    constexpr double tiny_norm = 1e-5;     // d0 or d1 below this says nothing about the time scale
    constexpr double default_step = 1e-6;  // then the first guess is this
    constexpr double share = 0.01;         // error of the first step, in units of the tolerance
    constexpr double no_rate = 1e-15;      // max(d1, d2) below this: f vanishes
    constexpr double refused_share = 0.1;  // of h, if f cannot be evaluated there
    constexpr double largest_growth = 100.0;
    const double size = scaled_norm(x, scale), rate = scaled_norm(f, scale);
    double h = size < tiny_norm || rate < tiny_norm ? default_step : share * size / rate;
    if (!(h > 0.0 && std::isfinite(h))) h = default_step;
    h = std::max(std::min(h, largest), shortest_step(t, h));
    x1 = x + h * f;
    ++statistics.evaluations;
    // If f fails here too, the first step itself is shortened further.
    if (!problem.f(t + h, x1.data(), f1.data()) || !f1.allFinite()) return refused_share * h;
    f1 -= f;
    const double fastest = std::max(rate, scaled_norm(f1, scale) / h);
    const double wish =
        fastest <= no_rate ? std::max(default_step, 1e-3 * h) : std::pow(share / fastest, 1.0 / order);  // as [Hairer]
    return std::min({largest_growth * h, wish, largest});
}

}  // namespace saltus::ode
