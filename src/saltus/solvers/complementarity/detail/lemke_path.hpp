// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"

namespace saltus::solvers {

/// Lemke's path with memory of its own. If a path cycles, or if its end is not accepted, the path is repeated with
/// small perturbations of q.
class LemkePath {
public:
    using End = LemkeTableau::End;

    /// Follows the path of a problem in standard form (standard_form.hpp). `covering` is the vector d of the tableau;
    /// null means ones. At each end of a path z holds the result and `accept` is asked: first with the values of the
    /// tableau, then with values solved again from the data. Returns solution if one was accepted, cycle if none was,
    /// ray or limit as the tableau ended. `max_pivots` counts the pivots of all repetitions.
    End follow(const BoundedView& problem, const double* covering, int max_pivots, std::span<double> z,
               const std::function<bool()>& accept);

    int pivots() const { return pivots_; }                ///< pivots of the last `follow`
    std::span<const double> ray() const { return ray_; }  ///< direction of z, if the last `follow` ended on a ray

private:
    enum class Values { of_tableau_and_data, of_data };  // which values are shown: a perturbed tableau has wrong ones

    bool show(const BoundedView& problem, const LemkeTableau& tableau, Values values, std::span<double> z,
              const std::function<bool()>& accept);

    std::vector<double> numbers_, ray_;
    std::vector<int> integers_;
    std::vector<Place> place_;
    int pivots_ = 0;
};

}  // namespace saltus::solvers
