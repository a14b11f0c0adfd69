// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/proof/certificate.hpp"

namespace saltus::io {

/// A certificate with the names it needs.
struct CertifyReport {
    std::string model;
    std::vector<std::string> coordinates;
    proof::Certificate certificate;
};

/// What `saltus certify` prints, for people and as one JSON document. An infinite level is "inf" there, a level that
/// does not exist null.
std::string certify_text(const CertifyReport& report);
std::string certify_json(const CertifyReport& report);

}  // namespace saltus::io
