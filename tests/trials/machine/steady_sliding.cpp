// SPDX-License-Identifier: Apache-2.0
#include "machine/steady_sliding.hpp"

#include <algorithm>
#include <cmath>

namespace trials {

namespace {

Point at_rest(const Vector& q) { return {0.0, q, Vector(q.size(), 0.0)}; }

/// Friction of a sliding element for a normal force of 1.
Vector friction_force(const Mechanics& mechanics, std::size_t element, const Point& at) {
    const Vector friction = mechanics.friction(element, at).farthest(mechanics.slip(element, at));
    const std::vector<Vector> gradients = mechanics.slip_gradients(element, at);
    Vector force(at.q.size(), 0.0);
    for (std::size_t i = 0; i < friction.size(); ++i) force = plus(force, gradients[i], -friction[i]);
    return force;
}

Vector slider_friction(const Mechanics& mechanics, const Point& at) {
    Vector force(at.q.size(), 0.0);
    for (std::size_t e = 0; e < mechanics.elements(); ++e)
        if (mechanics.sort(e) == Mechanics::Sort::slider)
            force = plus(force, friction_force(mechanics, e, at), mechanics.slider_force(mechanics.number(e), at));
    return force;
}

/// What a sliding contact with the normal force 1 exerts: w_N − s mu w_T for planar friction.
Vector pressing_direction(const Mechanics& mechanics, std::size_t contact, const Point& at) {
    const Vector normal = mechanics.gap_gradient(contact, at);
    return mechanics.friction(contact).directions() == 0 ? normal
                                                         : plus(normal, friction_force(mechanics, contact, at));
}

/// The velocities v with rows·v = 0, by Gram and Schmidt's method from the axes.
std::vector<Vector> null_space(std::vector<Vector> rows, std::size_t n) {
    std::vector<Vector> span, result;
    const auto rest = [&](Vector v) {
        for (int round = 0; round < 2; ++round)
            for (const Vector& unit : span) v = plus(v, unit, -dot(unit, v));
        return v;
    };
    const auto add = [&](const Vector& v, bool keep) {
        const Vector r = rest(v);
        if (norm(r) < 1e-6 * (1e-6 + norm(v))) return;
        Vector unit = r;
        for (double& x : unit) x /= norm(r);
        span.push_back(unit);
        if (keep) result.push_back(unit);
    };
    for (const Vector& row : rows) add(row, false);
    for (std::size_t i = 0; i < n; ++i) {
        Vector axis(n, 0.0);
        axis[i] = 1.0;
        add(axis, true);
    }
    return result;
}

/// Coefficients of the characteristic polynomial, the leading 1 first (Faddeev and LeVerrier).
Vector characteristic_polynomial(const Matrix& a) {
    const std::size_t n = a.size();
    Matrix power(n, Vector(n, 0.0));
    Vector coefficients = {1.0};
    for (std::size_t k = 1; k <= n; ++k) {
        for (std::size_t i = 0; i < n; ++i) power[i][i] += coefficients.back();
        Matrix next(n, Vector(n, 0.0));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t l = 0; l < n; ++l) next[i][j] += a[i][l] * power[l][j];
        power = next;
        double trace = 0.0;
        for (std::size_t i = 0; i < n; ++i) trace += power[i][i];
        coefficients.push_back(-trace / static_cast<double>(k));
    }
    return coefficients;
}

/// All roots of a polynomial with leading coefficient 1 (Durand and Kerner).
std::vector<std::complex<double>> roots(const Vector& coefficients) {
    using Complex = std::complex<double>;
    const std::size_t n = coefficients.size() - 1;
    double size = 0.0;
    for (std::size_t k = 1; k <= n; ++k)
        size = std::max(size, std::pow(std::abs(coefficients[k]), 1.0 / static_cast<double>(k)));
    std::vector<Complex> result;
    for (std::size_t k = 0; k < n; ++k) result.push_back((size + 1e-6) * std::pow(Complex(0.4, 0.9), k + 1));
    for (int round = 0; round < 500; ++round) {
        double largest = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            Complex value = 0.0, below = 1.0;
            for (const double c : coefficients) value = value * result[i] + c;
            for (std::size_t j = 0; j < n; ++j)
                if (j != i) below *= result[i] - result[j];
            if (std::abs(below) == 0.0) continue;
            result[i] -= value / below;
            largest = std::max(largest, std::abs(value / below));
        }
        if (largest < 1e-14 * (size + 1e-6)) break;
    }
    std::ranges::sort(result, [](Complex a, Complex b) { return a.real() > b.real(); });
    return result;
}

}  // namespace

bool slides_at_rest(const Mechanics& mechanics, const Vector& q, const std::vector<std::size_t>& closed) {
    const Point at = at_rest(q);
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const Mechanics::Sort sort = mechanics.sort(e);
        if (sort == Mechanics::Sort::constraint || sort == Mechanics::Sort::clutch) return false;
        if (sort == Mechanics::Sort::contact && std::ranges::find(closed, e) == closed.end()) continue;
        const FrictionLaw law = mechanics.friction(e, at);
        if (law.directions() == 0) continue;
        const bool smooth = law.kind == FrictionLaw::Kind::planar || law.kind == FrictionLaw::Kind::isotropic ||
                            (law.kind == FrictionLaw::Kind::orthotropic && law.mu[0] * law.mu[1] > 0.0);
        if (!smooth || norm(mechanics.slip(e, at)) < 1e-6) return false;
    }
    return true;
}

SlidingMotion::SlidingMotion(const Mechanics& mechanics, const Vector& q, std::vector<std::size_t> closed)
    : mechanics_(mechanics), q_(q), closed_(std::move(closed)) {
    const Point at = at_rest(q);
    std::vector<Vector> rows;
    for (const std::size_t c : closed_) rows.push_back(mechanics.gap_gradient(c, at));
    tangents_ = null_space(rows, q.size());
}

Vector SlidingMotion::slider_friction(const Point& state) const { return trials::slider_friction(mechanics_, state); }

// M a = h + F_sliders + Σ λ (w_N − s mu w_T) and w_N·a = −(dw_N/dt)·u for each closed contact.
std::optional<SlidingMotion::Forces> SlidingMotion::at(const Point& state) const {
    const std::size_t n = q_.size(), m = closed_.size();
    Matrix equations(n + m, Vector(n + m, 0.0));
    const Matrix mass = mechanics_.mass(state);
    Vector right = plus(mechanics_.force(state), slider_friction(state));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) equations[i][j] = mass[i][j];
    right.resize(n + m, 0.0);
    for (std::size_t k = 0; k < m; ++k) {
        const std::size_t c = closed_[k];
        const Vector normal = mechanics_.gap_gradient(c, state);
        const Vector pressing = pressing_direction(mechanics_, c, state);
        for (std::size_t i = 0; i < n; ++i) {
            equations[i][n + k] = -pressing[i];
            equations[n + k][i] = normal[i];
        }
        constexpr double step = 1e-4;
        Point ahead = state, behind = state;
        ahead.q = plus(state.q, state.u, step);
        behind.q = plus(state.q, state.u, -step);
        const Vector turn = plus(mechanics_.gap_gradient(c, ahead), mechanics_.gap_gradient(c, behind), -1.0);
        right[n + k] = -dot(turn, state.u) / (2.0 * step);
    }
    const Vector solution = solve(equations, right);
    if (solution.empty()) return {};
    const auto split = solution.begin() + static_cast<std::ptrdiff_t>(n);
    return Forces{Vector(solution.begin(), split), Vector(split, solution.end())};
}

// δq = N z and δu = N ż for a basis N of the tangents, because u = 0 at the equilibrium: z̈ = Nᵀ(∂a/∂q N z + ∂a/∂u N ż).
std::optional<std::vector<std::complex<double>>> SlidingMotion::eigenvalues() const {
    const std::size_t m = tangents_.size();
    Matrix a(2 * m, Vector(2 * m, 0.0));
    for (std::size_t k = 0; k < m; ++k) {
        a[k][m + k] = 1.0;
        for (const bool by_velocity : {false, true}) {
            constexpr double step = 1e-5;
            Point ahead = at_rest(q_), behind = at_rest(q_);
            Vector& forward = by_velocity ? ahead.u : ahead.q;
            Vector& backward = by_velocity ? behind.u : behind.q;
            forward = plus(forward, tangents_[k], step);
            backward = plus(backward, tangents_[k], -step);
            const auto right = at(ahead), left = at(behind);
            if (!right || !left) return {};
            const Vector slope = plus(right->acceleration, left->acceleration, -1.0);
            for (std::size_t i = 0; i < m; ++i)
                a[m + i][(by_velocity ? m : 0) + k] = dot(tangents_[i], slope) / (2.0 * step);
        }
    }
    return m > 0 ? std::optional(roots(characteristic_polynomial(a))) : std::nullopt;
}

namespace {

/// Residuals of rest: balance of forces, and the closed gaps; unknowns are q and the normal forces.
Vector residual(const Mechanics& mechanics, const std::vector<std::size_t>& closed, const Vector& x) {
    const std::size_t n = mechanics.model().size();
    const Point at = at_rest(Vector(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)));
    Vector result = plus(mechanics.force(at), slider_friction(mechanics, at));
    for (std::size_t k = 0; k < closed.size(); ++k)
        result = plus(result, pressing_direction(mechanics, closed[k], at), x[n + k]);
    for (const std::size_t c : closed) result.push_back(mechanics.gap(c, at));
    return result;
}

std::optional<Vector> newton(const Mechanics& mechanics, const std::vector<std::size_t>& closed, Vector x) {
    for (int round = 0; round < 40; ++round) {
        const Vector f = residual(mechanics, closed, x);
        if (norm(f) < 1e-11 * (1.0 + norm(x))) return x;
        Matrix slope(x.size(), Vector(x.size()));
        for (std::size_t k = 0; k < x.size(); ++k) {
            constexpr double step = 1e-6;
            Vector ahead = x, behind = x;
            ahead[k] += step;
            behind[k] -= step;
            const Vector difference =
                plus(residual(mechanics, closed, ahead), residual(mechanics, closed, behind), -1.0);
            for (std::size_t i = 0; i < x.size(); ++i) slope[i][k] = difference[i] / (2.0 * step);
        }
        const Vector change = solve(slope, f);
        if (change.empty()) return {};
        double longest = 0.0;  // of the position
        for (std::size_t i = 0; i < mechanics.model().size(); ++i) longest = std::max(longest, std::abs(change[i]));
        x = plus(x, change, -std::min(1.0, 1.0 / (1e-12 + longest)));
        if (!(norm(x) < 1e4)) return {};
    }
    return {};
}

/// The number of starts along each coordinate.
int starts_along(std::size_t n) { return n == 1 ? 400 : n == 2 ? 25 : 9; }

}  // namespace

std::vector<Vector> steady_points(const Mechanics& mechanics, double reach) {
    const std::size_t n = mechanics.model().size(), contacts = mechanics.model().contacts.size();
    std::vector<Vector> result;
    const int count = starts_along(n);
    long all = 1;
    for (std::size_t i = 0; i < n; ++i) all *= count;
    for (std::size_t choice = 0; choice < (std::size_t{1} << contacts); ++choice) {
        std::vector<std::size_t> closed;
        for (std::size_t c = 0; c < contacts; ++c)
            if ((choice >> c & 1U) != 0) closed.push_back(c);
        if (closed.size() > n) continue;
        for (long start = 0; start < all; ++start) {
            Vector x;
            for (long rest = start; x.size() < n; rest /= count)
                x.push_back(-reach + 2.0 * reach * (static_cast<double>(rest % count) + 0.5) / count);
            x.resize(n + closed.size(), 1.0);
            const auto found = newton(mechanics, closed, x);
            if (!found) continue;
            const Vector q(found->begin(), found->begin() + static_cast<std::ptrdiff_t>(n));
            bool valid = slides_at_rest(mechanics, q, closed);
            for (std::size_t i = 0; i < n; ++i) valid = valid && std::abs(q[i]) <= reach;
            for (std::size_t k = 0; k < closed.size(); ++k) valid = valid && (*found)[n + k] > 1e-6;
            for (std::size_t c = 0; c < contacts; ++c)
                valid = valid && (std::ranges::find(closed, c) != closed.end() || mechanics.gap(c, at_rest(q)) > 1e-9);
            const bool known = std::ranges::any_of(
                result, [&](const Vector& other) { return norm(plus(q, other, -1.0)) < 1e-6 * (1.0 + norm(q)); });
            if (valid && !known) result.push_back(q);
        }
    }
    return result;
}

}  // namespace trials
