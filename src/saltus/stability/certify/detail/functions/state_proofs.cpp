// SPDX-License-Identifier: Apache-2.0
//
// A box B is star-shaped around x_e. So it is enough that the Hessians are definite at every point of B: they may be
// examined on small boxes that cover B, each by itself.
#include "saltus/stability/certify/detail/functions/state_proofs.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/functions/element_powers.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// Radii are tried from the largest one downwards by this factor, then refined by bisection.
constexpr double largest_radius = 1e6, smallest_radius = 1e-6, radius_factor = 4.0;
constexpr int radius_bisections = 6;
/// A side is not split below this fraction of the box.
constexpr int max_depth = 40;
/// The lower bound of V on the boundary is searched with at most this many boxes, to this relative accuracy.
constexpr long max_boundary_boxes = 4000;
constexpr double boundary_accuracy = 0.01;

IntervalMatrix negative(const IntervalMatrix& A) {
    IntervalMatrix B(A.rows(), A.cols());
    return B - A;
}

/// The block of the velocities.
IntervalMatrix velocity_block(const IntervalMatrix& H, int n) {
    IntervalMatrix B(n, n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) B(i, j) = H(n + i, n + j);
    return B;
}

/// Searches one box around x_e.
class Search {
public:
    Search(const StateFunction& V, const Enclosure& e, const StateProofRequest& r) : V_(V), e_(e), r_(r) {}

    Box around(double radius) const {
        Box box;
        for (std::size_t k = 0; k < r_.equilibrium.size(); ++k) {
            const Interval& x = r_.equilibrium[k];
            if (std::isinf(radius)) {
                box.push_back(expr::entire());
            } else {
                const double half = radius * r_.scale[k];
                box.emplace_back(expr::next_down(x.lo - half), expr::next_up(x.hi + half));
            }
        }
        return box;
    }

    /// Proves a property of all points of the box by splitting it.
    template <class Test>
    bool everywhere(const Box& box, const Test& test, int depth = 0) {
        if (boxes > r_.budget || (r_.stop && r_.stop())) return false;
        ++boxes;
        if (test(box)) return true;
        if (depth >= max_depth || !bounded(box)) return false;
        std::size_t side = 0;
        double widest = 0.0;
        for (std::size_t k = 0; k < box.size(); ++k)
            if (const double w = width(box[k]) / r_.scale[k]; w > widest) widest = w, side = k;
        if (!can_split(box, side)) return false;
        // A property that fails at the centre is not proved on smaller boxes either.
        if (depth == 0 && !test(point_box(centre(box)))) return false;
        const auto [a, b] = split(box, side, 0.0, 1.0);
        return everywhere(a, test, depth + 1) && everywhere(b, test, depth + 1);
    }

    IntervalMatrix rate_hessian(const Box& x) const {
        const IntervalMatrix H = r_.elements ? V_.smooth_rate_hessian(x) : V_.rate_hessian(x);
        return r_.course == Course::falls ? negative(H) : H;
    }

    bool region(const Box& x) {
        const auto n = static_cast<std::ptrdiff_t>(V_.size());
        return everywhere(x, [&](const Box& b) {
            const IntervalVector slack = e_.regions({b.begin(), b.begin() + n}, {b.begin() + n, b.end()});
            return std::all_of(slack.begin(), slack.end(), [](const Interval& s) { return s.defined && s.lo > 0.0; });
        });
    }

    bool proves(double radius, StateProof& proof) {
        const Box box = around(radius);
        StateProof p;
        p.radius = radius;
        p.box = box;
        if (!region(box)) return false;
        if (r_.positive) {
            p.positive = everywhere(box, [&](const Box& b) { return positive_definite(supported_hessian(b)); });
            if (!p.positive) return false;
        }
        if (r_.elements) {
            if (!with_elements(box, p)) return false;
            proof = p;
            return true;
        }
        p.strict = everywhere(box, [&](const Box& b) { return positive_definite(rate_hessian(b)); });
        if (!p.strict) {
            if (!V_.rate_rests()) return false;
            p.except_rest =
                everywhere(
                    box, [&](const Box& b) { return positive_definite(velocity_block(rate_hessian(b), V_.size())); }) &&
                one_equilibrium(box);
            if (!p.except_rest) return false;
        }
        proof = p;
        return true;
    }

    /// ∇²L with L = V − α g_N of the support.
    IntervalMatrix supported_hessian(const Box& x) const {
        IntervalMatrix H = V_.hessian(x);
        if (r_.support.gap < 0) return H;
        const Box q(x.begin(), x.begin() + V_.size());
        const IntervalMatrix G = e_.position_hessians(q)[ix(r_.support.gap)];
        for (int i = 0; i < V_.size(); ++i)
            for (int j = 0; j < V_.size(); ++j)
                if (!is_zero(G(i, j))) H(i, j) = H(i, j) - r_.support.force * G(i, j);
        return H;
    }

    /// The rate of V in a model with elements.
    bool with_elements(const Box& box, StateProof& p) {
        const ElementPowers& elements = *r_.elements;
        if (!everywhere(box, [&](const Box& b) { return elements.powers(b); })) return false;
        p.strict = r_.force_free && everywhere(box, [&](const Box& b) { return positive_definite(rate_hessian(b)); });
        if (!p.strict) {
            if (!V_.smooth_rate_rests()) return false;
            const bool falls = r_.course == Course::falls;
            p.dissipative = everywhere(box, [&](const Box& b) {
                if (!elements.admissible(b)) return true;
                const IntervalMatrix H = V_.damped_hessian(b);
                return (H.rows() == 0 || positive_definite(falls ? negative(H) : H)) && elements.only_rest(b);
            });
            if (!p.dissipative) return false;
        }
        return elements.impacts(box, *r_.point, r_.budget, r_.stop);
    }

    /// q ↦ h(q, 0) is injective on the box if all matrices in ∂h/∂q(box) are regular: the box is convex, and
    /// h(q, 0) − h(p, 0) is such a matrix times q − p (mean value theorem by components). With f^nc(q, 0) = 0 it is
    /// −∇²U; other forces at rest are not examined.
    bool one_equilibrium(const Box& x) const {
        if (!e_.forces_vanish_at_rest || !e_.smooth) return false;
        const Box q(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(V_.size()));
        const IntervalMatrix H = e_.hessian(q);
        return H.finite() && regular(H);
    }

    /// A lower bound of V − V(x_e) at the admissible states on the faces of B, by branch and bound.
    double boundary_level(const Box& box) {
        if (!bounded(box)) return infinity;
        const double V_e = V_.value(r_.equilibrium).hi;
        struct Item {
            double lower;
            Box box;
            std::size_t face;
            bool operator<(const Item& other) const { return lower > other.lower; }
        };
        std::priority_queue<Item> open;
        const auto add = [&](Box b, std::size_t face) {
            if (r_.elements && !r_.elements->admissible(b)) return;
            const double lower = lower_bound(b) - V_e;
            open.push({lower, std::move(b), face});
        };
        for (std::size_t k = 0; k < box.size(); ++k)
            for (const double end : {box[k].lo, box[k].hi}) {
                Box face = box;
                face[k] = Interval(end);
                add(std::move(face), k);
            }
        // The first box of the queue has the least bound. It is split until its bound is sharp.
        for (long count = 0; count < max_boundary_boxes && !open.empty(); ++count) {
            const Item item = open.top();
            const double at = V_.value(point_box(centre(item.box))).hi - V_e;
            if (at - item.lower <= boundary_accuracy * at) break;
            std::size_t side = 0;
            double widest = -1.0;
            for (std::size_t k = 0; k < item.box.size(); ++k)
                if (k != item.face && width(item.box[k]) / r_.scale[k] > widest && can_split(item.box, k))
                    widest = width(item.box[k]) / r_.scale[k], side = k;
            if (widest < 0.0) break;
            open.pop();
            auto [a, b] = split(item.box, side, 0.0, 1.0);
            add(std::move(a), item.face);
            add(std::move(b), item.face);
        }
        return open.empty() ? infinity : std::max(0.0, open.top().lower);
    }

    /// V over a box, from its range and from the mean value form.
    double lower_bound(const Box& b) const {
        const Interval direct = V_.value(b);
        const std::vector<double> c = centre(b);
        Interval mean = V_.value(point_box(c));
        const std::vector<Interval> slope = V_.gradient(b);
        for (std::size_t k = 0; k < b.size(); ++k) mean = mean + slope[k] * (b[k] - Interval(c[k]));
        double lower = direct.defined ? direct.lo : -infinity;
        if (mean.defined) lower = std::max(lower, mean.lo);
        if (r_.support.gap < 0) return lower;
        // V >= V − α g_N at admissible states.
        const Box q(b.begin(), b.begin() + V_.size()), at = point_box(c);
        const IntervalMatrix W = e_.row_matrix(q);
        Interval supported =
            V_.value(at) -
            r_.support.force * e_.position_values({at.begin(), at.begin() + V_.size()})[ix(r_.support.gap)];
        for (std::size_t k = 0; k < b.size(); ++k) {
            Interval by = slope[k];
            if (k < q.size()) by = by - r_.support.force * W(r_.support.gap, static_cast<int>(k));
            supported = supported + by * (b[k] - Interval(c[k]));
        }
        return supported.defined ? std::max(lower, supported.lo) : lower;
    }

    long boxes = 0;

private:
    const StateFunction& V_;
    const Enclosure& e_;
    const StateProofRequest& r_;
};

}  // namespace

StateProof prove_around(const StateFunction& V, const Enclosure& enclosure, const StateProofRequest& request) {
    StateProof best;
    Search search(V, enclosure, request);
    const auto proves = [&](double radius) {
        Search one(V, enclosure, request);
        const bool proved = one.proves(radius, best);
        search.boxes += one.boxes;
        return proved;
    };
    if (!proves(infinity)) {
        double radius = largest_radius;
        while (radius >= smallest_radius && !proves(radius)) radius /= radius_factor;
        if (radius >= smallest_radius) {
            double low = radius, high = radius * radius_factor;
            for (int k = 0; k < radius_bisections; ++k) {
                const double middle = std::sqrt(low * high);
                (proves(middle) ? low : high) = middle;
            }
        }
    }
    if (best.radius > 0.0 && best.positive) best.level = search.boundary_level(best.box);
    best.boxes = search.boxes;
    return best;
}

bool rises_somewhere(const StateFunction& V, const Box& equilibrium) {
    const IntervalMatrix H = V.hessian(equilibrium);
    if (!H.finite()) return false;
    Matrix middle = H.middle();
    const Spectrum s = symmetric_spectrum(Matrix(-middle));  // its least eigenvalue is minus the largest of ∇²V
    return quadratic_form(H, std::vector<double>(s.smallest_direction.data(),
                                                 s.smallest_direction.data() + s.smallest_direction.size()))
               .lo > 0.0;
}

}  // namespace saltus::stability
