// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// JSON documents of runs that were ended by an interrupt or a time limit.
namespace saltus::io {

/// The document of a run that has no result yet: the name of the model only.
std::string empty_document(const std::string& model);

/// The same document with the members "status": "interrupted" and "reason" at its end. Members of these names that
/// the document has already are replaced. `document` must be a JSON object.
std::string interrupted_document(const std::string& document, const std::string& reason);

}  // namespace saltus::io
