// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_sets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/moreau/moreau_step.hpp"

namespace saltus::stability {

namespace {

/// The copy with turn 0 has its centre between first_angle and first_angle + 1 periods. The bounds are no multiples of
/// simple fractions, so that rounding of centres like −P/4 or P/2 does not change the copy.
constexpr double first_angle = -0.35;
constexpr double closed_gap = 1e-6;  ///< a contact is closed if g_N <= this times max(1, |q_i|)
constexpr int cells_along = 64;      ///< cells for each scale_ along a coordinate
constexpr int parts_between = 8;     ///< parts of the line between two places whose ends are tested
/// A position rests if the velocity after one step is at most this part of the velocity without reactions (√T).
constexpr double resting_ratio = 1e-4;
constexpr double smallest_energy = 1e-300;  ///< added to the right-hand side, so that no forces at all count as rest
/// Distances from a known set, in 1 + |q_i|: first the sharp test, then the one for time-stepping, which stops beside
/// it.
constexpr double at_set = 1e-6, near_set = 0.02;
constexpr double least_scale = 1e-3;       ///< of a coordinate, relative to 1 + its largest end value
constexpr double equal_potentials = 0.02;  ///< potentials that differ by less than this part of the largest are equal
constexpr double potential_rounding = 1e-12;  ///< added to that difference, so that it is not 0
constexpr double equal_period = 1e-12;        ///< a period this near to 2π is printed as 2*pi
/// Values of Where::set that stand for fates; larger than any index of a set.
constexpr int failed_fate = 1 << 28, inadmissible_fate = failed_fate + 1;

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
      scale_(model.coordinates.size(), 1.0),
      admitter_(model, {}) {}

std::string RestSets::closed_at(std::span<const double> q) {
    model_.system->positions(model::at(model_, 0.0, q, rest_), workspace_.scratch(), positions_);
    double size = 1.0;
    for (const double x : q) size = std::max(size, std::abs(x));
    std::string closed;
    for (const model::Contact& c : model_.contacts) closed += positions_[ix(c.row)] <= closed_gap * size ? 'c' : '-';
    return closed;
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

/// Time-stepping rests with a small penetration. The position is therefore projected out of the obstacles first.
std::optional<RestSets::Where> RestSets::in_known(std::span<const double> q) {
    if (known_ == nullptr || known_->sets.empty()) return {};
    std::vector<double> out(q.begin(), q.end()), u = rest_;
    if (admitter_.admit(out, u) == Admission::inadmissible) return {};
    std::optional<Membership> m = member(*known_, out, at_set);
    if (!m) m = member(*known_, out, near_set);
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
    places_.push_back({closed, std::vector<double>(q.begin(), q.end()), -1});
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

void RestSets::find_scale(const BasinRecord& record, std::size_t motions) {
    const std::size_t n = model_.coordinates.size();
    std::vector<double> low(n, INFINITY), high(n, -INFINITY);
    for (std::size_t k = 0; k < motions; ++k)
        if (record.fate[k] == Fate::rest)
            for (std::size_t i = 0; i < n; ++i) {
                low[i] = std::min(low[i], record.q[k * n + i]);
                high[i] = std::max(high[i], record.q[k * n + i]);
            }
    for (std::size_t i = 0; i < n; ++i) {
        scale_[i] = periods_[i] > 0.0 ? periods_[i] / 4.0 : high[i] - low[i];
        const double least = least_scale * (1.0 + std::max(std::abs(low[i]), std::abs(high[i])));
        if (!(scale_[i] > least)) scale_[i] = std::isfinite(least) ? least : 1.0;
    }
}

/// The set and the copy in which each motion ended, in where_. Captured motions end in the copy of the level set's
/// equilibrium set that is nearest to where they were captured.
void RestSets::find_sets(const BasinRecord& record, std::size_t motions) {
    const std::size_t n = model_.coordinates.size();
    where_.assign(motions, Where{});
    place_.assign(motions, -1);
    int captor_place = -1;
    if (capture_ != nullptr) {
        if (const std::optional<Where> known = in_known(capture_->q))
            captor_ = *known;
        else
            captor_place = place_of(capture_->q);
    }
    for (std::size_t k = 0; k < motions; ++k) {
        if (record.fate[k] != Fate::rest) continue;
        const std::span<const double> q(record.q.data() + k * n, n);
        if (const std::optional<Where> known = in_known(q))
            where_[k] = *known;
        else
            place_[k] = place_of(q);
    }
    number_groups(record);
    if (captor_place >= 0) captor_ = where_in_group(captor_place, capture_->q);
    for (std::size_t k = 0; k < motions; ++k) {
        const std::span<const double> q(record.q.data() + k * n, n);
        if (place_[k] >= 0) where_[k] = where_in_group(place_[k], q);
        if (record.fate[k] != Fate::captured) continue;
        where_[k] = captor_;
        for (std::size_t i = 0; i < n; ++i)
            if (periods_[i] > 0.0) where_[k].turn[i] += std::lround((q[i] - capture_->q[i]) / periods_[i]);
    }
}

/// Gives the groups their indices after the known sets, in the order of their potential energy, then of the distance
/// of their centre from zero.
void RestSets::number_groups(const BasinRecord& record) {
    const std::size_t n = model_.coordinates.size();
    std::vector<std::vector<double>> low(groups_.size()), high(groups_.size());
    std::vector<double> potential(groups_.size(), INFINITY);
    const auto include = [&](int place, std::span<const double> q) {
        const auto g = ix(places_[ix(place)].group);
        const std::vector<double>& origin = places_[ix(groups_[g].places.front())].q;
        if (low[g].empty()) low[g] = high[g] = origin;
        const std::vector<double> d = difference(origin, q);
        for (std::size_t i = 0; i < n; ++i) {
            low[g][i] = std::min(low[g][i], origin[i] + d[i]);
            high[g][i] = std::max(high[g][i], origin[i] + d[i]);
        }
        const double U = model_.system->energy(model::at(model_, 0.0, q, rest_), workspace_.scratch()).potential;
        potential[g] = std::min(potential[g], U);
    };
    for (std::size_t p = 0; p < places_.size(); ++p) include(static_cast<int>(p), places_[p].q);
    for (std::size_t k = 0; k < place_.size(); ++k)
        if (place_[k] >= 0) include(place_[k], {record.q.data() + k * n, n});
    std::vector<int> order;
    double lowest = INFINITY, span = 0.0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].places.empty()) continue;
        order.push_back(static_cast<int>(g));
        lowest = std::min(lowest, potential[g]);
        span = std::max(span, std::abs(potential[g]));
        groups_[g].centre.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            double middle = 0.5 * (low[g][i] + high[g][i]);
            if (periods_[i] > 0.0) middle -= periods_[i] * std::floor(middle / periods_[i] - first_angle);
            groups_[g].centre[i] = middle;
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
    int next = known_ != nullptr ? static_cast<int>(known_->sets.size()) : 0;
    for (const int g : order) groups_[ix(g)].set = next++;
    ends_.assign(ix(next), {});
    for (const int g : order) ends_[ix(groups_[ix(g)].set)].closed = groups_[ix(g)].closed;
}

RestSets::Where RestSets::where_in_group(int place, std::span<const double> q) const {
    const Group& group = groups_[ix(places_[ix(place)].group)];
    Where w{group.set, std::vector<long>(q.size(), 0)};
    for (std::size_t i = 0; i < q.size(); ++i)
        if (periods_[i] > 0.0) w.turn[i] = std::lround((q[i] - group.centre[i]) / periods_[i]);
    return w;
}

void RestSets::add_end(const Where& where, std::span<const double> q) {
    Ends& s = ends_[ix(where.set)];
    const double U = model_.system->energy(model::at(model_, 0.0, q, rest_), workspace_.scratch()).potential;
    const bool first = s.low.empty();
    s.potential = first ? U : std::min(s.potential, U);
    if (first) s.low.assign(q.size(), INFINITY), s.high.assign(q.size(), -INFINITY);
    for (std::size_t i = 0; i < q.size(); ++i) {
        const double x = q[i] - periods_[i] * static_cast<double>(where.turn[i]);
        s.low[i] = std::min(s.low[i], x);
        s.high[i] = std::max(s.high[i], x);
    }
    ++s.motions;
}

/// Fills in Basin::sets: all known sets, then those that only motions showed.
void RestSets::describe(Basin& out) const {
    out.sets.clear();
    const std::size_t known = known_ != nullptr ? known_->sets.size() : 0;
    for (std::size_t k = 0; k < ends_.size(); ++k) {
        RestSet set;
        set.known = k < known;
        set.name = set.known ? Equilibria::label(k) : "R" + std::to_string(k - known + 1);
        for (std::size_t c = 0; c < model_.contacts.size(); ++c)
            if (set.known ? known_->sets[k].closed[c] != 0 : ends_[k].closed[c] == 'c')
                set.closed.push_back(model_.contacts[c].name);
        set.low = ends_[k].low;
        set.high = ends_[k].high;
        if (set.known) {
            const EquilibriumSet& e = known_->sets[k];
            set.lower.assign(e.lower.data(), e.lower.data() + e.lower.size());
            set.upper.assign(e.upper.data(), e.upper.data() + e.upper.size());
        }
        set.potential = set.known ? known_->sets[k].potential_least : ends_[k].potential;
        set.motions = ends_[k].motions;
        out.sets.push_back(std::move(set));
    }
}

/// The name of a set with its turn, for example "E1, phi +1*2*pi".
std::string RestSets::text_of(const Where& where, const std::string& name) const {
    std::string text = name;
    for (std::size_t i = 0; i < where.turn.size(); ++i) {
        if (where.turn[i] == 0) continue;
        const std::string period =
            std::abs(periods_[i] - 2.0 * std::numbers::pi) < equal_period ? "2*pi" : number_text(periods_[i]);
        text += ", " + model_.coordinates[i] + (where.turn[i] > 0 ? " +" : " ") + std::to_string(where.turn[i]) + "*" +
                period;
    }
    return text;
}

void RestSets::label(const BasinRecord& record, std::size_t motions, std::size_t base, Basin& out) {
    const std::size_t n = model_.coordinates.size();
    places_.clear();
    groups_.clear();
    cells_.clear();
    find_scale(record, motions);
    find_sets(record, motions);
    for (std::size_t k = 0; k < motions; ++k)
        if (record.fate[k] == Fate::rest) add_end(where_[k], {record.q.data() + k * n, n});
    describe(out);

    // The order of Where is the order of the labels: undecided (set −1), the sets with their turns, other fates.
    const Where undecided{}, failed{failed_fate, {}}, inadmissible{inadmissible_fate, {}};
    std::map<Where, int> numbers{{undecided, 0}};
    if (capture_ != nullptr) numbers[captor_] = 0;
    for (std::size_t k = 0; k < motions; ++k) {
        if (record.fate[k] == Fate::failed) where_[k] = failed;
        if (record.fate[k] == Fate::inadmissible) where_[k] = inadmissible;
        numbers[where_[k]] = 0;
    }
    int next = 0;
    out.labels.clear();
    for (auto& [where, number] : numbers) {
        number = next++;
        BasinLabel l;
        l.set = where.set < failed.set ? where.set : -1;
        l.turn = where.turn;
        l.text = where == undecided      ? "undecided"
                 : where == failed       ? "failed"
                 : where == inadmissible ? "inadmissible"
                                         : text_of(where, out.sets[ix(l.set)].name);
        out.labels.push_back(std::move(l));
    }
    out.captor = capture_ != nullptr ? numbers[captor_] : 0;
    out.label.resize(motions);
    for (std::size_t k = 0; k < motions; ++k) {
        out.label[k] = numbers[where_[k]];
        if (k < base) ++out.labels[ix(out.label[k])].count;
    }
}

}  // namespace saltus::stability
