// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// Scratch memory for evaluating one model with its parameter values. Each thread needs its own.
class Workspace {
public:
    explicit Workspace(const Mechanics& model);
    std::span<double> scratch() { return scratch_; }

private:
    std::vector<double> scratch_;
};

/// The argument of System's functions for a time and state, with the parameter values of the model. The result refers
/// to q, u and the model.
At at(const Mechanics& model, double t, std::span<const double> q, std::span<const double> u);

/// M, h, positions, W, χ and ζ at one state.
void evaluate(const Mechanics& model, Workspace& workspace, double t, std::span<const double> q,
              std::span<const double> u, Terms& terms);

/// The relative velocity γ = Wᵀu + χ of one row.
double row_velocity(const Layout& layout, const Terms& terms, int row, std::span<const double> u);

}  // namespace saltus::model
