// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/section.hpp"

#include "saltus/model/model.hpp"
#include "saltus/orbit/detail/return_map.hpp"

namespace saltus::orbit {

std::vector<trajectory::State> section_points(const model::Model& model, const std::string& expression,
                                              const std::vector<trajectory::Arc>& arcs) {
    std::vector<trajectory::State> list;
    for (const Passage& p : passages(arcs, model.size(), section_of(model, expression)))
        list.push_back(state_of(p.t, p.x));
    return list;
}

}  // namespace saltus::orbit
