// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/work/detail/frictional_cones.hpp"

namespace saltus::impact {

using Eigen::Index;
using solvers::Law;
using solvers::LawKind;

ConeForm::ConeForm(const FrictionalCollision& c) {
    each_block(c, [&](std::size_t k, Index row) { block(c.laws[k], c.sizes[k], row, name_of(c, k)); });
}

void ConeForm::block(const Law& law, int size, Index row, const std::string& name) {
    switch (law.kind) {
        case LawKind::bilateral: return;
        case LawKind::unilateral: return cone(row, {});
        case LawKind::friction2: return cone(row, {{row + 1, law.mu}});
        case LawKind::friction3:
            return cone(row, {{row + 1, law.mu}, {row + 2, law.mu_second >= 0.0 ? law.mu_second : law.mu}});
        case LawKind::drilling4:
            cone(row, {{row + 1, law.mu}, {row + 2, law.mu}});
            return copy({{row + 3, law.mu_drilling}});
        case LawKind::rolling5:
            cone(row, {{row + 1, law.mu}, {row + 2, law.mu}});
            return copy({{row + 3, law.mu_rolling}, {row + 4, law.mu_rolling}});
        case LawKind::rolling6: {
            cone(row, {{row + 1, law.mu}, {row + 2, law.mu}});
            const Index normal = first_;
            copy({{row + 3, law.mu_drilling}});
            first_ = normal;
            return copy({{row + 4, law.mu_rolling}, {row + 5, law.mu_rolling}});
        }
        case LawKind::slider: {
            if (!(law.bound > 0.0)) return;
            Tangential rows;
            for (int i = 0; i < size; ++i) rows.emplace_back(row + i, 1.0);
            cone(-1, rows);
            ties.push_back({first_, -1, law.bound});
            return;
        }
        case LawKind::contensou4:
            if (law.mu > 0.0)
                refused = "the patch of " + name + " has no second-order cone";
            else
                cone(row, {});
            return;
        case LawKind::scaled_slider:
            if (law.mu > 0.0 || law.mu_second > 0.0)
                refused = "the friction of " + name + " is bounded by the size of a bilateral reaction";
            return;
    }
}

void ConeForm::cone(Index normal, const Tangential& tangential) {
    first_ = static_cast<Index>(columns.size());
    columns.push_back({normal, 1.0});
    int size = 1;
    for (const auto& [row, mu] : tangential)
        if (mu > 0.0) {
            columns.push_back({row, mu});
            ++size;
        }
    cones.push_back(size);
}

void ConeForm::copy(const Tangential& tangential) {
    const Index normal = first_;
    cone(-1, tangential);
    ties.push_back({first_, normal, 0.0});
}

}  // namespace saltus::impact
