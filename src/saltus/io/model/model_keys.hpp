// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a model file may contain, as one table: the reader refuses what is not in it, and the reference in
/// docs/model-file.md is written from it.
namespace saltus::io {

struct ModelKey {
    std::string_view name;
    std::string_view type;      ///< what stands behind it
    std::string_view meaning;   ///< in Markdown
    std::string_view standard;  ///< where it is left out; "required"
};

struct ModelBlock {
    std::string_view name;   ///< "contact"; of tables inside others "draw.circles"
    std::string_view title;  ///< "[[contact]]"
    std::vector<ModelKey> keys;
};

std::span<const ModelBlock> model_blocks();

/// Names of the keys of one block; the block must be there.
std::vector<std::string> keys_of(std::string_view block);

/// The table of one block in Markdown.
std::string reference_table(const ModelBlock& block);
/// All of them, each between the marks `<!-- keys: NAME -->` and `<!-- end -->`.
std::string model_reference();

}  // namespace saltus::io
