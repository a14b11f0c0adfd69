// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/lemke_path.hpp"

#include <algorithm>

#include "saltus/solvers/complementarity/detail/guess.hpp"

namespace saltus::solvers {

LemkePath::End LemkePath::follow(const BoxView& box, const double* covering, int max_pivots, std::span<double> z,
                                 const std::function<bool()>& accept) {
    const auto n = static_cast<std::size_t>(box.n);
    numbers_.resize(LemkeTableau::numbers(n) + Guess::numbers(n));
    integers_.resize(LemkeTableau::integers(n) + Guess::integers(n));
    place_.resize(n);
    pivots_ = 0;
    for (const double perturbation : {0.0, 1e-7, 1e-6, 1e-8, 1e-5}) {
        LemkeTableau tableau({box.n, box.M, box.q, box.upper, covering, perturbation}, numbers_.data(),
                             integers_.data());
        const End end = tableau.run(max_pivots - pivots_);
        pivots_ += tableau.pivots();
        if (end == End::solution && show(box, tableau, perturbation > 0.0, z, accept)) return end;
        if (end == End::ray) {
            ray_.resize(n);
            tableau.ray(ray_.data());
        }
        if (end == End::ray || end == End::limit) return end;
    }
    return End::cycle;
}

bool LemkePath::show(const BoxView& box, const LemkeTableau& tableau, bool perturbed, std::span<double> z,
                     const std::function<bool()>& accept) {
    const auto n = static_cast<std::size_t>(box.n);
    if (!perturbed) {
        tableau.solution(z.data());
        if (accept()) return true;
    }
    for (int i = 0; i < box.n; ++i) place_[static_cast<std::size_t>(i)] = tableau.place(i);
    Guess guess(box, numbers_.data() + LemkeTableau::numbers(n), integers_.data() + LemkeTableau::integers(n));
    if (!guess.solve(place_.data(), z.data())) return false;
    for (int i = 0; i < box.n; ++i) {
        double& value = z[static_cast<std::size_t>(i)];
        value = box.upper == nullptr ? std::max(0.0, value) : std::clamp(value, 0.0, box.upper[i]);
    }
    return accept();
}

}  // namespace saltus::solvers
