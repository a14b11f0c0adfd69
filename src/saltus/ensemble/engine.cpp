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
static void transfer(Bytes& b, RunBlock& r) {
    b(r.axes);
    b(r.numbers);
    b(r.values);
}

namespace {

/// Runs that a rank gets at a time, on its CPU: much longer than a message takes, much shorter than the whole. At the
/// end ranks wait for the last block, so a short round has smaller blocks.
constexpr std::size_t largest_block = 512, blocks_per_rank = 8;
constexpr std::chrono::microseconds pause_of_rank_0{100};  ///< between two looks for messages

// The first byte of a message.
constexpr char ready = 'r', assignment = 'w', results = 'd', failure_message = 'x', dismissal = 'e';

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

void Work::serve_blocks(const NextRuns&, const FinishRuns&) {
    SALTUS_EXPECT(false);  // a work in blocks has its own
}

/// Each thread takes runs until there are no more.
void Engine::run_here(const NextRuns& next, const FinishRuns& finish, Failure& failure) {
    const auto thread = [&](std::size_t) {
        std::size_t largest = 0;  // number of the last run that this thread has taken
        RunBlock one;
        const NextRuns take_some = [&](std::size_t most, RunBlock& runs) {
            if (failure.any || interrupted() || !next(most, runs)) return false;
            largest = runs.numbers.front();
            return true;
        };
        const NextRun take = [&](RunRequest& run) {
            if (!take_some(1, one)) return false;
            run.number = one.numbers.front();
            run.values = one.values;
            return true;
        };
        const FinishRun give = [&](std::size_t number, std::string_view answer) { finish({number, answer}); };
        try {
            if (work_.in_blocks())
                work_.serve_blocks(take_some, finish);
            else
                work_.serve(take, give);
        } catch (...) {
            failure.add(largest, std::current_exception());
        }
    };
    Options many;
    many.threads = work_.batch() > 1 || work_.in_blocks() ? 1 : threads_;
    parallel_for(ix(many.threads), thread, many);
}

void Engine::run(const NextRuns& source, std::size_t count, const FinishRuns& finish) {
    Failure failure;
    std::mutex mutex;
    const NextRuns next = [&](std::size_t most, RunBlock& runs) {
        const std::lock_guard lock(mutex);
        return source(most, runs);
    };
    if (options_.ranks != nullptr && options_.ranks->size() > 1)
        hand_out(next, count, finish, failure);
    else
        run_here(next, finish, failure);
    failure.rethrow();
}

/// Rank 0 gives blocks to the ranks that ask for them, and makes runs itself on other threads. Only this thread uses
/// the messages.
void Engine::hand_out(const NextRuns& next, std::size_t count, const FinishRuns& finish, Failure& failure) {
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
        RunBlock block;
        if (interrupted() || failure.any || !next(length, block)) {
            idle_.push_back(to);
            return;
        }
        ByteWriter message;
        message(assignment);
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
            if (kind == results) {
                const auto numbers = reader.get<std::vector<std::size_t>>(),
                           ends = reader.get<std::vector<std::size_t>>();
                const auto bytes = reader.get<std::string>();
                const AnswerBlock all{numbers, ends, bytes};
                if (work_.in_blocks())
                    finish(all);
                else
                    for (std::size_t k = 0; k < all.size(); ++k) finish({numbers[k], all.answer(k)});
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
        if (message.empty() || reader.get<char>() != assignment) return;
        const auto block = reader.get<RunBlock>();
        std::size_t at = 0;
        std::mutex mutex;
        std::vector<std::size_t> numbers, ends;
        std::string bytes;
        Failure failure;
        run_here(
            [&](std::size_t most, RunBlock& runs) {
                const std::lock_guard lock(mutex);
                const std::size_t count = std::min(most, block.size() - at);
                const auto part = [count](const auto& all, std::size_t first, std::size_t of_each, auto& to) {
                    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * of_each);
                    to.assign(begin, begin + static_cast<std::ptrdiff_t>(count * of_each));
                };
                runs.axes = block.axes;
                part(block.numbers, at, 1, runs.numbers);
                part(block.values, at, block.axes, runs.values);
                at += count;
                return count > 0;
            },
            [&](const AnswerBlock& made) {
                const std::lock_guard lock(mutex);
                for (std::size_t k = 0; k < made.size(); ++k) {
                    numbers.push_back(made.numbers[k]);
                    ends.push_back(bytes.size() + made.ends[k]);
                }
                bytes += made.bytes;
            },
            failure);
        ByteWriter answer;
        answer(results);
        answer(numbers);
        answer(ends);
        answer(bytes);
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
        [&](std::size_t most, RunBlock& runs) {
            runs.axes = round.axes;
            runs.numbers.clear();
            for (std::size_t number = 0; runs.size() < most && pending.next(number);) runs.numbers.push_back(number);
            runs.values.resize(runs.size() * round.axes);
            for (std::size_t k = 0; k < runs.size(); ++k)
                round.values(runs.numbers[k] - round.first, {runs.values.data() + k * round.axes, round.axes});
            return runs.size() > 0;
        },
        pending.size(),
        [&](const AnswerBlock& answers) {
            table.put(answers);
            const std::lock_guard lock(mutex);
            made += answers.size();
            for (std::size_t k = 0; round.stored && k < answers.size(); ++k)
                round.stored(answers.numbers[k], answers.answer(k));
            if (round.progress) round.progress(before + made, round.count);
        });
    return made == pending.size();
}

}  // namespace saltus::ensemble
