// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/control/regulation/regulation.hpp"

namespace saltus::io {

struct RegulationReport {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    control::RegulationCertificate certificate;
};

/// What `saltus certify --theorem regulation` prints: the table of every certificate, with both models of contact.
std::string regulation_text(const RegulationReport& report);
std::string regulation_json(const RegulationReport& report);

}  // namespace saltus::io
