// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/interface_system.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/solvers/linear/detail/small_system.hpp"

namespace saltus::solvers {

namespace {

/// A += L R for L m × k and R k × n, row-major with strides.
inline void multiply_into(int m, int n, int k, const double* L, int ld_l, const double* R, int ld_r, double* A,
                          int ld_a) {
    for (int i = 0; i < m; ++i)
        for (int l = 0; l < k; ++l) {
            const double f = L[i * ld_l + l];
            for (int j = 0; j < n; ++j) A[i * ld_a + j] += f * R[l * ld_r + j];
        }
}

/// The same for contiguous L and R of sizes known at compile time: contacts of 3 rows, interfaces of rank 6.
template <int m, int n, int k>
inline void multiply_known(const double* L, const double* R, double* A, int ld_a) {
    for (int i = 0; i < m; ++i) {
        double sum[n];
        for (int j = 0; j < n; ++j) sum[j] = A[i * ld_a + j];
        for (int l = 0; l < k; ++l)
            for (int j = 0; j < n; ++j) sum[j] += L[i * k + l] * R[l * n + j];
        for (int j = 0; j < n; ++j) A[i * ld_a + j] = sum[j];
    }
}

void multiply_plain(int m, int n, int k, const double* L, const double* R, double* A, int ld_a) {
    if (m == 6 && n == 6 && k == 6) return multiply_known<6, 6, 6>(L, R, A, ld_a);
    if (m == 3 && n == 6 && k == 3) return multiply_known<3, 6, 3>(L, R, A, ld_a);
    if (m == 3 && n == 3 && k == 3) return multiply_known<3, 3, 3>(L, R, A, ld_a);
    multiply_into(m, n, k, L, k, R, n, A, ld_a);
}

}  // namespace

bool InterfaceSystem::prepare(const BlockMatrix& W) {
    if (!interfaces_.prepare(W) || !lu_.analyse(interfaces_.reduced(), {})) return false;
    y_.resize(ix(interfaces_.reduced().rows()));
    z_.resize(y_.size());
    return true;
}

bool InterfaceSystem::factorise(const BlockMatrix& W, std::span<const double> C, std::span<const double> E,
                                std::span<const std::size_t> at, double epsilon) {
    const BlockMatrix& w = interfaces_.reduced();
    at_ = at;
    inverse_.resize(C.size());
    product_.resize(C.size());
    lu_.clear();
    for (int g = 0; g < w.blocks(); ++g) {
        const int rank = w.block_size(g);
        K_.assign(ix(rank) * ix(rank), 0.0);
        for (const int a : interfaces_.blocks(g)) {
            const int n = W.block_size(a);
            const std::size_t size = ix(n) * ix(n), first = at[ix(a)];
            scratch_.resize(std::max(scratch_.size(), std::max(size, ix(n) * ix(rank))));
            for (std::size_t i = 0; i < size; ++i) scratch_[i] = epsilon * C[first + i] + E[first + i];
            if (!invert_small(n, scratch_.data(), inverse_.data() + first)) return false;
            std::fill_n(product_.begin() + static_cast<std::ptrdiff_t>(first), size, 0.0);
            multiply_plain(n, n, n, inverse_.data() + first, C.data() + first, product_.data() + first, n);
            // K += θᵀ (B⁻¹ C) θ
            const double* const theta = interfaces_.theta(a);
            std::fill_n(scratch_.begin(), n * rank, 0.0);
            multiply_plain(n, rank, n, product_.data() + first, theta, scratch_.data(), rank);
            for (int i = 0; i < n; ++i)
                multiply_into(rank, rank, 1, theta + i * rank, 1, scratch_.data() + i * rank, rank, K_.data(), rank);
        }
        if (std::all_of(K_.begin(), K_.end(), [](double k) { return k == 0.0; })) {
            lu_.make_identity(g);
            continue;
        }
        for (int e = w.row_start[ix(g)]; e < w.row_start[ix(g) + 1]; ++e) {
            const BlockLU::View block = lu_.at_entry(e);
            const int columns = w.block_size(w.block_column[ix(e)]);
            multiply_plain(rank, columns, rank, K_.data(), w.values.data() + w.offset[ix(e)], block.data, block.stride);
        }
        const BlockLU::View diagonal = lu_.at(g, g);
        for (int i = 0; i < rank; ++i) diagonal.data[i * diagonal.stride + i] += 1.0;
    }
    return lu_.factorise();
}

void InterfaceSystem::solve(const BlockMatrix& W, std::span<const double> b, std::span<double> x) {
    const BlockMatrix& w = interfaces_.reduced();
    std::fill(z_.begin(), z_.end(), 0.0);
    for (int a = 0; a < W.blocks(); ++a) {
        const int n = W.block_size(a), first = W.start[ix(a)], g = interfaces_.of_block(a), rank = w.block_size(g);
        const double* const inverse = inverse_.data() + at_[ix(a)];
        const double* const theta = interfaces_.theta(a);
        for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int j = 0; j < n; ++j) sum += inverse[i * n + j] * b[ix(first + j)];
            x[ix(first + i)] = sum;
            for (int k = 0; k < rank; ++k) z_[ix(w.start[ix(g)] + k)] += theta[i * rank + k] * sum;
        }
    }
    lu_.solve(z_, y_);
    w.multiply(y_, z_);
    for (int a = 0; a < W.blocks(); ++a) {
        const int n = W.block_size(a), first = W.start[ix(a)], g = interfaces_.of_block(a), rank = w.block_size(g);
        const double* const product = product_.data() + at_[ix(a)];
        const double* const theta = interfaces_.theta(a);
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int k = 0; k < rank; ++k) sum += theta[j * rank + k] * z_[ix(w.start[ix(g)] + k)];
            if (sum == 0.0) continue;
            for (int i = 0; i < n; ++i) x[ix(first + i)] -= product[i * n + j] * sum;
        }
    }
}

}  // namespace saltus::solvers
