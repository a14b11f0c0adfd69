// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_work.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

namespace {

/// Motions that a thread prepares for a device, or whose records it writes, in one call.
constexpr std::size_t motions_per_call = 1024;
/// If every motion has its own model then building the models takes most of the time (about 0.1 ms each). Smaller
/// batches let the device begin earlier.
constexpr std::size_t batch_of_models = 16384;

/// Turns −0 into 0.
void remove_negative_zeros(BasinMotion& m) {
    for (double& x : m.q) x += 0.0;
    for (double& x : m.u) x += 0.0;
}

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
    SALTUS_EXPECT(!options.repeats);
    device_ =
        std::make_unique<DeviceMotions>(model, options.method, ensemble::varied_parameters(model, options.parameters()),
                                        decision, *options.device, threads_);
}

std::size_t BasinWork::batch() const {
    if (!device_) return 1;
    return models_.varied() && !models_.gridded() ? std::min(batch_of_models, device_->batch()) : device_->batch();
}

bool BasinWork::inside(const Start& start) const {
    return start.admission != Admission::inadmissible && decision_.inside(start.kinetic, start.potential, start.q);
}

Task BasinWork::task_of(const ensemble::RunRequest& run, StartStates& starts) const {
    Task task;
    task.number = run.number;
    task.start = starts.make(run.values);
    task.stop_when_captured = stops_when_captured(inside(task.start));
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
    remove_negative_zeros(m);
    finish(task.number, record_.bytes_of(m));
}

Ending BasinWork::simulate(const Task& task, const Local& local) const {
    if (const auto* moreau = std::get_if<integrate::Moreau>(&local.rules.method))
        return by_moreau(*local.model, *moreau, local.rules.decision, task.start, task.stop_when_captured);
    return by_events(*local.model, std::get<integrate::EventDriven>(local.rules.method), local.rules.decision,
                     task.start, task.stop_when_captured);
}

/// A sample that the model refuses, for example a negative coefficient of friction.
BasinMotion BasinWork::refused() const {
    BasinMotion m;
    m.fate = Fate::inadmissible;
    m.admission = Admission::inadmissible;
    m.q.resize(record_.layout().coordinates, 0.0);
    m.u.resize(record_.layout().coordinates, 0.0);
    return m;
}

/// Motions with the same parameters are made together, because lanes have one model.
void BasinWork::serve(const ensemble::NextRun& next, const ensemble::FinishRun& finish) {
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
            finish(run.number, record_.bytes_of(refused()));
            continue;
        }
        kept = std::move(run);
        const std::function<void(const Task&, const Ending&)> give = [&](const Task& task, const Ending& end) {
            deliver(task, end, *local, finish);
        };
        const std::function<std::optional<Task>()> next_task = [&]() -> std::optional<Task> {
            ensemble::RunRequest following;
            while (take(following)) {
                if (models_.parameters_of(following.values) != parameters) {
                    kept = std::move(following);
                    return std::nullopt;
                }
                Task task = task_of(following, local->starts);
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

/// Motions that a device makes together, and what their records need beside their ends. There is no object for each
/// motion: a million of them are prepared and delivered in a fraction of a second.
struct BasinWork::Block final : DeviceModels {
    Block(BasinModels& all, const DeviceMotions& device) : models(all), motions(device.batch_of(0)) {}

    std::shared_ptr<const model::Mechanics> at(int place) override {
        return models.at(models.parameters_of(runs.values_of(ix(place))));
    }
    bool same(int one, int other) const override {
        return !models.varied() ||
               models.parameters_of(runs.values_of(ix(one))) == models.parameters_of(runs.values_of(ix(other)));
    }

    BasinModels& models;
    ensemble::RunBlock runs;
    DeviceMotions::Batch motions;
    // Of each motion:
    enum class Maker : char { device, cpu, nobody, refused };
    std::vector<Maker> maker;
    std::vector<Admission> admission;
    std::vector<char> inside;  ///< flag: the start lies in the level set
    std::vector<double> V;     ///< at the start
};

void BasinWork::serve_blocks(const ensemble::NextRuns& next, const ensemble::FinishRuns& finish) {
    Block block(models_, *device_);
    while (!interrupted() && next(batch(), block.runs)) make(block, finish);
}

void BasinWork::make(Block& block, const ensemble::FinishRuns& finish) {
    const std::size_t count = block.runs.size();
    if (block.motions.count == count)
        block.motions.reset();
    else
        block.motions = device_->batch_of(count);
    block.maker.assign(count, Block::Maker::device);
    block.admission.resize(count);
    block.inside.resize(count);
    block.V.resize(count);
    prepare(block);
    if (interrupted()) return;
    const auto maker = [&](int k) { return block.maker[ix(k)]; };
    std::vector<int> left;
    std::vector<DeviceEnd> none;
    for (const int k : block.motions.list) {
        if (maker(k) == Block::Maker::cpu) left.push_back(k);
        if (maker(k) == Block::Maker::nobody || maker(k) == Block::Maker::refused)
            none.push_back({k, Fate::inadmissible, 0.0, 0});
    }
    if (!none.empty()) deliver(block, none, finish);
    std::erase_if(block.motions.list, [&](int k) { return maker(k) != Block::Maker::device; });
    const std::vector<int> given_up =
        device_->run(block.motions, block, [&](std::span<const DeviceEnd> ends) { deliver(block, ends, finish); });
    left.insert(left.end(), given_up.begin(), given_up.end());
    std::sort(left.begin(), left.end());
    device_->count_left_to_cpu(left.size());
    make_on_cpu(block, left, finish);
}

/// The start states, on all threads.
void BasinWork::prepare(Block& block) const {
    const std::size_t count = block.runs.size(), n = model_.coordinates.size();
    const auto some = [&](std::size_t call) {
        std::optional<Local> local;
        std::vector<double> parameters, before;
        Start start;
        bool fits = true;
        const std::size_t last = std::min(count, (call + 1) * motions_per_call);
        for (std::size_t k = call * motions_per_call; k < last && !interrupted(); ++k) {
            const std::span<const double> values = block.runs.values_of(k);
            if (models_.varied()) parameters = models_.parameters_of(values);
            if (!local || parameters != before) {
                local.reset();
                before = parameters;
                try {
                    local.emplace(models_.at(parameters), options_, decision_);
                } catch (const Error&) {
                    if (models_.gridded() || !models_.varied()) throw;
                }
                fits = local && ensemble::same_kernel(model_, *local->model, device_->varied());
            }
            if (!local) {
                block.maker[k] = Block::Maker::refused;
                continue;
            }
            local->starts.make(values, start);
            block.admission[k] = start.admission;
            block.inside[k] = inside(start) ? 1 : 0;
            block.V[k] = decision_.height(start.kinetic, start.potential);
            if (start.admission == Admission::inadmissible) {
                block.maker[k] = Block::Maker::nobody;
                continue;
            }
            if (!fits) block.maker[k] = Block::Maker::cpu;
            for (std::size_t i = 0; i < n; ++i) {
                block.motions.start[i * count + k] = start.q[i];
                block.motions.start[(n + i) * count + k] = start.u[i];
            }
            for (std::size_t p = 0; p < device_->varied().size(); ++p)
                block.motions.start[(2 * n + p) * count + k] = local->model->p[ix(device_->varied()[p])];
            block.motions.flags[k] = stops_when_captured(block.inside[k] != 0) ? 1 : 0;
        }
    };
    ensemble::Options many;
    many.threads = threads_;
    ensemble::parallel_for((count + motions_per_call - 1) / motions_per_call, some, many);
}

/// The records of motions that have ended, on all threads.
void BasinWork::deliver(Block& block, std::span<const DeviceEnd> ends, const ensemble::FinishRuns& finish) const {
    const std::size_t size = record_.bytes();
    std::vector<std::size_t> numbers(ends.size()), places(ends.size());
    std::string bytes(ends.size() * size, '\0');
    const auto some = [&](std::size_t call) {
        std::optional<Local> local;
        std::vector<double> parameters, before;
        Start start;
        BasinMotion m;
        const std::size_t last = std::min(ends.size(), (call + 1) * motions_per_call);
        for (std::size_t e = call * motions_per_call; e < last; ++e) {
            const auto k = ix(ends[e].place);
            numbers[e] = block.runs.numbers[k];
            places[e] = (e + 1) * size;
            if (block.maker[k] == Block::Maker::refused) {
                record_.write(refused(), bytes.data() + e * size);
                continue;
            }
            if (models_.varied()) parameters = models_.parameters_of(block.runs.values_of(k));
            if (!local || parameters != before) {
                local.emplace(models_.at(parameters), options_, decision_);
                before = parameters;
            }
            m.fate = ends[e].fate;
            m.admission = block.admission[k];
            m.inside = block.inside[k] != 0;
            m.V = block.V[k];
            m.t = ends[e].t;
            m.steps = ends[e].steps;
            m.closed = 0;
            if (m.fate == Fate::inadmissible) {
                local->starts.make(block.runs.values_of(k), start);
                m.q = start.q;
                m.u = start.u;
            } else {
                m.q.resize(model_.coordinates.size());
                m.u.resize(model_.coordinates.size());
                for (int i = 0; i < model_.size(); ++i) {
                    m.q[ix(i)] = block.motions.at(i, ends[e].place);
                    m.u[ix(i)] = block.motions.at(model_.size() + i, ends[e].place);
                }
                m.closed = local->closed_at(m.q);
            }
            remove_negative_zeros(m);
            record_.write(m, bytes.data() + e * size);
        }
    };
    ensemble::Options many;
    many.threads = threads_;
    ensemble::parallel_for((ends.size() + motions_per_call - 1) / motions_per_call, some, many);
    finish({numbers, places, bytes});
}

/// The motions that the kernel gave up, from their starts.
void BasinWork::make_on_cpu(const Block& block, const std::vector<int>& places, const ensemble::FinishRuns& finish) {
    if (places.empty()) return;
    std::atomic<std::size_t> at{0};
    const ensemble::NextRun next = [&](ensemble::RunRequest& run) {
        const std::size_t k = at.fetch_add(1);
        if (k >= places.size() || interrupted()) return false;
        const std::span<const double> values = block.runs.values_of(ix(places[k]));
        run.number = block.runs.numbers[ix(places[k])];
        run.values.assign(values.begin(), values.end());
        return true;
    };
    const ensemble::FinishRun give = [&](std::size_t number, std::string_view answer) { finish({number, answer}); };
    ensemble::Options many;
    many.threads = threads_;
    ensemble::parallel_for(
        std::min(ix(threads_), places.size()), [&](std::size_t) { serve(next, give); }, many);
}

}  // namespace saltus::stability
