// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/one_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
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

/// Root of a continuous f on (0, ∞) with f(0) > 0 and f < 0 far out: bisection on s in (0, 1), α = scale·s/(1 − s),
/// speeded up by secant steps (Illinois).
template <class F>
double root_on_half_line(F f, double f0, double scale) {
    double low = 0.0, high = 1.0, f_low = f0, f_high = -std::abs(f0);
    bool high_known = false;
    double s = 0.5;
    int side = 0;
    for (int k = 0; k < 200; ++k) {
        const double value = f(scale * s / (1.0 - s));
        if (value == 0.0) break;
        if (value > 0.0) {
            low = s, f_low = value;
            if (side == 1) f_high *= 0.5;
            side = 1;
        } else {
            high = s, f_high = value, high_known = true;
            if (side == -1) f_low *= 0.5;
            side = -1;
        }
        if (high - low <= 2 * eps * high) break;
        double next = high_known ? (low * f_high - high * f_low) / (f_high - f_low) : 0.5 * (low + high);
        if (!(next > low && next < high) || k % 8 == 7) next = 0.5 * (low + high);
        if (next == s || !(next > low && next < high)) break;
        s = next;
    }
    return scale * s / (1.0 - s);
}

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
    const double s00 = W[4] - W[3] * W[1] / W[0], s01 = W[5] - W[3] * W[2] / W[0];
    const double s10 = W[7] - W[6] * W[1] / W[0], s11 = W[8] - W[6] * W[2] / W[0];
    const double b0 = q[1] - W[3] * q[0] / W[0], b1 = q[2] - W[6] * q[0] / W[0];
    const double scale = 0.5 * (std::abs(s00) + std::abs(s11)) + 1e-300;
    const auto reaction = [&](double alpha) {
        const double a = s00 + alpha, d = s11 + alpha, det = a * d - s01 * s10;
        r[1] = (-b0 * d + b1 * s01) / det;
        r[2] = (-b1 * a + b0 * s10) / det;
        r[0] = -(q[0] + W[1] * r[1] + W[2] * r[2]) / W[0];
        return std::hypot(r[1], r[2]) - mu * r[0];
    };
    const double det = s00 * s11 - s01 * s10;
    double excess = 1.0;
    if (det > 8 * eps * scale * scale) {
        excess = reaction(0.0);
        if (excess <= 0.0) return true;  // sticks
    } else if (b0 == 0.0 && b1 == 0.0) {
        r[0] = -q[0] / W[0], r[1] = r[2] = 0.0;
        return true;
    }
    if (mu == 0.0) {
        r[0] = -q[0] / W[0], r[1] = r[2] = 0.0;
        return true;
    }
    const double alpha = root_on_half_line(reaction, excess, scale);
    reaction(alpha);
    // On the cone exactly.
    const double length = std::hypot(r[1], r[2]);
    r[0] = std::max(0.0, r[0]);
    if (length > 0.0) r[1] *= mu * r[0] / length, r[2] *= mu * r[0] / length;
    return std::isfinite(r[0]) && std::isfinite(r[1]) && std::isfinite(r[2]);
}

bool solve_slider(int n, const double* W, const double* q, double bound, double* r) {
    if (n == 1) {
        if (!(W[0] > 0.0)) return false;
        r[0] = std::clamp(-q[0] / W[0], -bound, bound);
        return true;
    }
    const double scale = 0.5 * (std::abs(W[0]) + std::abs(W[3])) + 1e-300;
    const auto reaction = [&](double alpha) {
        const double a = W[0] + alpha, d = W[3] + alpha, det = a * d - W[1] * W[2];
        r[0] = (-q[0] * d + q[1] * W[1]) / det;
        r[1] = (-q[1] * a + q[0] * W[2]) / det;
        return std::hypot(r[0], r[1]) - bound;
    };
    double excess = 1.0;
    if (W[0] * W[3] - W[1] * W[2] > 8 * eps * scale * scale) {
        excess = reaction(0.0);
        if (excess <= 0.0) return true;
    }
    if (bound <= 0.0) {
        r[0] = r[1] = 0.0;
        return true;
    }
    reaction(root_on_half_line(reaction, excess, scale));
    const double length = std::hypot(r[0], r[1]);
    if (length > bound) r[0] *= bound / length, r[1] *= bound / length;
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

}  // namespace

bool solve_one(const Law& law, int n, const double* W, const double* q, double bound, double* r) {
    switch (law.kind) {
        case LawKind::bilateral: {
            double b[largest_block];
            if (n > largest_block) return false;
            for (int i = 0; i < n; ++i) b[i] = -q[i];
            return solve_small<largest_block>(n, W, b, r);
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
        case LawKind::slider:
        case LawKind::scaled_slider: return solve_slider(n, W, q, bound, r);
        default: return solve_in_parts(law, n, W, q, r);
    }
}

void sweep(const FrictionProblem& p, std::span<double> r) {
    const BlockMatrix& W = p.W;
    for (int a = 0; a < W.blocks(); ++a) {
        const int n = W.block_size(a);
        const int diagonal = W.find(a, a);
        if (diagonal < 0) continue;
        SALTUS_EXPECT(n <= largest_block);
        const auto first = static_cast<std::size_t>(W.start[static_cast<std::size_t>(a)]);
        const double* const D = W.values.data() + W.offset[static_cast<std::size_t>(diagonal)];
        double* const ra = r.data() + first;
        double rest[largest_block], old[largest_block];
        W.multiply_row(a, r, rest);
        for (int i = 0; i < n; ++i) {
            rest[i] += p.q[first + static_cast<std::size_t>(i)];
            for (int j = 0; j < n; ++j) rest[i] -= D[i * n + j] * ra[j];
            old[i] = ra[i];
        }
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        const double bound = law.kind == LawKind::slider ? law.bound
                             : law.row >= 0              ? law.mu * std::abs(r[static_cast<std::size_t>(law.row)])
                                                         : 0.0;
        if (!solve_one(law, n, D, rest, bound, ra)) std::copy_n(old, n, ra);
    }
}

}  // namespace saltus::solvers
