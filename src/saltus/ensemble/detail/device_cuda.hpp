// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/ensemble/device.hpp"

namespace saltus::ensemble {

/// Adds the devices of this kind, or the reason why there are none.
void find_cuda_devices(DevicesFound& found);
std::unique_ptr<DeviceKernel> compile_for_cuda(const Device& device, const std::string& text, const std::string& name);

}  // namespace saltus::ensemble
