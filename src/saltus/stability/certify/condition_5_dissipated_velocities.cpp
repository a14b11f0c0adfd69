// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 5: if all gaps of I_C are closed and stay closed, then only u = 0 has no dissipation:
// D^nc⁻¹(0) ∩ D^λT⁻¹(0) ∩ ker W_NCᵀ = {0}. Without contacts this is condition 4 of Corollary 3.
//
// Proof: the velocities without dissipation solve S u = 0 with the rows (Propositions 2 and 3)
//     (C + Cᵀ)/2;  slips of sliders;  gaps of I_C;  constraints;  slips of the loaded contacts and constraints.
// A contact or constraint without load has no friction. So S depends on the set K of loaded elements, and the following
// is proved on a cover of the positions with all gaps of I_C closed, for every K:
//     the columns of S(K) are independent                           (independent_columns), or
//     damping that is not linear takes energy from every u ≠ 0 with S(K) u = 0   (nonlinear_damping.cpp), or
//     the elements outside K cannot all be without load             (cannot_be_unloaded), or
//     a motion passes the positions where S(K) is singular          (passes_through).
// The last case is for one degree of freedom: the slip vanishes at isolated positions only, which a motion with u ≠ 0
// leaves at once. The constrained beam has such positions (θ = π/2).
#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/nonlinear_damping.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// S u = 0 has a solution u ≠ 0 at a position if the smallest eigenvalue of SᵀS is at most this fraction of 1 + the
/// largest. It is the square of the relative singular value 1e-9.
constexpr double kernel_eigenvalue_ratio = 1e-18;
/// 2^n sets K of n elements are enumerated.
constexpr std::size_t max_frictional_elements = 8;
/// The cover gives up at boxes smaller than this fraction of the scales.
constexpr double smallest_box = 1e-7;
/// A row of S vanishes at the witness if |s·u| is at most this fraction of Σ |s_k u_k|: rounding errors of the computed
/// velocity.
constexpr double vanishing_row_ratio = 1e-12;

/// The matrix S and what is proved about it.
class UndissipatedVelocities {
public:
    UndissipatedVelocities(const ConditionScope& scope, const std::vector<int>& I_C)
        : scope_(scope), e_(scope.enclosure()), I_C_(I_C) {
        const IntervalVector coefficients = coefficients_over(scope.domain);
        for (const int r : I_C)
            if (!proof::without_friction(contact(r).friction, coefficients))
                elements_.push_back({r, &contact(r).friction});
        for (const model::Constraint& c : scope.model().constraints) {
            if (proof::without_friction(c.friction, coefficients)) continue;
            elements_.push_back({c.row, &c.friction});
            frictional_.push_back(c.row);
        }
    }

    /// The number of contacts of I_C and constraints that may have friction.
    std::size_t count() const { return elements_.size(); }

    /// S(K) over a box. K has bit k set if element k is loaded. Only slips that surely have friction are rows.
    IntervalMatrix rows(const Box& q, unsigned K) const { return rows(q, K, coefficients_over(q)); }
    IntervalMatrix rows(const Box& q, unsigned K, const IntervalVector& coefficients) const {
        const IntervalMatrix W = e_.row_matrix(q);
        std::vector<int> which;
        for (const model::Constraint& c : scope_.model().constraints) which.push_back(c.row);
        which.insert(which.end(), I_C_.begin(), I_C_.end());
        const auto slips = [&](const model::Friction& f) {
            for (int k = 0; k < f.dimension; ++k) which.push_back(f.first_row + k);
        };
        for (const model::Slider& s : scope_.model().sliders)
            if (with_friction(s.friction, coefficients) && coefficient(coefficients, s.normal_force).lo > 0.0)
                slips(s.friction);
        for (std::size_t k = 0; k < elements_.size(); ++k)
            if ((K >> k & 1U) != 0 && with_friction(*elements_[k].friction, coefficients))
                slips(*elements_[k].friction);
        const int n = e_.size(), damping_rows = e_.linear_damping ? n : 0;
        IntervalMatrix S(damping_rows + static_cast<int>(which.size()), n);
        if (damping_rows > 0) {
            const IntervalMatrix C = symmetric_part(e_.damping(q));
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) S(i, j) = C(i, j);
        }
        for (std::size_t k = 0; k < which.size(); ++k)
            for (int j = 0; j < n; ++j) S(damping_rows + static_cast<int>(k), j) = W(which[k], j);
        return S;
    }

    unsigned all() const { return (1U << elements_.size()) - 1U; }

    /// BoxTest::failed_item if a coefficient of friction or a normal force of a slider may be negative.
    static constexpr int negative_friction = 1 << (max_frictional_elements + 1);

    /// Proves the condition on one box. BoxTest::failed_item is the set K that fails, or negative_friction.
    BoxTest test(const Box& q) const {
        BoxTest t;
        t.undecided = q;
        if (!friction_takes_energy(q)) {
            t.failed_item = negative_friction;
            t.side = decisive_side(q, scope_.equilibrium.scale,
                                   [&](const Box& b) { return spread_of(coefficients_over(b)); });
            return t;
        }
        t.proved = true;
        for (unsigned K = 0; K <= all() && t.proved; ++K) {
            const IntervalMatrix S = rows(q, K);
            t.proved = independent_columns(S) || damped(q, S) || cannot_be_unloaded(q, K) || passes_through(q, K);
            t.failed_item = static_cast<int>(K);
        }
        if (!t.proved)
            t.side =
                decisive_side(q, scope_.equilibrium.scale, [&](const Box& b) { return spread_of(rows(b, all())); });
        return t;
    }

    /// A unit velocity with S u = 0 at one position, all elements loaded. Empty: there is none.
    Vector undissipated_velocity(const Vector& q) const {
        const Box at = point_box({q.data(), q.data() + q.size()});
        const auto kernel = [&](const Box& u) {
            const Matrix S = rows(at, all(), e_.coefficients(at, u)).middle();
            const Spectrum s = symmetric_spectrum(S.transpose() * S);
            return s.smallest > kernel_eigenvalue_ratio * (1.0 + s.largest) ? Vector() : s.smallest_direction;
        };
        // Friction coefficients may depend on the velocity: first those of u = 0, then those of the found velocity.
        Vector d = kernel(Box(static_cast<std::size_t>(q.size()), Interval(0.0)));
        if (d.size() == 0) return d;
        d = kernel(point_box({d.data(), d.data() + d.size()}));
        return d.size() > 0 && vanishes(at, d) ? d : Vector();
    }

private:
    /// Friction with a negative coefficient or under a negative normal force would supply energy.
    bool friction_takes_energy(const Box& q) const {
        const IntervalVector coefficients = coefficients_over(q);
        const auto not_negative = [&](const model::Friction& f) {
            return f.dimension == 0 ||
                   (coefficient(coefficients, f.mu[0]).lo >= 0.0 &&
                    (f.mu[1] == model::no_coefficient || coefficient(coefficients, f.mu[1]).lo >= 0.0));
        };
        for (const model::Slider& s : scope_.model().sliders)
            if (!not_negative(s.friction) || !(coefficient(coefficients, s.normal_force).lo >= 0.0)) return false;
        for (const model::Constraint& c : scope_.model().constraints)
            if (!not_negative(c.friction)) return false;
        for (const int r : scope_.set.may_close(q))
            if (!not_negative(contact(r).friction)) return false;
        return true;
    }

    /// Damping that is not linear in u takes energy from every u ≠ 0 with S u = 0.
    bool damped(const Box& q, const IntervalMatrix& S) const {
        if (e_.linear_damping) return false;
        const double energy = std::min(scope_.kinetic, scope_.cap - scope_.set.level(q).lo);
        const Box u = std::isfinite(energy) ? velocities_below(energy, e_.mass(q)) : whole_space(q.size());
        return damping_takes_energy(e_, q, u, S, Loss::positive);
    }

    /// Every row of S vanishes at the velocity by itself, however small the row is. A weak damper is not lost beside a
    /// strong one.
    bool vanishes(const Box& at, const Vector& u) const {
        const IntervalMatrix S = rows(at, all(), e_.coefficients(at, point_box({u.data(), u.data() + u.size()})));
        for (int i = 0; i < S.rows(); ++i) {
            Interval sum;
            double size = 0.0;
            for (int j = 0; j < S.cols(); ++j) {
                const Interval term = S(i, j) * Interval(u(j));
                sum += term;
                size += std::fabs(expr::midpoint(term));
            }
            if (!(std::max(std::fabs(sum.lo), std::fabs(sum.hi)) <= vanishing_row_ratio * size) && size > 0.0)
                return false;
        }
        return true;
    }

    struct FrictionElement {
        int row;  // of the normal
        const model::Friction* friction;
    };

    /// Proves that the elements outside K cannot all be without load while all gaps of I_C stay closed: with forces of
    /// the elements in K alone the accelerations of these gaps and of the constraints with friction cannot all vanish.
    bool cannot_be_unloaded(const Box& q, unsigned K) const {
        AccelerationRequest request;
        request.gaps = I_C_;
        for (const int r : I_C_) {
            const std::optional<std::size_t> k = element_of(r);
            if (!k || (K >> *k & 1U) != 0) request.pressing.push_back(r);
        }
        // Contacts outside I_C may be closed too, and then press.
        for (const int r : scope_.set.may_close(q))
            if (std::find(I_C_.begin(), I_C_.end(), r) == I_C_.end()) request.pressing.push_back(r);
        for (std::size_t k = 0; k < elements_.size(); ++k)
            if ((K >> k & 1U) == 0 && elements_[k].row < e_.constraints()) request.unloaded.push_back(elements_[k].row);
        const double energy = std::min(scope_.kinetic, scope_.cap - scope_.set.level(q).lo);
        request.kinetic = energy;
        if (request.gaps.empty() && frictional_.empty()) return false;
        for (unsigned combination = 0; combination < (1U << frictional_.size()); ++combination) {
            request.signs = signs_of(combination, frictional_.size());
            const std::optional<Accelerations> a = accelerations(e_, q, request);
            if (!a || !a->exclude(energy, Claim::not_all_zero)) return false;
        }
        return true;
    }

    /// For one degree of freedom: proves that the slip w·t of some row of K, along the curve of admissible positions
    /// with tangent t, has a rate of change w·t' + Σ D_ab t_a t_b ≠ 0 (D = ∂w/∂q). Then it vanishes at isolated
    /// positions.
    bool passes_through(const Box& q, unsigned K) const {
        const int n = e_.size(), m = e_.constraints();
        if (K == 0 || !I_C_.empty() || n - m != 1) return false;
        const IntervalMatrix W = e_.row_matrix(q);
        std::vector<int> bilateral;
        for (int r = 0; r < m; ++r) bilateral.push_back(r);
        const std::optional<Curve> curve = curve_of(q, rows_of(W, bilateral));
        if (!curve) return false;
        for (std::size_t k = 0; k < elements_.size(); ++k) {
            if ((K >> k & 1U) == 0) continue;
            for (int j = 0; j < elements_[k].friction->dimension; ++j) {
                const int row = elements_[k].friction->first_row + j;
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

    /// The tangent t of the curve, G t = 0, and its derivative t' along the curve: G t' = −Σ t_a t_b ∂²g/∂q_a∂q_b. One
    /// coordinate is the parameter of the curve; it has t = 1 and t' = 0.
    struct Curve {
        IntervalMatrix tangent, bend;
    };
    std::optional<Curve> curve_of(const Box& q, const IntervalMatrix& G) const {
        const int n = e_.size(), m = G.rows();
        const std::optional<IntervalMatrix> t = tangents(G, n);
        if (!t) return std::nullopt;
        int parameter = -1;
        for (int i = 0; i < n; ++i)
            if ((*t)(i, 0).lo == 1.0 && (*t)(i, 0).hi == 1.0) parameter = i;
        if (parameter < 0) return std::nullopt;
        Curve curve{*t, IntervalMatrix(n, 1)};
        if (m == 0) return curve;
        const std::vector<IntervalMatrix> curved = e_.position_hessians(q);
        IntervalMatrix pivots(m, m), right(m, 1);
        for (int r = 0; r < m; ++r) {
            for (int a = 0, c = 0; a < n; ++a)
                if (a != parameter) pivots(r, c++) = G(r, a);
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                    right(r, 0) -= curved[static_cast<std::size_t>(r)](a, b) * (*t)(a, 0) * (*t)(b, 0);
        }
        const std::optional<IntervalMatrix> x = solve(pivots, right);
        if (!x) return std::nullopt;
        for (int a = 0, c = 0; a < n; ++a)
            if (a != parameter) curve.bend(a, 0) = (*x)(c++, 0);
        return curve;
    }

    /// The number of the element with this normal row among `elements_`.
    std::optional<std::size_t> element_of(int row) const {
        for (std::size_t k = 0; k < elements_.size(); ++k)
            if (elements_[k].row == row) return k;
        return std::nullopt;
    }
    const model::Contact& contact(int r) const {
        return scope_.model().contacts[static_cast<std::size_t>(r - e_.constraints())];
    }
    /// Coefficients for all velocities that the level allows at these positions.
    IntervalVector coefficients_over(const Box& q) const {
        const double energy = std::min(scope_.kinetic, scope_.cap - scope_.set.level(q).lo);
        return e_.coefficients(q, std::isfinite(energy) ? velocities_below(energy, e_.mass(q))
                                                        : whole_space(static_cast<std::size_t>(e_.size())));
    }

    const ConditionScope& scope_;
    const Enclosure& e_;
    std::vector<int> I_C_;
    std::vector<int> frictional_;            // rows of the constraints with friction
    std::vector<FrictionElement> elements_;  // contacts of I_C and constraints with friction: the bits of K
};

}  // namespace

namespace {

/// D^nc at one state.
Interval power_at(const Enclosure& e, const std::vector<double>& q, const Vector& velocity) {
    return e.damping_power(point_box(q), point_box(list_of(velocity)));
}

/// A multiple of a velocity at which damping that is not linear in u does no power, with a kinetic energy that the
/// level set allows. The damping −x' + x'² does no power at x' = 1 alone: smaller velocities lose energy, so that one
/// multiple says nothing about the others, and all that are examined have to agree. Empty: there is none.
Vector lossless_multiple(const ConditionScope& scope, const std::vector<double>& q, const Vector& velocity) {
    const Enclosure& e = scope.enclosure();
    const double energy = std::min(scope.kinetic, scope.cap - scope.set.level(point_box(q)).lo);
    const Vector w = velocity / velocity.norm();
    const double kinetic = 0.5 * w.dot(e.mass(point_box(q)).middle() * w);
    if (!(kinetic > 0.0) || !(energy > 0.0)) return {};
    Vector largest;
    for (const double part : {0.9, 0.3, 0.03, 1e-4}) {  // of the energy; without a bound of the energy T(w) is its unit
        const Vector u = w * (std::isfinite(energy) ? std::sqrt(part * energy / kinetic) : part / 0.9);
        const Interval power = power_at(e, q, u);
        if (!(power.lo == 0.0 && power.hi == 0.0)) return {};
        if (largest.size() == 0) largest = u;
    }
    return largest;
}

/// A velocity without friction and without linear damping at the position of the witness. The condition fails, unless a
/// damping force that is not linear in u acts on it.
void judge_velocity(const ConditionScope& scope, const std::vector<double>& q, Vector velocity, Condition& c) {
    const Enclosure& e = scope.enclosure();
    if (!e.linear_damping) {
        const Vector lossless = lossless_multiple(scope, q, velocity);
        if (lossless.size() == 0) {
            c.evidence = "the velocities without friction have damping that is not linear, -u.f = " +
                         number(expr::midpoint(power_at(e, q, velocity))) +
                         " at one of them; whether it takes energy from all of them is not decided";
            return;
        }
        velocity = lossless;
    }
    c.verdict = Verdict::fails;
    c.evidence = "the velocity of the witness has neither damping nor friction";
    c.witness.q = q;
    c.witness.u = list_of(velocity);
    c.witness.values.emplace_back("dissipation", 0.0);
}

}  // namespace

Condition condition_5_dissipated_velocities(const ConditionScope& scope, const std::vector<int>& I_C) {
    const UndissipatedVelocities velocities(scope, I_C);
    Condition c{"5", condition_text::dissipated_velocities, Verdict::not_examined, "", {}};
    const Enclosure& e = scope.enclosure();
    const std::vector<double> q_e = list_of(scope.equilibrium.q);
    const Vector free = velocities.undissipated_velocity(scope.equilibrium.q);
    // Damping that is not linear may act on this velocity: then the proof decides.
    const bool lossless = free.size() > 0 && (e.linear_damping || lossless_multiple(scope, q_e, free).size() > 0);
    if (lossless) {
        judge_velocity(scope, q_e, free, c);
        return c;
    }
    if (velocities.count() > max_frictional_elements) {
        c.evidence = "there are more than " + std::to_string(max_frictional_elements) + " elements with friction";
        return c;
    }
    const CoverProof proof = prove_on(
        scope.set, {scope.domain}, I_C, scope.cap, scope.equilibrium.scale,
        [&](const Box& q) { return velocities.test(q); }, scope.budget, smallest_box);
    if (proof.proved) {
        c.verdict = Verdict::proved;
        c.evidence =
            "damping, friction, gaps and constraints together leave no velocity over the level set, whichever contacts "
            "and constraints are loaded (" +
            boxes_text(proof.boxes) + ")";
        return c;
    }
    const std::vector<double> at = centre(proof.box);
    if (proof.failed_item == UndissipatedVelocities::negative_friction) {
        c.evidence = "a coefficient of friction, or a normal force FN of a slider, may be negative near " +
                     position_text(scope.model(), vector_of(at)) + "; friction would supply energy there";
        return c;
    }
    c.evidence = "it is not proved that every velocity dissipates near " + position_text(scope.model(), vector_of(at));
    if (scope.probing) return c;
    if (const Vector u = velocities.undissipated_velocity(vector_of(at)); u.size() > 0) judge_velocity(scope, at, u, c);
    return c;
}

}  // namespace saltus::stability
