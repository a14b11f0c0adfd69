// SPDX-License-Identifier: Apache-2.0
//
// Claims about a function V of the state: docs/certificate-format.md, "A function of the state". The proof of the
// program (functions/function_proof.hpp) is repeated, and its steps are written as trees over the box B of states that
// it found, made a little smaller.
#include "saltus/stability/certify/detail/claims/function_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"
#include "saltus/stability/certify/detail/functions/element_powers.hpp"
#include "saltus/stability/certify/detail/functions/function_proof.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The certified region is this part of B, and the certified level this part of the least V on the boundary of B.
constexpr double certified_part = 0.99, certified_level_part = 0.97;
/// Boxes of states are not split below this fraction of the region.
constexpr double smallest_state_side = 1e-6;

IntervalMatrix negative(const IntervalMatrix& A) { return IntervalMatrix(A.rows(), A.cols()) - A; }

/// Trees over boxes of states.
class StateTrees {
public:
    StateTrees(const ClaimScope& positions, Box whole, std::vector<double> scale)
        : s_(positions), whole_(std::move(whole)), scale_(std::move(scale)) {}

    enum class Positions { all, admissible };

    /// A tree over the box. With Positions::admissible boxes without admissible positions have leaves of their own.
    std::optional<ClaimValue> over(const Box& x, const LeafTest& test, Positions which, int fixed = -1) {
        left_ = s_.budget;
        return grow(x, test, which, fixed);
    }

private:
    std::optional<ClaimValue> grow(const Box& x, const LeafTest& test, Positions which, int fixed) {
        if (--left_ < 0 || (s_.stop && s_.stop())) return std::nullopt;
        if (which == Positions::admissible)
            if (std::optional<ClaimValue> leaf = empty_leaf(s_, Box(x.begin(), x.begin() + s_.n()))) return leaf;
        if (std::optional<ClaimValue> leaf = test(x)) return leaf;
        std::size_t side = x.size();
        double widest = 0.0;
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (static_cast<int>(k) == fixed || !can_split(x, k) || !std::isfinite(width(x[k]))) continue;
            const double part = width(x[k]) / scale_[k];
            if (part > widest && width(x[k]) > smallest_state_side * width(whole_[k])) widest = part, side = k;
        }
        if (side == x.size()) return std::nullopt;
        const auto [a, b] = split(x, side, 0.0, 1.0);
        std::optional<ClaimValue> low = grow(a, test, which, fixed);
        if (!low) return std::nullopt;
        std::optional<ClaimValue> high = grow(b, test, which, fixed);
        if (!high) return std::nullopt;
        return split_node(side, a[side].hi, std::move(*low), std::move(*high));
    }

    const ClaimScope& s_;
    Box whole_;
    std::vector<double> scale_;
    long left_ = 0;
};

class FunctionClaims {
public:
    FunctionClaims(const model::Mechanics& model, StateFunction& V, const Certificate& certificate,
                   const CertifyOptions& options)
        : model_(model),
          V_(V),
          certificate_(certificate),
          options_(options),
          falls_(certificate.theorem == Theorem::attractivity) {}

    CertifiedStatement run() {
        CertifyOptions again = options_;
        again.at = certificate_.q;
        f_ = prove_function(model_, V_, falls_ ? Course::falls : Course::grows, again);
        if (!f_.why.empty()) return refused(f_.why);
        if (!f_.proved()) return refused("the signs of V and of its rate were not shown again");
        // C of such functions is S/κ, and the claims are about S.
        if (V_.function_of_energy() && !(V_.energy() && V_.energy()->factor > 0.0))
            return refused("the claims of a function of T + U are those of T + U");
        n_ = V_.size();
        region_ = smaller(f_.proof.box);
        level_ = falls_ ? certified_level_part * f_.proof.level : infinity;
        if (falls_ && !(level_ > 0.0)) return refused("no level of V on the boundary is known");
        const Box D(region_.begin(), region_.begin() + n_);
        const ClaimScope scope{*f_.enclosure, f_.point, D, 0.0, infinity, {}, options_.budget, options_.stop};
        StateTrees trees(scope, region_, f_.scale);
        trees_ = &trees;
        scope_ = &scope;
        const ElementPowers elements(V_, *f_.enclosure, falls_ ? Course::falls : Course::grows);
        elements_ = &elements;
        if (has_elements(model_) && !elements.quadratic())
            return refused(
                "with contacts, sliders or constraints V is certified only if it is quadratic in the velocities and "
                "does not couple forces "
                "with other velocities");

        CertifiedStatement s = refused("");
        s.theorem = "function";
        s.domain = D;
        s.velocities = Box(region_.begin() + n_, region_.end());
        s.point = f_.q;
        s.V = options_.V;
        s.reference = 0.0;
        s.level = level_;
        s.I_C.clear();
        s.assumptions.clear();
        s.conditions.clear();
        const auto add = [&](const char* id, const char* text, ClaimList list) {
            CertifiedCondition c{id, text, Verdict::proved, list.complete(), list.why, {}};
            if (c.certified) c.claims = std::move(list.claims);
            s.conditions.push_back(std::move(c));
        };
        add("1", "kinetic energy u'M(q)u/2 with M > 0", kinetic_claims(scope));
        add("2", falls_ ? "V has a minimum at the point" : "V grows from the point in some direction",
            falls_ ? minimum() : saddle());
        add("3", falls_ ? "V falls along motions" : "V grows along motions", course());
        if (!model_.contacts.empty()) add("4", "V does not change the wrong way at impacts", impacts());
        add("6", falls_ ? "the equilibria lie below the level" : "the region has no other equilibrium", equilibria());
        if (falls_ && !f_.proof.strict) {
            s.conditions.push_back(
                {"7", "limit sets in the level set are positively invariant", Verdict::assumed, false, "assumed", {}});
            s.assumptions = {s.conditions.back().text};
        }
        return s;
    }

private:
    CertifiedStatement refused(const std::string& why) const {
        return uncertified(certificate_, model_.coordinates, why);
    }

    /// B reduced towards x_e. Unbounded sides stay.
    Box smaller(const Box& B) const {
        Box x;
        for (std::size_t k = 0; k < B.size(); ++k) {
            const double c = k < f_.q.size() ? f_.q[k] : 0.0;
            x.emplace_back(std::isinf(B[k].lo) ? B[k].lo : c + certified_part * (B[k].lo - c),
                           std::isinf(B[k].hi) ? B[k].hi : c + certified_part * (B[k].hi - c));
        }
        return x;
    }

    std::string contact_name(int gap) const { return model_.contacts[ix(gap - f_.enclosure->constraints())].name; }

    /// V − Σ α g is convex; V, or this function, is above the level on the boundary.
    ClaimList minimum() {
        ClaimValue::Record support;
        for (const Support::Load& load : f_.support.loads)
            support.emplace_back(contact_name(load.gap), load.coordinate >= 0 ? ClaimValue(load.coordinate)
                                                                              : ClaimValue(expr::midpoint(load.force)));
        std::optional<ClaimValue> tree = trees_->over(
            region_,
            [&](const Box& x) {
                const double kappa = f_.proof.gap_weight;
                const auto lifted = [&](double weight) {
                    return lifted_hessian(V_, *f_.enclosure, f_.support, weight, x);
                };
                return shown_definite(lifted(kappa)) && (kappa == 0.0 || positive_semidefinite(lifted(0.0)))
                           ? std::optional<ClaimValue>(ClaimValue::List{"definite"})
                           : std::nullopt;
            },
            StateTrees::Positions::all);
        if (!tree) return {{}, "V is not shown to be convex by plain enclosures"};
        ClaimValue::List faces;
        for (std::size_t k = 0; k < region_.size(); ++k)
            for (const bool upper : {false, true}) {
                Box face = region_;
                const double end = upper ? face[k].hi : face[k].lo;
                if (std::isinf(end)) continue;
                face[k] = Interval(end);
                std::optional<ClaimValue> side = trees_->over(
                    face,
                    [&](const Box& x) {
                        return above(x) ? std::optional<ClaimValue>(ClaimValue::List{"above"}) : std::nullopt;
                    },
                    StateTrees::Positions::admissible, static_cast<int>(k));
                if (!side) return {{}, "V is not shown to be above the level on the boundary"};
                faces.emplace_back(ClaimValue::Record{
                    {"coordinate", static_cast<int>(k)}, {"side", upper ? "high" : "low"}, {"tree", std::move(*side)}});
            }
        return {{ClaimValue::Record{{"kind", "minimum of V"},
                                    {"support", std::move(support)},
                                    {"kappa", f_.proof.gap_weight},
                                    {"tree", std::move(*tree)}},
                 ClaimValue::Record{{"kind", "boundary"}, {"faces", std::move(faces)}}},
                ""};
    }

    /// V, or V − Σ α g, exceeds V(x_e) by more than the level; by their ranges or by mean value forms.
    bool above(const Box& x) const {
        const Box at = point_box(centre(x)), q(x.begin(), x.begin() + n_), q_at(at.begin(), at.begin() + n_);
        const Interval V_e = V_.value(f_.state());
        const std::vector<Interval> slope = V_.gradient(x);
        Interval direct = V_.value(x), mean = V_.value(at);
        const IntervalVector gaps = f_.enclosure->position_values(q), gaps_at = f_.enclosure->position_values(q_at);
        const IntervalMatrix W = f_.enclosure->row_matrix(q);
        Interval lifted = direct, lifted_mean = mean;
        for (const Support::Load& load : f_.support.loads) {
            lifted -= load.force * gaps[ix(load.gap)];
            lifted_mean -= load.force * gaps_at[ix(load.gap)];
        }
        for (std::size_t k = 0; k < x.size(); ++k) {
            const Interval step = x[k] - at[k];
            if (is_zero(step)) continue;
            mean += slope[k] * step;
            Interval by = slope[k];
            for (const Support::Load& load : f_.support.loads)
                if (k < q.size()) by -= load.force * W(load.gap, static_cast<int>(k));
            lifted_mean += by * step;
        }
        for (const Interval& value : {direct, mean, lifted, lifted_mean})
            if (surely_positive(value - V_e - Interval(level_))) return true;
        return false;
    }

    ClaimList saddle() const {
        if (!f_.open) return {{}, "a contact is closed at the equilibrium"};
        const IntervalMatrix H = V_.hessian(f_.state());
        if (!H.finite()) return {{}, "V is not smooth at the equilibrium"};
        const Spectrum s = symmetric_spectrum(Matrix(-H.middle()));
        const std::vector<double> d = list_of(s.smallest_direction);
        if (!surely_positive(quadratic_form(H, d))) return {{}, "no direction was found in which V grows"};
        return {{ClaimValue::Record{{"kind", "saddle of V"}, {"direction", claim_numbers(d)}}}, ""};
    }

    ClaimList course() {
        // Of a strict function Z consists of all states.
        std::vector<int> along = V_.losing_states();
        if (f_.proof.strict) {
            along.clear();
            for (int k = 0; k < 2 * n_; ++k) along.push_back(k);
        }
        // Taylor's formula goes along these states; with positions among them it passes through all positions.
        const bool positions = std::any_of(along.begin(), along.end(), [&](int k) { return k < n_; });
        std::optional<ClaimValue> tree = trees_->over(
            region_, [&](const Box& x) { return falling_leaf(x, along); },
            positions ? StateTrees::Positions::all : StateTrees::Positions::admissible);
        if (!tree) return {{}, "it is not shown by plain enclosures that V changes unless the system is at rest"};
        return {{ClaimValue::Record{{"kind", "decrease"}, {"along", claim_wholes(along)}, {"tree", std::move(*tree)}}},
                ""};
    }

    std::optional<ClaimValue> falling_leaf(const Box& x, const std::vector<int>& along) const {
        const IntervalMatrix H = !f_.proof.strict       ? V_.losing_hessian(x)
                                 : has_elements(model_) ? V_.smooth_rate_hessian(x)
                                                        : V_.rate_hessian(x);
        if (H.rows() > 0 && !shown_definite(falls_ ? negative(H) : H)) return std::nullopt;
        if (has_elements(model_) && !elements_->powers(x)) return std::nullopt;
        std::vector<int> damped;
        for (const int k : along)
            if (k >= n_) damped.push_back(k - n_);
        const int count = static_cast<int>(damped.size());
        const Box q(x.begin(), x.begin() + n_), u(x.begin() + n_, x.end());
        const IntervalVector c = f_.enclosure->coefficients(q, u);
        std::vector<int> which;
        for (const model::Constraint& k : model_.constraints) which.push_back(k.row);
        for (const model::Slider& k : model_.sliders)
            if (with_friction(k.friction, c) && surely_positive(coefficient(c, k.normal_force)))
                for (int j = 0; j < k.friction.dimension; ++j) which.push_back(k.friction.first_row + j);
        const IntervalMatrix W = rows_of(f_.enclosure->row_matrix(q), which);
        IntervalMatrix S(count + W.rows(), n_);
        for (int k = 0; k < count; ++k) S(k, damped[ix(k)]) = Interval(1.0);
        for (int k = 0; k < W.rows(); ++k)
            for (int j = 0; j < n_; ++j) S(count + k, j) = W(k, j);
        const std::optional<std::vector<double>> weights = rank_weights(S);
        if (!weights) return std::nullopt;
        return ClaimValue::List{"falls", claim_numbers(*weights)};
    }

    ClaimList impacts() const {
        ClaimList restitution = restitution_claims(*scope_);
        if (!restitution.complete()) return restitution;
        if (!model_.constraints.empty() || !model_.clutches.empty())
            return {{}, "impacts with constraints or clutches are certified for energies alone"};
        const ImpulseForm form(
            *scope_, [this](const std::vector<int>& rows, const Box& q) { return elements_->factors(rows, q); });
        std::optional<ClaimValue> tree = tree_over(
            *scope_, scope_->domain, [&](const Box& q) { return form.leaf(q); },
            [&](const Box& q) { return form.spread(q); });
        if (!tree) return {{}, "impacts are not shown to take V by plain enclosures"};
        restitution.claims.push_back(tree_claim("dissipative impacts", std::move(*tree)));
        return restitution;
    }

    ClaimList equilibria() {
        if (f_.proof.strict) return {{}, ""};
        if (!falls_)
            return has_elements(model_) ? ClaimList{{}, "friction holds a set of equilibria"}
                                        : ClaimList{{bare_claim("lone")}, ""};
        if (std::isinf(level_)) return {{bare_claim("no bound")}, ""};
        const Interval V_e = V_.value(f_.state());
        std::optional<ClaimValue> tree = tree_over(
            *scope_, scope_->domain,
            [&](const Box& q) -> std::optional<ClaimValue> {
                Box x = q;
                x.resize(ix(2 * n_), Interval(0.0));
                if (surely_negative(V_.value(x) - V_e - Interval(level_))) return ClaimValue::List{"below"};
                return unbalanced_leaf(*scope_, q);
            },
            [&](const Box& q) {
                Box x = q;
                x.resize(ix(2 * n_), Interval(0.0));
                return unbalanced_spread(*scope_, q) + width(V_.value(x));
            });
        if (!tree) return {{}, "equilibria above the level are not excluded by plain enclosures"};
        return {{tree_claim("equilibria", std::move(*tree))}, ""};
    }

    const model::Mechanics& model_;
    StateFunction& V_;
    const Certificate& certificate_;
    const CertifyOptions& options_;
    const bool falls_;
    FunctionProof f_;
    int n_ = 0;
    Box region_;
    double level_ = 0.0;
    const ClaimScope* scope_ = nullptr;
    StateTrees* trees_ = nullptr;
    const ElementPowers* elements_ = nullptr;
};

}  // namespace

CertifiedStatement state_function_claims(const model::Mechanics& model, StateFunction& V,
                                         const Certificate& certificate, const CertifyOptions& options) {
    return FunctionClaims(model, V, certificate, options).run();
}

}  // namespace saltus::stability
