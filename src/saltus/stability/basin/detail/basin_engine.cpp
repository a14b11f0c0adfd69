// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <iterator>
#include <mutex>
#include <thread>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/ensemble/ranks.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::stability {

namespace {

/// Starts that a thread prepares for a device in one call.
constexpr std::size_t starts_per_call = 1024;
/// Motions that a rank gets at a time, on its CPU: much longer than a message takes, much shorter than the run. At the
/// end ranks wait for the last block, so a short round has smaller blocks.
constexpr std::size_t largest_block = 512, blocks_per_rank = 8;
constexpr std::chrono::microseconds pause_of_rank_0{100};  ///< between two looks for messages

// The first byte of a message.
constexpr char ready = 'r', work = 'w', results = 'd', dismissal = 'e';

/// Writes and reads numbers as bytes; all ranks have the same kind of processor.
template <class T>
void put(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
class Bytes {
public:
    explicit Bytes(const std::string& bytes) : bytes_(bytes) {}
    template <class T>
    T get() {
        T value{};
        if (bytes_.size() - at_ < sizeof value) throw Error("a message is too short", {"mpirun", 0, 0});
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    bool more() const { return at_ < bytes_.size(); }

private:
    const std::string& bytes_;
    std::size_t at_ = 1;  // behind the first byte
};

void put_motion(std::string& bytes, const Finished& f) {
    put(bytes, f.number);
    put(bytes, f.fate);
    put(bytes, f.admission);
    put(bytes, f.inside);
    put(bytes, f.V);
    put(bytes, f.t);
    put(bytes, f.steps);
    for (const double x : f.q) put(bytes, x);
}

Finished get_motion(Bytes& bytes, std::size_t coordinates) {
    Finished f;
    f.number = bytes.get<std::size_t>();
    f.fate = bytes.get<Fate>();
    f.admission = bytes.get<Admission>();
    f.inside = bytes.get<bool>();
    f.V = bytes.get<double>();
    f.t = bytes.get<double>();
    f.steps = bytes.get<std::int64_t>();
    for (std::size_t i = 0; i < coordinates; ++i) f.q.push_back(bytes.get<double>());
    return f;
}

}  // namespace

BasinEngine::BasinEngine(const model::Mechanics& model, const BasinOptions& options, const Decision& decision)
    : model_(model), options_(options), decision_(decision) {
    const auto* moreau = std::get_if<integrate::Moreau>(&options.method);
    in_lanes_ = moreau != nullptr && options.lanes && integrate::moreau::LaneStepper::refusal(model, *moreau).empty();
    // The ranks of one machine share its cores.
    const bool shared = options.ranks != nullptr && options.ranks->size() > 1;
    threads_ = options.threads > 0 ? options.threads
               : shared            ? 1
                                   : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    if (!options.device) return;
    SALTUS_EXPECT(moreau != nullptr);
    device_ = std::make_unique<DeviceMotions>(model, *moreau, decision, *options.device, threads_);
}

bool BasinEngine::inside(const Start& start) const {
    return start.admission != Admission::inadmissible && decision_.inside(start.kinetic, start.potential, start.q);
}

Task BasinEngine::task_of(std::size_t number, std::span<const double> x, Starts& starts) const {
    Task task;
    task.number = number;
    task.start = starts.make(x);
    task.stop_when_captured = decision_.level != nullptr && !decision_.to_rest && !inside(task.start);
    return task;
}

Finished BasinEngine::finished(const Task& task, const Ending& end) const {
    Finished f;
    f.number = task.number;
    f.fate = end.fate;
    f.admission = task.start.admission;
    f.inside = inside(task.start);
    f.V = decision_.height(task.start.kinetic, task.start.potential);
    f.t = end.t;
    f.steps = end.steps;
    f.q = end.q;
    for (double& x : f.q) x += 0.0;  // turns −0 into 0
    return f;
}

Ending BasinEngine::simulate(const Task& task) const {
    if (const auto* moreau = std::get_if<integrate::Moreau>(&options_.method))
        return by_moreau(model_, *moreau, decision_, task.start, task.stop_when_captured);
    return by_events(model_, std::get<integrate::EventDriven>(options_.method), decision_, task.start,
                     task.stop_when_captured);
}

void BasinEngine::run(std::span<const std::size_t> numbers, const Values& values, const Finish& finish) {
    if (options_.ranks != nullptr && options_.ranks->size() > 1)
        hand_out(numbers, values, finish);
    else
        run_here(numbers, values, finish);
}

void BasinEngine::run_here(std::span<const std::size_t> numbers, const Values& values, const Finish& finish) {
    if (device_) return run_on_device(numbers, values, finish);
    run_on_threads(
        numbers.size(),
        [&](std::size_t k, Starts& starts) {
            std::vector<double> x(options_.axes.size());
            values(k, x);
            return std::optional<Task>(task_of(numbers[k], x, starts));
        },
        finish);
}

/// Each thread takes motions until there are no more.
void BasinEngine::run_on_threads(std::size_t count,
                                 const std::function<std::optional<Task>(std::size_t, Starts&)>& make_task,
                                 const Finish& finish) const {
    std::atomic<std::size_t> next{0};
    const std::function<void(const Task&, const Ending&)> deliver = [&](const Task& task, const Ending& end) {
        if (end.fate != Fate::pending) finish(finished(task, end));
    };
    const auto serve_thread = [&](std::size_t) {
        Starts starts(model_, options_.components);
        const std::function<std::optional<Task>()> take = [&]() -> std::optional<Task> {
            while (!interrupted()) {
                const std::size_t k = next.fetch_add(1);
                if (k >= count) break;
                std::optional<Task> task = make_task(k, starts);
                if (task->start.admission != Admission::inadmissible) return task;
                deliver(*task, {Fate::inadmissible, 0.0, 0, task->start.q});
            }
            return std::nullopt;
        };
        if (in_lanes_)
            by_moreau_in_lanes(model_, std::get<integrate::Moreau>(options_.method), decision_, take, deliver);
        else
            while (const std::optional<Task> task = take()) deliver(*task, simulate(*task));
    };
    ensemble::Options many;
    many.threads = threads_;
    ensemble::parallel_for(std::min(ix(threads_), std::max<std::size_t>(1, count)), serve_thread, many);
}

void BasinEngine::run_on_device(std::span<const std::size_t> numbers, const Values& values, const Finish& finish) {
    for (std::size_t first = 0; first < numbers.size() && !interrupted(); first += device_->batch()) {
        const std::size_t count = std::min(device_->batch(), numbers.size() - first);
        std::vector<Task> tasks(count);
        std::vector<char> redundant(count, 0);
        ensemble::Options many;
        many.threads = threads_;
        ensemble::parallel_for((count + starts_per_call - 1) / starts_per_call,
                               [&](std::size_t call) {
                                   Starts starts(model_, options_.components);
                                   std::vector<double> x(options_.axes.size());
                                   const std::size_t last = std::min(count, (call + 1) * starts_per_call);
                                   for (std::size_t k = call * starts_per_call; k < last; ++k) {
                                       values(first + k, x);
                                       tasks[k] = task_of(numbers[first + k], x, starts);
                                   }
                               },
                               many);
        std::erase_if(tasks, [&](const Task& task) {
            if (task.start.admission != Admission::inadmissible) return false;
            finish(finished(task, {Fate::inadmissible, 0.0, 0, task.start.q}));
            return true;
        });
        if (tasks.empty()) continue;
        const std::vector<Task> left =
            device_->run(std::move(tasks), [&](const Task& task, const Ending& end) { finish(finished(task, end)); });
        run_on_threads(
            left.size(), [&](std::size_t k, Starts&) { return std::optional<Task>(left[k]); }, finish);
    }
}

/// Rank 0 gives blocks to the ranks that ask for them, and makes blocks itself on another thread. Only this thread uses
/// the messages.
void BasinEngine::hand_out(std::span<const std::size_t> numbers, const Values& values, const Finish& finish) {
    ensemble::Ranks& ranks = *options_.ranks;
    const std::size_t workers = ix(ranks.size());
    const std::size_t batch = device_ ? device_->batch() : largest_block;
    const std::size_t length = std::clamp<std::size_t>(numbers.size() / (blocks_per_rank * workers), 1, batch);
    const std::size_t blocks = (numbers.size() + length - 1) / length;
    std::atomic<std::size_t> next{0};
    std::atomic<bool> done_here{false}, failed{false};
    const auto block = [&](std::size_t k) {
        return numbers.subspan(k * length, std::min(length, numbers.size() - k * length));
    };
    std::exception_ptr thrown;
    std::jthread own([&] {
        try {
            for (std::size_t k = next.fetch_add(1); k < blocks && !interrupted(); k = next.fetch_add(1))
                run_here(
                    block(k), [&](std::size_t i, std::span<double> x) { values(k * length + i, x); }, finish);
        } catch (...) {
            thrown = std::current_exception();
            failed = true;
        }
        done_here = true;
    });
    std::size_t busy = 0;
    const auto give = [&](int to) {
        const std::size_t k = interrupted() || failed ? blocks : next.fetch_add(1);
        if (k >= blocks) {
            idle_.push_back(to);
            return;
        }
        std::string message(1, work);
        std::vector<double> x(options_.axes.size());
        const std::span<const std::size_t> list = block(k);
        for (std::size_t i = 0; i < list.size(); ++i) {
            values(k * length + i, x);
            put(message, list[i]);
            for (const double v : x) put(message, v);
        }
        ranks.send(to, message);
        ++busy;
    };
    for (const int rank : std::exchange(idle_, {})) give(rank);
    std::string message;
    while (busy > 0 || !done_here) {
        if (!ranks.waiting()) {
            std::this_thread::sleep_for(pause_of_rank_0);
            continue;
        }
        const int from = ranks.receive(message);
        if (!message.empty() && message[0] == results) {
            --busy;
            for (Bytes bytes(message); bytes.more();) finish(get_motion(bytes, model_.coordinates.size()));
        }
        give(from);
    }
    own.join();
    if (thrown) std::rethrow_exception(thrown);
}

void BasinEngine::serve() {
    ensemble::Ranks& ranks = *options_.ranks;
    ranks.send(0, std::string(1, ready));
    std::string message;
    for (;;) {
        ranks.receive(message);
        if (message.empty() || message[0] != work) return;
        std::vector<std::size_t> numbers;
        std::vector<double> starts;
        for (Bytes bytes(message); bytes.more();) {
            numbers.push_back(bytes.get<std::size_t>());
            for (std::size_t d = 0; d < options_.axes.size(); ++d) starts.push_back(bytes.get<double>());
        }
        std::string answer(1, results);
        std::mutex mutex;
        run_here(
            numbers,
            [&](std::size_t k, std::span<double> x) { std::copy_n(&starts[k * x.size()], x.size(), x.begin()); },
            [&](const Finished& f) {
                const std::lock_guard lock(mutex);
                put_motion(answer, f);
            });
        ranks.send(0, answer);
    }
}

void BasinEngine::dismiss() {
    if (options_.ranks == nullptr) return;
    ensemble::Ranks& ranks = *options_.ranks;
    std::string message;
    // Ranks that have not reported yet do so before they wait for work.
    while (idle_.size() + 1 < ix(ranks.size())) idle_.push_back(ranks.receive(message));
    for (const int rank : idle_) ranks.send(rank, std::string(1, dismissal));
}

}  // namespace saltus::stability
