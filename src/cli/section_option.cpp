// SPDX-License-Identifier: Apache-2.0
#include "cli/section_option.hpp"

#include "saltus/base/error.hpp"
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::cli {

double value_of_parameters(const model::Model& m, const std::string& expression, const char* option) {
    try {
        const sensitivity::Output out = sensitivity::output_of(m, expression, 0.0, m.q0, m.u0);
        const Vector by_state = out.gradient.head(1 + 2 * m.size());
        if ((by_state.array() != 0.0).any())
            throw Error("'" + expression + "' depends on the state or on time", {option, 0, 0}, "use parameters alone");
        return out.value;
    } catch (const Error& e) {
        throw Error(e.message(), {option, 0, 0}, e.remedy());
    }
}

std::string section_expression(const model::Model& m, const std::string& equation) {
    const std::size_t equals = equation.find('=');
    if (equals == std::string::npos || equation.find('=', equals + 1) != std::string::npos)
        throw Error("'" + equation + "' is not an equation", {"--section", 0, 0}, "write --section \"x = 0\"");
    std::string expression = "(" + equation.substr(0, equals) + ") - (" + equation.substr(equals + 1) + ")";
    try {
        // Sections are evaluated at states alone. An expression of the time would have another value at another time.
        const double value = sensitivity::output_of(m, expression, 0.0, m.q0, m.u0).value;
        for (const double t : {0.37, 1.91})
            if (sensitivity::output_of(m, expression, t, m.q0, m.u0).value != value)
                throw Error("'" + equation + "' depends on time", {"--section", 0, 0},
                            "use coordinates and velocities");
    } catch (const Error& e) {
        throw Error(e.message(), {"--section", 0, 0}, e.remedy());
    }
    return expression;
}

}  // namespace saltus::cli
