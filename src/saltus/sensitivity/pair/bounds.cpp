// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::sensitivity {

namespace {

struct Estimate {
    double value = 0.0, error = 0.0;
};

/// The 15-point rule of Kronrod and the difference from Gauss's 7-point rule inside it.
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

double refined(const std::function<double(double)>& f, double a, double b, const Estimate& whole, double tolerance,
               int depth) {
    if (whole.error <= tolerance || depth == 0) return whole.value;
    const double middle = 0.5 * (a + b);
    if (!(a < middle && middle < b)) return whole.value;
    const Estimate left = kronrod(f, a, middle), right = kronrod(f, middle, b);
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
        sum += refined(f, left, right, whole, 1e-13 * std::abs(whole.value) + 1e-300, 40);
    }
    return sum;
}

Bound::Bound(PairFunctions& functions, BoundSetting setting) : functions_(functions), setting_(std::move(setting)) {
    const BoundSetting& s = setting_;
    c_min_ = s.event ? s.event->c_min() : s.end;
    c_max_ = s.event ? s.event->c_max() : s.end;
    // [Alscher] (51) leaves open which contacts are active: those before the event up to c_min, those after it from
    // c_max on; in between the ones of both.
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
    for (const std::array<double, 3>& eta : v.eta) sum += std::abs(eta[2]);
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
    // The bound of a lift-off is one for all times: what happens up to c_max is in it from the start.
    if (lift_off && !whole_)
        whole_ = integral([&](double s) { return sum_h(s, before_); }, setting_.begin, c_min_, 256);
    terms.h_before = lift_off ? *whole_ : phi(t) - setting_.initial;
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
            for (const std::array<double, 3>& eta : v.eta) terms.eta_rate += std::abs(eta[1]);
    }
    if (region == Region::after) terms.h_after = advance(since_, t, [&](double s) { return sum_h(s, after_); });
    return terms;
}

}  // namespace saltus::sensitivity
