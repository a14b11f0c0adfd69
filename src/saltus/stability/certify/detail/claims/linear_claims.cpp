// SPDX-License-Identifier: Apache-2.0
//
// Claims about linear systems with sliders, M u̇ + C u + K(q − q_e) = Σ t λ: docs/certificate-format.md, "Linear
// systems".
#include "saltus/stability/certify/detail/claims/linear_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"
#include "saltus/stability/certify/detail/claims/observable_claims.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The bounds b exceed √(2ρ t·M⁻¹t) by this fraction, so that b² > 2ρ t·M⁻¹t holds with a margin.
constexpr double speed_bound_margin = 1e-6;

/// One row of W with friction.
struct SlipRow {
    IntervalVector row;
    Interval force;  ///< F = μ FN
    double share;    ///< κ: 1, or ½ for a slider with two rows
};

class LinearClaims {
public:
    explicit LinearClaims(LinearSystem system) : s_(std::move(system)) {
        for (std::size_t g = 0; g < s_.groups.size(); ++g)
            for (const int r : s_.groups[g])
                slips_.push_back({matrix_row(s_.W, r), s_.F[g], s_.groups[g].size() > 1 ? 0.5 : 1.0});
    }

    /// The direction of the claim "linear saddle". std::nullopt: K has no negative direction, or is not regular.
    std::optional<std::vector<double>> falling_direction() const {
        const std::vector<double> d = list_of(symmetric_spectrum(s_.K.middle()).smallest_direction);
        if (!surely_negative(quadratic_form(s_.K, d)) || !regular(s_.K)) return std::nullopt;
        return d;
    }

    /// b_r with b_r² > 2ρ t_r·M⁻¹t_r for the rows with friction, if (C + Cᵀ)/2 + Σ κ F/b t tᵀ is positive definite.
    std::optional<std::vector<double>> friction_bounds(double rho) const {
        const int n = s_.M.rows();
        std::vector<double> bounds;
        IntervalMatrix A = symmetric_part(s_.C);
        for (const SlipRow& r : slips_) {
            if (exactly_zero(r.force)) continue;
            if (!surely_positive(r.force)) return std::nullopt;
            IntervalMatrix t(n, 1);
            for (int i = 0; i < n; ++i) t(i, 0) = r.row[static_cast<std::size_t>(i)];
            const std::optional<IntervalMatrix> x = eliminated(s_.M, t);
            if (!x) return std::nullopt;
            const Interval square = Interval(2.0 * rho) * (transpose(t) * *x)(0, 0);
            if (!(square.hi > 0.0) || !std::isfinite(square.hi)) return std::nullopt;
            const double b = std::sqrt(square.hi) * (1.0 + speed_bound_margin);
            bounds.push_back(b);
            const Interval weight = Interval(r.share) * r.force / Interval(b);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) A(i, j) += weight * (i == j ? expr::sqr(t(i, 0)) : t(i, 0) * t(j, 0));
        }
        return shown_definite(A) ? std::optional(bounds) : std::nullopt;
    }

private:
    LinearSystem s_;
    std::vector<SlipRow> slips_;
};

}  // namespace

std::optional<CertifiedStatement> linear_instability_claims(const ClaimScope& scope, const Certificate& certificate) {
    std::optional<LinearSystem> system = linear_system(scope.e);
    if (!system) return std::nullopt;
    const std::optional<std::vector<double>> direction = LinearClaims(std::move(*system)).falling_direction();
    if (!direction) return std::nullopt;
    ClaimList losses = loss_claims(scope);
    if (!losses.complete())
        if (std::optional<ClaimValue> observable = observable_claim(scope)) losses = {{std::move(*observable)}, ""};
    CertifiedStatement s = uncertified(certificate, scope.e.model().coordinates, "");
    s.theorem = "linear";
    s.domain = whole_space(s.coordinates.size());
    s.reference = 0.0;
    s.level = Interval::infinity;
    s.I_C.clear();
    s.assumptions.clear();
    s.conditions.clear();
    const auto add = [&](const std::string& id, const std::string& text, ClaimList list) {
        CertifiedCondition c{id, text, Verdict::proved, list.complete(), list.why, {}};
        if (c.certified) c.claims = std::move(list.claims);
        s.conditions.push_back(std::move(c));
    };
    add("1", "kinetic energy u'M(q)u/2 with M > 0", kinetic_claims(scope));
    add("3", "the other smooth forces take energy, -u.f >= 0, and vanish for u = 0", dissipation_claims(scope));
    add("4", "no motion except rest is without dissipation", std::move(losses));
    add("5", "the stiffness is constant and regular, and has a negative direction",
        {{ClaimValue::Record{{"kind", "linear saddle"}, {"direction", claim_numbers(*direction)}}}, ""});
    if (!s.certified()) return std::nullopt;
    return s;
}

std::optional<ClaimValue> friction_claim(const ClaimScope& scope) {
    std::optional<LinearSystem> system = linear_system(scope.e);
    if (!system || std::isinf(scope.level) || !shown_definite(system->K)) return std::nullopt;
    const std::optional<std::vector<double>> bounds = LinearClaims(std::move(*system)).friction_bounds(scope.level);
    if (!bounds) return std::nullopt;
    return ClaimValue::Record{{"kind", "friction"}, {"bounds", claim_numbers(*bounds)}};
}

}  // namespace saltus::stability
