// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"

int main() {
    const auto description = saltus::io::parse_model(R"(
        [system]
        q = ["y"]
        T = "m/2*y'^2"
        U = "m*g*y"
        [parameters]
        m = 2.0
        g = 9.81
        [[contact]]
        name = "floor"
        gN = "y"
        [initial]
        q = { y = 1.0 }
    )",
                                                     "ball");
    const saltus::model::Model model = saltus::model::build(description);
    saltus::model::Workspace workspace(model);
    saltus::model::Terms terms(model.layout());
    saltus::model::evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    std::printf("M = %g, h = %g, gap = %g\n", terms.M[0], terms.h[0], terms.positions[0]);
    return terms.M[0] == 2.0 && std::abs(terms.h[0] + 19.62) < 1e-14 && terms.positions[0] == 1.0 ? 0 : 1;
}
