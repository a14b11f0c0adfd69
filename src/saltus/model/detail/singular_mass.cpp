// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "saltus/expr/differentiate.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/detail/mass_thresholds.hpp"

namespace saltus::model {

using expr::Derivative;
using expr::Expr;

namespace {}  // namespace

// A mass matrix that only the constraints make regular. T may leave some velocities without inertia if the constraints
// tie them to others: M need only be positive definite on the velocities that the constraints allow, the kernel of G.
// With the velocities γ = G u + χ of the constraints,
//     T̃ = T + Σ ρ_k/2 γ_k²,   M̃ = M + Σ ρ_k G_kᵀ G_k,
// is positive definite then (any ρ > 0 suffices, because M is positive semidefinite). On every motion γ = 0
// and γ̇ = 0, so that T̃ = T, and Lagrange's equations of both differ by
//     d/dt(∂T̃/∂u) − ∂T̃/∂q − (the same of T) = Σ ρ_k (γ̇_k G_kᵀ + γ_k (Ġ_kᵀ − ∂γ_k/∂q)) = 0.
// Accelerations and reactions are the same. So are the velocities after an impact, because G u + χ = 0 before and after
// it. ρ_k gives the added term the size of M: ρ_k = (largest eigenvalue of M)/|G_k|² at the initial state.
void Builder::regularise_mass() {
    if (has_points_ || f_.constraints.empty()) return;
    expr::Graph& g = f_.graph;
    const std::size_t n = f_.q.size(), rows = f_.constraints.size();
    const auto symbols = std::make_shared<expr::SymbolSets>(g);
    std::vector<std::pair<Expr, Expr>> seeds{{f_.t, g.constant(1.0)}};
    for (std::size_t i = 0; i < n; ++i) seeds.emplace_back(f_.q[i], f_.u[i]);
    Derivative by_time(g, seeds, symbols);
    std::vector<Derivative> by_u;
    for (const Expr u : f_.u) by_u.emplace_back(g, u, symbols);

    std::vector<Expr> outputs, velocity;
    for (std::size_t i = 0; i < n; ++i) {
        const Expr momentum = by_u[i](f_.T);
        for (std::size_t j = 0; j <= i; ++j) outputs.push_back(by_u[j](momentum));
    }
    for (std::size_t k = 0; k < rows; ++k) {
        velocity.push_back(f_.velocity_constraint(k) ? f_.constraints[k] : by_time(f_.constraints[k]));
        for (std::size_t j = 0; j < n; ++j) outputs.push_back(by_u[j](velocity[k]));
    }
    std::vector<Expr> variables{f_.t};
    variables.insert(variables.end(), f_.q.begin(), f_.q.end());
    variables.insert(variables.end(), f_.u.begin(), f_.u.end());
    const expr::Tape tape(g, outputs, f_.p, variables);
    std::vector<double> scratch(tape.slot_count()), values(outputs.size()), state{0.0};
    state.insert(state.end(), model_.q0.begin(), model_.q0.end());
    state.insert(state.end(), model_.u0.begin(), model_.u0.end());
    tape.prepare<double>(p_, scratch);
    tape.evaluate<double>(state, scratch, values);

    const auto size = static_cast<Eigen::Index>(n);
    Matrix M = Matrix::Zero(size, size);
    std::size_t at = 0;
    for (Eigen::Index i = 0; i < size; ++i)
        for (Eigen::Index j = 0; j <= i; ++j) M(i, j) = M(j, i) = values[at++];
    if (!M.allFinite()) return;
    const Spectrum before = symmetric_spectrum(M);
    const double rounding = singular_mass_ratio * before.largest;
    if (before.smallest > rounding || before.smallest < -rounding)
        return;  // regular, or indefinite: see verify_initial
    const double inertia = before.largest > 0.0 ? before.largest : 1.0;
    Expr added = g.constant(0.0);
    for (std::size_t k = 0; k < rows; ++k) {
        Vector G(size);
        for (Eigen::Index j = 0; j < size; ++j) G(j) = values[at++];
        const double square = G.squaredNorm();
        if (!std::isfinite(square) || square == 0.0) continue;
        const double rho = inertia / square;
        M += rho * G * G.transpose();
        added = g.add(added, g.mul(g.constant(0.5 * rho), g.mul(velocity[k], velocity[k])));
    }
    const Spectrum after = symmetric_spectrum(M);
    if (!(after.smallest > singular_mass_ratio * after.largest))
        return;  // the constraints leave a velocity without inertia
    f_.T = g.add(f_.T, added);
    std::string names;
    for (Eigen::Index i = 0; i < size; ++i)
        if (std::abs(before.smallest_direction(i)) > printed_component)
            names += (names.empty() ? "" : ", ") + model_.coordinates[static_cast<std::size_t>(i)] + "'";
    model_.warnings.push_back("the mass matrix is singular (no inertia along " + names +
                              "); the constraints make it regular");
}

}  // namespace saltus::model
