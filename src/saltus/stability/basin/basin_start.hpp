// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"

namespace saltus::stability {

/// What had to be done to a state so that a motion may start there.
enum class Admission : unsigned char {
    admissible,    ///< nothing
    adjusted,      ///< coordinates or velocities that were not asked for were changed
    moved,         ///< those that were asked for too: no others could help
    inadmissible,  ///< no admissible state was found
};

/// Moves states onto the admissible set of a model: positions onto the constraints and out of the obstacles by the
/// least amount in the metric of M, velocities onto those that the constraints allow. Components that are `held` stay
/// where they are as long as the others can do it. Velocities into a closed contact are left: that is an impact.
class Admitter {
public:
    /// `held`: numbers of components of (q, u).
    Admitter(const model::Model& model, std::span<const int> held);

    Admission admit(std::span<double> q, std::span<double> u);

private:
    void evaluate(std::span<const double> q, std::span<const double> u);
    bool positions_hold(std::span<const double> q) const;
    bool velocities_hold(std::span<const double> u) const;
    double dot(int row, const Vector& x) const;
    bool move(std::span<double> q, std::span<double> u, bool hold);
    bool nearest(const Vector& q, const Vector& start, bool hold, Vector& next);
    Vector step(const std::vector<int>& rows, const Vector& b, bool hold, Vector& multipliers) const;

    const model::Model& model_;
    const model::Layout& layout_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    std::vector<char> held_q_, held_u_;
    const std::vector<char>* holding_ = nullptr;
    std::vector<int> rows_;  // constraints, then the contacts that are pushed against
};

}  // namespace saltus::stability
