// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_survey.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/control/regulation/detail/regulation_equilibria.hpp"
#include "saltus/control/regulation/detail/regulation_scatter.hpp"

namespace saltus::control {

using proof::Interval;

namespace {

constexpr int points = 3000;  ///< scattered points around q_R
constexpr int rays = 64;      ///< directions along which Q is followed far out
/// Scattered points lie at up to 8, 4, 2, ... scales from q_R, in distance_levels levels.
constexpr double largest_distance = 8.0;
constexpr int distance_levels = 12;
/// |Q| of at most this part of |Ũ| + |Ũ_R| is rounding.
constexpr double negligible_energy = 1e-13;
/// Q <= 0 counts as a witness only at points further than this many scales from q_R; nearer ones are rounding.
constexpr double least_witness_distance = 1e-3;
/// Solutions with r² = ‖q − q_R‖² of at most this are q_R itself.
constexpr double same_point2 = 1e-12;
/// Along a ray Q is evaluated at 1, 10, ..., 10⁶ scales. If it grows by less than this factor from the near to the far
/// decade then it does not grow without bound.
constexpr int near_decade = 3, far_decade = 6;
constexpr double least_growth = 1.2;

/// Q as a function of the position.
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

    /// Q at q; NaN outside the admissible region; 0 if it is only rounding.
    double operator()(const std::vector<double>& q) {
        s_.at(q);
        for (int i = s_.constraints(); i < s_.rows(); ++i)
            if (s_.compliance()(i) == 0.0 && !(s_.positions()(i) >= 0.0)) return std::nan("");
        const double U = s_.potential(), Q = U - reference_;
        return std::abs(Q) <= negligible_energy * (std::abs(U) + std::abs(reference_)) ? 0.0 : Q;
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
        const double distance = largest_distance * std::exp2(-static_cast<double>(k % distance_levels));
        for (std::size_t i = 0; i < q.size(); ++i) q[i] += distance * Q.scale()[i] * scattered(k, i);
        const double value = Q(q), r2 = Q.distance2(q);
        if (std::isnan(value) || !(r2 > 0.0)) continue;
        const double ratio = 2.0 * value / r2;
        out.lower = std::min(out.lower, ratio);
        out.upper = std::max(out.upper, ratio);
        if (!(value > 0.0) && distance > least_witness_distance) note(q, value);
    }
    for (const EquilibriumSolution& s : solutions) {
        if (!s.pushes || Q.distance2(s.rest.q) <= same_point2) continue;
        const double value = Q(s.rest.q);
        if (value > 0.0) out.pass = std::min(out.pass, value);
        if (!(value > 0.0)) note(s.rest.q, value);
    }
    // Rays along the coordinates, then scattered ones.
    for (int k = 0; k < rays; ++k) {
        std::vector<double> direction(rest.q.size(), 0.0);
        const auto axis = static_cast<std::size_t>(k / 2);
        if (axis < direction.size())
            direction[axis] = k % 2 == 0 ? Q.scale()[axis] : -Q.scale()[axis];
        else
            for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = Q.scale()[i] * scattered(k + 7, i);
        double near_value = std::nan("");
        for (int decade = 0; decade <= far_decade; ++decade) {
            std::vector<double> q = rest.q;
            for (std::size_t i = 0; i < q.size(); ++i) q[i] += std::pow(10.0, decade) * direction[i];
            const double value = Q(q);
            if (std::isnan(value)) continue;
            out.lower = std::min(out.lower, 2.0 * value / Q.distance2(q));
            if (!(value > 0.0)) note(q, value);
            if (decade == near_decade) near_value = value;
            if (decade == far_decade && value > 0.0 && value < least_growth * near_value && out.far.empty()) {
                out.far = q;
                out.far_value = value;
            }
        }
    }
    if (!out.far.empty() && std::isinf(out.pass)) out.pass = out.far_value;
    return out;
}

}  // namespace saltus::control
