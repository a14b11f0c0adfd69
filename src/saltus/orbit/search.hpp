// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "saltus/ensemble/engine.hpp"
#include "saltus/ensemble/shard.hpp"
#include "saltus/ensemble/table.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/orbit/orbit.hpp"

namespace saltus::orbit {

/// Where the starts of a search are run, and where their answers are kept.
struct SearchPlace {
    ensemble::EngineOptions engine;
    ensemble::Shard shard;             ///< only the starts of this part
    ensemble::Table* table = nullptr;  ///< answers, of an earlier run too; null: in memory
    std::function<void(std::size_t done, std::size_t of)> progress;
};

/// Orbits from `count` starts that fill the box of the states that a motion visits, evenly and always in the same
/// order. Equal orbits are listed once, those with the least energy first. The list does not depend on the number of
/// threads and ranks; it is empty on ranks other than 0, and for a part of the starts.
std::vector<Orbit> find_orbits(const model::Model& model, const Options& options, int count,
                               const SearchPlace& place = {});

}  // namespace saltus::orbit
