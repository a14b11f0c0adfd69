// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace saltus::ensemble {

/// A processor that can run kernels, found at run time: a GPU by CUDA, or any device of OpenCL. Nothing of either is
/// needed to build Saltus; their libraries are loaded when they are there.
struct Device {
    enum class Kind { cuda, opencl };

    Kind kind = Kind::cuda;
    int index = 0;             ///< number among the devices of its kind
    std::string name;          ///< as its driver says
    std::string platform;      ///< versions of driver and compiler
    std::string architecture;  ///< what the compiler is told, for example "sm_90"; of OpenCL empty
    std::size_t memory = 0;    ///< bytes
    int units = 0;             ///< multiprocessors or compute units
};

std::string to_string(Device::Kind kind);  ///< "cuda" or "opencl", as --device takes it

struct DevicesFound {
    std::vector<Device> devices;       ///< of CUDA first
    std::vector<std::string> missing;  ///< why there are none of a kind
};
/// Looks for devices with double precision.
DevicesFound find_devices();

/// Memory that a kernel gets as one of its arguments.
struct KernelArgument {
    enum class Way { in, out, in_and_out, kept };

    void* data = nullptr;  ///< memory of the host; null for `kept`
    std::size_t bytes = 0;
    /// Copied before the launch, after it, both, or never. What is kept stays on the device from launch to launch, as
    /// long as its size is the same.
    Way way = Way::in;
};

/// A compiled kernel on its device.
class DeviceKernel {
public:
    virtual ~DeviceKernel() = default;

    /// Copies the arguments, runs the kernel on all threads of the device, and waits. Returns the seconds of the kernel
    /// itself. Throws Error if the device fails.
    virtual double launch(std::span<const KernelArgument> arguments) = 0;

    double compile_seconds() const { return compile_seconds_; }
    bool from_cache() const { return from_cache_; }  ///< the compiled kernel was found on the disk
    int threads() const { return threads_; }         ///< number of threads of a launch

protected:
    double compile_seconds_ = 0.0;
    bool from_cache_ = false;
    int threads_ = 1;
};

/// Compiles the kernel `name` of a text, without fused multiply-add. Throws Error if that is impossible.
std::unique_ptr<DeviceKernel> compile_kernel(const Device& device, const std::string& text, const std::string& name);

/// CUDA's compiler alone, for tests on machines without a GPU: whether it takes the text. Nothing if there is no
/// compiler, otherwise its complaint, which is empty if it takes the text.
std::unique_ptr<std::string> cuda_compiler_complaint(const std::string& text, const std::string& architecture);

}  // namespace saltus::ensemble
