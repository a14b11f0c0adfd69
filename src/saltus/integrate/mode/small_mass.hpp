// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/base/index.hpp"
#include "saltus/model/pattern.hpp"

namespace saltus::integrate {

/// Factors M = L D Lᵀ of a mass matrix of a few coordinates, for many right-hand sides. A solution has no divisions and
/// no search for blocks: it takes a quarter of the time of model::MassFactor.
class SmallMass {
public:
    static constexpr int max_size = 4;

    /// `values` are those of the lower triangle in the order of `pattern`. False if M is not positive definite.
    bool factorise(const model::Pattern& pattern, std::span<const double> values) {
        n_ = pattern.rows;
        for (int i = 0; i < n_; ++i) {
            for (int j = 0; j <= i; ++j) l_[i][j] = 0.0;
            for (int e = pattern.start[ix(i)]; e < pattern.start[ix(i) + 1]; ++e)
                l_[i][pattern.column[ix(e)]] = values[ix(e)];
        }
        double pivot[max_size];
        for (int i = 0; i < n_; ++i) {
            for (int j = 0; j < i; ++j) {
                double product = l_[i][j];  // L_ij D_j
                for (int k = 0; k < j; ++k) product -= l_[i][k] * pivot[k] * l_[j][k];
                l_[i][j] = product * inverse_[j];
            }
            pivot[i] = l_[i][i];
            for (int k = 0; k < i; ++k) pivot[i] -= l_[i][k] * l_[i][k] * pivot[k];
            if (!(pivot[i] > 0.0)) return false;
            inverse_[i] = 1.0 / pivot[i];
        }
        return true;
    }

    /// x becomes M⁻¹x.
    void solve(double* x) const {
        for (int i = 1; i < n_; ++i)
            for (int k = 0; k < i; ++k) x[i] -= l_[i][k] * x[k];
        for (int i = 0; i < n_; ++i) x[i] *= inverse_[i];
        for (int i = n_ - 2; i >= 0; --i)
            for (int k = i + 1; k < n_; ++k) x[i] -= l_[k][i] * x[k];
    }

private:
    int n_ = 0;
    double l_[max_size][max_size], inverse_[max_size];  // below the diagonal: L; 1/D
};

}  // namespace saltus::integrate
