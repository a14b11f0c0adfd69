// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/panel.hpp"

// Wider vectors where the processor has them; without fused multiply-add the numbers are the same.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define SALTUS_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define SALTUS_WIDE
#endif

namespace saltus::solvers {

namespace {

SALTUS_WIDE void subtract_3(int n, const double* __restrict L, int ld_l, const double* __restrict U, int ld_u,
                            double* __restrict A, int ld_a) {
    const double *const u0 = U, *const u1 = U + ld_u, *const u2 = U + 2 * ld_u;
    for (int r = 0; r < 3; ++r) {
        const double l0 = L[r * ld_l], l1 = L[r * ld_l + 1], l2 = L[r * ld_l + 2];
        double* const a = A + r * ld_a;
        for (int j = 0; j < n; ++j) a[j] = ((a[j] - l0 * u0[j]) - l1 * u1[j]) - l2 * u2[j];
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
    if (m == 3 && k == 3)
        subtract_3(n, L, ld_l, U, ld_u, A, ld_a);
    else if (m == 2 && k == 2)
        subtract_2(n, L, ld_l, U, ld_u, A, ld_a);
    else
        subtract_any(m, k, n, L, ld_l, U, ld_u, A, ld_a);
}

}  // namespace saltus::solvers
