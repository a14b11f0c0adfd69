// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "saltus/expr/parse.hpp"

namespace saltus::model {

/// An auxiliary expression of [let]: other expressions mention it by its name.
struct Definition {
    std::string name;
    expr::Source source;
};

/// Makes the names of `list` known in `base`. A name stands for its expression, which is read in `base` too: it may
/// mention what `base` allows, and other definitions in any order. A cyclic definition is an Error. `used` is called
/// with the index of each definition that is mentioned. The list must outlive the scope.
expr::Scope with_definitions(expr::Graph& graph, const std::vector<Definition>& list, expr::Scope base,
                             std::function<void(std::size_t)> used = {});

}  // namespace saltus::model
