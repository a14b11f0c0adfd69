// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/pivoting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"

namespace saltus::solvers {

namespace {

constexpr int most = small_enough_to_pivot;

enum Place : char { at_lower, at_upper, between };

/// Gauss elimination with row pivots of [A | b], stride `most` + 1; false when singular to rounding.
bool eliminate(double (&A)[most][most + 1], int n, double* x) {
    double largest = 0.0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(A[i][j]));
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
        if (!(std::abs(A[pivot][k]) > 1e-13 * largest)) return false;
        if (pivot != k)
            for (int j = k; j <= n; ++j) std::swap(A[k][j], A[pivot][j]);
        const double over = 1.0 / A[k][k];
        for (int i = k + 1; i < n; ++i) {
            const double f = A[i][k] * over;
            if (f == 0.0) continue;
            for (int j = k + 1; j <= n; ++j) A[i][j] -= f * A[k][j];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = A[i][n];
        for (int j = i + 1; j < n; ++j) sum -= A[i][j] * x[j];
        x[i] = sum / A[i][i];
    }
    return true;
}

/// z with the unknowns of `inner` solved for and the others where they are; false when that system is singular.
bool solve_inner(int n, const double* M, const double* q, const int* inner, int count, const Place* place, double* z) {
    double A[most][most + 1], x[most];
    for (int a = 0; a < count; ++a) {
        double right = -q[inner[a]];
        for (int j = 0; j < n; ++j)
            if (place[j] != between && z[j] != 0.0) right -= M[j * n + inner[a]] * z[j];
        for (int b = 0; b < count; ++b) A[a][b] = M[inner[b] * n + inner[a]];
        A[a][count] = right;
    }
    if (!eliminate(A, count, x)) return false;
    for (int a = 0; a < count; ++a) z[inner[a]] = x[a];
    return true;
}

struct Problem {
    int n;
    const double *M, *q, *lower, *upper;

    /// z of a guess; false when it is singular.
    bool solve(const Place* place, double* z) const {
        int inner[most], count = 0;
        for (int i = 0; i < n; ++i) {
            if (place[i] == between)
                inner[count++] = i;
            else
                z[i] = place[i] == at_lower ? lower[i] : upper[i];
        }
        return solve_inner(n, M, q, inner, count, place, z);
    }

    /// Moves the unknowns that came out wrong, all or the first; false when none did.
    bool move(const double* z, Place* place, bool all) const {
        double w[most];
        std::copy_n(q, n, w);
        for (int j = 0; j < n; ++j)
            if (z[j] != 0.0)
                for (int i = 0; i < n; ++i) w[i] += M[j * n + i] * z[j];
        bool wrong = false;
        for (int i = 0; i < n && (all || !wrong); ++i) {
            Place better = place[i];
            if (place[i] == between) {
                if (z[i] < lower[i]) better = at_lower;
                if (z[i] > upper[i]) better = at_upper;
            } else if ((place[i] == at_lower ? w[i] < 0.0 : w[i] > 0.0) && lower[i] < upper[i]) {
                better = between;
            }
            wrong = wrong || better != place[i];
            place[i] = better;
        }
        return wrong;
    }

    void start(Place* place) const {
        for (int i = 0; i < n; ++i) {
            const bool low = std::isfinite(lower[i]), high = std::isfinite(upper[i]);
            place[i] = !low && !high ? between : low ? at_lower : at_upper;
        }
    }
};

/// All combinations of complementary unknowns, where they are few.
bool try_all(const Problem& p, double* z, int& changes) {
    int choice[most], count = 0;
    Place place[most], scratch[most];
    p.start(place);
    for (int i = 0; i < p.n; ++i) {
        if (std::isfinite(p.upper[i])) return false;
        if (place[i] != between) choice[count++] = i;
    }
    if (count > 6) return false;
    for (unsigned bits = 0; bits < 1U << count; ++bits) {
        ++changes;
        for (int k = 0; k < count; ++k) place[choice[k]] = (bits >> k & 1U) != 0 ? between : at_lower;
        std::copy_n(place, p.n, scratch);
        if (p.solve(place, z) && !p.move(z, scratch, false)) return true;
    }
    return false;
}

}  // namespace

bool pivot_small(int n, const double* M, const double* q, const double* lower, const double* upper, double* z,
                 int& changes) {
    SALTUS_EXPECT(n <= most);
    const Problem p{n, M, q, lower, upper};
    Place place[most];
    changes = 0;
    for (const bool all : {true, false}) {
        p.start(place);
        for (const int end = changes + (all ? n + 2 : 4 * n + 20); changes < end;) {
            ++changes;
            if (!p.solve(place, z)) break;
            if (!p.move(z, place, all)) return true;
        }
    }
    return try_all(p, z, changes);
}

}  // namespace saltus::solvers
