// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/motion.hpp"
#include "saltus/sensitivity/differences.hpp"

/// Derivatives of motions, against closed forms, differences and themselves.
namespace saltus::test {

using sensitivity::Differences;
using sensitivity::Sensitivity;

inline Sensitivity derivatives(const Model& model, const std::vector<std::string>& wrt, double t_end,
                               const integrate::Method& method = EventDriven{}) {
    sensitivity::Options options;
    options.t_end = t_end;
    options.method = method;
    const auto variables = wrt.empty() ? sensitivity::all_variables(model) : sensitivity::variables(model, wrt);
    Sensitivity s = sensitivity::sensitivity(model, variables, options);
    EXPECT_TRUE(s.available) << model.name << ": " << s.reason;
    return s;
}

/// What was refused, for messages.
inline std::string remarks(const Sensitivity& s) {
    std::string text;
    for (const auto& r : s.remarks) text += "\n    t = " + number_text(r.t) + " " + r.variable + ": " + r.text;
    return text;
}

}  // namespace saltus::test
