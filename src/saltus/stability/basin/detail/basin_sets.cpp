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

constexpr double first_angle = -0.35;  // of a period: centres of turn 0 lie within one from here
constexpr double closed_gap = 1e-6;    // of the size of the position
constexpr int cells_along = 64;        // of the ends' extent, along each coordinate
constexpr int steps_between = 8;       // looks on the way from one place to another
constexpr double still = 1e-4;         // acceleration of what rests, of that without reactions
constexpr double at_set = 1e-6;        // distance from a known set that counts as in it
constexpr double near_set = 0.02;      // the same for rest that time-stepping left beside it

}  // namespace

RestSets::RestSets(const model::Model& model, double h, std::vector<double> periods, const Equilibria* known,
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

/// From one position to another, the short way round.
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

/// Whether a step from there with velocity zero goes nowhere.
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
    return kinetic(next.u) <= still * still * kinetic(free) + 1e-300;
}

bool RestSets::connected(std::span<const double> from, std::span<const double> to) {
    const std::vector<double> d = difference(from, to);
    std::vector<double> q(from.size());
    for (int k = 1; k < steps_between; ++k) {
        for (std::size_t i = 0; i < q.size(); ++i) q[i] = from[i] + d[i] * k / steps_between;
        if (!rests(q)) return false;
    }
    return true;
}

/// Time-stepping rests a little inside its obstacles: what counts is the position pushed out of them.
bool RestSets::in_known(std::span<const double> q, Where& where) {
    if (known_ == nullptr || known_->sets.empty()) return false;
    std::vector<double> out(q.begin(), q.end()), u = rest_;
    if (admitter_.admit(out, u) == Admission::inadmissible) return false;
    std::optional<Membership> m = member(*known_, out, at_set);
    if (!m) m = member(*known_, out, near_set);
    if (!m) return false;
    where.set = m->set;
    where.turn.assign(m->turns.begin(), m->turns.end());
    return true;
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

/// The place of the cell that q lies in; a new one where nothing was before.
int RestSets::place_of(std::span<const double> q) {
    const std::string closed = closed_at(q), cell = cell_of(q, closed);
    const auto found = std::lower_bound(cells_.begin(), cells_.end(), cell,
                                        [](const auto& a, const std::string& b) { return a.first < b; });
    if (found != cells_.end() && found->first == cell) return found->second;
    const int place = static_cast<int>(places_.size());
    cells_.insert(found, {cell, place});
    places_.push_back({closed, std::vector<double>(q.begin(), q.end()), -1});
    settle(place);
    return place;
}

/// Tries the nearest place of each group; what connects two groups makes them one.
void RestSets::settle(int place) {
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
        const double least = 1e-3 * (1.0 + std::max(std::abs(low[i]), std::abs(high[i])));
        if (!(scale_[i] > least)) scale_[i] = std::isfinite(least) ? least : 1.0;
    }
}

/// Known sets, or places.
void RestSets::find_places(const BasinRecord& record, std::size_t motions) {
    const std::size_t n = model_.coordinates.size();
    where_.assign(motions, Where{});
    place_.assign(motions, -1);
    int captor_place = -1;
    if (capture_ != nullptr && !in_known(capture_->q, captor_)) captor_place = place_of(capture_->q);
    for (std::size_t k = 0; k < motions; ++k) {
        const std::span<const double> q(record.q.data() + k * n, n);
        if (record.fate[k] == Fate::rest && !in_known(q, where_[k])) place_[k] = place_of(q);
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

/// Groups after the known sets, by potential energy, then by how far their position is from zero.
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
        return std::pair(std::lround((potential[ix(g)] - lowest) / (1e-12 + 0.02 * span)), size);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    int next = known_ != nullptr ? static_cast<int>(known_->sets.size()) : 0;
    for (const int g : order) groups_[ix(g)].set = next++;
    seen_.assign(ix(next), {});
    for (const int g : order) seen_[ix(groups_[ix(g)].set)].closed = groups_[ix(g)].closed;
}

RestSets::Where RestSets::where_in_group(int place, std::span<const double> q) const {
    const Group& group = groups_[ix(places_[ix(place)].group)];
    Where w{group.set, std::vector<long>(q.size(), 0)};
    for (std::size_t i = 0; i < q.size(); ++i)
        if (periods_[i] > 0.0) w.turn[i] = std::lround((q[i] - group.centre[i]) / periods_[i]);
    return w;
}

void RestSets::see(const Where& where, std::span<const double> q) {
    Seen& s = seen_[ix(where.set)];
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

/// All known sets, then those that were found by motions alone.
void RestSets::describe(Basin& out) const {
    out.sets.clear();
    const std::size_t known = known_ != nullptr ? known_->sets.size() : 0;
    for (std::size_t k = 0; k < seen_.size(); ++k) {
        RestSet set;
        set.known = k < known;
        set.name = set.known ? Equilibria::label(k) : "R" + std::to_string(k - known + 1);
        for (std::size_t c = 0; c < model_.contacts.size(); ++c)
            if (set.known ? known_->sets[k].closed[c] != 0 : seen_[k].closed[c] == 'c')
                set.closed.push_back(model_.contacts[c].name);
        set.low = seen_[k].low;
        set.high = seen_[k].high;
        if (set.known) {
            const EquilibriumSet& e = known_->sets[k];
            set.lower.assign(e.lower.data(), e.lower.data() + e.lower.size());
            set.upper.assign(e.upper.data(), e.upper.data() + e.upper.size());
        }
        set.potential = set.known ? known_->sets[k].potential_least : seen_[k].potential;
        set.motions = seen_[k].motions;
        out.sets.push_back(std::move(set));
    }
}

void RestSets::label(const BasinRecord& record, std::size_t motions, std::size_t base, Basin& out) {
    const std::size_t n = model_.coordinates.size();
    places_.clear();
    groups_.clear();
    cells_.clear();
    find_scale(record, motions);
    find_places(record, motions);
    for (std::size_t k = 0; k < motions; ++k)
        if (record.fate[k] == Fate::rest) see(where_[k], {record.q.data() + k * n, n});
    describe(out);

    // Labels: undecided, then sets with their turns, then what else happened.
    const Where undecided{}, failed{1 << 28, {}}, inadmissible{(1 << 28) + 1, {}};
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
                                         : out.sets[ix(l.set)].name;
        for (std::size_t i = 0; i < l.turn.size(); ++i) {
            if (l.turn[i] == 0) continue;
            const std::string size =
                std::abs(periods_[i] - 2.0 * std::numbers::pi) < 1e-12 ? "2*pi" : number_text(periods_[i]);
            l.text +=
                ", " + model_.coordinates[i] + (l.turn[i] > 0 ? " +" : " ") + std::to_string(l.turn[i]) + "*" + size;
        }
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
