// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "saltus/io/results/certificate_file.hpp"
#include "saltus/proof/claims.hpp"

namespace saltus::cli {

/// The options --certificate and --check.
struct CertificateOptions {
    std::string file;    ///< certificate file to write; empty: none
    bool check = false;  ///< run the independent checker on it
};

/// Whether the independent checker and the Python that it needs are there.
bool can_check();

/// Throws Error if the file of --certificate exists and is not a certificate or is a result file of the folder
/// `out` (may be empty), if --check is given without
/// --certificate, or if the checker cannot be found. To be called before the computation.
void prepare_certificate(const CertificateOptions& options, const std::string& out);

/// Writes the certificate file (docs/certificate-format.md), says on standard error what it contains, and has it
/// checked if this was asked for. A certificate with conditions that are not certified is not checked: it would be
/// refused. Throws Error if the file cannot be written.
io::WrittenCertificate write_certificate(const CertificateOptions& options, const OutputOptions& output,
                                         const io::LoadedModel& loaded, const proof::CertifiedStatement& statement);

/// The certificate says that everything is certified, but the checker was asked for and did not accept it: a failure of
/// the program.
bool rejected(const CertificateOptions& options, const std::optional<io::WrittenCertificate>& written);

}  // namespace saltus::cli
