// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/detail/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/sets/contensou.hpp"

namespace saltus::solvers {

namespace {

/// A sum of squares between these two values has neither overflown nor lost digits by underflow: its root is the norm.
constexpr double smallest_safe_square = 1e-250, largest_safe_square = 1e250;

/// ‖x‖ without overflow or underflow.
double norm(const double* x, int n) {
    double plain = 0.0;
    for (int i = 0; i < n; ++i) plain += x[i] * x[i];
    if (plain > smallest_safe_square && plain < largest_safe_square) return std::sqrt(plain);
    double largest = 0.0;
    for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
    if (largest == 0.0 || !std::isfinite(largest)) return largest;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
    return largest * std::sqrt(sum);
}

/// Consecutive rows of a block whose joint length is bounded by mu times the normal reaction.
struct BoundedPart {
    int first, size;
    double mu;
};

/// All bounded parts of a contact: sliding, drilling, rolling.
struct BoundedParts {
    BoundedPart part[3];
    int count = 0;
};

BoundedParts parts_of(const Law& law) {
    BoundedParts p;
    const auto add = [&](int first, int size, double mu) { p.part[p.count++] = {first, size, mu}; };
    switch (law.kind) {
        case LawKind::friction2: add(1, 1, law.mu); break;
        case LawKind::friction3: add(1, 2, law.mu); break;
        case LawKind::drilling4: add(1, 2, law.mu), add(3, 1, law.mu_drilling); break;
        case LawKind::rolling5: add(1, 2, law.mu), add(3, 2, law.mu_rolling); break;
        case LawKind::rolling6: add(1, 2, law.mu), add(3, 1, law.mu_drilling), add(4, 2, law.mu_rolling); break;
        default: break;
    }
    return p;
}

/// Limit of bisection steps. About 60 suffice, unless the root is many decades below its upper bound.
constexpr int max_bisections = 200;
/// A small value of `slope` counts as the root only in a bracket narrower than this share of its upper end.
constexpr double narrow_bracket = 1e-6;

/// The normal component n of the projection of x onto K = { ‖x_g‖ <= μ_g n for each part g }. For fixed n the nearest
/// point has the parts min(‖x_g‖, μ_g n); setting the derivative of the squared distance to zero gives
///     f(n) = n − x_n − Σ_g μ_g max(0, ‖x_g‖ − μ_g n) = 0,
/// which is increasing and piecewise linear. With the set A of shortened parts n = (x_n + Σ_A μ_g‖x_g‖)/(1 + Σ_A μ_g²);
/// the result is clipped at 0.
double projected_normal(double x_n, const double* length, const BoundedParts& p) {
    // n itself decides which parts are shortened. Start with none and add those that exceed their bound; every round
    // but the last adds at least one of at most three parts.
    bool cut[3] = {false, false, false};
    double n = std::max(0.0, x_n);
    for (int round = 0; round <= p.count; ++round) {
        double numerator = x_n, denominator = 1.0;
        for (int g = 0; g < p.count; ++g)
            if (cut[g]) {
                numerator += p.part[g].mu * length[g];
                denominator += p.part[g].mu * p.part[g].mu;
            }
        n = std::max(0.0, numerator / denominator);
        bool changed = false;
        for (int g = 0; g < p.count; ++g)
            if (!cut[g] && length[g] > p.part[g].mu * n) cut[g] = changed = true;
        if (!changed) break;
    }
    // Adding a part raises n. If a part that was added earlier is now within its bound, bisect f itself.
    for (int g = 0; g < p.count; ++g)
        if (cut[g] && length[g] < p.part[g].mu * n) {
            double low = 0.0, high = n;
            const auto f = [&](double s) {
                double value = s - x_n;
                for (int k = 0; k < p.count; ++k) value -= p.part[k].mu * std::max(0.0, length[k] - p.part[k].mu * s);
                return value;
            };
            if (f(0.0) >= 0.0) return 0.0;
            while (f(high) < 0.0) high *= 2.0;
            for (int k = 0; k < max_bisections && low < high; ++k) {
                const double middle = 0.5 * (low + high);
                if (middle == low || middle == high) break;
                (f(middle) < 0.0 ? low : high) = middle;
            }
            return high;
        }
    return n;
}

/// ‖r − P_K(r − ρ v̂)‖² for a patch: K = { (n, t) : t ∈ n C }, C the Coulomb–Contensou body of normal force 1. On entry
/// x = r − ρ v. The squared distance from (x_n, x_t) to the slice (n, n C) is (n − x_n)² + ‖x_t − P_nC x_t‖². Its
/// derivative by n is 2 slope(n) with slope(n) = n − x_n − σ_C(x_t − P_nC x_t), because the boundary of n C moves
/// outward with speed σ_C(d) along its unit normal d. The function increases, so its root is the projected normal.
double patch_defect(const Law& law, const double* r, const double* v, double* x, double rho) {
    const sets::Contensou unit(law.mu, law.radius);
    x[0] -= rho * unit.support({v + 1, 3});
    double projected[3];
    const auto slope = [&](double n) {
        sets::Contensou(law.mu * n, law.radius).project({x + 1, 3}, projected);
        const double out[3] = {x[1] - projected[0], x[2] - projected[1], x[3] - projected[2]};
        return n - x[0] - unit.support(out);
    };
    // Regula falsi in the Illinois variant: if the same end stays twice, its value is halved. Every fourth step
    // bisects.
    double low = 0.0, high = std::max(0.0, x[0]), at_low = slope(0.0), at_high = 0.0;
    if (at_low >= 0.0) {
        high = 0.0;
    } else {
        while ((at_high = slope(high)) < 0.0) {
            low = high, at_low = at_high;
            high = 2.0 * std::max(high, norm(x, 4));
        }
        int side = 0;
        for (int k = 0; k < max_bisections && at_high > 0.0; ++k) {
            const double width = high - low, middle = 0.5 * (low + high);
            if (middle <= low || middle >= high) break;
            double n = k % 4 == 3 ? middle : (low * at_high - high * at_low) / (at_high - at_low);
            if (!(n > low && n < high)) n = middle;
            const double value = slope(n);
            if (value < 0.0) {
                low = n, at_low = value;
                if (side < 0) at_high *= 0.5;
                side = -1;
            } else {
                high = n, at_high = value;
                if (side > 0) at_low *= 0.5;
                side = 1;
            }
            if (std::abs(value) <= 2.0 * epsilon * n && width < narrow_bracket * high) {
                high = n;
                break;
            }
        }
    }
    sets::Contensou(law.mu * high, law.radius).project({x + 1, 3}, projected);
    double sum = (r[0] - high) * (r[0] - high);
    for (int i = 0; i < 3; ++i) sum += (r[i + 1] - projected[i]) * (r[i + 1] - projected[i]);
    return sum;
}

/// An orthotropic law as an isotropic one. With κ_i = μ_i/max(μ₁, μ₂), r_i = κ_i r'_i and v'_i = κ_i v_i the ellipse of
/// forces becomes a disk with the larger semi-axis. If κ_i = 0 then r_i must vanish, and the row drops out; returns the
/// squares of such r_i.
double to_disk(const Law& law, const double* r, const double* v, Law& disk, double* disk_r, double* disk_v) {
    const double axes[2] = {law.mu, law.mu_second}, larger = std::max(axes[0], axes[1]);
    disk = law;
    disk.mu = larger;
    disk.mu_second = -1.0;
    if (law.kind == LawKind::slider) disk.bound = larger * law.bound;
    const int tangential = law.kind == LawKind::friction3 ? 1 : 0;
    if (tangential == 1) disk_r[0] = r[0], disk_v[0] = v[0];
    double lost = 0.0;
    for (int k = 0; k < 2; ++k) {
        const double ratio = larger > 0.0 ? axes[k] / larger : 1.0;
        const int row = tangential + k;
        const bool flat = !(ratio > 0.0) || !std::isfinite(1.0 / ratio);
        if (flat) lost += r[row] * r[row];
        disk_r[row] = flat ? 0.0 : r[row] / ratio;
        disk_v[row] = flat ? 0.0 : v[row] * ratio;
    }
    return lost;
}

/// ‖r − P_K(r − ρ v̂)‖² of one block. `scaling_reaction` is the reaction that scales a scaled slider.
double block_defect(const Law& law, int size, const double* r, const double* v, double rho, double scaling_reaction) {
    double sum = 0.0;
    if (law.kind == LawKind::bilateral) {
        for (int i = 0; i < size; ++i) sum += rho * v[i] * rho * v[i];
        return sum;
    }
    double isotropic_r[3], isotropic_v[3];
    Law isotropic;
    const bool slider = law.kind == LawKind::slider || law.kind == LawKind::scaled_slider;
    if (law.mu_second >= 0.0 && (slider || law.kind == LawKind::friction3)) {
        sum += to_disk(law, r, v, isotropic, isotropic_r, isotropic_v);
        return sum + block_defect(isotropic, size, isotropic_r, isotropic_v, rho, scaling_reaction);
    }
    double x[6];
    for (int i = 0; i < size; ++i) x[i] = r[i] - rho * v[i];
    if (slider) {
        const double bound = law.kind == LawKind::slider ? law.bound : law.mu * std::abs(scaling_reaction);
        const double length = norm(x, size);
        const double factor = length > bound ? bound / length : 1.0;
        for (int i = 0; i < size; ++i) sum += (r[i] - factor * x[i]) * (r[i] - factor * x[i]);
        return sum;
    }
    if (law.kind == LawKind::contensou4) return patch_defect(law, r, v, x, rho);
    const BoundedParts p = parts_of(law);
    double length[3];
    for (int g = 0; g < p.count; ++g) {
        x[0] -= rho * p.part[g].mu * norm(v + p.part[g].first, p.part[g].size);
        length[g] = norm(x + p.part[g].first, p.part[g].size);
    }
    const double n = projected_normal(x[0], length, p);
    sum += (r[0] - n) * (r[0] - n);
    for (int g = 0; g < p.count; ++g) {
        const double bound = p.part[g].mu * n;
        const double factor = length[g] > bound ? bound / length[g] : 1.0;
        for (int i = p.part[g].first; i < p.part[g].first + p.part[g].size; ++i)
            sum += (r[i] - factor * x[i]) * (r[i] - factor * x[i]);
    }
    return sum;
}

/// ‖F‖ / max(ρ‖q‖, ‖r‖); ‖F‖ itself if both are zero.
double relative(double defect, double rho, double q_norm, double r_norm) {
    if (std::isnan(defect)) return std::numeric_limits<double>::infinity();
    const double scale = std::max(rho * q_norm, r_norm);
    return scale > 0.0 ? defect / scale : defect;
}

/// ρ = 1/mean(diag M). If that mean is not positive then 1/(largest entry), and 1 for a zero matrix.
double step_of(double diagonal_mean, std::span<const double> entries) {
    if (diagonal_mean > 0.0 && std::isfinite(diagonal_mean) && std::isfinite(1.0 / diagonal_mean))
        return 1.0 / diagonal_mean;
    double largest = 0.0;
    for (const double x : entries) largest = std::max(largest, std::abs(x));
    return largest > 0.0 ? 1.0 / largest : 1.0;
}

/// The norms that make up a residual.
struct Defect {
    double F = 0.0, rho = 1.0, q = 0.0, r = 0.0;  // ‖F‖, ρ, ‖q‖, ‖r‖
};

Defect defect(const FrictionProblem& p, std::span<const double> r, std::span<double> v) {
    SALTUS_EXPECT(r.size() == p.q.size() && v.size() == r.size());
    Defect d;
    if (p.q.empty()) return d;
    double sum = 0.0;
    d.rho = step_of(p.W.diagonal_mean(), p.W.values);
    p.W.multiply(r, v);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += p.q[i];
    for (int a = 0; a < p.contacts(); ++a) {
        const auto first = static_cast<std::size_t>(p.W.start[static_cast<std::size_t>(a)]);
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        sum += block_defect(law, p.W.block_size(a), r.data() + first, v.data() + first, d.rho,
                            law.row >= 0 ? r[static_cast<std::size_t>(law.row)] : 0.0);
    }
    d.F = std::sqrt(sum);
    d.q = norm(p.q.data(), static_cast<int>(p.q.size()));
    d.r = norm(r.data(), static_cast<int>(r.size()));
    return d;
}

double verdict_of(const Defect& d) {
    constexpr double far_ratio = 1e3;                // ‖r‖ > far_ratio ρ‖q‖: r may have diverged
    constexpr double rounding_of_r = 1e4 * epsilon;  // ‖F‖ <= rounding_of_r ‖r‖ is rounding of r
    // … and ‖F‖ <= small_against_q ρ‖q‖ is small all the same. Larger: impacts without a solution are solved by huge
    // impulses in whose rounding errors the violation of the law, for instance 1e-4 of q, is hidden. Smaller: light and
    // heavy bodies in one chain, with a ratio of masses of 1e9 and reactions of 1e9 ρ‖q‖, count as unsolved.
    constexpr double small_against_q = 1e-6;
    const bool far = d.r > far_ratio * d.rho * d.q && d.q > 0.0;
    if (!far) return relative(d.F, d.rho, d.q, d.r);
    // F = r − P(r − ρ v̂) is known up to the rounding of r alone. If r is so large that ρ v̂ is lost in it, then F = 0
    // for every v.
    const double F = d.F + epsilon * d.r;
    const bool rounding = F <= rounding_of_r * d.r && F <= small_against_q * d.rho * d.q;
    return rounding ? relative(d.F, d.rho, d.q, d.r) : F / (d.rho * d.q);
}

/// w = M z + q. Columns with z = 0 are not skipped, because they may contain a NaN.
void image(const Matrix& M, const Vector& q, std::span<const double> z, std::span<double> w) {
    SALTUS_EXPECT(static_cast<Eigen::Index>(z.size()) == M.cols() && static_cast<Eigen::Index>(w.size()) == M.rows());
    const auto rows = static_cast<std::size_t>(M.rows());
    const double* const A = M.data();
    constexpr std::size_t few_rows = 16;  // up to here the plain loop is faster than Eigen's product
    if (rows > few_rows) {
        std::copy_n(q.data(), rows, w.data());
        Eigen::Map<Vector>(w.data(), M.rows()).noalias() += M * Eigen::Map<const Vector>(z.data(), M.cols());
        return;
    }
    std::size_t i = 0;
    for (; i + 2 <= rows; i += 2) {
        double one = q.data()[i], two = q.data()[i + 1];
        const double* a = A + i;
        for (const double x : z) {
            one += a[0] * x;
            two += a[1] * x;
            a += rows;
        }
        w[i] = one, w[i + 1] = two;
    }
    for (; i < rows; ++i) {
        double one = q.data()[i];
        const double* a = A + i;
        for (const double x : z) one += *a * x, a += rows;
        w[i] = one;
    }
}

/// ρ = 1/mean(diag M) without overflow of the sum.
double step_of(const Matrix& M) {
    const Eigen::Index n = std::min(M.rows(), M.cols());
    if (n == 0) return 1.0;
    double sum = 0.0;
    for (Eigen::Index i = 0; i < n; ++i) sum += M.data()[i * (M.rows() + 1)];
    const double mean =
        std::isfinite(sum) ? sum / static_cast<double>(n) : (M.diagonal() / static_cast<double>(n)).sum();
    return step_of(mean, {M.data(), static_cast<std::size_t>(M.size())});
}

/// Defect of a complementarity problem. `step(i, x)` returns z_i − P(z_i − x), the i-th component of the natural map.
template <class Step>
Defect plain_defect(const Matrix& M, const Vector& q, std::span<const double> z, std::span<double> w, Step step) {
    Defect d;
    d.rho = step_of(M);
    image(M, q, z, w);
    double sum = 0.0, total = 0.0, q_squares = 0.0, z_squares = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const double f = step(i, d.rho * w[i]);
        sum += f * f;
        total += w[i];
        q_squares += q.data()[i] * q.data()[i];
    }
    for (const double x : z) z_squares += x * x;
    d.F = std::isfinite(total) ? std::sqrt(sum) : std::numeric_limits<double>::infinity();
    const auto root = [](double squares, const double* x, std::size_t n) {
        const bool safe = squares > smallest_safe_square && squares < largest_safe_square;
        return safe ? std::sqrt(squares) : norm(x, static_cast<int>(n));
    };
    d.q = root(q_squares, q.data(), w.size());
    d.r = root(z_squares, z.data(), z.size());
    return d;
}

Defect defect(const LinearComplementarity& p, std::span<const double> z, std::span<double> w) {
    return plain_defect(p.M, p.q, z, w, [&](std::size_t i, double x) { return z[i] - std::max(0.0, z[i] - x); });
}

Defect defect(const MixedComplementarity& p, std::span<const double> z, std::span<double> w) {
    // Surplus equations come first: row i belongs to the unknown i − shift.
    const auto shift = static_cast<std::size_t>(p.M.rows() - p.M.cols());
    return plain_defect(p.M, p.q, z, w, [&](std::size_t i, double x) {
        return p.free[i] ? x : z[i - shift] - std::max(0.0, z[i - shift] - x);
    });
}

Defect defect(const Relay& p, std::span<const double> z, std::span<double> w) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bool empty = false;
    Defect d = plain_defect(p.M, p.q, z, w, [&](std::size_t i, double x) {
        const double low = p.lower.data()[i], high = p.upper.data()[i];
        if (low <= high && low < infinity && high > -infinity) return z[i] - std::clamp(z[i] - x, low, high);
        empty = true;
        return 0.0;
    });
    if (empty) d.F = infinity;
    return d;
}

template <class Problem>
double plain_residual(const Problem& p, std::span<const double> z) {
    std::vector<double> w(static_cast<std::size_t>(p.q.size()));
    const Defect d = defect(p, z, w);
    return relative(d.F, d.rho, d.q, d.r);
}

}  // namespace

double residual(const FrictionProblem& p, std::span<const double> r, std::span<double> scratch) {
    const Defect d = defect(p, r, scratch);
    return relative(d.F, d.rho, d.q, d.r);
}

double residual(const FrictionProblem& p, std::span<const double> r) {
    std::vector<double> v(r.size());
    return residual(p, r, v);
}

double verdict(const FrictionProblem& p, std::span<const double> r, std::span<double> scratch) {
    return verdict_of(defect(p, r, scratch));
}

double verdict(const FrictionProblem& p, std::span<const double> r) {
    std::vector<double> v(r.size());
    return verdict(p, r, v);
}

double residual(const LinearComplementarity& p, std::span<const double> z) { return plain_residual(p, z); }
double residual(const MixedComplementarity& p, std::span<const double> z) { return plain_residual(p, z); }
double residual(const Relay& p, std::span<const double> z) { return plain_residual(p, z); }

double verdict(const LinearComplementarity& p, std::span<const double> z, std::span<double> w) {
    return verdict_of(defect(p, z, w));
}
double verdict(const MixedComplementarity& p, std::span<const double> z, std::span<double> w) {
    return verdict_of(defect(p, z, w));
}
double verdict(const Relay& p, std::span<const double> z, std::span<double> w) { return verdict_of(defect(p, z, w)); }

}  // namespace saltus::solvers
