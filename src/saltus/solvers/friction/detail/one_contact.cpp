// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/one_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/friction/detail/one_contact_newton.hpp"
#include "saltus/solvers/friction/detail/shape.hpp"
#include "saltus/solvers/linear/detail/small_system.hpp"

namespace saltus::solvers {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

constexpr double ill_conditioned = 1e-4;   // det(W) <= this · (product of the diagonal): the closed form is checked
constexpr double singular = 8 * eps;       // det(W) <= this · (product of the diagonal): W is singular to rounding
constexpr double smallest_scale = 1e-300;  // keeps the scale of W positive if W is 0; below every entry of W

/// The slip equation. Slip has v_T = −α r_T, so the tangential rows are (S + α) r_T = −b, where S and b remain after
/// the elimination of r_N. Its friction bound is linear in r_T: bound(r_T) = c + d·r_T. The root α > 0 satisfies
///     h(α) = bound(r_T(α))/‖r_T(α)‖ − 1 = 0.
/// 1/‖r_T(α)‖ is nearly linear in α (exactly, if S is a multiple of the unit matrix and d = 0), so Newton's method
/// converges in a few steps; a bracket makes it safe. h < 0 at α = 0, because sticking exceeds the bound, and h > 0 for
/// large α. With δr_T/δα = −(S + α)⁻¹ r_T the slope is h' = d·r_T'/‖r_T‖ − bound (r_T·r_T')/‖r_T‖³.
struct Slip {
    double s00, s01, s10, s11, b0, b1;  // S and b
    double c, d0, d1;                   // bound

    double length = 0.0, bound = 0.0;  // of the last evaluation
    double r0 = 0.0, r1 = 0.0;         // r_T of the last evaluation

    struct Value {
        double h, slope;
    };

    Value evaluate(double alpha) {
        const double a = s00 + alpha, d = s11 + alpha, inverse = 1.0 / (a * d - s01 * s10);
        r0 = (-b0 * d + b1 * s01) * inverse;
        r1 = (-b1 * a + b0 * s10) * inverse;
        const double dr0 = -(r0 * d - r1 * s01) * inverse, dr1 = -(r1 * a - r0 * s10) * inverse;
        length = std::sqrt(r0 * r0 + r1 * r1);
        bound = c + d0 * r0 + d1 * r1;
        const double over = 1.0 / length;
        const double slope = (d0 * dr0 + d1 * dr1) * over - bound * (r0 * dr0 + r1 * dr1) * over * over * over;
        return {bound * over - 1.0, slope};
    }

    /// Finds the root from `guess`, or from `scale` (the size of S) if there is none. Returns true if h is zero to
    /// rounding there. r0, r1 and length belong to the last α.
    bool find(double guess, double scale) {
        constexpr int max_rounds = 200, bisect_every = 16;
        constexpr double zero = 4 * eps, acceptable = 1e3 * eps;  // |h| at the root, and if α cannot be improved
        double low = 0.0, high = std::numeric_limits<double>::infinity();
        double alpha = guess > 0.0 ? guess : scale;
        for (int k = 0; k < max_rounds; ++k) {
            const auto [value, slope] = evaluate(alpha);
            if (std::abs(value) <= zero) return true;
            (value < 0.0 ? low : high) = alpha;
            if (std::isfinite(high) && high - low <= 2 * eps * high) return true;
            double next = alpha - value / slope;
            // If Newton's step leaves the bracket: the geometric mean, because α may span many decades. If there is no
            // upper end yet: four times farther.
            if (!(next > low && next < high) || k % bisect_every == bisect_every - 1) {
                if (high == std::numeric_limits<double>::infinity())
                    next = 4.0 * std::max(low, scale);
                else
                    next = low > 0.0 ? std::sqrt(low) * std::sqrt(high) : std::min(0.25 * high, scale);
                if (!(next > low && next < high)) next = 0.5 * (low + high);
            }
            if (next == alpha || !(next > low && next < high)) return std::abs(value) <= acceptable;
            alpha = next;
        }
        return false;
    }
};

/// Checks a closed-form result whose matrix is ill-conditioned, and improves it by Newton's method if necessary.
bool checked(const Law& law, int n, const double* W, const double* q, double bound, double* r) {
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(r[i])) std::fill_n(r, n, 0.0);
    return fulfils(law, n, W, q, bound, r) || solve_one_by_newton(law, n, W, q, bound, r);
}

/// Planar contact. Open if q_N >= 0. Stick: W r = −q, valid if |r_T| <= μ r_N. Slip with r_T = ±μ r_N: v_N = 0 gives
/// r_N = −q_N/(W_NN ± μ W_NT); valid if the denominator is positive and r_T opposes v_T. If rounding leaves both slip
/// directions slightly wrong, the better one is checked.
bool solve_planar(const Law& law, const double* W, const double* q, double* r) {
    const double mu = law.mu;
    if (q[0] >= 0.0) {
        r[0] = r[1] = 0.0;
        return true;
    }
    const double det = W[0] * W[3] - W[1] * W[2], size = std::abs(W[0] * W[3]);
    const bool trusted = det > ill_conditioned * size;
    if (det > singular * size) {  // stick
        const double n = (-q[0] * W[3] + q[1] * W[1]) / det, t = (-q[1] * W[0] + q[0] * W[2]) / det;
        if (n >= 0.0 && std::abs(t) <= mu * n) {
            r[0] = n, r[1] = t;
            return trusted || checked(law, 2, W, q, 0.0, r);
        }
    }
    double best = std::numeric_limits<double>::infinity();
    bool found = false;
    for (const double side : {-1.0, 1.0}) {  // r_T = side · μ r_N
        const double denominator = W[0] + side * mu * W[1];
        if (!(denominator > 0.0)) continue;
        const double n = -q[0] / denominator, t = side * mu * n;
        const double wrong = side * (W[2] * n + W[3] * t + q[1]);  // v_T along the reaction; must be <= 0
        if (wrong < best) best = wrong, r[0] = n, r[1] = t, found = true;
        if (wrong <= 0.0) return true;
    }
    return found && checked(law, 2, W, q, 0.0, r);
}

/// Spatial contact with isotropic friction. Closed, v_N = 0 gives r_N = −(q_N + W_NT r_T)/W_NN. Inserted into
/// v_T = −α r_T: (S + α) r_T = −b with S = W_TT − W_TN W_NT/W_NN, b = q_T − W_TN q_N/W_NN, and the bound is
/// μ r_N = c + d·r_T with c = −μ q_N/W_NN, d = −μ W_NT/W_NN. Stick is α = 0.
bool solve_spatial(const Law& law, const double* W, const double* q, double* r) {
    const double mu = law.mu;
    if (q[0] >= 0.0) {
        r[0] = r[1] = r[2] = 0.0;
        return true;
    }
    if (!(W[0] > 0.0)) return false;
    const double over = 1.0 / W[0];
    Slip slip{W[4] - W[3] * W[1] * over, W[5] - W[3] * W[2] * over, W[7] - W[6] * W[1] * over,
              W[8] - W[6] * W[2] * over, q[1] - W[3] * q[0] * over, q[2] - W[6] * q[0] * over,
              -mu * q[0] * over,         -mu * W[1] * over,         -mu * W[2] * over};
    const double scale = 0.5 * (std::abs(slip.s00) + std::abs(slip.s11)) + smallest_scale;
    const double det = slip.s00 * slip.s11 - slip.s01 * slip.s10, diagonal = 0.5 * (W[4] + W[8]);
    const bool trusted = det > ill_conditioned * diagonal * diagonal;
    if (mu == 0.0 || (slip.b0 == 0.0 && slip.b1 == 0.0)) {
        r[0] = -q[0] * over, r[1] = r[2] = 0.0;
        return true;
    }
    // Guess: α = −r_T·v_T/‖r_T‖² of the given reaction. It is the root if that reaction slips already.
    const double square = r[1] * r[1] + r[2] * r[2];
    const double guess = square > 0.0 ? -(r[1] * (W[3] * r[0] + W[4] * r[1] + W[5] * r[2] + q[1]) +
                                          r[2] * (W[6] * r[0] + W[7] * r[1] + W[8] * r[2] + q[2])) /
                                            square
                                      : 0.0;
    if (det > singular * scale * scale) {
        if (slip.evaluate(0.0).h >= 0.0 || slip.length == 0.0) {  // stick
            r[1] = slip.r0, r[2] = slip.r1;
            r[0] = -(q[0] + W[1] * r[1] + W[2] * r[2]) * over;
            return trusted || checked(law, 3, W, q, 0.0, r);
        }
    }
    const bool found = slip.find(guess, scale);
    // r_N from v_N = 0, then r_T scaled onto the cone exactly.
    r[0] = std::max(0.0, -(q[0] + W[1] * slip.r0 + W[2] * slip.r1) * over);
    const double factor = slip.length > 0.0 ? mu * r[0] / slip.length : 0.0;
    r[1] = slip.r0 * factor, r[2] = slip.r1 * factor;
    if (found && trusted && std::isfinite(r[0]) && std::isfinite(r[1]) && std::isfinite(r[2])) return true;
    return checked(law, 3, W, q, 0.0, r);
}

/// Slider with one row: the projection of the sticking reaction −q/w onto [−bound, bound]. For w <= 0 one of the ends
/// is a solution: −bound if v = q − w bound >= 0 there, else bound.
bool solve_slider(double w, double q, double bound, double* r) {
    if (w > 0.0) {
        r[0] = std::clamp(-q / w, -bound, bound);
    } else if (q == 0.0 && w == 0.0) {
        r[0] = std::clamp(r[0], -bound, bound);
    } else {
        r[0] = q - w * bound >= 0.0 ? -bound : bound;
    }
    return true;
}

/// Slider with two rows: the slip equation with S = W, b = q and a constant bound.
bool solve_slider(const Law& law, const double* W, const double* q, double bound, double* r) {
    if (bound <= 0.0 || (q[0] == 0.0 && q[1] == 0.0)) {
        r[0] = r[1] = 0.0;
        return true;
    }
    Slip slip{W[0], W[1], W[2], W[3], q[0], q[1], bound, 0.0, 0.0};
    const double scale = 0.5 * (std::abs(W[0]) + std::abs(W[3])) + smallest_scale, det = W[0] * W[3] - W[1] * W[2];
    const bool trusted = det > ill_conditioned * scale * scale;
    const double square = r[0] * r[0] + r[1] * r[1];
    const double guess =
        square > 0.0 ? -(r[0] * (W[0] * r[0] + W[1] * r[1] + q[0]) + r[1] * (W[2] * r[0] + W[3] * r[1] + q[1])) / square
                     : 0.0;
    if (det > singular * scale * scale && slip.evaluate(0.0).h >= 0.0) {
        r[0] = slip.r0, r[1] = slip.r1;
        return trusted || checked(law, 2, W, q, bound, r);
    }
    const bool found = slip.find(guess, scale);
    const double factor = slip.length > bound ? bound / slip.length : 1.0;
    r[0] = slip.r0 * factor, r[1] = slip.r1 * factor;
    if (found && trusted && std::isfinite(r[0]) && std::isfinite(r[1])) return true;
    return checked(law, 2, W, q, bound, r);
}

/// Laws with several bounded parts, and patches: Newton's method.
bool solve_coupled(const Law& law, int n, const double* W, const double* q, double* r) {
    if (q[0] >= 0.0) {
        std::fill_n(r, n, 0.0);
        return true;
    }
    if (!(W[0] > 0.0)) return false;
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(r[i])) r[i] = 0.0;
    if (!solve_one_by_newton(law, n, W, q, 0.0, r)) return false;
    const Shape shape = shape_of(law, n);
    for (int p = 0; p < shape.parts; ++p) {  // remove the rounding by which a part exceeds its bound
        const Shape::Part& part = shape.part[static_cast<std::size_t>(p)];
        const double length = part.size == 1 ? std::abs(r[part.first]) : std::hypot(r[part.first], r[part.first + 1]);
        const double bound = part.mu * r[0];
        if (length > bound)
            for (int i = 0; i < part.size; ++i) r[part.first + i] *= bound / length;
    }
    return true;
}

/// Bilateral block: W r = −q, also if W is singular but consistent.
bool solve_bilateral(int n, const double* W, const double* q, double* r) {
    if (n > max_exact_rows) {  // row by row
        for (int i = 0; i < n; ++i) {
            double sum = q[i];
            for (int j = 0; j < n; ++j) sum += W[i * n + j] * r[j];
            if (W[i * n + i] > 0.0) r[i] -= sum / W[i * n + i];
        }
        return true;
    }
    double b[max_exact_rows];
    for (int i = 0; i < n; ++i) b[i] = -q[i];
    return solve_small<max_exact_rows>(n, W, b, r, singular) || solve_consistent<max_exact_rows>(n, W, b, r);
}

}  // namespace

bool solve_one(const Law& law, int n, const double* W, const double* q, double bound, double* r) {
    switch (law.kind) {
        case LawKind::bilateral: return solve_bilateral(n, W, q, r);
        case LawKind::unilateral:
            if (q[0] >= 0.0) {
                r[0] = 0.0;
                return true;
            }
            if (!(W[0] > 0.0)) return false;
            r[0] = -q[0] / W[0];
            return true;
        case LawKind::friction2: return solve_planar(law, W, q, r);
        case LawKind::friction3: return solve_spatial(law, W, q, r);
        case LawKind::slider:
        case LawKind::scaled_slider:
            return n == 1 ? solve_slider(W[0], q[0], bound, r) : solve_slider(law, W, q, bound, r);
        default: return solve_coupled(law, n, W, q, r);
    }
}

}  // namespace saltus::solvers
