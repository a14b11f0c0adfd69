// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/control/regulation/detail/regulation_rows.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// A stiffness k counts as constant if the width of its interval over all positions is at most this times |k|: rounding
/// of the interval arithmetic. If it is too small, constant stiffnesses that are formulas are not recognised.
constexpr double constant_stiffness_width = 1e-12;

/// The stiffness k of each contact. Nothing if one of them depends on the position.
std::optional<IntervalVector> stiffnesses(const Domain& domain) {
    const Box still = point_box(std::vector<double>(static_cast<std::size_t>(domain.model.size()), 0.0));
    const IntervalVector coefficients = domain.enclosure->coefficients(domain.whole, still);
    IntervalVector k;
    for (const model::Contact& c : domain.model.contacts) {
        const Interval x = coefficients[static_cast<std::size_t>(c.penalty_k)];
        if (!(width(x) <= constant_stiffness_width * std::abs(x.lo))) return {};
        k.push_back(x);
    }
    return k;
}

}  // namespace

/// The energy ½k max(0, −g_N)² of a spring with constant k is convex if g_N is concave (domain.convex), because it is a
/// convex nondecreasing function of the convex function −g_N. If the least eigenvalue of ∇²Ũ is positive everywhere,
/// then Ũ is strongly convex, and so is the sum. The solutions of (48) are the stationary points of the sum: there is
/// exactly one.
Uniqueness spring_uniqueness(const Domain& domain) {
    Uniqueness out;
    if (!domain.enclosure || !domain.potential || !domain.enclosure->smooth || !domain.convex) return out;
    const IntervalMatrix H = domain.enclosure->hessian(domain.whole);
    const double curvature = H.finite() ? eigenvalues(H).lower : -1.0;
    if (!(curvature > 0.0) || !stiffnesses(domain)) return out;
    out.everywhere = out.bounded = true;
    out.level = Interval::infinity;
    out.convexity = curvature;
    out.how = "the potential with the springs' energy is strongly convex: one minimum, and no other solution";
    return out;
}

/// With affine gaps the energy U_f of the springs has the Hessian Σ k w wᵀ over the compressed contacts, w = ∇g_N. So
/// ∇²(Ũ + U_f) = ∇²Ũ + Σ k w wᵀ. The bound is the largest eigenvalue over all subsets of contacts that can be
/// compressed together. Without a bound if there are so many subsets that the list may be incomplete.
double spring_curvature(const Domain& domain) {
    const std::optional<IntervalVector> k = stiffnesses(domain);
    if (!domain.affine || !k) return Interval::infinity;
    double largest = 0.0;
    const std::vector<std::vector<int>> subsets =
        contact_subsets(domain, ContactModel::springs, domain.model.contacts.size());
    if (subsets.size() >= max_combinations) return Interval::infinity;
    for (const std::vector<int>& subset : subsets) {
        IntervalMatrix K = domain.enclosure->hessian(domain.whole);
        for (const int i : subset) {
            const int row = domain.model.contacts[static_cast<std::size_t>(i)].row;
            for (int a = 0; a < K.rows(); ++a)
                for (int b = 0; b < K.cols(); ++b)
                    K(a, b) = K(a, b) +
                              (*k)[static_cast<std::size_t>(i)] * domain.gradients(row, a) * domain.gradients(row, b);
        }
        largest = std::max(largest, eigenvalues(K).upper);
    }
    return largest;
}

}  // namespace saltus::control
