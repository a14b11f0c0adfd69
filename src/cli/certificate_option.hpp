// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/command.hpp"
#include "saltus/proof/claims.hpp"

namespace saltus::cli {

/// Writes the file of --certificate (docs/certificate-format.md) and says on standard error what it contains.
void write_certificate_file(const std::string& path, const OutputOptions& options, const io::LoadedModel& loaded,
                            const proof::CertifiedStatement& statement);

}  // namespace saltus::cli
