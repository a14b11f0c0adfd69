// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/control/regulation/detail/regulation_rows.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// A stiffness is constant if its interval over all positions is at most this part of it wide.
constexpr double constant_stiffness_width = 1e-12;

/// The stiffnesses k of the contacts, if they are the same everywhere.
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

/// The energy ½k max(0, −g_N)² of a spring is convex if g_N is concave, since it is a convex nondecreasing function of
/// the convex function −g_N. If Ũ is strongly convex then so is the sum: (48) has exactly one solution.
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

/// With affine gaps ∇²(Ũ + U_f) = ∇²Ũ + Σ k w wᵀ over the compressed contacts; the bound is the largest eigenvalue over
/// all subsets that can be compressed together.
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
