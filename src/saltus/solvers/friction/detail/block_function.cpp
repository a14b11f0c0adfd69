// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/block_function.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/sets/contensou.hpp"
#include "saltus/sets/disk.hpp"

namespace saltus::solvers {

// The steps ρ. F vanishes at the same points for every ρ > 0. ρ_i = 1/W_ii makes y_i = r_i − ρ_i v_i the reaction that
// one Gauss–Seidel update of row i would give, so r_i and ρ_i v_i have the same size. Rows of a part share one ρ,
// because the projection of a part would otherwise not be the one of a disk.
void set_steps(const Law& law, const Shape& shape, int size, const double* D, double default_diagonal, double* rho) {
    const auto set = [&](int first, int count, double unit) {
        double sum = 0.0;
        for (int i = first; i < first + count && D != nullptr; ++i)
            sum += D[i * size + i] * (i == 3 ? unit * unit : 1.0);
        const double mean = sum > 0.0 ? sum / count : default_diagonal;
        std::fill_n(rho + first, count, 1.0 / mean);
    };
    if (shape.bilateral) set(0, size, 1.0);
    if (shape.normal) set(0, 1, 1.0);
    if (shape.patch) set(1, 3, patch_unit(law));
    for (int k = 0; k < shape.parts; ++k)
        set(shape.part[static_cast<std::size_t>(k)].first, shape.part[static_cast<std::size_t>(k)].size, 1.0);
}

// The pieces of F and their derivatives δF = C δv + E δr:
//     bilateral  F = ρ v    C = ρ, E = 0
//     open       F = r      C = 0, E = I       (y_N <= 0: both projections are 0)
//     closed     F_N = r_N − y_N = ρ_N v_N     C_NN = ρ_N; the tangential parts follow below
bool BlockFunction::evaluate(const double* r, const double* v, double* F, const Derivative& derivative) const {
    const bool wanted = derivative.C != nullptr;
    if (shape.bilateral) {
        for (int i = 0; i < size; ++i) {
            F[i] = rho[i] * v[i];
            if (wanted) derivative.C[i * size + i] = rho[i];
        }
        return false;
    }
    double y_n = 0.0;
    if (shape.normal) {
        y_n = r[0] - rho[0] * v[0];
        if (!(y_n > 0.0)) {
            for (int i = 0; i < size; ++i) {
                F[i] = r[i];
                if (wanted) derivative.E[i * size + i] = 1.0;
            }
            return true;
        }
        F[0] = rho[0] * v[0];
        if (wanted) derivative.C[0] = rho[0];
    }
    if (shape.patch) evaluate_patch(y_n, r, v, F, derivative);
    for (int k = 0; k < shape.parts; ++k)
        evaluate_part(shape.part[static_cast<std::size_t>(k)], y_n, r, v, F, derivative);
    return false;
}

// One part with the bound b = μ y_N, or the bound of a slider, and y = r_T − ρ v_T.
//     stick, ‖y‖ <= b:  P(y) = y, so F_T = ρ v_T.
//     slip,  ‖y‖ >  b:  P(y) = b d with d = y/‖y‖. Since δd = (I − d dᵀ) δy/‖y‖ and δy = δr_T − ρ δv_T,
//         δF_T = δr_T − d δb − (b/‖y‖)(I − d dᵀ)(δr_T − ρ δv_T).
//     δb = μ (δr_N − ρ_N δv_N) for a contact, μ sign(r_row) δr_row for a scaled slider, 0 for a slider.
void BlockFunction::evaluate_part(const Shape::Part& part, double y_n, const double* r, const double* v, double* F,
                                  const Derivative& derivative) const {
    double *const C = derivative.C, *const E = derivative.E;
    const int n = size, first = part.first;
    const double limit = shape.normal ? part.mu * y_n : bound;
    double y[2] = {0.0, 0.0}, projected[2];
    for (int i = 0; i < part.size; ++i) y[i] = r[first + i] - rho[first + i] * v[first + i];
    const double length = part.size == 1 ? std::abs(y[0]) : std::sqrt(y[0] * y[0] + y[1] * y[1]);
    if (length <= limit && limit > 0.0) {  // sticks
        for (int i = first; i < first + part.size; ++i) {
            F[i] = rho[i] * v[i];
            if (C != nullptr) C[i * n + i] = rho[i];
        }
        return;
    }
    sets::Disk(limit).project(std::span<const double>(y, 2), projected);
    for (int i = 0; i < part.size; ++i) F[first + i] = r[first + i] - projected[i];
    if (C == nullptr) return;
    for (int i = first; i < first + part.size; ++i) E[i * n + i] = 1.0;
    if (limit <= 0.0) return;

    const double d[2] = {y[0] / length, y[1] / length};
    for (int i = 0; i < part.size; ++i) {
        const int row = (first + i) * n;
        if (shape.normal) {
            E[row] -= d[i] * part.mu;
            C[row] += d[i] * part.mu * rho[0];
        } else if (law.kind == LawKind::scaled_slider) {
            derivative.tied[first + i] = -d[i] * law.mu * sign;
        }
        for (int j = 0; j < part.size && part.size > 1; ++j) {
            const double c = limit / length * ((i == j ? 1.0 : 0.0) - d[i] * d[j]);
            E[row + first + j] -= c;
            C[row + first + j] += c * rho[first + j];
        }
    }
}

// The patch: C is the Coulomb–Contensou body with support function σ, in units in which moments are forces
// (patch_unit). The projection p of y onto b C satisfies y = p + d with d normal to b C at p, and the boundary point
// with the normal d is p = b ∇σ(d). Differentiate y = b ∇σ(d) + d and p = y − d with A = b ∇²σ(d):
//     δp = A (I + A)⁻¹ δy + (I + A)⁻¹ ∇σ(d) δb.
// σ is homogeneous of degree 1, so A d = 0. σ depends on ‖d_T‖ and d_D only, so a second eigenvector of A is the
// direction across the sliding (eigenvalue b a below). The third, w, is orthogonal to both, in the plane of sliding and
// drilling; its eigenvalue is b times the rest of the trace of ∇²σ.
void BlockFunction::evaluate_patch(double y_n, const double* r, const double* v, double* F,
                                   const Derivative& derivative) const {
    double *const C = derivative.C, *const E = derivative.E;
    if (!(law.radius > 0.0)) {  // a disk that resists no drilling
        evaluate_part({1, 2, law.mu}, y_n, r, v, F, derivative);
        F[3] = r[3];
        if (E != nullptr) E[15] = 1.0;
        return;
    }
    const double limit = law.mu * y_n, step = rho[1];
    const double unit[3] = {1.0, 1.0, patch_unit(law)};
    double y[3], p[3], d[3];
    for (int i = 0; i < 3; ++i) y[i] = r[i + 1] / unit[i] - step * unit[i] * v[i + 1];
    sets::Contensou(limit, 1.0).project(y, p);
    for (int i = 0; i < 3; ++i) {
        F[i + 1] = r[i + 1] - unit[i] * p[i];
        d[i] = y[i] - p[i];
    }
    if (C == nullptr) return;
    const double length = sets::length(d, 3);
    double P[9] = {}, by_limit[3] = {0.0, 0.0, 0.0};  // ∂p/∂y and ∂p/∂b
    if (limit > 0.0 && length == 0.0) {
        P[0] = P[4] = P[8] = 1.0;
    } else if (limit > 0.0) {
        const sets::Contensou one(1.0, 1.0);
        double A[9];
        one.furthest_derivative(d, A);
        one.furthest(d, by_limit);
        const double sliding = sets::length(d[0], d[1]);
        const double along[2] = {sliding > 0.0 ? d[0] / sliding : 1.0, sliding > 0.0 ? d[1] / sliding : 0.0};
        const double across[3] = {-along[1], along[0], 0.0}, over = 1.0 / length;
        const double w[3] = {-d[2] * over * along[0], -d[2] * over * along[1], sliding * over};
        double a = 0.0;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) a += across[i] * A[3 * i + j] * across[j];
        const double b = A[0] + A[4] + A[8] - a;
        const double keep_a = limit * a / (1.0 + limit * a), keep_b = limit * b / (1.0 + limit * b);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) P[3 * i + j] = keep_a * across[i] * across[j] + keep_b * w[i] * w[j];
        const double share = keep_b * (w[0] * by_limit[0] + w[1] * by_limit[1] + w[2] * by_limit[2]);
        for (int i = 0; i < 3; ++i) by_limit[i] -= share * w[i];
    }
    for (int i = 0; i < 3; ++i) {
        double *const c = C + 4 * (i + 1), *const e = E + 4 * (i + 1);
        c[0] = unit[i] * law.mu * by_limit[i] * rho[0];
        e[0] = -unit[i] * law.mu * by_limit[i];
        for (int j = 0; j < 3; ++j) {
            c[j + 1] = unit[i] * P[3 * i + j] * step * unit[j];
            e[j + 1] = (i == j ? 1.0 : 0.0) - unit[i] * P[3 * i + j] / unit[j];
        }
    }
}

}  // namespace saltus::solvers
