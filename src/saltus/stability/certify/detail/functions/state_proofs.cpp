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
            p.positive = positive_in(box, p.gap_weight);
            if (!p.positive) return false;
        }
        if (r_.elements) {
            if (!with_elements(box, p)) return false;
            proof = p;
            return true;
        }
        const std::vector<int>& Z = V_.losing_states();
        p.strict = everywhere(box, [&](const Box& b) { return positive_definite(rate_hessian(b)); });
        if (!p.strict) {
            if (velocities_of(Z) != V_.size() || !vanishes()) return false;
            p.except_rest = everywhere(box, [&](const Box& b) { return loses(b); }) && one_equilibrium(box);
            if (!p.except_rest) return false;
        }
        proof = p;
        return true;
    }

    /// V > V(x_e) at the admissible states of B except x_e. With L = V − Σ α g_N, V − V(x_e) = ½ dᵀ∇²L d + Σ α g_N. If
    /// ∇²L is positive semidefinite, both summands are >= 0. Where gaps are affine, ∇²L + κ Σ w wᵀ positive definite
    /// excludes that both vanish: g_N = w·d = 0 and dᵀ∇²L d = 0 imply d = 0. Next to infinity V grows without bound.
    bool positive_in(const Box& box, double& kappa) {
        kappa = 0.0;
        if (everywhere(box,
                       [&](const Box& b) { return positive_definite(lifted_hessian(V_, e_, r_.support, 0.0, b)); }))
            return true;
        if (r_.support.empty() || !affine_gaps()) return false;
        const IntervalMatrix H = V_.hessian(r_.equilibrium);
        kappa = H.finite() ? std::max(1.0, H.middle().cwiseAbs().maxCoeff()) : 1.0;
        return everywhere(box, [&](const Box& b) {
            return positive_semidefinite(lifted_hessian(V_, e_, r_.support, 0.0, b)) &&
                   positive_definite(lifted_hessian(V_, e_, r_.support, kappa, b));
        });
    }

    /// The gaps of the support are affine functions with α > 0.
    bool affine_gaps() const {
        const std::vector<IntervalMatrix> curved = e_.position_hessians(whole_space(ix(V_.size())));
        for (const Support::Load& load : r_.support.loads) {
            if (!(load.force.lo > 0.0)) return false;
            for (int i = 0; i < V_.size(); ++i)
                for (int j = 0; j < V_.size(); ++j)
                    if (!is_zero(curved[ix(load.gap)](i, j))) return false;
        }
        return true;
    }

    int velocities_of(const std::vector<int>& Z) const {
        return static_cast<int>(std::count_if(Z.begin(), Z.end(), [&](int k) { return k >= V_.size(); }));
    }
    /// S and its slopes by Z vanish where they have to.
    bool vanishes() const {
        const std::vector<int>& Z = V_.losing_states();
        return velocities_of(Z) == static_cast<int>(Z.size()) ? V_.loses_at_rest_nothing()
                                                              : V_.losing_vanishes(r_.equilibrium);
    }
    /// −s ∇²_ZZ S is positive definite over the box.
    bool loses(const Box& b) const {
        const IntervalMatrix H = V_.losing_hessian(b);
        return H.rows() == 0 || positive_definite(r_.course == Course::falls ? negative(H) : H);
    }

    /// The rate of V in a model with elements.
    bool with_elements(const Box& box, StateProof& p) {
        const ElementPowers& elements = *r_.elements;
        if (!everywhere(box, [&](const Box& b) { return elements.powers(b); })) return false;
        p.strict = r_.force_free && everywhere(box, [&](const Box& b) { return positive_definite(rate_hessian(b)); });
        if (!p.strict) {
            if (!vanishes()) return false;
            // Taylor's formula goes along z. If Z contains positions, it passes through positions that are not
            // admissible.
            const bool positions = velocities_of(V_.losing_states()) != static_cast<int>(V_.losing_states().size());
            p.dissipative = everywhere(box, [&](const Box& b) {
                const bool admissible = elements.admissible(b);
                return ((!positions && !admissible) || loses(b)) && (!admissible || elements.only_rest(b));
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
        if (r_.support.empty()) return lower;
        // V >= V − Σ α g_N at admissible states.
        const Box q(b.begin(), b.begin() + V_.size()), at = point_box(c);
        const IntervalMatrix W = e_.row_matrix(q);
        const IntervalVector gaps = e_.position_values({at.begin(), at.begin() + V_.size()});
        Interval supported = V_.value(at);
        for (const Support::Load& load : r_.support.loads) supported -= load.force * gaps[ix(load.gap)];
        for (std::size_t k = 0; k < b.size(); ++k) {
            Interval by = slope[k];
            for (const Support::Load& load : r_.support.loads)
                if (k < q.size()) by -= load.force * W(load.gap, static_cast<int>(k));
            supported += by * (b[k] - Interval(c[k]));
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

IntervalMatrix lifted_hessian(const StateFunction& V, const Enclosure& e, const Support& support, double kappa,
                              const Box& x) {
    IntervalMatrix H = V.hessian(x);
    if (support.empty()) return H;
    const Box q(x.begin(), x.begin() + V.size());
    const std::vector<IntervalMatrix> curved = e.position_hessians(q);
    const IntervalMatrix W = e.row_matrix(q);
    for (const Support::Load& load : support.loads)
        for (int i = 0; i < V.size(); ++i)
            for (int j = 0; j < V.size(); ++j) {
                if (const Interval& g = curved[ix(load.gap)](i, j); !is_zero(g)) H(i, j) -= load.force * g;
                const Interval &a = W(load.gap, i), &b = W(load.gap, j);
                if (kappa > 0.0 && !is_zero(a) && !is_zero(b))
                    H(i, j) += Interval(kappa) * (i == j ? expr::sqr(a) : a * b);
            }
    return H;
}

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
