// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/kinetic_frame.hpp"

namespace saltus::impact {

/// What belongs to the consistency set in the coordinates of the kinetic frame:
///     rows·y >= ends,      ½‖y‖² − c_k·y <= level for every centre c_k.
/// All balls have the same ½‖y‖²: which of them is the tightest at y depends on c_k·y alone, least is tightest.
struct Region {
    Matrix rows;  ///< unit length
    Vector ends;
    Matrix centres;  ///< one a column
    double level = 0.0;

    Eigen::Index dimension() const { return rows.cols(); }
    void add_row(const Vector& row, double end);
    void add_centre(const Vector& centre);
    double excess(const Vector& y) const;  ///< of ½‖y‖² − c·y over the level, for the tightest ball; −∞ without balls
};

/// With the rows of P⁺, no edges of the cone and no balls.
Region kinematic_region(const KineticFrame& frame, const Allowance& allowance);

/// The same where what impulses act along is not what may not be entered: rows s (n·y + d) >= 0 of contacts, in the
/// frame of other directions.
struct ContactRows {
    Matrix normals;  ///< rank × contacts, unit columns or 0
    Vector distance;
    bool apart = false;  ///< not those of the frame: then work without a lower bound does not mean that P⁺ is empty
};
Region kinematic_region(const KineticFrame& frame, const ContactRows& rows, const Allowance& allowance);

/// `nearest_consistent` and `least_contact_work` in a frame, with the rows of P⁺ given.
NearestConsistent nearest_in_frame(const KineticFrame& frame, const ContactRows& rows, const Vector& u_plus,
                                   const Allowance& allowance, double tolerance);
LeastWork least_work_in_frame(const KineticFrame& frame, const ContactRows& rows, bool external_work, double tolerance);

/// The centre that belongs to the point η of P⁺.
Vector centre_of(const KineticFrame& frame, const Allowance& allowance, const Vector& eta);

/// The point of the region nearest to p, exact to rounding; none when the region is empty.
std::optional<Vector> nearest(const Region& region, const Vector& p);

/// The point of the polyhedron at which the tightest ball's ½‖y‖² − c·y is least; needs one centre at least.
std::optional<Vector> lowest(const Region& region);

}  // namespace saltus::impact
