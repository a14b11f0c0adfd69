// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/mass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "saltus/base/error.hpp"

namespace saltus::model {

namespace {

/// The representative of a coordinate's block (union-find with path halving).
int root_of(std::vector<int>& parent, int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
        parent[static_cast<std::size_t>(i)] = parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
        i = parent[static_cast<std::size_t>(i)];
    }
    return i;
}

/// Solves L Lᵀ y = x for one small block with the coordinates c, with the operations of solve_half and
/// solve_half_transposed. Loops of known length cost a quarter.
template <std::size_t n>
void solve_small_block(const double* L, const int* c, double* x) {
    double y[n];
    for (std::size_t i = 0; i < n; ++i) {
        double sum = x[c[i]];
        for (std::size_t k = 0; k < i; ++k) sum -= L[i * n + k] * y[k];
        y[i] = sum / L[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        double sum = y[i];
        for (std::size_t k = i + 1; k < n; ++k) sum -= L[k * n + i] * y[k];
        y[i] = sum / L[i * n + i];
    }
    for (std::size_t i = 0; i < n; ++i) x[c[i]] = y[i];
}

}  // namespace

// Coordinates that are coupled by entries of M, directly or through others, form a block: M is block diagonal after a
// reordering. Each block is stored as a full square matrix, row by row, and factorised by itself.
MassFactor::MassFactor(const Pattern& lower) : pattern_(lower) {
    const auto n = static_cast<std::size_t>(lower.rows);
    std::vector<int> parent(n);
    std::iota(parent.begin(), parent.end(), 0);
    for (int i = 0; i < lower.rows; ++i)
        for (int k = lower.start[static_cast<std::size_t>(i)]; k < lower.start[static_cast<std::size_t>(i) + 1]; ++k)
            parent[static_cast<std::size_t>(root_of(parent, i))] =
                root_of(parent, lower.column[static_cast<std::size_t>(k)]);

    std::vector<int> block_of(n, -1), place(n, 0);
    for (int i = 0; i < lower.rows; ++i) {
        const auto root = static_cast<std::size_t>(root_of(parent, i));
        if (block_of[root] < 0) {
            block_of[root] = static_cast<int>(blocks_.size());
            blocks_.emplace_back();
        }
        std::vector<int>& block = blocks_[static_cast<std::size_t>(block_of[root])];
        place[static_cast<std::size_t>(i)] = static_cast<int>(block.size());
        block.push_back(i);
    }
    std::size_t size = 0;
    for (const std::vector<int>& block : blocks_) {
        offset_.push_back(size);
        size += block.size() * block.size();
    }
    factor_.resize(size);
    diagonal_ = size == n;
    for (int i = 0; i < lower.rows; ++i)
        for (int k = lower.start[static_cast<std::size_t>(i)]; k < lower.start[static_cast<std::size_t>(i) + 1]; ++k) {
            const int j = lower.column[static_cast<std::size_t>(k)];
            const auto b = static_cast<std::size_t>(block_of[static_cast<std::size_t>(root_of(parent, i))]);
            const int width = static_cast<int>(blocks_[b].size());
            entries_.push_back({k, static_cast<int>(offset_[b]) + place[static_cast<std::size_t>(i)] * width +
                                       place[static_cast<std::size_t>(j)]});
        }
}

// The Cholesky factors M = L Lᵀ of all blocks; L overwrites the lower triangle. If M is diagonal, then factor_ has the
// square roots of its entries.
bool MassFactor::factorise(std::span<const double> M) {
    SALTUS_EXPECT(M.size() == pattern_.size());
    std::fill(factor_.begin(), factor_.end(), 0.0);
    for (const Entry& e : entries_) factor_[static_cast<std::size_t>(e.to)] = M[static_cast<std::size_t>(e.from)];
    if (diagonal_) {
        bool positive = true;
        for (double& m : factor_) {
            positive = positive && m > 0.0;
            m = std::sqrt(m);
        }
        return positive;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const std::size_t n = blocks_[b].size();
        double* L = factor_.data() + offset_[b];
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = L[i * n + j];
                for (std::size_t k = 0; k < j; ++k) sum -= L[i * n + k] * L[j * n + k];
                if (i != j) {
                    L[i * n + j] = sum / L[j * n + j];
                } else {
                    if (!(sum > 0.0)) return false;
                    L[i * n + i] = std::sqrt(sum);
                }
            }
        }
    }
    return true;
}

void MassFactor::solve(std::span<double> x) const {
    if (diagonal_) {
        for (std::size_t i = 0; i < factor_.size(); ++i) x[i] = x[i] / factor_[i] / factor_[i];
        return;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const double* const L = factor_.data() + offset_[b];
        const int* const c = blocks_[b].data();
        switch (blocks_[b].size()) {
            case 1: solve_small_block<1>(L, c, x.data()); break;
            case 2: solve_small_block<2>(L, c, x.data()); break;
            case 3: solve_small_block<3>(L, c, x.data()); break;
            default: solve_half(b, x); solve_half_transposed(b, x);
        }
    }
}

void MassFactor::solve(std::span<double> x, std::span<const int> blocks) const {
    for (const int b : blocks) {
        solve_half(static_cast<std::size_t>(b), x);
        solve_half_transposed(static_cast<std::size_t>(b), x);
    }
}

void MassFactor::solve_all(std::span<double> x, int count) const {
    const auto each = static_cast<std::size_t>(count);
    if (diagonal_) {
        double* to = x.data();
        for (const double root : factor_)
            for (std::size_t j = 0; j < each; ++j, ++to) *to = *to / root / root;
        return;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const std::vector<int>& c = blocks_[b];
        const std::size_t n = c.size();
        const double* const L = factor_.data() + offset_[b];
        const auto of = [&](std::size_t i) { return x.data() + each * static_cast<std::size_t>(c[i]); };
        const auto subtract = [&](double factor, const double* from, double* to) {
            for (std::size_t j = 0; j < each; ++j) to[j] -= factor * from[j];
        };
        const auto divide = [&](double by, double* to) {
            for (std::size_t j = 0; j < each; ++j) to[j] /= by;
        };
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < i; ++k) subtract(L[i * n + k], of(k), of(i));
            divide(L[i * n + i], of(i));
        }
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t k = i + 1; k < n; ++k) subtract(L[k * n + i], of(k), of(i));
            divide(L[i * n + i], of(i));
        }
    }
}

void MassFactor::solve_half(std::span<double> x) const {
    if (diagonal_) {
        for (std::size_t i = 0; i < factor_.size(); ++i) x[i] /= factor_[i];
        return;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) solve_half(b, x);
}

void MassFactor::solve_half_transposed(std::span<double> x) const {
    if (diagonal_) return solve_half(x);
    for (std::size_t b = 0; b < blocks_.size(); ++b) solve_half_transposed(b, x);
}

/// x ← L⁻¹x for the coordinates of block b.
void MassFactor::solve_half(std::size_t b, std::span<double> x) const {
    const int* const c = blocks_[b].data();
    const std::size_t n = blocks_[b].size();
    const double* L = factor_.data() + offset_[b];  // of row i
    double* const values = x.data();
    for (std::size_t i = 0; i < n; ++i, L += n) {
        double sum = values[c[i]];
        for (std::size_t k = 0; k < i; ++k) sum -= L[k] * values[c[k]];
        values[c[i]] = sum / L[i];
    }
}

/// x ← L⁻ᵀx for the coordinates of block b.
void MassFactor::solve_half_transposed(std::size_t b, std::span<double> x) const {
    const int* const c = blocks_[b].data();
    const std::size_t n = blocks_[b].size();
    const double* const L = factor_.data() + offset_[b];
    double* const values = x.data();
    for (std::size_t i = n; i-- > 0;) {
        double sum = values[c[i]];
        const double* column = L + i * n + i;
        const double diagonal = *column;
        for (std::size_t k = i + 1; k < n; ++k) sum -= *(column += n) * values[c[k]];
        values[c[i]] = sum / diagonal;
    }
}

// The eigenvalues of M are those of its blocks.
Spectrum MassFactor::spectrum(std::span<const double> M) const {
    Spectrum all;
    all.smallest = std::numeric_limits<double>::infinity();
    all.largest = -std::numeric_limits<double>::infinity();
    Vector direction;
    std::size_t smallest_block = 0;
    std::vector<double> square(factor_.size(), 0.0);
    for (const Entry& e : entries_) square[static_cast<std::size_t>(e.to)] = M[static_cast<std::size_t>(e.from)];
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const auto n = static_cast<Eigen::Index>(blocks_[b].size());
        if (n == 1) {
            all.largest = std::max(all.largest, square[offset_[b]]);
            if (square[offset_[b]] >= all.smallest) continue;
        }
        using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const Spectrum s = symmetric_spectrum(Eigen::Map<const RowMajor>(square.data() + offset_[b], n, n));
        all.largest = std::max(all.largest, s.largest);
        if (s.smallest < all.smallest) {
            all.smallest = s.smallest;
            direction = s.smallest_direction;
            smallest_block = b;
        }
    }
    all.smallest_direction = Vector::Zero(pattern_.rows);
    for (Eigen::Index i = 0; i < direction.size(); ++i)
        all.smallest_direction(blocks_[smallest_block][static_cast<std::size_t>(i)]) = direction(i);
    return all;
}

}  // namespace saltus::model
