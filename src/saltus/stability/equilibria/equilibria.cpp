// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibria.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_completeness.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_distance.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_search.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

/// Start positions: the initial position of the model, the origin, and `count` scattered ones. Periodic coordinates are
/// spread over a period, others over 0.3, 1 and 3 times the largest initial coordinate. The same in every run.
std::vector<Vector> scattered(const model::Mechanics& m, const std::vector<double>& periods, int count) {
    const Index n = m.size();
    const Vector q0 = Eigen::Map<const Vector>(m.q0.data(), n);
    double length = 0.0;
    for (Index i = 0; i < n; ++i)
        if (periods[static_cast<std::size_t>(i)] == 0.0) length = std::max(length, std::abs(q0(i)));
    if (length == 0.0) length = 1.0;
    std::vector<Vector> list{q0, Vector::Zero(n)};
    // The R-sequence: with the root x of x^(n+1) = x + 1 the points k (1/x, 1/x², ..., 1/xⁿ) modulo 1 are evenly
    // spread. The fixed-point iteration for the root converges to rounding in fewer than 60 steps.
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

/// All combinations of closed contacts, those with few contacts first. If a combination cannot be closed then all
/// combinations that contain it are skipped.
class Combinations {
public:
    Combinations(std::size_t contacts, std::size_t max_count) : contacts_(contacts), max_count_(max_count) {
        layer_.push_back({});
    }

    /// One flag for each contact; nothing if there are no more combinations, or max_count were given.
    std::optional<std::vector<char>> next() {
        while (at_ == layer_.size()) {
            if (layer_.empty()) return {};
            grow();
            at_ = 0;
            if (layer_.empty()) return {};
        }
        if (given_ == max_count_) {
            left_out_ = true;
            return {};
        }
        ++given_;
        std::vector<char> closed(contacts_, 0);
        for (const std::size_t i : layer_[at_]) closed[i] = 1;
        closable_.push_back(true);
        ++at_;
        return closed;
    }
    /// The combination given last cannot be closed.
    void mark_not_closable() { closable_.back() = false; }
    /// Some combinations were not given because there were more than max_count.
    bool left_out() const { return left_out_; }

private:
    using Set = std::vector<std::size_t>;

    /// The next layer: combinations of one contact more all of whose parts can be closed.
    void grow() {
        std::vector<Set> alive;
        for (std::size_t k = 0; k < layer_.size(); ++k)
            if (closable_[k]) alive.push_back(layer_[k]);
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
                if (next.size() > max_count_) break;
            }
        layer_ = std::move(next);
        closable_.clear();
    }

    std::size_t contacts_, max_count_, given_ = 0, at_ = 0;
    bool left_out_ = false;
    std::vector<Set> layer_;      ///< combinations of the present number of contacts
    std::vector<bool> closable_;  ///< of those of the layer that were given
};

/// Two numbers x, y count as equal for the order of the sets if |x − y| <= equal_keys · (1 + |x| + |y|).
constexpr double equal_keys = 1e-9;

/// The order of the sets: those with a frictionless position first, then by how far their angles are turned, then by
/// energy, then by their positions.
bool before(const std::vector<double>& periods, const EquilibriumSet& a, const EquilibriumSet& b) {
    const auto rank = [](const EquilibriumSet& s) { return s.contains_frictionless ? 0 : 1; };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    const auto differ = [](double x, double y) {
        return std::abs(x - y) > equal_keys * (1.0 + std::abs(x) + std::abs(y));
    };
    const auto turned = [&](const EquilibriumSet& s) {
        double sum = 0.0;
        for (std::size_t i = 0; i < periods.size(); ++i)
            if (periods[i] > 0.0) sum += std::abs(s.representative(static_cast<Index>(i))) / periods[i];
        return sum;
    };
    for (const auto& [x, y] : {std::pair{turned(a), turned(b)}, std::pair{a.potential_least, b.potential_least},
                               std::pair{a.representative.norm(), b.representative.norm()}})
        if (differ(x, y)) return x < y;
    for (Index i = 0; i < a.representative.size(); ++i)
        if (differ(b.representative(i), a.representative(i))) return b.representative(i) < a.representative(i);
    return false;
}

/// Whether a known point of a set with more closed contacts lies in the closure of an exact set: then the two sets
/// touch.
bool reaches_into(const Equilibria& e, const EquilibriumSet& larger, const EquilibriumSet& set, double distance) {
    bool more = false;
    for (std::size_t i = 0; i < set.closed.size(); ++i) {
        if (set.closed[i] != 0 && larger.closed[i] == 0) return false;
        more = more || (set.closed[i] == 0 && larger.closed[i] != 0);
    }
    if (!more || !set.exact) return false;
    const auto inside = [&](const Vector& q) { return distance_from(e.periods, set, q, distance).value <= distance; };
    return inside(larger.representative) || std::any_of(larger.samples.begin(), larger.samples.end(), inside) ||
           std::any_of(larger.boundary.begin(), larger.boundary.end(), inside);
}

/// If further contacts close at a limit of a set, and that limit lies in the set of the larger combination, then the
/// two sets touch. So do sets one of which has points in the closure of the other. Fills in `touches` and `isolated`.
void find_neighbours(Equilibria& e) {
    constexpr double touching_distance = 1e-5;  // in 1 + |q_i|, more than the error of the extents
    const auto note = [&](std::size_t k, std::size_t j) {
        for (const auto& [from, to] : {std::pair{k, j}, std::pair{j, k}}) {
            std::vector<int>& touches = e.sets[from].touches;
            if (std::find(touches.begin(), touches.end(), static_cast<int>(to)) == touches.end())
                touches.push_back(static_cast<int>(to));
        }
    };
    for (std::size_t k = 0; k < e.sets.size(); ++k)
        for (std::size_t j = 0; j < e.sets.size(); ++j)
            if (j != k && reaches_into(e, e.sets[j], e.sets[k], touching_distance)) note(k, j);
    for (std::size_t k = 0; k < e.sets.size(); ++k)
        for (const SetLimit& limit : e.sets[k].limits) {
            if (limit.closes.empty()) continue;
            for (std::size_t j = 0; j < e.sets.size(); ++j) {
                std::vector<char> closed = e.sets[k].closed;
                for (const int i : limit.closes) closed[static_cast<std::size_t>(i)] = 1;
                if (j == k || e.sets[j].closed != closed) continue;
                Equilibria one = e;
                one.sets = {e.sets[j]};
                if (!member(one, {limit.q.data(), static_cast<std::size_t>(limit.q.size())}, touching_distance))
                    continue;
                note(k, j);
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

namespace {

/// The statement of the model, before any search.
Equilibria head(const model::Mechanics& m, const EquilibriaOptions& options) {
    Equilibria out;
    out.model = m.name;
    out.coordinates = m.coordinates;
    for (const model::Contact& c : m.contacts) out.contacts.push_back(c.name);
    out.time = options.time.value_or(0.0);
    out.periods.assign(m.coordinates.size(), 0.0);
    return out;
}

/// What the search of each combination of closed contacts shares.
struct Search {
    RestingModel& model;
    const EquilibriaOptions& options;
    Matrix neutral;                           ///< directions along which the model may be shifted
    std::vector<Vector> starts;               ///< scattered start positions
    std::unique_ptr<EquilibriumBoxes> boxes;  ///< nullptr: nothing is proved
    std::optional<CompletenessProof> proof;   ///< if `boxes`
};

struct CombinationResult {
    bool closable = false;   ///< some position has these contacts closed
    bool cut_short = false;  ///< the search reached its limit of programs
};

/// Searches from scattered positions. Returns whether the contacts could be closed from one of them.
bool search_from_starts(CombinationSearch& search, const Search& all, std::size_t contacts, Equilibria& out) {
    // With many contacts most combinations are empty, so that only the first starts are used.
    constexpr std::size_t max_contacts_for_all_starts = 5, reduced_starts = 12;
    const std::size_t count = contacts > max_contacts_for_all_starts
                                  ? std::min<std::size_t>(all.starts.size(), reduced_starts)
                                  : all.starts.size();
    bool closable = false;
    for (std::size_t k = 0; k < count && !search.must_stop(); ++k) {
        ++out.starts;
        closable = search.search_from(all.starts[k]) || closable;
    }
    return closable;
}

/// All positions of the cover are decided: no scattered starts are needed.
bool decided(const BoxCover& cover) {
    return std::all_of(cover.cells.begin(), cover.cells.end(),
                       [](const BoxCover::Cell& cell) { return cell.explained; });
}

/// The interval of touching cells around x, of a model with one coordinate; {x, x} if no cell contains x. It is
/// unbounded on a side on which the cells reach to the end of the region that was searched.
std::pair<double, double> cells_around(const BoxCover& cover, const proof::Interval& region, double x) {
    std::vector<std::pair<double, double>> cells;
    for (const BoxCover::Cell& cell : cover.cells) cells.emplace_back(cell.q[0].lo, cell.q[0].hi);
    std::sort(cells.begin(), cells.end());
    constexpr double rounding = 1e-9;  // of positions, in 1 + |q|
    const double margin = rounding * (1.0 + std::abs(x));
    std::pair<double, double> interval{x, x};
    for (std::size_t k = 0; k < cells.size();) {
        auto [lo, hi] = cells[k];
        for (++k; k < cells.size() && cells[k].first <= hi; ++k) hi = std::max(hi, cells[k].second);
        if (lo - margin <= x && x <= hi + margin) interval = {std::min(lo, x), std::max(hi, x)};
    }
    if (interval.first <= region.lo) interval.first = -proof::Interval::infinity;
    if (interval.second >= region.hi) interval.second = proof::Interval::infinity;
    return interval;
}

/// The extent of a set must not contain positions that are proved to be no equilibria. It does if the forces around the
/// start are smaller than rounding errors, as those of U = tanh(x - 40) around x = 0: then the set seems to have no
/// end. For models with one coordinate the extent is cut where the proof begins. Returns whether it was cut.
bool cut_where_excluded(const EquilibriumBoxes& boxes, const BoxCover& cover, EquilibriumSet& set) {
    const double x = set.representative(0);
    const proof::Interval region = boxes.region()[0];
    if (x < region.lo || x > region.hi || boxes.ignored()[0] != 0) return false;
    const auto [lo, hi] = cells_around(cover, region, x);
    constexpr double extent_error = 1e-5;  // in 1 + |q|, more than the error of the extents
    const double margin = extent_error * (1.0 + std::abs(x));
    if (set.lower(0) >= lo - margin && set.upper(0) <= hi + margin) return false;
    set.lower(0) = std::max(set.lower(0), lo);
    set.upper(0) = std::min(set.upper(0), hi);
    set.unbounded = !std::isfinite(set.lower(0)) || !std::isfinite(set.upper(0));
    set.exact = false;
    set.tolerance = std::max(set.tolerance, extent_error);  // the new end is that of a cell
    set.stability.reset();                                  // rounding errors say nothing about it
    const auto outside = [&](const Vector& q) { return q(0) < set.lower(0) || q(0) > set.upper(0); };
    std::erase_if(set.samples, outside);
    std::erase_if(set.boundary, outside);
    std::erase_if(set.limits, [&](const SetLimit& limit) { return outside(limit.q); });
    return true;
}

/// Adds a set whose extent was cut, unless it is one of the others or overlaps one that was not cut.
void add_cut_set(EquilibriumSet set, const std::vector<EquilibriumSet>& whole, Equilibria& out) {
    const auto overlaps = [&](const EquilibriumSet& other) {
        return other.closed == set.closed && other.lower(0) <= set.upper(0) && set.lower(0) <= other.upper(0);
    };
    if (std::any_of(whole.begin(), whole.end(), overlaps) || std::any_of(out.sets.begin(), out.sets.end(), overlaps))
        return;
    out.warnings.push_back(fmt::format(
        "with {} in {} .. {} the model is flat to rounding: the force is smaller than its rounding errors, and it is "
        "not decided whether it vanishes; the extent ends where positions are proved to be no equilibria",
        out.coordinates[0], set.lower(0), set.upper(0)));
    out.sets.push_back(std::move(set));
}

/// Says so if undecided cells are all that connects the parts of a set.
void warn_of_parts(const EquilibriumBoxes& boxes, const BoxCover& cover, const EquilibriumSet& set, Equilibria& out) {
    const int component = boxes.locate(cover, set.representative).component;
    if (set.dimension < 2 || component < 0) return;
    const int parts = boxes.proved_parts(cover, component);
    if (parts < 2) return;
    double size = 0.0;
    for (const BoxCover::Cell& cell : cover.cells)
        if (!cell.inside && cell.component == component) size = std::max(size, boxes.size_of(cell.q));
    out.warnings.push_back("a set of dimension " + std::to_string(set.dimension) +
                           " is not proved to be connected: " + std::to_string(parts) +
                           " parts of it are separated by boxes of up to " + fmt::format("{:.2g}", size) +
                           " (in 1 + |q|) that are not decided, and may be sets of their own");
}

/// Says so if a set ends where forces overflow, or their squares: F_N = exp(x) ends the set of a slider at x = 355.
void warn_of_overflow(RestingModel& model, const EquilibriumSet& set, Equilibria& out) {
    constexpr double beyond = 1e-6;  // of the way from the representative to the end
    for (const Vector& end : set.boundary) {
        const Vector outside = end + beyond * (end - set.representative);
        model.move_to(outside);
        const Statics s = model.statics(set.closed);
        // Norms contain squares of forces.
        bool finite = std::isfinite(s.h.squaredNorm()) && std::isfinite(s.W.squaredNorm());
        for (const RestingElement& e : s.elements)
            finite = finite && std::isfinite(e.load * e.load) && std::isfinite(e.body.mu * e.body.mu);
        if (finite) continue;
        std::string at;
        for (Index i = 0; i < end.size(); ++i)
            at += (i > 0 ? ", " : "") + out.coordinates[static_cast<std::size_t>(i)] + fmt::format(" = {:.6g}", end(i));
        out.warnings.push_back("a set ends at " + at +
                               " because a formula, or the square of a force, overflows there; it may go on");
    }
}

/// Searches the sets of one combination of closed contacts and adds them to `out`.
constexpr std::size_t most_ends = 2;  // of curves and intervals
CombinationResult search_combination(Search& all, const std::vector<char>& closed, Equilibria& out) {
    // Affine models need a single search; the second start is tried if the contacts cannot be closed from the first.
    constexpr std::size_t affine_starts = 2;
    CombinationSearch search(all.model, closed, out.periods, all.neutral, all.options.interrupted);
    CombinationResult result;
    BoxCover cover;
    if (all.boxes) {
        cover = all.boxes->cover(closed, all.options.max_boxes, all.options.interrupted);
        search.restrict_to(*all.boxes, cover);
        result.closable = cover.closable;
    }
    bool complete = false;
    for (std::size_t k = 0; k < affine_starts && !complete && (k == 0 || !result.closable); ++k) {
        const CombinationSearch::AffineSearch affine = search.search_affine(all.starts[k]);
        complete = affine.complete;
        result.closable = result.closable || affine.closable;
    }
    if (all.boxes) {
        search.search_cells(cover);
        complete = complete || decided(cover);
    }
    if (!complete) result.closable = search_from_starts(search, all, closed.size(), out) || result.closable;
    if (all.proof) all.proof->add(cover);
    result.cut_short = search.must_stop();
    out.programs += search.programs();
    std::vector<EquilibriumSet> whole, cut;
    for (EquilibriumSet& set : search.sets()) {
        const bool one_line = all.boxes && out.coordinates.size() == 1 && out.periods[0] == 0.0;
        const bool was_cut = one_line && cut_where_excluded(*all.boxes, cover, set);
        if (all.boxes && !was_cut) warn_of_parts(*all.boxes, cover, set, out);
        if (set.boundary.size() <= most_ends) warn_of_overflow(all.model, set, out);
        (was_cut ? cut : whole).push_back(std::move(set));
    }
    for (EquilibriumSet& set : cut) add_cut_set(std::move(set), whole, out);
    for (EquilibriumSet& set : whole) out.sets.push_back(std::move(set));
    return result;
}

/// True if `set` of a model with one coordinate contains a position next to an end of `other` that is no equilibrium. A
/// curve that was followed with long steps from far away can pass over such positions.
bool is_contradicted_by(RestingModel& model, const EquilibriumSet& set, const EquilibriumSet& other) {
    constexpr double beyond_end = 1e-5;  // in 1 + |q|, more than the error of the extents
    for (const auto& [end, outwards] : {std::pair{other.lower(0), -1.0}, std::pair{other.upper(0), 1.0}}) {
        if (!std::isfinite(end)) continue;
        const double step = beyond_end * (1.0 + std::abs(end)), outside = end + outwards * step;
        if (!(set.lower(0) + step < outside && outside < set.upper(0) - step)) continue;
        const EquilibriumPoint point = equilibrium_at(model, Vector::Constant(1, outside), {.ranges = false});
        if (point.decided && !point.is_equilibrium) return true;
    }
    return false;
}

/// Removes sets of models with one coordinate that the ends of other sets contradict, and sets that are listed before.
void drop_contradicted(RestingModel& model, Equilibria& out) {
    if (out.coordinates.size() != 1) return;
    const auto same = [](const EquilibriumSet& a, const EquilibriumSet& b) {
        return a.closed == b.closed && a.lower == b.lower && a.upper == b.upper;
    };
    std::vector<EquilibriumSet> distinct;
    for (EquilibriumSet& set : out.sets)
        if (std::none_of(distinct.begin(), distinct.end(), [&](const EquilibriumSet& d) { return same(d, set); }))
            distinct.push_back(std::move(set));
    out.sets = std::move(distinct);
    std::vector<char> wrong(out.sets.size(), 0);
    for (std::size_t k = 0; k < wrong.size(); ++k)
        for (std::size_t other = 0; other < wrong.size() && wrong[k] == 0; ++other)
            if (other != k && is_contradicted_by(model, out.sets[k], out.sets[other])) wrong[k] = 1;
    if (std::find(wrong.begin(), wrong.end(), char{1}) == wrong.end()) return;
    std::vector<EquilibriumSet> kept;
    for (std::size_t k = 0; k < wrong.size(); ++k)
        if (wrong[k] == 0) kept.push_back(std::move(out.sets[k]));
    out.sets = std::move(kept);
    out.completeness.complete = false;  // what the removed sets explained is open again
    if (out.completeness.why.empty()) out.completeness.why = "a set that was found contradicts others and was removed";
}

/// Prepares the proof that no set is missing, or states why it is not possible.
void prepare_proof(const model::Mechanics& m, Search& all, Equilibria& out) {
    std::string& why = out.completeness.why;
    if (all.options.max_boxes <= 0)
        why = "no proof was asked for";
    else if (depends_on_time(m))
        why = "the model depends on time";
    if (!why.empty()) return;
    proof::Box region;
    for (const auto& [lo, hi] : all.options.region) region.emplace_back(lo, hi);
    all.boxes = EquilibriumBoxes::of(m, out.periods, region, why);
    if (all.boxes) all.proof.emplace(*all.boxes);
}

}  // namespace

Equilibria equilibria(const model::Mechanics& m, const EquilibriaOptions& options) {
    model::refuse_elements(m, model::Analysis::equilibrium_sets);
    Equilibria out = head(m, options);
    if (!options.time && depends_on_time(m)) {
        out.status = SearchStatus::time_dependent;
        out.warnings.push_back(
            "forces or geometry depend on time, so that no position needs to stay at rest: no sets are given; --time t "
            "examines the model as it is at that time");
        return out;
    }
    if (m.size() > options.largest_model) {
        out.status = SearchStatus::too_large;
        out.warnings.push_back("the model has " + std::to_string(m.size()) +
                               " coordinates, too many to search for sets; --at examines single positions");
        return out;
    }
    RestingModel model(m, out.time);
    if (!model.has_derivatives()) {
        out.status = SearchStatus::no_derivatives;
        out.warnings.push_back("the system gives no derivatives, which the search for sets needs; --at works");
        return out;
    }
    out.periods = periods_of(model);
    Search all{model, options, neutral_directions(model), scattered(m, out.periods, options.starts), nullptr, {}};
    prepare_proof(m, all, out);
    bool cut_short = false, interrupted = false;
    Combinations combinations(m.contacts.size(), static_cast<std::size_t>(options.max_combinations));
    while (const std::optional<std::vector<char>> closed = combinations.next()) {
        interrupted = options.interrupted && options.interrupted();
        if (interrupted) break;
        ++out.combinations;
        const CombinationResult result = search_combination(all, *closed, out);
        cut_short = cut_short || result.cut_short;
        if (!result.closable) combinations.mark_not_closable();
    }
    if (all.proof) out.completeness = all.proof->conclude(!interrupted && !combinations.left_out());
    drop_contradicted(model, out);
    if (combinations.left_out()) {
        out.status = SearchStatus::partly;
        out.warnings.push_back("only the first " + std::to_string(options.max_combinations) +
                               " combinations of closed contacts were searched");
    }
    if (options.interrupted && options.interrupted())
        out.status = SearchStatus::interrupted;
    else if (cut_short)
        out.warnings.push_back(
            "the search of some combination of contacts reached its limit of linear programs: sets may be missing, "
            "and some extents are those of samples");
    std::stable_sort(out.sets.begin(), out.sets.end(),
                     [&](const EquilibriumSet& a, const EquilibriumSet& b) { return before(out.periods, a, b); });
    find_neighbours(out);
    return out;
}

}  // namespace saltus::stability
