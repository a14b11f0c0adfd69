// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

/// The directions of the variables at the start: one a row, in the columns of Tangent.
Matrix initial_directions(const Tangent& tangent, const std::vector<Variable>& variables);

/// What the first mode demands of initial values. Positions have to stay on constraints and closed contacts: a contact
/// that opens by ε closes again after √ε, which has no derivative. Velocities against friction that sticks, or out of a
/// closed contact, are gone after a time of the order ε.
class StartCheck {
public:
    StartCheck(Tangent& tangent, const integrate::RecordedChange& change);

    /// Why there is no derivative along a direction, or "".
    std::string refusal(const Eigen::RowVectorXd& direction) const;
    /// The side of a variable on which its derivative holds, 1 or −1, where friction begins to slip from rest: to the
    /// other it would slip the other way first. 0: on both.
    int side(const Eigen::RowVectorXd& direction) const;
    /// Takes the velocities away that do not last, in all rows.
    void arrest(Matrix& directions) const;
    /// δu after that, n × columns.
    const Matrix& velocity() const { return velocity_; }

private:
    struct Demand {
        Eigen::RowVectorXd change;
        std::string otherwise;
    };
    int n_;
    std::vector<Demand> demands_;
    std::vector<Eigen::RowVectorXd> from_rest_;  // δγ along the slip that begins
    Matrix velocity_;
};

}  // namespace saltus::sensitivity
