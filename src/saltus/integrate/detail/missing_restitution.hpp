// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

/// Whether the restitution of a contact is 0 only because the model does not give it.
inline bool lacks_restitution(const model::Contact& contact) {
    return contact.e_n == model::no_coefficient && contact.c == model::no_coefficient;
}

/// A warning that names the contacts with a mark, which were struck and have no restitution; empty if there are none.
inline std::string missing_restitution_text(const model::Mechanics& model, const std::vector<char>& struck) {
    constexpr std::size_t most_named = 4;  // obstacles of mass points have a contact for each point
    std::vector<std::string> names;
    std::size_t count = 0;
    for (std::size_t i = 0; i < struck.size(); ++i) {
        if (struck[i] == 0) continue;
        if (++count <= most_named) names.push_back(model.contacts[i].name);
    }
    if (count == 0) return {};
    std::string text = listing(names, "and", "'");
    if (count > names.size()) text += " and " + std::to_string(count - names.size()) + " others";
    return text + (count == 1 ? " was struck, and its eN is" : " were struck, and their eN is") +
           " not given: 0 was used, so that nothing rebounds; write eN = 0 if that is meant";
}

}  // namespace saltus::integrate
