// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/model.hpp"

#include <algorithm>

namespace saltus::model {

Energy System::energy(const At& at, std::span<double> scratch) const {
    const Pattern& pattern = layout().mass;
    std::vector<double> M(pattern.size());
    mass(at, scratch, M);
    Energy e;
    for (int i = 0; i < pattern.rows; ++i)
        for (int k = pattern.start[static_cast<std::size_t>(i)]; k < pattern.start[static_cast<std::size_t>(i) + 1]; ++k) {
            const int j = pattern.column[static_cast<std::size_t>(k)];
            const double product = M[static_cast<std::size_t>(k)] * at.u[static_cast<std::size_t>(i)] * at.u[static_cast<std::size_t>(j)];
            e.kinetic += i == j ? 0.5 * product : product;
        }
    return e;
}

Workspace::Workspace(const Model& model) : scratch_(model.system->scratch_size()) {
    model.system->prepare(model.p, scratch_);
}

Terms::Terms(const Layout& layout)
    : M(layout.mass.size()),
      h(static_cast<std::size_t>(layout.coordinates)),
      positions(static_cast<std::size_t>(layout.positions())),
      W(layout.rows.size()),
      chi(static_cast<std::size_t>(layout.row_count())),
      zeta(static_cast<std::size_t>(layout.row_count())) {}

At at(const Model& model, double t, std::span<const double> q, std::span<const double> u) { return {t, q, u, model.p}; }

void evaluate(const Model& model, Workspace& workspace, double t, std::span<const double> q, std::span<const double> u,
              Terms& terms) {
    const At here = at(model, t, q, u);
    const System& system = *model.system;
    system.mass(here, workspace.scratch(), terms.M);
    system.force(here, workspace.scratch(), terms.h);
    system.positions(here, workspace.scratch(), terms.positions);
    system.rows(here, workspace.scratch(), terms.W, terms.chi);
    system.curvature(here, workspace.scratch(), terms.zeta);
}

double row_velocity(const Layout& layout, const Terms& terms, int row, std::span<const double> u) {
    return row_dot(layout.rows, terms.W, row, u) + terms.chi[static_cast<std::size_t>(row)];
}

}  // namespace saltus::model
