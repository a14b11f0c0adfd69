// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_labeller.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

namespace {

/// Step of the test whether a position rests, if the event-driven method has none; in units of time.
constexpr double rest_test_step = 1e-3;
/// Combinations of parameters whose equilibrium sets are searched. More would take longer than the motions.
constexpr std::size_t max_searched_models = 1000;
constexpr std::size_t motions_of_piece = std::size_t{1} << 16;  ///< whose ends are in memory at a time
constexpr std::size_t motions_per_call = 1024;                  ///< whose known sets a thread finds in one call
constexpr double equal_period = 1e-12;                          ///< a period this near to 2π is printed as 2*pi

// Distances of a point from an orbit, in parts of the range of its positions, or of its velocities.
/// A point this near belongs to the orbit: by the event-driven method, and by time-stepping, whose orbits are beside
/// the exact ones by an error of order h.
constexpr double on_orbit = 1e-3, on_stepped_orbit = 1e-2;
/// A point may be this far from the orbit that Newton's method finds from it.
constexpr double near_orbit = 0.05;
/// Points this near to one without a stable orbit have none either.
constexpr double same_point = 1e-2;
/// Searches for orbits of one model: motions that repeat without a stable orbit nearby would have one each.
constexpr int max_searches = 64;

std::vector<double> state_of(const BasinMotion& m) {
    std::vector<double> x = m.q;
    x.insert(x.end(), m.u.begin(), m.u.end());
    return x;
}

/// Distance of x from y, in parts of the largest range of the positions and of the velocities. Coordinates with a
/// period are compared the short way round.
double distance(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& range,
                const std::vector<double>& periods) {
    const std::size_t n = periods.size();
    double largest[2] = {0.0, 0.0}, size[2] = {0.0, 0.0};
    for (std::size_t i = 0; i < 2 * n; ++i) {
        double d = x[i] - y[i];
        if (i < n && periods[i] > 0.0) d -= periods[i] * std::round(d / periods[i]);
        const std::size_t kind = i < n ? 0 : 1;
        largest[kind] = std::max(largest[kind], std::abs(d));
        size[kind] = std::max(size[kind], range[i]);
    }
    double worst = 0.0;
    for (const std::size_t kind : {std::size_t{0}, std::size_t{1}})
        if (largest[kind] > 0.0) worst = std::max(worst, largest[kind] / size[kind]);
    return worst;
}

double distance(const std::vector<double>& x, const BasinOrbit& orbit, const std::vector<double>& periods) {
    double least = INFINITY;
    for (const std::vector<double>& p : orbit.points) least = std::min(least, distance(x, p, orbit.range, periods));
    return least;
}

bool same(const BasinOrbit& a, const BasinOrbit& b, const std::vector<double>& periods) {
    return a.returns == b.returns && distance(a.points.front(), b, periods) < on_orbit;
}

}  // namespace

BasinLabeller::BasinLabeller(const model::Model& model, const BasinOptions& options, const Decision& decision,
                             BasinModels& models)
    : model_(model), options_(options), decision_(decision), models_(models) {}

BasinLabeller::Family& BasinLabeller::family_of(const std::vector<double>& parameters) {
    Family& family = families_[parameters];
    if (family.model) return family;
    family.model = models_.at(parameters);
    family.rules = std::make_unique<ModelRules>(*family.model, options_, decision_);
    if (!models_.varied())
        family.known = options_.equilibria ? &*options_.equilibria : nullptr;
    else if (family.found)
        family.known = &*family.found;
    else if (options_.search && !too_many_)
        family.known = &family.found.emplace(equilibria(*family.model, *options_.search));
    if (family.known != nullptr) known_sets_ = std::max(known_sets_, family.known->sets.size());
    return family;
}

/// The sets of all combinations of a grid over parameters, on all threads.
void BasinLabeller::search_sets() {
    if (std::exchange(searched_, true) || !models_.gridded() || !options_.search) return;
    ensemble::Starts grid;
    for (std::size_t k = 0; k < options_.components.size(); ++k)
        if (options_.components[k] < 0) grid.axes.push_back(options_.starts.axes[k]);
    too_many_ = grid.size() > max_searched_models;
    if (too_many_) return;
    std::vector<std::vector<double>> keys(grid.size(), std::vector<double>(grid.axes.size()));
    std::vector<std::optional<Equilibria>> found(grid.size());
    for (std::size_t k = 0; k < keys.size(); ++k) grid.values(k, keys[k]);
    ensemble::Options many;
    many.threads = options_.threads;
    many.interrupted = options_.interrupted;
    ensemble::parallel_for(
        keys.size(), [&](std::size_t k) { found[k] = equilibria(*models_.at(keys[k]), *options_.search); }, many);
    for (std::size_t k = 0; k < keys.size(); ++k) families_[keys[k]].found = std::move(found[k]);
}

/// The orbit of a motion that repeats; −1: no stable orbit is known, and none was found.
int BasinLabeller::orbit_of(Family& family, const BasinMotion& m) {
    const std::vector<double> x = state_of(m);
    const std::vector<double>& periods = family.rules->decision.periods;
    const bool stepped = std::holds_alternative<integrate::Moreau>(options_.method);
    int nearest = -1;
    double least = stepped ? on_stepped_orbit : on_orbit;
    for (std::size_t k = 0; k < family.orbits.size(); ++k) {
        const BasinOrbit& o = family.orbits[k];
        if (m.returns % o.returns != 0) continue;
        const double d = distance(x, o, periods);
        if (d <= least) nearest = static_cast<int>(k), least = d;
    }
    if (nearest >= 0) return nearest;
    for (const std::vector<double>& point : family.without_orbit) {
        bool near = true;
        for (std::size_t i = 0; i < x.size(); ++i)
            near = near && std::abs(x[i] - point[i]) <= same_point * std::abs(x[i]);
        if (near) return -1;
    }
    if (family.searches++ >= max_searches || !options_.repeats->find) return -1;
    const std::optional<BasinOrbit> found =
        options_.repeats->find(*family.model, trajectory::State{0.0, m.q, m.u}, m.returns);
    if (found && m.returns % found->returns == 0 && distance(x, *found, periods) <= near_orbit) {
        for (std::size_t k = 0; k < family.orbits.size(); ++k)
            if (same(family.orbits[k], *found, periods)) return static_cast<int>(k);
        family.orbits.push_back(*found);
        return static_cast<int>(family.orbits.size()) - 1;
    }
    family.without_orbit.push_back(x);
    return -1;
}

BasinLabeller::Key BasinLabeller::key_of(const BasinMotion& m, int collected, Family* family) const {
    using Kind = Key::Kind;
    switch (m.fate) {
        case Fate::failed: return {Kind::failed, 0, {}};
        case Fate::inadmissible: return {Kind::inadmissible, 0, {}};
        case Fate::undecided:
        case Fate::pending: return {};
        case Fate::repeats:
            if (family == nullptr) return {Kind::orbit, static_cast<std::uint64_t>(m.returns), {}};
            if (collected < 0) return {};
            return {Kind::orbit, static_cast<std::uint64_t>(family->order[ix(collected)]), {}};
        case Fate::rest:
        case Fate::captured: break;
    }
    if (family == nullptr) return {Kind::set, m.closed, {}};
    const Where w = family->sets->where(m, collected);
    const std::size_t known = family->sets->known_sets();
    const std::size_t index = ix(w.set) < known ? ix(w.set) : ix(w.set) - known + known_sets_;
    return {Kind::set, index, w.turn};
}

/// The motions of one model, piece by piece: all threads look for the known sets of a piece, then its motions are
/// collected in their order, so that the numbers of groups do not depend on threads.
void BasinLabeller::collect_in_parallel(const BasinRecord& record, std::size_t motions, Family& family,
                                        ensemble::Labels& collected) const {
    const std::size_t n = model_.coordinates.size();
    std::vector<Fate> fates;
    std::vector<double> q;
    std::vector<std::optional<Where>> known;
    ensemble::Options many;
    many.threads = options_.threads;
    for (std::size_t first = 0; first < motions; first += motions_of_piece) {
        const std::size_t count = std::min(motions_of_piece, motions - first);
        fates.resize(count);
        q.resize(count * n);
        known.assign(count, std::nullopt);
        record.scan(first, first + count, [&](std::size_t k, const BasinMotion& m) {
            fates[k - first] = m.fate;
            std::copy(m.q.begin(), m.q.end(), q.begin() + static_cast<std::ptrdiff_t>((k - first) * n));
        });
        const auto end_of = [&](std::size_t k) { return std::span<const double>(q.data() + k * n, n); };
        ensemble::parallel_for((count + motions_per_call - 1) / motions_per_call,
                               [&](std::size_t call) {
                                   KnownSets find(*family.model, family.known);
                                   const std::size_t last = std::min(count, (call + 1) * motions_per_call);
                                   for (std::size_t k = call * motions_per_call; k < last; ++k)
                                       if (fates[k] == Fate::rest) known[k] = find(end_of(k));
                               },
                               many);
        for (std::size_t k = 0; k < count; ++k)
            collected.push_back(fates[k] == Fate::rest ? family.sets->collect(end_of(k), known[k]) : 0);
    }
}

void BasinLabeller::label(const BasinRecord& record, std::size_t motions, std::size_t base,
                          const Parameters& parameters, Basin& out) {
    search_sets();
    // With parameters from samples, each model has one motion: there are no sets to compare with.
    const bool families = !models_.varied() || models_.gridded();
    const auto family_at = [&](std::size_t k) -> Family* {
        return families ? &family_of(models_.varied() ? parameters(k) : std::vector<double>()) : nullptr;
    };
    Family* const only = models_.varied() ? nullptr : family_at(0);
    const auto family = [&](std::size_t k) { return only != nullptr ? only : family_at(k); };
    seen_by_key_.clear();
    without_orbit_ = 0;
    for (auto& [values, f] : families_) f.sets.reset();
    const auto prepare = [&](Family& f) {
        if (f.sets) return;
        const auto* moreau = std::get_if<integrate::Moreau>(&f.rules->method);
        f.sets = std::make_unique<RestSets>(*f.model, moreau != nullptr ? moreau->h : rest_test_step,
                                            f.rules->decision.periods, f.known, decision_.level);
    };
    if (only != nullptr) prepare(*only);
    ensemble::Labels collected(options_.folder), provisional(options_.folder);
    out.adjusted = out.moved = out.inadmissible = out.failed = 0;
    record.scan(0, motions, [&](std::size_t k, const BasinMotion& m) {
        out.failed += m.fate == Fate::failed ? 1 : 0;
        if (k < base) {
            out.adjusted += m.admission == Admission::adjusted ? 1 : 0;
            out.moved += m.admission == Admission::moved ? 1 : 0;
            out.inadmissible += m.admission == Admission::inadmissible ? 1 : 0;
        }
        if (m.fate != Fate::rest && m.fate != Fate::captured) return;
        if (Family* const f = family(k)) {
            prepare(*f);
            f->sets->measure(m);
        }
    });
    if (only != nullptr && !options_.repeats)
        collect_in_parallel(record, motions, *only, collected);
    else
        record.scan(0, motions, [&](std::size_t k, const BasinMotion& m) {
            int code = 0;
            if (m.fate == Fate::rest || m.fate == Fate::captured || m.fate == Fate::repeats)
                if (Family* const f = family(k)) code = m.fate == Fate::repeats ? orbit_of(*f, m) : f->sets->collect(m);
            if (m.fate == Fate::repeats && code < 0) ++without_orbit_;
            collected.push_back(code);
        });
    for (auto& entry : families_) {
        auto& f = entry.second;
        if (f.model) prepare(f);  // its known sets are listed, whether motions ended there or not
        if (f.sets) f.sets->number_groups();
        f.order.resize(f.orbits.size());
        std::vector<int> by_energy(f.orbits.size());
        for (std::size_t k = 0; k < by_energy.size(); ++k) by_energy[k] = static_cast<int>(k);
        std::stable_sort(by_energy.begin(), by_energy.end(),
                         [&](int a, int b) { return f.orbits[ix(a)].energy < f.orbits[ix(b)].energy; });
        for (std::size_t place = 0; place < by_energy.size(); ++place)
            f.order[ix(by_energy[place])] = static_cast<int>(place);
        for (BasinOrbit& o : f.orbits) o.motions = 0;
    }

    std::map<Key, int> keys{{Key{}, 0}};
    std::vector<Key> of_provisional;
    std::map<Key, int> provisional_of;
    ensemble::Labels::Reader code(collected);
    std::vector<std::size_t> counts;
    int last = -1;  // provisional number of the motion before: neighbours often have the same label
    record.scan(0, motions, [&](std::size_t k, const BasinMotion& m) {
        Family* const f =
            m.fate == Fate::rest || m.fate == Fate::captured || m.fate == Fate::repeats ? family(k) : nullptr;
        const Key key = key_of(m, code.at(k), f);
        if (last < 0 || of_provisional[ix(last)] != key) {
            const auto [entry, fresh] = provisional_of.emplace(key, static_cast<int>(of_provisional.size()));
            last = entry->second;
            if (fresh) {
                of_provisional.push_back(key);
                counts.push_back(0);
                keys.emplace(key, 0);
            }
        }
        if (k < base) ++counts[ix(last)];
        if (f != nullptr && key.kind == Key::Kind::orbit) ++f->orbits[ix(code.at(k))].motions;
        if (f == nullptr) {
            Seen& seen = seen_by_key_[key];
            if (seen.motions++ == 0) seen.low = seen.high = m.q;
            for (std::size_t i = 0; i < m.q.size(); ++i) {
                seen.low[i] = std::min(seen.low[i], m.q[i]);
                seen.high[i] = std::max(seen.high[i], m.q[i]);
            }
        }
        provisional.push_back(last);
    });
    if (decision_.level != nullptr) {
        const Where& captor = only->sets->captor();
        const std::size_t known = only->sets->known_sets();
        keys.emplace(Key{Key::Kind::set, ix(captor.set) < known ? ix(captor.set) : ix(captor.set) - known + known_sets_,
                         captor.turn},
                     0);
    }
    describe_sets(keys, out);
    describe_orbits(out);

    int next = 0;
    out.labels.clear();
    for (auto& [key, number] : keys) {
        number = next++;
        BasinLabel l;
        if (key.kind == Key::Kind::set) {
            if (families) {
                l.set = static_cast<int>(key.index);
            } else {
                l.set = 0;
                for (const auto& [other, unused] : keys)
                    if (other.kind == Key::Kind::set && other < key) ++l.set;
            }
            l.turn = key.turn;
        }
        if (key.kind == Key::Kind::orbit)
            for (std::size_t k = 0; k < out.orbits.size(); ++k)
                if (families ? k == key.index : ix(out.orbits[k].returns) == key.index) l.orbit = static_cast<int>(k);
        l.text = key.kind == Key::Kind::undecided      ? "undecided"
                 : key.kind == Key::Kind::failed       ? "failed"
                 : key.kind == Key::Kind::inadmissible ? "inadmissible"
                 : key.kind == Key::Kind::orbit        ? out.orbits[ix(l.orbit)].name
                                                       : text_of(key, out);
        out.labels.push_back(std::move(l));
    }
    if (!families)
        for (BasinLabel& l : out.labels)
            if (l.set >= 0) l.text = out.sets[ix(l.set)].name;
    std::vector<int> number_of(of_provisional.size());
    for (std::size_t k = 0; k < number_of.size(); ++k) {
        number_of[k] = keys.at(of_provisional[k]);
        out.labels[ix(number_of[k])].count = counts[k];
    }
    out.captor = 0;
    if (decision_.level != nullptr) {
        const Where& captor = only->sets->captor();
        for (std::size_t k = 0; k < out.labels.size(); ++k)
            if (out.labels[k].set == captor.set && out.labels[k].turn == captor.turn) out.captor = static_cast<int>(k);
    }
    out.label = ensemble::Labels(options_.folder);
    ensemble::Labels::Reader at(provisional);
    for (std::size_t k = 0; k < motions; ++k) out.label.push_back(number_of[ix(at.at(k))]);
}

/// Fills in Basin::sets: all known sets, then those that only motions showed. Sets of several models that have the same
/// number are put together.
void BasinLabeller::describe_sets(const std::map<Key, int>& keys, Basin& out) const {
    out.sets.clear();
    if (models_.varied() && !models_.gridded()) {
        for (const auto& [key, unused] : keys) {
            if (key.kind != Key::Kind::set) continue;
            RestSet s;
            for (std::size_t c = 0; c < std::min<std::size_t>(64, model_.contacts.size()); ++c)
                if ((key.index >> c & 1U) != 0) s.closed.push_back(model_.contacts[c].name);
            s.name = s.closed.empty() ? "rest" : "rest, closed: " + listing(s.closed);
            const Seen& seen = seen_by_key_.at(key);
            s.motions = seen.motions;
            s.low = seen.low;
            s.high = seen.high;
            s.potential = NAN;
            out.sets.push_back(std::move(s));
        }
        return;
    }
    std::size_t groups = 0;
    for (const auto& [values, f] : families_)
        if (f.sets) groups = std::max(groups, f.sets->group_count());
    for (std::size_t index = 0; index < known_sets_ + groups; ++index) {
        const bool known = index < known_sets_;
        RestSet all;
        bool first = true;
        for (const auto& [values, f] : families_) {
            if (!f.sets) continue;
            const std::size_t of_family = f.sets->known_sets();
            const std::size_t set = known ? index : index - known_sets_ + of_family;
            if (known ? index >= of_family : set >= of_family + f.sets->group_count()) continue;
            RestSet s = f.sets->describe(set);
            if (std::exchange(first, false)) {
                all = std::move(s);
                continue;
            }
            const auto widen = [](std::vector<double>& low, std::vector<double>& high, const RestSet& by,
                                  std::vector<double> RestSet::*l, std::vector<double> RestSet::*h) {
                if (low.empty()) low = by.*l, high = by.*h;
                for (std::size_t i = 0; i < (by.*l).size(); ++i) {
                    low[i] = std::min(low[i], (by.*l)[i]);
                    high[i] = std::max(high[i], (by.*h)[i]);
                }
            };
            widen(all.low, all.high, s, &RestSet::low, &RestSet::high);
            widen(all.lower, all.upper, s, &RestSet::lower, &RestSet::upper);
            if (all.closed != s.closed) all.closed.clear();  // they differ between the models
            all.potential = std::min(all.potential, s.potential);
            all.motions += s.motions;
        }
        all.known = known;
        all.name = known ? Equilibria::label(index) : "R" + std::to_string(index - known_sets_ + 1);
        out.sets.push_back(std::move(all));
    }
}

void BasinLabeller::describe_orbits(Basin& out) const {
    out.orbits.clear();
    if (models_.varied() && !models_.gridded()) {
        for (const auto& [key, seen] : seen_by_key_) {
            if (key.kind != Key::Kind::orbit) continue;
            BasinOrbit o;
            o.returns = static_cast<int>(key.index);
            o.name = "repeats after " + std::to_string(o.returns);
            o.period = o.energy = o.largest = NAN;
            o.motions = seen.motions;
            out.orbits.push_back(std::move(o));
        }
        return;
    }
    for (const auto& [values, f] : families_)
        for (std::size_t k = 0; k < f.orbits.size(); ++k) {
            const std::size_t index = ix(f.order[k]);
            while (out.orbits.size() <= index) {
                BasinOrbit fresh;
                fresh.returns = 0;
                out.orbits.push_back(fresh);
            }
            BasinOrbit& o = out.orbits[index];
            const std::size_t motions = o.motions + f.orbits[k].motions;
            if (o.returns == 0) {
                o = f.orbits[k];
            } else {  // of another model
                o.points.clear();
                o.range.clear();
                o.period = o.energy = o.largest = NAN;
            }
            o.motions = motions;
            o.name = "O" + std::to_string(index + 1);
        }
}

/// The name of a set with its turn, for example "E1, phi +1*2*pi".
std::string BasinLabeller::text_of(const Key& key, const Basin& out) const {
    if (key.index >= out.sets.size()) return {};
    std::string text = out.sets[key.index].name;
    for (std::size_t i = 0; i < key.turn.size(); ++i) {
        if (key.turn[i] == 0) continue;
        const std::string period =
            std::abs(out.periods[i] - 2.0 * std::numbers::pi) < equal_period ? "2*pi" : number_text(out.periods[i]);
        text +=
            ", " + model_.coordinates[i] + (key.turn[i] > 0 ? " +" : " ") + std::to_string(key.turn[i]) + "*" + period;
    }
    return text;
}

std::vector<std::string> BasinLabeller::warnings() const {
    std::vector<std::string> list;
    if (without_orbit_ > 0)
        list.push_back(counted(without_orbit_, "motion") +
                       " repeat without a stable orbit that was found near them; they are undecided");
    if (too_many_)
        list.push_back("the grid has more than " + std::to_string(max_searched_models) +
                       " combinations of parameters, and their equilibrium sets were not searched: R1, R2, … are the "
                       "positions of rest of each combination in the order of their potential energy");
    std::size_t combinations = 0;
    for (const auto& [values, f] : families_)
        if (f.known != nullptr && f.known->status == SearchStatus::interrupted) ++combinations;
    if (models_.varied() && combinations > 0)
        list.push_back("the search for equilibrium sets did not end for " + counted(combinations, "combination") +
                       " of parameters");
    return list;
}

}  // namespace saltus::stability
