// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/ensemble/device.hpp"

/// The result of `saltus devices` as text and JSON.
namespace saltus::io {

std::string devices_text(const ensemble::DevicesFound& found);
std::string devices_json(const ensemble::DevicesFound& found);

}  // namespace saltus::io
