// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_device.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

namespace {

using ensemble::KernelArgument;
using integrate::moreau::KernelOutcome;

/// A launch lasts about so long: short enough to be interrupted, long enough that launching costs nothing. In s.
constexpr double launch_seconds = 0.25;
constexpr int first_budget = 2000, least_budget = 100, largest_budget = 1'000'000;
/// A call of `run` takes so many motions: enough for all threads of a large GPU several times over.
constexpr std::size_t largest_batch = std::size_t{1} << 20;
constexpr double share_of_memory = 0.5;  ///< of the device, for the arrays of a batch
/// Candidates of one launch are tested together. A motion that is refused so often is made by the lanes: it stays next
/// to the level set for a long time, and each test ends its thread's work on it.
constexpr int max_refusals = 3;
constexpr std::size_t tests_per_call = 256;  ///< capture tests of one call of a thread

}  // namespace

/// The arrays of the kernel for some tasks.
struct DeviceMotions::Batch {
    std::vector<double> start, result;
    std::vector<int> flags, outcome, list;
    std::size_t count = 0;
    bool started = false;  ///< the starts are on the device

    KernelOutcome how(int k) const { return static_cast<KernelOutcome>(outcome[ix(k)]); }
    std::int64_t steps(int k) const { return outcome[count + ix(k)]; }
    double number(std::size_t i, int k) const { return result[i * count + ix(k)]; }
};

DeviceMotions::DeviceMotions(const model::Model& model, const integrate::Moreau& method, const Decision& decision,
                             const ensemble::Device& device, int threads)
    : model_(model), decision_(decision), n_(model.coordinates.size()), threads_(threads), budget_(first_budget) {
    integrate::moreau::KernelRules rules;
    rules.slow_steps = Decision::slow_steps;
    rules.steps_between_captures = Decision::steps_between_captures;
    rules.last_step_stretch = Decision::last_step_stretch;
    text_ = integrate::moreau::emit_motion_kernel(model, method, rules);
    kernel_ = ensemble::compile_kernel(device, text_.text, integrate::moreau::MotionKernel::name);
    use_.compile_seconds = kernel_->compile_seconds();
    use_.from_cache = kernel_->from_cache();
    use_.threads = kernel_->threads();

    const CaptureSet* level = decision.level;
    settings_ = {method.h, decision.t_max, decision.slow, level != nullptr ? level->rho : -INFINITY,
                 level != nullptr ? level->reference : 0.0};
    for (std::size_t i = 0; i < n_; ++i) {
        const bool bounded = level != nullptr && !level->box.empty();
        settings_.push_back(decision.periods[i]);
        settings_.push_back(level != nullptr ? level->q[i] : 0.0);
        settings_.push_back(bounded ? level->box[i].first : -INFINITY);
        settings_.push_back(bounded ? level->box[i].second : INFINITY);
    }
    const double bytes = 8.0 * static_cast<double>(text_.state_size + text_.result_size() + 2 * text_.coordinates + 2);
    const double fits = share_of_memory * static_cast<double>(device.memory) / bytes;
    batch_ = std::max<std::size_t>(1, std::min(largest_batch, static_cast<std::size_t>(std::max(1.0, fits))));
}

void DeviceMotions::launch(Batch& b) {
    using Way = KernelArgument::Way;
    int sizes[3] = {static_cast<int>(b.list.size()), static_cast<int>(b.count), budget_};
    int next = 0;
    const auto bytes = [](const auto& v) { return v.size() * sizeof(v[0]); };
    const KernelArgument arguments[] = {
        {sizes, sizeof sizes, Way::in},
        {settings_.data(), bytes(settings_), Way::in},
        {&next, sizeof next, Way::in},
        {b.list.data(), bytes(b.list), Way::in},
        {b.flags.data(), bytes(b.flags), Way::in},
        {b.start.data(), bytes(b.start), b.started ? Way::kept : Way::in},
        {nullptr, ix(text_.state_size) * b.count * sizeof(double), Way::kept},
        {b.result.data(), bytes(b.result), Way::out},
        {b.outcome.data(), bytes(b.outcome), Way::in_and_out},
    };
    const double seconds = kernel_->launch(arguments);
    b.started = true;
    use_.kernel_seconds += seconds;
    const double wanted = budget_ * launch_seconds / std::max(seconds, 1e-3 * launch_seconds);
    budget_ =
        static_cast<int>(std::clamp(wanted, static_cast<double>(least_budget), static_cast<double>(largest_budget)));
}

void DeviceMotions::test_candidates(Batch& b, const std::vector<int>& candidates, std::vector<char>& captured) {
    captured.assign(candidates.size(), 0);
    ensemble::Options many;
    many.threads = threads_;
    ensemble::parallel_for(
        (candidates.size() + tests_per_call - 1) / tests_per_call,
        [&](std::size_t call) {
            CaptureTest test(model_, decision_);
            std::vector<double> q(n_), u(n_);
            const std::size_t last = std::min(candidates.size(), (call + 1) * tests_per_call);
            for (std::size_t c = call * tests_per_call; c < last; ++c) {
                for (std::size_t i = 0; i < n_; ++i) {
                    q[i] = b.number(i, candidates[c]);
                    u[i] = b.number(n_ + i, candidates[c]);
                }
                captured[c] =
                    test(b.number(2 * n_ + 1, candidates[c]), b.number(2 * n_ + 2, candidates[c]), q, u) ? 1 : 0;
            }
        },
        many);
}

std::vector<Task> DeviceMotions::run(std::vector<Task> tasks,
                                     const std::function<void(const Task&, const Ending&)>& finish) {
    Batch b;
    b.count = tasks.size();
    b.start.resize(2 * n_ * b.count);
    b.result.resize(ix(text_.result_size()) * b.count);
    b.flags.resize(b.count);
    b.outcome.assign(2 * b.count, static_cast<int>(KernelOutcome::waiting));
    std::vector<signed char> refusals(b.count, 0);
    for (std::size_t k = 0; k < b.count; ++k) {
        for (std::size_t i = 0; i < n_; ++i) {
            b.start[i * b.count + k] = tasks[k].start.q[i];
            b.start[(n_ + i) * b.count + k] = tasks[k].start.u[i];
        }
        b.flags[k] = tasks[k].stop_when_captured ? 1 : 0;
        b.list.push_back(static_cast<int>(k));
    }
    std::vector<Task> left;
    const auto end = [&](int k, Fate fate) {
        Ending ending;
        ending.fate = fate;
        ending.t = b.number(2 * n_, k);
        ending.steps = b.steps(k);
        for (std::size_t i = 0; i < n_; ++i) ending.q.push_back(b.number(i, k));
        use_.steps += ending.steps;
        finish(tasks[ix(k)], ending);
    };
    while (!b.list.empty()) {
        if (decision_.interrupted && decision_.interrupted()) break;
        launch(b);
        std::vector<int> next, candidates;
        const auto go_on = [&](int k) {
            next.push_back(k);
            b.outcome[ix(k)] = static_cast<int>(KernelOutcome::waiting);
        };
        for (const int k : b.list) switch (b.how(k)) {
                case KernelOutcome::undecided: end(k, Fate::undecided); break;
                case KernelOutcome::rests: end(k, Fate::rest); break;
                case KernelOutcome::candidate: candidates.push_back(k); break;
                case KernelOutcome::given_up:
                    use_.steps += b.steps(k);
                    left.push_back(std::move(tasks[ix(k)]));
                    break;
                case KernelOutcome::paused:
                    b.flags[ix(k)] |= 2;
                    go_on(k);
                    break;
                case KernelOutcome::waiting: go_on(k); break;
            }
        std::vector<char> captured;
        test_candidates(b, candidates, captured);
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            const int k = candidates[c];
            if (captured[c] != 0) {
                end(k, Fate::captured);
            } else if (b.number(2 * n_, k) >= decision_.t_max) {
                end(k, Fate::undecided);
            } else if (++refusals[ix(k)] > max_refusals) {
                use_.steps += b.steps(k);
                left.push_back(std::move(tasks[ix(k)]));
            } else {
                b.flags[ix(k)] |= 2;
                go_on(k);
            }
        }
        b.list = std::move(next);
    }
    use_.given_up += left.size();
    return left;
}

}  // namespace saltus::stability
