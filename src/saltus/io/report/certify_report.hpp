// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/results/certificate_file.hpp"
#include "saltus/proof/certificate.hpp"

/// The result of `saltus certify` as text and JSON. Certificates of regulation have regulation_report.hpp.
namespace saltus::io {

/// A certificate with the names that its vectors refer to.
struct CertifyReport {
    std::string model;
    std::vector<std::string> coordinates;  ///< names of the coordinates, in the order of q
    proof::Certificate certificate;
    std::optional<WrittenCertificate> written = {};  ///< the certificate file, if one was written
};

/// For a terminal: the conditions with verdict, evidence and witness, the level ρ*, and the verdict.
std::string certify_text(const CertifyReport& report);

/// One JSON document (docs/certify.md). An infinite number is "inf" or "-inf". A number that does not exist is null.
std::string certify_json(const CertifyReport& report);

}  // namespace saltus::io
