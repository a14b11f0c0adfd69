// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/kinetic_frame.hpp"

namespace saltus::impact {

/// The consistency set, or a set that contains it, in the coordinates of the kinetic frame:
///     rows·y >= ends,      ½‖y‖² − c_k·y <= level for every centre c_k.
/// The second line is ‖y − c_k‖² <= 2 level + ‖c_k‖². All balls have the same term ½‖y‖². So the ball that is violated
/// most at y is the one with the smallest c_k·y; it is called the tightest ball at y.
struct Region {
    Matrix rows;     ///< unit vectors, one per row
    Vector ends;     ///< right-hand sides
    Matrix centres;  ///< c_k, one per column
    double level = 0.0;  ///< α − w₀ (KineticFrame::work_offset), plus the constant part of the external work if allowed

    Eigen::Index dimension() const { return rows.cols(); }
    void add_row(const Vector& row, double end);
    void add_centre(const Vector& centre);
    double excess(const Vector& y) const;  ///< ½‖y‖² − c·y − level for the tightest ball; −∞ without balls
};

/// A region with the rows of P⁺ only: no edges of the cone of impulses, no balls.
Region kinematic_region(const KineticFrame& frame, const Allowance& allowance);

/// The inequalities n·y + d >= 0 of P⁺. With friction the impulse directions of the frame are edges of friction cones
/// and differ from the contact normals n.
struct ContactRows {
    Matrix normals;  ///< rank × contacts, unit columns or 0
    Vector distance;
    /// Whether the normals differ from the directions of the frame. Then contact work without a lower bound does not
    /// imply that P⁺ is empty.
    bool differ_from_frame = false;
};
Region kinematic_region(const KineticFrame& frame, const ContactRows& rows, const Allowance& allowance);

/// `nearest_consistent` and `least_contact_work` in a frame, for given inequalities of P⁺.
NearestConsistent nearest_in_frame(const KineticFrame& frame, const ContactRows& rows, const Vector& u_plus,
                                   const Allowance& allowance, double tolerance);
LeastWork least_work_in_frame(const KineticFrame& frame, const ContactRows& rows, bool external_work, double tolerance);

/// The centre c of the ball that belongs to the point η of P⁺: η + ϖ, or η + 2ϖ if the external work is allowed.
Vector centre_of(const KineticFrame& frame, const Allowance& allowance, const Vector& eta);

/// The point of the region that is nearest to p, exact up to rounding. None if the region is empty.
std::optional<Vector> nearest(const Region& region, const Vector& p);

/// The point of the polyhedron rows·y >= ends with the smallest excess. The region must have a centre. None if the
/// polyhedron is empty.
std::optional<Vector> lowest(const Region& region);

}  // namespace saltus::impact
