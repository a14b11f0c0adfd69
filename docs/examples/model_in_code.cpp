// SPDX-License-Identifier: Apache-2.0
// A model from expressions in code: a ball above a table that moves up and down.
#include <cstdio>

#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"

using namespace saltus::model;

int main() {
    Description d;
    d.name = "ball above a table";
    d.q = {{"y", {}}};
    d.T = "m/2*y'^2";
    d.U = "m*g*y";
    d.parameters = {{"m", 0.1, {}}, {"g", 9.81, {}}, {"A", 0.02, {}}, {"w", "2*pi*5", {}}};
    ContactDescription table;
    table.name = "table";
    table.gN = "y - A*sin(w*t)";
    table.eN = 0.8;
    d.contacts = {table};
    d.initial.q = {{"y", 0.5, {}}};

    const Model model = build(d);
    Workspace workspace(model);
    Terms terms(model.layout());
    evaluate(model, workspace, 0.1, model.q0, model.u0, terms);
    std::printf("gap = %.6f, chi = %.6f, zeta = %.6f\n", terms.positions[0], terms.chi[0], terms.zeta[0]);
}
