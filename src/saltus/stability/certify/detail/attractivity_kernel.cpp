// SPDX-License-Identifier: Apache-2.0
//
// Condition 5. Velocities without dissipation that keep the gaps of I_C closed solve S u = 0 with the rows
//     symmetric part of C;  slip of sliders;  gaps of I_C;  constraints;  slip of contacts and constraints that are
//     loaded.
// Elements without load have no friction: for every set K of elements for which the rows of K alone leave a velocity,
// it is shown that the others cannot all be without load while the gaps stay closed. With one degree of freedom it is
// enough that the slip of K vanishes at single positions only: a motion passes them. (Errata, 11: the beam has such
// states.)
#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/attractivity_conditions.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

class Kernel {
public:
    Kernel(const Ground& g, const std::vector<int>& I_C) : g_(g), e_(g.enclosure()), I_C_(I_C) {
        const IntervalVector coefficients = coefficients_over(g.domain);
        for (const int r : I_C)
            if (!without_friction(contact(r).friction, coefficients)) rubbing_.push_back({r, &contact(r).friction});
        for (const model::Constraint& c : g.model().constraints) {
            if (without_friction(c.friction, coefficients)) continue;
            rubbing_.push_back({c.row, &c.friction});
            frictional_.push_back(c.row);
        }
    }

    std::size_t count() const { return rubbing_.size(); }

    /// Rows of S with the friction of the elements in K.
    IntervalMatrix rows(const Box& q, unsigned K) const { return rows(q, K, coefficients_over(q)); }
    IntervalMatrix rows(const Box& q, unsigned K, const IntervalVector& coefficients) const {
        const IntervalMatrix W = e_.row_matrix(q);
        std::vector<int> which;
        for (const model::Constraint& c : g_.model().constraints) which.push_back(c.row);
        which.insert(which.end(), I_C_.begin(), I_C_.end());
        const auto slips = [&](const model::Friction& f) {
            for (int k = 0; k < f.dimension; ++k) which.push_back(f.first_row + k);
        };
        for (const model::Slider& s : g_.model().sliders)
            if (with_friction(s.friction, coefficients) && coefficient(coefficients, s.normal_force).lo > 0.0)
                slips(s.friction);
        for (std::size_t k = 0; k < rubbing_.size(); ++k)
            if ((K >> k & 1U) != 0 && with_friction(*rubbing_[k].friction, coefficients)) slips(*rubbing_[k].friction);
        const int n = e_.size(), own = e_.linear_damping ? n : 0;
        IntervalMatrix S(own + static_cast<int>(which.size()), n);
        if (own > 0) {
            const IntervalMatrix C = e_.damping(q);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) S(i, j) = (C(i, j) + C(j, i)) * Interval(0.5);
        }
        for (std::size_t k = 0; k < which.size(); ++k)
            for (int j = 0; j < n; ++j) S(own + static_cast<int>(k), j) = W(which[k], j);
        return S;
    }

    unsigned all() const { return (1U << rubbing_.size()) - 1U; }

    BoxTest test(const Box& q) const {
        BoxTest t;
        t.open = q;
        t.proved = true;
        for (unsigned K = 0; K <= all() && t.proved; ++K) {
            t.proved = independent_columns(rows(q, K)) || impossible(q, K) || passes(q, K);
            t.which = static_cast<int>(K);
        }
        if (!t.proved)
            t.side = decisive_side(q, g_.rest.scale, [&](const Box& b) { return spread_of(rows(b, all())); });
        return t;
    }

    /// A velocity in the kernel at one position, with the friction of all elements; empty: none.
    Vector escape(const Vector& q) const {
        const Box at = point_box({q.data(), q.data() + q.size()});
        const auto kernel = [&](const Box& u) {
            const Matrix S = rows(at, all(), e_.coefficients(at, u)).middle();
            const Spectrum s = symmetric_spectrum(S.transpose() * S);
            return s.smallest > 1e-18 * (1.0 + s.largest) ? Vector() : s.smallest_direction;
        };
        // Coefficients may depend on the velocity: those of rest, and of the velocity itself.
        const Vector d = kernel(Box(static_cast<std::size_t>(q.size()), Interval(0.0)));
        if (d.size() == 0) return d;
        return kernel(point_box({d.data(), d.data() + d.size()}));
    }

private:
    struct Rubbing {
        int row;  // of the normal
        const model::Friction* friction;
    };

    /// With all of I_C closed, elements outside K cannot all be without load.
    bool impossible(const Box& q, unsigned K) const {
        AccelerationRequest request;
        request.gaps = I_C_;
        for (const int r : I_C_) {
            const auto found =
                std::find_if(rubbing_.begin(), rubbing_.end(), [&](const Rubbing& x) { return x.row == r; });
            const auto k = static_cast<std::size_t>(found - rubbing_.begin());
            if (found == rubbing_.end() || (K >> k & 1U) != 0) request.pressing.push_back(r);
        }
        for (std::size_t k = 0; k < rubbing_.size(); ++k)
            if ((K >> k & 1U) == 0 && rubbing_[k].row < e_.constraints()) request.unloaded.push_back(rubbing_[k].row);
        const double energy = std::min(g_.kinetic, g_.cap - g_.set.level(q).lo);
        request.kinetic = energy;
        if (request.gaps.empty() && frictional_.empty()) return false;
        for (unsigned mask = 0; mask < (1U << frictional_.size()); ++mask) {
            request.signs.clear();
            for (std::size_t k = 0; k < frictional_.size(); ++k)
                request.signs.push_back((mask >> k & 1U) != 0 ? -1 : 1);
            const std::optional<Accelerations> a = accelerations(e_, q, request);
            if (!a || !a->exclude(energy, false)) return false;
        }
        return true;
    }

    /// One degree of freedom: along the curve of positions with tangent t the slip w·t of some row of K changes at a
    /// rate that is nowhere zero.
    bool passes(const Box& q, unsigned K) const {
        const int n = e_.size(), m = e_.constraints();
        if (K == 0 || !I_C_.empty() || n - m != 1) return false;
        const IntervalMatrix W = e_.row_matrix(q);
        std::vector<int> bilateral;
        for (int r = 0; r < m; ++r) bilateral.push_back(r);
        const std::optional<Curve> curve = curve_of(q, rows_of(W, bilateral));
        if (!curve) return false;
        for (std::size_t k = 0; k < rubbing_.size(); ++k) {
            if ((K >> k & 1U) == 0) continue;
            for (int j = 0; j < rubbing_[k].friction->dimension; ++j) {
                const int row = rubbing_[k].friction->first_row + j;
                const std::optional<IntervalMatrix> D = e_.row_derivative(q, row);
                if (!D) continue;
                Interval rate;
                for (int a = 0; a < n; ++a) {
                    rate += W(row, a) * curve->bend(a, 0);
                    for (int b = 0; b < n; ++b) rate += (*D)(a, b) * curve->tangent(a, 0) * curve->tangent(b, 0);
                }
                if (rate.lo > 0.0 || rate.hi < 0.0) return true;
            }
        }
        return false;
    }

    /// Tangent t with G t = 0 and its derivative along the curve, G t' = −Σ t_a t_b ∂²g/∂q_a∂q_b, where the coordinate
    /// that moves with rate 1 keeps it.
    struct Curve {
        IntervalMatrix tangent, bend;
    };
    std::optional<Curve> curve_of(const Box& q, const IntervalMatrix& G) const {
        const int n = e_.size(), m = G.rows();
        const std::optional<IntervalMatrix> t = tangents(G, n);
        if (!t) return std::nullopt;
        int moving = -1;
        for (int i = 0; i < n; ++i)
            if ((*t)(i, 0).lo == 1.0 && (*t)(i, 0).hi == 1.0) moving = i;
        if (moving < 0) return std::nullopt;
        Curve curve{*t, IntervalMatrix(n, 1)};
        if (m == 0) return curve;
        const std::vector<IntervalMatrix> curved = e_.position_hessians(q);
        IntervalMatrix pivots(m, m), right(m, 1);
        for (int r = 0; r < m; ++r) {
            for (int a = 0, c = 0; a < n; ++a)
                if (a != moving) pivots(r, c++) = G(r, a);
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                    right(r, 0) -= curved[static_cast<std::size_t>(r)](a, b) * (*t)(a, 0) * (*t)(b, 0);
        }
        const std::optional<IntervalMatrix> x = solve(pivots, right);
        if (!x) return std::nullopt;
        for (int a = 0, c = 0; a < n; ++a)
            if (a != moving) curve.bend(a, 0) = (*x)(c++, 0);
        return curve;
    }

    const model::Contact& contact(int r) const {
        return g_.model().contacts[static_cast<std::size_t>(r - e_.constraints())];
    }
    IntervalVector coefficients_over(const Box& q) const {
        const double energy = std::min(g_.kinetic, g_.cap - g_.set.level(q).lo);
        return e_.coefficients(q, std::isfinite(energy) ? velocities_below(energy, e_.mass(q))
                                                        : whole_space(static_cast<std::size_t>(e_.size())));
    }

    const Ground& g_;
    const Enclosure& e_;
    std::vector<int> I_C_, frictional_;
    std::vector<Rubbing> rubbing_;
};

}  // namespace

Condition kernel_condition(const Ground& g, const std::vector<int>& I_C) {
    const Enclosure& e = g.enclosure();
    const Kernel kernel(g, I_C);
    Condition c{
        "5", "with the gaps of I_C closed and staying so, only u = 0 has no dissipation", Verdict::fails, "", {}};
    const Vector escape = kernel.escape(g.rest.q);
    if (escape.size() > 0) {
        c.evidence =
            e.linear_damping
                ? "the velocity of the witness meets neither damping nor friction"
                : "the velocity of the witness meets no friction, and damping that is not linear is not looked at";
        if (!e.linear_damping) c.verdict = Verdict::holds;
        c.witness.q = {g.rest.q.data(), g.rest.q.data() + g.rest.q.size()};
        c.witness.u = {escape.data(), escape.data() + escape.size()};
        c.witness.values.emplace_back("dissipation", 0.0);
        if (!e.linear_damping) {
            // It may still be met by a force that is not linear in u.
            const Interval power = e.damping_power(point_box(c.witness.q), point_box(c.witness.u));
            if (power.lo > 0.0) {
                c.evidence = "the velocities that meet no friction are damped, -u.f = " + number(power.lo) +
                             " where it was looked at";
                c.witness = {};
                return c;
            }
            c.verdict = Verdict::fails;
            c.evidence = "the velocity of the witness meets neither friction nor damping";
        }
        return c;
    }
    if (kernel.count() > 8) {
        c.verdict = Verdict::holds;
        c.evidence = "the rows of dissipation have full rank at the equilibrium";
        return c;
    }
    const CoverProof proof = prove_on(
        g.set, {g.domain}, I_C, g.cap, g.rest.scale, [&](const Box& q) { return kernel.test(q); }, g.budget, 1e-7);
    if (proof.proved) {
        c.verdict = Verdict::proved;
        c.evidence =
            "damping, friction, gaps and constraints together leave no velocity over the level set, whichever contacts "
            "and constraints are loaded (" +
            boxes_text(proof.boxes) + ")";
        return c;
    }
    const std::vector<double> at = centre(proof.box);
    const Vector there = kernel.escape(Eigen::Map<const Vector>(at.data(), static_cast<Index>(at.size())));
    if (there.size() > 0) {
        c.evidence = "the velocity of the witness meets neither damping nor friction";
        c.witness.q = at;
        c.witness.u = {there.data(), there.data() + there.size()};
        c.witness.values.emplace_back("dissipation", 0.0);
        return c;
    }
    c.verdict = Verdict::holds;
    c.evidence = "full rank at the equilibrium; over the whole level set it is not shown, near " +
                 position_text(g.model(), Eigen::Map<const Vector>(at.data(), static_cast<Index>(at.size())));
    return c;
}

}  // namespace saltus::stability
