// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/mean_friction.hpp"

#include "saltus/integrate/mode/elements.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::integrate {

void add_mean_friction(const model::Model& model, std::span<const double> coefficients,
                       std::vector<trajectory::Reaction>& reactions) {
    for (const model::MeanFriction& m : model::mean_frictions(model)) {
        const std::size_t element = model.contacts.size() + model.constraints.size() + m.slider;
        reactions[element].T[0] += coefficient(coefficients, m.mean);
    }
}

}  // namespace saltus::integrate
