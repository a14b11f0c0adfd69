// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/detail/device_opencl.hpp"

#include <chrono>
#include <cstdint>

#include "saltus/base/error.hpp"
#include "saltus/ensemble/detail/shared_library.hpp"

namespace saltus::ensemble {

namespace {

/// The functions of OpenCL that are used here, as its specification declares them. Handles are opaque pointers.
struct OpenCL {
    using Platform = void*;
    using DeviceId = void*;
    int (*platforms)(unsigned, Platform*, unsigned*) = nullptr;
    int (*platform_info)(Platform, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    int (*devices)(Platform, std::uint64_t, unsigned, DeviceId*, unsigned*) = nullptr;
    int (*device_info)(DeviceId, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    void* (*context)(const std::intptr_t*, unsigned, const DeviceId*, void*, void*, int*) = nullptr;
    void* (*queue)(void*, DeviceId, std::uint64_t, int*) = nullptr;
    void* (*program)(void*, unsigned, const char**, const std::size_t*, int*) = nullptr;
    int (*build)(void*, unsigned, const DeviceId*, const char*, void*, void*) = nullptr;
    int (*build_info)(void*, DeviceId, unsigned, std::size_t, void*, std::size_t*) = nullptr;
    void* (*kernel)(void*, const char*, int*) = nullptr;
    void* (*buffer)(void*, std::uint64_t, std::size_t, void*, int*) = nullptr;
    int (*argument)(void*, unsigned, std::size_t, const void*) = nullptr;
    int (*launch)(void*, void*, unsigned, const std::size_t*, const std::size_t*, const std::size_t*, unsigned, void*,
                  void*) = nullptr;
    int (*read)(void*, void*, unsigned, std::size_t, std::size_t, void*, unsigned, void*, void*) = nullptr;
    int (*write)(void*, void*, unsigned, std::size_t, std::size_t, const void*, unsigned, void*, void*) = nullptr;
    int (*finish)(void*) = nullptr;
    int (*release_buffer)(void*) = nullptr;
    int (*release_kernel)(void*) = nullptr;
    int (*release_program)(void*) = nullptr;
    int (*release_queue)(void*) = nullptr;
    int (*release_context)(void*) = nullptr;
    bool complete = false;

    OpenCL() {
        const SharedLibrary library({"libOpenCL.so.1"});
        library.get("clGetPlatformIDs", platforms);
        library.get("clGetPlatformInfo", platform_info);
        library.get("clGetDeviceIDs", devices);
        library.get("clGetDeviceInfo", device_info);
        library.get("clCreateContext", context);
        library.get("clCreateCommandQueue", queue);
        library.get("clCreateProgramWithSource", program);
        library.get("clBuildProgram", build);
        library.get("clGetProgramBuildInfo", build_info);
        library.get("clCreateKernel", kernel);
        library.get("clCreateBuffer", buffer);
        library.get("clSetKernelArg", argument);
        library.get("clEnqueueNDRangeKernel", launch);
        library.get("clEnqueueReadBuffer", read);
        library.get("clEnqueueWriteBuffer", write);
        library.get("clFinish", finish);
        library.get("clReleaseMemObject", release_buffer);
        library.get("clReleaseKernel", release_kernel);
        library.get("clReleaseProgram", release_program);
        library.get("clReleaseCommandQueue", release_queue);
        library.get("clReleaseContext", release_context);
        complete = platforms && platform_info && devices && device_info && context && queue && program && build &&
                   build_info && kernel && buffer && argument && launch && read && write && finish && release_buffer &&
                   release_kernel && release_program && release_queue && release_context;
    }
};

const OpenCL& cl() {
    static const OpenCL o;
    return o;
}

// Numbers of OpenCL's interface.
constexpr unsigned platform_version = 0x0901, device_type = 0x1000, compute_units = 0x1002, global_memory = 0x101F,
                   device_name = 0x102B, double_config = 0x1032, build_log = 0x1183, wait_until_done = 1;
constexpr std::uint64_t all_devices = 0xFFFFFFFF, type_gpu = 4, read_and_write = 1;
/// Threads of a compute unit, and of a group: many on a GPU, which hides waiting by them; few on a CPU, whose units run
/// one after the other.
constexpr std::size_t gpu_threads = 1024, gpu_group = 64, cpu_threads = 4, cpu_group = 1;

template <class T>
T info(OpenCL::DeviceId device, unsigned what) {
    T value{};
    return cl().device_info(device, what, sizeof value, &value, nullptr) == 0 ? value : T{};
}

/// A text that the function `ask(bytes, place, size)` gives.
template <class Ask>
std::string text_of(Ask ask) {
    std::size_t size = 0;
    if (ask(std::size_t{0}, nullptr, &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    if (ask(size, text.data(), nullptr) != 0) return {};
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ' || text.back() == '\n')) text.pop_back();
    return text;
}

/// All devices with double precision, and their platforms.
std::vector<std::pair<OpenCL::Platform, OpenCL::DeviceId>> handles() {
    std::vector<std::pair<OpenCL::Platform, OpenCL::DeviceId>> list;
    unsigned count = 0;
    if (!cl().complete || cl().platforms(0, nullptr, &count) != 0 || count == 0) return list;
    std::vector<OpenCL::Platform> platforms(count);
    if (cl().platforms(count, platforms.data(), nullptr) != 0) return list;
    for (const OpenCL::Platform p : platforms) {
        if (cl().devices(p, all_devices, 0, nullptr, &count) != 0 || count == 0) continue;
        std::vector<OpenCL::DeviceId> devices(count);
        if (cl().devices(p, all_devices, count, devices.data(), nullptr) != 0) continue;
        for (const OpenCL::DeviceId d : devices)
            if (info<std::uint64_t>(d, double_config) != 0) list.emplace_back(p, d);
    }
    return list;
}

void check_opencl(int result, const char* what) {
    if (result != 0)
        throw Error(std::string(what) + " failed with the number " + std::to_string(result), {"opencl", 0, 0},
                    "use --device cpu");
}

class OpenCLKernel final : public DeviceKernel {
public:
    OpenCLKernel(const Device& device, const std::string& text, const std::string& name) {
        const auto begin = std::chrono::steady_clock::now();
        const auto list = handles();
        if (static_cast<std::size_t>(device.index) >= list.size())
            throw Error("the device is not there any more", {"opencl", 0, 0}, "use --device cpu");
        const OpenCL::DeviceId id = list[static_cast<std::size_t>(device.index)].second;
        int result = 0;
        context_ = cl().context(nullptr, 1, &id, nullptr, nullptr, &result);
        check_opencl(result, "clCreateContext");
        queue_ = cl().queue(context_, id, 0, &result);
        check_opencl(result, "clCreateCommandQueue");
        const char* source = text.c_str();
        program_ = cl().program(context_, 1, &source, nullptr, &result);
        check_opencl(result, "clCreateProgramWithSource");
        if (cl().build(program_, 1, &id, "-cl-std=CL1.2 -w", nullptr, nullptr) != 0) {
            const std::string log = text_of([&](std::size_t bytes, void* place, std::size_t* size) {
                return cl().build_info(program_, id, build_log, bytes, place, size);
            });
            throw Error("the kernel cannot be compiled: " + log, {"opencl", 0, 0}, "use --device cpu");
        }
        kernel_ = cl().kernel(program_, name.c_str(), &result);
        check_opencl(result, "clCreateKernel");
        const bool gpu = (info<std::uint64_t>(id, device_type) & type_gpu) != 0;
        group_ = gpu ? gpu_group : cpu_group;
        threads_ = static_cast<int>((gpu ? gpu_threads : cpu_threads) *
                                    static_cast<std::size_t>(device.units > 0 ? device.units : 1));
        compile_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    ~OpenCLKernel() override {
        for (const Memory& m : memory_)
            if (m.place != nullptr) cl().release_buffer(m.place);
        if (kernel_ != nullptr) cl().release_kernel(kernel_);
        if (program_ != nullptr) cl().release_program(program_);
        if (queue_ != nullptr) cl().release_queue(queue_);
        if (context_ != nullptr) cl().release_context(context_);
    }
    OpenCLKernel(const OpenCLKernel&) = delete;
    OpenCLKernel& operator=(const OpenCLKernel&) = delete;

    double launch(std::span<const KernelArgument> arguments) override {
        using Way = KernelArgument::Way;
        memory_.resize(std::max(memory_.size(), arguments.size()));
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            const KernelArgument& a = arguments[k];
            Memory& m = memory_[k];
            if (m.bytes < a.bytes) {
                if (m.place != nullptr) cl().release_buffer(m.place);
                int result = 0;
                m.place = cl().buffer(context_, read_and_write, a.bytes, nullptr, &result);
                check_opencl(result, "clCreateBuffer");
                m.bytes = a.bytes;
            }
            if (a.way == Way::in || a.way == Way::in_and_out)
                check_opencl(cl().write(queue_, m.place, wait_until_done, 0, a.bytes, a.data, 0, nullptr, nullptr),
                             "clEnqueueWriteBuffer");
            check_opencl(cl().argument(kernel_, static_cast<unsigned>(k), sizeof m.place, &m.place), "clSetKernelArg");
        }
        const auto begin = std::chrono::steady_clock::now();
        const auto threads = static_cast<std::size_t>(threads_);
        check_opencl(cl().launch(queue_, kernel_, 1, nullptr, &threads, &group_, 0, nullptr, nullptr),
                     "clEnqueueNDRangeKernel");
        check_opencl(cl().finish(queue_), "the kernel");
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        for (std::size_t k = 0; k < arguments.size(); ++k)
            if (arguments[k].way == Way::out || arguments[k].way == Way::in_and_out)
                check_opencl(cl().read(queue_, memory_[k].place, wait_until_done, 0, arguments[k].bytes,
                                       arguments[k].data, 0, nullptr, nullptr),
                             "clEnqueueReadBuffer");
        return seconds;
    }

private:
    struct Memory {
        void* place = nullptr;
        std::size_t bytes = 0;
    };
    void *context_ = nullptr, *queue_ = nullptr, *program_ = nullptr, *kernel_ = nullptr;
    std::size_t group_ = 1;
    std::vector<Memory> memory_;
};

}  // namespace

void find_opencl_devices(DevicesFound& found) {
    if (!cl().complete) {
        found.missing.emplace_back("opencl: there is no loader of OpenCL (libOpenCL.so.1)");
        return;
    }
    const auto list = handles();
    if (list.empty()) found.missing.emplace_back("opencl: no platform has a device with double precision");
    for (std::size_t k = 0; k < list.size(); ++k) {
        const OpenCL::DeviceId id = list[k].second;
        Device to;
        to.kind = Device::Kind::opencl;
        to.index = static_cast<int>(k);
        to.name = text_of([&](std::size_t bytes, void* place, std::size_t* size) {
            return cl().device_info(id, device_name, bytes, place, size);
        });
        to.platform = text_of([&](std::size_t bytes, void* place, std::size_t* size) {
            return cl().platform_info(list[k].first, platform_version, bytes, place, size);
        });
        to.memory = info<std::uint64_t>(id, global_memory);
        to.units = static_cast<int>(info<unsigned>(id, compute_units));
        found.devices.push_back(std::move(to));
    }
}

std::unique_ptr<DeviceKernel> compile_for_opencl(const Device& device, const std::string& text,
                                                 const std::string& name) {
    return std::make_unique<OpenCLKernel>(device, text, name);
}

}  // namespace saltus::ensemble
