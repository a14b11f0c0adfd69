// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_survey.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/control/regulation/detail/regulation_equilibria.hpp"

namespace saltus::control {

using proof::Interval;

namespace {

constexpr int points = 3000, rays = 64;

double scattered(int k, std::size_t i) {
    const double x = 0.5 + 0.6180339887498949 * k * (1.0 + 0.7548776662466927 * static_cast<double>(i));
    return 2.0 * (x - std::floor(x)) - 1.0;
}

class Survey {
public:
    Survey(const Domain& domain, Statics& s, const Rest& rest) : s_(s), rest_(rest) {
        s.at(rest.q);
        reference_ = s.potential();
        scale_ = scales(domain.model, rest.q);
    }
    ~Survey() { s_.at(rest_.q); }
    Survey(const Survey&) = delete;
    Survey& operator=(const Survey&) = delete;

    const std::vector<double>& scale() const { return scale_; }

    /// Q there, NaN outside of the region. What rounding may have made of Q = 0 is 0.
    double operator()(const std::vector<double>& q) {
        s_.at(q);
        for (int i = s_.constraints(); i < s_.rows(); ++i)
            if (s_.compliance()(i) == 0.0 && !(s_.positions()(i) >= 0.0)) return std::nan("");
        const double U = s_.potential(), Q = U - reference_;
        return std::abs(Q) <= 1e-13 * (std::abs(U) + std::abs(reference_)) ? 0.0 : Q;
    }

    double distance2(const std::vector<double>& q) const {
        double r2 = 0.0;
        for (std::size_t i = 0; i < q.size(); ++i) r2 += (q[i] - rest_.q[i]) * (q[i] - rest_.q[i]);
        return r2;
    }

private:
    Statics& s_;
    const Rest& rest_;
    double reference_ = 0.0;
    std::vector<double> scale_;
};

}  // namespace

PotentialSurvey survey_potential(const Domain& domain, Statics& statics, const Rest& rest,
                                 const std::vector<EquilibriumSolution>& solutions) {
    PotentialSurvey out{Interval::infinity, 0.0, {}, 0.0, {}, 0.0, Interval::infinity};
    Survey Q(domain, statics, rest);
    const auto note = [&](const std::vector<double>& q, double value) {
        if (!(value <= out.below_value) || (!out.below.empty() && value == out.below_value)) return;
        out.below = q;
        out.below_value = value;
    };
    for (int k = 1; k <= points; ++k) {
        std::vector<double> q = rest.q;
        const double distance = 8.0 * std::exp2(-static_cast<double>(k % 12));
        for (std::size_t i = 0; i < q.size(); ++i) q[i] += distance * Q.scale()[i] * scattered(k, i);
        const double value = Q(q), r2 = Q.distance2(q);
        if (std::isnan(value) || !(r2 > 0.0)) continue;
        const double ratio = 2.0 * value / r2;
        out.lower = std::min(out.lower, ratio);
        out.upper = std::max(out.upper, ratio);
        if (!(value > 0.0) && distance > 1e-3) note(q, value);
    }
    for (const EquilibriumSolution& s : solutions) {
        if (!s.pushes || Q.distance2(s.rest.q) <= 1e-12) continue;
        const double value = Q(s.rest.q);
        if (value > 0.0) out.pass = std::min(out.pass, value);
        if (!(value > 0.0)) note(s.rest.q, value);
    }
    // Rays: along the coordinates, then scattered. What grows without bound has grown from a thousand to a million.
    for (int k = 0; k < rays; ++k) {
        std::vector<double> direction(rest.q.size(), 0.0);
        const auto axis = static_cast<std::size_t>(k / 2);
        if (axis < direction.size())
            direction[axis] = k % 2 == 0 ? Q.scale()[axis] : -Q.scale()[axis];
        else
            for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = Q.scale()[i] * scattered(k + 7, i);
        double at_thousand = std::nan("");
        for (int decade = 0; decade <= 6; ++decade) {
            std::vector<double> q = rest.q;
            for (std::size_t i = 0; i < q.size(); ++i) q[i] += std::pow(10.0, decade) * direction[i];
            const double value = Q(q);
            if (std::isnan(value)) continue;
            out.lower = std::min(out.lower, 2.0 * value / Q.distance2(q));
            if (!(value > 0.0)) note(q, value);
            if (decade == 3) at_thousand = value;
            if (decade == 6 && value > 0.0 && value < 1.2 * at_thousand && out.far.empty()) {
                out.far = q;
                out.far_value = value;
            }
        }
    }
    if (!out.far.empty() && std::isinf(out.pass)) out.pass = out.far_value;
    return out;
}

}  // namespace saltus::control
