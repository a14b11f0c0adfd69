// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/expr/series/disk_rules.hpp"
#include "saltus/expr/series/series_tape.hpp"

// Bounds on a complex disk. If an operand takes values c + w with |w| <= ρ on the disk |τ| <= R, then each rule below
// bounds |f(c + w) − f(c)| and requires that f is analytic in the whole ball |w| <= ρ. Then f of the operand is
// analytic on the disk of τ, and by induction so is every slot with a finite radius. Two facts serve most rules:
//   - A power series f(c + w) = Σ f_n w^n gives |f(c + w) − f(c)| <= Σ_(n>=1) |f_n| ρ^n.
//   - |cos w − 1| <= cosh ρ − 1 and |sin w| <= sinh ρ, because the series of cosh and sinh have the absolute values of
//     these coefficients; the same holds for cosh w − 1 and sinh w.
// The rules of arithmetic are in disk_rules.hpp.

namespace saltus::expr {

using disk::enlarged;
using disk::product_radius;
using disk::quotient_radius;
using disk::relative_margin;
using disk::sqrt_radius;

namespace {

/// e^x − 1, also if x has a few relative rounding errors, which the exponential function multiplies by x.
double safe_expm1(double x) { return std::expm1(x * (1.0 + relative_margin)); }

/// |e^(c + w) − e^c| <= e^c (e^ρ − 1) = e^(c + ρ) (1 − e^(−ρ)). The second form neither overflows nor underflows if c
/// is far below zero. The sum c + ρ has a rounding error, which the exponential function multiplies.
double exp_radius(double c, double rho) {
    return std::exp(c + rho + relative_margin * (std::abs(c) + rho)) * -std::expm1(-rho);
}

/// sinh ρ and cosh ρ − 1, by the formulas of the half argument, with one call of the library.
struct Hyperbolic {
    explicit Hyperbolic(double rho) : half(std::sinh(0.5 * rho)) {}
    double half;
    double sinh() const { return 2.0 * half * std::sqrt(1.0 + half * half); }
    double cosh_minus_1() const { return 2.0 * half * half; }
};

/// log(c + w) − log c = log(1 + w/c); the absolute values of its coefficients are those of −log(1 − x).
double log_radius(double c, double rho) { return rho < c ? -std::log1p(-rho / c) : infinity; }

/// (c + w)^p − c^p = c^p Σ_(n>=1) binom(p, n) (w/c)^n. For an integer p >= 0 the binomials are positive, and the sum is
/// (1 + ρ/|c|)^p − 1. Otherwise |binom(p, n)| <= |binom(−|p|, n)|, factor by factor, and the sum is
/// (1 − ρ/|c|)^(−|p|) − 1. Negative c are allowed for integers p only.
double pow_radius(double c, double rho, double p) {
    const bool integer = p == std::floor(p);
    const double size = std::abs(c);
    if (p >= 0.0 && integer) {
        if (p == 0.0) return 0.0;
        return size > 0.0 ? std::pow(size, p) * safe_expm1(p * std::log1p(rho / size)) : std::pow(rho, p);
    }
    if (!(rho < size) || (c < 0.0 && !integer)) return infinity;
    return std::pow(size, p) * safe_expm1(-std::abs(p) * std::log1p(-rho / size));
}

/// f(c + w) − f(c) = f(c) (cosh w − 1) + g(c) sinh w for f = sinh and g = cosh or the other way round. For f = sin or
/// cos and g = cos or ∓sin the same bound follows with cos w and sin w.
double oscillation_radius(double f, double g, const Hyperbolic& rho) {
    return std::abs(f) * rho.cosh_minus_1() + std::abs(g) * rho.sinh();
}

/// tan(c + w) − tan c = sin w/(cos c cos(c + w)), and |cos(c + w)| >= |cos c| − |cos(c + w) − cos c|, which the rule
/// for the cosine bounds from below. The hyperbolic tangent has the same formula with cosh and sinh. Both are divided
/// by cos² c or cosh² c, and t is the (hyperbolic) tangent of c: 1/cos² c = 1 + t², 1/cosh² c = 1 − t² =: g.
double tangent_radius(double t, double g, const Hyperbolic& rho) {
    const double rest = 1.0 - rho.cosh_minus_1() - std::abs(t) * rho.sinh();
    return rest > 0.0 ? g * rho.sinh() / rest : infinity;
}

/// For the hyperbolic tangent far from zero, |cosh(c + w)|² = sinh²(Re) + cos²(Im) >= sinh²(|c| − ρ). So the difference
/// above is at most sinh ρ/(cosh c sinh(|c| − ρ)) <= 2/(e^(2(|c| − ρ)) − 1). The poles are on the imaginary axis, and
/// this bound holds on every disk that does not reach it.
double tanh_radius(double c, double t, double g, double rho) {
    const double near = tangent_radius(t, g, Hyperbolic(rho));
    return rho < std::abs(c) ? std::min(near, 2.0 / std::expm1(2.0 * (std::abs(c) - rho))) : near;
}

/// The derivative of asin at z is 1/√((1 − z)(1 + z)), and |1 ∓ z| >= |1 ∓ c| − ρ in the ball.
double asin_radius(double c, double rho) {
    const double near = 1.0 - std::abs(c) - rho, far = 1.0 + std::abs(c) - rho;
    return near > 0.0 ? rho / std::sqrt(near * far) : infinity;
}

/// Along the straight line x = x0 + s v, y = y0 + s w, 0 <= s <= 1, the angle changes by
///     ∫ (x y' − y x')/(x² + y²) ds   with   x y' − y x' = x0 w − y0 v.
/// x² + y² = (x + i y)(x − i y), and |x ± i y| >= r − s ρ with r = hypot(x0, y0) and ρ = ρ_x + ρ_y. The integral of
/// 1/(r − s ρ)² is 1/(r (r − ρ)). The branch is the one that continues the angle at (x0, y0). atan(y) is the case x
/// = 1.
double angle_radius(double y0, double rho_y, double x0, double rho_x) {
    const double r = std::hypot(x0, y0), rho = rho_x + rho_y;
    return rho < r ? (std::abs(x0) * rho_y + std::abs(y0) * rho_x) / (r * (r - rho)) : infinity;
}

}  // namespace

template <class V>
void SeriesWorkspace<V>::bounds(double R, std::span<const double> variable_radius, std::span<double> output_bound,
                                std::span<double> switch_radius) requires std::is_same_v<V, double> {
    SALTUS_EXPECT(R >= 0.0 && next_ > 0 && variable_radius.size() == tape_->variables_.size() &&
                  output_bound.size() == tape_->outputs_.size() && switch_radius.size() == tape_->switches_.size());
    radius_.resize(tape_->slots_.size(), 0.0);
    double* const radius = radius_.data();
    for (std::size_t i = 0; i < variable_radius.size(); ++i)
        radius[tape_->variables_[i]] = enlarged(variable_radius[i]);
    radius[tape_->variables_[static_cast<std::size_t>(tape_->time_)]] = enlarged(R);
    const auto value = [&](std::uint32_t slot) { return data_[offset(slot)]; };

    for (const Instruction& i : tape_->values_) {
        if (tape_->slots_[i.to].degree == 0) continue;  // it does not change with τ, and its radius stays 0
        const double a = value(i.a), rho_a = radius[i.a];
        const double b = i.b != SeriesTape::none ? value(i.b) : 0.0;
        const double rho_b = i.b != SeriesTape::none ? radius[i.b] : 0.0;
        const double rho_c = i.c != SeriesTape::none ? radius[i.c] : 0.0;
        double r = infinity;
        switch (i.code) {
            case Code::value:
            case Code::compare:
            case Code::stop:
            case Code::row: r = 0.0; break;
            case Code::add:
            case Code::sub: r = rho_a + rho_b; break;
            case Code::neg:
            case Code::abs:
            case Code::add_scalar:
            case Code::sub_scalar:
            case Code::scalar_sub: r = rho_a; break;
            case Code::scale:
            case Code::mul:
            case Code::mul_poly: r = product_radius(a, rho_a, b, rho_b); break;
            case Code::scale_add:
            case Code::scale_sub:
            case Code::sub_scale:
            case Code::mul_add:
            case Code::mul_sub:
            case Code::sub_mul: r = product_radius(a, rho_a, b, rho_b) + rho_c; break;
            case Code::square: r = product_radius(a, rho_a, a, rho_a); break;
            case Code::div:
            case Code::div_poly: r = quotient_radius(a, rho_a, b, rho_b); break;
            case Code::sqrt: r = sqrt_radius(a, rho_a); break;
            case Code::hypot: r = sqrt_radius(value(i.c), rho_c); break;
            case Code::exp:
            case Code::exp_poly:
            case Code::pow_varying: r = exp_radius(a, rho_a); break;
            case Code::sincos:
            case Code::sincos_poly:
            case Code::sinhcosh:
            case Code::sinhcosh_poly: {
                const Hyperbolic rho(rho_a);
                r = oscillation_radius(value(i.to), value(i.to2), rho);
                radius[i.to2] = enlarged(oscillation_radius(value(i.to2), value(i.to), rho));
                break;
            }
            case Code::tan:
            case Code::tan_poly: r = tangent_radius(value(i.to), value(i.to2), Hyperbolic(rho_a)); break;
            case Code::tanh:
            case Code::tanh_poly: r = tanh_radius(a, value(i.to), value(i.to2), rho_a); break;
            case Code::integral:
            case Code::integral_poly:
                if (i.op == Op::log)
                    r = log_radius(a, rho_a);
                else
                    r = i.op == Op::atan ? angle_radius(a, rho_a, 1.0, 0.0) : asin_radius(a, rho_a);
                break;
            case Code::atan2: r = angle_radius(a, rho_a, b, rho_b); break;
            case Code::pow:
            case Code::pow_poly: r = pow_radius(a, rho_a, b); break;
            case Code::extremum: r = chosen_[i.aux] == offset(i.a) ? rho_a : rho_b; break;
            case Code::choose: r = chosen_[i.aux] == offset(i.b) ? rho_b : rho_c; break;
        }
        radius[i.to] = std::isfinite(value(i.to)) ? enlarged(r) : infinity;
    }
    const auto result = [&](std::uint32_t slot) { return std::isfinite(value(slot)) ? radius[slot] : infinity; };
    for (std::size_t i = 0; i < output_bound.size(); ++i) output_bound[i] = result(tape_->outputs_[i]);
    for (std::size_t i = 0; i < switch_radius.size(); ++i) switch_radius[i] = result(tape_->switches_[i].function);
}

template void SeriesWorkspace<double>::bounds(double, std::span<const double>, std::span<double>, std::span<double>);

}  // namespace saltus::expr
