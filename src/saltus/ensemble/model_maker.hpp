// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/model/build_options.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::ensemble {

/// The models of runs that differ in some values: parameters, initial positions x and velocities x'. Threads share it.
class ModelMaker {
public:
    /// The description must outlive this object. `names` are those of the values.
    ModelMaker(const model::Description& description, model::BuildOptions build, std::vector<std::string> names);

    /// Throws Error if the model cannot be built; the message names the values.
    model::Model at(std::span<const double> values) const;

    const std::vector<std::string>& names() const { return names_; }

private:
    const model::Description& description_;
    const model::BuildOptions build_;
    const std::vector<std::string> names_;
};

}  // namespace saltus::ensemble
