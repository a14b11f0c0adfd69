// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/panel.hpp"

// Wider vectors where the processor has them; without fused multiply-add the numbers are the same.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define SALTUS_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SALTUS_WIDE
#endif

namespace saltus::solvers {

namespace {

SALTUS_WIDE void subtract_3(int n, const double* __restrict L, int ld_l, const double* __restrict U, int ld_u,
                            double* __restrict A, int ld_a) {
    const double *const u0 = U, *const u1 = U + ld_u, *const u2 = U + 2 * ld_u;
    const double *const l0 = L, *const l1 = L + ld_l, *const l2 = L + 2 * ld_l;
    const double l00 = l0[0], l01 = l0[1], l02 = l0[2], l10 = l1[0], l11 = l1[1], l12 = l1[2], l20 = l2[0], l21 = l2[1],
                 l22 = l2[2];
    double* const __restrict a0 = A, * const __restrict a1 = A + ld_a, * const __restrict a2 = A + 2 * ld_a;
    for (int j = 0; j < n; ++j) {
        const double x = u0[j], y = u1[j], z = u2[j];
        a0[j] = ((a0[j] - l00 * x) - l01 * y) - l02 * z;
        a1[j] = ((a1[j] - l10 * x) - l11 * y) - l12 * z;
        a2[j] = ((a2[j] - l20 * x) - l21 * y) - l22 * z;
    }
}

SALTUS_WIDE void subtract_2(int n, const double* __restrict L, int ld_l, const double* __restrict U, int ld_u,
                            double* __restrict A, int ld_a) {
    const double *const u0 = U, *const u1 = U + ld_u;
    for (int r = 0; r < 2; ++r) {
        const double l0 = L[r * ld_l], l1 = L[r * ld_l + 1];
        double* const a = A + r * ld_a;
        for (int j = 0; j < n; ++j) a[j] = (a[j] - l0 * u0[j]) - l1 * u1[j];
    }
}

SALTUS_WIDE void subtract_any(int m, int k, int n, const double* __restrict L, int ld_l, const double* __restrict U,
                              int ld_u, double* __restrict A, int ld_a) {
    for (int r = 0; r < m; ++r)
        for (int l = 0; l < k; ++l) {
            const double f = L[r * ld_l + l];
            const double* const u = U + l * ld_u;
            double* const a = A + r * ld_a;
            for (int j = 0; j < n; ++j) a[j] -= f * u[j];
        }
}

}  // namespace

void subtract_panel(int m, int k, int n, const double* L, int ld_l, const double* U, int ld_u, double* A, int ld_a) {
    if (m % 3 == 0 && k % 3 == 0)
        for (int r = 0; r < m; r += 3)
            for (int l = 0; l < k; l += 3)
                subtract_3(n, L + r * ld_l + l, ld_l, U + l * ld_u, ld_u, A + r * ld_a, ld_a);
    else if (m == 2 && k == 2)
        subtract_2(n, L, ld_l, U, ld_u, A, ld_a);
    else
        subtract_any(m, k, n, L, ld_l, U, ld_u, A, ld_a);
}

}  // namespace saltus::solvers
