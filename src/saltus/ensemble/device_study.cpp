// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/device_study.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/event/event_kernel.hpp"
#include "saltus/integrate/moreau/moreau_kernel.hpp"
#include "saltus/model/model.hpp"

namespace saltus::ensemble {

namespace {

using integrate::EventKernel;
using integrate::KernelOutcome;
using trajectory::EventKind;

// The result of the event-driven kernel counts events in the order of EventKind.
static_assert(static_cast<int>(EventKind::impact) == EventKernel::impact);
static_assert(static_cast<int>(EventKind::accumulation) == EventKernel::accumulation);
static_assert(EventKernel::accumulation + 1 == EventKernel::kinds);

/// Runs whose models a thread builds, or that it makes on the CPU, in one call.
constexpr std::size_t runs_per_call = 16;
constexpr double never_slow = -1.0;  ///< kinetic energy below which a motion rests; the motions are made to their end

integrate::KernelText kernel_of(const model::Mechanics& model, const integrate::Method& method,
                                std::span<const int> varied) {
    if (const auto* moreau = std::get_if<integrate::Moreau>(&method))
        return integrate::moreau::emit_motion_kernel(model, *moreau, {}, varied).common_part();
    return integrate::emit_event_kernel(model, std::get<integrate::EventDriven>(method), {}, varied).common_part();
}

KernelPace pace_of(const integrate::Method& method) {
    return std::holds_alternative<integrate::Moreau>(method) ? KernelPace{} : KernelPace::of_series();
}

/// Of every coordinate: it has no period, and there is no level set.
std::vector<double> settings_of(const model::Mechanics& model, const MotionOptions& options) {
    const auto* moreau = std::get_if<integrate::Moreau>(&options.method);
    std::vector<double> settings{moreau != nullptr ? moreau->h : 0.0, options.t_end, never_slow, -INFINITY, 0.0};
    for (int i = 0; i < model.size(); ++i) settings.insert(settings.end(), {0.0, 0.0, -INFINITY, INFINITY});
    return settings;
}

}  // namespace

std::string DeviceStudy::refusal(const model::Model& model, const std::vector<std::string>& names,
                                 const std::vector<Question>& questions, const MotionOptions& options) {
    const auto* moreau = std::get_if<integrate::Moreau>(&options.method);
    const auto* event = std::get_if<integrate::EventDriven>(&options.method);
    if (moreau == nullptr && event == nullptr) return "there is no kernel of the penalty method";
    if (options.start) return "kernels begin at t = 0, and not at the end of another motion";
    if (options.energy != integrate::EnergyRule::report) return "kernels do not watch the energy of impacts";
    for (const Question& q : questions) {
        const bool counted = event != nullptr && q.kind == Question::Kind::count && q.element < 0 &&
                             static_cast<int>(q.event) < EventKernel::kinds;
        if (q.kind != Question::Kind::end && !counted)
            return "kernels do not answer '" + q.text +
                   "', only 'end' and, with --method event, 'count' of all elements";
    }
    const std::vector<int> varied = varied_parameters(model, names);
    if (std::string why = varied_parameters_refusal(varied); !why.empty()) return why;
    return moreau != nullptr ? integrate::moreau::kernel_refusal(model, *moreau, options.t_end, varied)
                             : integrate::event_kernel_refusal(model, *event);
}

DeviceStudy::DeviceStudy(const model::Model& model, const ModelMaker& maker, const MotionStudy& cpu,
                         const Device& device, int threads)
    : model_(model),
      maker_(maker),
      cpu_(cpu),
      varied_(varied_parameters(model, maker.names())),
      threads_(threads),
      runs_(device, kernel_of(model, cpu.options().method, varied_), pace_of(cpu.options().method),
            settings_of(model, cpu.options())) {}

std::vector<double> DeviceStudy::start_of(const RunRequest& run) const {
    try {
        const model::Model own = maker_.at(run.values);
        if (!same_kernel(model_, own, varied_)) return {};
        std::vector<double> start = own.q0;
        start.insert(start.end(), own.u0.begin(), own.u0.end());
        for (const int k : varied_) start.push_back(own.p[ix(k)]);
        return start;
    } catch (const Error&) {
        return {};  // the CPU makes the answer, or throws this error again
    }
}

Answers DeviceStudy::answers_of(const KernelRuns::Batch& batch, int k) const {
    const int n = model_.size(), events = 2 * n + 3;  // see integrate::EventKernel
    Answers out;
    out.status = trajectory::Status::completed;
    for (const Question& q : cpu_.questions()) {
        if (q.kind == Question::Kind::end)
            for (int i = 0; i < 2 * n; ++i) out.values.push_back(batch.at(i, k) + 0.0);  // turns −0 into 0
        else
            out.values.push_back(batch.at(events + static_cast<int>(q.event), k));
    }
    return out;
}

void DeviceStudy::serve(const NextRun& next, const FinishRun& finish) {
    Options many;
    many.threads = threads_;
    const auto for_each = [&](std::size_t count, const std::function<void(std::size_t)>& work) {
        parallel_for((count + runs_per_call - 1) / runs_per_call,
                     [&](std::size_t call) {
                         const std::size_t last = std::min(count, (call + 1) * runs_per_call);
                         for (std::size_t k = call * runs_per_call; k < last && !interrupted(); ++k) work(k);
                     },
                     many);
    };
    while (!interrupted()) {
        std::vector<RunRequest> runs;
        for (RunRequest run; runs.size() < batch() && next(run);) runs.push_back(std::move(run));
        if (runs.empty()) return;
        std::vector<std::vector<double>> starts(runs.size());
        for_each(runs.size(), [&](std::size_t k) { starts[k] = start_of(runs[k]); });
        if (interrupted()) return;
        std::vector<std::size_t> there, left;  // numbers of the runs that the device makes, and of those of the CPU
        for (std::size_t k = 0; k < runs.size(); ++k) (starts[k].empty() ? left : there).push_back(k);
        if (!there.empty()) {
            KernelRuns::Batch motions = runs_.batch_of(there.size());
            for (std::size_t k = 0; k < there.size(); ++k)
                for (std::size_t i = 0; i < starts[there[k]].size(); ++i)
                    motions.start[i * motions.count + k] = starts[there[k]][i];
            const auto ended = [&](KernelRuns::Batch& b, const std::vector<int>& list) {
                for (const int k : list) {
                    runs_.use().steps += b.steps(k);
                    if (b.how(k) == KernelOutcome::undecided)  // it has reached its end
                        finish(runs[there[ix(k)]].number, bytes_of(answers_of(b, k)));
                    else
                        left.push_back(there[ix(k)]);
                }
            };
            runs_.run(motions, ended, cpu_.options().interrupted);
        }
        runs_.use().given_up += left.size();
        for_each(left.size(), [&](std::size_t k) {
            const RunRequest& run = runs[left[k]];
            if (const std::optional<Answers> made = cpu_.answers(run)) finish(run.number, bytes_of(*made));
        });
    }
}

}  // namespace saltus::ensemble
