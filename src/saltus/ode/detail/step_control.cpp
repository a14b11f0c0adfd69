// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/detail/step_control.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"

namespace saltus::ode {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace

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
    const double rest = t_limit - t;
    if (rest <= 1.01 * h) return {rest, t_limit, rest < h};
    const bool shortened = rest < 2.0 * h;
    const double t_new = t + (shortened ? 0.5 * rest : h);
    return {t_new - t, t_new, shortened};
}

double shortest_step(double t, double h) {
    return std::max(1e-300, 16.0 * epsilon * std::max(std::abs(t), std::abs(t + h)));
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
    constexpr double least = 1e-140;  // so that nothing, exactly computed, is no error; its square can be divided by
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

double first_step(const Problem& problem, double t, const Vector& x, const Vector& f, const Vector& scale, int order,
                  double largest, Vector& x1, Vector& f1, Statistics& statistics) {
    const double size = scaled_norm(x, scale), rate = scaled_norm(f, scale);
    double h = size < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * size / rate;
    if (!(h > 0.0 && std::isfinite(h))) h = 1e-6;
    h = std::max(std::min(h, largest), shortest_step(t, h));
    x1 = x + h * f;
    ++statistics.evaluations;
    // Where even this is refused, the step to come is cut on its own account.
    if (!problem.f(t + h, x1.data(), f1.data()) || !f1.allFinite()) return 0.1 * h;
    f1 -= f;
    const double fastest = std::max(rate, scaled_norm(f1, scale) / h);
    const double wish = fastest <= 1e-15 ? std::max(1e-6, 1e-3 * h) : std::pow(0.01 / fastest, 1.0 / order);
    return std::min({100.0 * h, wish, largest});
}

}  // namespace saltus::ode
