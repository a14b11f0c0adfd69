// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"

namespace saltus::stability {

/// How a state was changed so that a motion may start there.
enum class Admission : unsigned char {
    admissible,    ///< the state was not changed
    adjusted,      ///< components that are not held were changed
    moved,         ///< held components were changed too, because the others were not sufficient
    inadmissible,  ///< no admissible state was found
};

/// Projects states onto the admissible states of a model: positions onto the constraints and out of the obstacles by
/// the least change in the metric of M, velocities onto those that the constraints allow. Held components are changed
/// only if the others are not sufficient. Velocities into a closed contact are not changed: an impact follows.
class Admitter {
public:
    /// `held` are indices of components of (q, u). The model must outlive this object.
    Admitter(const model::Mechanics& model, std::span<const int> held);

    /// Changes q and u in place. If the result is `inadmissible` then their values are not usable.
    Admission admit(std::span<double> q, std::span<double> u);

private:
    /// Flags of components that must not change.
    struct Held {
        const std::vector<char>& q;
        const std::vector<char>& u;
    };
    /// A displacement and the multipliers of the rows that it fulfils.
    struct Step {
        Vector x, multipliers;
    };

    void evaluate(std::span<const double> q, std::span<const double> u);
    bool positions_hold(std::span<const double> q) const;
    bool velocities_hold(std::span<const double> u) const;
    double dot(int row, const Vector& x) const;
    /// Projects position and velocity. Returns false if no admissible state was found.
    bool project(std::span<double> q, std::span<double> u, const Held& held);
    std::optional<Vector> nearest(const Vector& q, const Vector& start, const std::vector<char>& held);
    Step step(const std::vector<int>& rows, const Vector& b, const std::vector<char>& held) const;

    const model::Mechanics& model_;
    const model::Layout& layout_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    std::vector<char> held_q_, held_u_, none_held_;
    std::vector<int> rows_;  ///< active set: all constraints, then contacts with a pushing multiplier
};

}  // namespace saltus::stability
