// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/device.hpp"

#include "saltus/ensemble/detail/device_cuda.hpp"
#include "saltus/ensemble/detail/device_opencl.hpp"

namespace saltus::ensemble {

std::string to_string(Device::Kind kind) { return kind == Device::Kind::cuda ? "cuda" : "opencl"; }

DevicesFound find_devices() {
    DevicesFound found;
    find_cuda_devices(found);
    find_opencl_devices(found);
    return found;
}

std::unique_ptr<DeviceKernel> compile_kernel(const Device& device, const std::string& text, const std::string& name) {
    return device.kind == Device::Kind::cuda ? compile_for_cuda(device, text, name)
                                             : compile_for_opencl(device, text, name);
}

}  // namespace saltus::ensemble
