// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/kernel_runs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::ensemble {

namespace {

constexpr double launch_seconds = 0.25;  ///< aimed duration of a launch, in s: an interrupt waits for its end
constexpr double largest_budget = 1e6;   ///< steps of a thread in one launch at most
constexpr std::size_t largest_batch = std::size_t{1} << 20;  ///< motions of a batch at most
constexpr double share_of_memory = 0.5;                      ///< of the device, for the arrays of a batch

using integrate::KernelOutcome;

// Flags of integrate::KernelText.
constexpr int may_be_captured = 1, from_state = 2, from_result = 4;
constexpr int waiting = static_cast<int>(KernelOutcome::waiting);

std::size_t length(int numbers, std::size_t motions) { return static_cast<std::size_t>(numbers) * motions; }

}  // namespace

std::vector<int> varied_parameters(const model::Model& model, const std::vector<std::string>& names) {
    std::vector<int> numbers;
    for (const std::string& name : names)
        for (const model::Parameter& p : model.settings->parameters)
            if (p.name == name) numbers.push_back(p.structural ? -1 : p.column);
    return numbers;
}

std::string varied_parameters_refusal(const std::vector<int>& varied) {
    if (std::find(varied.begin(), varied.end(), -1) == varied.end()) return {};
    return "kernels cannot vary parameters that are computed from others or shape the geometry";
}

bool same_kernel(const model::Mechanics& a, const model::Mechanics& b, const std::vector<int>& varied) {
    if (a.p.size() != b.p.size() || a.autonomous != b.autonomous || a.scleronomic != b.scleronomic) return false;
    for (std::size_t i = 0; i < a.p.size(); ++i)
        if (a.p[i] != b.p[i] && std::find(varied.begin(), varied.end(), static_cast<int>(i)) == varied.end())
            return false;
    return true;
}

KernelRuns::Batch::Batch(std::size_t motions, const integrate::KernelText& kernel)
    : count(motions),
      start(length(kernel.start_size(), motions)),
      result(length(kernel.result_size, motions)),
      flags(motions, 0),
      outcome(2 * motions, waiting),
      list(motions),
      end_place(kernel.end_at()) {
    std::iota(list.begin(), list.end(), 0);
}

void KernelRuns::Batch::reset() {
    std::fill(flags.begin(), flags.end(), 0);
    std::fill(outcome.begin(), outcome.end(), waiting);
    list.resize(count);
    std::iota(list.begin(), list.end(), 0);
    started = changed = false;
}

void KernelRuns::Batch::go_on(int k) {
    const auto motion = static_cast<std::size_t>(k);
    flags[motion] = (flags[motion] & may_be_captured) | from_state;
    outcome[motion] = waiting;
}

void KernelRuns::Batch::go_on_until(int k, double t) {
    end_at(k, t);
    go_on(k);
    started = false;  // the starts have changed
}

void KernelRuns::Batch::go_on_from_result(int k) {
    const auto motion = static_cast<std::size_t>(k);
    flags[motion] = (flags[motion] & may_be_captured) | from_result;
    outcome[motion] = waiting;
    changed = true;
}

KernelRuns::KernelRuns(const Device& device, integrate::KernelText kernel, KernelPace pace,
                       std::vector<double> settings)
    : text_(std::move(kernel)), pace_(pace), settings_(std::move(settings)), budget_(pace.first_budget) {
    kernel_ = compile_kernel(device, text_.text, text_.name);
    use_.compile_seconds = kernel_->compile_seconds();
    use_.from_cache = kernel_->from_cache();
    use_.threads = kernel_->threads();
    const double bytes = 8.0 * static_cast<double>(text_.state_size + text_.result_size + text_.start_size() + 2);
    const double fits = share_of_memory * static_cast<double>(device.memory) / bytes;
    batch_ = std::max<std::size_t>(1, std::min(largest_batch, static_cast<std::size_t>(std::max(1.0, fits))));
}

void KernelRuns::launch(Batch& b) {
    using Way = KernelArgument::Way;
    int sizes[4] = {static_cast<int>(b.list.size()), static_cast<int>(b.count), budget_, pace_.max_steps};
    int next = 0;
    const auto bytes = [](const auto& v) { return v.size() * sizeof(v[0]); };
    const KernelArgument arguments[] = {
        {sizes, sizeof sizes, Way::in},
        {settings_.data(), bytes(settings_), Way::in},
        {&next, sizeof next, Way::in},
        {b.list.data(), bytes(b.list), Way::in},
        {b.flags.data(), bytes(b.flags), Way::in},
        {b.start.data(), bytes(b.start), b.started ? Way::kept : Way::in},
        {nullptr, length(text_.state_size, b.count) * sizeof(double), Way::kept},
        {b.result.data(), bytes(b.result), b.changed ? Way::in_and_out : Way::out},
        {b.outcome.data(), bytes(b.outcome), Way::in_and_out},
    };
    const double seconds = kernel_->launch(arguments);
    b.started = true;
    b.changed = false;
    use_.kernel_seconds += seconds;
    const double wanted = budget_ * launch_seconds / std::max(seconds, 1e-3 * launch_seconds);
    budget_ = static_cast<int>(std::clamp(wanted, static_cast<double>(pace_.least_budget), largest_budget));
}

void KernelRuns::run(Batch& b, const std::function<void(Batch&, const std::vector<int>&)>& ended,
                     const std::function<bool()>& interrupted) {
    while (!b.list.empty()) {
        if (interrupted && interrupted()) return;
        launch(b);
        std::vector<int> finished, next;
        for (const int k : b.list) {
            if (b.how(k) == KernelOutcome::paused) b.go_on(k);
            if (b.how(k) != KernelOutcome::waiting) finished.push_back(k);
        }
        ended(b, finished);
        for (const int k : b.list)
            if (b.how(k) == KernelOutcome::waiting) next.push_back(k);
        b.list = std::move(next);
    }
}

}  // namespace saltus::ensemble
