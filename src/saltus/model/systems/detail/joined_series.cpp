// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/joined_series.hpp"

#include <algorithm>

#include "saltus/base/index.hpp"

namespace saltus::model {

JoinedSeries::JoinedSeries(Parts parts, const Layout& layout, const std::array<Places, 2>& places)
    : part_(std::move(parts)), places_(places) {
    // The caller writes q and u of all coordinates to the rows of the second part. The rows of the first part get
    // copies.
    q = part_[1]->q;
    u = part_[1]->u;
    for (std::size_t i = 0; i < q.size(); ++i) {
        if (part_[0]->q[i] == nullptr) continue;
        copies_.push_back({q[i], part_[0]->q[i]});
        copies_.push_back({u[i], part_[0]->u[i]});
    }
    for (std::size_t i = 0; i < q.size(); ++i) h.push_back(sum(part_[0]->h[i], part_[1]->h[i]));
    damping = sum(part_[0]->damping, part_[1]->damping);
    applied = sum(part_[0]->applied, part_[1]->applied);
    mass_constant = part_[0]->mass_constant && part_[1]->mass_constant;
    M.assign(layout.mass.size(), nullptr);
    positions.assign(ix(layout.positions()), nullptr);
    chi.assign(ix(layout.row_count()), nullptr);
    zeta.assign(ix(layout.row_count()), nullptr);
    W.assign(layout.rows.size(), nullptr);
    W_constant.assign(layout.rows.size(), 1);
    coefficients = part_[0]->coefficients;
    coefficient_constant = part_[0]->coefficient_constant;
    for (std::size_t part = 0; part < 2; ++part) {
        const SeriesEquations& from = *part_[part];
        const Places& place = places_[part];
        for (std::size_t e = 0; e < from.M.size(); ++e) {
            Row& to = M[ix(place.mass[e])];
            to = sum(to, from.M[e]);
        }
        for (std::size_t r = 0; r < from.chi.size(); ++r) {
            if (r < from.positions.size()) positions[ix(place.rows[r])] = from.positions[r];
            chi[ix(place.rows[r])] = from.chi[r];
            zeta[ix(place.rows[r])] = from.zeta[r];
        }
        for (std::size_t e = 0; e < from.W.size(); ++e) {
            W[ix(place.entries[e])] = from.W[e];
            W_constant[ix(place.entries[e])] = from.W_constant[e];
        }
    }
}

double* JoinedSeries::new_row() {
    storage_.push_back(std::make_unique<double[]>(max_order + 1));
    return storage_.back().get();
}

/// The sum of two series; each of them may be null.
SeriesEquations::Row JoinedSeries::sum(Row a, Row b) {
    if (a == nullptr) return b;
    if (b == nullptr) return a;
    sums_.push_back({new_row(), a, b});
    return sums_.back().to;
}

void JoinedSeries::begin(double t0) {
    for (const auto& part : part_) part->begin(t0);
}

void JoinedSeries::evaluate_order(int k) {
    // Order k of q and u is known. It must reach the first part before that part is evaluated.
    for (const Copy& c : copies_) c.to[k] = c.from[k];
    for (const auto& part : part_) part->evaluate_order(k);
    for (const Sum& s : sums_) s.to[k] = s.a[k] + s.b[k];
}

void JoinedSeries::clear_sides() {
    for (const auto& part : part_) part->clear_sides();
}

const SeriesEquations::Radii& JoinedSeries::bounds(double R, std::span<const double> q_radius,
                                                   std::span<const double> u_radius) {
    if (radii_.h.empty()) set_sizes(radii_);
    radii_.M.assign(M.size(), 0.0);
    radii_.h.assign(h.size(), 0.0);
    radii_.damping = radii_.applied = 0.0;
    for (std::size_t part = 0; part < 2; ++part) scatter(part_[part]->bounds(R, q_radius, u_radius), part);
    return radii_;
}

/// Adds the radii of a part at its places. Terms that both parts have (M, h, powers) are sums of series, and the radius
/// of a sum is at most the sum of the radii. All other terms belong to one part.
void JoinedSeries::scatter(const Radii& from, std::size_t part) {
    const Places& place = places_[part];
    for (std::size_t e = 0; e < from.M.size(); ++e) radii_.M[ix(place.mass[e])] += from.M[e];
    for (std::size_t i = 0; i < from.h.size(); ++i) radii_.h[i] += from.h[i];
    for (std::size_t r = 0; r < from.chi.size(); ++r) {
        if (r < from.positions.size()) radii_.positions[ix(place.rows[r])] = from.positions[r];
        radii_.chi[ix(place.rows[r])] = from.chi[r];
        radii_.zeta[ix(place.rows[r])] = from.zeta[r];
    }
    for (std::size_t e = 0; e < from.W.size(); ++e) radii_.W[ix(place.entries[e])] = from.W[e];
    if (part == 0) radii_.coefficients = from.coefficients;
    std::copy(from.switches.begin(), from.switches.end(),
              radii_.switches.begin() + (part == 0 ? 0 : part_[0]->switch_count()));
    radii_.damping += from.damping;
    radii_.applied += from.applied;
}

}  // namespace saltus::model
