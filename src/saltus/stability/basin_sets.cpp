// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <numeric>

#include "saltus/base/text.hpp"
#include "saltus/integrate/moreau_step.hpp"

namespace saltus::stability {

namespace {

constexpr double period = 2.0 * std::numbers::pi;
constexpr double first_angle = -2.2;  // centres of turn 0 lie within 2π from here; 0, ±π/2 and π well inside
constexpr double closed_gap = 1e-6;   // of the row's size
constexpr int cells_along = 64;       // of the ends' extent, along each coordinate
constexpr int steps_between = 8;      // looks on the way from one place to another
constexpr double still = 1e-4;        // acceleration of what rests, of that without reactions

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<int> periodic_coordinates(const model::Model& model) {
    std::vector<int> list;
    if (model.size() > 64) return list;
    model::Workspace workspace(model);
    model::Terms here(model.layout()), there(model.layout());
    std::vector<double> c_here(ix(model.layout().coefficients)), c_there(c_here.size());
    for (int c = 0; c < model.size(); ++c) {
        bool periodic = true, present = false;
        for (const double shift : {0.0, 0.7, -1.3}) {
            std::vector<double> q = model.q0, u = model.u0;
            for (std::size_t i = 0; i < q.size(); ++i) {
                q[i] += shift * (0.4 + 0.1 * static_cast<double>(i));
                u[i] += 0.3 - 0.2 * static_cast<double>(i) + shift;
            }
            const auto differs = [&](double step, double tolerance) {
                std::vector<double> moved = q;
                moved[ix(c)] += step;
                const auto unlike = [&](double a, double b) {
                    return !(std::abs(a - b) <= tolerance * (1.0 + std::abs(a) + std::abs(b))) &&
                           (std::isfinite(a) || std::isfinite(b));
                };
                model::evaluate(model, workspace, 0.0, q, u, here);
                model::evaluate(model, workspace, 0.0, moved, u, there);
                if (!std::equal(here.all().begin(), here.all().end(), there.all().begin(),
                                [&](double a, double b) { return !unlike(a, b); }))
                    return true;
                model.system->coefficients(model::at(model, 0.0, q, u), workspace.scratch(), c_here);
                model.system->coefficients(model::at(model, 0.0, moved, u), workspace.scratch(), c_there);
                for (std::size_t k = 0; k < c_here.size(); ++k)
                    if (unlike(c_here[k], c_there[k])) return true;
                const double U = model.system->energy(model::at(model, 0.0, q, u), workspace.scratch()).potential;
                return unlike(U, model.system->energy(model::at(model, 0.0, moved, u), workspace.scratch()).potential);
            };
            periodic = periodic && !differs(period, 1e-10);
            present = present || differs(1.0, 1e-6);
        }
        if (periodic && present) list.push_back(c);
    }
    return list;
}

RestSets::RestSets(const model::Model& model, double h, std::vector<int> periodic, const CaptureSet* level)
    : model_(model),
      h_(h),
      periodic_(std::move(periodic)),
      level_(level),
      turns_(model.coordinates.size(), 0),
      workspace_(model),
      positions_(ix(model.layout().positions())),
      rest_(model.coordinates.size(), 0.0),
      scale_(model.coordinates.size(), 1.0),
      admitter_(model, {}) {
    for (const int c : periodic_) turns_[ix(c)] = 1;
}

std::string RestSets::closed_at(std::span<const double> q) {
    model_.system->positions(model::at(model_, 0.0, q, rest_), workspace_.scratch(), positions_);
    std::string closed;
    for (const model::Contact& c : model_.contacts) {
        double size = 1.0;
        for (const double x : q) size = std::max(size, std::abs(x));
        closed += positions_[ix(c.row)] <= closed_gap * size ? 'c' : '-';
    }
    return closed;
}

/// From one position to another, the short way round.
std::vector<double> RestSets::difference(std::span<const double> from, std::span<const double> to) const {
    std::vector<double> d(from.size());
    for (std::size_t i = 0; i < d.size(); ++i) {
        d[i] = to[i] - from[i];
        if (turns_[i] != 0) d[i] -= period * std::round(d[i] / period);
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

std::string RestSets::cell_of(std::span<const double> q, const std::string& closed) const {
    std::string cell = closed;
    for (std::size_t i = 0; i < q.size(); ++i) {
        double x = q[i];
        if (turns_[i] != 0) x -= period * std::floor(x / period);
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

/// Tries the nearest place of each set; what connects two sets makes them one.
void RestSets::settle(int place) {
    Place& p = places_[ix(place)];
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        if (sets_[s].places.empty() || sets_[s].closed != p.closed || static_cast<int>(s) == p.set) continue;
        const int near = *std::min_element(sets_[s].places.begin(), sets_[s].places.end(), [&](int a, int b) {
            return distance(places_[ix(a)].q, p.q) < distance(places_[ix(b)].q, p.q);
        });
        if (!connected(places_[ix(near)].q, p.q)) continue;
        if (p.set < 0) {
            p.set = static_cast<int>(s);
            sets_[s].places.push_back(place);
        } else {
            join(p.set, static_cast<int>(s));
        }
    }
    if (p.set >= 0) return;
    p.set = static_cast<int>(sets_.size());
    Set set;
    set.closed = p.closed;
    set.places = {place};
    sets_.push_back(std::move(set));
}

void RestSets::join(int into, int from) {
    for (const int place : sets_[ix(from)].places) {
        places_[ix(place)].set = into;
        sets_[ix(into)].places.push_back(place);
    }
    sets_[ix(from)].places.clear();
}

/// Extent and least potential energy.
void RestSets::measure(int set, std::span<const double> q) {
    Set& s = sets_[ix(set)];
    const std::vector<double>& origin = places_[ix(s.places.front())].q;
    const std::vector<double> d = difference(origin, q);
    const double U = model_.system->energy(model::at(model_, 0.0, q, rest_), workspace_.scratch()).potential;
    const bool first = s.low.empty();
    if (first) s.low = s.high = origin, s.potential = U;
    for (std::size_t i = 0; i < d.size(); ++i) {
        s.low[i] = std::min(s.low[i], origin[i] + d[i]);
        s.high[i] = std::max(s.high[i], origin[i] + d[i]);
    }
    s.potential = std::min(s.potential, U);
    ++s.motions;
}

void RestSets::find_scale(const BasinRecord& record, std::size_t known) {
    const std::size_t n = model_.coordinates.size();
    std::vector<double> low(n, INFINITY), high(n, -INFINITY);
    for (std::size_t k = 0; k < known; ++k)
        if (record.fate[k] == Fate::rest)
            for (std::size_t i = 0; i < n; ++i) {
                low[i] = std::min(low[i], record.q[k * n + i]);
                high[i] = std::max(high[i], record.q[k * n + i]);
            }
    for (std::size_t i = 0; i < n; ++i) {
        scale_[i] = turns_[i] != 0 ? period / 4.0 : high[i] - low[i];
        const double least = 1e-3 * (1.0 + std::max(std::abs(low[i]), std::abs(high[i])));
        if (!(scale_[i] > least)) scale_[i] = std::isfinite(least) ? least : 1.0;
    }
}

void RestSets::label(const BasinRecord& record, std::size_t known, std::size_t base, Basin& out) {
    const std::size_t n = model_.coordinates.size();
    places_.clear();
    sets_.clear();
    cells_.clear();
    find_scale(record, known);
    const int captor = level_ != nullptr ? place_of(level_->q) : -1;
    std::vector<int> place(known, -1);
    for (std::size_t k = 0; k < known; ++k) {
        if (record.fate[k] == Fate::rest) place[k] = place_of({record.q.data() + k * n, n});
        if (record.fate[k] == Fate::captured) place[k] = captor;
    }
    if (captor >= 0) measure(places_[ix(captor)].set, level_->q);
    for (std::size_t k = 0; k < known; ++k)
        if (record.fate[k] == Fate::rest) measure(places_[ix(place[k])].set, {record.q.data() + k * n, n});
    if (captor >= 0) --sets_[ix(places_[ix(captor)].set)].motions;  // the level set's own point is no motion

    // Copies with turn 0, ordered by energy, then by the size of their position.
    std::vector<int> order;
    std::vector<std::vector<double>> centre(sets_.size());
    double span = 0.0, lowest = INFINITY;
    for (std::size_t s = 0; s < sets_.size(); ++s) {
        if (sets_[s].low.empty()) continue;
        order.push_back(static_cast<int>(s));
        lowest = std::min(lowest, sets_[s].potential);
        span = std::max(span, std::abs(sets_[s].potential));
        centre[s].resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            double middle = 0.5 * (sets_[s].low[i] + sets_[s].high[i]);
            if (turns_[i] != 0) {
                const double turn = period * std::floor((middle - first_angle) / period);
                middle -= turn;
                sets_[s].low[i] -= turn;
                sets_[s].high[i] -= turn;
            }
            centre[s][i] = middle;
        }
    }
    const auto key = [&](int s) {
        double size = 0.0;
        for (std::size_t i = 0; i < n; ++i) size = std::max(size, std::abs(centre[ix(s)][i]) / (1.0 + scale_[i]));
        return std::pair(std::lround((sets_[ix(s)].potential - lowest) / (1e-12 + 0.02 * span)), size);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });

    out.sets.clear();
    std::vector<int> number(sets_.size(), -1);
    for (const int s : order) {
        number[ix(s)] = static_cast<int>(out.sets.size());
        RestSet set;
        set.name = "E" + std::to_string(out.sets.size() + 1);
        for (std::size_t c = 0; c < model_.contacts.size(); ++c)
            if (sets_[ix(s)].closed[c] == 'c') set.closed.push_back(model_.contacts[c].name);
        set.low = sets_[ix(s)].low;
        set.high = sets_[ix(s)].high;
        set.potential = sets_[ix(s)].potential;
        set.motions = sets_[ix(s)].motions;
        out.sets.push_back(std::move(set));
    }

    // Labels: undecided, then sets with their turns, then what else happened.
    using Key = std::pair<int, std::vector<long>>;
    const Key failed{1 << 28, {}}, inadmissible{(1 << 28) + 1, {}};
    std::map<Key, int> numbers{{Key{-1, {}}, 0}};
    std::vector<Key> keys(known, Key{-1, {}});
    const auto key_of = [&](int place_number, std::span<const double> q) {
        const int s = places_[ix(place_number)].set;
        Key k{number[ix(s)], {}};
        for (const int c : periodic_) k.second.push_back(std::lround((q[ix(c)] - centre[ix(s)][ix(c)]) / period));
        return k;
    };
    Key captor_key;
    if (captor >= 0) numbers[captor_key = key_of(captor, level_->q)] = 0;
    for (std::size_t k = 0; k < known; ++k) {
        if (place[k] >= 0) keys[k] = key_of(place[k], {record.q.data() + k * n, n});
        if (record.fate[k] == Fate::failed) keys[k] = failed;
        if (record.fate[k] == Fate::inadmissible) keys[k] = inadmissible;
        numbers[keys[k]] = 0;
    }
    int next = 0;
    out.labels.clear();
    for (auto& [k, label] : numbers) {
        label = next++;
        BasinLabel l;
        l.set = k.first >= 0 && k.first < failed.first ? k.first : -1;
        l.turn = k.second;
        l.text = k.first < 0         ? "undecided"
                 : k == failed       ? "failed"
                 : k == inadmissible ? "inadmissible"
                                     : out.sets[ix(l.set)].name;
        for (std::size_t t = 0; t < l.turn.size(); ++t)
            if (l.turn[t] != 0) {
                char text[32];
                std::snprintf(text, sizeof text, " %+ld*2*pi", l.turn[t]);
                l.text += ", " + model_.coordinates[ix(periodic_[t])] + text;
            }
        out.labels.push_back(std::move(l));
    }
    out.captor = captor >= 0 ? numbers[captor_key] : 0;
    out.label.resize(known);
    for (std::size_t k = 0; k < known; ++k) {
        out.label[k] = numbers[keys[k]];
        if (k < base) ++out.labels[ix(out.label[k])].count;
    }
}

}  // namespace saltus::stability
