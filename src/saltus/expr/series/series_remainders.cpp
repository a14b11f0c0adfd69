// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/expr/series/series_sizes.hpp"
#include "saltus/expr/series/series_tape.hpp"

// What truncated series leave out on a step 0 <= τ <= h. Each slot f has a polynomial F, its coefficients up to the
// order N, and a remainder r with |f(τ) − F(τ)| <= r for 0 <= τ <= h (a Taylor model with real numbers). The variables
// are polynomials: their remainders are zero. The remainder of a result follows from
//   1. the terms beyond the order N of a product of two polynomials (product_tail), which the truncation drops. The
//      recurrences make the product exact up to the order N;
//   2. the remainders of the operands.
// Where a recurrence comes from a differential equation, the dropped terms are a defect of that equation. They are at
// least of order N in the derivative, and their integral is at most the same product_tail, because
//     ∫ |a_i| j |b_j| τ^(i+j−1) dτ = j/(i+j) |a_i b_j| h^(i+j).
// In the comments below capital letters are polynomials, small letters are the functions, t is such a tail.
//
// Rounding errors of the coefficients are not covered. Those of the bound are: every sum and product has numbers >= 0,
// and each result is enlarged.

namespace saltus::expr {

namespace {

constexpr double relative_margin = 1e-13;  // some hundred rounding errors
constexpr double absolute_margin = 1e-300;

/// Covers rounding errors. A NaN (0 times infinity, say) means that nothing is known.
double enlarged(double r) { return r >= 0.0 ? r * (1.0 + relative_margin) + absolute_margin : infinity; }

}  // namespace

/// One evaluation of all remainders. `w` has the coefficients.
class SeriesRemainders {
public:
    SeriesRemainders(SeriesWorkspace<double>& w, double h)
        : w_(w), program_(*w.program_), m_(w.remainder_memory_), tape_(*w.tape_), N_(w.next_ - 1) {
        if (m_.remainder.empty()) make_room();
        double power = 1.0;
        for (int k = 0; k <= N_; ++k, power *= h) m_.power[static_cast<std::size_t>(k)] = power;
        for (const std::uint32_t slot : program_.measured) measure(slot);
    }

    void run() {
        for (const Instruction& i : program_.varying)
            m_.remainder[i.to] = std::isfinite(coefficients(i.to)[0]) ? enlarged(remainder_of(i)) : infinity;
    }

    double remainder(std::uint32_t slot) const {
        return std::isfinite(coefficients(slot)[0]) ? m_.remainder[slot] : infinity;
    }

private:
    using Instruction = SeriesTape::Instruction;
    using Code = SeriesTape::Code;
    static constexpr std::uint32_t none = SeriesTape::none;

    // --- polynomials -----------------------------------------------------------------------------------------

    int last(std::uint32_t slot) const { return std::min(N_, tape_.slots_[slot].degree); }
    const double* coefficients(std::uint32_t slot) const { return w_.data_.data() + program_.offset[slot]; }
    const double* sizes(std::uint32_t slot) const { return m_.measured.data() + program_.size_place[slot]; }
    const double* sums(std::uint32_t slot) const { return m_.measured.data() + program_.sum_place[slot]; }

    void make_room() {
        m_.remainder.assign(tape_.slots_.size(), 0.0);
        m_.change.assign(tape_.slots_.size(), 0.0);
        m_.measured.resize(program_.measured_size);
        m_.power.resize(static_cast<std::size_t>(w_.max_order_) + 1);
        m_.scratch.resize(static_cast<std::size_t>(w_.max_order_) + 1);
    }

    /// Sums up the terms of a slot.
    void measure(std::uint32_t slot) {
        const double *const c = coefficients(slot), *const power = m_.power.data();
        const std::uint32_t size = program_.size_place[slot], sum = program_.sum_place[slot];
        if (size != none) m_.change[slot] = term_sizes(c, last(slot), power, m_.measured.data() + size);
        if (sum != none) m_.change[slot] = term_sums(c, last(slot), power, m_.measured.data() + sum);
    }

    /// What the truncation of A B drops.
    double tail(std::uint32_t a, std::uint32_t b) const {
        if (program_.size_place[a] == none || program_.sum_place[b] == none) std::swap(a, b);
        return product_tail(sizes(a), last(a), sums(b), last(b), N_);
    }

    /// The sum of the terms from order 1 on: a bound of |F − F_0|, and of ∫|F'|.
    double variation(std::uint32_t slot) const { return m_.change[slot]; }
    /// A bound of |F|.
    double total(std::uint32_t slot) const { return std::abs(coefficients(slot)[0]) + m_.change[slot]; }

    /// The range of F − F_0.
    SeriesRange range(std::uint32_t slot) const {
        return change_range(coefficients(slot), last(slot), m_.power.data(), m_.change[slot]);
    }
    /// A lower bound of |F|; 0 if F may vanish.
    double least(std::uint32_t slot) const {
        return least_size(coefficients(slot), last(slot), m_.power.data(), m_.change[slot]);
    }

    // --- rules -----------------------------------------------------------------------------------------------

    /// f = a b:  AB + A(b − B) + B(a − A) + (a − A)(b − B), and AB has the tail. A factor that is the number 0 makes
    /// the product 0, whatever the other one is.
    double product(std::uint32_t a, std::uint32_t b) const {
        const double ra = m_.remainder[a], rb = m_.remainder[b];
        if ((total(a) == 0.0 && ra == 0.0) || (total(b) == 0.0 && rb == 0.0)) return 0.0;
        return tail(a, b) + total(a) * rb + total(b) * ra + ra * rb;
    }

    double scaled(const Instruction& i) const {
        const double factor = std::abs(coefficients(i.b)[0]), r = m_.remainder[i.a];
        return factor == 0.0 || r == 0.0 ? 0.0 : factor * r;
    }

    /// f = a/b. F B = A + t, so that  f − F = (a − F b)/b = ((a − A) − F (b − B) − t)/b.
    double quotient(const Instruction& i) const {
        const double b = least(i.b) - m_.remainder[i.b];
        return b > 0.0 ? (tail(i.to, i.b) + m_.remainder[i.a] + total(i.to) * m_.remainder[i.b]) / b : infinity;
    }

    /// f² = a and F² = A + t:  f − F = (a − F²)/(f + F) = ((a − A) − t)/(f + F).
    double root(std::uint32_t to, std::uint32_t a) const {
        const double defect = tail(to, to) + m_.remainder[a], F = least(to), square = F * F - defect;
        return F > 0.0 && square > 0.0 ? defect / (F + std::sqrt(square)) : infinity;
    }

    /// f = exp(a). First for A in the place of a: F' = F A' + defect, so that the difference e = exp(A) − F satisfies
    /// e' = A' e − defect, |e(τ)| <= ∫ exp(A(τ) − A(s)) |defect| ds. If exp(A) is negligible on the whole step, which
    /// the range of A shows, then its own size and that of F are the better bound. Then a: exp(a) = exp(A) exp(a − A).
    double exponential(const Instruction& i) const {
        const SeriesRange change = range(i.a);
        const double followed = std::exp(change.high - change.low) * tail(i.to, i.a);
        const double size = std::exp(coefficients(i.a)[0] + change.high) + total(i.to);
        const double e = followed < size ? followed : size;
        return e + (total(i.to) + e) * std::expm1(m_.remainder[i.a]);
    }

    /// The pair (sin A, cos A) is a vector that turns with the rate A'. So the difference (s − S, c − C) of the series
    /// and the functions keeps its length, except for what the defects add. The change from A to a adds |sin a − sin A|
    /// <= |a − A|, the remainder of a.
    double oscillation(const Instruction& i) const {
        return std::hypot(tail(i.to, i.a), tail(i.to2, i.a)) + m_.remainder[i.a];
    }

    /// The same for sinh and cosh, whose differences grow at most like exp(A(τ) − A(s)) or its inverse.
    double hyperbolic(const Instruction& i) const {
        const SeriesRange change = range(i.a);
        const double e = std::exp(change.high - change.low) * (tail(i.to, i.a) + tail(i.to2, i.a));
        return e + (total(i.to) + total(i.to2) + e) * std::expm1(m_.remainder[i.a]);
    }

    /// f = tan(a) with f' = g a', g = 1 + f². G = 1 + F² − t_G and F' = G A' + defect, so that e = tan(A) − F satisfies
    ///     e' = (2F + e) e A' + t_G A' − defect.
    /// While |e| <= E: |e| <= exp((2|F| + E) ∫|A'|) (t_G ∫|A'| + ∫|defect|). If this is at most E, then |e| <= E holds
    /// on the whole step, because e starts at 0. The hyperbolic tangent has g = 1 − f² and the same bound. Then
    ///     tan(A + d) − tan(A) = (1 + tan² A) tan d/(1 − tan A tan d).
    double tangent(const Instruction& i, bool hyperbolic) const {
        const double path = variation(i.a), source = tail(i.to, i.to) * path + tail(i.to2, i.a);
        const double E = 2.0 * source * std::exp(2.0 * total(i.to) * path);
        double e = std::exp((2.0 * total(i.to) + E) * path) * source <= E ? E : infinity;
        const double r = m_.remainder[i.a];
        if (!hyperbolic) {
            const double f = total(i.to) + e, turned = std::tan(r);
            return r < 1.0 && f * turned < 1.0 ? e + (1.0 + f * f) * turned / (1.0 - f * turned) : infinity;
        }
        // Far from zero tanh(A) and F_0 differ from ±1 by at most 2 exp(−2|A|).
        const double far = 4.0 * std::exp(-2.0 * least(i.a)) + variation(i.to);
        e = far < e ? far : e;
        return e + r;
    }

    /// f' = ±a'/b for log, asin, acos and atan, where b = β(a). B F' = ±A' + defect. With β(A) in the place of B, which
    /// it differs from by at most the remainder of b, and then with a in the place of A:
    ///     |f − F| <= t/|B| + ∫|A'| |1/β(A) − 1/B| + |a − A| max 1/|β|.
    double integral(const Instruction& i) const {
        const double B = least(i.b), rb = m_.remainder[i.b], beta = B - rb;
        if (!(beta > 0.0)) return infinity;
        return tail(i.b, i.to) / B + variation(i.a) * rb / (B * beta) + m_.remainder[i.a] / beta;
    }

    /// The angle f of (x, y) satisfies f' c = x y' − y x' with c = x² + y². C F' = X Y' − Y X' + defect. Then as for
    /// `integral`; a point that moves by at most ρ turns by at most ρ/(r − ρ) if its distance from the origin is >= r.
    double angle(const Instruction& i) const {
        const double C = least(i.c), rc = m_.remainder[i.c], square = C - rc;
        const double moved = m_.remainder[i.a] + m_.remainder[i.b];
        if (!(square > 0.0) || !(moved < std::sqrt(square))) return infinity;
        const double path = total(i.b) * variation(i.a) + total(i.a) * variation(i.b);
        return (tail(i.c, i.to) + 2.0 * tail(i.a, i.b)) / C + path * rc / (C * square) +
               moved / (std::sqrt(square) - moved);
    }

    /// f = a^p satisfies a f' = p f a'. A F' = p F A' + defect, so that e = A^p − F has e' = p A'/A e − defect/A, which
    /// grows at most like exp(|p| ∫|A'|/|A|). Then (A + d)^p = A^p (1 + d/A)^p; see pow_radius of series_bounds.cpp.
    double power(const Instruction& i) const {
        const int n = w_.power_[static_cast<std::size_t>(i.number)];
        if (n >= 0) return small_power(i, n);
        const double p = std::abs(coefficients(i.b)[0]), A = least(i.a), r = m_.remainder[i.a];
        if (!(A > r)) return infinity;
        const double e = std::exp(p * variation(i.a) / A) * (1.0 + p) * tail(i.a, i.to) / A;
        return e + (total(i.to) + e) * std::expm1(-p * std::log1p(-r / A));
    }

    /// a^n by products, as SeriesWorkspace::start_power makes them.
    double small_power(const Instruction& i, int n) const {
        if (n < 2) return n == 0 ? 0.0 : m_.remainder[i.a];
        const double A = total(i.a), ra = m_.remainder[i.a];
        double r = ra, size = A;
        const double* below = sums(i.a);  // sums of the power below
        int degree = last(i.a);
        for (int m = 2; m <= n; ++m) {
            const double dropped = product_tail(sizes(i.a), last(i.a), below, degree, N_);
            r = dropped + A * r + size * ra + ra * r;
            if (m == n) break;
            const double* const row =
                w_.data_.data() + program_.offset[i.to2] + static_cast<std::uint32_t>(m - 2) * w_.stride_;
            degree = N_;
            term_sums(row, N_, m_.power.data(), m_.scratch.data());
            below = m_.scratch.data();
            size = below[0];
        }
        return r;
    }

    [[gnu::always_inline]] double remainder_of(const Instruction& i) {
        const auto of = [&](std::uint32_t slot) { return m_.remainder[slot]; };
        switch (i.code) {
            case Code::value:
            case Code::compare:
            case Code::stop:
            case Code::row: return 0.0;
            case Code::add:
            case Code::sub: return of(i.a) + of(i.b);
            case Code::neg:
            case Code::abs:
            case Code::add_scalar:
            case Code::sub_scalar:
            case Code::scalar_sub: return of(i.a);
            case Code::scale: return scaled(i);
            case Code::scale_add:
            case Code::scale_sub:
            case Code::sub_scale: return scaled(i) + of(i.c);
            case Code::mul:
            case Code::mul_poly: return product(i.a, i.b);
            case Code::mul_add:
            case Code::mul_sub:
            case Code::sub_mul: return product(i.a, i.b) + of(i.c);
            case Code::square: return product(i.a, i.a);
            case Code::div:
            case Code::div_poly: return quotient(i);
            case Code::sqrt: return root(i.to, i.a);
            case Code::hypot: return root(i.to, i.c);
            case Code::exp:
            case Code::exp_poly:
            case Code::pow_varying: return exponential(i);
            case Code::sincos:
            case Code::sincos_poly:
            case Code::sinhcosh:
            case Code::sinhcosh_poly: {
                const bool turns = i.code == Code::sincos || i.code == Code::sincos_poly;
                const double r = turns ? oscillation(i) : hyperbolic(i);
                m_.remainder[i.to2] = enlarged(r);
                return r;
            }
            case Code::tan:
            case Code::tan_poly:
            case Code::tanh:
            case Code::tanh_poly: return tangent(i, i.code == Code::tanh || i.code == Code::tanh_poly);
            case Code::integral:
            case Code::integral_poly: return integral(i);
            case Code::atan2: return angle(i);
            case Code::pow:
            case Code::pow_poly: return power(i);
            case Code::extremum: return of(w_.chosen_[i.aux] == program_.offset[i.a] ? i.a : i.b);
            case Code::choose: return of(w_.chosen_[i.aux] == program_.offset[i.b] ? i.b : i.c);
        }
        return infinity;
    }

    SeriesWorkspace<double>& w_;
    const SeriesWorkspace<double>::Program& program_;
    SeriesWorkspace<double>::RemainderMemory& m_;
    const SeriesTape& tape_;
    int N_;
};

template <>
void SeriesWorkspace<double>::remainders(double h, std::span<double> output, std::span<double> switches) {
    SALTUS_EXPECT(h >= 0.0 && next_ > 0 && output.size() == tape_->outputs_.size() &&
                  switches.size() == tape_->switches_.size());
    SeriesRemainders evaluation(*this, h);
    evaluation.run();
    for (std::size_t i = 0; i < output.size(); ++i) output[i] = evaluation.remainder(tape_->outputs_[i]);
    for (std::size_t i = 0; i < switches.size(); ++i) switches[i] = evaluation.remainder(tape_->switches_[i].function);
}

}  // namespace saltus::expr
