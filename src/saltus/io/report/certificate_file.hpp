// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saltus/proof/claims.hpp"

namespace saltus::io {

struct LoadedModel;  // load_model.hpp

/// The certificate file of docs/certificate-format.md as one JSON document: the text of the model with its hash and
/// parameters, the statement, and the claims of each condition. Throws Error if the model file is not valid UTF-8,
/// because its text could then not be repeated exactly.
std::string certificate_json(const LoadedModel& loaded, const proof::CertifiedStatement& statement);

/// "certified: conditions 1, 2; not certified: 5 (why)", for a terminal.
std::string certificate_text(const proof::CertifiedStatement& statement);

}  // namespace saltus::io
