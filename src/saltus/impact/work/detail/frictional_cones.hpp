// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// The friction cones as second-order cones ‖(x₁, x₂, …)‖ <= x₀ over unknowns ("columns") of their own. Each column
/// gives one row of Λ, scaled by its friction coefficient. A law with several bounds on the same normal row (sliding,
/// drilling, rolling) has one cone for each; their x₀ are copies of the normal impulse, tied together by equations.
class ConeForm {
public:
    explicit ConeForm(const FrictionalCollision& collision);

    struct Column {
        Eigen::Index row = -1;  ///< row of Λ; −1 for a copy or a fixed bound
        double factor = 1.0;    ///< Λ = factor · x
    };
    std::vector<Column> columns;
    std::vector<int> cones;  ///< number of columns of each cone, in order
    /// An equation between columns: x[first] = x[second], or x[first] = value if second < 0.
    struct Tie {
        Eigen::Index first, second;
        double value = 0.0;
    };
    std::vector<Tie> ties;
    std::string refused;  ///< the reason if a law is not a second-order cone; else empty

private:
    using Tangential = std::vector<std::pair<Eigen::Index, double>>;  ///< rows with their friction coefficients

    void block(const solvers::Law& law, int size, Eigen::Index row, const std::string& name);
    void cone(Eigen::Index normal, const Tangential& tangential);
    void copy(const Tangential& tangential);

    Eigen::Index first_ = 0;  // column x₀ of the cone that was added last
};

}  // namespace saltus::impact
