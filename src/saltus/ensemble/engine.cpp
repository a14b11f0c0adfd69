// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "saltus/base/bytes.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"

namespace saltus::ensemble {

template <class Bytes>
static void transfer(Bytes& b, RunRequest& r) {
    b(r.number);
    b(r.values);
}

namespace {

/// Runs that a rank gets at a time, on its CPU: much longer than a message takes, much shorter than the whole. At the
/// end ranks wait for the last block, so a short round has smaller blocks.
constexpr std::size_t largest_block = 512, blocks_per_rank = 8;
constexpr std::chrono::microseconds pause_of_rank_0{100};  ///< between two looks for messages

// The first byte of a message.
constexpr char ready = 'r', work = 'w', results = 'd', failure_message = 'x', dismissal = 'e';

constexpr std::size_t no_number = std::numeric_limits<std::size_t>::max();

}  // namespace

/// The exception of the run with the smallest number. Any thread may use it.
struct Engine::Failure {
    std::mutex mutex;
    std::size_t number = no_number;
    std::exception_ptr thrown;
    std::atomic<bool> any = false;

    void add(std::size_t run, std::exception_ptr exception) {
        const std::lock_guard lock(mutex);
        if (!thrown || run < number) number = run, thrown = std::move(exception);
        any = true;
    }
    void rethrow() const {
        if (thrown) std::rethrow_exception(thrown);
    }
};

int threads_of(const EngineOptions& options) {
    // The ranks of one machine share its cores.
    const bool shared = options.ranks != nullptr && options.ranks->size() > 1;
    return options.threads > 0 ? options.threads
           : shared            ? 1
                               : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Engine::Engine(Work& work, EngineOptions options)
    : work_(work), options_(std::move(options)), threads_(threads_of(options_)) {}

/// Each thread takes runs until there are no more.
void Engine::run_here(const NextRun& next, const FinishRun& finish, Failure& failure) {
    const auto thread = [&](std::size_t) {
        std::size_t largest = 0;  // number of the last run that this thread has taken
        const NextRun take = [&](RunRequest& run) {
            if (failure.any || interrupted() || !next(run)) return false;
            largest = run.number;
            return true;
        };
        try {
            work_.serve(take, finish);
        } catch (...) {
            failure.add(largest, std::current_exception());
        }
    };
    Options many;
    many.threads = work_.batch() > 1 ? 1 : threads_;
    parallel_for(ix(many.threads), thread, many);
}

void Engine::run(const NextRun& source, std::size_t count, const FinishRun& finish) {
    Failure failure;
    std::mutex mutex;
    const NextRun next = [&](RunRequest& run) {
        const std::lock_guard lock(mutex);
        return source(run);
    };
    if (options_.ranks != nullptr && options_.ranks->size() > 1)
        hand_out(next, count, finish, failure);
    else
        run_here(next, finish, failure);
    failure.rethrow();
}

/// Rank 0 gives blocks to the ranks that ask for them, and makes runs itself on other threads. Only this thread uses
/// the messages.
void Engine::hand_out(const NextRun& next, std::size_t count, const FinishRun& finish, Failure& failure) {
    Ranks& ranks = *options_.ranks;
    const std::size_t most = work_.batch() > 1 ? work_.batch() : largest_block;
    const std::size_t length = std::clamp<std::size_t>(count / (blocks_per_rank * ix(ranks.size())), 1, most);
    std::atomic<bool> done_here{false};
    std::jthread own([&] {
        run_here(next, finish, failure);
        done_here = true;
    });
    std::size_t busy = 0;
    const auto give = [&](int to) {
        std::vector<RunRequest> block;
        while (block.size() < length && !interrupted() && !failure.any) {
            RunRequest run;
            if (!next(run)) break;
            block.push_back(std::move(run));
        }
        if (block.empty()) {
            idle_.push_back(to);
            return;
        }
        ByteWriter message;
        message(work);
        message(block);
        ranks.send(to, message.bytes());
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
        ByteReader reader(message);
        const char kind = reader.get<char>();
        if (kind != ready) --busy;
        try {
            if (kind == results)
                while (reader.left() > 0) {
                    const auto number = reader.get<std::size_t>();
                    finish(number, reader.get<std::string>());
                }
            if (kind == failure_message) {
                const auto number = reader.get<std::size_t>();
                const auto text = reader.get<std::string>(), place = reader.get<std::string>();
                failure.add(number, std::make_exception_ptr(Error(text, {place, 0, 0}, reader.get<std::string>())));
            }
        } catch (...) {  // the answer could not be stored
            failure.add(0, std::current_exception());
        }
        give(from);
    }
    own.join();
}

void Engine::serve() {
    Ranks& ranks = *options_.ranks;
    ranks.send(0, std::string(1, ready));
    std::string message;
    for (;;) {
        ranks.receive(message);
        ByteReader reader(message);
        if (message.empty() || reader.get<char>() != work) return;
        const auto block = reader.get<std::vector<RunRequest>>();
        std::atomic<std::size_t> at{0};
        std::mutex mutex;
        ByteWriter answer;
        answer(results);
        Failure failure;
        run_here(
            [&](RunRequest& run) {
                const std::size_t k = at.fetch_add(1);
                if (k < block.size()) run = block[k];
                return k < block.size();
            },
            [&](std::size_t number, std::string_view bytes) {
                const std::lock_guard lock(mutex);
                answer(number);
                answer(std::string(bytes));
            },
            failure);
        if (failure.any) {
            answer = {};
            answer(failure_message);
            answer(failure.number);
            try {
                failure.rethrow();
            } catch (const Error& e) {
                answer(e.message());
                answer(to_string(e.place()));
                answer(e.remedy());
            } catch (const std::exception& e) {
                answer(std::string(e.what()));
                answer(std::string("rank " + std::to_string(ranks.rank())));
                answer(std::string());
            }
        }
        ranks.send(0, answer.bytes());
    }
}

void Engine::dismiss() {
    if (options_.ranks == nullptr || options_.ranks->size() < 2) return;
    Ranks& ranks = *options_.ranks;
    std::string message;
    // Ranks that have not reported yet do so before they wait for work.
    while (idle_.size() + 1 < ix(ranks.size())) idle_.push_back(ranks.receive(message));
    for (const int rank : idle_) ranks.send(rank, std::string(1, dismissal));
    idle_.clear();
}

void FunctionWork::serve(const NextRun& next, const FinishRun& finish) {
    for (RunRequest run; next(run);)
        if (const std::optional<std::string> answer = function_(run)) finish(run.number, *answer);
}

PendingRuns::PendingRuns(const Table& table, const Shard& shard, std::size_t first, std::size_t count, Order order)
    : table_(table), shard_(shard), first_(first), count_(count), order_(std::move(order)) {
    size_ = shard.size(first + count) - shard.size(first);
    none_known_ = table.blank();
    if (none_known_) return;
    table.scan(first, first + count, [&](std::size_t k, std::string_view) { size_ -= shard.contains(k) ? 1 : 0; });
}

bool PendingRuns::known(std::size_t number) {
    if (none_known_) return false;
    if (order_) return table_.has(number);
    if (number >= window_begin_ + window_.size()) {
        constexpr std::size_t window = std::size_t{1} << 16;  // numbers whose flags are read at a time
        window_begin_ = number;
        window_.assign(std::min(window, first_ + count_ - number), 0);
        table_.scan(number, number + window_.size(),
                    [&](std::size_t k, std::string_view) { window_[k - window_begin_] = 1; });
    }
    return window_[number - window_begin_] != 0;
}

bool PendingRuns::next(std::size_t& number) {
    while (at_ < count_) {
        const std::size_t place = at_++;
        number = first_ + (order_ ? order_(place) : place);
        if (shard_.contains(number) && !known(number)) return true;
    }
    return false;
}

bool make(Engine& engine, Table& table, const Round& round) {
    PendingRuns pending(table, round.shard, round.first, round.count, round.order);
    const std::size_t before = round.count - pending.size();
    std::size_t made = 0;
    std::mutex mutex;
    engine.run(
        [&](RunRequest& run) {
            if (!pending.next(run.number)) return false;
            run.values.resize(round.axes);
            round.values(run.number - round.first, run.values);
            return true;
        },
        pending.size(),
        [&](std::size_t number, std::string_view answer) {
            table.put(number, answer);
            const std::lock_guard lock(mutex);
            ++made;
            if (round.stored) round.stored(number, answer);
            if (round.progress) round.progress(before + made, round.count);
        });
    return made == pending.size();
}

}  // namespace saltus::ensemble
