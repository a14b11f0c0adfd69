// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/detail/pair_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::State;

/// Rows with a smaller angle (sine) are linearly dependent.
constexpr double dependent_row_angle = 1e-10;

}  // namespace

PairContacts::PairContacts(const model::Mechanics& model)
    : model_(model), dynamics_(model, false, 1.0), x_(ix(dynamics_.state_size()), 0.0) {}

const double* PairContacts::packed(const State& state) {
    const auto end = std::copy(state.q.begin(), state.q.end(), x_.begin());
    std::copy(state.u.begin(), state.u.end(), end);
    return x_.data();
}

std::vector<double> PairContacts::gaps(const State& state) {
    const std::span<const double> g = dynamics_.positions(state.t, packed(state));
    std::vector<double> out;
    for (const model::Contact& c : model_.contacts) out.push_back(g[ix(c.row)]);
    return out;
}

std::vector<double> PairContacts::velocities(const State& state) {
    dynamics_.evaluate_terms(state.t, packed(state));
    std::vector<double> out;
    for (const model::Contact& c : model_.contacts) out.push_back(dynamics_.row_velocity(c.row));
    return out;
}

std::array<double, 3> PairContacts::at_rest(double t, const std::vector<double>& q, int contact) {
    const State state{t, q, std::vector<double>(q.size(), 0.0)};
    const std::size_t row = ix(model_.contacts[ix(contact)].row);
    const double gap = dynamics_.positions(t, packed(state))[row];
    dynamics_.evaluate_terms(t, x_.data());
    return {gap, dynamics_.terms().chi[row], dynamics_.terms().zeta[row]};
}

void PairContacts::prepare(const State& state, const std::vector<int>& closed) {
    integrate::SystemMode mode = dynamics_.mode();
    for (std::size_t k = 0; k < model_.contacts.size(); ++k) mode.elements[k].active = false;
    for (const int k : closed) mode.elements[ix(k)].active = true;
    dynamics_.set_mode(mode, state.t, packed(state));
}

PairContacts::Reactions PairContacts::reactions(const State& state, const std::vector<int>& closed) {
    prepare(state, closed);
    Reactions out{std::vector<double>(model_.contacts.size(), 0.0), {}};
    const bool known = dynamics_.evaluate(state.t, x_.data());
    for (const int k : closed) out.lambda[ix(k)] = known ? dynamics_.reactions()[ix(model_.contacts[ix(k)].row)] : nan;
    for (const model::Constraint& c : model_.constraints)
        out.nu.push_back(known ? dynamics_.reactions()[ix(c.row)] : nan);
    return out;
}

/// u̇(t, q, u) and λ(t, q, u) are differentiated along the motion, in the direction (1, u, u̇).
std::optional<PairContacts::Rates> PairContacts::rates(const State& state, const std::vector<int>& closed) {
    if (!linearised_) linearised_ = std::make_unique<integrate::Linearised>(dynamics_, std::vector<int>{});
    if (!linearised_->available()) return {};
    prepare(state, closed);
    if (!linearised_->prepare(state.t, x_.data())) return {};
    const int n = model_.size();
    Rates out;
    out.acceleration.assign(dynamics_.acceleration().begin(), dynamics_.acceleration().end());
    direction_.setZero(1, linearised_->columns());
    direction_(0, 0) = 1.0;
    for (int i = 0; i < n; ++i) {
        direction_(0, 1 + i) = state.u[ix(i)];
        direction_(0, 1 + n + i) = out.acceleration[ix(i)];
    }
    linearised_->along(direction_, jerk_);
    linearised_->reactions_along(direction_, reaction_rates_);
    for (int i = 0; i < n; ++i) out.jerk.push_back(jerk_(0, i));
    out.lambda.assign(model_.contacts.size(), 0.0);
    for (const int k : closed) out.lambda[ix(k)] = reaction_rates_(0, model_.contacts[ix(k)].row);
    return out;
}

double PairContacts::force_rate(const State& state, const std::vector<int>& closed, int contact) {
    const std::optional<Rates> found = rates(state, closed);
    return found ? found->lambda[ix(contact)] : nan;
}

std::vector<int> PairContacts::coordinates_of(const State& state, int contact) {
    dynamics_.evaluate_terms(state.t, packed(state));
    const model::Pattern& rows = model_.layout().rows;
    const int row = model_.contacts[ix(contact)].row;
    std::vector<int> list;
    for (int k = rows.start[ix(row)]; k < rows.start[ix(row) + 1]; ++k)
        if (dynamics_.terms().W[ix(k)] != 0.0) list.push_back(rows.column[ix(k)]);
    return list;
}

double PairContacts::smallest_singular_value(const State& state, const std::vector<int>& contacts) {
    dynamics_.evaluate_terms(state.t, packed(state));
    const model::Pattern& pattern = model_.layout().rows;
    std::vector<int> rows;
    for (const model::Constraint& c : model_.constraints) rows.push_back(c.row);
    for (const int k : contacts) rows.push_back(model_.contacts[ix(k)].row);
    if (rows.empty()) return 1.0;
    Matrix A = Matrix::Zero(static_cast<Eigen::Index>(rows.size()), model_.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto row = static_cast<Eigen::Index>(r);
        for (int k = pattern.start[ix(rows[r])]; k < pattern.start[ix(rows[r]) + 1]; ++k)
            A(row, pattern.column[ix(k)]) = dynamics_.terms().W[ix(k)];
        const double length = A.row(row).norm();
        if (!(length > 0.0)) return 0.0;
        A.row(row) /= length;
    }
    if (row_rank(A, dependent_row_angle).rank < static_cast<int>(rows.size())) return 0.0;
    // Singular values of A are the square roots of the eigenvalues of A Aᵀ.
    return std::sqrt(std::max(0.0, symmetric_spectrum(A * A.transpose()).smallest));
}

}  // namespace saltus::sensitivity
