// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_device.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/mechanics.hpp"

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
constexpr std::size_t steps_per_call = 64;   ///< steps of motions that are stuck, of one call of a thread
constexpr std::size_t tests_per_call = 256;  ///< capture tests of one call of a thread

}  // namespace

/// The arrays of the kernel for some tasks.
struct DeviceMotions::Batch {
    std::vector<double> start, result;
    std::vector<int> flags, outcome, list;
    std::size_t count = 0;
    bool started = false;  ///< the starts are on the device
    bool changed = false;  ///< there are states of motions that were stuck

    KernelOutcome how(int k) const { return static_cast<KernelOutcome>(outcome[ix(k)]); }
    std::int64_t steps(int k) const { return outcome[count + ix(k)]; }
    double number(std::size_t i, int k) const { return result[i * count + ix(k)]; }
    double& at(int i, int k) { return result[ix(i) * count + ix(k)]; }
};

DeviceMotions::DeviceMotions(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                             const ensemble::Device& device, int threads)
    : model_(model),
      method_(method),
      decision_(decision),
      n_(model.coordinates.size()),
      threads_(threads),
      budget_(first_budget) {
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
        {b.result.data(), bytes(b.result), b.changed ? Way::in_and_out : Way::out},
        {b.outcome.data(), bytes(b.outcome), Way::in_and_out},
    };
    const double seconds = kernel_->launch(arguments);
    b.started = true;
    b.changed = false;
    use_.kernel_seconds += seconds;
    const double wanted = budget_ * launch_seconds / std::max(seconds, 1e-3 * launch_seconds);
    budget_ =
        static_cast<int>(std::clamp(wanted, static_cast<double>(least_budget), static_cast<double>(largest_budget)));
}

void DeviceMotions::step_on_cpu(Batch& b, const std::vector<int>& stuck) {
    using integrate::moreau::LaneStepper;
    using Kernel = integrate::moreau::MotionKernel;
    constexpr std::size_t width = LaneStepper::width;
    ensemble::Options many;
    many.threads = threads_;
    const auto calls = (stuck.size() + steps_per_call - 1) / steps_per_call;
    const auto make = [&](std::size_t call) {
        LaneStepper stepper(model_, method_);
        std::vector<LaneStepper::Memory> memory(width);
        for (LaneStepper::Memory& m : memory) {
            m.q.resize(n_), m.u.resize(n_);
            m.Lambda.resize(ix(model_.layout().row_count()), 0.0);
            m.open.resize(ix(text_.contacts)), m.holds.resize(ix(text_.contacts));
            m.gamma_before.resize(ix(text_.contacts));
        }
        const std::size_t last = std::min(stuck.size(), (call + 1) * steps_per_call);
        for (std::size_t first = call * steps_per_call; first < last; first += width) {
            const std::size_t lanes = std::min(width, last - first);
            expr::Lanes to(0.0), kinetic(0.0), potential(0.0);
            for (std::size_t lane = 0; lane < width; ++lane) {
                const int k = stuck[first + std::min(lane, lanes - 1)];  // further lanes repeat the last motion
                LaneStepper::Memory& m = memory[lane];
                m.t = b.at(Kernel::time, k);
                m.step_before = b.at(Kernel::step_before, k);
                for (int i = 0; i < model_.size(); ++i) {
                    m.q[ix(i)] = b.at(Kernel::position + i, k);
                    m.u[ix(i)] = b.at(text_.velocity() + i, k);
                }
                for (std::size_t r = 0; r < text_.rows.size(); ++r)
                    m.Lambda[ix(text_.rows[r])] = b.at(text_.impulses() + static_cast<int>(r), k);
                m.struck_before = text_.struck_before >= 0 && b.at(text_.struck_before, k) != 0.0;
                for (int c = 0; c < text_.contacts; ++c) {
                    const int at = text_.struck_before + 1 + 3 * c;
                    m.open[ix(c)] = b.at(at, k) != 0.0;
                    m.holds[ix(c)] = b.at(at + 1, k) != 0.0;
                    m.gamma_before[ix(c)] = b.at(at + 2, k);
                }
                stepper.restore(lane, m);
                const double t = (b.at(Kernel::steps, k) + 1.0) * method_.h;
                to[lane] = t > decision_.t_max - Decision::last_step_stretch * method_.h ? decision_.t_max : t;
            }
            stepper.step(to);
            stepper.energies(kinetic, potential);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const int k = stuck[first + lane];
                const auto end = [&](KernelOutcome how, double t) {
                    b.outcome[ix(k)] = static_cast<int>(how);
                    b.outcome[b.count + ix(k)] = static_cast<int>(b.at(Kernel::steps, k)) + 1;
                    for (int i = 0; i < model_.size(); ++i) {
                        b.at(i, k) = stepper.q(i, lane);
                        b.at(model_.size() + i, k) = stepper.u(i, lane);
                    }
                    b.at(2 * model_.size(), k) = t;
                };
                // A step that needs the general solvers next to the level set is left to the lanes altogether.
                const bool near_level = (b.flags[ix(k)] & 1) != 0 &&
                                        decision_.height(kinetic[lane], potential[lane]) < decision_.level->rho;
                if (stepper.lost(lane) || near_level) {
                    b.outcome[ix(k)] = static_cast<int>(KernelOutcome::given_up);
                    continue;
                }
                double slow = b.at(Kernel::slow, k), since = b.at(Kernel::since, k);
                if (kinetic[lane] > decision_.slow) {
                    slow = 0.0;
                } else {
                    if (slow == 0.0) since = stepper.t(lane);
                    slow += 1.0;
                }
                if (slow == Decision::slow_steps) {
                    end(KernelOutcome::rests, since);
                } else if (stepper.t(lane) >= decision_.t_max) {
                    end(KernelOutcome::undecided, stepper.t(lane));
                } else {
                    LaneStepper::Memory& m = memory[lane];
                    stepper.remember(lane, m);
                    b.at(Kernel::time, k) = m.t;
                    b.at(Kernel::since, k) = since;
                    b.at(Kernel::step_before, k) = m.step_before;
                    b.at(Kernel::steps, k) += 1.0;
                    b.at(Kernel::slow, k) = slow;
                    for (int i = 0; i < model_.size(); ++i) {
                        b.at(Kernel::position + i, k) = m.q[ix(i)];
                        b.at(text_.velocity() + i, k) = m.u[ix(i)];
                    }
                    for (std::size_t r = 0; r < text_.rows.size(); ++r)
                        b.at(text_.impulses() + static_cast<int>(r), k) = m.Lambda[ix(text_.rows[r])];
                    if (text_.struck_before >= 0) b.at(text_.struck_before, k) = m.struck_before ? 1.0 : 0.0;
                    for (int c = 0; c < text_.contacts; ++c) {
                        const int at = text_.struck_before + 1 + 3 * c;
                        b.at(at, k) = m.open[ix(c)] != 0 ? 1.0 : 0.0;
                        b.at(at + 1, k) = m.holds[ix(c)] != 0 ? 1.0 : 0.0;
                        b.at(at + 2, k) = m.gamma_before[ix(c)];
                    }
                }
            }
        }
    };
    ensemble::parallel_for(calls, make, many);
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
        std::vector<int> next, candidates, stuck;
        for (const int k : b.list)
            if (b.how(k) == KernelOutcome::stuck) stuck.push_back(k);
        step_on_cpu(b, stuck);
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
                    b.flags[ix(k)] = (b.flags[ix(k)] & 1) | 2;
                    go_on(k);
                    break;
                case KernelOutcome::stuck:  // its step was made on the CPU, and it goes on from there
                    b.flags[ix(k)] = (b.flags[ix(k)] & 1) | 4;
                    b.changed = true;
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
                b.flags[ix(k)] = (b.flags[ix(k)] & 1) | 2;
                go_on(k);
            }
        }
        b.list = std::move(next);
    }
    use_.given_up += left.size();
    return left;
}

}  // namespace saltus::stability
