// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibria.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "saltus/base/text.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_search.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

/// Positions scattered around the model's own, angles over their periods; the same in every run.
std::vector<Vector> scattered(const model::Model& m, const std::vector<double>& periods, int count) {
    const Index n = m.size();
    const Vector q0 = Eigen::Map<const Vector>(m.q0.data(), n);
    double length = 0.0;
    for (Index i = 0; i < n; ++i)
        if (periods[static_cast<std::size_t>(i)] == 0.0) length = std::max(length, std::abs(q0(i)));
    if (length == 0.0) length = 1.0;
    std::vector<Vector> list{q0, Vector::Zero(n)};
    // Roots of x^(n+1) = x + 1 give well spread points in n dimensions.
    double root = 1.5;
    for (int k = 0; k < 60; ++k) root = std::pow(1.0 + root, 1.0 / (static_cast<double>(n) + 1.0));
    for (int k = 1; k <= count; ++k) {
        Vector q(n);
        const double width = length * std::array{0.3, 1.0, 3.0}[static_cast<std::size_t>(k % 3)];
        for (Index i = 0; i < n; ++i) {
            const double x = 0.5 + k * std::pow(1.0 / root, static_cast<double>(i + 1));
            const double spread = 2.0 * (x - std::floor(x)) - 1.0;
            const double period = periods[static_cast<std::size_t>(i)];
            q(i) = period > 0.0 ? 0.5 * period * spread : (k % 2 == 0 ? q0(i) : 0.0) + width * spread;
        }
        list.push_back(std::move(q));
    }
    return list;
}

/// All combinations, small ones first; one that could not be closed leaves out those that contain it.
class Combinations {
public:
    Combinations(std::size_t contacts, std::size_t most) : contacts_(contacts), most_(most) { layer_.push_back({}); }

    /// The next combination, or false.
    bool next(std::vector<char>& closed) {
        while (at_ == layer_.size()) {
            if (layer_.empty()) return false;
            grow();
            at_ = 0;
            if (layer_.empty()) return false;
        }
        if (given_ == most_) {
            left_out = true;
            return false;
        }
        ++given_;
        closed.assign(contacts_, 0);
        for (const std::size_t i : layer_[at_]) closed[i] = 1;
        possible_.push_back(true);
        ++at_;
        return true;
    }
    void impossible() { possible_.back() = false; }

    bool left_out = false;

private:
    using Set = std::vector<std::size_t>;

    /// Combinations of one contact more, all of whose parts could be closed.
    void grow() {
        std::vector<Set> alive;
        for (std::size_t k = 0; k < layer_.size(); ++k)
            if (possible_[k]) alive.push_back(layer_[k]);
        std::sort(alive.begin(), alive.end());
        std::vector<Set> next;
        for (const Set& s : alive)
            for (std::size_t i = s.empty() ? 0 : s.back() + 1; i < contacts_; ++i) {
                Set larger = s;
                larger.push_back(i);
                bool all = true;
                for (std::size_t leave = 0; leave + 1 < larger.size() && all; ++leave) {
                    Set part = larger;
                    part.erase(part.begin() + static_cast<std::ptrdiff_t>(leave));
                    all = std::binary_search(alive.begin(), alive.end(), part);
                }
                if (all) next.push_back(std::move(larger));
                if (next.size() > most_) break;
            }
        layer_ = std::move(next);
        possible_.clear();
    }

    std::size_t contacts_, most_, given_ = 0, at_ = 0;
    std::vector<Set> layer_;
    std::vector<bool> possible_;
};

/// Those that friction only widens first, then by how far their angles are turned, then by energy.
bool before(const std::vector<double>& periods, const EquilibriumSet& a, const EquilibriumSet& b) {
    const auto rank = [](const EquilibriumSet& s) { return s.contains_frictionless ? 0 : 1; };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    const auto less = [](double x, double y, bool& decided) {
        decided = std::abs(x - y) > 1e-9 * (1.0 + std::abs(x) + std::abs(y));
        return x < y;
    };
    const auto turned = [&](const EquilibriumSet& s) {
        double sum = 0.0;
        for (std::size_t i = 0; i < periods.size(); ++i)
            if (periods[i] > 0.0) sum += std::abs(s.representative(static_cast<Index>(i))) / periods[i];
        return sum;
    };
    bool decided = false;
    for (const auto& [x, y] : {std::pair{turned(a), turned(b)}, std::pair{a.potential_least, b.potential_least},
                               std::pair{a.representative.norm(), b.representative.norm()}}) {
        const bool first = less(x, y, decided);
        if (decided) return first;
    }
    for (Index i = 0; i < a.representative.size(); ++i) {
        const bool first = less(b.representative(i), a.representative(i), decided);
        if (decided) return first;
    }
    return false;
}

/// A set whose boundary closes another contact touches the set of that combination.
void find_neighbours(Equilibria& e) {
    for (std::size_t k = 0; k < e.sets.size(); ++k)
        for (const SetLimit& limit : e.sets[k].limits) {
            if (limit.closes.empty()) continue;
            for (std::size_t j = 0; j < e.sets.size(); ++j) {
                std::vector<char> closed = e.sets[k].closed;
                for (const int i : limit.closes) closed[static_cast<std::size_t>(i)] = 1;
                if (j == k || e.sets[j].closed != closed) continue;
                Equilibria one = e;
                one.sets = {e.sets[j]};
                if (!member(one, {limit.q.data(), static_cast<std::size_t>(limit.q.size())}, 1e-5)) continue;
                for (const auto& [from, to] : {std::pair{k, j}, std::pair{j, k}}) {
                    std::vector<int>& touches = e.sets[from].touches;
                    if (std::find(touches.begin(), touches.end(), static_cast<int>(to)) == touches.end())
                        touches.push_back(static_cast<int>(to));
                }
            }
        }
    for (EquilibriumSet& set : e.sets) {
        std::sort(set.touches.begin(), set.touches.end());
        set.isolated = set.touches.empty();
    }
}

}  // namespace

std::string_view to_string(SearchStatus status) {
    switch (status) {
        case SearchStatus::searched: return "searched";
        case SearchStatus::partly: return "partly";
        case SearchStatus::interrupted: return "interrupted";
        case SearchStatus::time_dependent: return "time-dependent";
        case SearchStatus::too_large: return "too-large";
        case SearchStatus::no_derivatives: return "no-derivatives";
    }
    return "";
}

Equilibria equilibria(const model::Model& m, const EquilibriaOptions& options) {
    Equilibria out;
    out.model = m.name;
    out.coordinates = m.coordinates;
    for (const model::Contact& c : m.contacts) out.contacts.push_back(c.name);
    out.time = options.time.value_or(0.0);
    out.periods.assign(m.coordinates.size(), 0.0);
    if (!options.time && depends_on_time(m)) {
        out.status = SearchStatus::time_dependent;
        out.warnings.push_back(
            "forces or geometry depend on time, so that no position need stay at rest: no sets are given; --time t "
            "looks at the model as it is at that time");
        return out;
    }
    if (m.size() > options.largest_model) {
        out.status = SearchStatus::too_large;
        out.warnings.push_back("the model has " + std::to_string(m.size()) +
                               " coordinates, too many to search for sets; --at tells of single positions");
        return out;
    }
    RestingModel model(m, out.time);
    if (!model.has_derivatives()) {
        out.status = SearchStatus::no_derivatives;
        out.warnings.push_back("the system gives no derivatives, which the search for sets needs; --at works");
        return out;
    }
    out.periods = periods_of(model);
    const std::vector<Vector> starts = scattered(m, out.periods, options.starts);
    const Matrix neutral = neutral_directions(model);
    bool tired = false;
    Combinations combinations(m.contacts.size(), static_cast<std::size_t>(options.most_combinations));
    for (std::vector<char> closed; combinations.next(closed);) {
        if (options.interrupted && options.interrupted()) {
            out.status = SearchStatus::interrupted;
            break;
        }
        ++out.combinations;
        CombinationSearch search(model, closed, out.periods, neutral, options.interrupted);
        bool possible = false;
        // With many contacts most combinations are empty: a few starts must do.
        const std::size_t some = m.contacts.size() > 5 ? std::min<std::size_t>(starts.size(), 12) : starts.size();
        bool done = false;
        for (std::size_t k = 0; k < 2 && !done && !possible; ++k) done = search.look_everywhere(starts[k], possible);
        for (std::size_t k = 0; k < some && !done && !search.tired(); ++k) {
            ++out.starts;
            possible = search.look_from(starts[k]) || possible;
        }
        tired = tired || search.tired();
        if (!possible) combinations.impossible();
        out.programs += search.programs();
        std::vector<EquilibriumSet> found = search.sets();
        for (EquilibriumSet& set : found) out.sets.push_back(std::move(set));
    }
    if (combinations.left_out) {
        out.status = SearchStatus::partly;
        out.warnings.push_back("only the first " + std::to_string(options.most_combinations) +
                               " combinations of closed contacts were looked at");
    }
    if (options.interrupted && options.interrupted())
        out.status = SearchStatus::interrupted;
    else if (tired)
        out.warnings.push_back(
            "the search of some combination of contacts was cut short after many programs: sets may be missing, and "
            "some extents are those of samples");
    std::stable_sort(out.sets.begin(), out.sets.end(),
                     [&](const EquilibriumSet& a, const EquilibriumSet& b) { return before(out.periods, a, b); });
    find_neighbours(out);
    return out;
}

namespace {

/// How far a position is from what was seen of a set, beyond what may lie between: along a curve the sagitta of the
/// nearest chord, otherwise the spacing of the samples. Coordinates in 1 + |q_i|.
double off_samples(const std::vector<double>& periods, const EquilibriumSet& set, const Vector& q) {
    const auto count = static_cast<Index>(set.samples.size());
    if (count == 0 || set.spacing <= 0.0) return 0.0;
    const Vector unit = q.cwiseAbs() + Vector::Ones(q.size());
    const auto from = [&](Index k) {
        Vector d = set.samples[static_cast<std::size_t>(k)] - q;
        for (Index i = 0; i < d.size(); ++i) {
            const auto c = static_cast<std::size_t>(i);
            if (set.around[c] != 0) d(i) -= periods[c] * std::round(d(i) / periods[c]);
            if (std::isinf(set.lower(i)) || std::isinf(set.upper(i))) d(i) = 0.0;  // it goes on for ever
        }
        return Vector(d.cwiseQuotient(unit));
    };
    Index nearest = 0;
    double distance = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < count; ++k)
        if (const double d = from(k).norm(); d < distance) {
            distance = d;
            nearest = k;
        }
    if (set.dimension != 1 || set.unbounded || count < 3) return std::max(0.0, distance - 1.5 * set.spacing);
    // Distance of a point c from the chord a b.
    const auto off_chord = [](const Vector& a, const Vector& b, const Vector& c) {
        const Vector chord = b - a;
        const double length = chord.squaredNorm();
        const double along = length > 0.0 ? std::clamp((c - a).dot(chord) / length, 0.0, 1.0) : 0.0;
        return (a + along * chord - c).norm();
    };
    double bend = 0.0;  // the samples need not be equidistant
    for (const Index k : {nearest - 1, nearest, nearest + 1}) {
        const Index middle = std::clamp<Index>(k, 1, count - 2);
        bend = std::max(bend, off_chord(from(middle - 1), from(middle + 1), from(middle)));
    }
    const bool loop = std::any_of(set.around.begin(), set.around.end(), [](char c) { return c != 0; });
    double off = distance;
    for (const Index k : {nearest - 1, nearest}) {
        if (!loop && (k < 0 || k + 1 >= count)) continue;
        const Index a = (k + count) % count, b = (k + 1) % count;
        off = std::min(off, off_chord(from(a), from(b), Vector::Zero(q.size())));
    }
    return std::max(0.0, off - 1.5 * bend);
}

}  // namespace

std::optional<Membership> member(const Equilibria& e, std::span<const double> position, double tolerance) {
    const Vector q = Eigen::Map<const Vector>(position.data(), static_cast<Index>(position.size()));
    const Vector unit = q.cwiseAbs() + Vector::Ones(q.size());
    std::optional<Membership> best;
    for (std::size_t k = 0; k < e.sets.size(); ++k) {
        const EquilibriumSet& set = e.sets[k];
        Membership m;
        m.set = static_cast<int>(k);
        m.turns.assign(e.periods.size(), 0);
        Vector copy = q;
        for (std::size_t i = 0; i < e.periods.size(); ++i) {
            const auto c = static_cast<Index>(i);
            if (e.periods[i] > 0.0) {
                const double middle = 0.5 * (set.lower(c) + set.upper(c));
                m.turns[i] = static_cast<int>(std::round((q(c) - middle) / e.periods[i]));
                copy(c) -= e.periods[i] * m.turns[i];
            }
            const double off = std::max({0.0, set.lower(c) - copy(c), copy(c) - set.upper(c)});
            m.distance = std::max(m.distance, off / unit(c));
        }
        if (m.distance > tolerance) continue;
        if (set.exact && set.directions.cols() > 0) {
            Vector off = copy - set.origin;
            off -= set.directions * least_squares(set.directions, off);
            for (Index i = 0; i < off.size(); ++i)
                if (set.around[static_cast<std::size_t>(i)] == 0)
                    m.distance = std::max(m.distance, std::abs(off(i)) / unit(i));
        }
        if (!set.exact) m.distance = std::max(m.distance, off_samples(e.periods, set, copy));
        if (m.distance > tolerance) continue;
        if (!best || m.distance < best->distance) best = std::move(m);
    }
    return best;
}

}  // namespace saltus::stability
