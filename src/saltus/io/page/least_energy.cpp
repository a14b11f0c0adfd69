// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/least_energy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/factors.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::io {

using Eigen::Index;

namespace {

constexpr int max_steps = 60;                 // of a descent; a picture needs few digits
constexpr double difference = 1e-6;           // of the differences for the gradient, relative to 1 + |q|
constexpr double negligible_decrease = 1e-7;  // relative decrease of the energy that ends a descent
constexpr double first_step = 0.1;            // length of the first step in the metric of M
constexpr double smallest_step = 1e-9;        // shorter steps end a descent
constexpr double unbounded_length = 1e4;      // if |q_i − start_i| > this (1 + |start_i|), the descent has no end
constexpr double held_mass_ratio = 1e-12;  // an admissible share of motion below it means that the coordinate is held

}  // namespace

LeastEnergy::LeastEnergy(const model::Mechanics& model, int coordinate)
    : model_(model),
      coordinate_(coordinate),
      admitter_(model, std::span<const int>(&coordinate_, 1)),
      workspace_(model),
      terms_(model.system->layout()),
      rest_(ix(model.size()), 0.0) {}

double LeastEnergy::potential(const std::vector<double>& q) {
    return model_.system->energy(model::at(model_, 0.0, q, rest_), workspace_.scratch()).potential;
}

// Projected gradients in the metric of M: q ← admissible point nearest to q − s M⁻¹∇U. The step s grows while the
// energy falls and is halved while it does not.
std::optional<double> LeastEnergy::settle(std::vector<double>& q) {
    const std::size_t n = q.size();
    const double given = q[ix(coordinate_)];
    const auto admissible = [&](std::vector<double>& at) {
        std::vector<double> u(n, 0.0);
        const stability::Admission a = admitter_.admit(at, u);
        return (a == stability::Admission::admissible || a == stability::Admission::adjusted) &&
               std::abs(at[ix(coordinate_)] - given) <= difference * (1.0 + std::abs(given));
    };
    if (!admissible(q)) return std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> start = q;
    double U = potential(q), step = first_step;
    int small_decreases = 0;
    for (int k = 0; k < max_steps && step > smallest_step && small_decreases < 3; ++k) {
        Vector gradient(static_cast<Index>(n));
        for (std::size_t i = 0; i < n; ++i) {
            const double d = difference * (1.0 + std::abs(q[i])), before = q[i];
            q[i] = before + d;
            const double above = potential(q);
            q[i] = before - d;
            gradient(static_cast<Index>(i)) = (above - potential(q)) / (2.0 * d);
            q[i] = before;
        }
        gradient(coordinate_) = 0.0;
        model::evaluate(model_, workspace_, 0.0, q, rest_, terms_);
        const Matrix M = model::dense_symmetric(model_.system->layout().mass, terms_.M);
        // The direction of steepest descent among those that keep the coordinate: M without its row and column.
        Matrix kept = M;
        kept.row(coordinate_).setZero();
        kept.col(coordinate_).setZero();
        kept(coordinate_, coordinate_) = 1.0;
        const Vector direction = -Cholesky(kept).solve(gradient);
        const double length = std::sqrt(std::max(0.0, direction.dot(M * direction)));
        if (!(length > 0.0) || !std::isfinite(length)) break;
        bool lower = false;
        for (; step > smallest_step; step *= 0.5) {
            std::vector<double> next = q;
            for (std::size_t i = 0; i < n; ++i) next[i] += step / length * direction(static_cast<Index>(i));
            if (!admissible(next)) continue;
            const double there = potential(next);
            if (!(there < U)) continue;
            small_decreases =
                U - there <= negligible_decrease * (std::abs(U) + std::abs(there)) ? small_decreases + 1 : 0;
            U = there;
            q = next;
            lower = true;
            break;
        }
        if (!lower) break;
        step *= 2.0;
        double moved = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            moved = std::max(moved, std::abs(q[i] - start[i]) / (1.0 + std::abs(start[i])));
        if (moved > unbounded_length) return {};
    }
    return U;
}

// Velocities u with C u = 0 (the rows of constraints) and u_i given. By Lagrange, the least ½uᵀMu is ½u_i²/a with
//     a = eᵀ(M⁻¹ − M⁻¹Cᵀ(C M⁻¹Cᵀ)⁻¹C M⁻¹)e,     e = unit vector of the coordinate.
std::optional<double> LeastEnergy::effective_mass(const std::vector<double>& q) {
    model::evaluate(model_, workspace_, 0.0, q, rest_, terms_);
    const model::Layout& layout = model_.system->layout();
    const Matrix M = model::dense_symmetric(layout.mass, terms_.M);
    const Cholesky factor(M);
    if (!factor.positive_definite()) return {};
    const Index n = M.rows();
    const Vector e = factor.solve_lower(Vector::Unit(n, coordinate_));
    Matrix C = Matrix::Zero(n, layout.constraints);
    for (int row = 0; row < layout.constraints; ++row)
        for (int k = layout.rows.start[ix(row)]; k < layout.rows.start[ix(row) + 1]; ++k)
            C(layout.rows.column[ix(k)], row) = terms_.W[ix(k)];
    const Matrix scaled = factor.solve_lower_columns(C);
    Vector rest = e;
    if (layout.constraints > 0) rest -= scaled * least_squares(scaled, e);
    const double share = rest.squaredNorm();
    if (!(share > held_mass_ratio * e.squaredNorm())) return {};
    return 1.0 / share;
}

}  // namespace saltus::io
