// SPDX-License-Identifier: Apache-2.0
//
// Claims about linear systems with sliders, M u̇ + C u + K(q − q_e) = Σ t λ: docs/certificate-format.md, "Linear
// systems".
#include "saltus/stability/certify/detail/claims/linear_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/claims/observable_claims.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// Largest number of slip rows whose 2^n corners of friction forces are examined.
constexpr std::size_t max_slip_rows = 10;
/// With negative damping these parts of the program's level are tried.
constexpr double tried_level_parts[] = {0.99, 0.9, 0.8, 0.65, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.01};
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
    LinearClaims(const ClaimScope& scope, LinearSystem system) : scope_(scope), s_(std::move(system)) {
        for (std::size_t g = 0; g < s_.groups.size(); ++g)
            for (const int r : s_.groups[g])
                slips_.push_back({matrix_row(s_.W, r), s_.F[g], s_.groups[g].size() > 1 ? 0.5 : 1.0});
    }

    std::optional<CertifiedStatement> attractive(double level) const {
        if (!shown_definite(s_.K)) return std::nullopt;
        if (std::optional<ClaimValue::List> losses = damped_losses())
            return statement(Outcome::attractive, std::move(*losses), bare_claim("stiffness"), Interval::infinity);
        if (!(level > 0.0 && std::isfinite(level))) return std::nullopt;
        for (const double part : tried_level_parts) {
            const double rho = part * level;
            if (!set_below(rho)) continue;
            if (const std::optional<std::vector<double>> bounds = friction_bounds(rho))
                return statement(Outcome::attractive,
                                 {ClaimValue::Record{{"kind", "friction"}, {"bounds", claim_numbers(*bounds)}}},
                                 bare_claim("stiffness"), rho);
        }
        return std::nullopt;
    }

    std::optional<CertifiedStatement> unstable() const {
        const std::vector<double> d = list_of(symmetric_spectrum(s_.K.middle()).smallest_direction);
        if (!surely_negative(quadratic_form(s_.K, d)) || !regular(s_.K)) return std::nullopt;
        std::optional<ClaimValue::List> losses = damped_losses();
        if (!losses) return std::nullopt;
        return statement(Outcome::unstable, std::move(*losses),
                         ClaimValue::Record{{"kind", "negative stiffness"}, {"direction", claim_numbers(d)}},
                         Interval::infinity);
    }

    /// M > 0, μ >= 0 and FN >= 0.
    bool well_posed() const {
        const Enclosure& e = scope_.e;
        const Box all = whole_space(static_cast<std::size_t>(e.size()));
        const IntervalVector c = e.coefficients(all, all);
        for (const model::Slider& slider : e.model().sliders)
            for (const Interval& x : {coefficient(c, slider.friction.mu[0]), coefficient(c, slider.normal_force)})
                if (!(x.lo >= 0.0)) return false;
        return slips_.size() <= max_slip_rows && shown_definite(s_.M);
    }

private:
    CertifiedStatement statement(Outcome outcome, ClaimValue::List dissipation, ClaimValue stiffness,
                                 double level) const {
        const bool attracts = outcome == Outcome::attractive;
        CertifiedStatement s;
        s.theorem = "linear";
        s.coordinates = scope_.e.model().coordinates;
        s.domain = whole_space(s.coordinates.size());
        s.level = level;
        const auto add = [&](const std::string& name, const std::string& text, ClaimValue::List claims) {
            s.conditions.push_back({name, text, Verdict::proved, true, "", std::move(claims)});
        };
        add("form", "the equations of motion are linear except for the friction of sliders", {bare_claim("linear")});
        add("mass", "the mass matrix is positive definite, friction is not negative", {bare_claim("mass")});
        add("dissipation", "no motion except rest is without dissipation", std::move(dissipation));
        add("stiffness",
            attracts ? "the stiffness is positive definite" : "the stiffness is regular and has a negative direction",
            {std::move(stiffness)});
        if (attracts)
            add("set", "all equilibria lie below the level", {bare_claim(std::isinf(level) ? "no bound" : "set")});
        return s;
    }

    /// C + Cᵀ >= 0, and only rest is without dissipation: by rank, otherwise by observability.
    std::optional<ClaimValue::List> damped_losses() const {
        const int n = s_.C.rows();
        const IntervalMatrix C = symmetric_part(s_.C);
        if (!positive_semidefinite(C)) return std::nullopt;
        std::vector<IntervalVector> rows;
        for (const SlipRow& r : slips_) {
            if (exactly_zero(r.force)) continue;
            if (!surely_positive(r.force)) return std::nullopt;  // another program may see a positive force or none
            rows.push_back(r.row);
        }
        for (int i = 0; i < n; ++i) rows.push_back(matrix_row(C, i));
        IntervalMatrix S(static_cast<int>(rows.size()), n);
        for (int i = 0; i < S.rows(); ++i)
            for (int j = 0; j < n; ++j) S(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (const std::optional<std::vector<double>> weights = rank_weights(S))
            return ClaimValue::List{bare_claim("damping"),
                                    ClaimValue::Record{{"kind", "rank"}, {"weights", claim_numbers(*weights)}}};
        std::optional<ClaimValue> observable = observable_claim(scope_);
        if (!observable) return std::nullopt;
        return ClaimValue::List{bare_claim("damping"), std::move(*observable)};
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

    /// ½ λᵀAλ with A = W K⁻¹Wᵀ at the corner `signs` of the friction forces. std::nullopt: K is not shown to be
    /// regular.
    std::optional<Interval> corner_energy(unsigned signs) const {
        const int n = s_.K.rows();
        IntervalMatrix force(n, 1);
        for (std::size_t r = 0; r < slips_.size(); ++r)
            for (int i = 0; i < n; ++i)
                force(i, 0) += Interval((signs >> r & 1U) != 0 ? -1.0 : 1.0) * slips_[r].force *
                               slips_[r].row[static_cast<std::size_t>(i)];
        const std::optional<IntervalMatrix> z = eliminated(s_.K, force);
        if (!z) return std::nullopt;
        return Interval(0.5) * (transpose(force) * *z)(0, 0);
    }

    bool set_below(double rho) const {
        for (unsigned signs = 0; signs < (1U << slips_.size()); ++signs) {
            const std::optional<Interval> energy = corner_energy(signs);
            if (!energy || !surely_negative(*energy - Interval(rho))) return false;
        }
        return true;
    }

    const ClaimScope& scope_;
    LinearSystem s_;
    std::vector<SlipRow> slips_;
};

}  // namespace

std::optional<CertifiedStatement> linear_claims(const ClaimScope& scope, const Certificate& certificate) {
    std::optional<LinearSystem> system = linear_system(scope.e);
    if (!system) return std::nullopt;
    const LinearClaims claims(scope, std::move(*system));
    if (!claims.well_posed()) return std::nullopt;
    std::optional<CertifiedStatement> s =
        certificate.outcome == Outcome::unstable ? claims.unstable() : claims.attractive(certificate.rho_verified);
    if (!s) return std::nullopt;
    s->basis = certificate.basis;
    s->statement = certificate.summary;
    s->verdict = to_string(certificate.outcome);
    s->grade = to_string(certificate.grade);
    return s;
}

}  // namespace saltus::stability
