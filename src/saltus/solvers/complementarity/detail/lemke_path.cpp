// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/lemke_path.hpp"

#include <algorithm>

#include "saltus/solvers/complementarity/detail/guess.hpp"

namespace saltus::solvers {

LemkePath::End LemkePath::follow(const BoundedView& problem, const double* covering, int max_pivots,
                                 std::span<double> z, const std::function<bool()>& accept) {
    const auto n = static_cast<std::size_t>(problem.n);
    numbers_.resize(LemkeTableau::numbers(n) + Guess::numbers(n));
    integers_.resize(LemkeTableau::integers(n) + Guess::integers(n));
    place_.resize(n);
    pivots_ = 0;
    // Perturbations of q, relative to its largest entry. They are small enough not to change the final basis of a
    // well-posed problem, and large enough to separate ties from rounding.
    constexpr double perturbations[] = {0.0, 1e-7, 1e-6, 1e-8, 1e-5};
    for (const double perturbation : perturbations) {
        LemkeTableau tableau({problem.n, problem.M, problem.q, problem.upper, covering, perturbation}, numbers_.data(),
                             integers_.data());
        const End end = tableau.run(max_pivots - pivots_);
        pivots_ += tableau.pivots();
        const Values values = perturbation > 0.0 ? Values::of_data : Values::of_tableau_and_data;
        if (end == End::solution && show(problem, tableau, values, z, accept)) return end;
        if (end == End::ray) {
            ray_.resize(n);
            tableau.ray(ray_.data());
        }
        if (end == End::ray || end == End::limit) return end;
    }
    return End::cycle;
}

/// Shows the end of a path to `accept`.
bool LemkePath::show(const BoundedView& problem, const LemkeTableau& tableau, Values values, std::span<double> z,
                     const std::function<bool()>& accept) {
    const auto n = static_cast<std::size_t>(problem.n);
    if (values == Values::of_tableau_and_data) {
        tableau.solution(z.data());
        if (accept()) return true;
    }
    for (int i = 0; i < problem.n; ++i) place_[static_cast<std::size_t>(i)] = tableau.place(i);
    Guess guess(problem, numbers_.data() + LemkeTableau::numbers(n), integers_.data() + LemkeTableau::integers(n));
    if (!guess.solve(place_.data(), z.data())) return false;
    for (int i = 0; i < problem.n; ++i) {
        double& value = z[static_cast<std::size_t>(i)];
        value = problem.upper == nullptr ? std::max(0.0, value) : std::clamp(value, 0.0, problem.upper[i]);
    }
    return accept();
}

}  // namespace saltus::solvers
