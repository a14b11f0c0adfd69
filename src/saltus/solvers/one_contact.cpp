// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/one_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/sets/contensou.hpp"
#include "saltus/solvers/shape.hpp"

namespace saltus::solvers {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Gauss elimination with partial pivoting of a small system; false when singular to rounding.
template <int most>
bool solve_small(int n, const double* A, const double* b, double* x) {
    double M[most][most + 1];
    double size = 0.0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            M[i][j] = A[i * n + j];
            size = std::max(size, std::abs(M[i][j]));
        }
        M[i][n] = b[i];
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
        if (!(std::abs(M[pivot][k]) > 8 * eps * size)) return false;
        if (pivot != k)
            for (int j = k; j <= n; ++j) std::swap(M[k][j], M[pivot][j]);
        for (int i = k + 1; i < n; ++i) {
            const double f = M[i][k] / M[k][k];
            for (int j = k + 1; j <= n; ++j) M[i][j] -= f * M[k][j];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = M[i][n];
        for (int j = i + 1; j < n; ++j) sum -= M[i][j] * x[j];
        x[i] = sum / M[i][i];
    }
    return true;
}

/// The α > 0 where the tangential reaction of −(S + α) r_T = b has just the length that `bound` allows, with
/// bound(r_T) = c + d·r_T: ‖r_T(α)‖ = bound(r_T(α)). The quotient h = bound/‖r_T‖ − 1 is nearly linear in α, so
/// Newton's method from `guess` takes a few steps; a bracket guards it. h < 0 at α = 0, h > 0 far out.
struct Slip {
    double s00, s01, s10, s11, b0, b1;  // S and b
    double c, d0, d1;

    double length = 0.0, bound = 0.0;
    double r0 = 0.0, r1 = 0.0;

    double h(double alpha, double& slope) {
        const double a = s00 + alpha, d = s11 + alpha, inverse = 1.0 / (a * d - s01 * s10);
        r0 = (-b0 * d + b1 * s01) * inverse;
        r1 = (-b1 * a + b0 * s10) * inverse;
        const double dr0 = -(r0 * d - r1 * s01) * inverse, dr1 = -(r1 * a - r0 * s10) * inverse;
        length = std::sqrt(r0 * r0 + r1 * r1);
        bound = c + d0 * r0 + d1 * r1;
        const double over = 1.0 / length;
        slope = (d0 * dr0 + d1 * dr1) * over - bound * (r0 * dr0 + r1 * dr1) * over * over * over;
        return bound * over - 1.0;
    }

    void find(double guess, double scale) {
        double low = 0.0, high = std::numeric_limits<double>::infinity();
        double alpha = guess > 0.0 ? guess : scale, slope = 0.0;
        for (int k = 0; k < 200; ++k) {
            const double value = h(alpha, slope);
            if (std::abs(value) <= 4 * eps) return;
            (value < 0.0 ? low : high) = alpha;
            if (std::isfinite(high) && high - low <= 2 * eps * high) return;
            double next = alpha - value / slope;
            // Newton's step where it stays inside; otherwise the middle in the geometric sense, or further out.
            if (!(next > low && next < high) || k % 16 == 15) {
                if (high == std::numeric_limits<double>::infinity())
                    next = 4.0 * std::max(low, scale);
                else
                    next = low > 0.0 ? std::sqrt(low) * std::sqrt(high) : std::min(0.25 * high, scale);
                if (!(next > low && next < high)) next = 0.5 * (low + high);
            }
            if (next == alpha || !(next > low && next < high)) return;
            alpha = next;
        }
    }
};

bool solve_planar(double mu, const double* W, const double* q, double* r) {
    if (q[0] >= 0.0) {
        r[0] = r[1] = 0.0;
        return true;
    }
    const double det = W[0] * W[3] - W[1] * W[2];
    if (det > 8 * eps * std::abs(W[0] * W[3])) {  // stick
        const double n = (-q[0] * W[3] + q[1] * W[1]) / det, t = (-q[1] * W[0] + q[0] * W[2]) / det;
        if (n >= 0.0 && std::abs(t) <= mu * n) {
            r[0] = n, r[1] = t;
            return true;
        }
    }
    double best = std::numeric_limits<double>::infinity();
    bool found = false;
    for (const double side : {-1.0, 1.0}) {  // r_T = side·μ r_N against a velocity of the other sign
        const double denominator = W[0] + side * mu * W[1];
        if (!(denominator > 0.0)) continue;
        const double n = -q[0] / denominator, t = side * mu * n;
        const double wrong = side * (W[2] * n + W[3] * t + q[1]);  // must be <= 0
        if (wrong < best) best = wrong, r[0] = n, r[1] = t, found = true;
        if (wrong <= 0.0) return true;
    }
    return found;
}

bool solve_spatial(double mu, const double* W, const double* q, double* r) {
    if (q[0] >= 0.0) {
        r[0] = r[1] = r[2] = 0.0;
        return true;
    }
    if (!(W[0] > 0.0)) return false;
    // r_N eliminated: (S + α) r_T = −b, r_N = −(q_N + W_NT r_T)/W_NN
    const double over = 1.0 / W[0];
    Slip slip{W[4] - W[3] * W[1] * over, W[5] - W[3] * W[2] * over, W[7] - W[6] * W[1] * over,
              W[8] - W[6] * W[2] * over, q[1] - W[3] * q[0] * over, q[2] - W[6] * q[0] * over,
              -mu * q[0] * over,         -mu * W[1] * over,         -mu * W[2] * over};
    const double scale = 0.5 * (std::abs(slip.s00) + std::abs(slip.s11)) + 1e-300;
    const double det = slip.s00 * slip.s11 - slip.s01 * slip.s10;
    if (mu == 0.0 || (slip.b0 == 0.0 && slip.b1 == 0.0)) {
        r[0] = -q[0] * over, r[1] = r[2] = 0.0;
        return true;
    }
    // Where the last reaction slid, its α is a good guess.
    const double square = r[1] * r[1] + r[2] * r[2];
    const double guess = square > 0.0 ? -(r[1] * (W[3] * r[0] + W[4] * r[1] + W[5] * r[2] + q[1]) +
                                          r[2] * (W[6] * r[0] + W[7] * r[1] + W[8] * r[2] + q[2])) /
                                            square
                                      : 0.0;
    if (det > 8 * eps * scale * scale) {
        double slope = 0.0;
        if (slip.h(0.0, slope) >= 0.0 || slip.length == 0.0) {  // sticks
            r[1] = slip.r0, r[2] = slip.r1;
            r[0] = -(q[0] + W[1] * r[1] + W[2] * r[2]) * over;
            return true;
        }
    }
    slip.find(guess, scale);
    // On the cone exactly.
    r[0] = std::max(0.0, -(q[0] + W[1] * slip.r0 + W[2] * slip.r1) * over);
    const double factor = slip.length > 0.0 ? mu * r[0] / slip.length : 0.0;
    r[1] = slip.r0 * factor, r[2] = slip.r1 * factor;
    return std::isfinite(r[0]) && std::isfinite(r[1]) && std::isfinite(r[2]);
}

bool solve_slider(int n, const double* W, const double* q, double bound, double* r) {
    if (n == 1) {
        if (!(W[0] > 0.0)) return false;
        r[0] = std::clamp(-q[0] / W[0], -bound, bound);
        return true;
    }
    if (bound <= 0.0 || (q[0] == 0.0 && q[1] == 0.0)) {
        r[0] = r[1] = 0.0;
        return true;
    }
    Slip slip{W[0], W[1], W[2], W[3], q[0], q[1], bound, 0.0, 0.0};
    const double scale = 0.5 * (std::abs(W[0]) + std::abs(W[3])) + 1e-300;
    const double square = r[0] * r[0] + r[1] * r[1];
    const double guess =
        square > 0.0 ? -(r[0] * (W[0] * r[0] + W[1] * r[1] + q[0]) + r[1] * (W[2] * r[0] + W[3] * r[1] + q[1])) / square
                     : 0.0;
    double slope = 0.0;
    if (W[0] * W[3] - W[1] * W[2] > 8 * eps * scale * scale && slip.h(0.0, slope) >= 0.0) {
        r[0] = slip.r0, r[1] = slip.r1;
        return true;
    }
    slip.find(guess, scale);
    const double factor = slip.length > bound ? bound / slip.length : 1.0;
    r[0] = slip.r0 * factor, r[1] = slip.r1 * factor;
    return std::isfinite(r[0]) && std::isfinite(r[1]);
}

/// Laws with more than one bounded part: each part by itself in turn with the normal held, then the normal with the
/// parts on their bounds. A contraction for the matrices of single contacts, where the coupling is weak.
bool solve_in_parts(const Law& law, int n, const double* W, const double* q, double* r) {
    const Shape shape = shape_of(law, n);
    if (q[0] >= 0.0) {
        std::fill_n(r, n, 0.0);
        return true;
    }
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(r[i])) r[i] = 0.0;
    if (!(W[0] > 0.0)) return false;
    if (r[0] <= 0.0) r[0] = -q[0] / W[0];
    constexpr int most = 500;
    for (int sweep = 0; sweep < most; ++sweep) {
        double change = 0.0, size = 0.0;
        const auto rest = [&](int row, int first, int count) {
            double sum = q[row];
            for (int j = 0; j < n; ++j)
                if (j < first || j >= first + count) sum += W[row * n + j] * r[j];
            return sum;
        };
        for (int p = 0; p < shape.parts; ++p) {
            const Shape::Part& part = shape.part[static_cast<std::size_t>(p)];
            double w[4], c[2], x[2] = {r[part.first], part.size > 1 ? r[part.first + 1] : 0.0};
            for (int i = 0; i < part.size; ++i) {
                c[i] = rest(part.first + i, part.first, part.size);
                for (int j = 0; j < part.size; ++j) w[i * part.size + j] = W[(part.first + i) * n + part.first + j];
            }
            if (!solve_slider(part.size, w, c, part.mu * r[0], x)) return false;
            for (int i = 0; i < part.size; ++i) {
                change = std::max(change, std::abs(x[i] - r[part.first + i]));
                r[part.first + i] = x[i];
            }
        }
        const double normal = std::max(0.0, -rest(0, 0, 1) / W[0]);
        change = std::max(change, std::abs(normal - r[0]));
        r[0] = normal;
        for (int i = 0; i < n; ++i) size = std::max(size, std::abs(r[i]));
        if (change <= 4 * eps * size) break;
    }
    for (int p = 0; p < shape.parts; ++p) {  // into the cone to the last bit
        const Shape::Part& part = shape.part[static_cast<std::size_t>(p)];
        const double length = part.size == 1 ? std::abs(r[part.first]) : std::hypot(r[part.first], r[part.first + 1]);
        const double bound = part.mu * r[0];
        if (length > bound)
            for (int i = 0; i < part.size; ++i) r[part.first + i] *= bound / length;
    }
    return std::isfinite(r[0]);
}

/// A patch: its forces with the normal held by steps x ← P_C(x − ρ (W x + c)), then the normal, in turn.
bool solve_patch(const Law& law, const double* W, const double* q, double* r) {
    if (q[0] >= 0.0) {
        std::fill_n(r, 4, 0.0);
        return true;
    }
    if (!(W[0] > 0.0)) return false;
    for (int i = 0; i < 4; ++i)
        if (!std::isfinite(r[i])) r[i] = 0.0;
    if (r[0] <= 0.0) r[0] = -q[0] / W[0];
    // Moments in units of force × radius, so that one step length suits all three.
    const double unit[3] = {1.0, 1.0, law.radius > 0.0 ? law.radius : 1.0};
    double largest = 0.0;
    for (int i = 0; i < 3; ++i) {
        double row = 0.0;
        for (int j = 0; j < 3; ++j) row += std::abs(unit[i] * W[(i + 1) * 4 + j + 1] * unit[j]);
        largest = std::max(largest, row);
    }
    if (!(largest > 0.0)) return false;
    const double step = 1.0 / largest;
    for (int round = 0; round < 2000; ++round) {
        const sets::Contensou body(law.mu * r[0], law.radius > 0.0 ? 1.0 : 0.0);
        double change = 0.0, size = std::abs(r[0]);
        double y[3], x[3];
        for (int i = 0; i < 3; ++i) {
            double sum = q[i + 1];
            for (int j = 0; j < 4; ++j) sum += W[(i + 1) * 4 + j] * r[j];
            y[i] = r[i + 1] / unit[i] - step * unit[i] * sum;
        }
        body.project(y, x);
        for (int i = 0; i < 3; ++i) {
            change = std::max(change, std::abs(x[i] - r[i + 1] / unit[i]));
            size = std::max(size, std::abs(x[i]));
            r[i + 1] = x[i] * unit[i];
        }
        double rest = q[0];
        for (int j = 1; j < 4; ++j) rest += W[j] * r[j];
        const double normal = std::max(0.0, -rest / W[0]);
        change = std::max(change, std::abs(normal - r[0]));
        r[0] = normal;
        if (change <= 8 * eps * size) break;
    }
    return std::isfinite(r[0]);
}

}  // namespace

bool solve_one(const Law& law, int n, const double* W, const double* q, double bound, double* r) {
    switch (law.kind) {
        case LawKind::bilateral: {
            if (n > largest_exact) {  // row by row
                for (int i = 0; i < n; ++i) {
                    double sum = q[i];
                    for (int j = 0; j < n; ++j) sum += W[i * n + j] * r[j];
                    if (W[i * n + i] > 0.0) r[i] -= sum / W[i * n + i];
                }
                return true;
            }
            double b[largest_exact];
            for (int i = 0; i < n; ++i) b[i] = -q[i];
            return solve_small<largest_exact>(n, W, b, r);
        }
        case LawKind::unilateral:
            if (q[0] >= 0.0) {
                r[0] = 0.0;
                return true;
            }
            if (!(W[0] > 0.0)) return false;
            r[0] = -q[0] / W[0];
            return true;
        case LawKind::friction2: return solve_planar(law.mu, W, q, r);
        case LawKind::friction3: return solve_spatial(law.mu, W, q, r);
        case LawKind::contensou4: return solve_patch(law, W, q, r);
        case LawKind::slider:
        case LawKind::scaled_slider: return solve_slider(n, W, q, bound, r);
        default: return solve_in_parts(law, n, W, q, r);
    }
}

}  // namespace saltus::solvers
