// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/control/regulation/regulation.hpp"
#include "saltus/io/results/certificate_file.hpp"

/// The result of `saltus certify --theorem regulation` as text and JSON.
namespace saltus::io {

/// A certificate of regulation with the names that its vectors refer to.
struct RegulationReport {
    std::string model;
    std::vector<std::string> coordinates;  ///< names of the coordinates, in the order of q
    std::vector<std::string> contacts;     ///< names of the contacts, in the order of the model
    control::RegulationCertificate certificate;
    std::optional<WrittenCertificate> written;  ///< if a certificate file was written
};

/// For a terminal: the table of `certify_text` for rigid contacts, then the verdict for contact springs.
std::string regulation_text(const RegulationReport& report);

/// The document of `certify_json` with further keys for both contact models (docs/control.md).
std::string regulation_json(const RegulationReport& report);

}  // namespace saltus::io
