// SPDX-License-Identifier: Apache-2.0
#include "machine/scan.hpp"

#include <cmath>

#include "machine/reactions.hpp"

namespace trials {

Hold hold_at(const Mechanics& mechanics, const Vector& q, double near) {
    const Point at{0.0, q, Vector(q.size(), 0.0)};
    Hold hold;
    hold.admissible = true;
    std::vector<Phase> phases;
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const double gap = mechanics.sort(e) == Mechanics::Sort::contact ? mechanics.gap(e, at) : 0.0;
        if (gap < -near) hold.admissible = false;
        // Friction on a moving surface slides at rest; all other friction has no slip there and sticks.
        phases.push_back(gap > near ? Phase::open : Phase::sliding);
    }
    Vector needed = mechanics.force(at);
    for (double& f : needed) f = -f;
    const Explanation found = explain(mechanics, at, needed, phases);
    hold.residual = found.residual / (1.0 + norm(needed));
    hold.converged = found.converged;
    return hold;
}

std::optional<Vector> line_position(const Mechanics& mechanics, double x) {
    const Model& model = mechanics.model();
    if (model.size() == 1) return Vector{x};
    if (model.size() != 2 || model.contacts.size() != 1) return {};
    const Point at{0.0, {x, 0.0}, {0.0, 0.0}};
    const Expression slope = model.contacts[0].gap.derivative({Symbol::Kind::position, 1});
    if (!slope.is_number() || slope.value(at) != 1.0) return {};
    return Vector{x, -mechanics.gap(0, at)};
}

namespace {

constexpr double held = 1e-9;  // relative residual of an equilibrium
/// The same at a sample of a line, which is no root of anything: where friction holds, only rounding is left, but next
/// to an equilibrium of U = x⁴ the force is small as well.
constexpr double held_at_sample = 1e-12;

/// Signed force of a model of one coordinate without regard to contacts and friction.
double force_at(const Mechanics& mechanics, double x) { return mechanics.force({0.0, {x}, {0.0}})[0]; }

template <class Function>
double root_between(const Function& f, double low, double high) {
    const bool rising = f(high) > 0.0;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        ((f(middle) > 0.0) == rising ? high : low) = middle;
    }
    return (low + high) / 2;
}

/// Isolated equilibria of one coordinate: zeros of the force, and closed gaps.
void add_isolated(const Mechanics& mechanics, double low, double high, std::vector<Vector>& result) {
    const auto consider = [&](const auto& f) {
        if ((f(low) > 0.0) == (f(high) > 0.0)) return;
        const double x = root_between(f, low, high);
        if (const Hold hold = hold_at(mechanics, {x}, 1e-9); hold.admissible && hold.converged && hold.residual < held)
            result.push_back({x});
    };
    consider([&](double x) { return force_at(mechanics, x); });
    for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
        consider([&](double x) { return mechanics.gap(c, {0.0, {x}, {0.0}}); });
}

void scan_line(const Mechanics& mechanics, double reach, std::vector<Vector>& result) {
    constexpr int count = 6000;
    for (int i = 0; i < count; ++i) {
        const double x = -reach + 2.0 * reach * (i + 0.37) / count, next = x + 2.0 * reach / count;
        const auto q = line_position(mechanics, x);
        if (!q) return;
        if (const Hold hold = hold_at(mechanics, *q);
            hold.admissible && hold.converged && hold.residual < held_at_sample)
            result.push_back(*q);
        if (q->size() == 1) add_isolated(mechanics, x, next, result);
    }
}

/// Newton's iteration for h(q, 0) = 0, with differences for the derivatives.
std::optional<Vector> newton(const Mechanics& mechanics, Vector q) {
    const std::size_t n = q.size();
    const auto force = [&](const Vector& at) { return mechanics.force({0.0, at, Vector(n, 0.0)}); };
    for (int i = 0; i < 40; ++i) {
        const Vector f = force(q);
        if (norm(f) < 1e-12) return q;
        Matrix slope(n, Vector(n));
        for (std::size_t k = 0; k < n; ++k) {
            constexpr double step = 1e-6;
            Vector right = q, left = q;
            right[k] += step;
            left[k] -= step;
            const Vector difference = plus(force(right), force(left), -1.0);
            for (std::size_t row = 0; row < n; ++row) slope[row][k] = difference[row] / (2.0 * step);
        }
        const Vector change = solve(slope, f);
        if (change.empty() || norm(change) > 1.0) return {};
        q = plus(q, change, -1.0);
    }
    return {};
}

void scan_plane(const Mechanics& mechanics, double reach, std::vector<Vector>& result) {
    constexpr int count = 40;
    for (int i = 0; i <= count; ++i) {
        for (int j = 0; j <= count; ++j) {
            const auto q = newton(mechanics, {-reach + 2.0 * reach * i / count, -reach + 2.0 * reach * j / count});
            if (!q || std::abs((*q)[0]) > reach || std::abs((*q)[1]) > reach) continue;
            bool known = false;
            for (const Vector& other : result) known = known || norm(plus(*q, other, -1.0)) < 1e-7;
            // A zero of the smooth forces is no equilibrium if friction slides there.
            if (const Hold hold = hold_at(mechanics, *q); !known && hold.admissible && hold.residual < 1e-7)
                result.push_back(*q);
        }
    }
}

}  // namespace

std::vector<Vector> scanned_equilibria(const Mechanics& mechanics, double reach) {
    std::vector<Vector> result;
    if (line_position(mechanics, 0.0))
        scan_line(mechanics, reach, result);
    else if (mechanics.model().size() == 2)
        scan_plane(mechanics, reach, result);
    return result;
}

}  // namespace trials
