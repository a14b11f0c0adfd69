// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/solvers/friction/detail/one_contact.hpp"

namespace saltus::solvers {

void Sweeper::prepare(const FrictionProblem& p) {
    diagonal_.resize(p.laws.size());
    int largest = 0;
    for (int a = 0; a < p.W.blocks(); ++a) {
        diagonal_[static_cast<std::size_t>(a)] = p.W.find(a, a);
        largest = std::max(largest, p.W.block_size(a));
    }
    uniform_ = p.W.uniform_size();
    scratch_.resize(2 * static_cast<std::size_t>(largest));
}

namespace {

/// Σ_b W_ab r_b over block row a without the diagonal block, for blocks of a size known at compile time.
template <int n>
inline void rest_of_row(const BlockMatrix& W, int a, int diagonal, const double* r, double* rest) {
    double sum[n] = {};
    for (int entry = W.row_start[static_cast<std::size_t>(a)]; entry < W.row_start[static_cast<std::size_t>(a) + 1];
         ++entry) {
        if (entry == diagonal) continue;
        const double* const A = W.values.data() + W.offset[static_cast<std::size_t>(entry)];
        const double* const x = r + n * W.block_column[static_cast<std::size_t>(entry)];
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) sum[i] += A[i * n + j] * x[j];
    }
    std::copy_n(sum, n, rest);
}

}  // namespace

void Sweeper::sweep(const FrictionProblem& p, std::span<double> r, SweepOrder order) {
    const BlockMatrix& W = p.W;
    const int blocks = W.blocks();
    count_work(static_cast<double>(W.values.size()));
    for (int k = 0; k < blocks; ++k) {
        const int a = order == SweepOrder::backward ? blocks - 1 - k : k;
        const int diagonal = diagonal_[static_cast<std::size_t>(a)];
        if (diagonal < 0) continue;
        const auto n = static_cast<std::size_t>(W.block_size(a));
        const auto first = static_cast<std::size_t>(W.start[static_cast<std::size_t>(a)]);
        double* const ra = r.data() + first;
        double* const rest = scratch_.data();
        double* const old = rest + n;
        switch (uniform_) {
            case 1: rest_of_row<1>(W, a, diagonal, r.data(), rest); break;
            case 2: rest_of_row<2>(W, a, diagonal, r.data(), rest); break;
            case 3: rest_of_row<3>(W, a, diagonal, r.data(), rest); break;
            default: W.multiply_row(a, r, rest, diagonal);
        }
        for (std::size_t i = 0; i < n; ++i) {
            rest[i] += p.q[first + i];
            old[i] = ra[i];
        }
        const Law& law = p.laws[static_cast<std::size_t>(a)];
        const double bound = law.kind == LawKind::slider ? law.bound
                             : law.row >= 0              ? law.mu * std::abs(r[static_cast<std::size_t>(law.row)])
                                                         : 0.0;
        const double* const D = W.values.data() + W.offset[static_cast<std::size_t>(diagonal)];
        if (!solve_one(law, static_cast<int>(n), D, rest, bound, ra)) std::copy_n(old, n, ra);
    }
}

}  // namespace saltus::solvers
