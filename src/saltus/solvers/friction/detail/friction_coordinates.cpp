// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/friction_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"

namespace saltus::solvers {

namespace {

/// Binary exponent of the largest absolute value; 0 if all are zero or one is not finite.
int exponent(const std::vector<double>& values) {
    double largest = 0.0;
    for (const double x : values) largest = std::max(largest, std::abs(x));
    return largest > 0.0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

}  // namespace

bool Rescaled::needed(const FrictionProblem& p) {
    constexpr int max_exponent = 300;  // squares stay within 2^±600, products of three numbers within 2^±900
    return std::abs(exponent(p.W.values)) > max_exponent || std::abs(exponent(p.q)) > max_exponent;
}

void Rescaled::take(const FrictionProblem& p, std::span<const double> guess) {
    problem_ = p;
    w_ = exponent(p.W.values);
    q_ = exponent(p.q);
    for (double& w : problem_.W.values) w = std::ldexp(w, -w_);
    for (double& q : problem_.q) q = std::ldexp(q, -q_);
    for (Law& law : problem_.laws) law.bound = std::ldexp(law.bound, w_ - q_);
    guess_.assign(guess.begin(), guess.end());
    for (double& r : guess_) r = std::ldexp(r, w_ - q_);
}

void Rescaled::back(Solution& s) const {
    for (double& r : s.r) r = std::ldexp(r, q_ - w_);
    for (double& v : s.v) v = std::ldexp(v, q_);
}

bool Isotropic::needed(const FrictionProblem& p) { return std::any_of(p.laws.begin(), p.laws.end(), elliptic); }

void Isotropic::take(const FrictionProblem& p, std::span<const double> guess) {
    problem_ = p;
    scale_.assign(p.q.size(), 1.0);
    for (int a = 0; a < p.contacts(); ++a) {
        Law& law = problem_.laws[ix(a)];
        if (!elliptic(law)) continue;
        const std::size_t tangential = ix(p.W.start[ix(a)]) + (law.kind == LawKind::friction3 ? 1 : 0);
        const double larger = std::max(law.mu, law.mu_second);
        scale_[tangential] = larger > 0.0 ? law.mu / larger : 1.0;
        scale_[tangential + 1] = larger > 0.0 ? law.mu_second / larger : 1.0;
        if (law.kind == LawKind::slider) law.bound *= larger;
        law.mu = larger;
        law.mu_second = -1.0;
    }
    BlockMatrix& W = problem_.W;
    for (int a = 0; a < W.blocks(); ++a)
        for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e) {
            const int b = W.block_column[ix(e)];
            double* value = W.values.data() + W.offset[ix(e)];
            for (int i = 0; i < W.block_size(a); ++i)
                for (int j = 0; j < W.block_size(b); ++j)
                    *value++ *= scale_[ix(W.start[ix(a)] + i)] * scale_[ix(W.start[ix(b)] + j)];
        }
    for (std::size_t i = 0; i < scale_.size(); ++i) problem_.q[i] *= scale_[i];
    guess_.assign(guess.begin(), guess.end());
    for (std::size_t i = 0; i < guess_.size(); ++i) guess_[i] = scale_[i] > 0.0 ? guess_[i] / scale_[i] : 0.0;
}

void Isotropic::back(Solution& s) const {
    for (std::size_t i = 0; i < s.r.size(); ++i) s.r[i] *= scale_[i];
}

}  // namespace saltus::solvers
