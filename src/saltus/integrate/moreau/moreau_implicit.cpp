// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau/moreau_implicit.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"

// With v = u⁺ − u the θ-method has the state (1−θ)q + θq⁺ and the velocity (1−θ)u + θu⁺ = u + θv in the force. From
// q⁺ = q + Δt((1−θ)u + θu⁺) = q + Δt u + θΔt v follows
//     (1−θ)q + θq⁺ = q + θΔt u + θ²Δt v = q_m + (2θ−1)Δt u + θ²Δt v,   q_m = q + (1−θ)Δt u.
// So h ≈ h(q_m, u) + K((2θ−1)Δt u + θ²Δt v) + C θv, and M v = Δt h + WΛ becomes the equation in the header.

namespace saltus::integrate::moreau {

namespace {

constexpr int block_size = 3;  // coordinates of one block of the sparse matrix: a point in space

}  // namespace

bool ImplicitForces::dense() const { return model_.size() <= max_dense_size; }

ImplicitForces::ImplicitForces(const model::Mechanics& model)
    : model_(model),
      jacobians_(model.system->jacobians()),
      scratch_(ix(model.size())),
      zero_rows_(ix(model.layout().row_count())) {
    if (jacobians_ == nullptr) return;
    values_.resize(jacobians_->pattern(model::Function::residual).size());
    analyse();
    available_ = dense() || sparse_.analyse(pattern_, {});
}

/// Finds where the entries of M, K and C go. The columns of the Jacobian are [t, q, u, p].
void ImplicitForces::analyse() {
    const int n = model_.size();
    const auto each = [&](auto action) {
        const model::Pattern& M = model_.layout().mass;
        for (int i = 0; i < M.rows; ++i)
            for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
                action(i, M.column[ix(e)], e, Part::M);
                if (M.column[ix(e)] != i) action(M.column[ix(e)], i, e, Part::M);
            }
        const model::Pattern& J = jacobians_->pattern(model::Function::residual);
        for (int i = 0; i < J.rows; ++i)
            for (int e = J.start[ix(i)]; e < J.start[ix(i) + 1]; ++e) {
                const int column = J.column[ix(e)] - 1;
                if (column >= 0 && column < n) action(i, column, e, Part::K);
                if (column >= n && column < 2 * n) action(i, column - n, e, Part::C);
            }
    };
    if (!dense()) {
        std::vector<int> sizes((ix(n) + block_size - 1) / block_size, block_size);
        if (n % block_size != 0) sizes.back() = n % block_size;
        std::vector<solvers::BlockMatrix::Triplet> entries;
        each([&](int i, int j, int, Part) { entries.push_back({i, j, 1.0}); });
        pattern_ = solvers::BlockMatrix::from_triplets(entries, sizes);
    }
    each([&](int i, int j, int from, Part part) {
        if (dense())
            places_.push_back({from, -1, i, j, part});
        else
            places_.push_back(
                {from, pattern_.find(i / block_size, j / block_size), i % block_size, j % block_size, part});
    });
}

double& ImplicitForces::element(const Place& place) {
    if (place.entry < 0) return dense_.at(place.i, place.j);
    const solvers::BlockLU::View view = sparse_.at_entry(place.entry);
    return view.data[place.i * view.stride + place.j];
}

bool ImplicitForces::factorise(const model::Terms& terms, double t, std::span<const double> q,
                               std::span<const double> u, double h, double theta) {
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    jacobians_->evaluate(model::Function::residual, model::at(model_, t, q, u), scratch_, zero_rows_, values_);
    if (dense())
        dense_.clear(model_.size());
    else
        sparse_.clear();
    for (const Place& p : places_) {
        const double value = p.part == Part::M   ? terms.M[ix(p.from)]
                             : p.part == Part::K ? -theta * theta * h * h * values_[ix(p.from)]
                                                 : -theta * h * values_[ix(p.from)];
        element(p) += value;
    }
    return dense() ? dense_.factorise() : sparse_.factorise();
}

void ImplicitForces::solve(std::span<double> x) {
    std::copy(x.begin(), x.end(), scratch_.begin());
    if (dense())
        dense_.solve(scratch_, x);
    else
        sparse_.solve(scratch_, x);
}

void ImplicitForces::add_stiffness(double factor, std::span<const double> u, std::span<double> f) const {
    const model::Pattern& J = jacobians_->pattern(model::Function::residual);
    for (int i = 0; i < J.rows; ++i)
        for (int e = J.start[ix(i)]; e < J.start[ix(i) + 1]; ++e)
            if (const int column = J.column[ix(e)] - 1; column >= 0 && column < model_.size())
                f[ix(i)] += factor * values_[ix(e)] * u[ix(column)];
}

Stiffness::Stiffness(const model::Mechanics& model)
    : model_(model),
      workspace_(model),
      direction_(ix(model.size())),
      rate_direction_(ix(model.size())),
      moved_(ix(model.size())),
      force_(ix(model.size())),
      change_(ix(model.size())) {
    restart();
}

void Stiffness::restart() {
    double x = 0.0;
    for (double& v : direction_) {
        x = std::fmod(x + golden_ratio, 1.0);
        v = 0.5 + x;
    }
    rate_direction_ = direction_;
}

/// change = (h(x + εv) − h(x))/ε with x = q, or x = u if `rate`. False if v is zero or a force is not finite.
bool Stiffness::difference(double t, std::span<const double> q, std::span<const double> u, bool rate,
                           const std::vector<double>& v) {
    const std::span<const double> base = rate ? u : q;
    double size = 1.0, length = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        size = std::max(size, std::abs(base[i]));
        length = std::max(length, std::abs(v[i]));
    }
    if (!(length > 0.0)) return false;
    const double epsilon = difference_ratio * size / length;
    for (std::size_t i = 0; i < v.size(); ++i) moved_[i] = base[i] + epsilon * v[i];
    model_.system->force(model::at(model_, t, q, u), workspace_.scratch(), force_);
    const std::span<const double> moved = moved_;
    model_.system->force(model::at(model_, t, rate ? q : moved, rate ? moved : u), workspace_.scratch(), change_);
    for (std::size_t i = 0; i < v.size(); ++i) change_[i] = (change_[i] - force_[i]) / epsilon;
    return std::all_of(change_.begin(), change_.end(), [](double x) { return std::isfinite(x); });
}

/// For v near an eigenvector of the largest eigenvalue −λ, M⁻¹ times the change is −λv: |change|/|v| = λ, and v·change
/// < 0.
double Stiffness::iterate(std::vector<double>& v) const {
    double along = 0.0, square = 0.0, change = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        along += v[i] * change_[i];
        square += v[i] * v[i];
        change += change_[i] * change_[i];
    }
    if (!(change > 0.0)) return 0.0;
    const double restoring = along < 0.0 ? std::sqrt(change / square) : 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = change_[i] / std::sqrt(change);
    return restoring;
}

}  // namespace saltus::integrate::moreau
