// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/model/load_model.hpp"

#include <utility>

#include "saltus/model/model.hpp"

namespace saltus::io {

LoadedModel load_model(const std::string& path, const model::BuildOptions& build) {
    ModelFile file = read_model_file(path);
    model::Model model = model::build(file.description, build);
    return {std::move(file), build, std::move(model)};
}

}  // namespace saltus::io
