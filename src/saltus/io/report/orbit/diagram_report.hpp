// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/orbit/diagram.hpp"

namespace saltus::io {

/// The result of `saltus diagram`: one diagram, or two if the parameter was swept up and down.
struct DiagramReport {
    struct Part {
        std::string sweep;  ///< "restart", "up" or "down"
        orbit::Diagram diagram;
    };
    std::vector<Part> parts;  ///< at least one
    bool exponents = false;   ///< they were asked for
    std::vector<std::string> warnings;
    std::string identity;        ///< of model and options
    std::string device = "cpu";  ///< "cpu", or kind and name of the device
};

/// For a terminal.
std::string diagram_text(const DiagramReport& report);

/// One JSON document (docs/diagram.md).
std::string diagram_json(const DiagramReport& report);

/// All points of the section, one per line.
std::string diagram_points_csv(const DiagramReport& report);

/// One line for each value of the parameter: how often the motion repeats, exponents, remarks.
std::string diagram_columns_csv(const DiagramReport& report);

}  // namespace saltus::io
