// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::sensitivity {

namespace {

/// A panel is accurate enough if |difference of the two rules| ≤ this · |integral of the panel|.
constexpr double panel_tolerance = 1e-13;
/// Added to the tolerance, so that panels with the integral 0 end as well.
constexpr double smallest_tolerance = 1e-300;
/// The difference of the rules is rounding if it is below noise_factor · tolerance and halving the panel leaves more
/// than noise_decay of it: that of a smooth function falls by 2⁻¹⁴ at least, that of one with a kink by 1/4. Rounding
/// of the time in cos(b t) with a large b is far above the rounding of the value; without this test the halving would
/// not end.
constexpr double noise_factor = 1e5, noise_decay = 0.5;
/// A panel is halved at most this many times.
constexpr int max_halvings = 40;
/// Panels of ∫ h up to a lift-off, which is evaluated once.
constexpr int lift_off_panels = 256;

/// An integral over one panel, and the difference of its two rules.
struct Estimate {
    double value = 0.0, error = 0.0;
};

/// The Kronrod rule with 15 nodes, and its difference from the Gauss rule with 7 of them. Nodes and weights are those
/// of the interval [−1, 1], for nonnegative nodes in descending order; the nodes with odd index are those of Gauss.
Estimate kronrod(const std::function<double(double)>& f, double a, double b) {
    constexpr std::array<double, 8> x{0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                                      0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                                      0.586087235467691130294144838258730, 0.405845151377397166906606412076961,
                                      0.207784955007898467600689403773245, 0.0};
    constexpr std::array<double, 8> k{0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                      0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                      0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                      0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
    constexpr std::array<double, 4> g{0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                      0.381830050505118944950369775488975, 0.417959183673469387755102040816327};
    const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    const double centre = f(middle);
    double sum = k[7] * centre, gauss = g[3] * centre;
    for (std::size_t i = 0; i < 7; ++i) {
        const double both = f(middle - half * x[i]) + f(middle + half * x[i]);
        sum += k[i] * both;
        if (i % 2 == 1) gauss += g[i / 2] * both;
    }
    return {half * sum, std::abs(half * (sum - gauss))};
}

/// Halves the interval until the estimate is below the tolerance; each half gets half of it.
double refined(const std::function<double(double)>& f, double a, double b, const Estimate& whole, double tolerance,
               int depth) {
    if (whole.error <= tolerance || depth == 0) return whole.value;
    const double middle = 0.5 * (a + b);
    if (!(a < middle && middle < b)) return whole.value;
    const Estimate left = kronrod(f, a, middle), right = kronrod(f, middle, b);
    if (whole.error <= noise_factor * tolerance && left.error + right.error >= noise_decay * whole.error)
        return left.value + right.value;
    return refined(f, a, middle, left, 0.5 * tolerance, depth - 1) +
           refined(f, middle, b, right, 0.5 * tolerance, depth - 1);
}

}  // namespace

double integral(const std::function<double(double)>& f, double a, double b, int panels) {
    if (!(a < b)) return 0.0;
    double sum = 0.0;
    for (int k = 0; k < panels; ++k) {
        const double left = a + (b - a) * k / panels, right = k + 1 == panels ? b : a + (b - a) * (k + 1) / panels;
        const Estimate whole = kronrod(f, left, right);
        sum +=
            refined(f, left, right, whole, panel_tolerance * std::abs(whole.value) + smallest_tolerance, max_halvings);
    }
    return sum;
}

// The bounds of [Alscher], for the error e(t) = Σ |q̂ − q̄| + |û − ū|. The theorems say that a constant C exists.
// Theorem 3.1, no event, with h = Σ_active |θ̈| + Σ |η̈| + Σ |δ|, (51)–(53):
//     e(t) ≤ C Φ(t),   Φ(t) = e(0) + ∫₀ᵗ h.
// Theorem 3.3, collision of contact p:
//     t < c_min              e ≤ C Φ(t)                                                                      (53)
//     c_min < t < c_max      Σ |q̂ − q̄| ≤ C B,  B = Φ(c_min) + |θ_p(c_min)| + Σ_active ∫ |θ̈| + Σ_passive ∫ |δ|  (54)
//     t > c_max              e ≤ C (B + |θ̇_p(c_min)| + Σ |η̇(c_min)| + ∫ h from c_max to t)                    (56)
//   In the critical interval the velocities are only bounded: one motion has lost its approach velocity already. (55)
// Theorem 3.5, lift-off of contact p, at all times:
//     e ≤ C (e(0) + ∫ h to c_min + h(c_min) + Σ_active∖p ∫ |θ̈| + Σ_passive∪p ∫ |δ| + ∫ h from c_max to t)     (67)
// Integrals without limits run over [c_min, c_max], in (54) up to t. Why these terms: θ enters the position of p at the
// collision, θ̇ its velocity after it (u⁺ sees the velocity of the obstacle), θ̈ the contact force. The contact force
// decides the lift-off, so h itself enters at c_min. In the critical interval the motions have different active sets,
// so that a constraint force of one of them is compared with the force δ of the other.
Bound::Bound(PairFunctions& functions, BoundSetting setting) : functions_(functions), setting_(std::move(setting)) {
    const BoundSetting& s = setting_;
    c_min_ = s.event ? s.event->c_min() : s.end;
    c_max_ = s.event ? s.event->c_max() : s.end;
    // (51) does not define the active contacts of Theorem 3.3. Here they are those before the event up to c_min, those
    // after it from c_max on, and in between those that are closed in both motions.
    std::vector<int> stay;
    for (const int k : s.closed_before)
        if (std::find(s.closed_after.begin(), s.closed_after.end(), k) != s.closed_after.end()) stay.push_back(k);
    before_ = weights_of(s.closed_before);
    stay_ = weights_of(stay);
    after_ = weights_of(s.closed_after);
    own_delta_ = delta_weights(s.contact_coordinates);
    other_delta_ = delta_weights(s.free_coordinates);
    until_.t = s.begin;
    since_.t = c_max_;
    theta_.t = delta_.t = uncovered_.t = c_min_;
}

/// How many of the contacts share each function θ.
std::vector<double> Bound::weights_of(const std::vector<int>& contacts) const {
    std::vector<double> weights;
    for (const int k : contacts)
        if (const int f = functions_.theta_of(k); f >= 0) {
            if (weights.size() <= ix(f)) weights.resize(ix(f) + 1, 0.0);
            weights[ix(f)] += 1.0;
        }
    return weights;
}

std::vector<double> Bound::delta_weights(const std::vector<int>& coordinates) const {
    std::vector<double> weights;
    for (const int c : functions_.delta_coordinates())
        weights.push_back(std::find(coordinates.begin(), coordinates.end(), c) != coordinates.end() ? 1.0 : 0.0);
    return weights;
}

double Bound::sum_theta(double t, const std::vector<double>& weights) {
    double sum = 0.0;
    const PairFunctions::Values& v = functions_.at(t);
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * std::abs(v.theta[k][2]);
    return sum;
}

double Bound::sum_delta(double t, const std::vector<double>& weights) {
    double sum = 0.0;
    const PairFunctions::Values& v = functions_.at(t);
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * std::abs(v.delta[k]);
    return sum;
}

double Bound::sum_h(double t, const std::vector<double>& weights) {
    double sum = 0.0;
    const PairFunctions::Values& v = functions_.at(t);
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * std::abs(v.theta[k][2]);
    for (const std::array<double, 4>& eta : v.eta) sum += std::abs(eta[2]);
    for (const double delta : v.delta) sum += std::abs(delta);
    return sum;
}

double Bound::h(double t, Region region) {
    return sum_h(t, region == Region::before ? before_ : region == Region::after ? after_ : stay_);
}

template <class F>
double Bound::advance(Running& running, double t, const F& f) {
    SALTUS_EXPECT(t >= running.t);
    running.value += integral(f, running.t, t);
    running.t = t;
    return running.value;
}

double Bound::phi(double t) {
    return setting_.initial +
           advance(until_, std::max(until_.t, std::min(t, c_min_)), [&](double s) { return sum_h(s, before_); });
}

BoundTerms Bound::at(double t, Region region) {
    BoundTerms terms;
    terms.initial = setting_.initial;
    const bool lift_off = setting_.event && setting_.event->kind == PairEventKind::lift_off;
    // (67) is one bound for all times: the terms up to c_max are in it from the beginning of the piece.
    if (lift_off && !h_integral_)
        h_integral_ = integral([&](double s) { return sum_h(s, before_); }, setting_.begin, c_min_, lift_off_panels);
    terms.h_before = lift_off ? *h_integral_ : phi(t) - setting_.initial;
    if (!setting_.event) return terms;
    if (lift_off) terms.h_event = sum_h(c_min_, before_);
    if (!lift_off && region == Region::before) return terms;
    const double until = lift_off || region == Region::after ? c_max_ : t;
    terms.theta_critical = advance(theta_, until, [&](double s) { return sum_theta(s, stay_); });
    terms.delta_critical = advance(delta_, until, [&](double s) { return sum_delta(s, own_delta_); });
    terms.delta_uncovered = advance(uncovered_, until, [&](double s) { return sum_delta(s, other_delta_); });
    if (!lift_off) {
        const PairFunctions::Values& v = functions_.at(c_min_);
        for (const int p : setting_.event->contacts)
            if (const int f = functions_.theta_of(p); f >= 0) {
                terms.theta += std::abs(v.theta[ix(f)][0]);
                if (region == Region::after) terms.theta_rate += std::abs(v.theta[ix(f)][1]);
            }
        if (region == Region::after)
            for (const std::array<double, 4>& eta : v.eta) terms.eta_rate += std::abs(eta[1]);
    }
    if (region == Region::after) terms.h_after = advance(since_, t, [&](double s) { return sum_h(s, after_); });
    return terms;
}

}  // namespace saltus::sensitivity
