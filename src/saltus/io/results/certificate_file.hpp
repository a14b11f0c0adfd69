// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saltus/proof/claims.hpp"

namespace saltus::io {

struct LoadedModel;  // load_model.hpp

/// The first bytes of every certificate file.
inline constexpr std::string_view certificate_beginning = "{\"format\":\"saltus certificate\"";

/// The certificate file of docs/certificate-format.md as one JSON document: the text of the model with its hash and
/// parameters, the statement, and the claims of each condition. Throws Error if the model file is not valid UTF-8,
/// because its text could then not be repeated exactly.
std::string certificate_json(const LoadedModel& loaded, const proof::CertifiedStatement& statement);

/// What a certificate file contains, for a terminal: "conditions 1 and 2 are certified; not certified: why".
std::string certificate_text(const proof::CertifiedStatement& statement);

/// What became of a certificate file, for the report of the command that wrote it.
struct WrittenCertificate {
    std::string file;                     ///< path as given
    bool certified = false;               ///< all conditions are certified or assumed
    std::string checked = "not checked";  ///< by the independent checker: "accepted", "refused" or "not checked"
    std::string answer;                   ///< first line of the checker; empty: it did not run
};

/// "FILE: all conditions are certified, accepted by the independent checker".
std::string written_text(const WrittenCertificate& written);

}  // namespace saltus::io
