// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "saltus/integrate/kernel_text.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "support.hpp"

/// Kernels for devices, compiled by the compiler of the host.
namespace saltus::integrate::test {

/// A kernel as a function of this program.
class CompiledKernel {
public:
    using Entry = void (*)(const int*, const double*, int*, const int*, const int*, const double*, double*, double*,
                           int*);

    /// Compiling takes longer than running it, so that `optimisation` is low.
    explicit CompiledKernel(const KernelText& kernel, const char* optimisation = "-O1") {
        folder_.write("kernel.cpp", kernel.text);
        const std::string library = folder_.file("kernel.so");
        const std::string command = std::string(SALTUS_CXX) + " -x c++ " + optimisation +
                                    " -w -ffp-contract=off -fno-builtin -shared -fPIC -o " + library + " " +
                                    folder_.file("kernel.cpp");
        EXPECT_EQ(std::system(command.c_str()), 0) << kernel.text;
        library_ = ::dlopen(library.c_str(), RTLD_NOW);
        if (library_ != nullptr) entry_ = reinterpret_cast<Entry>(::dlsym(library_, kernel.name.c_str()));
        EXPECT_NE(entry_, nullptr);
    }
    ~CompiledKernel() {
        if (library_ != nullptr) ::dlclose(library_);
    }
    CompiledKernel(const CompiledKernel&) = delete;
    CompiledKernel& operator=(const CompiledKernel&) = delete;
    Entry entry() const { return entry_; }

private:
    saltus::test::Folder folder_;
    void* library_ = nullptr;
    Entry entry_ = nullptr;
};

struct KernelStart {
    std::vector<double> q, u, parameters = {};
};

/// The number of an independent parameter among those of the model (Mechanics::p).
inline int parameter_number(const model::Model& model, const std::string& name) {
    for (const model::Parameter& p : model.settings->parameters)
        if (p.name == name) return p.column;
    ADD_FAILURE() << "there is no parameter " << name;
    return 0;
}

/// Random starts around the initial state, made admissible.
inline std::vector<KernelStart> kernel_starts(const model::Model& model, std::size_t count, double spread,
                                              unsigned seed = 11) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-spread, spread);
    std::vector<KernelStart> list;
    while (list.size() < count) {
        model::Model moved = model;
        for (double& x : moved.q0) x += uniform(random);
        for (double& x : moved.u0) x += 3.0 * uniform(random);
        if (model::project_initial(moved)) list.push_back({moved.q0, moved.u0, {}});
    }
    return list;
}

/// What a kernel tells about its motions.
struct KernelMotions {
    std::vector<double> result;
    std::vector<int> outcome;
    int stride = 0;
    double at(int number, std::size_t motion) const {
        return result[static_cast<std::size_t>(number * stride) + motion];
    }
    KernelOutcome how(std::size_t motion) const { return static_cast<KernelOutcome>(outcome[motion]); }
    int steps(std::size_t motion) const { return outcome[static_cast<std::size_t>(stride) + motion]; }
};

/// Makes motions by a compiled kernel, in slices of `budget` steps. Nothing if it was not compiled.
inline KernelMotions run_kernel(const KernelText& kernel, const CompiledKernel& compiled,
                                const std::vector<KernelStart>& starts, double h, double t_max, double slow,
                                int budget = 1 << 30) {
    KernelMotions m;
    if (compiled.entry() == nullptr) return m;
    const std::size_t n = static_cast<std::size_t>(kernel.coordinates), count = starts.size();
    m.stride = static_cast<int>(count);
    std::vector<double> settings{h, t_max, slow, 0.0, 0.0},
        start(static_cast<std::size_t>(kernel.start_size()) * count);
    settings.resize(settings.size() + 4 * n, 0.0);
    std::vector<double> state(static_cast<std::size_t>(kernel.state_size) * count);
    m.result.resize(static_cast<std::size_t>(kernel.result_size) * count);
    m.outcome.assign(2 * count, static_cast<int>(KernelOutcome::waiting));
    std::vector<int> list, flags(count, 0);
    for (std::size_t k = 0; k < count; ++k) {
        list.push_back(static_cast<int>(k));
        for (std::size_t i = 0; i < n; ++i) start[i * count + k] = starts[k].q[i];
        for (std::size_t i = 0; i < n; ++i) start[(n + i) * count + k] = starts[k].u[i];
        for (std::size_t i = 0; i < starts[k].parameters.size(); ++i)
            start[(2 * n + i) * count + k] = starts[k].parameters[i];
    }
    int launches = 0;
    while (!list.empty()) {
        const int sizes[4] = {static_cast<int>(list.size()), m.stride, budget, 1 << 30};
        int next = 0;
        compiled.entry()(sizes, settings.data(), &next, list.data(), flags.data(), start.data(), state.data(),
                         m.result.data(), m.outcome.data());
        list.clear();
        for (std::size_t k = 0; k < count; ++k) {
            if (m.how(k) == KernelOutcome::paused) flags[k] = 2;
            if (m.how(k) == KernelOutcome::paused || m.how(k) == KernelOutcome::waiting)
                list.push_back(static_cast<int>(k));
        }
        // Another motion than before comes first, so that nothing of a motion is left where the next launch finds it.
        if (++launches % 2 != 0) std::reverse(list.begin(), list.end());
    }
    return m;
}

inline KernelMotions run_kernel(const KernelText& kernel, const std::vector<KernelStart>& starts, double h,
                                double t_max, double slow, int budget = 1 << 30) {
    return run_kernel(kernel, CompiledKernel(kernel), starts, h, t_max, slow, budget);
}

}  // namespace saltus::integrate::test
