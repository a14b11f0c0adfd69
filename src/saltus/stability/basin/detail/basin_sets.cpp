// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_sets.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"

namespace saltus::stability {

namespace {

/// The copy with turn 0 has its centre between first_angle and first_angle + 1 periods. The bounds are no multiples of
/// simple fractions, so that rounding of centres like −P/4 or P/2 does not change the copy.
constexpr double first_angle = -0.35;
constexpr int cells_along = 64;   ///< cells for each scale_ along a coordinate
constexpr int parts_between = 8;  ///< parts of the line between two places whose ends are tested
/// A position rests if the velocity after one step is at most this part of the velocity without reactions (√T).
constexpr double resting_ratio = 1e-4;
constexpr double smallest_energy = 1e-300;  ///< added to the right-hand side, so that no forces at all count as rest
/// Distances from a known set, in 1 + |q_i|: first the sharp test, then the one for time-stepping, which stops beside
/// it.
constexpr double at_set = 1e-6, near_set = 0.02;
constexpr double least_scale = 1e-3;       ///< of a coordinate, relative to 1 + its largest end value
constexpr double equal_potentials = 0.02;  ///< potentials that differ by less than this part of the largest are equal
constexpr double potential_rounding = 1e-12;  ///< added to that difference, so that it is not 0

}  // namespace

RestSets::RestSets(const model::Mechanics& model, double h, std::vector<double> periods, const Equilibria* known,
                   const CaptureSet* capture)
    : model_(model),
      h_(h),
      periods_(std::move(periods)),
      known_(known),
      capture_(capture),
      workspace_(model),
      positions_(ix(model.layout().positions())),
      rest_(model.coordinates.size(), 0.0),
      low_(model.coordinates.size(), INFINITY),
      high_(model.coordinates.size(), -INFINITY),
      scale_(model.coordinates.size(), 1.0),
      admitter_(model, {}),
      in_known_(model, known) {}

std::string RestSets::closed_at(std::span<const double> q) {
    model_.system->positions(model::at(model_, 0.0, q, rest_), workspace_.scratch(), positions_);
    const double distance = closed_distance(q);
    std::string closed;
    for (const model::Contact& c : model_.contacts) closed += positions_[ix(c.row)] <= distance ? 'c' : '-';
    return closed;
}

double RestSets::potential_at(std::span<const double> q) {
    return model_.system->energy(model::at(model_, 0.0, q, rest_), workspace_.scratch()).potential;
}

std::vector<double> RestSets::difference(std::span<const double> from, std::span<const double> to) const {
    std::vector<double> d(from.size());
    for (std::size_t i = 0; i < d.size(); ++i) {
        d[i] = to[i] - from[i];
        if (periods_[i] > 0.0) d[i] -= periods_[i] * std::round(d[i] / periods_[i]);
    }
    return d;
}

double RestSets::distance(std::span<const double> from, std::span<const double> to) const {
    double largest = 0.0;
    const std::vector<double> d = difference(from, to);
    for (std::size_t i = 0; i < d.size(); ++i) largest = std::max(largest, std::abs(d[i]) / scale_[i]);
    return largest;
}

/// One step of Moreau's method from (q, 0) gives u⁺ with the reactions that the laws allow; without them the step would
/// give h M⁻¹h. At rest the reactions cancel the forces: T(u⁺) <= resting_ratio² T(h M⁻¹h).
bool RestSets::rests(std::span<const double> q) {
    integrate::Moreau method;
    method.h = h_;
    integrate::moreau::Stepper stepper(model_, method);
    integrate::moreau::Point at, next;
    at.q.assign(q.begin(), q.end());
    at.u = rest_;
    if (admitter_.admit(at.q, at.u) == Admission::inadmissible) return false;
    stepper.begin(at);
    next = at;
    if (!stepper.step(at, h_, next)) return false;
    model::Terms terms(model_.layout());
    model::evaluate(model_, workspace_, 0.0, at.q, rest_, terms);
    model::MassFactor mass(model_.layout().mass);
    if (!mass.factorise(terms.M)) return false;
    std::vector<double> free(terms.h.begin(), terms.h.end());
    mass.solve(free);
    for (double& a : free) a *= h_;
    const auto kinetic = [&](const std::vector<double>& u) {
        return model_.system->energy(model::at(model_, 0.0, at.q, u), workspace_.scratch()).kinetic;
    };
    return kinetic(next.u) <= resting_ratio * resting_ratio * kinetic(free) + smallest_energy;
}

bool RestSets::connected(std::span<const double> from, std::span<const double> to) {
    const std::vector<double> d = difference(from, to);
    std::vector<double> q(from.size());
    for (int k = 1; k < parts_between; ++k) {
        for (std::size_t i = 0; i < q.size(); ++i) q[i] = from[i] + d[i] * k / parts_between;
        if (!rests(q)) return false;
    }
    return true;
}

KnownSets::KnownSets(const model::Mechanics& model, const Equilibria* known) : known_(known), admitter_(model, {}) {}

/// Time-stepping rests with a small penetration. The position is therefore projected out of the obstacles first.
std::optional<Where> KnownSets::operator()(std::span<const double> q) {
    if (known_ == nullptr || known_->sets.empty()) return {};
    q_.assign(q.begin(), q.end());
    u_.assign(q.size(), 0.0);
    if (admitter_.admit(q_, u_) == Admission::inadmissible) return {};
    std::optional<Membership> m = member(*known_, q_, at_set);
    if (!m) m = member(*known_, q_, near_set);
    if (!m) return {};
    return Where{m->set, std::vector<long>(m->turns.begin(), m->turns.end())};
}

std::string RestSets::cell_of(std::span<const double> q, const std::string& closed) const {
    std::string cell = closed;
    for (std::size_t i = 0; i < q.size(); ++i) {
        double x = q[i];
        if (periods_[i] > 0.0) x -= periods_[i] * std::floor(x / periods_[i]);
        cell += '|' + std::to_string(std::lround(x / scale_[i] * cells_along));
    }
    return cell;
}

int RestSets::place_of(std::span<const double> q) {
    const std::string closed = closed_at(q), cell = cell_of(q, closed);
    const auto found = std::lower_bound(cells_.begin(), cells_.end(), cell,
                                        [](const auto& a, const std::string& b) { return a.first < b; });
    if (found != cells_.end() && found->first == cell) return found->second;
    const int place = static_cast<int>(places_.size());
    cells_.insert(found, {cell, place});
    places_.push_back({closed, std::vector<double>(q.begin(), q.end()), -1, std::vector<double>(q.size(), 0.0),
                       std::vector<double>(q.size(), 0.0), potential_at(q)});
    assign_group(place);
    return place;
}

/// Adds a place to the group to whose nearest place it is connected, or begins a new group. A place that is connected
/// to several groups joins them.
void RestSets::assign_group(int place) {
    Place& p = places_[ix(place)];
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        if (group.places.empty() || group.closed != p.closed || static_cast<int>(g) == p.group) continue;
        const int near = *std::min_element(group.places.begin(), group.places.end(), [&](int a, int b) {
            return distance(places_[ix(a)].q, p.q) < distance(places_[ix(b)].q, p.q);
        });
        if (!connected(places_[ix(near)].q, p.q)) continue;
        if (p.group < 0) {
            p.group = static_cast<int>(g);
            group.places.push_back(place);
        } else {
            join(p.group, static_cast<int>(g));
        }
    }
    if (p.group >= 0) return;
    p.group = static_cast<int>(groups_.size());
    groups_.push_back({p.closed, {place}, -1, {}});
}

void RestSets::join(int into, int from) {
    for (const int place : groups_[ix(from)].places) {
        places_[ix(place)].group = into;
        groups_[ix(into)].places.push_back(place);
    }
    groups_[ix(from)].places.clear();
}

void RestSets::measure(const BasinMotion& m) {
    if (m.fate != Fate::rest) return;
    for (std::size_t i = 0; i < m.q.size(); ++i) {
        low_[i] = std::min(low_[i], m.q[i]);
        high_[i] = std::max(high_[i], m.q[i]);
    }
}

void RestSets::set_scale() {
    if (std::exchange(scaled_, true)) return;
    for (std::size_t i = 0; i < scale_.size(); ++i) {
        scale_[i] = periods_[i] > 0.0 ? periods_[i] / 4.0 : high_[i] - low_[i];
        const double least = least_scale * (1.0 + std::max(std::abs(low_[i]), std::abs(high_[i])));
        if (!(scale_[i] > least)) scale_[i] = std::isfinite(least) ? least : 1.0;
    }
    if (capture_ == nullptr) return;
    if (const std::optional<Where> known = in_known_(capture_->q))
        captor_ = *known;
    else
        captor_place_ = place_of(capture_->q);
}

/// A place has its number, a copy of a known set the complement of its own.
int RestSets::collect(const BasinMotion& m) {
    set_scale();
    if (m.fate != Fate::rest) return 0;
    return collect(m.q, in_known_(m.q));
}

int RestSets::collect(std::span<const double> q, const std::optional<Where>& known) {
    set_scale();
    if (known) {
        // Neighbours often end in the same set.
        if (last_known_ >= 0 && known_list_[ix(last_known_)] == *known) return ~last_known_;
        const auto [entry, fresh] = known_where_.emplace(*known, static_cast<int>(known_list_.size()));
        if (fresh) known_list_.push_back(*known);
        last_known_ = entry->second;
        return ~entry->second;
    }
    const int place = place_of(q);
    Place& p = places_[ix(place)];
    const std::vector<double> d = difference(p.q, q);
    for (std::size_t i = 0; i < d.size(); ++i) {
        p.low[i] = std::min(p.low[i], d[i]);
        p.high[i] = std::max(p.high[i], d[i]);
    }
    p.potential = std::min(p.potential, potential_at(q));
    return place;
}

/// Gives the groups their indices after the known sets, in the order of their potential energy, then of the distance
/// of their centre from zero.
void RestSets::number_groups() {
    set_scale();
    const std::size_t n = model_.coordinates.size();
    std::vector<int> order;
    std::vector<double> potential(groups_.size(), INFINITY);
    double lowest = INFINITY, span = 0.0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        if (group.places.empty()) continue;
        order.push_back(static_cast<int>(g));
        const std::vector<double>& origin = places_[ix(group.places.front())].q;
        std::vector<double> low = origin, high = origin;
        for (const int number : group.places) {
            const Place& p = places_[ix(number)];
            const std::vector<double> d = difference(origin, p.q);
            for (std::size_t i = 0; i < n; ++i) {
                low[i] = std::min(low[i], origin[i] + d[i] + p.low[i]);
                high[i] = std::max(high[i], origin[i] + d[i] + p.high[i]);
            }
            potential[g] = std::min(potential[g], p.potential);
        }
        lowest = std::min(lowest, potential[g]);
        span = std::max(span, std::abs(potential[g]));
        group.centre.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            double middle = 0.5 * (low[i] + high[i]);
            if (periods_[i] > 0.0) middle -= periods_[i] * std::floor(middle / periods_[i] - first_angle);
            group.centre[i] = middle;
        }
    }
    const auto key = [&](int g) {
        double size = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            size = std::max(size, std::abs(groups_[ix(g)].centre[i]) / (1.0 + scale_[i]));
        return std::pair(std::lround((potential[ix(g)] - lowest) / (potential_rounding + equal_potentials * span)),
                         size);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    int next = static_cast<int>(known_sets());
    for (const int g : order) groups_[ix(g)].set = next++;
    ends_.assign(ix(next), {});
    for (const int g : order) ends_[ix(groups_[ix(g)].set)].closed = groups_[ix(g)].closed;
    if (captor_place_ >= 0) captor_ = where_in_group(captor_place_, capture_->q);
}

/// Captured motions end in the copy of the level set's equilibrium set that is nearest to where they were captured.
Where RestSets::where(const BasinMotion& m, int collected) {
    if (m.fate == Fate::captured) {
        Where w = captor_;
        for (std::size_t i = 0; i < m.q.size(); ++i)
            if (periods_[i] > 0.0) w.turn[i] += std::lround((m.q[i] - capture_->q[i]) / periods_[i]);
        return w;
    }
    Where w = collected < 0 ? known_list_[ix(~collected)] : where_in_group(collected, m.q);
    add_end(w, m.q);
    return w;
}

Where RestSets::where_in_group(int place, std::span<const double> q) const {
    const Group& group = groups_[ix(places_[ix(place)].group)];
    Where w{group.set, std::vector<long>(q.size(), 0)};
    for (std::size_t i = 0; i < q.size(); ++i)
        if (periods_[i] > 0.0) w.turn[i] = std::lround((q[i] - group.centre[i]) / periods_[i]);
    return w;
}

void RestSets::add_end(const Where& where, std::span<const double> q) {
    Ends& s = ends_[ix(where.set)];
    const bool first = s.low.empty();
    if (ix(where.set) >= known_sets()) {  // the least potential of a known set is known
        const double U = potential_at(q);
        s.potential = first ? U : std::min(s.potential, U);
    }
    if (first) s.low.assign(q.size(), INFINITY), s.high.assign(q.size(), -INFINITY);
    for (std::size_t i = 0; i < q.size(); ++i) {
        const double x = q[i] - periods_[i] * static_cast<double>(where.turn[i]);
        s.low[i] = std::min(s.low[i], x);
        s.high[i] = std::max(s.high[i], x);
    }
    ++s.motions;
}

RestSet RestSets::describe(std::size_t set) const {
    RestSet out;
    const bool known = set < known_sets();
    for (std::size_t c = 0; c < model_.contacts.size(); ++c)
        if (known ? known_->sets[set].closed[c] != 0 : ends_[set].closed[c] == 'c')
            out.closed.push_back(model_.contacts[c].name);
    out.low = ends_[set].low;
    out.high = ends_[set].high;
    if (known) {
        const EquilibriumSet& e = known_->sets[set];
        out.lower.assign(e.lower.data(), e.lower.data() + e.lower.size());
        out.upper.assign(e.upper.data(), e.upper.data() + e.upper.size());
    }
    out.potential = known ? known_->sets[set].potential_least : ends_[set].potential;
    out.motions = ends_[set].motions;
    return out;
}

}  // namespace saltus::stability
