// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/mean_friction.hpp"

#include "saltus/integrate/mode/elements.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

void add_mean_friction(const model::Mechanics& model, std::span<const double> coefficients,
                       std::vector<trajectory::Reaction>& reactions) {
    for (const model::MeanFriction& m : model.mean_friction) {
        const std::size_t element = model.contacts.size() + model.constraints.size() + m.slider;
        reactions[element].T[0] += coefficient(coefficients, m.mean);
    }
}

}  // namespace saltus::integrate
