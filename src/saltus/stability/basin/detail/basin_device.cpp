// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_device.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

namespace {

using integrate::KernelOutcome;

/// Candidates of one launch are tested together. A motion that is refused so often is made by the lanes: it stays next
/// to the level set for a long time, and each test ends its thread's work on it.
constexpr int max_refusals = 3;
constexpr std::size_t steps_per_call = 64;   ///< steps of motions that are stuck, of one call of a thread
constexpr std::size_t tests_per_call = 256;  ///< capture tests of one call of a thread
/// Motions that have ended are delivered at the end of their batch, and after this time at the latest. Few large
/// deliveries are cheap; a process that is killed loses what it has not delivered.
constexpr std::chrono::seconds longest_silence{1};

}  // namespace

std::string device_refusal(const model::Model& model, const BasinOptions& options) {
    if (options.repeats) return "kernels do not recognise motions that repeat";
    const std::vector<int> varied = ensemble::varied_parameters(model, options.parameters());
    if (std::string why = ensemble::varied_parameters_refusal(varied); !why.empty()) return why;
    if (const auto* moreau = std::get_if<integrate::Moreau>(&options.method))
        return integrate::moreau::kernel_refusal(model, *moreau, options.t_max, varied);
    return integrate::event_kernel_refusal(model, std::get<integrate::EventDriven>(options.method));
}

namespace {

using AnyMethod = std::variant<integrate::Moreau, integrate::EventDriven>;
using AnyKernel = std::variant<integrate::moreau::MotionKernel, integrate::EventKernel>;

AnyKernel kernel_of(const model::Mechanics& model, const AnyMethod& method, std::span<const int> varied) {
    integrate::KernelRules rules;
    rules.slow_steps = Decision::slow_steps;
    rules.steps_between_captures = Decision::steps_between_captures;
    rules.last_step_stretch = Decision::last_step_stretch;
    rules.shortest_rest = Decision::shortest_rest;
    if (const auto* moreau = std::get_if<integrate::Moreau>(&method))
        return integrate::moreau::emit_motion_kernel(model, *moreau, rules, varied);
    return integrate::emit_event_kernel(model, std::get<integrate::EventDriven>(method), rules, varied);
}

const integrate::KernelText& text_of(const AnyKernel& kernel) {
    return std::visit([](const auto& k) -> const integrate::KernelText& { return k; }, kernel);
}

}  // namespace

void compile_for_device(const model::Model& model, const BasinOptions& options, const ensemble::Device& device) {
    const AnyKernel kernel = kernel_of(model, options.method, ensemble::varied_parameters(model, options.parameters()));
    (void)ensemble::compile_kernel(device, text_of(kernel).text, text_of(kernel).name);
}

DeviceMotions::DeviceMotions(const model::Mechanics& model, const AnyMethod& method, std::vector<int> varied,
                             const Decision& decision, const ensemble::Device& device, int threads)
    : model_(model),
      method_(method),
      varied_(std::move(varied)),
      decision_(decision),
      n_(model.coordinates.size()),
      threads_(threads),
      kernel_text_(kernel_of(model, method, varied_)) {
    const auto* const moreau = std::get_if<integrate::Moreau>(&method);
    const ensemble::KernelPace pace = moreau != nullptr ? ensemble::KernelPace{} : ensemble::KernelPace::of_series();
    const CaptureSet* level = decision.level;
    std::vector<double> settings{moreau != nullptr ? moreau->h : 0.0, decision.t_max, decision.slow,
                                 level != nullptr ? level->rho : -INFINITY, level != nullptr ? level->reference : 0.0};
    for (std::size_t i = 0; i < n_; ++i) {
        const bool bounded = level != nullptr && !level->box.empty();
        settings.push_back(decision.periods[i]);
        settings.push_back(level != nullptr ? level->q[i] : 0.0);
        settings.push_back(bounded ? level->box[i].first : -INFINITY);
        settings.push_back(bounded ? level->box[i].second : INFINITY);
    }
    runs_.emplace(device, text_of(kernel_text_), pace, std::move(settings));
}

/// Motions with the same parameters are neighbours, and make their steps side by side.
void DeviceMotions::step_on_cpu(Batch& b, const std::vector<int>& stuck, DeviceModels& models) {
    std::vector<std::span<const int>> calls;
    for (std::size_t first = 0, k = 1; k <= stuck.size(); ++k) {
        if (k < stuck.size() && k - first < steps_per_call && models.same(stuck[first], stuck[k])) continue;
        calls.emplace_back(stuck.data() + first, k - first);
        first = k;
    }
    ensemble::Options many;
    many.threads = threads_;
    const auto make = [&](std::size_t call) { step_on_cpu(b, calls[call], *models.at(calls[call].front())); };
    ensemble::parallel_for(calls.size(), make, many);
    if (!stuck.empty()) b.changed = true;
}

void DeviceMotions::step_on_cpu(Batch& b, std::span<const int> stuck, const model::Mechanics& model) {
    using integrate::moreau::LaneStepper;
    using Kernel = integrate::moreau::MotionKernel;
    constexpr std::size_t width = LaneStepper::width;
    const Kernel& kernel = std::get<Kernel>(kernel_text_);
    const integrate::Moreau& method = std::get<integrate::Moreau>(method_);
    {
        LaneStepper stepper(model, method);
        std::vector<LaneStepper::Memory> memory(width);
        for (LaneStepper::Memory& m : memory) {
            m.q.resize(n_), m.u.resize(n_);
            m.Lambda.resize(ix(model_.layout().row_count()), 0.0);
            m.open.resize(ix(kernel.contacts)), m.holds.resize(ix(kernel.contacts));
            m.gamma_before.resize(ix(kernel.contacts));
        }
        for (std::size_t first = 0; first < stuck.size(); first += width) {
            const std::size_t lanes = std::min(width, stuck.size() - first);
            expr::Lanes to(0.0), kinetic(0.0), potential(0.0);
            for (std::size_t lane = 0; lane < width; ++lane) {
                const int k = stuck[first + std::min(lane, lanes - 1)];  // further lanes repeat the last motion
                LaneStepper::Memory& m = memory[lane];
                m.t = b.at(Kernel::time, k);
                m.step_before = b.at(Kernel::step_before, k);
                for (int i = 0; i < model_.size(); ++i) {
                    m.q[ix(i)] = b.at(Kernel::position + i, k);
                    m.u[ix(i)] = b.at(kernel.velocity() + i, k);
                }
                for (std::size_t r = 0; r < kernel.rows.size(); ++r)
                    m.Lambda[ix(kernel.rows[r])] = b.at(kernel.impulses() + static_cast<int>(r), k);
                m.struck_before = kernel.struck_before >= 0 && b.at(kernel.struck_before, k) != 0.0;
                for (int c = 0; c < kernel.contacts; ++c) {
                    const int at = kernel.struck_before + 1 + 3 * c;
                    m.open[ix(c)] = b.at(at, k) != 0.0;
                    m.holds[ix(c)] = b.at(at + 1, k) != 0.0;
                    m.gamma_before[ix(c)] = b.at(at + 2, k);
                }
                stepper.restore(lane, m);
                const double t = (b.at(Kernel::steps, k) + 1.0) * method.h;
                to[lane] = t > decision_.t_max - Decision::last_step_stretch * method.h ? decision_.t_max : t;
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
                        b.at(kernel.velocity() + i, k) = m.u[ix(i)];
                    }
                    for (std::size_t r = 0; r < kernel.rows.size(); ++r)
                        b.at(kernel.impulses() + static_cast<int>(r), k) = m.Lambda[ix(kernel.rows[r])];
                    if (kernel.struck_before >= 0) b.at(kernel.struck_before, k) = m.struck_before ? 1.0 : 0.0;
                    for (int c = 0; c < kernel.contacts; ++c) {
                        const int at = kernel.struck_before + 1 + 3 * c;
                        b.at(at, k) = m.open[ix(c)] != 0 ? 1.0 : 0.0;
                        b.at(at + 1, k) = m.holds[ix(c)] != 0 ? 1.0 : 0.0;
                        b.at(at + 2, k) = m.gamma_before[ix(c)];
                    }
                }
            }
        }
    }
}

void DeviceMotions::test_candidates(const Batch& b, const std::vector<int>& candidates, std::vector<char>& captured) {
    captured.assign(candidates.size(), 0);
    const bool stepped = std::holds_alternative<integrate::Moreau>(method_);
    const int n = model_.size();
    const auto test_some = [&](std::size_t call) {
        CaptureTest test(model_, decision_);
        std::vector<double> q(n_), u(n_);
        const std::size_t last = std::min(candidates.size(), (call + 1) * tests_per_call);
        for (std::size_t c = call * tests_per_call; c < last; ++c) {
            for (int i = 0; i < n; ++i) {
                q[ix(i)] = b.at(i, candidates[c]);
                u[ix(i)] = b.at(n + i, candidates[c]);
            }
            const double kinetic = b.at(2 * n + 1, candidates[c]), potential = b.at(2 * n + 2, candidates[c]);
            // An event-driven motion does not penetrate obstacles, so that its state itself is tested.
            const bool inside = stepped ? test(kinetic, potential, q, u) : decision_.inside(kinetic, potential, q);
            captured[c] = inside ? 1 : 0;
        }
    };
    ensemble::Options many;
    many.threads = threads_;
    ensemble::parallel_for((candidates.size() + tests_per_call - 1) / tests_per_call, test_some, many);
}

std::vector<int> DeviceMotions::run(Batch& batch, DeviceModels& models,
                                    const std::function<void(std::span<const DeviceEnd>)>& finish) {
    using Clock = std::chrono::steady_clock;
    std::vector<signed char> refusals(batch.count, 0);
    std::vector<int> left;
    std::vector<DeviceEnd> ends;
    Clock::time_point told = Clock::now();
    const auto tell = [&] {
        // In ascending order, because neighbours are stored together.
        std::sort(ends.begin(), ends.end(), [](const DeviceEnd& a, const DeviceEnd& b) { return a.place < b.place; });
        if (!ends.empty()) finish(ends);
        ends.clear();
        told = Clock::now();
    };
    const auto give_up = [&](const Batch& b, int k) {
        runs_->use().steps += b.steps(k);
        left.push_back(k);
    };
    const auto end = [&](const Batch& b, int k, Fate fate) {
        ends.push_back({k, fate, b.at(2 * model_.size(), k), b.steps(k)});
        runs_->use().steps += b.steps(k);
    };
    const auto decide = [&](Batch& b, const std::vector<int>& ended) {
        std::vector<int> candidates, stuck;
        for (const int k : ended)
            if (b.how(k) == KernelOutcome::stuck) stuck.push_back(k);
        step_on_cpu(b, stuck, models);
        for (const int k : ended) switch (b.how(k)) {
                case KernelOutcome::undecided: end(b, k, Fate::undecided); break;
                case KernelOutcome::rests: end(b, k, Fate::rest); break;
                case KernelOutcome::candidate: candidates.push_back(k); break;
                case KernelOutcome::given_up: give_up(b, k); break;
                case KernelOutcome::stuck: b.go_on_from_result(k); break;  // its step was made on the CPU
                case KernelOutcome::paused:
                case KernelOutcome::waiting: break;
            }
        std::vector<char> captured;
        test_candidates(b, candidates, captured);
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            const int k = candidates[c];
            if (captured[c] != 0)
                end(b, k, Fate::captured);
            else if (b.at(2 * model_.size(), k) >= decision_.t_max)
                end(b, k, Fate::undecided);
            else if (++refusals[ix(k)] > max_refusals)
                give_up(b, k);
            else
                b.go_on(k);
        }
        if (Clock::now() - told > longest_silence) tell();
    };
    runs_->run(batch, decide, decision_.interrupted);
    tell();
    return left;
}

}  // namespace saltus::stability
