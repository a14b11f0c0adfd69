// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_distance.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_polytope.hpp"
#include "saltus/stability/equilibria/detail/singular_closing.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

// Lengths are in units of 1 + |q_i|, gaps relative to their position_scale, depths as RestingManifold::depth.
constexpr double open_contact_gap = 1e-9;  ///< a contact is open if its gap is larger
constexpr double period_rounding = 1e-9;   ///< of q/P: positions at −P/2 up to this count as at +P/2
constexpr double off_plane = 1e-7;         ///< largest distance of a position from the exact set that it belongs to
constexpr double off_curve = 1e-6;         ///< largest distance from a curve
constexpr double near_curve = 0.1;         ///< positions further from all samples of a curve are not on it
constexpr int max_samples_beside = 4;      ///< samples of a curve from which a position on it is searched
constexpr double outside_depth = -1e-8;    ///< a position of less depth is not in a region
/// A region whose extent is less accurate than this was not covered to its ends.
constexpr double incomplete_tolerance = 1e-6;
constexpr int max_settles = 50;              ///< searches from one start and the positions that it leads to
constexpr int max_lifts = 4;                 ///< attempts to open touching contacts
constexpr int max_starts_in_component = 40;  ///< cells of one component from which a search starts
constexpr int max_starts_in_undecided = 2;   ///< the same if the budget of boxes ended: there may be many components
constexpr std::size_t start_spread = 7;      ///< after a failure the next start is this part of the list away
constexpr std::size_t max_region_samples = 5000;
/// A cell larger than this, in 1 + |q_i|, that is not proved to consist of equilibria stays undecided.
constexpr double coarsest_cell = 0.02;
/// Short searches are enough to open a contact.
constexpr RestingManifold::SettleOptions lift_options{
    .radius = 0.05, .largest = 0.1, .smallest = 1e-8, .max_steps = 20};  // lengths in 1 + |q_i|

}  // namespace

Vector first_copy(const std::vector<double>& periods, const Vector& q) {
    Vector out = q;
    for (std::size_t i = 0; i < periods.size(); ++i) {
        const auto k = static_cast<Index>(i);
        if (periods[i] > 0.0) out(k) -= periods[i] * std::ceil(q(k) / periods[i] - 0.5 - period_rounding);
    }
    return out;
}

CombinationSearch::CombinationSearch(RestingModel& model, std::vector<char> closed, const std::vector<double>& periods,
                                     const Matrix& neutral, std::function<bool()> interrupted)
    : model_(model), manifold_(model, std::move(closed)), periods_(periods) {
    manifold_.neutral = neutral;
    manifold_.interrupted = std::move(interrupted);
}

bool CombinationSearch::search_from(Vector q) {
    if (!manifold_.close(q)) return false;
    pending_.push_back(q);
    for (int rounds = 0; !pending_.empty() && rounds < max_settles && !manifold_.must_stop(); ++rounds) {
        RestPoint p = manifold_.at(pending_.front());
        pending_.pop_front();
        if (!manifold_.settle(p)) continue;
        p.q = first_copy(periods_, p.q);
        if (!lift(p) || (manifold_.possible && !manifold_.possible(p.q)) || known(p)) continue;
        if (rests_on_singular_rows(model_, manifold_.closed(), p.q)) continue;
        const int searched = component_;
        component_ = component_at(p.q);
        describe(std::move(p));
        component_ = searched;
    }
    pending_.clear();
    return true;
}

void CombinationSearch::restrict_to(const EquilibriumBoxes& boxes, const BoxCover& cover) {
    boxes_ = &boxes;
    cover_ = &cover;
    manifold_.possible = [this](const Vector& q) {
        const CoverPlace at = boxes_->locate(*cover_, q);
        if (at.place != Place::in_cell) return at.place == Place::outside;
        return component_ < 0 || at.component < 0 || at.component == component_;
    };
}

int CombinationSearch::component_at(const Vector& q) const {
    return cover_ != nullptr ? boxes_->locate(*cover_, q).component : -1;
}

void CombinationSearch::search_cells(BoxCover& cover) {
    std::vector<std::vector<BoxCover::Cell*>> components(static_cast<std::size_t>(cover.components));
    for (BoxCover::Cell& cell : cover.cells)
        if (cell.component >= 0) components[static_cast<std::size_t>(cell.component)].push_back(&cell);
    const long limit = manifold_.max_programs;
    for (std::size_t k = 0; k < components.size(); ++k) {
        if (manifold_.interrupted && manifold_.interrupted()) break;
        if (cover.endless(static_cast<int>(k))) continue;
        manifold_.max_programs = manifold_.programs + limit;  // each component has a budget of its own
        component_ = static_cast<int>(k);
        search_component(components[k]);
        drop_parts();
    }
    manifold_.max_programs = manifold_.programs + limit;
    component_ = -1;
}

/// The search begins in the middle of the largest cell that consists of equilibria, or else in the middle of the list.
/// It is repeated from cells that no set explains.
void CombinationSearch::search_component(std::vector<BoxCover::Cell*>& cells) {
    explain(cells, 0);
    std::size_t start = cells.size() / 2;
    double largest = -1.0;
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i]->inside && boxes_->size_of(cells[i]->q) > largest) {
            largest = boxes_->size_of(cells[i]->q);
            start = i;
        }
    const int max_tries = cover_->stopped ? max_starts_in_undecided : max_starts_in_component;
    for (int tries = 0; tries < max_tries && !manifold_.must_stop(); ++tries) {
        const auto open = [](const BoxCover::Cell* cell) { return !cell->explained; };
        if (cells[start]->explained) {
            const auto next = std::find_if(cells.begin(), cells.end(), open);
            if (next == cells.end()) return;
            start = static_cast<std::size_t>(next - cells.begin());
        }
        const std::size_t before = sets_.size();
        const std::vector<double> c = proof::centre(cells[start]->q);
        search_from(Eigen::Map<const Vector>(c.data(), static_cast<Index>(c.size())));
        for (std::size_t k = before; k < sets_.size(); ++k)
            if (components_[k] == component_) fill_region(sets_[k], cells);
        explain(cells, before);
        // Another cell of the same component, spread over the list.
        if (!cells[start]->explained) start = (start + cells.size() / start_spread + 1) % cells.size();
    }
}

/// A curve may have ended too early, and a later one contains it: the shorter one is removed.
void CombinationSearch::drop_parts() {
    const auto contains = [&](const EquilibriumSet& whole, const EquilibriumSet& part) {
        return std::all_of(part.samples.begin(), part.samples.end(), [&](const Vector& q) {
            return distance_from(periods_, whole, q, off_curve).value <= off_curve;
        });
    };
    for (std::size_t k = 0; k < sets_.size();) {
        bool part = false;
        for (std::size_t other = 0; other < sets_.size() && !part; ++other)
            part = other != k && components_[k] == component_ && components_[other] == component_ &&
                   sets_[k].shape == SetShape::curve && sets_[other].shape == SetShape::curve &&
                   contains(sets_[other], sets_[k]);
        const auto at = static_cast<std::ptrdiff_t>(k);
        if (!part) {
            ++k;
            continue;
        }
        sets_.erase(sets_.begin() + at);
        curves_.erase(curves_.begin() + at);
        components_.erase(components_.begin() + at);
    }
}

/// The samples of a region may miss parts of it. The cells of its component that consist of equilibria belong to the
/// region: their centres extend it, to the accuracy of the cells.
void CombinationSearch::fill_region(EquilibriumSet& set, const std::vector<BoxCover::Cell*>& cells) {
    if (set.dimension < 2 || set.exact) return;
    for (const BoxCover::Cell* const cell : cells) {
        if (!cell->inside || set.samples.size() >= max_region_samples) continue;
        const std::vector<double> c = proof::centre(cell->q);
        Vector q = Eigen::Map<const Vector>(c.data(), static_cast<Index>(c.size()));
        if (!manifold_.close(q)) continue;
        q = nearest_copy(periods_, q, set.representative);
        if (distance_from(periods_, set, q, off_curve).value <= off_curve) continue;
        set.samples.push_back(q);
        set.tolerance = std::max(set.tolerance, boxes_->size_of(cell->q));
        for (Index i = 0; i < q.size(); ++i) {
            if (set.around[static_cast<std::size_t>(i)] != 0) continue;
            set.lower(i) = std::min(set.lower(i), q(i));
            set.upper(i) = std::max(set.upper(i), q(i));
        }
    }
}

void CombinationSearch::explain(const std::vector<BoxCover::Cell*>& cells, std::size_t first) {
    for (std::size_t k = first; k < sets_.size(); ++k) {
        if (components_[k] != component_) continue;
        for (BoxCover::Cell* const cell : cells)
            if (!cell->explained) cell->explained = explains(k, *cell);
    }
}

bool CombinationSearch::explains(std::size_t k, const BoxCover::Cell& cell) {
    const double size = boxes_->size_of(cell.q);
    const EquilibriumSet& set = sets_[k];
    if (!cell.inside && size > coarsest_cell) return false;
    const std::vector<double> c = proof::centre(cell.q);
    Vector q = Eigen::Map<const Vector>(c.data(), static_cast<Index>(c.size()));
    if (!manifold_.close(q)) return false;
    const double near = cells_beside_set * size + off_curve;
    return distance_from(periods_, set, q, near).value <= near;
}

std::vector<EquilibriumSet> CombinationSearch::sets() const {
    std::vector<EquilibriumSet> list;
    EquilibriumSet* open = nullptr;
    list.reserve(sets_.size());
    for (const EquilibriumSet& set : sets_) {
        const bool unfinished =
            cover_ == nullptr && set.shape == SetShape::region && set.tolerance > incomplete_tolerance;
        if (!unfinished || open == nullptr || open->dimension != set.dimension) {
            list.push_back(set);
            if (unfinished) open = &list.back();
            continue;
        }
        open->lower = open->lower.cwiseMin(set.lower);
        open->upper = open->upper.cwiseMax(set.upper);
        open->tolerance = std::max(open->tolerance, set.tolerance);
        open->potential_least = std::min(open->potential_least, set.potential_least);
        open->potential_greatest = std::max(open->potential_greatest, set.potential_greatest);
        open->boundary.insert(open->boundary.end(), set.boundary.begin(), set.boundary.end());
        open->samples.insert(open->samples.end(), set.samples.begin(), set.samples.end());
        if (set.contains_frictionless && !open->contains_frictionless) {
            open->contains_frictionless = true;
            open->frictionless = set.frictionless;
        }
    }
    return list;
}

CombinationSearch::AffineSearch CombinationSearch::search_affine(Vector q) {
    constexpr bool complete = true;
    if (!closes_in_a_plane(model_, manifold_.closed())) return {};
    const bool closable = manifold_.close(q);
    if (!closable) return {complete, closable};
    model_.move_to(q);
    const Matrix N = manifold_.closing();
    const std::optional<AffineRest> plane =
        affine_along(model_, manifold_.closed(), q, {}, N.cols() > 0 ? reduced_basis(N) : N);
    if (!plane || plane->neutral) return {!complete, closable};
    for (const AffineRest::Gap& gap : plane->gaps)
        if (!gap.affine) return {!complete, closable};
    const AffineSets::Somewhere found = AffineSets::somewhere(model_, manifold_.closed(), *plane);
    if (!found.q) return {found.decided, closable};
    RestPoint p = manifold_.at(*found.q);
    const std::size_t before = sets_.size();
    // The program compares all forces with the largest one, so that a weight beside a stiff spring counts as nothing.
    // The enclosures of the cover resolve every force by itself.
    const bool resolved = !manifold_.possible || manifold_.possible(*found.q);
    if (resolved && manifold_.correct(p)) describe(std::move(p));
    return {sets_.size() > before && sets_.back().exact, closable};
}

bool CombinationSearch::lift(RestPoint& p) {
    for (int tries = 0; tries < max_lifts; ++tries) {
        const RestingManifold::LeastGap least = manifold_.least_gap(p.q);
        if (least.value > open_contact_gap) return true;
        model_.move_to(p.q);
        const Vector cost =
            -model_.row(model_.model().contacts[static_cast<std::size_t>(least.contact)].row).transpose();
        if (!manifold_.settle(p, cost, lift_options)) return false;
    }
    return manifold_.least_gap(p.q).value > open_contact_gap;
}

bool CombinationSearch::in_set(std::size_t k, const Vector& q) {
    if (sets_[k].exact) return in_exact_set(sets_[k], q);
    if (curves_[k]) return on_curve(*curves_[k], q);
    return in_region(sets_[k], q);
}

/// In the plane of the set and within its extent.
bool CombinationSearch::in_exact_set(const EquilibriumSet& set, const Vector& q) const {
    Vector off = manifold_.modulo(nearest_copy(periods_, q, set.origin) - set.origin);
    const Vector unit = manifold_.unit(q);
    if (set.directions.cols() > 0) off -= set.directions * least_squares(set.directions, off);
    if (off.cwiseQuotient(unit).cwiseAbs().maxCoeff() > off_plane) return false;
    for (Index i = 0; i < q.size(); ++i) {
        if (set.around[static_cast<std::size_t>(i)] != 0) continue;
        const double x = nearest_copy(periods_, q, set.representative)(i);
        if (x < set.lower(i) - off_plane * unit(i) || x > set.upper(i) + off_plane * unit(i)) return false;
    }
    return true;
}

/// The point of the curve beside q, at the same distance along the tangent of a near sample, is q itself. The manifold
/// continues beyond the ends of the curve, and the sample nearest to q may be at the other end: so q must lie between
/// the neighbours of that sample.
bool CombinationSearch::on_curve(const Curve& c, const Vector& q) {
    struct Candidate {
        std::size_t sample;
        double distance;  // of q from the sample
    };
    std::vector<Candidate> near;
    const auto copy_at = [&](const Vector& at) {
        return Vector(at + manifold_.modulo(nearest_copy(periods_, q, at) - at));
    };
    for (std::size_t i = 0; i < c.samples.size(); ++i) {
        const Vector& at = c.samples[i].point.q;
        if (const double d = manifold_.distance(at, copy_at(at)); d <= near_curve) near.push_back({i, d});
    }
    std::sort(near.begin(), near.end(), [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
    int tries = 0;
    for (const Candidate& candidate : near) {
        const Curve::Sample& s = c.samples[candidate.sample];
        const Vector unit = manifold_.unit(s.point.q);
        const Vector copy = copy_at(s.point.q), direction = s.tangent.cwiseQuotient(unit);
        const double distance = direction.dot(copy - s.point.q);
        const auto along = [&](std::size_t i) { return direction.dot(c.samples[i].point.q - s.point.q); };
        const double from = candidate.sample > 0 ? along(candidate.sample - 1) : 0.0;
        const double to = candidate.sample + 1 < c.samples.size() ? along(candidate.sample + 1) : 0.0;
        if (distance < from - off_curve || distance > to + off_curve) continue;
        RestPoint p = s.point;
        p.q += distance * s.tangent.cwiseProduct(unit);
        if (manifold_.correct(p, RestingManifold::Slice{s.point.q, direction, distance}) &&
            manifold_.distance(p.q, copy) <= off_curve)
            return true;
        if (++tries == max_samples_beside) return false;
    }
    return false;
}

/// A sample is near, and the positions between it and q are equilibria.
bool CombinationSearch::in_region(const EquilibriumSet& set, const Vector& q) {
    constexpr int parts = 8;
    for (const Vector& at : set.samples) {
        const Vector copy = at + manifold_.modulo(nearest_copy(periods_, q, at) - at);
        if (manifold_.distance(at, copy) > 1.5 * set.spacing) continue;
        bool all = true;
        for (int part = 1; part < parts && all; ++part) {
            RestPoint p = manifold_.at(at + (copy - at) * (part / static_cast<double>(parts)));
            all = manifold_.correct(p) && manifold_.depth(p.q) >= outside_depth;
        }
        if (all) return true;
    }
    return false;
}

bool CombinationSearch::known(const RestPoint& p) {
    const int component = component_at(p.q);
    for (std::size_t k = 0; k < sets_.size(); ++k) {
        if (component >= 0 && components_[k] >= 0 && components_[k] != component) continue;
        if (in_set(k, p.q)) return true;
        if (component < 0 || components_[k] != component) continue;
        // A region fills its component. Other sets of the same component are told apart by their distance.
        if (sets_[k].dimension > 1 && !sets_[k].exact) return true;
        if (distance_from(periods_, sets_[k], p.q, off_curve).value <= off_curve) return true;
    }
    return false;
}

}  // namespace saltus::stability
