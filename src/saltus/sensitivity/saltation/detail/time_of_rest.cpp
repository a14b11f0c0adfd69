// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/time_of_rest.hpp"

#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/ode/explicit.hpp"

// Friction depends on the direction d = γ/|γ| of slip alone. Next to rest, where nothing else changes, γ̇ = F(d). The
// time T(γ) to rest is therefore homogeneous of degree 1, T = |γ| τ(d), and its gradient depends on d alone. With
// s = −ln|γ| the direction obeys
//     dd/ds = (F − (d·F) d)/(−d·F),
// and because |γ| = exp(−s) and d|γ|/dt = d·F,
//     τ(d) = ∫₀^∞ exp(−s)/(−d(s)·F(d(s))) ds.
// The direction turns towards one that stays. With several coefficients of friction, or several masses, it may turn
// slowly: it is not known at the shortest distance from rest. The gradient is ∇T = τ d + Σ (∂τ/∂e) e over the
// directions e across d.

namespace saltus::sensitivity {

namespace {

/// Angle of the differences that stand for derivatives by the direction, in rad. The relative error of central
/// differences is its square.
constexpr double difference = 1e-4;

/// F(d): the rate of the velocity of slip as a function of its direction, at a state with γ = 0.
class SlipRate {
public:
    SlipRate(Tangent& tangent, double t, const std::vector<double>& x, int part)
        : x_(tangent),
          part_(tangent.dynamics.parts()[ix(part)]),
          number_(part),
          t_(t),
          state_(x),
          mode_(tangent.dynamics.mode()),
          W_(Matrix::Zero(part_.size, tangent.n())),
          gamma_(part_.size) {
        const int n = x_.n();
        x_.dynamics.evaluate_terms(t, x.data());
        const model::Pattern& rows = x_.model().layout().rows;
        for (int r = 0; r < part_.size; ++r) {
            gamma_(r) = x_.dynamics.slip_velocity(part)[r];
            for (int k = rows.start[ix(part_.row + r)]; k < rows.start[ix(part_.row + r + 1)]; ++k)
                W_(r, rows.column[ix(k)]) = x_.dynamics.terms().W[ix(k)];
        }
        lift_ = W_.transpose() * solve_columns(W_ * W_.transpose(), Matrix::Identity(part_.size, part_.size));
        const Vector removed = lift_ * gamma_;
        for (int i = 0; i < n; ++i) state_[ix(n + i)] -= removed(i);
    }
    ~SlipRate() { x_.dynamics.turn_slip(mode_); }
    SlipRate(const SlipRate&) = delete;
    SlipRate& operator=(const SlipRate&) = delete;

    int size() const { return part_.size; }
    const Vector& gamma() const { return gamma_; }
    bool usable() const { return lift_.allFinite() && gamma_.norm() > 0.0; }

    bool at(const Vector& d, Vector& rate) {
        integrate::SystemMode turned = mode_;
        for (int r = 0; r < part_.size; ++r) turned.parts[ix(number_)].direction[ix(r)] = d(r);
        x_.dynamics.turn_slip(turned);
        if (!x_.velocity_field(t_, state_.data(), field_)) return false;
        rate = W_ * field_.tail(x_.n());
        for (int r = 0; r < part_.size; ++r) rate(r) += x_.dynamics.terms().zeta[ix(part_.row + r)];
        return rate.allFinite();
    }

private:
    Tangent& x_;
    const integrate::FrictionPart part_;
    const int number_;
    const double t_;
    std::vector<double> state_;  // with γ = 0
    const integrate::SystemMode mode_;
    Matrix W_, lift_;  // γ = W u + …; lift: the change of u for a change of γ
    Vector gamma_, field_;
};

/// τ(d); nothing if slip does not become slower on the way, or if F cannot be evaluated.
std::optional<double> unit_time(SlipRate& rate, const Vector& start) {
    constexpr double end = 37.0;  // exp(−37) is below the rounding of 1
    const int n = rate.size();
    Vector d(n), F(n);
    const auto f = [&](double s, const double* x, double* dx) {
        d = Eigen::Map<const Vector>(x, n).normalized();
        if (!rate.at(d, F)) return false;
        const double slowing = -d.dot(F);
        if (!(slowing > 0.0)) return false;
        for (int i = 0; i < n; ++i) dx[i] = (F(i) + slowing * d(i)) / slowing;
        dx[n] = std::exp(-s) / slowing;
        return true;
    };
    const ode::Problem problem{f};
    ode::Explicit method(n + 1, {1e-10, 1e-12});
    std::vector<double> x(start.data(), start.data() + n);
    x.push_back(0.0);
    if (!ode::usable(method.start(problem, 0.0, x))) return {};
    constexpr int max_steps = 500;
    for (int k = 0; method.t() < end; ++k)
        if (k == max_steps || !ode::usable(method.step(problem, end))) return {};
    return method.x()[ix(n)];
}

/// An orthonormal basis whose first column is d.
Matrix basis_along(const Vector& d) {
    Matrix basis = singular_parts(d, SingularBases::full).U;
    basis.col(0) = d;
    return basis;
}

/// ∇T in closed form for slip in a plane whose direction stays: F(d) = −κ d with κ > 0. Let e be the direction across
/// d, and F' = ∂F/∂e. A variation of the direction by ε e obeys dε/ds = jε with j = 1 + e·F'/κ, and changes the
/// integrand by exp(−s) ε (d·F')/κ². So for j < 1
///     τ = 1/κ,     ∂τ/∂e = (d·F')/κ² ∫₀^∞ exp((j − 1)s) ds = −(d·F')/(κ e·F').
/// Nothing if the direction turns, or if j is too near to 1.
std::optional<Vector> gradient_for_steady_direction(SlipRate& rate, const Vector& d) {
    constexpr double steady_turn = 1e-9;    // |dd/ds|; it changes the gradient by about as much
    constexpr double largest_growth = 0.5;  // of j
    if (rate.size() != 2) return {};
    Vector F, forwards, backwards;
    if (!rate.at(d, F)) return {};
    const double slowing = -d.dot(F);
    if (!(slowing > 0.0) || !((F + slowing * d).norm() <= steady_turn * slowing)) return {};
    Vector e(2);
    e << -d(1), d(0);
    if (!rate.at((d + difference * e).normalized(), forwards) || !rate.at((d - difference * e).normalized(), backwards))
        return {};
    const Vector change = (forwards - backwards) / (2.0 * difference);
    const double across = e.dot(change);
    if (!(1.0 + across / slowing < largest_growth)) return {};
    return Vector(d / slowing - d.dot(change) / (slowing * across) * e);
}

/// ∇T = τ d + Σ (∂τ/∂e) e, by integration from directions beside d.
std::optional<Vector> gradient_by_integration(SlipRate& rate, const Vector& d) {
    const std::optional<double> here = unit_time(rate, d);
    if (!here) return {};
    Vector g = *here * d;
    const Matrix basis = basis_along(d);
    for (int k = 1; k < rate.size(); ++k) {
        const Vector e = basis.col(k);
        const std::optional<double> forwards = unit_time(rate, (d + difference * e).normalized());
        const std::optional<double> backwards = unit_time(rate, (d - difference * e).normalized());
        if (!forwards || !backwards) return {};
        g += (*forwards - *backwards) / (2.0 * difference) * e;
    }
    return g;
}

}  // namespace

std::optional<Tangent::EventMemory::Rest> gradient_of_rest(Tangent& tangent, double t, const std::vector<double>& x,
                                                           int part) {
    SlipRate rate(tangent, t, x, part);
    if (!rate.usable()) return {};
    const Vector d = rate.gamma().normalized();
    std::optional<Vector> g = gradient_for_steady_direction(rate, d);
    if (!g) g = gradient_by_integration(rate, d);
    if (!g || !g->allFinite()) return {};
    Tangent::EventMemory::Rest out{part, {}};
    for (int r = 0; r < rate.size(); ++r) out.gradient[ix(r)] = (*g)(r);
    return out;
}

}  // namespace saltus::sensitivity
