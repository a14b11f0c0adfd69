// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The declaration of every key of a model file, in one table (`make_blocks` in model_keys.cpp).
///
/// The reader (read_model.cpp) refuses keys that are not in this table. The reference tables of docs/model-file.md are
/// written from it by tools/update-reference. A new key needs a row here, a line in read_model.cpp that reads it, and a
/// member of `model::Description` that takes it.
namespace saltus::io {

/// One key of a block.
struct ModelKey {
    std::string_view name;
    std::string_view type;           ///< what the value is, in words: "expression", "list of names", "`[x, y, z]`"
    std::string_view meaning;        ///< one phrase in Markdown
    std::string_view default_value;  ///< the value if the key is absent; "required"; empty if nothing replaces it
};

/// One table of a model file with its keys.
struct ModelBlock {
    std::string_view name;   ///< "contact"; for a table inside another table "draw.circles"
    std::string_view title;  ///< heading in a model file: "[[contact]]"
    std::vector<ModelKey> keys;
};

/// All blocks. The first one, "file", has the blocks of the top level as its keys.
std::span<const ModelBlock> model_blocks();

/// The names of the keys of one block. The block must exist.
std::vector<std::string> keys_of(std::string_view block);

/// The keys of one block as a table in Markdown.
std::string reference_table(const ModelBlock& block);

/// The tables of all blocks, each between the lines `<!-- keys: NAME -->` and `<!-- end -->`. `saltus completion
/// model-file` prints this text.
std::string model_reference();

}  // namespace saltus::io
