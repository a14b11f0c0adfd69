// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_work.hpp"

#include <algorithm>
#include <atomic>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

namespace {

/// Starts that a thread prepares for a device in one call.
constexpr std::size_t starts_per_call = 1024;

}  // namespace

/// What a thread needs for the motions of one model.
struct BasinWork::Local {
    Local(std::shared_ptr<const model::Model> of, const BasinOptions& options, const Decision& decision)
        : model(std::move(of)),
          rules(*model, options, decision),
          starts(*model, options.components),
          workspace(*model),
          positions(ix(model->layout().positions())),
          still(model->coordinates.size(), 0.0) {}

    /// Bits of the contacts that are closed in a position, see BasinMotion.
    std::uint64_t closed_at(std::span<const double> q) {
        model->system->positions(model::at(*model, 0.0, q, still), workspace.scratch(), positions);
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < std::min<std::size_t>(model->contacts.size(), 64); ++k)
            if (positions[ix(model->contacts[k].row)] <= closed_distance(q)) bits |= std::uint64_t{1} << k;
        return bits;
    }

    std::shared_ptr<const model::Model> model;
    ModelRules rules;
    StartStates starts;
    model::Workspace workspace;
    std::vector<double> positions, still;
};

BasinWork::BasinWork(const model::Model& model, const BasinOptions& options, const Decision& decision,
                     BasinModels& models, const BasinRecord& record, int threads)
    : model_(model), options_(options), decision_(decision), models_(models), record_(record), threads_(threads) {
    const auto* moreau = std::get_if<integrate::Moreau>(&options.method);
    in_lanes_ = moreau != nullptr && options.lanes && integrate::moreau::LaneStepper::refusal(model, *moreau).empty() &&
                !(models.varied() && !models.gridded());
    if (!options.device) return;
    SALTUS_EXPECT(!models.varied() && !options.repeats);
    device_ = std::make_unique<DeviceMotions>(model, options.method, decision, *options.device, threads_);
}

bool BasinWork::inside(const Start& start) const {
    return start.admission != Admission::inadmissible && decision_.inside(start.kinetic, start.potential, start.q);
}

Task BasinWork::task_of(const ensemble::RunRequest& run, StartStates& starts) const {
    Task task;
    task.number = run.number;
    task.start = starts.make(run.values);
    task.stop_when_captured = decision_.level != nullptr && !decision_.to_rest && !inside(task.start);
    return task;
}

void BasinWork::deliver(const Task& task, const Ending& end, Local& local, const ensemble::FinishRun& finish) const {
    if (end.fate == Fate::pending) return;
    BasinMotion m;
    m.fate = end.fate;
    m.admission = task.start.admission;
    m.inside = inside(task.start);
    m.V = decision_.height(task.start.kinetic, task.start.potential);
    m.t = end.t;
    m.steps = end.steps;
    m.returns = end.returns;
    m.q = end.q;
    m.u = end.u;
    if (end.fate != Fate::inadmissible) m.closed = local.closed_at(m.q);
    m.u.resize(m.q.size(), 0.0);
    for (double& x : m.q) x += 0.0;  // turns −0 into 0
    for (double& x : m.u) x += 0.0;
    finish(task.number, record_.bytes_of(m));
}

Ending BasinWork::simulate(const Task& task, const Local& local) const {
    if (const auto* moreau = std::get_if<integrate::Moreau>(&local.rules.method))
        return by_moreau(*local.model, *moreau, local.rules.decision, task.start, task.stop_when_captured);
    return by_events(*local.model, std::get<integrate::EventDriven>(local.rules.method), local.rules.decision,
                     task.start, task.stop_when_captured);
}

/// Motions with the same parameters are made together, because lanes have one model.
void BasinWork::serve(const ensemble::NextRun& next, const ensemble::FinishRun& finish) {
    if (device_) return serve_device(next, finish);
    std::optional<ensemble::RunRequest> kept;  // a run that was taken, and has other parameters
    const auto take = [&](ensemble::RunRequest& run) {
        if (!kept) return next(run);
        run = std::move(*kept);
        kept.reset();
        return true;
    };
    ensemble::RunRequest run;
    while (take(run)) {
        const std::vector<double> parameters = models_.parameters_of(run.values);
        std::optional<Local> local;
        try {
            local.emplace(models_.at(parameters), options_, decision_);
        } catch (const Error&) {
            if (models_.gridded() || !models_.varied()) throw;
            // A sample that the model refuses, for example a negative coefficient of friction.
            BasinMotion refused;
            refused.fate = Fate::inadmissible;
            refused.admission = Admission::inadmissible;
            refused.q.resize(record_.layout().coordinates, 0.0);
            refused.u.resize(record_.layout().coordinates, 0.0);
            finish(run.number, record_.bytes_of(refused));
            continue;
        }
        kept = std::move(run);
        const std::function<void(const Task&, const Ending&)> give = [&](const Task& task, const Ending& end) {
            deliver(task, end, *local, finish);
        };
        const std::function<std::optional<Task>()> next_task = [&]() -> std::optional<Task> {
            while (take(run)) {
                if (models_.parameters_of(run.values) != parameters) {
                    kept = std::move(run);
                    return std::nullopt;
                }
                Task task = task_of(run, local->starts);
                if (task.start.admission != Admission::inadmissible) return task;
                give(task, {Fate::inadmissible, 0.0, 0, 0, task.start.q, task.start.u});
            }
            return std::nullopt;
        };
        if (in_lanes_)
            by_moreau_in_lanes(*local->model, std::get<integrate::Moreau>(local->rules.method), local->rules.decision,
                               next_task, give);
        else
            while (const std::optional<Task> task = next_task()) give(*task, simulate(*task, *local));
        if (interrupted()) return;
    }
}

void BasinWork::serve_device(const ensemble::NextRun& next, const ensemble::FinishRun& finish) {
    const std::vector<double> none;
    while (!interrupted()) {
        std::vector<ensemble::RunRequest> runs;
        for (ensemble::RunRequest run; runs.size() < device_->batch() && next(run);) runs.push_back(std::move(run));
        if (runs.empty()) return;
        std::vector<Task> tasks(runs.size());
        ensemble::Options many;
        many.threads = threads_;
        ensemble::parallel_for((runs.size() + starts_per_call - 1) / starts_per_call,
                               [&](std::size_t call) {
                                   StartStates starts(model_, options_.components);
                                   const std::size_t last = std::min(runs.size(), (call + 1) * starts_per_call);
                                   for (std::size_t k = call * starts_per_call; k < last; ++k)
                                       tasks[k] = task_of(runs[k], starts);
                               },
                               many);
        Local local(models_.at(none), options_, decision_);
        std::erase_if(tasks, [&](const Task& task) {
            if (task.start.admission != Admission::inadmissible) return false;
            deliver(task, {Fate::inadmissible, 0.0, 0, 0, task.start.q, task.start.u}, local, finish);
            return true;
        });
        if (tasks.empty()) continue;
        const std::vector<Task> left = device_->run(
            std::move(tasks), [&](const Task& task, const Ending& end) { deliver(task, end, local, finish); });
        // What only the CPU can make.
        std::atomic<std::size_t> at{0};
        ensemble::parallel_for(
            ix(threads_),
            [&](std::size_t) {
                Local own(models_.at(none), options_, decision_);
                const std::function<void(const Task&, const Ending&)> give = [&](const Task& task, const Ending& end) {
                    deliver(task, end, own, finish);
                };
                const std::function<std::optional<Task>()> next_task = [&]() -> std::optional<Task> {
                    const std::size_t k = at.fetch_add(1);
                    return k < left.size() && !interrupted() ? std::optional(left[k]) : std::nullopt;
                };
                if (in_lanes_)
                    by_moreau_in_lanes(model_, std::get<integrate::Moreau>(own.rules.method), own.rules.decision,
                                       next_task, give);
                else
                    while (const std::optional<Task> task = next_task()) give(*task, simulate(*task, own));
            },
            many);
    }
}

}  // namespace saltus::stability
