// SPDX-License-Identifier: Apache-2.0
//
// Makes a model that fails smaller, as long as it fails in the same way.
#pragma once

#include <functional>
#include <string>

#include "machine/model.hpp"

namespace trials {

/// `failure` says what is wrong with a candidate; an empty text if it does not fail in the same way. `text` becomes the
/// text of the smallest model.
Model reduce(Model model, const std::function<std::string(const Model&)>& failure, std::string& text);

}  // namespace trials
