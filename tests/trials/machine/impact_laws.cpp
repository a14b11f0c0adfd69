// SPDX-License-Identifier: Apache-2.0
#include "machine/impact_laws.hpp"

#include <algorithm>
#include <cmath>

namespace trials {

namespace {

/// Rows w of the contacts that collide, M⁻¹w, and D = WᵀM⁻¹W.
struct Rows {
    std::vector<Vector> w, response;
    Matrix d;

    void add(const Matrix& mass, const Vector& row) {
        w.push_back(row);
        response.push_back(solve(mass, row));
    }
    void finish() {
        for (const Vector& row : w) {
            d.emplace_back();
            for (const Vector& r : response) d.back().push_back(dot(row, r));
        }
    }
};

Vector velocities(const Vector& u, const Rows& rows, const Vector& impulses) {
    Vector result = u;
    for (std::size_t i = 0; i < impulses.size(); ++i) result = plus(result, rows.response[i], impulses[i]);
    return result;
}

/// 0 <= D x + b ⊥ x >= 0 by all active sets; empty if none fits.
Vector complementary(const Matrix& d, const Vector& b) {
    const std::size_t n = b.size();
    double size = 1e-12;
    for (const double x : b) size = std::max(size, std::abs(x));
    for (std::size_t set = 0; set < (std::size_t{1} << n); ++set) {
        std::vector<std::size_t> active;
        for (std::size_t i = 0; i < n; ++i)
            if ((set >> i & 1U) != 0) active.push_back(i);
        Matrix a(active.size(), Vector(active.size()));
        Vector right;
        for (std::size_t i = 0; i < active.size(); ++i) {
            for (std::size_t j = 0; j < active.size(); ++j) a[i][j] = d[active[i]][active[j]];
            right.push_back(-b[active[i]]);
        }
        const Vector part = active.empty() ? Vector{} : solve(a, right);
        if (part.size() != active.size()) continue;
        Vector x(n, 0.0);
        for (std::size_t i = 0; i < active.size(); ++i) x[active[i]] = part[i];
        bool fits = true;
        for (std::size_t i = 0; i < n; ++i)
            fits = fits && x[i] >= -1e-12 * size && dot(d[i], x) + b[i] >= -1e-12 * size;
        if (fits) return x;
    }
    return {};
}

/// One contact with planar friction: x = (normal, tangential) impulse with 0 <= γ_N + shift ⊥ x_N >= least and friction
/// μ x_N against γ_T, γ = D x + b. The cases are stick and slip to either side.
Vector rough(const Matrix& d, const Vector& b, double mu, double least) {
    const auto fits = [&](const Vector& x) {
        const double size = 1e-10 * (1.0 + std::abs(b[0]) + std::abs(b[1]) + std::abs(x[0]));
        const double gn = dot(d[0], x) + b[0], gt = dot(d[1], x) + b[1];
        return x[0] >= least - size && gn >= -size && (std::abs(gn) <= size || std::abs(x[0] - least) <= size) &&
               std::abs(x[1]) <= mu * x[0] + size &&
               (std::abs(gt) <= size || std::abs(x[1] + std::copysign(mu * x[0], gt)) <= size);
    };
    // The normal condition is an equation for γ_N = 0, or x_N = least; then stick, or slip to either side.
    for (const bool closed : {false, true}) {
        for (const int slip : {0, 1, -1}) {
            Matrix a;
            Vector right;
            a.push_back(closed ? d[0] : Vector{1.0, 0.0});
            right.push_back(closed ? -b[0] : least);
            a.push_back(slip == 0 ? d[1] : Vector{slip * mu, 1.0});
            right.push_back(slip == 0 ? -b[1] : 0.0);
            const Vector x = solve(a, right);
            if (x.size() == 2 && fits(x)) return x;
        }
    }
    return {};
}

std::optional<Vector> poisson(const Vector& u, const Rows& rows, const Vector& gamma, const Vector& e) {
    const Vector compression = complementary(rows.d, gamma);
    if (compression.size() != gamma.size()) return {};
    // Expansion: Λ = e Λ_C + x with 0 <= γ⁺ ⊥ x >= 0.
    Vector least = compression, after = gamma;
    for (std::size_t i = 0; i < e.size(); ++i) least[i] *= e[i];
    for (std::size_t i = 0; i < e.size(); ++i) after[i] += dot(rows.d[i], compression) + dot(rows.d[i], least);
    const Vector more = complementary(rows.d, after);
    if (more.size() != gamma.size()) return {};
    return velocities(u, rows, plus(plus(compression, least), more));
}

std::optional<Vector> rough_poisson(const Vector& u, const Rows& rows, const Vector& gamma, double e, double mu) {
    const Vector compression = rough(rows.d, gamma, mu, 0.0);
    if (compression.empty()) return {};
    const Vector between = plus(gamma, times(rows.d, compression));
    const Vector expansion = rough(rows.d, between, mu, e * compression[0]);
    if (expansion.empty()) return {};
    return velocities(u, rows, plus(compression, expansion));
}

/// T⁺ = e² T⁻ along the impulse of the inelastic collision: u⁺ = u + s r, the larger root s of a quadratic equation.
std::optional<Vector> energy(const Matrix& mass, const Vector& u, const Rows& rows, const Vector& gamma, double e) {
    const Vector inelastic = complementary(rows.d, gamma);
    if (inelastic.size() != gamma.size()) return {};
    const Vector r = plus(velocities(u, rows, inelastic), u, -1.0), mr = times(mass, r);
    const double a = dot(r, mr), b = dot(u, mr), c = (1.0 - e * e) * dot(u, times(mass, u));
    const double under = b * b - a * c;
    if (a <= 0.0 || under < 1e-9 * b * b) return {};
    return plus(u, r, (-b + std::sqrt(under)) / a);
}

}  // namespace

std::optional<Vector> velocities_after(const Mechanics& mechanics, const Point& before,
                                       const std::vector<std::size_t>& closed) {
    const auto& contacts = mechanics.model().contacts;
    constexpr std::size_t most = 5;
    if (closed.empty() || closed.size() > most) return {};
    const Matrix mass = mechanics.mass(before);
    Rows rows;
    Vector gamma, e;
    double product = 1.0;
    for (const std::size_t c : closed) {
        rows.add(mass, mechanics.gap_gradient(c, before));
        gamma.push_back(mechanics.gap_rate(c, before));
        e.push_back(contacts[c].loss > 0.0 ? std::max(0.0, 1.0 + contacts[c].loss * gamma.back()) : contacts[c].e_n);
        if (gamma.back() < 0.0) product *= e.back();
    }
    const Contact& first = contacts[closed[0]];
    const bool friction =
        std::ranges::any_of(closed, [&](std::size_t c) { return contacts[c].friction.directions() > 0; });
    if (std::ranges::any_of(closed, [&](std::size_t c) { return contacts[c].impact != first.impact; })) return {};
    if (friction) {
        if (closed.size() > 1 || first.impact != "poisson" || first.friction.kind != FrictionLaw::Kind::planar ||
            first.e_t != 0.0)
            return {};
        rows.add(mass, mechanics.slip_gradients(closed[0], before)[0]);
        gamma.push_back(mechanics.slip(closed[0], before)[0]);
        rows.finish();
        return rough_poisson(before.u, rows, gamma, e[0], first.friction.mu[0]);
    }
    rows.finish();
    if (first.impact == "poisson") return poisson(before.u, rows, gamma, e);
    if (first.impact == "energy") return energy(mass, before.u, rows, gamma, product);
    return {};
}

}  // namespace trials
