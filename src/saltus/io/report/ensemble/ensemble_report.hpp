// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "saltus/ensemble/kernel_runs.hpp"

namespace saltus::io {

/// What a run of one part of an ensemble (--shard) has to tell: its results come when all parts are joined.
struct PartReport {
    std::string model;
    std::size_t index = 1, of = 1;  ///< part `index` of `of`
    std::size_t starts = 0;         ///< runs of the part
    std::size_t done = 0;           ///< those that are in the files
    std::size_t made = 0;           ///< those that were made now
};
std::string part_json(const PartReport& part);
std::string part_text(const PartReport& part, const std::string& folder);

/// Steps a second of a device.
double device_rate(const ensemble::DeviceUse& use);
/// A line of the terminal: what a device did. `name` is its kind and name; "cpu": no line.
std::string device_text(const std::string& name, const ensemble::DeviceUse& use);

}  // namespace saltus::io
