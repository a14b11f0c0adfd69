// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::io {

/// The JSON Schema (draft 2020-12) of a model file, for editors that complete and check TOML by such a schema. It is
/// made from the table of keys (model_keys.hpp). It knows keys and types of values; what the values mean, and whether
/// they fit each other, only `saltus check` knows.
std::string model_schema();

}  // namespace saltus::io
