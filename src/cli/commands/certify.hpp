// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/certificate_option.hpp"

namespace saltus::cli {

/// `saltus certify`: the conditions of a theorem, one by one.
struct CertifyCommand {
    Common common;
    std::string theorem;          ///< empty: the theorem that fits the model
    std::vector<std::string> at;  ///< position near the equilibrium; empty: the initial position
    std::string V;                ///< Lyapunov function of the user; empty: the energy
    bool V_given = false;         ///< --V was given, possibly empty
    long budget = 20'000;         ///< boxes that each search of a proof may examine
    CertificateOptions certificate;
};

/// Runs the command and returns the exit code: 0 whatever the verdict is, 130 after an interrupt, 3 if the
/// independent checker does not accept the certificate. The rows that were
/// decided before the limit or the interrupt are written; the others are not examined.
int certify(const CertifyCommand& command);

}  // namespace saltus::cli
