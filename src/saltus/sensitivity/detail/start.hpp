// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

/// The directions of the variables at the start of the motion: one per row, in the columns of Tangent. A parameter also
/// moves the initial values that are expressions of it.
Matrix initial_directions(const Tangent& tangent, const std::vector<Variable>& variables);

/// What the first mode of a motion requires of variations of the initial values.
///  - A variation must not leave constraints and closed contacts. A contact that opens by ε closes again after a time
///    of order √ε, which has no derivative.
///  - A velocity variation ε against sticking friction or out of a closed contact that is pressed vanishes after a time
///    of order ε, and its effect on positions is of order ε². So it is removed at once (`arrest`).
class StartCheck {
public:
    StartCheck(Tangent& tangent, const integrate::RecordedChange& change);

    /// Why there is no derivative along a direction; "" if there is one.
    std::string refusal(const Eigen::RowVectorXd& direction) const;
    /// If friction begins to slip from rest then the derivative holds for variations along this slip only (variations
    /// against it would slip the other way first). The same is true for a free clutch at rest, and for a motion that
    /// begins where a jump of the model is triggered. Returns 1 or −1: the derivative holds for the direction itself,
    /// or for its opposite. Returns 0 if it holds on both sides.
    int side(const Eigen::RowVectorXd& direction) const;
    /// Removes the velocity variations that vanish at once, in all rows.
    void arrest(Matrix& directions) const;
    /// ∂u after `arrest`, n × columns.
    const Matrix& velocity() const { return velocity_; }

private:
    /// A quantity that must not change to first order.
    struct Demand {
        Eigen::RowVectorXd change;  // its derivative
        std::string otherwise;      // text of the refusal
    };
    int n_;
    void keep_flat_friction(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_touched_contacts(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_clutches_free(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_inside_of_stick(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_inside_of_shared_stick(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_idle_clutches(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_behind_resets(Tangent& tangent, const integrate::RecordedChange& change);
    void keep_conditions(Tangent& tangent, const integrate::RecordedChange& change);
    void leave_to_one_side(const Eigen::RowVectorXd& row, double rate, const std::string& why);

    std::vector<Demand> demands_;
    std::vector<Eigen::RowVectorXd> increases_;  // ∂ of quantities that are 0 at the start and may only grow
    Matrix velocity_;
};

}  // namespace saltus::sensitivity
