// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/proof/admissible.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::stability {

/// Positions as boxes and witnesses take them.
inline std::vector<double> list_of(const Vector& x) { return {x.data(), x.data() + x.size()}; }

/// A position at which the model without friction rests: 0 ∈ ∂Q(q_e), that is ∇U = Σ λ_i w_i with λ_i >= 0 for closed
/// contacts and any λ_i for constraints. [Leine] (55)–(57)
struct Rest {
    bool found = false;
    std::string why;  ///< it was not
    Vector q;
    Vector lambda;             ///< one a position row: constraints, then gaps; of several choices one that loads most
    std::vector<int> support;  ///< constraints and an independent choice of loaded gaps
    std::vector<int> closed;   ///< position rows of the gaps that are zero
    double residual = 0.0;     ///< of ∇U − Σ λ w, relative
    double curvature = 0.0;  ///< smallest eigenvalue, in the metric of M, of ∇²L along what loaded contacts leave free
    Vector direction;        ///< of that curvature
    bool minimum = false;    ///< curvature > 0
    int free_directions = 0;    ///< dimension of what they leave free
    std::vector<double> scale;  ///< of each coordinate, for searches
};

/// The minimum of U under constraints and gaps that is reached from `from`.
Rest find_minimum(const proof::Enclosure& enclosure, const std::vector<double>& from);

/// The same with one coordinate held.
struct HeldMinimum {
    bool found = false;
    Vector q;
    double U = 0.0, slope = 0.0;  ///< and its derivative with respect to the held value
};
HeldMinimum find_minimum_holding(const proof::Enclosure& enclosure, const std::vector<double>& from, int coordinate,
                                 double value);

/// The stationary point that Newton's method reaches from `from`, of any kind.
Rest find_stationary(const proof::Enclosure& enclosure, const std::vector<double>& from);

/// A small box in which the equilibrium is proved to exist and to be the only one with its contacts, by Krawczyk's
/// operator on ∇U = Σ λ_i w_i, g_i = 0 of independent loaded rows; with its multipliers. Empty where that fails.
struct RestBox {
    proof::Box q;
    std::vector<int> support;  ///< position rows
    proof::IntervalVector lambda;
    bool proved() const { return !q.empty(); }
};
RestBox enclose_rest(const proof::Enclosure& enclosure, const Rest& rest);
/// The same with the given rows, which must be independent, and forces of any sign.
RestBox enclose_stationary(const proof::Enclosure& enclosure, const Rest& rest, const std::vector<int>& support);

/// The Jacobian of those equations over a box of positions and multipliers.
proof::IntervalMatrix stationarity_matrix(const proof::Enclosure& enclosure, const proof::Box& q,
                                          const std::vector<int>& support, const proof::IntervalVector& lambda);

/// q_e; coordinates whose interval has 0 in it are 0.
std::vector<double> position_of(const Rest& rest, const RestBox& box);

std::vector<proof::ElementForce> forces_at(const model::Model& model, const Rest& rest);

}  // namespace saltus::stability
