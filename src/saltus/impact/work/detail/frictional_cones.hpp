// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// The cones of the laws as second-order cones over columns of their own: Λ = factor · column for each row that has
/// one. A part of a law with its own bound on the same normal row gets a copy of that row, tied to it by an equation.
class ConeForm {
public:
    explicit ConeForm(const FrictionalCollision& collision);

    struct Column {
        Eigen::Index row = -1;  ///< of Λ, −1 for a copy or a fixed bound
        double factor = 1.0;    ///< Λ = factor · x
    };
    std::vector<Column> columns;
    std::vector<int> cones;
    struct Tie {
        Eigen::Index first, second;  ///< columns that are equal, or `first` = value where second < 0
        double value = 0.0;
    };
    std::vector<Tie> ties;
    std::string refused;  ///< why a law is no cone of this kind

private:
    using Tangential = std::vector<std::pair<Eigen::Index, double>>;  ///< rows with their μ

    void block(const solvers::Law& law, int size, Eigen::Index row, const std::string& name);
    void cone(Eigen::Index normal, const Tangential& tangential);
    void copy(const Tangential& tangential);

    Eigen::Index first_ = 0;
};

}  // namespace saltus::impact
