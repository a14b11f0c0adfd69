// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/detail/negative_friction.hpp"

#include "saltus/base/text.hpp"
#include "saltus/integrate/mode/elements.hpp"

namespace saltus::integrate {

std::string negative_friction(const model::Mechanics& model, std::span<const double> coefficients, double force_scale,
                              const std::function<bool(std::size_t)>& touches) {
    const auto text = [](const std::string& what, const std::string& owner, double value) {
        return "friction would supply energy (write max(0, ...) if there is none then): " + what + " of '" + owner +
               "' is " + number_text(value);
    };
    const auto of = [&](const model::Friction& f, const std::string& owner) {
        if (f.dimension == 0) return std::string();
        for (const model::Coefficient c : f.mu)
            if (const double mu = coefficient(coefficients, c); mu < -negligible_friction)
                return text("the friction coefficient mu", owner, mu);
        return std::string();
    };
    for (const model::Slider& s : model.sliders) {
        if (std::string why = of(s.friction, s.name); !why.empty()) return why;
        if (const double load = coefficient(coefficients, s.normal_force);
            load < -negligible_friction * (1.0 + force_scale))
            return text("the normal force FN", s.name, load);
    }
    for (const model::Constraint& c : model.constraints)
        if (std::string why = of(c.friction, c.name); !why.empty()) return why;
    for (std::size_t i = 0; i < model.contacts.size(); ++i)
        if (touches(i))
            if (std::string why = of(model.contacts[i].friction, model.contacts[i].name); !why.empty()) return why;
    return {};
}

}  // namespace saltus::integrate
