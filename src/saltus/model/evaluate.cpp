// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/evaluate.hpp"

#include "saltus/model/mechanics.hpp"

namespace saltus::model {

Workspace::Workspace(const Mechanics& model) : scratch_(model.system->scratch_size()) {
    model.system->prepare(model.p, scratch_);
}

At at(const Mechanics& model, double t, std::span<const double> q, std::span<const double> u) {
    return {t, q, u, model.p};
}

void evaluate(const Mechanics& model, Workspace& workspace, double t, std::span<const double> q,
              std::span<const double> u, Terms& terms) {
    const At here = at(model, t, q, u);
    model.system->terms(here, workspace.scratch(), terms);
}

double row_velocity(const Layout& layout, const Terms& terms, int row, std::span<const double> u) {
    return row_dot(layout.rows, terms.W, row, u) + terms.chi[static_cast<std::size_t>(row)];
}

}  // namespace saltus::model
