// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::io {

/// A model together with everything it was built from. `record_provenance` (io/results/provenance.hpp) writes the
/// origin of a motion from this value.
struct LoadedModel {
    ModelFile file;
    model::BuildOptions build;
    model::Model model;
};

/// Reads a model file and builds the model. Throws Error for anything that the user has to correct.
LoadedModel load_model(const std::string& path, const model::BuildOptions& build = {});

}  // namespace saltus::io
