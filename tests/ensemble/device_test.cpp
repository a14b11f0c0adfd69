// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/device.hpp"

#include <gtest/gtest.h>

#include "saltus/base/error.hpp"

namespace saltus::ensemble::device_test {
namespace {

/// Adds the numbers of `in` to `kept`, and writes the sums to `out`. Threads share the work by a counter.
constexpr const char* text = R"(
#if defined(__OPENCL_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void sums(__global const int* count, __global int* next, __global const double* in, __global double* kept,
                   __global double* out) {
    for (int k = atomic_inc(next); k < *count; k = atomic_inc(next)) {
#else
extern "C" __global__ void sums(const int* count, int* next, const double* in, double* kept, double* out) {
    for (int k = atomicAdd(next, 1); k < *count; k = atomicAdd(next, 1)) {
#endif
        kept[k] = (in[k] < 0.0 ? 0.0 : kept[k]) + in[k];
        out[k] = kept[k];
    }
}
)";

TEST(DeviceKernel, CopiesItsArgumentsAndKeepsMemoryBetweenLaunches) {
    using Way = KernelArgument::Way;
    const DevicesFound found = find_devices();
    if (found.devices.empty()) GTEST_SKIP() << found.missing.at(0);
    for (const Device& device : found.devices) {
        const auto kernel = compile_kernel(device, text, "sums");
        EXPECT_GE(kernel->threads(), 1);
        int count = 1000;
        std::vector<double> in(1000), out(1000);
        for (const double factor : {-1.0, 2.0, 5.0}) {  // the first launch sets what is kept
            for (int k = 0; k < count; ++k) in[static_cast<std::size_t>(k)] = factor * (k + 1);
            int next = 0;
            const std::size_t bytes = in.size() * sizeof(double);
            const KernelArgument arguments[] = {{&count, sizeof count, Way::in},
                                                {&next, sizeof next, Way::in_and_out},
                                                {in.data(), bytes, Way::in},
                                                {nullptr, bytes, Way::kept},
                                                {out.data(), bytes, Way::out}};
            EXPECT_GE(kernel->launch(arguments), 0.0);
            EXPECT_GE(next, count);  // threads counted in the memory of the host
        }
        for (std::size_t k = 0; k < out.size(); ++k) EXPECT_EQ(out[k], 6.0 * static_cast<double>(k + 1)) << device.name;
        try {
            (void)compile_kernel(device, "this is no kernel", "sums");
            ADD_FAILURE() << device.name << " compiles anything";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("cannot be compiled"), std::string::npos) << e.what();
        }
    }
}

}  // namespace
}  // namespace saltus::ensemble::device_test
