// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"
#include "saltus/solvers/complementarity/detail/standard_form.hpp"

namespace saltus::solvers {

/// Lemke's path with memory of its own, begun again with perturbations of q where it went in a circle or ended in
/// something that is not accepted.
class LemkePath {
public:
    using End = LemkeTableau::End;

    /// For a problem in standard form; `covering` is d of the tableau, or none. Ends of the path stand in z when
    /// `accept` is asked, first as the tableau has them, then solved for once more from the data. The pivots of all
    /// beginnings count. `solution` is returned when one was accepted; `cycle` also when none was.
    End follow(const BoxView& box, const double* covering, int max_pivots, std::span<double> z,
               const std::function<bool()>& accept);

    int pivots() const { return pivots_; }                ///< of the last `follow`
    std::span<const double> ray() const { return ray_; }  ///< of z, where the end was one

private:
    bool show(const BoxView& box, const LemkeTableau& tableau, bool perturbed, std::span<double> z,
              const std::function<bool()>& accept);

    std::vector<double> numbers_, ray_;
    std::vector<int> integers_;
    std::vector<Place> place_;
    int pivots_ = 0;
};

}  // namespace saltus::solvers
