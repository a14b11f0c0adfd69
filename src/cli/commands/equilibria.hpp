// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/certificate_option.hpp"

namespace saltus::cli {

/// `saltus equilibria`: all equilibrium sets, or whether one position is an equilibrium.
struct EquilibriaCommand {
    Common common;
    std::vector<std::string> at;      ///< the position to examine; empty: search for all sets
    std::vector<std::string> region;  ///< positions in which the list is to be complete, x=-1:1; empty: all
    std::optional<double> time;       ///< freeze a model that depends on time at this time
    CertificateOptions certificate;   ///< of the completeness of the search
};

/// Runs the command and returns the exit code: 0 whether or not there are equilibria.
int equilibria(const EquilibriaCommand& command);

}  // namespace saltus::cli
