// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/position_tests.hpp"

#include <algorithm>

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// A test enumerates 2^n subsets of the n gaps that may close in a box. A box with more such gaps is split untested.
constexpr std::size_t max_closable_gaps = 10;
/// The equilibrium is enclosed once for each of the 2^n subsets of its n closed gaps.
constexpr std::size_t max_closed_at_equilibrium = 6;

/// Calls f(closed) for each subset of the rows until one returns false. Returns whether none did.
template <class F>
bool for_each_subset(const std::vector<int>& rows, F f) {
    for (unsigned mask = 0; mask < (1U << rows.size()); ++mask)
        if (!f(subset(rows, mask))) return false;
    return true;
}

/// Calls f(signs) for each combination of the signs of `count` reactions until one returns false. Returns whether none
/// did.
template <class F>
bool for_each_sign(std::size_t count, F f) {
    for (unsigned combination = 0; combination < (1U << count); ++combination)
        if (!f(signs_of(combination, count))) return false;
    return true;
}

}  // namespace

PositionTests::PositionTests(const AdmissibleSet& set, const StationaryPoint& equilibrium, const StationaryBox& box)
    : set_(set),
      enclosure_(set.enclosure()),
      equilibrium_(equilibrium),
      frictional_(frictional_constraints(enclosure_)) {
    // The same point is a solution of the equations of several supports, with multipliers of any sign.
    if (!box.proved() || equilibrium.closed.size() > max_closed_at_equilibrium) return;
    for_each_subset(equilibrium.closed, [&](const std::vector<int>& closed) {
        StationaryBox one = enclose_stationary(enclosure_, equilibrium, with_constraints(closed));
        if (one.proved()) supports_.push_back(std::move(one));
        return true;
    });
}

/// Proves that q_e is the only stationary point of the box with these closed gaps. Two solutions (q, λ) of
/// F = (∇U − Σ λ w, g) = 0 with the same rows differ by z with J z = 0, where J is a mean of the Jacobian F' between
/// them. J lies in the interval matrix over the hull. If this is regular then z = 0. The multipliers are bounded first:
/// ∇U = W λ gives λ = (WᵀW)⁻¹Wᵀ∇U (W has the rows of the support as columns).
bool PositionTests::only_equilibrium(const Box& q, const std::vector<int>& closed) const {
    if (!enclosure_.smooth) return false;
    const StationaryBox* found = support_among(q, with_constraints(closed));
    if (found == nullptr) return false;
    const Box both = hull(q, found->q);
    const std::vector<int>& support = found->support;
    const IntervalMatrix W = rows_of(enclosure_.row_matrix(both), support);
    const IntervalVector gradient = enclosure_.gradient(both);
    IntervalMatrix g(enclosure_.size(), 1);
    for (int i = 0; i < enclosure_.size(); ++i) g(i, 0) = gradient[static_cast<std::size_t>(i)];
    const std::optional<IntervalMatrix> lambda = solve(W * transpose(W), W * g);
    if (!lambda) return false;
    IntervalVector bounds;
    for (int k = 0; k < lambda->rows(); ++k)
        bounds.push_back(expr::hull((*lambda)(k, 0), found->lambda[static_cast<std::size_t>(k)]));
    return regular(stationarity_matrix(enclosure_, both, support, bounds)) && qualified(both);
}

std::vector<int> PositionTests::with_constraints(const std::vector<int>& closed) const {
    std::vector<int> rows;
    for (int r = 0; r < enclosure_.constraints(); ++r) rows.push_back(r);
    rows.insert(rows.end(), closed.begin(), closed.end());
    return rows;
}

/// The enclosure of the equilibrium with these rows as support. If there are more rows than coordinates on which they
/// act, an enclosure with as many of them as coordinates: these span the same space as all rows. nullptr: none is
/// known.
const StationaryBox* PositionTests::support_among(const Box& q, const std::vector<int>& rows) const {
    const IntervalMatrix W = rows_of(enclosure_.row_matrix(q), rows);
    std::size_t touched = 0;
    for (int j = 0; j < W.cols(); ++j)
        for (int i = 0; i < W.rows(); ++i)
            if (W(i, j).lo != 0.0 || W(i, j).hi != 0.0) {
                ++touched;
                break;
            }
    const std::size_t count = std::min(rows.size(), touched);
    for (const StationaryBox& b : supports_)
        if (b.support.size() == count && std::includes(rows.begin(), rows.end(), b.support.begin(), b.support.end()))
            return &b;
    return nullptr;
}

/// Proves the constraint qualification of Mangasarian and Fromovitz on the box: some direction opens all gaps that may
/// be closed. Every point with 0 ∈ ∂Q then has multipliers λ >= 0.
bool PositionTests::qualified(const Box& q) const {
    const std::vector<int> closed = set_.may_close(q);
    if (closed.empty()) return true;
    std::optional<ForceSet> forces = frictionless_forces(enclosure_, q, closed);
    if (!forces) return false;
    forces->loads = {forces->cones.front().normal};
    return separate(*forces).has_value();
}

/// A box on which too many gaps may close is split until fewer may.
BoxTest PositionTests::too_many_gaps(const Box& q) const {
    BoxTest t;
    t.undecided = q;
    t.side = decisive_side(q, scale(), [&](const Box& b) { return spread_of(enclosure_.position_values(b)); });
    return t;
}

/// 0 ∈ ∂Q means that −∇U is balanced by contact forces λ >= 0 and constraint reactions. A separating direction proves
/// that there is no balance. If q_e is in the box, it must be the only solution.
BoxTest PositionTests::no_stationary_point(const Box& q, double cap) const {
    const std::vector<int> rows = set_.may_close(q);
    if (rows.size() > max_closable_gaps) return too_many_gaps(q);
    BoxTest t;
    if (const std::optional<ForceSet> all = frictionless_forces(enclosure_, q, rows); all && separate(*all)) {
        t.proved = true;
        return t;
    }
    t.proved = for_each_subset(rows, [&](const std::vector<int>& closed) {
        Box part = q;
        if (!set_.contract(part, closed, cap)) return true;
        const std::optional<ForceSet> forces = frictionless_forces(enclosure_, part, closed);
        if (forces && separate(*forces)) return true;
        if (only_equilibrium(part, closed) || implies_more_closed(enclosure_, part, rows, closed)) return true;
        t.undecided = part;
        t.side = decisive_side(part, scale(), [&](const Box& b) {
            const std::optional<ForceSet> f = frictionless_forces(enclosure_, b, closed);
            return f ? spread_of(*f) : unknown_spread;
        });
        return false;
    });
    return t;
}

/// For each open gap i of I_C: γ̇_i < 0 whenever the closed gaps have γ̇ = 0. The velocities are bounded by
/// T <= min(kinetic, cap − Q), since V = T + Q stays below the cap.
BoxTest PositionTests::gaps_close(const Box& q, double cap, const std::vector<int>& I_C, double kinetic) const {
    const std::vector<int> rows = set_.may_close(q);
    if (rows.size() > max_closable_gaps) return too_many_gaps(q);
    BoxTest t;
    const auto first_stays_negative = [&](const Box& part, const std::vector<int>& closed, int gap, double energy) {
        return for_each_sign(frictional_.size(), [&](const std::vector<int>& signs) {
            AccelerationRequest request{{gap}, closed, signs, energy};
            request.gaps.insert(request.gaps.end(), closed.begin(), closed.end());
            const std::optional<Accelerations> a = accelerations(enclosure_, part, request);
            if (a && a->exclude(energy, Claim::first_negative)) return true;
            if (implies_more_closed(enclosure_, part, rows, closed)) return true;
            t.undecided = part;
            t.failed_item = gap;
            t.side = decisive_side(part, scale(), [&](const Box& b) {
                const std::optional<Accelerations> f = accelerations(enclosure_, b, request);
                if (!f) return unknown_spread;
                double sum = spread_of(f->forces);
                for (const IntervalVector& l : f->linear) sum += spread_of(l);
                for (const IntervalMatrix& B : f->quadratic) sum += spread_of(B);
                return sum;
            });
            return false;
        });
    };
    t.proved = for_each_subset(rows, [&](const std::vector<int>& closed) {
        std::vector<int> open;
        for (const int r : I_C)
            if (std::find(closed.begin(), closed.end(), r) == closed.end()) open.push_back(r);
        if (open.empty()) return true;
        Box part = q;
        if (!set_.contract(part, closed, cap)) return true;
        const double energy = std::min(kinetic, cap - set_.level(part).lo);
        return std::all_of(open.begin(), open.end(),
                           [&](int gap) { return first_stays_negative(part, closed, gap, energy); });
    });
    return t;
}

BoxTest PositionTests::in_region(const Box& q) const {
    const Box u(static_cast<std::size_t>(enclosure_.size()), Interval(0.0));
    const auto slacks = [&](const Box& box) {
        IntervalVector all = enclosure_.regions(box, u), list;
        for (std::size_t r = 0; r < all.size(); ++r)
            if (!enclosure_.region_of_velocity[r]) list.push_back(all[r]);
        return list;
    };
    const IntervalVector slack = slacks(q);
    BoxTest t;
    t.proved = std::all_of(slack.begin(), slack.end(), [](const Interval& x) { return x.defined && x.lo > 0.0; });
    if (t.proved) return t;
    t.undecided = q;
    t.side = decisive_side(q, scale(), [&](const Box& b) { return spread_of(slacks(b)); });
    return t;
}

}  // namespace saltus::stability
