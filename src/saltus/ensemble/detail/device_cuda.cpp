// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/detail/device_cuda.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "saltus/base/error.hpp"
#include "saltus/ensemble/detail/shared_library.hpp"

namespace saltus::ensemble {

namespace fs = std::filesystem;

namespace {

/// The driver's functions that are used here, as its documentation declares them. Handles are opaque pointers.
struct Driver {
    int (*init)(unsigned) = nullptr;
    int (*version)(int*) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device)(int*, int) = nullptr;
    int (*device_name)(char*, int, int) = nullptr;
    int (*device_memory)(std::size_t*, int) = nullptr;
    int (*attribute)(int*, int, int) = nullptr;
    int (*retain)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*synchronize)() = nullptr;
    int (*load_module)(void**, const void*) = nullptr;
    int (*unload_module)(void*) = nullptr;
    int (*function)(void**, void*, const char*) = nullptr;
    int (*blocks_per_unit)(int*, void*, int, std::size_t) = nullptr;
    int (*allocate)(unsigned long long*, std::size_t) = nullptr;
    int (*release)(unsigned long long) = nullptr;
    int (*to_device)(unsigned long long, const void*, std::size_t) = nullptr;
    int (*to_host)(void*, unsigned long long, std::size_t) = nullptr;
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                  void**) = nullptr;
    int (*error_text)(int, const char**) = nullptr;
    bool complete = false;

    Driver() {
        const SharedLibrary library({"libcuda.so.1"});
        library.get("cuInit", init);
        library.get("cuDriverGetVersion", version);
        library.get("cuDeviceGetCount", device_count);
        library.get("cuDeviceGet", device);
        library.get("cuDeviceGetName", device_name);
        library.get("cuDeviceTotalMem_v2", device_memory);
        library.get("cuDeviceGetAttribute", attribute);
        library.get("cuDevicePrimaryCtxRetain", retain);
        library.get("cuCtxSetCurrent", set_current);
        library.get("cuCtxSynchronize", synchronize);
        library.get("cuModuleLoadData", load_module);
        library.get("cuModuleUnload", unload_module);
        library.get("cuModuleGetFunction", function);
        library.get("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks_per_unit);
        library.get("cuMemAlloc_v2", allocate);
        library.get("cuMemFree_v2", release);
        library.get("cuMemcpyHtoD_v2", to_device);
        library.get("cuMemcpyDtoH_v2", to_host);
        library.get("cuLaunchKernel", launch);
        library.get("cuGetErrorString", error_text);
        complete = init && version && device_count && device && device_name && device_memory && attribute && retain &&
                   set_current && synchronize && load_module && unload_module && function && blocks_per_unit &&
                   allocate && release && to_device && to_host && launch && error_text;
    }
};

const Driver& driver() {
    static const Driver d;
    return d;
}

/// Numbers of device attributes in the driver's interface.
constexpr int multiprocessor_count = 16, capability_major = 75, capability_minor = 76;
constexpr unsigned threads_per_block = 128;

void check_cuda(int result, const char* what) {
    if (result == 0) return;
    const char* text = nullptr;
    driver().error_text(result, &text);
    throw Error(std::string(what) + " failed: " + (text != nullptr ? text : "unknown error"), {"cuda", 0, 0},
                "use --device cpu");
}

/// The compiler of kernels at run time.
struct Compiler {
    int (*version)(int*, int*) = nullptr;
    int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy)(void**) = nullptr;
    int (*compile)(void*, int, const char* const*) = nullptr;
    int (*log_size)(void*, std::size_t*) = nullptr;
    int (*log)(void*, char*) = nullptr;
    int (*code_size)(void*, std::size_t*) = nullptr;
    int (*code)(void*, char*) = nullptr;
    bool complete = false;
    std::string name;

    Compiler() {
        const SharedLibrary library(files());
        library.get("nvrtcVersion", version);
        library.get("nvrtcCreateProgram", create);
        library.get("nvrtcDestroyProgram", destroy);
        library.get("nvrtcCompileProgram", compile);
        library.get("nvrtcGetProgramLogSize", log_size);
        library.get("nvrtcGetProgramLog", log);
        library.get("nvrtcGetCUBINSize", code_size);
        library.get("nvrtcGetCUBIN", code);
        complete = version && create && destroy && compile && log_size && log && code_size && code;
        int major = 0, minor = 0;
        if (complete && version(&major, &minor) == 0)
            name = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
    }

    /// The library's names in CUDA 13, 12 and 11: where the loader looks, then in the folders of the toolkit.
    static std::vector<std::string> files() {
        std::vector<std::string> folders{""}, list;
        for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
            if (const char* value = std::getenv(variable)) folders.push_back(std::string(value) + "/lib64/");
        folders.emplace_back("/usr/local/cuda/lib64/");
        for (const std::string& folder : folders)
            for (const char* version : {"13", "12", "11.2", "11.1", "11.0"})
                list.push_back(folder + "libnvrtc.so." + version);
        return list;
    }
};

const Compiler& compiler() {
    static const Compiler c;
    return c;
}

/// Largest number of registers of a thread. With 128 of them four blocks of threads_per_block share the 65536 registers
/// of a unit. The kernel of the rocking bar makes 1.50e10 steps a second on an H200 with 128 registers, 1.20e10 with as
/// many as the compiler likes (three blocks), 1.03e10 with 96 (values go to memory).
constexpr const char* registers = "--maxrregcount=128";
/// The highest level makes kernels that are not faster, and takes 0.6 s instead of 0.45 s for the rocking bar.
constexpr const char* optimisation = "--ptxas-options=-O2";

/// Machine code of a text; empty if the compiler refuses it, which `complaint` then explains.
std::string compiled(const std::string& text, const std::string& architecture, std::string& complaint) {
    const Compiler& c = compiler();
    void* program = nullptr;
    if (c.create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) {
        complaint = "the compiler cannot start";
        return {};
    }
    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), "--fmad=false", "--std=c++17", registers, optimisation};
    const int result = c.compile(program, static_cast<int>(std::size(options)), options);
    std::string code;
    std::size_t size = 0;
    if (result != 0) {
        if (c.log_size(program, &size) == 0 && size > 0) {
            complaint.resize(size);
            c.log(program, complaint.data());
        }
        if (complaint.empty()) complaint = "the compiler failed";
    } else if (c.code_size(program, &size) == 0) {
        code.resize(size);
        if (c.code(program, code.data()) != 0) code.clear();
    }
    c.destroy(&program);
    if (code.empty() && complaint.empty()) complaint = "the compiler gave no machine code";
    return code;
}

// --- compiled kernels on the disk

/// The folder of compiled kernels; empty if there is no place for one.
fs::path cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
        return fs::path(cache) / "saltus";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return fs::path(home) / ".cache" / "saltus";
    return {};
}

/// The name of a file contains a hash of the key; the file begins with the key itself, so that no other kernel is ever
/// taken for it.
fs::path cache_file(const std::string& key) {
    const fs::path folder = cache_folder();
    if (folder.empty()) return {};
    return folder / ("kernel-" + std::to_string(std::hash<std::string>{}(key)));
}

std::string read_cache(const std::string& key) {
    const fs::path path = cache_file(key);
    if (path.empty()) return {};
    std::ifstream in(path, std::ios::binary);
    if (!in) return {};
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    return bytes.starts_with(key) ? bytes.substr(key.size()) : std::string();
}

/// Writes a neighbour file first, so that readers never see a part. A folder that cannot be written is no error.
void write_cache(const std::string& key, const std::string& code) {
    const fs::path path = cache_file(key);
    if (path.empty()) return;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    const fs::path draft = path.string() + "." + std::to_string(::getpid());
    {
        std::ofstream out(draft, std::ios::binary);
        out << key << code;
        if (!out.flush()) error = std::make_error_code(std::errc::io_error);
    }
    if (!error) fs::rename(draft, path, error);
    if (error) fs::remove(draft, error);
}

class CudaKernel final : public DeviceKernel {
public:
    CudaKernel(const Device& device, const std::string& text, const std::string& name) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begin = Clock::now();
        const std::string key = compiler().name + " " + device.architecture + " fmad=false c++17 " + registers + " " +
                                optimisation + "\n" + std::to_string(text.size()) + "\n" + text;
        std::string code = read_cache(key);
        from_cache_ = !code.empty();
        if (code.empty()) {
            std::string complaint;
            code = compiled(text, device.architecture, complaint);
            if (code.empty())
                throw Error("the kernel cannot be compiled: " + complaint, {"cuda", 0, 0}, "use --device cpu");
            write_cache(key, code);
        }
        compile_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
        int number = 0;
        check_cuda(driver().device(&number, device.index), "cuDeviceGet");
        check_cuda(driver().retain(&context_, number), "cuDevicePrimaryCtxRetain");
        check_cuda(driver().set_current(context_), "cuCtxSetCurrent");
        check_cuda(driver().load_module(&module_, code.data()), "cuModuleLoadData");
        check_cuda(driver().function(&function_, module_, name.c_str()), "cuModuleGetFunction");
        int blocks = 0;
        check_cuda(driver().blocks_per_unit(&blocks, function_, threads_per_block, 0), "the count of threads");
        blocks_ = static_cast<unsigned>(std::max(1, blocks) * std::max(1, device.units));
        threads_ = static_cast<int>(blocks_ * threads_per_block);
    }
    ~CudaKernel() override {
        for (const Memory& m : memory_)
            if (m.bytes > 0) driver().release(m.place);
        if (module_ != nullptr) driver().unload_module(module_);
    }
    CudaKernel(const CudaKernel&) = delete;
    CudaKernel& operator=(const CudaKernel&) = delete;

    double launch(std::span<const KernelArgument> arguments) override {
        using Way = KernelArgument::Way;
        check_cuda(driver().set_current(context_), "cuCtxSetCurrent");
        memory_.resize(std::max(memory_.size(), arguments.size()));
        std::vector<void*> pointers;
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            const KernelArgument& a = arguments[k];
            Memory& m = memory_[k];
            if (m.bytes < a.bytes) {
                if (m.bytes > 0) driver().release(m.place);
                m.bytes = 0;
                check_cuda(driver().allocate(&m.place, a.bytes), "cuMemAlloc");
                m.bytes = a.bytes;
            }
            if (a.way == Way::in || a.way == Way::in_and_out)
                check_cuda(driver().to_device(m.place, a.data, a.bytes), "cuMemcpyHtoD");
            pointers.push_back(&m.place);
        }
        check_cuda(driver().synchronize(), "cuCtxSynchronize");
        const auto begin = std::chrono::steady_clock::now();
        check_cuda(
            driver().launch(function_, blocks_, 1, 1, threads_per_block, 1, 1, 0, nullptr, pointers.data(), nullptr),
            "cuLaunchKernel");
        check_cuda(driver().synchronize(), "the kernel");
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        for (std::size_t k = 0; k < arguments.size(); ++k)
            if (arguments[k].way == Way::out || arguments[k].way == Way::in_and_out)
                check_cuda(driver().to_host(arguments[k].data, memory_[k].place, arguments[k].bytes), "cuMemcpyDtoH");
        return seconds;
    }

private:
    struct Memory {
        unsigned long long place = 0;
        std::size_t bytes = 0;
    };
    void* context_ = nullptr;  // the device's own context, which lasts as long as the program
    void* module_ = nullptr;
    void* function_ = nullptr;
    unsigned blocks_ = 1;
    std::vector<Memory> memory_;
};

}  // namespace

void find_cuda_devices(DevicesFound& found) {
    const Driver& d = driver();
    if (!d.complete) {
        found.missing.emplace_back("cuda: there is no driver (libcuda.so.1)");
        return;
    }
    int version = 0, count = 0;
    if (d.init(0) != 0 || d.version(&version) != 0 || d.device_count(&count) != 0 || count == 0) {
        found.missing.emplace_back("cuda: the driver finds no GPU");
        return;
    }
    if (!compiler().complete) {
        found.missing.emplace_back(
            "cuda: there is a GPU, but not the compiler NVRTC (libnvrtc.so.13, 12 or 11); "
            "CUDA_HOME may name its toolkit");
        return;
    }
    for (int k = 0; k < count; ++k) {
        Device to;
        to.kind = Device::Kind::cuda;
        to.index = k;
        int number = 0, major = 0, minor = 0;
        char name[256] = {};
        if (d.device(&number, k) != 0 || d.device_name(name, sizeof name - 1, number) != 0) continue;
        d.device_memory(&to.memory, number);
        d.attribute(&to.units, multiprocessor_count, number);
        d.attribute(&major, capability_major, number);
        d.attribute(&minor, capability_minor, number);
        to.name = name;
        to.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
        to.platform = "driver for CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
                      ", " + compiler().name + ", " + to.architecture;
        found.devices.push_back(std::move(to));
    }
}

std::unique_ptr<DeviceKernel> compile_for_cuda(const Device& device, const std::string& text, const std::string& name) {
    return std::make_unique<CudaKernel>(device, text, name);
}

std::unique_ptr<std::string> cuda_compiler_complaint(const std::string& text, const std::string& architecture) {
    if (!compiler().complete) return nullptr;
    auto complaint = std::make_unique<std::string>();
    (void)compiled(text, architecture, *complaint);
    return complaint;
}

}  // namespace saltus::ensemble
