// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/audit/dissipation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"

namespace saltus::impact {

namespace {

std::string sentence_of(const Restitution& r, const DissipationTest& t) {
    if (t.equal_coefficients)
        return fmt::format("no collision creates energy: all restitution coefficients are {:.6g} (condition 7b)",
                           r.e(0));
    if (t.no_friction) return "no collision creates energy: there is no friction (condition 7c)";
    if (t.small_coefficients)
        return fmt::format("no collision creates energy: 2e/(1 + e) = {:.6g} < 1/cond(D) = {:.6g} (condition 7a)",
                           t.left, t.right);
    if (t.definite)
        return fmt::format(
            "no collision creates energy: D (I - E)/(I + E) is positive semidefinite, smallest eigenvalue "
            "{:.6g}, though condition 7a fails ({:.6g} >= {:.6g})",
            t.smallest_eigenvalue, t.left, t.right);
    std::string text = "collisions may create energy: ";
    if (t.small_coefficients_as_printed)
        text += "condition 7a as printed holds but proves nothing for e < 0";
    else
        text += fmt::format("condition 7a fails ({:.6g} >= 1/cond(D) = {:.6g}; coefficients up to {:.6g} would do)",
                            t.left, t.right, t.largest_e);
    return text + fmt::format(", and the quadratic form of the work has the eigenvalue {:.6g}", t.smallest_eigenvalue);
}

}  // namespace

DissipationTest dissipation_test(const Restitution& r) {
    const Eigen::Index n = r.delassus.rows();
    SALTUS_EXPECT(r.delassus.cols() == n && r.e.size() == n);
    DissipationTest t;
    if (n == 0) {
        t.safe = t.equal_coefficients = t.no_friction = true;
        t.sentence = "there is no contact";
        return t;
    }
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();  // per row, of an eigenvalue
    const Matrix D = 0.5 * (r.delassus + r.delassus.transpose());
    const Spectrum spectrum = symmetric_spectrum(D);
    const double zero = rounding * static_cast<double>(n) * spectrum.largest;  // eigenvalues below it are zero
    t.condition =
        spectrum.smallest > zero ? spectrum.largest / spectrum.smallest : std::numeric_limits<double>::infinity();
    const double e_max = r.e.maxCoeff(), e_min = r.e.minCoeff();
    t.left = 2.0 * e_max / (1.0 + e_max);
    t.right = 1.0 / t.condition;
    t.largest_e = 1.0 / (2.0 * t.condition - 1.0);
    t.small_coefficients_as_printed = t.left < t.right && e_max < 1.0 && e_min > -1.0;
    t.small_coefficients = t.small_coefficients_as_printed && e_min >= 0.0;
    const bool admissible = e_min >= 0.0 && e_max <= 1.0;
    t.equal_coefficients = admissible && e_max - e_min <= rounding;
    t.no_friction = admissible && !r.friction;
    if (e_min > -1.0) {
        const Vector b = (1.0 - r.e.array()) / (1.0 + r.e.array());
        const Matrix DB = D * b.asDiagonal();
        const Spectrum form = symmetric_spectrum(0.5 * (DB + DB.transpose()));
        t.smallest_eigenvalue = form.smallest;
        t.definite = form.smallest >= -rounding * static_cast<double>(n) * std::max(std::abs(form.largest), zero);
    } else {
        t.smallest_eigenvalue = -std::numeric_limits<double>::infinity();
    }
    t.safe = t.small_coefficients || t.equal_coefficients || t.no_friction || t.definite;
    t.sentence = sentence_of(r, t);
    return t;
}

}  // namespace saltus::impact
